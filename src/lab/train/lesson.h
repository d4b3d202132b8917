/* A lesson: the order in which a good solution visits the nodes, from a given beginning on. */
#ifndef INVIT_LAB_TRAIN_LESSON_H
#define INVIT_LAB_TRAIN_LESSON_H

#include "base/rng.h"
#include "lab/expert/teacher.h"
#include "lab/train/plan.h"
#include "lab/train/pool.h"
#include "view/walk.h"

typedef struct inv_lesson {
    int32_t room;   /* nodes there is space for                                                    */
    int32_t count;  /* entries of the order                                                        */
    int32_t own;    /* leading entries that the policy chose itself and nobody should learn from   */
    int32_t *order; /* TSP: nodes, the start first; CVRP: customers, 0 for each return to the depot */
    /* the teacher's view of what is left */
    double *xy;
    int32_t *map, *demand, *nodes, *start;
    bool *done;
    inv_plan plan; /* the completion that inv_lesson_rest last looked at */
} inv_lesson;

/* Space for instances of up to `room` nodes, depot included. */
invit_status inv_lesson_init(inv_lesson *l, int32_t room, invit_error *err);
void inv_lesson_destroy(inv_lesson *l);

/* The teacher solves the whole instance. */
invit_status inv_lesson_teach(inv_lesson *l, inv_teacher *t, const invit_instance *p, double effort,
                              inv_rng *rng, invit_error *err);
/* The teacher completes the walk as it stands: TSP the shortest path from `last` through the unvisited nodes
 * to `first`, CVRP the current route within its remaining load, then the rest. */
invit_status inv_lesson_complete(inv_lesson *l, inv_teacher *t, const invit_instance *p, const inv_walk *w,
                                 double effort, inv_rng *rng, invit_error *err);
/* What it costs to go to `node` next (CVRP: 0 is the depot) and then follow the teacher to the end. */
invit_status inv_lesson_price(inv_lesson *l, inv_teacher *t, const invit_instance *p, const inv_walk *w,
                              int32_t node, double effort, uint64_t seed, double *cost, invit_error *err);
/* What the walk still costs when the teacher goes on. The completion becomes the plan. */
invit_status inv_lesson_rest(inv_lesson *l, inv_teacher *t, const invit_instance *p, const inv_walk *w,
                             double effort, uint64_t seed, double *cost, invit_error *err);
/* TSP: another start and direction for the same tour. (CVRP orders have neither.) */
void inv_lesson_turn(inv_lesson *l, inv_rng *rng);

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

/* Follows the order on the walk and puts a `share` of the states after the own part into the pool, the first
 * of them always. States without a choice are left out. */
invit_status inv_replay(inv_walk *w, const inv_config *c, const inv_lesson *l, const inv_frame *f,
                        double share, inv_rng *rng, inv_pool *pool, inv_replay_tally *tally,
                        invit_error *err);
/* The candidate that `node` is in this state (CVRP: 0 is the depot, the last candidate), or -1. */
int32_t inv_candidate_of(const inv_config *c, const inv_state *s, int32_t node);

#endif
