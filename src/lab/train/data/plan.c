#include "lab/train/data/plan.h"

void inv_plan_path(inv_plan *plan, int32_t last, const int32_t *stop, int32_t count, int32_t after)
{
    plan->made = true;
    plan->ahead = count > 0 ? stop[0] : after;
    for (int32_t i = 0; i < count; i++) {
        plan->beside[stop[i]][0] = i > 0 ? stop[i - 1] : last;
        plan->beside[stop[i]][1] = i + 1 < count ? stop[i + 1] : after;
    }
}

void inv_plan_routes(inv_plan *plan, int32_t last, const int32_t *nodes, const int32_t *start, int32_t routes)
{
    for (int32_t r = routes; r-- > 0;) { /* route 0 at the end, for `ahead` */
        int32_t from = start[r] + (r == 0 && last != 0);
        inv_plan_path(plan, r == 0 ? last : 0, nodes + from, start[r + 1] - from, 0);
    }
}

bool inv_plan_follow(inv_plan *plan, const invit_instance *p, int32_t last, int32_t node)
{
    bool depot = p->problem == INVIT_CVRP;
    const int32_t *beside = plan->beside[node];
    if (depot && last == 0 ? beside[0] != 0 && beside[1] != 0 : node != plan->ahead) plan->made = false;
    if (!depot || node != 0) plan->ahead = beside[0] == last ? beside[1] : beside[0];
    return plan->made;
}
