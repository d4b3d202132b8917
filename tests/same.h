/* Two solutions that are the same, node for node. */
#ifndef INVIT_TESTS_SAME_H
#define INVIT_TESTS_SAME_H

#include "problem/problem.h"

static inline void same_solution(const invit_solution *a, const invit_solution *b)
{
    assert_int_equal(a->routes, b->routes);
    assert_memory_equal(a->start, b->start, ((size_t)a->routes + 1) * sizeof *a->start);
    assert_memory_equal(a->nodes, b->nodes, (size_t)a->start[a->routes] * sizeof *a->nodes);
}

#endif
