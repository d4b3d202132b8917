/* What the constructors share with the search: tours as plain orders, from neighbour lists already made. */
#ifndef INVIT_SEARCH_CONSTRUCT_H
#define INVIT_SEARCH_CONSTRUCT_H

#include "base/limits.h"
#include "base/rng.h"
#include "search/neighbours.h"

/* Greedy edges: the shortest edge that keeps every node at degree two and closes no cycle, again and again;
 * taken from the neighbour lists first, then from fresh lists between the ends of the fragments. When fix_a
 * >= 0 the edge fix_a-fix_b is taken before all others. limits may be NULL. */
invit_status inv_greedy_order(const invit_instance *p, const inv_neighbours *nb, int32_t fix_a, int32_t fix_b,
                              inv_rng *rng, const inv_limits *limits, int32_t *order, invit_error *err);
/* The same with the edges i-fixed[i] taken first, wherever fixed[i] >= 0; at most one per node. NULL: none. */
invit_status inv_greedy_order_around(const invit_instance *p, const inv_neighbours *nb, const int32_t *fixed,
                                     inv_rng *rng, const inv_limits *limits, int32_t *order,
                                     invit_error *err);

#endif
