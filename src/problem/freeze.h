/* Beginnings of routes that are already driven and must stay. */
#ifndef INVIT_PROBLEM_FREEZE_H
#define INVIT_PROBLEM_FREEZE_H

#include "problem/problem.h"

/* before[v]: the node directly before v; 0 for a first stop, of a tour the first node itself; NaN: v is free. */
invit_status inv_set_freeze(invit_instance *p, const double *before, invit_error *err);
/* The same from the beginnings as routes. */
invit_status inv_freeze_routes(invit_instance *p, const invit_solution *beginnings, invit_error *err);
/* How many routes have a frozen beginning. */
int32_t inv_frozen_routes(const invit_instance *p);
/* The given routes (NULL: none) without empty ones, with the frozen stops that they lack. O(n). */
invit_status inv_with_frozen(const invit_instance *p, const invit_solution *given, invit_solution **out,
                             invit_error *err);
/* Whether what is frozen keeps the rules. */
invit_status inv_check_frozen(const invit_instance *p, invit_error *err);

static inline bool inv_is_frozen(const invit_instance *p, int32_t v)
{
    const double *freeze = p->rules ? p->rules->freeze : NULL;
    return freeze && freeze[v] == freeze[v];
}

#endif
