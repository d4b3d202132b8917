/* Items over threads, and the near-optimal solutions that results are measured against. */
#include "lab/eval/eval_work.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "search/improve.h"
#include "problem/metric.h"

#include <pthread.h>

invit_status inv_stopped(int32_t finished, int32_t count, invit_error *err)
{
    return inv_fail(err, INVIT_ERR_CANCELLED, "stopped after %d of %d instances", finished, count);
}

typedef struct shared_work {
    pthread_mutex_t lock;
    int32_t next, first, count, finished;
    inv_item_fn fn;
    void *context;
    const invit_control *control;
    const char *stage;
    double start;
    invit_status status; /* the first failure */
    invit_error error;
} shared_work;

static void report_progress(shared_work *w)
{
    if (!w->control || !w->control->progress) return;
    invit_progress p = {.stage = w->stage,
                        .elapsed = inv_now() - w->start,
                        .fraction = (double)w->finished / (w->count - w->first),
                        .best = NAN,
                        .count = w->finished};
    w->control->progress(w->control->user, &p);
}

static void work_on_items(void *context, int member)
{
    shared_work *w = context;
    (void)member;
    for (;;) {
        pthread_mutex_lock(&w->lock);
        if (w->status == INVIT_OK && w->next < w->count && inv_cancelled(w->control))
            w->status = INVIT_ERR_CANCELLED;
        int32_t item = w->status == INVIT_OK ? w->next++ : w->count;
        pthread_mutex_unlock(&w->lock);
        if (item >= w->count) return;
        invit_error err = {0};
        invit_status status = w->fn(w->context, item, &err);
        pthread_mutex_lock(&w->lock);
        w->finished += status == INVIT_OK;
        if (status != INVIT_OK && w->status == INVIT_OK) {
            w->status = status;
            w->error = err;
        }
        report_progress(w);
        pthread_mutex_unlock(&w->lock);
    }
}

invit_status inv_for_each(int threads, int32_t first, int32_t count, inv_item_fn fn, void *context,
                          const invit_control *control, const char *stage, int32_t *finished,
                          invit_error *err)
{
    if (first >= count) return INVIT_OK;
    shared_work w = {.next = first,
                     .first = first,
                     .count = count,
                     .fn = fn,
                     .context = context,
                     .control = control,
                     .stage = stage,
                     .start = inv_now()};
    pthread_mutex_init(&w.lock, NULL);
    threads = inv_threads(threads);
    inv_parallel(threads < count - first ? threads : count - first, work_on_items, &w);
    pthread_mutex_destroy(&w.lock);
    if (finished) *finished += w.finished;
    if (w.status == INVIT_ERR_CANCELLED) return inv_stopped(w.finished, count - first, err);
    if (w.status != INVIT_OK && err) *err = w.error;
    return w.status;
}

/* ---- near-optimal solutions --------------------------------------------------------------------- */

/* Kicks for TSP: 400 gave TSP-100 the same lengths as 40,000; it gets 2,000. Three times as many as these 20
 * a node gained 0.003 % on 1,000 nodes and 0.01 % on 10,000, where they take 20 seconds of one core.
 * Ruin-and-recreate steps for CVRP, of each of two searches: twice as many were 0.05 % shorter on 500
 * customers (mean of 16 instances), 0.08 % on 5,000 (4) and about 0.02 % on 50 (240). */
int64_t inv_effort_iterations(const invit_instance *p, double scale)
{
    double n = p->n;
    double steps = p->problem == INVIT_TSP ? 20 * n : 25000 + 2000 * n;
    return (int64_t)(scale * steps) + 1;
}

static invit_status search(const invit_instance *p, const inv_effort *effort, double seconds,
                           const invit_control *control, invit_solution **s, invit_error *err)
{
    inv_improve_stats stats;
    inv_improve_options o = {.deadline = effort->seconds > 0 ? inv_now() + seconds : INFINITY,
                             .iterations = effort->seconds > 0 ? -1 : inv_effort_iterations(p, effort->scale),
                             .threads = inv_threads(effort->threads),
                             .seed = effort->seed};
    invit_control quiet = {.cancel = inv_cancel_flag(control)};
    o.control = &quiet;
    return p->problem == INVIT_TSP ? inv_improve_tsp(p, s, &o, &stats, err)
                                   : inv_improve_cvrp(p, s, &o, &stats, err);
}

/* Where the depot is far, a search does not always get rid of a route that it began with, so CVRPs are
 * searched from two beginnings. */
invit_status inv_near_optimal(const invit_instance *p, const inv_effort *effort, const invit_control *control,
                              invit_solution **out, double *length, invit_error *err)
{
    invit_status status;
    invit_solution *s = NULL, *other = NULL;
    if (p->problem == INVIT_TSP) {
        INV_TRY(inv_construct_greedy(p, NULL, &s, err));
        INV_TRY(search(p, effort, effort->seconds, control, &s, err));
    } else {
        INV_TRY(inv_construct_savings(p, NULL, &s, err));
        INV_TRY(search(p, effort, effort->seconds / 2, control, &s, err));
        INV_TRY(inv_construct_nearest(p, effort->seed, NULL, &other, err));
        INV_TRY(search(p, effort, effort->seconds / 2, control, &other, err));
        if (inv_length(p, other) < inv_length(p, s)) {
            invit_solution *x = s;
            s = other;
            other = x;
        }
    }
    /* A search that was stopped half-way is no reference. */
    if (inv_cancelled(control)) status = inv_fail(err, INVIT_ERR_CANCELLED, "stopped");
done:
    invit_solution_destroy(other);
    if (status == INVIT_OK) {
        *length = inv_length(p, s);
        *out = s;
    } else {
        invit_solution_destroy(s);
    }
    return status;
}
