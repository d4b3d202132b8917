/* Local search around the customers of a step: 2-opt inside routes and 2-opt* between them, the moves of long
 * paths that removing and inserting customers does not make. */
#ifndef INVIT_SEARCH_CVRP_LOCAL_H
#define INVIT_SEARCH_CVRP_LOCAL_H

#include "search/cvrp_part.h"

/* Moves a call makes at most: in a hot solution there always are more, which the next steps undo. The journal
 * has room for twice as many entries. */
enum { INV_CVRP_LOCAL_MOVES = 4 };

/* Looks at the ends of the edges that the step's changes made, and makes every improving move found, each in
 * the journal. */
void inv_cvrp_local_search(inv_cvrp_part *q);

#endif
