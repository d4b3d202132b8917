/* Local search around the customers of a step: 2-opt inside routes and 2-opt* between them, the moves of long
 * paths that removing and inserting customers does not make; then moves of short chains (cvrp_exchange.h). */
#ifndef INVIT_SEARCH_CVRP_LOCAL_H
#define INVIT_SEARCH_CVRP_LOCAL_H

#include "search/cvrp_part.h"

/* Moves a call makes at most: in a hot solution there always are more, which the next steps undo. Long routes gain from
 * more of them: with 32 instead of 4 generated instances of 15 to 40 customers a route ended 0.2 % shorter (four
 * instances, two seeds), those of 5 to 10 customers 0.2 % longer. */
enum { INV_CVRP_LOCAL_MOVES = 32, INV_CVRP_FEW_MOVES = 4, INV_CVRP_LONG_ROUTE = 13 };

/* Looks at the ends of the edges that the step's changes made, and makes every improving move found, each in
 * the journal. */
void inv_cvrp_local_search(inv_cvrp_part *q);

#endif
