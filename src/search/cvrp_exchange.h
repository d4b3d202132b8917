/* Local moves of short chains of customers, next to a neighbour of the chain's end: Or-opt and relocation (a chain
 * goes elsewhere, either way round) and cross-exchange (two chains of different routes change places). */
#ifndef INVIT_SEARCH_CVRP_EXCHANGE_H
#define INVIT_SEARCH_CVRP_EXCHANGE_H

#include "search/cvrp_part.h"

/* Customers in a chain, and journal entries of a move: each of two chains is unlinked and linked again. */
enum { INV_CVRP_LONGEST_CHAIN = 3, INV_CVRP_EXCHANGE_CHANGES = 4 * INV_CVRP_LONGEST_CHAIN };

/* Makes the first improving move found of a chain that has customer v at one of its ends, in the journal; false: there
 * is none. O(1) a move tried. */
bool inv_cvrp_exchange(inv_cvrp_part *q, int32_t v);

#endif
