/* Measuring: how many decisions per second, and where the time goes. */
#include "invit_lab.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "lab/train/method/rollout.h"
#include "nn/kernels.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static double cpu_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double invit_measure_peak(int threads, double seconds, double *cpu)
{
    threads = inv_threads(threads);
    double began = inv_now(), used = cpu_now(CLOCK_PROCESS_CPUTIME_ID);
    double peak = inv_measure_peak(threads, seconds);
    double wall = inv_now() - began;
    used = cpu_now(CLOCK_PROCESS_CPUTIME_ID) - used;
    if (cpu) *cpu = peak * wall * threads / used;
    return peak;
}

typedef struct bench {
    const invit_instance *p;
    const inv_config *config;
    const inv_prepared *weights;
    inv_index *index;
    int32_t rollouts;
    int threads;
    double from, seconds;
    pthread_mutex_t lock; /* guards what follows */
    invit_policy_speed sum;
    double rate, cpu_rate, view_seconds, busy_seconds;
    invit_status status;
    invit_error err;
} bench;

/* One thread's rollouts. */
typedef struct lane {
    bench *b;
    int32_t count;
    inv_walk **walk;
    inv_roller roller;
    inv_policy *policy;
    inv_frame frame;
    inv_rng rng;
} lane;

/* Begins a walk and lets it run ahead to the point where measuring begins. */
static void run_ahead(lane *l, inv_walk *w)
{
    const bench *b = l->b;
    inv_state s;
    int32_t stop = (int32_t)((1 - b->from) * b->p->n);
    int32_t start = b->p->problem == INVIT_TSP ? (int32_t)inv_rng_below(&l->rng, (uint32_t)b->p->n) : 0;
    inv_walk_start(w, start, &l->frame);
    while (inv_walk_left(w) > stop) {
        inv_walk_view(w, &s);
        /* not always the nearest: a policy leaves nodes behind, too */
        int32_t pick = s.action > 1 && inv_rng_below(&l->rng, 4) == 0 ? 1 : 0;
        inv_walk_visit(w, s.action > 0 ? s.node[pick] : 0);
    }
}

static invit_status lane_init(lane *l, bench *b, int32_t count, int member, invit_error *err)
{
    const inv_config *c = b->config;
    l->b = b;
    l->count = count;
    l->walk = calloc((size_t)count, sizeof *l->walk);
    if (!l->walk) return inv_no_memory(err, (size_t)count * sizeof *l->walk);
    INV_CHECK(inv_roller_init(&l->roller, count, c, err));
    inv_rng_init(&l->rng, 1, (uint64_t)member);
    inv_frame_for_copy(b->p, member, &l->rng, &l->frame);
    for (int32_t i = 0; i < count; i++) {
        INV_CHECK(inv_roller_walk(c, b->p, b->index, &l->walk[i], err));
        run_ahead(l, l->walk[i]);
    }
    return inv_policy_create(b->weights, count, false, &l->policy, err);
}

static void lane_destroy(lane *l)
{
    for (int32_t i = 0; l->walk && i < l->count; i++) inv_walk_destroy(l->walk[i]);
    free(l->walk);
    inv_roller_destroy(&l->roller);
    inv_policy_destroy(l->policy);
}

static invit_status measure(lane *l, invit_error *err)
{
    bench *b = l->b;
    inv_roller *r = &l->roller;
    inv_roll_options o = {.policy = l->policy, .walk = l->walk, .count = l->count};
    double view = 0, wall = 0, cpu = 0;
    int64_t decisions = 0;
    for (int64_t step = 0; wall < b->seconds; step++) {
        double began = inv_now(), used = cpu_now(CLOCK_THREAD_CPUTIME_ID);
        int32_t under_way = inv_roll_look(r, &o, 0);
        double looked = cpu_now(CLOCK_THREAD_CPUTIME_ID);
        if (under_way == 0) { /* all through: once more from the same point, not timed */
            for (int32_t i = 0; i < l->count; i++) run_ahead(l, l->walk[i]);
            if (inv_walk_done(l->walk[0])) break;
            continue;
        }
        if (r->asked == 0) continue;
        INV_CHECK(inv_roller_ask(r, l->policy, 0, r->asked, err));
        INV_CHECK(inv_roll_move(r, &o, err));
        if (step == 0) continue; /* the first touches all memory */
        decisions += r->asked;
        view += looked - used;
        cpu += cpu_now(CLOCK_THREAD_CPUTIME_ID) - used;
        wall += inv_now() - began;
    }
    pthread_mutex_lock(&b->lock);
    b->sum.decisions += decisions;
    b->rate += wall > 0 ? (double)decisions / wall : 0;
    b->cpu_rate += cpu > 0 ? (double)decisions / cpu : 0;
    b->view_seconds += view;
    b->busy_seconds += cpu;
    b->sum.walk_bytes = (double)inv_walk_bytes(l->walk[0]) / b->p->n;
    pthread_mutex_unlock(&b->lock);
    return INVIT_OK;
}

static void run_lane(void *context, int member)
{
    bench *b = context;
    lane l = {0};
    invit_error err = {0};
    int32_t count = b->rollouts / b->threads + (member < b->rollouts % b->threads ? 1 : 0);
    if (count == 0) return;
    invit_status status = lane_init(&l, b, count, member, &err);
    if (status == INVIT_OK) status = measure(&l, &err);
    pthread_mutex_lock(&b->lock);
    if (status != INVIT_OK && b->status == INVIT_OK) {
        b->status = status;
        b->err = err;
    }
    pthread_mutex_unlock(&b->lock);
    lane_destroy(&l);
}

invit_status invit_measure_policy(const invit_instance *p, const invit_model *model, int32_t rollouts,
                                  int threads, double from, double seconds, invit_policy_speed *out,
                                  invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_prepared *weights = NULL;
    bench b = {.p = p, .config = &model->config, .rollouts = rollouts, .from = from, .seconds = seconds};
    if (rollouts < 1) return inv_fail(err, INVIT_ERR_ARGUMENT, "at least one rollout, not %d", rollouts);
    if (model->config.problem != p->problem)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "the model is for the other problem");
    b.threads = inv_threads(threads);
    pthread_mutex_init(&b.lock, NULL);
    INV_TRY(inv_index_create(p, &b.index, err));
    INV_TRY(inv_prepared_create(model, INV_PURPOSE_INT8, &weights, err));
    b.weights = weights;
    inv_parallel(b.threads, run_lane, &b);
    if (b.status != INVIT_OK) {
        if (err) *err = b.err;
        status = b.status;
        goto done;
    }
    *out = b.sum;
    out->per_second = b.rate;
    out->per_cpu_second = b.cpu_rate;
    out->view_share = b.busy_seconds > 0 ? b.view_seconds / b.busy_seconds : 0;
    out->shared_bytes =
        (double)inv_index_bytes(b.index) / p->n + 2 * sizeof(double) + (p->demand ? sizeof *p->demand : 0);
done:
    pthread_mutex_destroy(&b.lock);
    inv_prepared_destroy(weights);
    inv_index_destroy(b.index);
    return status;
}
