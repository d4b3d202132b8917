#include "policy/bench.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "learn/adamw.h"
#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_STATES = 512, DISTINCT = 64 };

typedef struct worker {
    inv_policy *policy;
    float *logp, *dlogit, *grad;
    int64_t states;
} worker;

typedef struct bench {
    const struct invit_model *model;
    inv_state state[2 * DISTINCT]; /* twice the same, so that any run of DISTINCT is contiguous */
    float *numbers;
    int32_t *nodes;
    worker *worker;
    int threads;
    int32_t batch, slots;
    bool training;
    double until;
} bench;

static int by_distance(const void *a, const void *b)
{
    const float *x = a, *y = b;
    float p = x[0] * x[0] + x[1] * x[1], q = y[0] * y[0] + y[1] * y[1];
    return p < q ? -1 : p > q;
}

/* Neighbours around `last` at the origin, nearest first. */
static void random_state(const inv_config *c, inv_rng *rng, inv_state *s, int32_t k, float *numbers, int32_t *nodes)
{
    *s = (inv_state){.action = c->action_k, .rest = k - c->action_k, .depot_open = true, .node = nodes, .xy = numbers};
    for (int32_t i = 0; i < 2 * k; i++) numbers[i] = (float)inv_rng_double(rng) - 0.5f;
    qsort(numbers, (size_t)k, 2 * sizeof *numbers, by_distance);
    for (int32_t i = 0; i < k; i++) nodes[i] = i + 1;
    s->first[0] = (float)inv_rng_double(rng);
    s->first[1] = (float)inv_rng_double(rng);
    s->load = (float)inv_rng_double(rng);
    if (c->problem != INVIT_CVRP) return;
    s->demand = numbers + 2 * k;
    for (int32_t i = 0; i < k; i++) s->demand[i] = (float)inv_rng_double(rng) * 0.2f;
}

/* Cross-entropy towards the nearest candidate. */
static void learn_from(bench *b, worker *w, const inv_state *states, int32_t count)
{
    for (int32_t i = 0; i < count * b->slots; i++)
        w->dlogit[i] = (expf(w->logp[i]) - (i % b->slots == 0 ? 1.0f : 0.0f)) / STEP_STATES;
    inv_policy_backward(w->policy, states, count, w->dlogit, w->grad);
}

static void run_member(void *context, int member)
{
    bench *b = context;
    worker *w = &b->worker[member];
    int64_t share = b->training ? STEP_STATES / b->threads : INT64_MAX, done = 0;
    while (done < share && (b->training || inv_now() < b->until)) {
        const inv_state *states = b->state + (w->states + done) % DISTINCT;
        int32_t count = share - done < b->batch ? (int32_t)(share - done) : b->batch;
        if (inv_policy_forward(w->policy, states, count, w->logp, NULL) != INVIT_OK) return;
        if (b->training) learn_from(b, w, states, count);
        done += count;
    }
    if (b->training) inv_policy_flush_gradient(w->policy, b->model, w->grad);
    w->states += done;
}

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

invit_status inv_bench_policy_states(const inv_config *c, int threads, int32_t batch, bool training, double seconds,
                                     inv_bench_policy *out, invit_error *err)
{
    invit_status status = INVIT_OK;
    struct invit_model *model = NULL;
    inv_prepared *prepared = NULL;
    float *moments = NULL;
    int32_t k = c->state_views > 0 ? c->state_k[c->state_views - 1] : c->action_k;
    threads = inv_threads(threads);
    if (batch < 1 || batch > DISTINCT)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "a benchmark batch is 1..%d states, not %d", DISTINCT, batch);
    bench *b = calloc(1, sizeof *b);
    if (!b) return inv_no_memory(err, sizeof *b);
    b->threads = threads;
    b->batch = batch;
    b->training = training;
    b->slots = inv_candidates(c);
    INV_TRY(inv_model_create(c, &model, err));
    inv_model_randomise(model, 1);
    b->model = model;
    INV_TRY(inv_prepared_create(model, training, &prepared, err));
    b->numbers = calloc((size_t)DISTINCT * 3 * (size_t)k, sizeof *b->numbers);
    b->nodes = calloc((size_t)DISTINCT * (size_t)k, sizeof *b->nodes);
    b->worker = calloc((size_t)threads, sizeof *b->worker);
    moments = calloc(2 * model->params, sizeof *moments);
    if (!b->numbers || !b->nodes || !b->worker || !moments) {
        status = inv_no_memory(err, 2 * model->params * sizeof *moments);
        goto done;
    }
    inv_rng rng;
    inv_rng_init(&rng, 1, 1);
    for (int32_t i = 0; i < DISTINCT; i++) {
        random_state(c, &rng, &b->state[i], k, b->numbers + (size_t)i * 3 * (size_t)k, b->nodes + (size_t)i * (size_t)k);
        b->state[DISTINCT + i] = b->state[i];
    }
    for (int i = 0; i < threads; i++) {
        worker *w = &b->worker[i];
        INV_TRY(inv_policy_create(prepared, batch, training, &w->policy, err));
        w->logp = calloc((size_t)(batch * b->slots), sizeof *w->logp);
        w->dlogit = calloc((size_t)(batch * b->slots), sizeof *w->dlogit);
        w->grad = training ? calloc(model->params, sizeof *w->grad) : NULL;
        if (!w->logp || !w->dlogit || (training && !w->grad)) {
            status = inv_no_memory(err, model->params * sizeof *w->grad);
            goto done;
        }
    }
    inv_adamw adamw = {.lr = 1e-4, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01};
    double start = inv_now(), cpu = cpu_now();
    b->until = start + seconds;
    for (int64_t step = 1; step == 1 || inv_now() < b->until; step++) {
        inv_parallel(threads, run_member, b);
        if (!training) break;
        float *grad = b->worker[0].grad;
        for (int i = 1; i < threads; i++) {
            const float *other = b->worker[i].grad;
            for (size_t j = 0; j < model->params; j++) grad[j] += other[j];
        }
        inv_adamw_step(&adamw, step, model->params, grad, 1.0f, moments, moments + model->params, model->param);
        for (int i = 0; i < threads; i++) memset(b->worker[i].grad, 0, model->params * sizeof *grad);
        inv_prepared_refresh(prepared, model);
    }
    *out = (inv_bench_policy){.seconds = inv_now() - start, .cpu_seconds = cpu_now() - cpu};
    for (int i = 0; i < threads; i++) out->states += b->worker[i].states;
done:
    for (int i = 0; b->worker && i < threads; i++) {
        inv_policy_destroy(b->worker[i].policy);
        free(b->worker[i].logp);
        free(b->worker[i].dlogit);
        free(b->worker[i].grad);
    }
    free(b->worker);
    free(b->numbers);
    free(b->nodes);
    free(b);
    free(moments);
    inv_prepared_destroy(prepared);
    invit_model_destroy(model);
    return status;
}
