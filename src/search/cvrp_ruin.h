/* The ruin of slack induction by string removals, and the order in which recreate takes what was removed. */
#ifndef INVIT_SEARCH_CVRP_RUIN_H
#define INVIT_SEARCH_CVRP_RUIN_H

#include "search/cvrp_part.h"

/* Removes strings of customers from routes that pass near `seed`, a customer that may be outside all routes. Fills
 * q->removed. */
void inv_cvrp_ruin(inv_cvrp_part *q, int32_t seed, inv_rng *rng);

/* Sorts q->removed by one of the paper's four orders, drawn anew. */
void inv_cvrp_sort_removed(inv_cvrp_part *q, inv_rng *rng);

#endif
