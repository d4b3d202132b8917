/* A completion of a walk, kept while the walk goes on: as long as the walk follows it, what is left costs is
 * known without asking the expert again. */
#ifndef INVIT_LAB_TRAIN_DATA_PLAN_H
#define INVIT_LAB_TRAIN_DATA_PLAN_H

#include "problem/problem.h"

typedef struct inv_plan {
    bool made;            /* and followed so far                                                         */
    int32_t ahead;        /* where it goes next, unless the vehicle of a CVRP is at the depot           */
    int32_t (*beside)[2]; /* what an unvisited node has before and after it, 0 being the depot of a CVRP */
} inv_plan;

/* From `last` over the stops to `after`. */
void inv_plan_path(inv_plan *plan, int32_t last, const int32_t *stop, int32_t count, int32_t after);
/* CVRP: routes as in invit_solution. Unless `last` is 0, it stands at the head of route 0. */
void inv_plan_routes(inv_plan *plan, int32_t last, const int32_t *nodes, const int32_t *start,
                     int32_t routes);
/* Whether the move from `last` to `node` is one that the plan makes too, its routes in any order and
 * direction. If so it goes on from there, and the rest costs less by just that move; if not, it is over. */
bool inv_plan_follow(inv_plan *plan, const invit_instance *p, int32_t last, int32_t node);

#endif
