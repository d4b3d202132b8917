/* Teachers: near-optimal solutions of many small instances per second, for labels. One teacher per thread; it
 * keeps its buffers between calls. Results depend only on the arguments. */
#ifndef INVIT_LAB_EXPERT_TEACHER_H
#define INVIT_LAB_EXPERT_TEACHER_H

#include "problem/problem.h"

typedef struct inv_teacher inv_teacher;
invit_status inv_teacher_create(inv_teacher **out, invit_error *err);
void inv_teacher_destroy(inv_teacher *t);

/* A near-optimal tour through n points (unrounded Euclidean). `effort` scales the number of kicks: 1 is the
 * default (TSP-100 within 0.3 % on average at 150/s on one core), 0.2 quicker, 5 better. When fix_a >= 0 the
 * edge fix_a-fix_b is kept in the tour: the shortest path between the two through all others. tour[0] is
 * arbitrary. */
invit_status inv_teach_tsp(inv_teacher *t, const double *xy, int32_t n, int32_t fix_a, int32_t fix_b,
                           double effort, uint64_t seed, int32_t *tour, double *length, invit_error *err);

/* A near-optimal CVRP solution; node 0 is the depot. When open >= 1, that node is where a vehicle stands
 * right now with `open_load` left: it is the first stop of its route (whose edge from the depot costs nothing
 * and whose other stops fit open_load), and demand[open] is ignored; it is route 0 in the answer. nodes[n-1],
 * start[n+1], *routes are filled as in invit_solution. */
invit_status inv_teach_cvrp(inv_teacher *t, const double *xy, const int32_t *demand, int32_t n,
                            int32_t capacity, int32_t open, int32_t open_load, double effort, uint64_t seed,
                            int32_t *nodes, int32_t *start, int32_t *routes, double *length,
                            invit_error *err);

#endif
