/* Constructions without the policy, by name, and the one that fits into the time there is. */
#ifndef INVIT_SOLVE_CONSTRUCT_H
#define INVIT_SOLVE_CONSTRUCT_H

#include "base/limits.h"
#include "problem/problem.h"

/* Whether it is for this kind of problem, with a message when not. */
invit_status inv_construct_check(invit_construct how, invit_problem problem, invit_error *err);
/* Any construction but the policy's. Fails with a message when it is not for this kind of problem, and with
 * INVIT_ERR_CANCELLED when the limits (NULL: none) come first. */
invit_status inv_construct(const invit_instance *p, invit_construct how, uint64_t seed,
                           const inv_limits *limits, invit_solution **out, invit_error *err);
/* The same, but along a space-filling curve when the limits come first; *how says which it was. */
invit_status inv_construct_within(const invit_instance *p, uint64_t seed, const inv_limits *limits,
                                  invit_solution **out, invit_construct *how, invit_error *err);
/* The best construction without the policy that ends well before the limits: greedy or savings, else a space-filling
 * curve. *how says which it was. */
invit_status inv_construct_in_time(const invit_instance *p, const inv_limits *limits, uint64_t seed,
                                   invit_solution **out, invit_construct *how, invit_error *err);

#endif
