/* An instance's rules: what routes must keep besides capacity, and matrices. */
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>

invit_status inv_instance_rules(invit_instance *p, inv_rules **out, invit_error *err)
{
    if (!p->rules) {
        inv_rules *r = calloc(1, sizeof *r);
        if (!r) return inv_no_memory(err, sizeof *r);
        r->max_length = r->max_duration = INFINITY;
        r->start = r->end = -1;
        r->speed = 1;
        r->symmetric = r->has_xy = true;
        p->rules = r;
    }
    *out = p->rules;
    return INVIT_OK;
}

void inv_rules_destroy(inv_rules *rules)
{
    if (!rules) return;
    free(rules->service);
    free(rules->earliest);
    free(rules->latest);
    free(rules->distance);
    free(rules->duration);
    free(rules);
}
