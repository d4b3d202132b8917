/* A walk: one solution under construction. It knows where the vehicle stands, what is left, and gives the nested views
 * of the next decision in O(log n + k). Rollouts, replays of given tours and roll-ins for training are all walks.
 *
 * The spatial index over an instance's nodes is built once and shared by all its walks; a walk adds only its own marks
 * of what is visited. Neighbours are found in the instance's own coordinates (rotations and reflections keep them) and
 * handed out in the walk's frame.
 */
#ifndef INVIT_VIEW_WALK_H
#define INVIT_VIEW_WALK_H

#include "base/limits.h"
#include "base/rng.h"
#include "problem/problem.h"
#include "view/state.h"

typedef struct inv_index inv_index; /* k-d tree over the nodes (CVRP: customers), shared, read-only */
invit_status inv_index_create(const invit_instance *p, inv_index **out, invit_error *err);
/* INVIT_ERR_CANCELLED when the limits come first; the index is the same for any number of threads. */
invit_status inv_index_create_within(const invit_instance *p, const inv_limits *limits, inv_index **out,
                                     invit_error *err);
void inv_index_destroy(inv_index *x);

/* From plane coordinates to the walk's unit square: scaled min-max, after an optional rotation or reflection. Plane
 * coordinates are the instance's own, except that for GEO and HAVERSINE longitudes are shrunk to match latitudes. */
typedef struct inv_frame {
    double m[4], t[2]; /* x' = m0 x + m1 y + t0, y' = m2 x + m3 y + t1 */
} inv_frame;
/* copy 0: only scaled; even copies: rotated by a random angle, odd ones: reflected about a random axis. O(n). */
void inv_frame_for_copy(const invit_instance *p, int copy, inv_rng *rng, inv_frame *f);

typedef struct inv_walk inv_walk;
/* k_action and the largest state k of the model that will look at it; k_max < 0 asks for all remaining nodes. */
invit_status inv_walk_create(const invit_instance *p, const inv_index *x, int32_t k_action, int32_t k_max,
                             inv_walk **out, invit_error *err);
void inv_walk_destroy(inv_walk *w);
/* Begins anew: nothing visited but the start node (TSP) or nothing at all (CVRP: at the depot, full). Cost: O(1) amortised
 * or O(n), no allocation. */
void inv_walk_start(inv_walk *w, int32_t start, const inv_frame *f);
/* TSP: a path from `start` through all other nodes to `end`, which counts as visited and stands in for the first node. */
void inv_walk_start_path(inv_walk *w, int32_t start, int32_t end, const inv_frame *f);
/* Makes `to` stand where `from` stands; both were made for the same instance and views. O(n), for beam search. */
void inv_walk_copy(inv_walk *to, const inv_walk *from);
/* The same walk over another instance and index (training loops); may allocate when the instance is larger. */
invit_status inv_walk_rebind(inv_walk *w, const invit_instance *p, const inv_index *x, invit_error *err);

bool inv_walk_done(const inv_walk *w);    /* every node visited, every customer served    */
int32_t inv_walk_last(const inv_walk *w); /* CVRP: 0 at the depot                          */
int32_t inv_walk_left(const inv_walk *w); /* nodes not visited yet                         */
int32_t inv_walk_load(const inv_walk *w); /* CVRP: remaining load                          */
/* The next decision's views. The arrays in *s belong to the walk and hold until the next call on it. */
void inv_walk_view(inv_walk *w, inv_state *s);
/* Moves to a node: an unvisited one, or 0 for the depot in CVRP. */
void inv_walk_visit(inv_walk *w, int32_t node);
/* The order so far: TSP nodes from the start; CVRP customers with 0 for each return to the depot. */
const int32_t *inv_walk_order(const inv_walk *w, int32_t *count);
/* Memory, for those who measure. */
size_t inv_walk_bytes(const inv_walk *w);
size_t inv_index_bytes(const inv_index *x);
/* The finished walk as a solution. */
invit_status inv_walk_solution(const inv_walk *w, invit_solution **out, invit_error *err);

#endif
