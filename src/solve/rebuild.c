#include "solve/rebuild.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "policy/roller.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SLOTS = 8 }; /* walks per thread: few, so that few are lost at the deadline */

/* A job under way. */
typedef struct slot {
    inv_rebuild_job *job; /* NULL: idle */
    invit_instance *p;
    inv_index *index;
    inv_walk *walk;
    inv_rng rng;
} slot;

typedef struct worker {
    inv_policy *policy;
    inv_roller roller;
    slot slot[MOST_SLOTS];
} worker;

struct inv_rebuilder {
    const invit_instance *p;
    const inv_config *config;
    const inv_prepared *weights;
    int threads;
    worker *worker; /* [threads] */
};

/* One call of inv_rebuild. */
typedef struct round {
    inv_rebuilder *r;
    inv_rebuild_job *jobs;
    int32_t count;
    int32_t slots; /* of a thread: the jobs are spread evenly */
    const inv_improve_options *o;
    uint64_t seed;
    atomic_int next;
    atomic_bool stop;
    pthread_mutex_t lock; /* guards what follows */
    invit_status status;
    invit_error err;
} round_of_jobs;

/* ---- slots --------------------------------------------------------------------------------------------- */

static void slot_leave(slot *s)
{
    inv_index_destroy(s->index);
    invit_instance_destroy(s->p);
    s->index = NULL;
    s->p = NULL;
    s->job = NULL;
}

/* The job's nodes as an instance. */
static invit_status take_out(const invit_instance *whole, const inv_rebuild_job *job, invit_instance **out,
                             invit_error *err)
{
    INV_CHECK(inv_instance_alloc(whole->problem, job->n, out, err));
    invit_instance *p = *out;
    p->metric = whole->metric;
    p->capacity = whole->capacity;
    for (int32_t i = 0; i < job->n; i++) {
        memcpy(p->xy + 2 * (size_t)i, whole->xy + 2 * (size_t)job->node[i], 2 * sizeof(double));
        if (p->demand) p->demand[i] = whole->demand[job->node[i]];
    }
    return INVIT_OK;
}

static invit_status slot_begin(slot *s, const round_of_jobs *t, int32_t number, invit_error *err)
{
    const inv_rebuilder *r = t->r;
    inv_frame frame;
    s->job = &t->jobs[number];
    INV_CHECK(take_out(r->p, s->job, &s->p, err));
    INV_CHECK(inv_index_create(s->p, &s->index, err));
    if (s->walk)
        INV_CHECK(inv_walk_rebind(s->walk, s->p, s->index, err));
    else
        INV_CHECK(inv_roller_walk(r->config, s->p, s->index, &s->walk, err));
    inv_rng_init(&s->rng, t->seed, (uint64_t)number);
    inv_frame_for_copy(s->p, 1 + number % 2, &s->rng, &frame);
    if (r->p->problem == INVIT_TSP)
        inv_walk_start_path(s->walk, 0, s->p->n - 1, &frame);
    else
        inv_walk_start(s->walk, 0, &frame);
    return INVIT_OK;
}

static void slot_finish(slot *s)
{
    inv_rebuild_job *job = s->job;
    const int32_t *order = inv_walk_order(s->walk, &job->count);
    memcpy(job->order, order, (size_t)job->count * sizeof *order);
    if (s->p->problem == INVIT_TSP) job->order[job->count++] = job->n - 1; /* the path's end was fixed */
    slot_leave(s);
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

/* Fills idle slots; *busy is false when there is nothing left to do. */
static invit_status fill(worker *m, round_of_jobs *t, bool *busy, invit_error *err)
{
    *busy = false;
    for (int32_t i = 0; i < t->slots; i++) {
        slot *s = &m->slot[i];
        if (!s->job) {
            int32_t next = atomic_load(&t->next) < t->count ? atomic_fetch_add(&t->next, 1) : t->count;
            if (next >= t->count) continue;
            INV_CHECK(slot_begin(s, t, next, err));
        }
        *busy = true;
    }
    return INVIT_OK;
}

static invit_status advance(worker *m, const round_of_jobs *t, invit_error *err)
{
    inv_roller *r = &m->roller;
    inv_roller_begin(r);
    for (int32_t i = 0; i < t->slots; i++) {
        slot *s = &m->slot[i];
        bool waits = false;
        while (s->job && !waits && !inv_walk_done(s->walk)) waits = inv_roller_look(r, s->walk, i, false);
        if (s->job && !waits) slot_finish(s);
    }
    if (r->asked == 0) return INVIT_OK;
    INV_CHECK(inv_roller_ask(r, m->policy, 0, r->asked, err));
    for (int32_t a = 0; a < r->asked; a++) {
        slot *s = &m->slot[r->number[a]];
        const float *logp = inv_roller_logp(r, a);
        int32_t j = s->job->temperature > 0 ? inv_sample(logp, r->candidates, s->job->temperature, &s->rng)
                                            : inv_likeliest(logp, r->candidates);
        if (!(logp[j] > -INFINITY)) return inv_not_a_number(err);
        inv_roller_move(r, a, j);
    }
    return INVIT_OK;
}

static bool over(const round_of_jobs *t)
{
    return atomic_load(&t->stop) || inv_cancelled(t->o->control) || inv_now() >= t->o->deadline;
}

static void run_worker(void *context, int member)
{
    round_of_jobs *t = context;
    worker *m = &t->r->worker[member];
    invit_error err = {0};
    bool busy = true;
    invit_status status = INVIT_OK;
    while (status == INVIT_OK && busy && !over(t)) {
        status = fill(m, t, &busy, &err);
        if (status == INVIT_OK) status = advance(m, t, &err);
    }
    for (int i = 0; i < MOST_SLOTS; i++) slot_leave(&m->slot[i]);
    if (status == INVIT_OK) return;
    pthread_mutex_lock(&t->lock);
    if (t->status == INVIT_OK) {
        t->status = status;
        t->err = err;
        atomic_store(&t->stop, true);
    }
    pthread_mutex_unlock(&t->lock);
}

invit_status inv_rebuild(inv_rebuilder *r, inv_rebuild_job *jobs, int32_t count, const inv_improve_options *o,
                         uint64_t seed, invit_error *err)
{
    round_of_jobs t = {.r = r, .jobs = jobs, .count = count, .o = o, .seed = seed};
    int threads = count < r->threads ? count : r->threads;
    if (count == 0) return INVIT_OK;
    t.slots = (count + threads - 1) / threads;
    if (t.slots > MOST_SLOTS) t.slots = MOST_SLOTS;
    for (int32_t i = 0; i < count; i++) jobs[i].count = 0;
    atomic_init(&t.next, 0);
    atomic_init(&t.stop, false);
    pthread_mutex_init(&t.lock, NULL);
    inv_parallel(threads, run_worker, &t);
    pthread_mutex_destroy(&t.lock);
    if (t.status != INVIT_OK && err) *err = t.err;
    return t.status;
}

/* ---- creation ------------------------------------------------------------------------------------------ */

invit_status inv_rebuilder_create(const invit_instance *p, const inv_config *config,
                                  const inv_prepared *weights, int threads, inv_rebuilder **out,
                                  invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_rebuilder *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r) return inv_no_memory(err, sizeof *r);
    *r = (inv_rebuilder){.p = p, .config = config, .weights = weights, .threads = threads};
    r->worker = calloc((size_t)threads, sizeof *r->worker);
    if (!r->worker) INV_TRY(inv_no_memory(err, (size_t)threads * sizeof *r->worker));
    for (int i = 0; i < threads; i++) {
        INV_TRY(inv_roller_init(&r->worker[i].roller, MOST_SLOTS, config, err));
        INV_TRY(inv_policy_create(weights, MOST_SLOTS, false, &r->worker[i].policy, err));
    }
    *out = r;
    r = NULL;
done:
    inv_rebuilder_destroy(r);
    return status;
}

void inv_rebuilder_destroy(inv_rebuilder *r)
{
    if (!r) return;
    for (int i = 0; r->worker && i < r->threads; i++) {
        worker *m = &r->worker[i];
        for (int j = 0; j < MOST_SLOTS; j++) {
            slot_leave(&m->slot[j]);
            inv_walk_destroy(m->slot[j].walk);
        }
        inv_policy_destroy(m->policy);
        inv_roller_destroy(&m->roller);
    }
    free(r->worker);
    free(r);
}
