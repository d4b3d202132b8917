/* Optimal tours of tiny instances, by dynamic programming over subsets (Held and Karp). */
#ifndef INVIT_SEARCH_TSP_EXACT_H
#define INVIT_SEARCH_TSP_EXACT_H

#include "problem/problem.h"

enum { INV_EXACT_MAX = 9 };

/* p->n <= INV_EXACT_MAX. When fix_a >= 0 the tour keeps the edge fix_a-fix_b. */
void inv_exact_order(const invit_instance *p, int32_t fix_a, int32_t fix_b, int32_t *order);

#endif
