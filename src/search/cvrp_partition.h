/* Cuts a solution into parts: whole routes, neighbours kept together, about the same number of customers
 * each. */
#ifndef INVIT_SEARCH_CVRP_PARTITION_H
#define INVIT_SEARCH_CVRP_PARTITION_H

#include "base/rng.h"
#include "problem/problem.h"

typedef struct inv_cvrp_place {
    double x, y, key;
    int32_t route, size;
} inv_cvrp_place;

/* Orders the routes so that part i is place[first[i]].route .. place[first[i + 1] - 1].route; another rng,
 * other cuts. place has s->routes entries, first parts + 1. O(routes log(routes) log(parts)). */
void inv_cvrp_partition(const invit_instance *p, const invit_solution *s, int32_t parts, inv_rng *rng,
                        inv_cvrp_place *place, int32_t *first);

#endif
