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
/* The same, and before a route is opened also at the ends of some routes, drawn at random. */
inv_cvrp_place_found inv_cvrp_place_anywhere(inv_cvrp_part *q, int32_t v, inv_rng *rng);

/* A customer takes the place of a string of neighbours with smaller demands, which then wait to be inserted
 * themselves. Where routes are tight, a large customer would often fit nowhere else. */
typedef struct inv_cvrp_ejection {
    int32_t first, count; /* the string that makes room; count 0: there is none            */
    double added;         /* with each ejected customer at what is its best place now */
} inv_cvrp_ejection;

/* Customers in a string, and in all strings of a step. */
enum { INV_CVRP_MOST_EJECTED = 4, INV_CVRP_MOST_EJECTIONS = 16 };

/* The cheapest ejection for v that seems to add less than `most`. */
inv_cvrp_ejection inv_cvrp_find_ejection(inv_cvrp_part *q, int32_t v, double most, inv_rng *rng);
/* The ejected customers go to the end of q->removed. */
void inv_cvrp_eject(inv_cvrp_part *q, int32_t v, const inv_cvrp_ejection *e);

#endif
