#include "lab/train/data/length.h"

#include "problem/metric.h"

double inv_straight(const invit_instance *p, int32_t a, int32_t b)
{
    return inv_metric_distance(INVIT_EXACT, p->xy + 2 * (size_t)a, p->xy + 2 * (size_t)b);
}

double inv_length_so_far(const invit_instance *p, const int32_t *order, int32_t count)
{
    int32_t at = p->problem == INVIT_CVRP ? 0 : order[0];
    double length = 0;
    for (int32_t i = 0; i < count; i++) {
        length += inv_straight(p, at, order[i]);
        at = order[i];
    }
    return length;
}

double inv_order_length(const invit_instance *p, const int32_t *order, int32_t count)
{
    int32_t home = p->problem == INVIT_CVRP ? 0 : order[0];
    int32_t last = count > 0 ? order[count - 1] : home;
    return inv_length_so_far(p, order, count) + inv_straight(p, last, home);
}
