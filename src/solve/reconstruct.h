/* Reconstruction: parts of the solution are taken out and rebuilt by the policy; what is shorter stays.
 *
 * In rounds. TSP: the tour is cut into segments, each rebuilt as a path between its ends (tour_parts.h, path_merge.h).
 * CVRP: groups of neighbouring routes (route_groups.h). All parts of a round are rebuilt at once (rebuild.h).
 */
#ifndef INVIT_SOLVE_RECONSTRUCT_H
#define INVIT_SOLVE_RECONSTRUCT_H

#include "search/improve.h"
#include "policy/policy.h"

/* Like inv_improve_tsp and inv_improve_cvrp; an iteration is one part rebuilt once. With a number of
 * iterations and no deadline the result is the same for any number of threads. */
invit_status inv_reconstruct(const invit_instance *p, const inv_config *config, const inv_prepared *weights,
                             invit_solution **solution, const inv_improve_options *o,
                             inv_improve_stats *stats, invit_error *err);

#endif
