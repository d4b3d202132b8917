/* The checker: is a solution feasible, and how long is it? Written from the definitions, with its own
 * distances, so that a mistake in the solver cannot hide here. Nothing of the solver is used, and the solver
 * uses nothing of this. */
#include "invit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- distances ----------------------------------------------------------------------------------------- */

static double euclidean(const double *a, const double *b)
{
    double dx = a[0] - b[0], dy = a[1] - b[1];
    return sqrt(dx * dx +
                dy * dy); /* exact for exact squares, as CEIL_2D needs; hypot() does not promise that */
}

/* TSPLIB 95, section 2.4: the input is DDD.MM, the distance in kilometres on a sphere. */
static double geographical(const double *a, const double *b, bool rounded)
{
    const double pi = 3.141592, radius = 6378.388;
    double latitude[2], longitude[2];
    const double *at[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        double degrees = trunc(at[i][0]), minutes = at[i][0] - degrees;
        latitude[i] = pi * (degrees + 5.0 * minutes / 3.0) / 180.0;
        degrees = trunc(at[i][1]);
        minutes = at[i][1] - degrees;
        longitude[i] = pi * (degrees + 5.0 * minutes / 3.0) / 180.0;
    }
    double q1 = cos(longitude[0] - longitude[1]);
    double q2 = cos(latitude[0] - latitude[1]);
    double q3 = cos(latitude[0] + latitude[1]);
    double angle = acos(fmax(-1, fmin(1, 0.5 * ((1 + q1) * q2 - (1 - q1) * q3))));
    return rounded ? floor(radius * angle + 1.0) : radius * angle;
}

/* Great circle in metres between (longitude, latitude) in degrees, from the angle between the two unit
 * vectors. */
static double great_circle(const double *a, const double *b)
{
    const double degree = 3.14159265358979323846 / 180;
    double u[3] = {cos(a[1] * degree) * cos(a[0] * degree), cos(a[1] * degree) * sin(a[0] * degree),
                   sin(a[1] * degree)};
    double v[3] = {cos(b[1] * degree) * cos(b[0] * degree), cos(b[1] * degree) * sin(b[0] * degree),
                   sin(b[1] * degree)};
    double cross =
        hypot(hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2]), u[0] * v[1] - u[1] * v[0]);
    return 6371008.8 * atan2(cross, u[0] * v[0] + u[1] * v[1] + u[2] * v[2]);
}

static double edge(invit_metric metric, const double *a, const double *b, bool rounded)
{
    switch (metric) {
    case INVIT_GEO:
        return geographical(a, b, rounded);
    case INVIT_HAVERSINE:
        return great_circle(a, b);
    case INVIT_ATT: { /* pseudo-Euclidean: rounded, and up when rounding made it shorter */
        double dx = a[0] - b[0], dy = a[1] - b[1], r = sqrt((dx * dx + dy * dy) / 10.0), t = floor(r + 0.5);
        return !rounded ? r : t < r ? t + 1 : t;
    }
    case INVIT_EUC_2D:
        return rounded ? floor(euclidean(a, b) + 0.5) : euclidean(a, b);
    case INVIT_CEIL_2D:
        return rounded ? ceil(euclidean(a, b)) : euclidean(a, b);
    case INVIT_DIMACS: /* cut to one decimal */
        return rounded ? trunc(euclidean(a, b) * 10.0) / 10.0 : euclidean(a, b);
    case INVIT_EXACT:
        break;
    }
    return euclidean(a, b);
}

/* ---- feasibility --------------------------------------------------------------------------------------- */

static void refuse(invit_check_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void refuse(invit_check_result *result, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(result->message, sizeof result->message, format, args);
    va_end(args);
    result->feasible = false;
}

/* Every node that must be visited is, once; false with the first reason why not. */
static bool visits_each_once(const invit_instance *p, const invit_solution *s, unsigned char *seen,
                             invit_check_result *result)
{
    int64_t n = invit_instance_nodes(p);
    bool cvrp = invit_instance_problem(p) == INVIT_CVRP;
    int32_t routes = invit_solution_routes(s);
    if (!cvrp && routes != 1) {
        refuse(result, "expected one tour, found %d routes", routes);
        return false;
    }
    for (int32_t r = 0; r < routes; r++) {
        int32_t count;
        const int32_t *node = invit_solution_route(s, r, &count);
        for (int32_t i = 0; i < count; i++) {
            if (node[i] < 0 || node[i] >= n) {
                refuse(result, "route %d, position %d: node %d does not exist (nodes are 0..%lld)", r + 1,
                       i + 1, node[i], (long long)n - 1);
                return false;
            }
            if (cvrp && node[i] == 0) {
                refuse(result, "route %d, position %d: the depot stands among the customers", r + 1, i + 1);
                return false;
            }
            if (seen[node[i]]++) {
                refuse(result,
                       cvrp ? "route %d, position %d: customer %d is visited a second time"
                            : "route %d, position %d: node %d, counted from 0, is visited a second time",
                       r + 1, i + 1, node[i]);
                return false;
            }
        }
    }
    for (int64_t v = cvrp ? 1 : 0; v < n; v++)
        if (!seen[v]) {
            refuse(result,
                   cvrp ? "customer %lld is not visited" : "node %lld, counted from 0, is not visited",
                   (long long)v);
            return false;
        }
    return true;
}

static bool keeps_capacity(const invit_instance *p, const invit_solution *s, invit_check_result *result)
{
    const int32_t *demand = invit_instance_demands(p);
    if (!demand) return true;
    for (int32_t r = 0; r < invit_solution_routes(s); r++) {
        int32_t count;
        const int32_t *node = invit_solution_route(s, r, &count);
        int64_t load = 0;
        for (int32_t i = 0; i < count; i++) load += demand[node[i]];
        if (load > invit_instance_capacity(p)) {
            refuse(result, "route %d: load %lld exceeds the capacity, %lld", r + 1, (long long)load,
                   (long long)invit_instance_capacity(p));
            return false;
        }
    }
    return true;
}

/* ---- length -------------------------------------------------------------------------------------------- */

/* Sums with a running compensation (Neumaier), so that a million rounded-off edges do not drift. */
typedef struct sum {
    double total, rest;
} sum;

static void add(sum *s, double v)
{
    double t = s->total + v;
    s->rest += fabs(s->total) >= fabs(v) ? (s->total - t) + v : (v - t) + s->total;
    s->total = t;
}

static void measure(const invit_instance *p, const invit_solution *s, invit_check_result *result)
{
    const double *xy = invit_instance_coords(p);
    invit_metric metric = invit_instance_metric(p);
    bool cvrp = invit_instance_problem(p) == INVIT_CVRP;
    sum by_rule = {0}, exact = {0};
    for (int32_t r = 0; r < invit_solution_routes(s); r++) {
        int32_t count;
        const int32_t *node = invit_solution_route(s, r, &count);
        if (count == 0) continue;
        int32_t before = cvrp ? 0 : node[count - 1];
        for (int32_t i = 0; i < count + cvrp; i++) {
            int32_t here = i < count ? node[i] : 0;
            add(&by_rule, edge(metric, xy + 2 * (size_t)before, xy + 2 * (size_t)here, true));
            add(&exact, edge(metric, xy + 2 * (size_t)before, xy + 2 * (size_t)here, false));
            before = here;
        }
        result->routes++;
    }
    result->length = by_rule.total + by_rule.rest;
    result->length_exact = exact.total + exact.rest;
}

invit_status invit_check(const invit_instance *p, const invit_solution *s, invit_check_result *result,
                         invit_error *err)
{
    memset(result, 0, sizeof *result);
    result->length = result->length_exact = NAN;
    unsigned char *seen = calloc((size_t)invit_instance_nodes(p), 1);
    if (!seen) {
        if (err) {
            err->code = INVIT_ERR_MEMORY;
            snprintf(err->message, sizeof err->message, "out of memory");
        }
        return INVIT_ERR_MEMORY;
    }
    if (visits_each_once(p, s, seen, result) && keeps_capacity(p, s, result)) {
        result->feasible = true;
        measure(p, s, result);
    }
    free(seen);
    return INVIT_OK;
}
