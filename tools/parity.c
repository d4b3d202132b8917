/* parity PREFIX...: compares the policy with recorded numbers.
 *
 * PREFIX.weights.safetensors is a model, PREFIX.case.safetensors what the authors' architecture computed with
 * it: greedy rollouts step by step and, in some cases, a training step (loss, gradients, parameters after
 * AdamW). One line per case with the worst deviations; the exit status is 1 if any of them is out of bounds.
 */
#include "lab/train/run/adamw.h"
#include "policy/policy.h"
#include "policy/weights.h"
#include "problem/metric.h"
#include "view/walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PROBABILITY = 1e-4, LOGPROB = 1e-3, LENGTH = 1e-4, GRADIENT = 1e-3, PARAMETER = 1e-6;

typedef struct deviations {
    double prob, logprob, length, loss, gradient, after;
    int64_t tours; /* decisions that differ from the recorded ones */
    int64_t steps;
    char worst[200];            /* parameter of the worst gradient */
    int32_t gradients, updates; /* tensors compared */
    bool training;
} deviations;

typedef struct test_case {
    inv_safetensors file;
    struct invit_model *model;
    int32_t batch;
    invit_instance **instance;
    inv_index **index;
    inv_walk **walk;
} test_case;

static void *need(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (!p) {
        fprintf(stderr, "parity: out of memory\n");
        exit(2);
    }
    return p;
}

static float *floats(const test_case *t, const char *name)
{
    const inv_array *a = inv_safetensors_find(&t->file, name);
    if (!a) return NULL;
    float *out = need((size_t)a->count, sizeof *out);
    inv_array_floats(a, out);
    return out;
}

static int64_t *ints(const test_case *t, const char *name, int64_t *columns)
{
    const inv_array *a = inv_safetensors_find(&t->file, name);
    if (!a) return NULL;
    int64_t *out = need((size_t)a->count, sizeof *out);
    if (inv_array_ints(a, out, NULL) != INVIT_OK) {
        free(out);
        return NULL;
    }
    if (columns) *columns = a->shape[a->rank - 1];
    return out;
}

/* Instance b of the case. CVRP files put the depot last; here it is node 0. */
static invit_status make_instance(test_case *t, int32_t b, const float *xy, int32_t n, const int64_t *demand,
                                  int64_t capacity, invit_error *err)
{
    bool cvrp = t->model->config.problem == INVIT_CVRP;
    double *at = need(2 * (size_t)n, sizeof *at);
    int64_t *size = need((size_t)n, sizeof *size);
    for (int32_t i = 0; i < n; i++) {
        int32_t node = cvrp ? (i + 1) % n : i;
        for (int c = 0; c < 2; c++)
            at[2 * node + c] = (double)xy[2 * ((size_t)b * (size_t)n + (size_t)i) + (size_t)c];
        if (cvrp && i < n - 1) size[node] = demand[(size_t)b * (size_t)(n - 1) + (size_t)i];
    }
    invit_status status =
        cvrp ? invit_instance_create_cvrp(at, size, n, capacity, INVIT_EXACT, &t->instance[b], err)
             : invit_instance_create_tsp(at, n, INVIT_EXACT, &t->instance[b], err);
    free(at);
    free(size);
    INV_CHECK(status);
    INV_CHECK(inv_index_create(t->instance[b], &t->index[b], err));
    const inv_config *c = &t->model->config;
    int32_t most = c->state_views > 0 ? c->state_k[c->state_views - 1] : c->action_k;
    return inv_walk_create(t->instance[b], t->index[b], c->action_k, most, &t->walk[b], err);
}

static void close_case(test_case *t)
{
    for (int32_t b = 0; b < t->batch; b++) {
        inv_walk_destroy(t->walk[b]);
        inv_index_destroy(t->index[b]);
        invit_instance_destroy(t->instance[b]);
    }
    free(t->walk);
    free(t->index);
    free(t->instance);
    invit_model_destroy(t->model);
    inv_safetensors_free(&t->file);
}

static invit_status open_case(const char *prefix, test_case *t, invit_error *err)
{
    char path[4096];
    *t = (test_case){0};
    snprintf(path, sizeof path, "%s.weights.safetensors", prefix);
    INV_CHECK(invit_model_load(path, &t->model, err));
    snprintf(path, sizeof path, "%s.case.safetensors", prefix);
    INV_CHECK(inv_safetensors_read(path, &t->file, err));
    const inv_array *coords = inv_safetensors_find(&t->file, "coords");
    if (!coords || coords->rank != 3 || coords->shape[2] != 2)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: expected coords of shape [batch, n, 2]", path);
    t->batch = (int32_t)coords->shape[0];
    t->instance = need((size_t)t->batch, sizeof *t->instance);
    t->index = need((size_t)t->batch, sizeof *t->index);
    t->walk = need((size_t)t->batch, sizeof *t->walk);
    float *xy = floats(t, "coords");
    int64_t *demand = ints(t, "demand", NULL), *capacity = ints(t, "capacity", NULL);
    invit_status status = INVIT_OK;
    if (t->model->config.problem == INVIT_CVRP && (!demand || !capacity))
        status = inv_fail(err, INVIT_ERR_INPUT, "%s: a CVRP case needs integer demand and capacity", path);
    for (int32_t b = 0; status == INVIT_OK && b < t->batch; b++)
        status = make_instance(t, b, xy, (int32_t)coords->shape[1], demand, capacity ? capacity[0] : 0, err);
    free(xy);
    free(demand);
    free(capacity);
    return status;
}

/* ---- replaying recorded tours
 * --------------------------------------------------------------------------------------- */

static int32_t recorded_node(const test_case *t, int64_t entry)
{
    return t->model->config.problem == INVIT_CVRP ? (int32_t)(entry + 1) : (int32_t)entry;
}

/* Puts all walks at the start of the recorded tours; returns the column of the first decision. */
static int64_t start_walks(test_case *t, const int64_t *tour, int64_t columns)
{
    static const inv_frame as_is = {.m = {1, 0, 0, 1}, .t = {0, 0}};
    bool cvrp = t->model->config.problem == INVIT_CVRP;
    for (int32_t b = 0; b < t->batch; b++)
        inv_walk_start(t->walk[b], cvrp ? 0 : recorded_node(t, tour[b * columns]), &as_is);
    return cvrp ? 0 : 1;
}

/* The walks that still have a decision to make in this column. */
static int32_t open_states(test_case *t, inv_state *states, int32_t *owner)
{
    int32_t count = 0;
    for (int32_t b = 0; b < t->batch; b++) {
        if (inv_walk_done(t->walk[b])) continue;
        inv_walk_view(t->walk[b], &states[count]);
        owner[count++] = b;
    }
    return count;
}

static int32_t slot_of(const inv_state *s, int32_t node, int32_t slots, bool cvrp)
{
    if (cvrp && node == 0) return slots - 1;
    for (int32_t j = 0; j < s->action; j++)
        if (s->node[j] == node) return j;
    return -1;
}

static int32_t node_of(const inv_state *s, int32_t slot, int32_t slots, bool cvrp)
{
    return cvrp && slot == slots - 1 ? 0 : s->node[slot];
}

static double walk_length(const test_case *t, int32_t b)
{
    invit_solution *s = NULL;
    if (inv_walk_solution(t->walk[b], &s, NULL) != INVIT_OK) return NAN;
    double length = inv_length(t->instance[b], s);
    invit_solution_destroy(s);
    return length;
}

static double relative(double x, double wanted)
{
    return fabs(x - wanted) / fmax(1, fabs(wanted));
}

static void worse(double *worst, double x)
{
    if (!(x <= *worst)) *worst = x; /* a NaN stays */
}

static invit_status check_greedy(test_case *t, const inv_prepared *w, deviations *dev, invit_error *err)
{
    invit_status status = INVIT_OK;
    int64_t columns = 0;
    int64_t *tour = ints(t, "greedy_tour", &columns);
    float *prob = floats(t, "greedy_prob"), *logprob = floats(t, "greedy_logprob"),
          *length = floats(t, "greedy_length");
    int32_t slots = inv_candidates(&t->model->config), *owner = need((size_t)t->batch, sizeof *owner);
    bool cvrp = t->model->config.problem == INVIT_CVRP;
    inv_state *states = need((size_t)t->batch, sizeof *states);
    float *logp = need((size_t)(t->batch * slots), sizeof *logp);
    double *total = need((size_t)t->batch, sizeof *total);
    inv_policy *policy = NULL;
    if (!tour || !prob || !logprob || !length) {
        status = inv_fail(err, INVIT_ERR_INPUT, "the case lacks greedy_tour, _prob, _logprob or _length");
        goto done;
    }
    INV_TRY(inv_policy_create(w, t->batch, false, &policy, err));
    int64_t first = start_walks(t, tour, columns);
    for (int64_t c = first; c < columns; c++) {
        int32_t count = open_states(t, states, owner);
        INV_TRY(inv_policy_forward(policy, states, count, logp, err));
        for (int32_t i = 0; i < count; i++) {
            int32_t b = owner[i], node = recorded_node(t, tour[b * columns + c]), best = 0;
            const float *row = logp + i * slots;
            for (int32_t j = 0; j < slots; j++) {
                double recorded = (double)prob[((c - first) * t->batch + b) * slots + j];
                worse(&dev->prob, fabs(exp((double)row[j]) - recorded));
                if (row[j] > row[best]) best = j;
            }
            int32_t slot = slot_of(&states[i], node, slots, cvrp);
            if (slot < 0 || node_of(&states[i], best, slots, cvrp) != node) dev->tours++;
            if (slot >= 0) total[b] += (double)row[slot];
            dev->steps++;
            inv_walk_visit(t->walk[b], node);
        }
    }
    for (int32_t b = 0; b < t->batch; b++) {
        worse(&dev->logprob, fabs(total[b] - (double)logprob[b]));
        worse(&dev->length, fabs(walk_length(t, b) - (double)length[b]));
    }
done:
    inv_policy_destroy(policy);
    free(tour), free(prob), free(logprob), free(length), free(owner), free(states), free(logp), free(total);
    return status;
}

/* ---- one training step
 * ------------------------------------------------------------------------------------------------ */

/* Gradient of mean_b (length_b - baseline_b) log p(tour_b), step by step along the recorded tours. */
static invit_status replay_gradient(test_case *t, const inv_prepared *w, float *grad, deviations *dev,
                                    invit_error *err)
{
    invit_status status = INVIT_OK;
    int64_t columns = 0;
    int64_t *tour = ints(t, "sampled_tour", &columns);
    float *length = floats(t, "sampled_length"), *baseline = floats(t, "baseline_length");
    float *logprob = floats(t, "sampled_logprob"), *loss = floats(t, "loss");
    int32_t slots = inv_candidates(&t->model->config), *owner = need((size_t)t->batch, sizeof *owner);
    bool cvrp = t->model->config.problem == INVIT_CVRP;
    inv_state *states = need((size_t)t->batch, sizeof *states);
    float *logp = need((size_t)(t->batch * slots), sizeof *logp),
          *dlogit = need((size_t)(t->batch * slots), sizeof *dlogit);
    double *total = need((size_t)t->batch, sizeof *total), sum = 0;
    inv_policy *policy = NULL;
    if (!length || !baseline || !logprob || !loss) {
        status = inv_fail(err, INVIT_ERR_INPUT,
                          "the case lacks sampled_length, _logprob, baseline_length or loss");
        goto done;
    }
    INV_TRY(inv_policy_create(w, t->batch, true, &policy, err));
    for (int64_t c = start_walks(t, tour, columns); c < columns; c++) {
        int32_t count = open_states(t, states, owner);
        if (count == 0) break;
        INV_TRY(inv_policy_forward(policy, states, count, logp, err));
        for (int32_t i = 0; i < count; i++) {
            int32_t b = owner[i], node = recorded_node(t, tour[b * columns + c]);
            int32_t slot = slot_of(&states[i], node, slots, cvrp);
            float advantage = (length[b] - baseline[b]) / (float)t->batch;
            if (slot < 0) {
                status = inv_fail(err, INVIT_ERR_INPUT, "sampled tour %d leaves its action view", b);
                goto done;
            }
            for (int32_t j = 0; j < slots; j++)
                dlogit[i * slots + j] = advantage * ((j == slot ? 1.0f : 0.0f) - expf(logp[i * slots + j]));
            total[b] += (double)logp[i * slots + slot];
        }
        inv_policy_backward(policy, states, count, dlogit, grad);
        for (int32_t i = 0; i < count; i++)
            inv_walk_visit(t->walk[owner[i]], recorded_node(t, tour[owner[i] * columns + c]));
    }
    inv_policy_flush_gradient(policy, t->model, grad);
    for (int32_t b = 0; b < t->batch; b++) {
        worse(&dev->logprob, fabs(total[b] - (double)logprob[b]));
        worse(&dev->length, fabs(walk_length(t, b) - (double)length[b]));
        sum += (double)(length[b] - baseline[b]) * total[b] / t->batch;
    }
    worse(&dev->loss, relative(sum, (double)loss[0]));
done:
    inv_policy_destroy(policy);
    free(tour), free(length), free(baseline), free(logprob), free(loss), free(owner), free(states),
        free(logp);
    free(dlogit), free(total);
    return status;
}

/* Each parameter's gradient against the recorded one, and AdamW fed with the recorded gradients. */
static invit_status check_training(test_case *t, const inv_prepared *w, deviations *dev, invit_error *err)
{
    struct invit_model *m = t->model;
    float *grad = need(m->params, sizeof *grad), *m1 = need(m->params, sizeof *m1),
          *m2 = need(m->params, sizeof *m2);
    invit_status status = replay_gradient(t, w, grad, dev, err);
    static const inv_adamw adamw = {
        .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01};
    for (int32_t i = 0; status == INVIT_OK && i < m->tensors; i++) {
        const inv_tensor *x = &m->tensor[i];
        char name[200];
        snprintf(name, sizeof name, "grad.%s", x->name);
        float *wanted = floats(t, name);
        snprintf(name, sizeof name, "after.%s", x->name);
        float *after = floats(t, name);
        if (wanted) {
            double difference = 0, norm = 0;
            for (size_t j = 0; j < x->count; j++) {
                double g = (double)wanted[j], d = (double)grad[x->offset + j] - g;
                difference += d * d;
                norm += g * g;
            }
            double before = dev->gradient;
            worse(&dev->gradient, sqrt(difference) / fmax(sqrt(norm), 1e-12));
            if (dev->gradient != before) snprintf(dev->worst, sizeof dev->worst, "%s", x->name);
            dev->gradients++;
        }
        if (wanted && after) {
            inv_adamw_step(&adamw, 1, x->count, wanted, 1.0f, m1 + x->offset, m2 + x->offset,
                           m->param + x->offset);
            for (size_t j = 0; j < x->count; j++)
                worse(&dev->after, fabs((double)m->param[x->offset + j] - (double)after[j]));
            dev->updates++;
        }
        free(wanted);
        free(after);
    }
    free(grad), free(m1), free(m2);
    return status;
}

static invit_status run_case(const char *prefix, deviations *dev, invit_error *err)
{
    test_case t;
    inv_prepared *w = NULL;
    invit_status status;
    *dev = (deviations){0};
    INV_TRY(open_case(prefix, &t, err));
    dev->training = inv_safetensors_find(&t.file, "sampled_tour") != NULL;
    INV_TRY(inv_prepared_create(t.model, dev->training ? INV_TRAINING : INV_EXACT, &w, err));
    INV_TRY(check_greedy(&t, w, dev, err));
    if (dev->training) INV_TRY(check_training(&t, w, dev, err));
done:
    inv_prepared_destroy(w);
    close_case(&t);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s PREFIX...   (PREFIX.weights.safetensors and PREFIX.case.safetensors)\n",
                argv[0]);
        return 2;
    }
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        deviations d;
        invit_error err = {0};
        const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];
        if (run_case(argv[i], &d, &err) != INVIT_OK) {
            printf("%-16s ERROR %s\n", name, err.message);
            failed = 1;
            continue;
        }
        bool ok = d.prob <= PROBABILITY && d.tours == 0 && d.logprob <= LOGPROB && d.length <= LENGTH;
        if (d.training)
            ok = ok && d.loss <= 1e-3 && d.gradients > 0 && d.gradient <= GRADIENT && d.after <= PARAMETER;
        printf("%-16s %-4s %5lld decisions  prob %.1e  tours differ %lld  logprob %.1e  length %.1e", name,
               ok ? "ok" : "FAIL", (long long)d.steps, d.prob, (long long)d.tours, d.logprob, d.length);
        if (d.training)
            printf("  loss %.1e  gradient %.1e (worst of %d: %s)  adamw %.1e (%d)", d.loss, d.gradient,
                   d.gradients, d.worst, d.after, d.updates);
        printf("\n");
        if (!ok) failed = 1;
    }
    return failed;
}
