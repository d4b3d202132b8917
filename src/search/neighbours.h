/* Neighbour lists: for every node its nearest ones, with each quadrant around it represented, so that a node
 * at the rim of a cluster also sees what lies beyond the gap. */
#ifndef INVIT_SEARCH_NEIGHBOURS_H
#define INVIT_SEARCH_NEIGHBOURS_H

#include "problem/problem.h"

typedef struct inv_neighbours {
    int32_t n, k;
    int32_t *node; /* [n][k], nearest first by the instance's rule; -1 fills up lists of tiny instances */
} inv_neighbours;

typedef struct inv_neighbour_options {
    int32_t k;            /* length of each list                                                      */
    int32_t per_quadrant; /* of these at least so many from each quadrant, where there are any; 4 *
                             per_quadrant <= k */
    int threads;
    double deadline;            /* inv_now() at which to give up; INFINITY: never                      */
    const volatile int *cancel; /* may be NULL                                                         */
} inv_neighbour_options;

/* O(n (log n + k)) by a k-d tree; O(n^2) with a matrix, which has no quadrants. INVIT_ERR_CANCELLED when the deadline or the flag came first. */
invit_status inv_neighbours_create(const invit_instance *p, const inv_neighbour_options *o,
                                   inv_neighbours *out, invit_error *err);
void inv_neighbours_destroy(inv_neighbours *nb);

static inline const int32_t *inv_neighbours_of(const inv_neighbours *nb, int32_t i)
{
    return nb->node + (size_t)i * (size_t)nb->k;
}

#endif
