/* Solving on from routes that are there: where to start, and which routes are to stay as they are. */
#ifndef INVIT_SERVE_PLAN_H
#define INVIT_SERVE_PLAN_H

#include "invit.h"

#include <jansson.h>

typedef struct plan {
    invit_solution *start;  /* NULL: none                                                            */
    invit_instance *part;   /* without the customers of locked routes; NULL: nothing is locked       */
    invit_solution *locked; /* with a part: the routes that stay, in the numbers of the whole        */
    int32_t *whole;         /* with a part: its nodes in the numbers of the whole                    */
    bool fixed;             /* every route is locked: the start is the solution                      */
} plan;

/* "start" ([[node, ...]], numbered as "coords") and "locked" ([index of a route of start]) of a job. */
invit_status plan_read(const json_t *job, const invit_instance *instance, int64_t max_nodes, plan *out,
                       invit_error *err);
void plan_destroy(plan *p);
/* A solution of the part with the locked routes before it. */
invit_status plan_merge(const plan *p, const invit_solution *s, invit_solution **out, invit_error *err);

#endif
