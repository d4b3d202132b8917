/* Where a customer that was taken out goes: greedy insertion with blinks, and ejection where that is too dear. */
#ifndef INVIT_SEARCH_CVRP_INSERT_H
#define INVIT_SEARCH_CVRP_INSERT_H

#include "search/cvrp_part.h"

typedef struct inv_cvrp_place_found {
    int32_t place; /* the id to insert behind */
    double added;
} inv_cvrp_place_found;

/* Before the first insertion of a run. */
void inv_cvrp_draw_blink(inv_cvrp_part *q, inv_rng *rng);

/* The cheapest place next to one of the customer's neighbours, or a route of its own. */
inv_cvrp_place_found inv_cvrp_best_place(inv_cvrp_part *q, int32_t v, inv_rng *rng);

/* A customer takes the place of a neighbour of smaller demand, which moves to its best place in another route.
 * Where routes are tight, the customer would often fit nowhere else. */
typedef struct inv_cvrp_ejection {
    int32_t node, place; /* who makes room, and where it goes; node 0: nobody */
    double added;
} inv_cvrp_ejection;

/* The cheapest ejection for v that adds less than `most`. */
inv_cvrp_ejection inv_cvrp_find_ejection(inv_cvrp_part *q, int32_t v, double most, inv_rng *rng);
void inv_cvrp_eject(inv_cvrp_part *q, int32_t v, const inv_cvrp_ejection *e);

#endif
