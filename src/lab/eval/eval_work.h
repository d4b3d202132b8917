/* Work on many instances at once, and near-optimal solutions to compare with. */
#ifndef INVIT_LAB_EVAL_EVAL_WORK_H
#define INVIT_LAB_EVAL_EVAL_WORK_H

#include "problem/problem.h"

/* Runs fn on items first..count-1, one thread an item; the first failure ends the rest and is returned.
 * Progress is reported after each item under `stage`, and the caller's cancel flag is looked at before each.
 * *finished (may be NULL) grows by the items that succeeded, also when others did not. */
typedef invit_status (*inv_item_fn)(void *context, int32_t item, invit_error *err);
invit_status inv_for_each(int threads, int32_t first, int32_t count, inv_item_fn fn, void *context,
                          const invit_control *control, const char *stage, int32_t *finished,
                          invit_error *err);

/* INVIT_ERR_CANCELLED, "stopped after 3 of 8 instances". */
invit_status inv_stopped(int32_t finished, int32_t count, invit_error *err);

/* How hard a near-optimal solution is looked for. */
typedef struct inv_effort {
    double seconds; /* per instance; 0: a fixed number of search steps that grows with n, the same on every
                       machine */
    double scale;   /* times that number (1)   */
    int threads;    /* inside one instance    */
    uint64_t seed;
} inv_effort;

/* The search steps of effort scale 1. */
int64_t inv_effort_iterations(const invit_instance *p, double scale);
/* The improver, from greedy edges (TSP), or twice, from savings and from nearest neighbours (CVRP). The
 * length is by the instance's rule. */
invit_status inv_near_optimal(const invit_instance *p, const inv_effort *effort, const invit_control *control,
                              invit_solution **out, double *length, invit_error *err);

#endif
