#include "lab/expert/teacher_internal.h"

#include <stdlib.h>

invit_status inv_teacher_create(inv_teacher **out, invit_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? INVIT_OK : inv_no_memory(err, sizeof **out);
}

void inv_teacher_destroy(inv_teacher *t)
{
    if (!t) return;
    if (t->tsp) t->destroy_tsp(t->tsp);
    if (t->cvrp) t->destroy_cvrp(t->cvrp);
    free(t);
}
