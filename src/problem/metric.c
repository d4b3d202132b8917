#include "problem/metric.h"

/* TSPLIB 95, section 2.4: its own value of pi, and kilometres. */
#define TSPLIB_PI     3.141592
#define TSPLIB_RADIUS 6378.388

#define EARTH_RADIUS 6371008.8 /* metres: the mean radius of GRS 80 */

/* TSPLIB writes DDD.MM: degrees and minutes. */
static double geo_radians(double v)
{
    double degrees = trunc(v), minutes = v - degrees;
    return TSPLIB_PI * (degrees + 5.0 * minutes / 3.0) / 180.0;
}

double inv_geo_distance(const double *a, const double *b)
{
    double lat1 = geo_radians(a[0]), lon1 = geo_radians(a[1]);
    double lat2 = geo_radians(b[0]), lon2 = geo_radians(b[1]);
    double q1 = cos(lon1 - lon2), q2 = cos(lat1 - lat2), q3 = cos(lat1 + lat2);
    double c = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3);
    if (c > 1) c = 1;
    if (c < -1) c = -1;
    return trunc(TSPLIB_RADIUS * acos(c) + 1.0);
}

double inv_haversine_distance(const double *a, const double *b)
{
    double rad = M_PI / 180, lat1 = a[1] * rad, lat2 = b[1] * rad;
    double s = sin((lat2 - lat1) / 2), t = sin((b[0] - a[0]) * rad / 2);
    double h = s * s + cos(lat1) * cos(lat2) * t * t;
    return 2 * EARTH_RADIUS * asin(sqrt(h > 1 ? 1 : h));
}

double inv_tour_length(const invit_instance *p, const int32_t *order)
{
    double length = 0;
    for (int32_t i = 1; i < p->n; i++) length += inv_distance(p, order[i - 1], order[i]);
    return length + inv_distance(p, order[p->n - 1], order[0]);
}

double inv_length(const invit_instance *p, const invit_solution *s)
{
    double total = 0;
    for (int32_t r = 0; r < s->routes; r++) {
        const int32_t *v = s->nodes + s->start[r];
        int32_t m = s->start[r + 1] - s->start[r];
        if (m == 0) continue;
        for (int32_t i = 1; i < m; i++) total += inv_distance(p, v[i - 1], v[i]);
        if (p->problem == INVIT_CVRP)
            total +=
                inv_distance(p, 0, v[0]) + (p->rules && p->rules->open ? 0 : inv_distance(p, v[m - 1], 0));
        else if (!inv_is_path(p))
            total += inv_distance(p, v[m - 1], v[0]);
    }
    return total;
}
