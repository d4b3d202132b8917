#include "lab/expert/expert_internal.h"

#include <stdlib.h>

invit_status inv_expert_create(inv_expert **out, invit_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? INVIT_OK : inv_no_memory(err, sizeof **out);
}

void inv_expert_destroy(inv_expert *t)
{
    if (!t) return;
    if (t->tsp) t->destroy_tsp(t->tsp);
    if (t->cvrp) t->destroy_cvrp(t->cvrp);
    free(t);
}
