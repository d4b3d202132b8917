/* Which customers are worth visiting next to each other. */
#ifndef INVIT_SEARCH_ROUTE_NEAR_H
#define INVIT_SEARCH_ROUTE_NEAR_H

#include "search/neighbours.h"

/* How long such lists are made for this instance: longer with windows, where many neighbours do not fit. */
int32_t inv_route_near_length(const invit_instance *p);
/* For every customer the k others that are nearest by distance and time: pairs that no route can serve one
 * after the other are left out, and waiting in between counts as a share of distance. Lists are sorted by
 * distance (the shorter way), without the depot, and end with -1. O(n^2) with a matrix and on small
 * instances; else the nearest by coordinates are filtered, O(n (log n + k)). */
invit_status inv_route_near_create(const invit_instance *p, const inv_neighbour_options *o,
                                   inv_neighbours *out, invit_error *err);

#endif
