/* The expert (label solver): near-optimal solutions of many small instances per second. One expert per thread;
 * it keeps its buffers between calls. Results depend only on the arguments. */
#ifndef INVIT_LAB_EXPERT_EXPERT_H
#define INVIT_LAB_EXPERT_EXPERT_H

#include "problem/problem.h"

typedef struct inv_expert inv_expert;
invit_status inv_expert_create(inv_expert **out, invit_error *err);
void inv_expert_destroy(inv_expert *t);

/* `effort` scales the number of steps: 1 is the default (TSP-100 within 0.3 % on average at 150/s on one core),
 * 0.2 quicker, 5 better. */
typedef struct inv_tsp_request {
    const double *xy; /* [n][2], unrounded Euclidean distances */
    int32_t n;
    int32_t fix_a,
        fix_b; /* fix_a >= 0: the edge fix_a-fix_b is kept in the tour: the shortest path between them */
    double effort;
    uint64_t seed;
} inv_tsp_request;
/* A near-optimal tour; tour[0] is arbitrary. length may be NULL. */
invit_status inv_expert_tsp(inv_expert *e, const inv_tsp_request *q, int32_t *tour, double *length,
                            invit_error *err);

/* Node 0 is the depot. When open >= 1, that node is where a vehicle stands right now with `open_load` left: it is
 * the first stop of its route (whose edge from the depot costs nothing and whose other stops fit open_load), and
 * demand[open] is ignored; it is route 0 in the answer. */
typedef struct inv_cvrp_request {
    const double *xy;
    const int32_t *demand;
    int32_t n, capacity;
    int32_t open, open_load;
    double effort;
    uint64_t seed;
} inv_cvrp_request;
/* As in invit_solution: nodes[n - 1] and start[n + 1] are the caller's. */
typedef struct inv_cvrp_answer {
    int32_t *nodes, *start, routes;
    double length;
} inv_cvrp_answer;
invit_status inv_expert_cvrp(inv_expert *e, const inv_cvrp_request *q, inv_cvrp_answer *answer,
                             invit_error *err);

#endif
