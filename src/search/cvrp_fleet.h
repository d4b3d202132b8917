/* Fleet reduction: one route less, by the absences of Christiaens and Vanden Berghe (2020). */
#ifndef INVIT_SEARCH_CVRP_FLEET_H
#define INVIT_SEARCH_CVRP_FLEET_H

#include "search/cvrp_part.h"

/* Whether q has more routes than its demands need at least, and than one. */
bool inv_cvrp_may_save_route(const inv_cvrp_part *q);

/* Takes one route's customers out and lets ruin and recreate find places for them in the other routes, in at most
 * `steps` steps, which it returns. *saved: all have a place. Else some are left out: the part must be set again. */
int64_t inv_cvrp_save_route(inv_cvrp_part *q, const inv_cvrp_run *run, int64_t steps, inv_rng *rng,
                            bool *saved);

#endif
