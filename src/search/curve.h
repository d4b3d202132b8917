/* The Hilbert curve through the bounding square of the nodes: what is near on it is near in the plane. */
#ifndef INVIT_SEARCH_CURVE_H
#define INVIT_SEARCH_CURVE_H

#include "problem/problem.h"

typedef struct inv_keyed {
    uint64_t key;
    int32_t value;
} inv_keyed;

/* Sorts by the lowest `bits` bits of the keys; equal keys keep their order. O(n) for a given number of bits.
 * `scratch` is as long as `a`, where the result is. */
void inv_sort_keyed(inv_keyed *a, inv_keyed *scratch, size_t n, int bits, int threads);

/* order[i] is the i-th of n nodes along the curve; nodes in one place stay in the order of their numbers. */
invit_status inv_curve_order(const double *xy, int32_t n, int threads, int32_t *order, invit_error *err);
/* The same, and where they are: along[i] is the place of order[i]. */
invit_status inv_curve_points(const double *xy, int32_t n, int threads, int32_t *order, double *along,
                              invit_error *err);

#endif
