/* The length of an edge as the solver sees it. (The checker has its own copy of these rules, on purpose.) */
#ifndef INVIT_PROBLEM_METRIC_H
#define INVIT_PROBLEM_METRIC_H

#include "problem/problem.h"

#include <math.h>

/* GEO (TSPLIB: degrees.minutes, radius 6378.388 km, truncated) and HAVERSINE (degrees, metres, not rounded).
 */
double inv_geo_distance(const double *a, const double *b);
double inv_haversine_distance(const double *a, const double *b);

/* Length of the edge a-b by the instance's own rule (rounded where TSPLIB rounds). a, b point at {x, y}. */
static inline double inv_distance(invit_metric metric, const double *a, const double *b)
{
    double dx = a[0] - b[0], dy = a[1] - b[1];
    switch (metric) {
    case INVIT_EUC_2D:
        return floor(sqrt(dx * dx + dy * dy) + 0.5);
    case INVIT_CEIL_2D:
        return ceil(sqrt(dx * dx + dy * dy));
    case INVIT_ATT: {
        double r = sqrt((dx * dx + dy * dy) / 10), t = floor(r + 0.5);
        return t < r ? t + 1 : t;
    }
    case INVIT_GEO:
        return inv_geo_distance(a, b);
    case INVIT_HAVERSINE:
        return inv_haversine_distance(a, b);
    case INVIT_EXACT:
        break;
    }
    return sqrt(dx * dx + dy * dy);
}

static inline double inv_edge(const invit_instance *p, int32_t i, int32_t j)
{
    return inv_distance(p->metric, p->xy + 2 * (size_t)i, p->xy + 2 * (size_t)j);
}

/* Length of a whole solution by the instance's own rule, in O(n). */
double inv_length(const invit_instance *p, const invit_solution *s);

#endif
