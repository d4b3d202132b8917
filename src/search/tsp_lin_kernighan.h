/* Chained Lin-Kernighan on one tour (or one path, by way of a fixed edge), held in one thread's own small
 * world: nodes renumbered along the tour, so that what is near on the tour is near in memory. */
#ifndef INVIT_SEARCH_TSP_LIN_KERNIGHAN_H
#define INVIT_SEARCH_TSP_LIN_KERNIGHAN_H

#include "base/rng.h"
#include "search/tsp_tour.h"
#include "problem/problem.h"

typedef struct inv_lk {
    int32_t n, k, capacity; /* nodes, neighbours per node, nodes there is room for                 */
    invit_metric metric;
    double epsilon;       /* gains below this are rounding noise                                  */
    const double *matrix; /* [stride][stride] lengths, or NULL: by coordinates                            */
    size_t stride;
    double *xy;           /* [n][2]; with a matrix a node's number there and 0                            */
    int32_t *neighbour;   /* [n][k] nearest first, -1 at the end of short lists                   */
    double *distance;     /* [n][k] to that neighbour                                             */
    int32_t fix_a, fix_b; /* an edge that stays, or -1                                            */
    inv_tour tour;
    double length;  /* of the tour, kept up to date by every move                           */
    int32_t *queue; /* nodes to look at, a ring; the don't-look bits are `queued` turned     */
    uint8_t *queued;
    int32_t head, waiting;
    int32_t *journal; /* moves since the kick, to take them back                              */
    int32_t journal_size;
    bool journalling;
    int64_t moves; /* improving moves made so far                                          */
    int32_t reach; /* moves that rewrite more of the tour than this are not made           */
    inv_kopt move; /* under construction                                                   */
} inv_lk;

/* Room for up to `capacity` nodes with k neighbours; grows when called again. */
invit_status inv_lk_reserve(inv_lk *lk, int32_t capacity, int32_t k, invit_error *err);
void inv_lk_destroy(inv_lk *lk);

/* Takes over the tour 0, 1, ..., n-1 of nodes whose xy, neighbour lists and n, k, metric, fixed edge the
 * caller has filled in; computes the rest. */
void inv_lk_begin(inv_lk *lk);

/* Puts a node on the list of those to look at, if it is not there. */
void inv_lk_push(inv_lk *lk, int32_t v);
/* Looks at up to `budget` waiting nodes and makes every improving move found; true when none waits any more.
 */
bool inv_lk_optimise(inv_lk *lk, int64_t budget);
/* One kick near node v, local search around it, and back if the tour got longer. Needs n >= 8. */
void inv_lk_kick(inv_lk *lk, int32_t v, inv_rng *rng);

#endif
