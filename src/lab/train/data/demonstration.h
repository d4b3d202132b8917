/* A demonstration: the order in which the expert's solution visits the nodes, from a given beginning on. */
#ifndef INVIT_LAB_TRAIN_DATA_DEMONSTRATION_H
#define INVIT_LAB_TRAIN_DATA_DEMONSTRATION_H

#include "base/rng.h"
#include "lab/expert/expert.h"
#include "lab/train/data/plan.h"
#include "lab/train/data/replay_buffer.h"
#include "view/walk.h"

typedef struct inv_demonstration {
    int32_t room;   /* nodes there is space for                                                    */
    int32_t count;  /* entries of the order                                                        */
    int32_t own;    /* leading entries that the policy chose itself and nobody should learn from   */
    int32_t *order; /* TSP: nodes, the start first; CVRP: customers, 0 for each return to the depot */
    /* what is left, as the expert sees it */
    double *xy;
    int32_t *map, *demand, *nodes, *start;
    bool *done;
    inv_plan plan; /* the completion that inv_cost_to_go last made */
} inv_demonstration;

/* Space for instances of up to `room` nodes, depot included. */
invit_status inv_demonstration_init(inv_demonstration *d, int32_t room, invit_error *err);
void inv_demonstration_destroy(inv_demonstration *d);

/* The expert solves the whole instance. */
invit_status inv_demonstration_solve(inv_demonstration *d, inv_expert *e, const invit_instance *p,
                                     double effort, inv_rng *rng, invit_error *err);
/* The expert completes the walk as it stands: TSP the shortest path from `last` through the unvisited nodes
 * to `first`, CVRP the current route within its remaining load, then the rest. */
invit_status inv_demonstration_complete(inv_demonstration *d, inv_expert *e, const invit_instance *p,
                                        const inv_walk *w, double effort, inv_rng *rng, invit_error *err);
/* What it costs to go to `node` next (CVRP: 0 is the depot) and then follow the expert to the end. */
invit_status inv_cost_after(inv_demonstration *d, inv_expert *e, const invit_instance *p, const inv_walk *w,
                            int32_t node, double effort, uint64_t seed, double *cost, invit_error *err);
/* The cost-to-go: what the walk still costs when the expert goes on. The completion becomes the plan. */
invit_status inv_cost_to_go(inv_demonstration *d, inv_expert *e, const invit_instance *p, const inv_walk *w,
                            double effort, uint64_t seed, double *cost, invit_error *err);
/* TSP: another start and direction for the same tour. (CVRP orders have neither.) */
void inv_demonstration_rotate(inv_demonstration *d, inv_rng *rng);

/* Writes a CVRP solution as one order: routes by their end nearest to the depot, nearest first, each entered
 * at that end, for the policy leaves the depot only to near customers. With `open`, route 0 is under way: it
 * stays first and keeps its direction, its first stop being where the vehicle stands. Returns the number of
 * entries; `nodes` and `start` are reordered. */
int32_t inv_order_routes(const double *xy, int32_t *nodes, int32_t *start, int32_t routes, bool open,
                         int32_t *order);

typedef struct inv_replay_tally {
    int64_t seen;    /* states with a choice          */
    int64_t skipped; /* label outside the candidates  */
} inv_replay_tally;

/* Follows the order on the walk and puts a `share` of the states after the own part into the buffer, the first
 * of them always. States without a choice are left out. */
invit_status inv_replay(inv_walk *w, const inv_config *c, const inv_demonstration *d, const inv_frame *f,
                        double share, inv_rng *rng, inv_buffer *buffer, inv_replay_tally *tally,
                        invit_error *err);
/* The candidate that `node` is in this state (CVRP: 0 is the depot, the last candidate), or -1. */
int32_t inv_candidate_of(const inv_config *c, const inv_state *s, int32_t node);

#endif
