/* Changes to the solution of a part, each written into the step's journal so that a step can be taken back. */
#ifndef INVIT_SEARCH_CVRP_MOVES_H
#define INVIT_SEARCH_CVRP_MOVES_H

#include "problem/metric.h"
#include "search/cvrp_part.h"

static inline double inv_cvrp_between(const inv_cvrp_part *q, const inv_cvrp_node *a, const inv_cvrp_node *b)
{
    double dx = a->x - b->x, dy = a->y - b->y;
    switch (q->metric) {
    case INVIT_EXACT:
        return sqrt(dx * dx + dy * dy);
    case INVIT_EUC_2D:
        return inv_round_half_up(sqrt(dx * dx + dy * dy));
    default: {
        const double u[2] = {a->x, a->y}, v[2] = {b->x, b->y};
        return inv_metric_distance(q->metric, u, v);
    }
    }
}

static inline double inv_cvrp_distance(const inv_cvrp_part *q, int32_t a, int32_t b)
{
    return inv_cvrp_between(q, &q->node[a], &q->node[b]);
}

/* A route without customers; there always is one: n routes for n - 1 customers. */
int32_t inv_cvrp_empty_route(inv_cvrp_part *q);
void inv_cvrp_note_empty(inv_cvrp_part *q, int32_t r);

void inv_cvrp_link_after(inv_cvrp_part *q, int32_t v, int32_t prev);
void inv_cvrp_unlink_node(inv_cvrp_part *q, int32_t v);
/* 2-opt: the path first..last, not all of its ring, is walked the other way round. O(path). */
void inv_cvrp_reverse(inv_cvrp_part *q, int32_t first, int32_t last);
/* 2-opt*: what follows a and what follows b, in different routes, change places; a and b may be depot ends.
 * O(both tails). The caller knows that the loads fit. */
void inv_cvrp_swap_tails(inv_cvrp_part *q, int32_t a, int32_t b);

/* Takes back everything since the last keep; the caller restores q->length. */
void inv_cvrp_undo(inv_cvrp_part *q);
void inv_cvrp_keep(inv_cvrp_part *q);
/* Brings the copy of the best up to date at the cost of what changed since the last time. */
void inv_cvrp_remember_best(inv_cvrp_part *q);
void inv_cvrp_mark_dirty(inv_cvrp_part *q, int32_t v);

#endif
