/* TSP improvement: neighbour lists, then the search that suits size and time. */
#include "base/cancel.h"
#include "search/tsp_search.h"

#include "base/clock.h"
#include "search/tsp_exact.h"
#include "problem/metric.h"

enum { NEIGHBOURS = 8, PER_QUADRANT = 1, NEIGHBOURS_MATRIX = 12 };

bool inv_tsp_over(const inv_tsp_search *s)
{
    const invit_control *control = s->o->control;
    if (inv_cancelled(control)) return true;
    if (s->o->target > 0 && s->told_length <= s->o->target) return true;
    return inv_now() >= s->o->deadline;
}

void inv_tsp_tell(inv_tsp_search *s, double length, int64_t kicks)
{
    double now = inv_now();
    if (now - s->told < 0.1) return;
    s->told = now;
    bool better = length < s->told_length * (1 - 1e-12);
    if (s->o->on_better && better) s->o->on_better(s->o->on_better_user, now - s->begun, length);
    if (better) s->told_length = length;
    if (!s->o->control || !s->o->control->progress) return;
    double whole = s->o->deadline - s->begun;
    invit_progress progress = {
        .stage = "improve", .elapsed = now - s->begun, .fraction = -1, .best = length, .count = kicks};
    if (isfinite(whole) && whole > 0)
        progress.fraction = progress.elapsed / whole;
    else if (s->o->iterations > 0)
        progress.fraction = (double)kicks / (double)s->o->iterations;
    if (progress.fraction > 1) progress.fraction = 1;
    s->o->control->progress(s->o->control->user, &progress);
}

static invit_status run(inv_tsp_search *s, invit_error *err)
{
    inv_neighbours nb;
    bool matrix = s->p->rules && s->p->rules->distance;
    inv_neighbour_options o = {.k = matrix ? NEIGHBOURS_MATRIX : NEIGHBOURS,
                               .per_quadrant = PER_QUADRANT,
                               .threads = s->o->threads,
                               .deadline = s->o->deadline,
                               .cancel = s->o->control ? s->o->control->cancel : NULL};
    invit_status status = inv_neighbours_create(s->p, &o, &nb, err);
    if (status == INVIT_ERR_CANCELLED)
        return INVIT_OK; /* no time to improve anything: the tour stays as it is */
    if (status != INVIT_OK) return status;
    s->nb = &nb;
    bool done = false;
    status = inv_tsp_evolve(s, &done, err);
    if (status == INVIT_OK && !done) status = inv_tsp_chain(s, err);
    inv_neighbours_destroy(&nb);
    return status;
}

invit_status inv_improve_tsp(const invit_instance *p, invit_solution **solution, const inv_improve_options *o,
                             inv_improve_stats *stats, invit_error *err)
{
    if ((*solution)->routes != 1 || (*solution)->start[1] - (*solution)->start[0] != p->n)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "the tour to improve has %d nodes, expected all %d of the instance",
                        (int)((*solution)->start[1] - (*solution)->start[0]), (int)p->n);
    inv_tsp_search s = {.p = p,
                        .o = o,
                        .begun = inv_now(),
                        .solution = *solution,
                        .order = (*solution)->nodes + (*solution)->start[0]};
    s.told = s.begun;
    s.length = inv_length(p, *solution);
    s.told_length = s.length;
    s.shown = (inv_shown){-INFINITY, s.length};
    if (p->n <= INV_EXACT_MAX)
        inv_exact_order(p, -1, -1, s.order);
    else
        INV_CHECK(run(&s, err));
    stats->length = inv_length(p, *solution);
    stats->iterations = s.kicks;
    stats->seconds = inv_now() - s.begun;
    if (o->on_better && stats->length < s.told_length)
        o->on_better(o->on_better_user, stats->seconds, stats->length);
    return INVIT_OK;
}
