/* Neural re-construction: a part of the solution is taken out and rebuilt by the policy; what is shorter
 * stays.
 *
 * TSP: a random piece of the tour between two fixed ends. CVRP: a random customer's route and its neighbours.
 * The parts are about as large as the instances policies are trained on.
 */
#ifndef INVIT_SOLVE_RECONSTRUCT_H
#define INVIT_SOLVE_RECONSTRUCT_H

#include "search/improve.h"
#include "policy/policy.h"

/* Like inv_improve_tsp and inv_improve_cvrp; an iteration is one part rebuilt. With a number of iterations
 * the result is the same for any number of threads. */
invit_status inv_reconstruct(const invit_instance *p, const inv_config *config, const inv_prepared *weights,
                             invit_solution **solution, const inv_improve_options *o,
                             inv_improve_stats *stats, invit_error *err);

#endif
