/* The checker: is a solution feasible, and how long is it? Written from the definitions, with its own
 * distances, so that a mistake in the solver cannot hide here. Nothing of the solver is used, and the solver
 * uses nothing of this. */
#include "problem/check.h"

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

/* The nearest whole number, halves up. (floor(v + 0.5) is wrong just below a half, and above 2^52.) */
static double nearest_whole(double v)
{
    double down = floor(v);
    return v - down >= 0.5 ? down + 1 : down;
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
        double dx = a[0] - b[0], dy = a[1] - b[1], r = sqrt((dx * dx + dy * dy) / 10.0), t = nearest_whole(r);
        if (!rounded) return r;
        return t < r ? t + 1 : t;
    }
    case INVIT_EUC_2D:
        return rounded ? nearest_whole(euclidean(a, b)) : euclidean(a, b);
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
static bool visits_each_once(const invit_instance *p, const invit_solution *s, bool part, unsigned char *seen,
                             invit_check_result *result)
{
    int64_t n = invit_instance_nodes(p);
    bool cvrp = invit_instance_problem(p) == INVIT_CVRP;
    int32_t routes = invit_solution_routes(s);
    if (!cvrp && routes != 1 && !(part && routes == 0)) {
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
        if (!seen[v] && !part) {
            refuse(result,
                   cvrp ? "customer %lld is not visited" : "node %lld, counted from 0, is not visited",
                   (long long)v);
            return false;
        }
    return true;
}

/* The vehicles' limit of load. */
static bool keeps_capacity(const invit_instance *p, const invit_solution *s, invit_check_result *result)
{
    const int32_t *demand = invit_instance_demands(p);
    double scale = invit_instance_get(p, "demand_scale");
    if (!demand) return true;
    for (int32_t r = 0; r < invit_solution_routes(s); r++) {
        int32_t count;
        const int32_t *node = invit_solution_route(s, r, &count);
        int64_t load = 0;
        for (int32_t i = 0; i < count; i++) load += demand[node[i]];
        if (load > invit_instance_capacity(p)) {
            refuse(result, "route %d: load %.10g exceeds the capacity, %.10g", r + 1, (double)load / scale,
                   (double)invit_instance_capacity(p) / scale);
            return false;
        }
    }
    return true;
}

/* ---- the way ------------------------------------------------------------------------------------------- */

/* What the checker needs to know of an instance, looked up once. */
typedef struct facts {
    const invit_instance *p;
    int64_t n;
    const double *xy, *distances, *durations, *service, *earliest, *latest, *freeze;
    invit_metric metric;
    bool routes, open, clock, plain;
    double speed, max_length, max_duration, max_stops, vehicles; /* limits: NaN when there is none */
    double from, to;                                             /* of a path: NaN where it is free */
} facts;

/* Distance per unit of time; on the globe it is told in km/h, distances are metres and times minutes. */
static double speed_of(const invit_instance *p)
{
    double speed = invit_instance_get(p, "speed");
    bool globe = invit_instance_metric(p) == INVIT_HAVERSINE && !invit_instance_array(p, "distances");
    if (isnan(speed)) return 1;
    return globe ? speed * 1000 / 60 : speed;
}

static facts look_up(const invit_instance *p)
{
    return (facts){.p = p,
                   .n = invit_instance_nodes(p),
                   .xy = invit_instance_coords(p),
                   .distances = invit_instance_array(p, "distances"),
                   .durations = invit_instance_array(p, "durations"),
                   .service = invit_instance_array(p, "service"),
                   .earliest = invit_instance_array(p, "earliest"),
                   .latest = invit_instance_array(p, "latest"),
                   .freeze = invit_instance_array(p, "freeze"),
                   .metric = invit_instance_metric(p),
                   .routes = invit_instance_problem(p) == INVIT_CVRP,
                   .open = invit_instance_get(p, "open") != 0,
                   .clock = invit_instance_get(p, "clock") != 0,
                   .plain = invit_instance_get(p, "plain") != 0,
                   .speed = speed_of(p),
                   .max_length = invit_instance_get(p, "max_length"),
                   .max_duration = invit_instance_get(p, "max_duration"),
                   .max_stops = invit_instance_get(p, "max_stops"),
                   .vehicles = invit_instance_get(p, "vehicles"),
                   .from = invit_instance_get(p, "start_node"),
                   .to = invit_instance_get(p, "end_node")};
}

static double way(const facts *f, int32_t a, int32_t b, bool rounded)
{
    if (f->distances) return f->distances[(size_t)a * (size_t)f->n + (size_t)b];
    return edge(f->metric, f->xy + 2 * (size_t)a, f->xy + 2 * (size_t)b, rounded);
}

static double travel_time(const facts *f, int32_t a, int32_t b)
{
    return f->durations ? f->durations[(size_t)a * (size_t)f->n + (size_t)b] : way(f, a, b, true) / f->speed;
}

static bool is_path(const facts *f)
{
    return !f->routes && (f->open || !isnan(f->from) || !isnan(f->to));
}

/* Limits are kept up to what rounding does to sums. */
static bool above(double value, double limit)
{
    return !isnan(limit) && value > limit + 1e-8 * fmax(1, fabs(limit));
}

/* ---- the rules of routes --------------------------------------------------------------------------------- */

static const char *told_time(const facts *f, double time, char text[40])
{
    if (f->clock && fabs(time) < 1e9) {
        /* arrivals round up: "arrives 12:00, closes 12:00" would not say what is wrong */
        long long minutes = (long long)ceil(time - 1e-6);
        snprintf(text, 40, "%02lld:%02lld", minutes / 60, minutes % 60);
    } else {
        snprintf(text, 40, "%.10g", time);
    }
    return text;
}

static const char *told_node(const facts *f, int32_t node, char text[96])
{
    const char *label = invit_instance_label(f->p, node);
    int n = snprintf(text, 96, "stop %d", (int)node);
    if (label && *label) snprintf(text + n, 96 - (size_t)n, " '%.60s'", label);
    return text;
}

/* Drives the route, leaving the depot at `leave`: refuses what comes too late. Returns when it ends. */
static bool drive(const facts *f, const int32_t *node, int32_t count, int32_t route, double leave,
                  double *end, double *waited, invit_check_result *result)
{
    char who[96], a[40], b[40];
    double time = leave;
    int32_t before = 0;
    *waited = 0;
    for (int32_t i = 0; i < count; i++) {
        time += travel_time(f, before, node[i]);
        if (f->latest && above(time, f->latest[node[i]])) {
            if (result)
                refuse(result, "route %d: %s: arrives %s, closes %s", route + 1, told_node(f, node[i], who),
                       told_time(f, time, a), told_time(f, f->latest[node[i]], b));
            return false;
        }
        if (f->earliest && time < f->earliest[node[i]]) {
            *waited += f->earliest[node[i]] - time;
            time = f->earliest[node[i]];
        }
        if (f->service) time += f->service[node[i]];
        before = node[i];
    }
    if (!f->open) time += travel_time(f, before, 0);
    if (!f->open && f->latest && above(time, f->latest[0])) {
        if (result)
            refuse(result, "route %d: is back at the depot %s, which closes %s", route + 1,
                   told_time(f, time, a), told_time(f, f->latest[0], b));
        return false;
    }
    *end = time;
    return true;
}

/* The shortest time from departure to end: leaving later saves waiting, and some departure that just saves all
 * the waiting before one stop, or as much as windows allow, is best. Bisection on the departure: the end does not
 * come earlier by leaving later, and the duration falls until the end starts to move. */
static double shortest_duration(const facts *f, const int32_t *node, int32_t count, double leave, double end,
                                double waited)
{
    double best = end - leave, low = 0, high = waited, until, rest;
    if (waited <= 0) return best;
    for (int i = 0; i < 100; i++) {
        double later = 0.5 * (low + high);
        bool kept = drive(f, node, count, 0, leave + later, &until, &rest, NULL) &&
                    leave + later <= f->latest[0] && until <= end + 1e-9 * fmax(1, fabs(end));
        if (kept) best = fmin(best, until - (leave + later));
        *(kept ? &low : &high) = later;
    }
    if (drive(f, node, count, 0, leave + waited, &until, &rest, NULL) && leave + waited <= f->latest[0])
        best = fmin(best, until - (leave + waited));
    return best;
}

static bool keeps_times(const facts *f, const int32_t *node, int32_t count, int32_t route,
                        invit_check_result *result)
{
    char a[40], b[40];
    double end, waited, leave = f->earliest ? f->earliest[0] : 0;
    if (!f->earliest && isnan(f->max_duration)) return true;
    if (!drive(f, node, count, route, leave, &end, &waited, result)) return false;
    if (!above(end - leave, f->max_duration)) return true;
    double duration = f->earliest ? shortest_duration(f, node, count, leave, end, waited) : end - leave;
    if (!above(duration, f->max_duration)) return true;
    refuse(result, "route %d: takes %s, longer than max_duration, %s", route + 1, told_time(f, duration, a),
           told_time(f, f->max_duration, b));
    return false;
}

static bool keeps_route(const facts *f, const int32_t *node, int32_t count, int32_t route,
                        invit_check_result *result)
{
    if (above(count, f->max_stops)) {
        refuse(result, "route %d: %d stops, more than max_stops, %.0f", route + 1, count, f->max_stops);
        return false;
    }
    double length = way(f, 0, node[0], true);
    for (int32_t i = 1; i < count; i++) length += way(f, node[i - 1], node[i], true);
    if (!f->open) length += way(f, node[count - 1], 0, true);
    if (above(length, f->max_length)) {
        refuse(result, "route %d: is %.10g long, longer than max_length, %.10g", route + 1, length,
               f->max_length);
        return false;
    }
    return keeps_times(f, node, count, route, result);
}

/* What is frozen comes directly behind what it came behind: the depot, another stop, or, first of a tour, nothing. */
static bool keeps_frozen(const facts *f, const invit_solution *s, invit_check_result *result)
{
    char who[96], behind[96];
    for (int32_t r = 0; f->freeze && r < invit_solution_routes(s); r++) {
        int32_t count;
        const int32_t *node = invit_solution_route(s, r, &count);
        for (int32_t i = 0; i < count; i++) {
            double wanted = f->freeze[node[i]];
            int32_t first = f->routes ? 0 : node[i];
            int32_t before = i > 0 ? node[i - 1] : first;
            if (isnan(wanted) || (wanted == before && (f->routes || i > 0 || wanted == node[i]))) continue;
            if (wanted == first)
                refuse(result, "route %d: %s is frozen as the first, but is number %d", r + 1,
                       told_node(f, node[i], who), i + 1);
            else
                refuse(result, "route %d: %s is frozen directly behind %s, but is not there", r + 1,
                       told_node(f, node[i], who), told_node(f, (int32_t)wanted, behind));
            return false;
        }
    }
    return true;
}

static bool keeps_rules(const facts *f, const invit_solution *s, bool part, invit_check_result *result)
{
    int32_t used = 0, routes = invit_solution_routes(s), count = 0;
    if (f->plain) return true;
    if (!keeps_frozen(f, s, result)) return false;
    if (!f->routes) {
        if (part) return true;
        const int32_t *node = invit_solution_route(s, 0, &count);
        if (!isnan(f->from) && node[0] != (int32_t)f->from)
            refuse(result, "the path begins at node %d, not at start_node, %d", node[0], (int)f->from);
        else if (!isnan(f->to) && node[count - 1] != (int32_t)f->to)
            refuse(result, "the path ends at node %d, not at end_node, %d", node[count - 1], (int)f->to);
        else
            return true;
        return false;
    }
    for (int32_t r = 0; r < routes; r++) {
        const int32_t *node = invit_solution_route(s, r, &count);
        if (count > 0 && !keeps_route(f, node, count, r, result)) return false;
        used += count > 0;
    }
    if (above(used, f->vehicles)) {
        refuse(result, "%d routes, more than the %.0f vehicles", used, f->vehicles);
        return false;
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

static void measure(const facts *f, const invit_solution *s, invit_check_result *result)
{
    sum by_rule = {0}, exact = {0};
    for (int32_t r = 0; r < invit_solution_routes(s); r++) {
        int32_t count;
        const int32_t *node = invit_solution_route(s, r, &count);
        if (count == 0) continue;
        result->routes++;
        bool closed = f->routes ? !f->open : !is_path(f);
        int32_t before = closed ? node[count - 1] : node[0];
        if (f->routes) before = 0; /* the depot */
        for (int32_t i = f->routes || closed ? 0 : 1; i < count + (f->routes && closed); i++) {
            int32_t here = i < count ? node[i] : 0;
            add(&by_rule, way(f, before, here, true));
            add(&exact, way(f, before, here, false));
            before = here;
        }
    }
    result->length = by_rule.total + by_rule.rest;
    result->length_exact = exact.total + exact.rest;
}

static invit_status check(const invit_instance *p, const invit_solution *s, bool part,
                          invit_check_result *result, invit_error *err)
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
    facts f = look_up(p);
    if (visits_each_once(p, s, part, seen, result) && keeps_capacity(p, s, result) &&
        keeps_rules(&f, s, part, result)) {
        result->feasible = true;
        measure(&f, s, result);
    }
    free(seen);
    return INVIT_OK;
}

invit_status invit_check(const invit_instance *p, const invit_solution *s, invit_check_result *result,
                         invit_error *err)
{
    return check(p, s, false, result, err);
}

invit_status inv_check_part(const invit_instance *p, const invit_solution *part, invit_check_result *result,
                            invit_error *err)
{
    return check(p, part, true, result, err);
}
