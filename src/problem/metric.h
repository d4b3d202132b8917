/* The length of an edge as the solver sees it. (The checker has its own copy of these rules, on purpose.) */
#ifndef INVIT_PROBLEM_METRIC_H
#define INVIT_PROBLEM_METRIC_H

#include "problem/problem.h"

#include <math.h>

/* GEO (TSPLIB: degrees.minutes, radius 6378.388 km, truncated) and HAVERSINE (degrees, metres, not rounded).
 */
double inv_geo_distance(const double *a, const double *b);
double inv_haversine_distance(const double *a, const double *b);

/* floor(v) for v >= 0, without a call where the processor's baseline has no instruction for it. From 2^52 all numbers
 * are whole. */
static inline double inv_whole(double v)
{
    return v < 4503599627370496.0 ? (double)(int64_t)v : v;
}

/* The nearest whole number, halves up, for v >= 0. With 0.5 itself the sum would be rounded up to a whole number
 * just below a half, and to an even one above 2^52; with the number before it, halves still are rounded up. */
static inline double inv_round_half_up(double v)
{
    return inv_whole(v + 0.49999999999999994);
}

/* Length of the edge a-b by the instance's own rule (rounded where TSPLIB rounds). a, b point at {x, y}. */
static inline double inv_metric_distance(invit_metric metric, const double *a, const double *b)
{
    double dx = a[0] - b[0], dy = a[1] - b[1];
    switch (metric) {
    case INVIT_EUC_2D:
        return inv_round_half_up(sqrt(dx * dx + dy * dy));
    case INVIT_CEIL_2D:
        return ceil(sqrt(dx * dx + dy * dy));
    case INVIT_ATT: {
        double r = sqrt((dx * dx + dy * dy) / 10), t = inv_round_half_up(r);
        return t < r ? t + 1 : t;
    }
    case INVIT_GEO:
        return inv_geo_distance(a, b);
    case INVIT_HAVERSINE:
        return inv_haversine_distance(a, b);
    case INVIT_DIMACS: /* cut to one decimal, as DIMACS' challenge measures instances with time windows */
        return inv_whole(10 * sqrt(dx * dx + dy * dy)) / 10;
    case INVIT_EXACT:
        break;
    }
    return sqrt(dx * dx + dy * dy);
}

/* The length of an edge of a plain instance, by its metric. Where matrices may be: inv_distance(). */
static inline double inv_edge(const invit_instance *p, int32_t i, int32_t j)
{
    return inv_metric_distance(p->metric, p->xy + 2 * (size_t)i, p->xy + 2 * (size_t)j);
}

/* Neither rules nor matrices: what the searches for plain TSP and CVRP solve. */
static inline bool inv_is_plain(const invit_instance *p)
{
    return !p->rules;
}

/* A TSP whose tour is not closed. */
static inline bool inv_is_path(const invit_instance *p)
{
    const inv_rules *r = p->rules;
    return p->problem == INVIT_TSP && r && (r->open || r->start >= 0 || r->end >= 0);
}

/* Lengths are whole numbers, by the metric's rule. */
static inline bool inv_whole_lengths(const invit_instance *p)
{
    return (!p->rules || !p->rules->distance) && p->metric != INVIT_EXACT && p->metric != INVIT_HAVERSINE &&
           p->metric != INVIT_DIMACS;
}

/* From i to j, by the matrix where there is one. */
static inline double inv_distance(const invit_instance *p, int32_t i, int32_t j)
{
    const inv_rules *r = p->rules;
    return r && r->distance ? r->distance[(size_t)i * (size_t)p->n + (size_t)j] : inv_edge(p, i, j);
}

/* Travel time from i to j, without service. */
static inline double inv_duration(const invit_instance *p, int32_t i, int32_t j)
{
    const inv_rules *r = p->rules;
    if (r && r->duration) return r->duration[(size_t)i * (size_t)p->n + (size_t)j];
    double distance = inv_distance(p, i, j);
    return r && r->speed != 1 ? distance / r->speed : distance;
}

/* Length of the closed tour through all nodes in this order. */
double inv_tour_length(const invit_instance *p, const int32_t *order);
/* Length of a whole solution by the instance's own rule, in O(n). */
double inv_length(const invit_instance *p, const invit_solution *s);

#endif
