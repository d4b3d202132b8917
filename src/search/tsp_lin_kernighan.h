/* Chained Lin-Kernighan on one tour, held in one thread's own small world: nodes renumbered along the tour, so
 * that what is near on the tour is near in memory. Edges may be fixed: they stand for a part of a larger tour
 * that is not here. */
#ifndef INVIT_SEARCH_TSP_LIN_KERNIGHAN_H
#define INVIT_SEARCH_TSP_LIN_KERNIGHAN_H

#include "base/rng.h"
#include "search/tsp_tour.h"
#include "problem/problem.h"

/* A node's neighbours on the tour, in no order, and how far they are. */
typedef struct inv_link {
    int32_t to[2];
    double length[2];
} inv_link;

typedef struct inv_lk {
    int32_t n, k, capacity; /* nodes, neighbours per node, nodes there is room for                 */
    invit_metric metric;
    bool lean;            /* narrower and deeper steps: cheaper, for tours that will be crossed   */
    double epsilon;       /* gains below this are rounding noise                                  */
    const double *matrix; /* [stride][stride] lengths, or NULL: by coordinates */
    size_t stride;
    double *xy;         /* [n][2]; with a matrix a node's number there and 0 */
    int32_t *neighbour; /* [n][k] nearest first, -1 at the end of short lists                   */
    double *distance;   /* [n][k] to that neighbour                                             */
    inv_link *link;     /* [n] the neighbours on the tour                                       */
    double slack;       /* lengths are not below the Euclidean distance minus this; -1: unknown  */
    int32_t *mate;      /* [n] the other end of an edge that stays, or -1; at most one per node  */
    inv_tour tour;
    double length;  /* of the tour, kept up to date by every move                           */
    int32_t *queue; /* nodes to look at, a ring; the don't-look bits are `queued` turned     */
    uint8_t *queued;
    int32_t head, waiting;
    int32_t *journal; /* moves since the kick, to take them back                              */
    int32_t journal_size;
    bool journalling;
    int64_t moves; /* improving moves made so far                                          */
    inv_kopt move; /* under construction                                                   */
} inv_lk;

/* Room for up to `capacity` nodes with k neighbours; grows when called again. */
invit_status inv_lk_reserve(inv_lk *lk, int32_t capacity, int32_t k, invit_error *err);
void inv_lk_destroy(inv_lk *lk);

/* Takes over the tour 0, 1, ..., n-1 of nodes whose xy, neighbour lists, mates and n, k, metric the caller has
 * filled in; computes the rest. */
void inv_lk_begin(inv_lk *lk);

/* Takes over what the caller has written into tour.order: another tour of the same nodes that has the fixed edges. */
void inv_lk_restore(inv_lk *lk);

/* Lengths are to be those of p; node i is then what p calls v. */
static inline void inv_lk_measure(inv_lk *lk, const invit_instance *p)
{
    lk->metric = p->metric;
    lk->matrix = p->rules ? p->rules->distance : NULL;
    lk->stride = (size_t)p->n;
}

static inline void inv_lk_place(inv_lk *lk, int32_t i, const invit_instance *p, int32_t v)
{
    lk->xy[2 * (size_t)i] = lk->matrix ? v : p->xy[2 * (size_t)v];
    lk->xy[2 * (size_t)i + 1] = lk->matrix ? 0 : p->xy[2 * (size_t)v + 1];
}

/* Puts a node on the list of those to look at, if it is not there. */
void inv_lk_push(inv_lk *lk, int32_t v);
/* Looks at up to `budget` waiting nodes and makes every improving move found; true when none waits any more.
 */
bool inv_lk_optimise(inv_lk *lk, int64_t budget);
/* One kick near node v, local search around it, and back if the tour got longer. Needs n >= 8. */
void inv_lk_kick(inv_lk *lk, int32_t v, inv_rng *rng);

#endif
