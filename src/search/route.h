/* Vehicle routing with rules: time windows, limits on routes, a number of vehicles, open ends, matrices. */
#ifndef INVIT_SEARCH_ROUTE_H
#define INVIT_SEARCH_ROUTE_H

#include "search/improve.h"

typedef struct inv_route_options {
    uint64_t seed;
    int threads;                  /* already resolved, >= 1                                              */
    double deadline;              /* inv_now() at which to give up saving vehicles; INFINITY: by steps   */
    const invit_control *control; /* may be NULL                                                         */
    const invit_solution *given;  /* routes that keep all rules, to be completed; NULL: none             */
} inv_route_options;

/* Insertion; then, when that takes more routes than there are vehicles, routes are saved. INVIT_ERR_INPUT
 * when a customer cannot be served even alone, and when no solution with so few vehicles was found: the
 * message says how many are needed as far as found. O(n k) where vehicles suffice. */
invit_status inv_construct_routes(const invit_instance *p, const inv_route_options *o, invit_solution **out,
                                  invit_error *err);

/* As inv_improve_cvrp, for any feasible solution of an instance with rules. Fewest routes come first where
 * the rules say so: "better" is then fewer routes or, with as many, shorter. */
invit_status inv_improve_routes(const invit_instance *p, invit_solution **solution,
                                const inv_improve_options *o, inv_improve_stats *stats, invit_error *err);

/* Length of the routes by the instance's matrix or metric, open ends left out. O(n). */
double inv_route_total(const invit_instance *p, const invit_solution *s);

#endif
