/* Improvement: make a solution shorter until a deadline, an iteration budget or the caller says stop. */
#ifndef INVIT_SEARCH_IMPROVE_H
#define INVIT_SEARCH_IMPROVE_H

#include "base/limits.h"
#include "problem/problem.h"

typedef struct inv_improve_options {
    double deadline;    /* inv_now() at which to stop; INFINITY: no limit                       */
    int64_t iterations; /* kicks (TSP) or ruin-and-recreate steps (CVRP) in all; < 0: no limit  */
    int threads;        /* already resolved, >= 1                                               */
    uint64_t seed;
    const int32_t
        *fixed;    /* TSP: [n] the other end of an edge of the tour that has to stay, or -1; NULL: none */
    double target; /* stop when the length is <= target; 0: never                          */
    bool refine;   /* CVRP: the solution is the result of a search, which few steps must not heat up    */
    const invit_control *control; /* may be NULL                                                 */
    /* Called when a better solution is known, at most some ten times a second; for traces and drawings. May
     * be NULL. */
    void (*on_better)(void *user, double elapsed, double length);
    void *on_better_user;
    /* The same with the solution itself, whenever it is in one piece, at most ten times a second; it must not
     * be changed, and holds during the call only. The last one is left in *solution and not told. May be
     * NULL. */
    void (*on_solution)(void *user, double length, const invit_solution *solution);
    void *on_solution_user;
} inv_improve_options;

typedef struct inv_improve_stats {
    int64_t iterations;
    double length; /* by the instance's rule */
    double seconds;
} inv_improve_stats;

/* Both take any feasible solution and leave the best one found in its place (*solution may be reallocated).
 * They keep the deadline within a few milliseconds plus one small unit of work, at any size. */
invit_status inv_improve_tsp(const invit_instance *p, invit_solution **solution, const inv_improve_options *o,
                             inv_improve_stats *stats, invit_error *err);
invit_status inv_improve_cvrp(const invit_instance *p, invit_solution **solution,
                              const inv_improve_options *o, inv_improve_stats *stats, invit_error *err);

/* Simple constructors, the starting points when no policy is wanted. All O(n log n). With limits (NULL: none) they fail
 * with INVIT_ERR_CANCELLED when the deadline or the caller's flag comes first; the curve has none, it takes no time. */
invit_status inv_construct_nearest(const invit_instance *p, uint64_t seed, const inv_limits *limits,
                                   invit_solution **out, invit_error *err);
invit_status inv_construct_greedy(const invit_instance *p, const inv_limits *limits, invit_solution **out,
                                  invit_error *err); /* TSP */
invit_status inv_construct_space_filling(const invit_instance *p, invit_solution **out,
                                         invit_error *err); /* TSP */
invit_status inv_construct_savings(const invit_instance *p, const inv_limits *limits, invit_solution **out,
                                   invit_error *err); /* CVRP */

#endif
