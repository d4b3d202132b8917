/* TSP improvement: neighbour lists, then the search that suits size and time. */
#include "base/cancel.h"
#include "search/tsp_search.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "search/curve.h"
#include "search/tsp_exact.h"
#include "problem/metric.h"

#include <stdlib.h>

enum { NEIGHBOURS = 8, PER_QUADRANT = 1, NEIGHBOURS_MATRIX = 12 };

void inv_tsp_show(inv_tsp_search *s)
{
    if (!inv_show_due(s->o, &s->shown, s->length)) return;
    int32_t *nodes = s->solution->nodes + s->solution->start[0];
    for (int32_t i = 0; i < s->p->n; i++) nodes[i] = s->name[s->order[i]];
    inv_show(s->o, &s->shown, s->length, s->solution);
}

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
    if (now - s->told < INV_SHOW_SECONDS) return;
    s->told = now;
    bool better = inv_shorter(length, s->told_length);
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

static invit_status search(inv_tsp_search *s, invit_error *err)
{
    inv_neighbours nb;
    bool matrix = s->p->rules && s->p->rules->distance;
    inv_neighbour_options o = {.k = matrix ? NEIGHBOURS_MATRIX : NEIGHBOURS,
                               .per_quadrant = PER_QUADRANT,
                               .threads = s->o->threads,
                               .deadline = s->o->deadline,
                               .cancel = inv_cancel_flag(s->o->control)};
    invit_status status = inv_neighbours_create(s->p, &o, &nb, err);
    if (status == INVIT_ERR_CANCELLED)
        return INVIT_OK; /* no time to improve anything: the tour stays as it is */
    if (status != INVIT_OK) return status;
    s->nb = &nb;
    s->whole_most = inv_tsp_whole_most(s);
    bool done = false;
    status = inv_tsp_evolve(s, &done, err);
    if (status == INVIT_OK && !done) status = inv_tsp_chain(s, err);
    s->nb = NULL;
    inv_neighbours_destroy(&nb);
    return status;
}

/* Numbers the nodes along a Hilbert curve. Those of a matrix keep their numbers: it would have to be moved. */
static invit_status number_nodes(const inv_tsp_search *s, const invit_instance *p, int32_t *name,
                                 invit_instance *numbered, invit_error *err)
{
    size_t n = (size_t)p->n;
    if (p->rules && p->rules->distance) {
        for (size_t i = 0; i < n; i++) name[i] = (int32_t)i;
        return INVIT_OK;
    }
    numbered->xy = malloc(2 * n * sizeof *numbered->xy);
    if (!numbered->xy) return inv_no_memory(err, 2 * n * sizeof *numbered->xy);
    return inv_curve_points(p->xy, p->n, s->o->threads, name, numbered->xy, err);
}

typedef struct renaming {
    const int32_t *name;
    int32_t *number; /* the inverse of name */
    const int32_t *nodes;
    int32_t *order; /* nodes by their numbers */
} renaming;

static void invert(void *context, size_t from, size_t to)
{
    const renaming *r = context;
    for (size_t i = from; i < to; i++) r->number[r->name[i]] = (int32_t)i;
}

static void number_tour(void *context, size_t from, size_t to)
{
    const renaming *r = context;
    for (size_t i = from; i < to; i++) r->order[i] = r->number[r->nodes[i]];
}

/* The fixed edges in the numbers of the search. */
static invit_status number_fixed(const int32_t *given, const int32_t *name, const int32_t *number, int32_t n,
                                 int32_t **out, invit_error *err)
{
    int32_t *fixed = malloc((size_t)n * sizeof *fixed);
    if (!fixed) return inv_no_memory(err, (size_t)n * sizeof *fixed);
    for (int32_t i = 0; i < n; i++) fixed[i] = given[name[i]] < 0 ? -1 : number[given[name[i]]];
    *out = fixed;
    return INVIT_OK;
}

static invit_status run(inv_tsp_search *s, const invit_instance *p, invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t n = (size_t)p->n;
    int32_t *nodes = s->solution->nodes + s->solution->start[0];
    /* The search works on the caller's tour itself, unless somebody looks at that meanwhile. */
    int32_t *own = s->o->on_solution ? malloc(n * sizeof *own) : NULL;
    int32_t *order = own ? own : nodes;
    int32_t *name = malloc(n * sizeof *name), *number = NULL, *fixed = NULL;
    bool renamed = false;
    invit_instance numbered = {.problem = INVIT_TSP, .metric = p->metric, .n = p->n};
    if (!name || (s->o->on_solution && !own)) INV_TRY(inv_no_memory(err, 2 * n * sizeof *name));
    INV_TRY(number_nodes(s, p, name, &numbered, err));
    number = malloc(n * sizeof *number);
    if (!number) INV_TRY(inv_no_memory(err, n * sizeof *number));
    renaming r = {name, number, nodes, order};
    inv_parallel_blocks(s->o->threads, n, invert, &r);
    if (s->o->fixed) INV_TRY(number_fixed(s->o->fixed, name, number, p->n, &fixed, err));
    inv_parallel_blocks(s->o->threads, n, number_tour, &r);
    renamed = true;
    free(number);
    number = NULL;
    s->p = numbered.xy ? &numbered : p;
    s->name = name;
    s->order = order;
    s->fixed = fixed;
    INV_TRY(search(s, err));
done:
    if (renamed && (status == INVIT_OK || !own)) /* the best tour so far, also when memory ran out */
        for (size_t i = 0; i < n; i++) nodes[i] = name[order[i]];
    free(name);
    free(own);
    free(number);
    free(fixed);
    free(numbered.xy);
    return status;
}

invit_status inv_improve_tsp(const invit_instance *p, invit_solution **solution, const inv_improve_options *o,
                             inv_improve_stats *stats, invit_error *err)
{
    if ((*solution)->routes != 1 || (*solution)->start[1] - (*solution)->start[0] != p->n)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "the tour to improve has %d nodes, expected all %d of the instance",
                        (int)((*solution)->start[1] - (*solution)->start[0]), (int)p->n);
    inv_tsp_search s = {.p = p, .o = o, .begun = inv_now(), .solution = *solution};
    s.told = s.begun;
    s.length = inv_length(p, *solution);
    s.told_length = s.length;
    s.shown = (inv_shown){-INFINITY, s.length};
    if (p->n <= INV_EXACT_MAX && !o->fixed)
        inv_exact_order(p, -1, -1, (*solution)->nodes + (*solution)->start[0]);
    else
        INV_CHECK(run(&s, p, err));
    stats->length = inv_length(p, *solution);
    stats->iterations = s.kicks;
    stats->seconds = inv_now() - s.begun;
    if (o->on_better && stats->length < s.told_length)
        o->on_better(o->on_better_user, stats->seconds, stats->length);
    return INVIT_OK;
}
