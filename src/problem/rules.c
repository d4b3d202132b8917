/* An instance's rules: what routes must keep besides capacity, and matrices. Set by name, and validated before
 * anything is solved. */
#include "problem/freeze.h"
#include "problem/table_json.h"
#include "problem/metric.h"

#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    free(rules->freeze);
    free(rules);
}

invit_status inv_make_routes(invit_instance *p, invit_error *err)
{
    if (p->problem == INVIT_CVRP) return INVIT_OK;
    if (p->rules && p->rules->freeze)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "set what makes routes of a tour before freeze");
    if (p->rules && (p->rules->start >= 0 || p->rules->end >= 0))
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "start_node and end_node are for one tour through all nodes; routes with demands, "
                        "windows, limits or vehicles begin at the depot, the first node");
    p->demand = calloc((size_t)p->n, sizeof *p->demand);
    if (!p->demand) return inv_no_memory(err, (size_t)p->n * sizeof *p->demand);
    p->capacity = INT32_MAX;
    p->problem = INVIT_CVRP;
    return INVIT_OK;
}

bool inv_is_timed(const invit_instance *p)
{
    const inv_rules *r = p->rules;
    return r && (r->service || r->earliest || r->duration || isfinite(r->max_duration) || r->speed != 1);
}

bool inv_policy_suits(const invit_instance *p)
{
    const inv_rules *r = p->rules;
    return !r || (p->problem == INVIT_CVRP && r->has_xy && !r->earliest && !r->freeze);
}

bool inv_has_demands(const invit_instance *p)
{
    for (int32_t i = 1; p->demand && i < p->n; i++)
        if (p->demand[i] > 0) return true;
    return false;
}

/* ---- words for messages -------------------------------------------------------------------------------- */

const char *inv_node_text(const invit_instance *p, int32_t node, char text[INV_NODE_TEXT])
{
    const char *label = invit_instance_label(p, node);
    const char *what = p->problem == INVIT_CVRP && node == 0 ? "the depot" : NULL;
    char number[32] = "";
    if (!what)
        snprintf(number, sizeof number, "%s %d", p->problem == INVIT_CVRP ? "stop" : "node", (int)node);
    int n = snprintf(text, INV_NODE_TEXT, "%s", what ? what : number);
    if (label && *label) snprintf(text + n, INV_NODE_TEXT - (size_t)n, " '%.60s'", label);
    return text;
}

const char *inv_time_text(const invit_instance *p, double time, char text[INV_TIME_TEXT])
{
    if (p->rules && p->rules->clock && fabs(time) < 1e9) {
        long long minutes = (long long)floor(fabs(time) + 0.5);
        snprintf(text, INV_TIME_TEXT, "%s%02lld:%02lld", time <= -0.5 ? "-" : "", minutes / 60, minutes % 60);
    } else {
        snprintf(text, INV_TIME_TEXT, "%.10g", time);
    }
    return text;
}

bool inv_parse_time(const char *text, double *minutes, bool *clock)
{
    double hours;
    int64_t whole, part;
    const char *after = inv_parse_int(text, &whole);
    *clock = false;
    if (after && *after == ':') { /* hh:mm, hh:mm:ss */
        const char *second = after + 1;
        after = *second >= '0' && *second <= '9' ? inv_parse_int(second, &part) : NULL;
        if (!after || after != second + 2 || part > 59 || whole < 0 || whole > 1000000) return false;
        *minutes = 60.0 * (double)whole + (double)part;
        if (*after == ':') {
            second = after + 1;
            after = *second >= '0' && *second <= '9' ? inv_parse_int(second, &part) : NULL;
            if (!after || after != second + 2 || part > 59) return false;
            *minutes += (double)part / 60;
        }
        *clock = true;
        while (*after == ' ') after++;
        bool noon = strcasecmp(after, "pm") == 0;
        if (*after == 0) return true;
        if ((!noon && strcasecmp(after, "am") != 0) || whole < 1 || whole > 12) return false;
        if (noon) *minutes += 12 * 60;
        if (whole == 12) *minutes -= 12 * 60; /* 12 am is midnight, 12 pm is noon */
        return true;
    }
    after = inv_parse_double(text, &hours);
    if (!after || !(fabs(hours) <= INV_LARGEST_COST)) return false;
    while (*after == ' ') after++;
    static const struct {
        const char *unit;
        double minutes;
    } units[] = {{"", 1}, {"min", 1}, {"m", 1}, {"minutes", 1}, {"h", 60}, {"hours", 60}, {"std", 60}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(after, units[i].unit) == 0) {
            *minutes = hours * units[i].minutes;
            return true;
        }
    return false;
}

/* ---- demands ------------------------------------------------------------------------------------------- */

enum { MOST_DECIMALS = 6 };

/* Decimals of a number as it is written shortest; MOST_DECIMALS + 1 for more than those. */
static int decimals(double v)
{
    char text[INV_DOUBLE_CHARS + 1];
    text[inv_format_double(text, v)] = 0;
    if (strpbrk(text, "eE")) return v == floor(v) ? 0 : MOST_DECIMALS + 1;
    const char *point = strchr(text, '.');
    size_t n = point ? strlen(point + 1) : 0;
    return n > MOST_DECIMALS ? MOST_DECIMALS + 1 : (int)n;
}

invit_status inv_set_demands(invit_instance *p, const double *demand, double capacity, invit_error *err)
{
    char node[INV_NODE_TEXT];
    double old = p->scale, scale = 1;
    int most = decimals(capacity), who = 0;
    if (capacity < 0 || !isfinite(capacity))
        return inv_fail(err, INVIT_ERR_INPUT, "capacity %g: expected a number above 0", capacity);
    for (int32_t i = 1; i < p->n; i++) {
        double d = demand ? demand[i] : p->demand[i] / old;
        if (!(d >= 0 && d <= INT32_MAX))
            return inv_fail(err, INVIT_ERR_INPUT, "%s: demand %g: expected a number from 0 to %d",
                            inv_node_text(p, i, node), d, INT32_MAX);
        int k = decimals(d);
        if (k > most) most = k, who = i;
    }
    for (int k = 0; k < most; k++) scale *= 10;
    double q = capacity > 0               ? capacity
               : p->capacity == INT32_MAX ? INT32_MAX / scale
                                          : (double)p->capacity / old;
    if (most > MOST_DECIMALS || round(q * scale) > INT32_MAX)
        return inv_fail(err, INVIT_ERR_UNSUPPORTED,
                        "%s: demands and capacity are counted in whole units of the last decimal, at most %d "
                        "of them: round them to fewer decimals",
                        who ? inv_node_text(p, who, node) : "the capacity", INT32_MAX);
    for (int32_t i = 1; i < p->n; i++) {
        double d = demand ? demand[i] : p->demand[i] / old;
        if (d > q * (1 + 1e-12))
            return inv_fail(err, INVIT_ERR_INPUT, "%s: demand %g: expected at most the capacity, %g",
                            inv_node_text(p, i, node), d, q);
    }
    for (int32_t i = 1; i < p->n; i++)
        p->demand[i] = (int32_t)round((demand ? demand[i] : p->demand[i] / old) * scale);
    p->demand[0] = 0;
    p->capacity = capacity > 0 || p->capacity != INT32_MAX ? (int64_t)round(q * scale) : INT32_MAX;
    p->scale = (int32_t)scale;
    return INVIT_OK;
}

/* ---- matrices ------------------------------------------------------------------------------------------ */

static bool is_symmetric(const double *m, size_t n)
{
    for (size_t i = 0; m && i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (m[i * n + j] != m[j * n + i]) return false;
    return true;
}

invit_status inv_take_matrix(invit_instance *p, bool durations, double *m, invit_error *err)
{
    inv_rules *r = NULL;
    invit_status status = INVIT_OK;
    size_t n = (size_t)p->n;
    INV_TRY(inv_instance_rules(p, &r, err));
    for (size_t i = 0; i < n; i++) {
        m[i * n + i] = 0;
        for (size_t j = 0; j < n; j++)
            if (!(m[i * n + j] >= 0 && m[i * n + j] <= INV_LARGEST_COST)) {
                char from[INV_NODE_TEXT], to[INV_NODE_TEXT];
                INV_TRY(inv_fail(err, INVIT_ERR_INPUT,
                                 "%s from %s to %s: expected a number from 0 to %g, found %g",
                                 durations ? "duration" : "distance", inv_node_text(p, (int32_t)i, from),
                                 inv_node_text(p, (int32_t)j, to), INV_LARGEST_COST, m[i * n + j]));
            }
    }
    double **to = durations ? &r->duration : &r->distance;
    free(*to);
    *to = m;
    m = NULL;
    r->symmetric = is_symmetric(r->distance, n) && is_symmetric(r->duration, n);
done:
    free(m);
    return status;
}

invit_status invit_instance_set_matrix(invit_instance *p, const char *name, const double *values, int64_t n,
                                       invit_error *err)
{
    bool durations = strcmp(name, "durations") == 0;
    if (!durations && strcmp(name, "distances") != 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "'%.40s': expected the matrix distances or durations", name);
    if (n != p->n)
        return inv_fail(err, INVIT_ERR_INPUT, "a matrix of %lld x %lld: expected %d x %d, one row per node",
                        (long long)n, (long long)n, p->n, p->n);
    size_t bytes = (size_t)n * (size_t)n * sizeof *values;
    double *copy = malloc(bytes);
    if (!copy) return inv_no_memory(err, bytes);
    memcpy(copy, values, bytes);
    return inv_take_matrix(p, durations, copy, err);
}

invit_status invit_instance_create_matrix(const double *distances, int64_t n, invit_instance **out,
                                          invit_error *err)
{
    invit_instance *p;
    INV_CHECK(inv_instance_alloc(INVIT_TSP, n, &p, err));
    memset(p->xy, 0, (size_t)n * 2 * sizeof *p->xy);
    invit_status status = invit_instance_set_matrix(p, "distances", distances, n, err);
    if (status == INVIT_OK)
        p->rules->has_xy = false;
    else
        invit_instance_destroy(p), p = NULL;
    *out = p;
    return status;
}

/* ---- arrays -------------------------------------------------------------------------------------------- */

static invit_status make_windows(invit_instance *p, inv_rules *r, invit_error *err)
{
    size_t n = (size_t)p->n;
    if (r->earliest) return INVIT_OK;
    r->earliest = calloc(n, sizeof *r->earliest);
    r->latest = malloc(n * sizeof *r->latest);
    if (!r->earliest || !r->latest) {
        free(r->earliest);
        free(r->latest);
        r->earliest = r->latest = NULL;
        return inv_no_memory(err, 2 * n * sizeof *r->latest);
    }
    for (size_t i = 0; i < n; i++) r->latest[i] = INFINITY;
    return INVIT_OK;
}

/* NaN in a window: no such end. */
static invit_status set_times(invit_instance *p, const char *name, const double *values, size_t step,
                              invit_error *err)
{
    inv_rules *r = NULL;
    char node[INV_NODE_TEXT];
    bool service = strcmp(name, "service") == 0, early = strcmp(name, "earliest") == 0;
    for (int32_t i = 0; i < p->n; i++) {
        double v = values[step * (size_t)i];
        bool good = service ? v >= 0 && v <= INV_LARGEST_COST
                            : fabs(v) <= INV_LARGEST_COST || isnan(v) || (early ? v < 0 : v > 0);
        if (!good)
            return inv_fail(err, INVIT_ERR_INPUT, "%s: %s %g: expected a time%s", inv_node_text(p, i, node),
                            name, v, service ? " of 0 or more" : "");
    }
    INV_CHECK(inv_make_routes(p, err));
    INV_CHECK(inv_instance_rules(p, &r, err));
    if (service) {
        if (!r->service) r->service = malloc((size_t)p->n * sizeof *r->service);
        if (!r->service) return inv_no_memory(err, (size_t)p->n * sizeof *r->service);
        for (int32_t i = 0; i < p->n; i++) r->service[i] = values[step * (size_t)i];
        return INVIT_OK;
    }
    INV_CHECK(make_windows(p, r, err));
    double begin = isfinite(values[0]) ? fmin(0, values[0]) : 0; /* of those who do not say */
    for (int32_t i = 0; i < p->n; i++) {
        double v = values[step * (size_t)i];
        if (early)
            r->earliest[i] = isfinite(v) ? v : begin;
        else
            r->latest[i] = isfinite(v) ? v : INFINITY;
    }
    return INVIT_OK;
}

invit_status invit_instance_set_array(invit_instance *p, const char *name, const double *values,
                                      int64_t count, invit_error *err)
{
    bool pairs = strcmp(name, "time_windows") == 0;
    int each = pairs ? 2 : 1;
    if (count != each * (int64_t)p->n)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "%.40s: expected %d values, %s per node, found %lld", name,
                        each * p->n, pairs ? "two" : "one", (long long)count);
    if (pairs) {
        INV_CHECK(set_times(p, "earliest", values, 2, err));
        return set_times(p, "latest", values + 1, 2, err);
    }
    if (strcmp(name, "service") == 0 || strcmp(name, "earliest") == 0 || strcmp(name, "latest") == 0)
        return set_times(p, name, values, 1, err);
    if (strcmp(name, "freeze") == 0) return inv_set_freeze(p, values, err);
    if (strcmp(name, "demands") != 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "'%.40s': expected demands, service, earliest, latest, time_windows or freeze", name);
    INV_CHECK(inv_make_routes(p, err));
    return inv_set_demands(p, values, 0, err);
}

/* ---- single values ------------------------------------------------------------------------------------- */

static bool parse_switch(const char *text, bool *value)
{
    static const char *const words[] = {"0", "1", "no", "yes", "false", "true", "off", "on"};
    for (int i = 0; i < 8; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *value = i % 2;
            return true;
        }
    return false;
}

static bool parse_count(const char *text, int64_t low, int32_t *value)
{
    int64_t v;
    const char *after = inv_parse_int(text, &v);
    if (!after || *after || v < low || v > INT32_MAX) return false;
    *value = (int32_t)v;
    return true;
}

static bool parse_length(const invit_instance *p, const char *text, double *value)
{
    bool globe = p->metric == INVIT_HAVERSINE && !(p->rules && p->rules->distance);
    const char *after = inv_parse_double(text, value);
    if (!after || !(*value >= 0 && *value <= INV_LARGEST_COST)) return false;
    while (*after == ' ') after++;
    if (globe && strcasecmp(after, "km") == 0) {
        *value *= 1000;
        return true;
    }
    return *after == 0 || (globe && strcasecmp(after, "m") == 0);
}

/* A node by its name or its number, counted from 0. */
static bool parse_node(const invit_instance *p, const char *text, int32_t *node)
{
    for (int32_t i = 0; p->labels && i < p->n; i++)
        if (strcmp(invit_instance_label(p, i), text) == 0) {
            *node = i;
            return true;
        }
    return parse_count(text, 0, node) && *node < p->n;
}

static invit_status set_end(invit_instance *p, const char *name, const char *text, bool none,
                            invit_error *err)
{
    inv_rules *r = NULL;
    int32_t node = -1;
    if (p->problem != INVIT_TSP)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "%s is for one tour through all nodes; routes begin at the depot, and 'open' lets "
                        "them end anywhere",
                        name);
    if (!none && !parse_node(p, text, &node))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "%s '%.40s': expected a node from 0 to %d%s", name, text,
                        p->n - 1, p->labels ? " or its name" : "");
    INV_CHECK(inv_instance_rules(p, &r, err));
    *(strcmp(name, "start_node") == 0 ? &r->start : &r->end) = node;
    return INVIT_OK;
}

static invit_status set_vehicles(invit_instance *p, const char *text, bool none, invit_error *err)
{
    inv_rules *r = NULL;
    bool fewest = strcasecmp(text, "fewest") == 0;
    int32_t most = 0;
    if (!none && !fewest && !parse_count(text, 1, &most))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "vehicles '%.40s': expected a number from 1 or 'fewest'",
                        text);
    INV_CHECK(inv_make_routes(p, err));
    INV_CHECK(inv_instance_rules(p, &r, err));
    r->fewest = fewest;
    if (!fewest) r->vehicles = most; /* "fewest" keeps a number that was given before */
    return INVIT_OK;
}

static invit_status set_limit(invit_instance *p, const char *name, const char *text, bool none,
                              invit_error *err)
{
    inv_rules *r = NULL;
    double value = INFINITY;
    int32_t stops = 0;
    bool clock = false, stop = strcmp(name, "max_stops") == 0, length = strcmp(name, "max_length") == 0;
    const char *expected;
    bool good;
    if (stop) {
        expected = "a number from 1";
        good = none || parse_count(text, 1, &stops);
    } else if (length) {
        expected = "a length of 0 or more";
        good = none || parse_length(p, text, &value);
    } else {
        expected = "a time, like 480, 8:00 or 8h";
        good = none || (inv_parse_time(text, &value, &clock) && value >= 0);
    }
    if (!good) return inv_fail(err, INVIT_ERR_ARGUMENT, "%s '%.40s': expected %s", name, text, expected);
    INV_CHECK(inv_make_routes(p, err));
    INV_CHECK(inv_instance_rules(p, &r, err));
    if (stop)
        r->max_stops = stops;
    else
        *(length ? &r->max_length : &r->max_duration) = value;
    return INVIT_OK;
}

invit_status invit_instance_set(invit_instance *p, const char *name, const char *text, invit_error *err)
{
    inv_rules *r = NULL;
    double value;
    bool none = strcasecmp(text, "none") == 0;
    if (strcmp(name, "table") == 0) return inv_instance_set_table(p, text, err);
    if (strcmp(name, "vehicles") == 0) return set_vehicles(p, text, none, err);
    if (strcmp(name, "start_node") == 0 || strcmp(name, "end_node") == 0)
        return set_end(p, name, text, none, err);
    if (strcmp(name, "max_length") == 0 || strcmp(name, "max_duration") == 0 ||
        strcmp(name, "max_stops") == 0)
        return set_limit(p, name, text, none, err);
    if (strcmp(name, "open") == 0) {
        bool open;
        if (!parse_switch(text, &open))
            return inv_fail(err, INVIT_ERR_ARGUMENT, "open '%.40s': expected yes or no", text);
        if (!open && !p->rules) return INVIT_OK; /* it stays plain */
        INV_CHECK(inv_instance_rules(p, &r, err));
        r->open = open;
        return INVIT_OK;
    }
    if (strcmp(name, "clock") == 0) {
        bool clock;
        if (!parse_switch(text, &clock))
            return inv_fail(err, INVIT_ERR_ARGUMENT, "clock '%.40s': expected yes or no", text);
        if (!clock && !p->rules) return INVIT_OK;
        INV_CHECK(inv_instance_rules(p, &r, err));
        r->clock = clock;
        return INVIT_OK;
    }
    const char *after = inv_parse_double(text, &value);
    bool number = after && *after == 0 && value > 0 && value <= INV_LARGEST_COST;
    if (strcmp(name, "speed") == 0) {
        if (!number)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "speed '%.40s': expected a number above 0", text);
        INV_CHECK(inv_instance_rules(p, &r, err));
        r->speed = p->metric == INVIT_HAVERSINE && !r->distance ? value * 1000 / 60 : value;
        return INVIT_OK;
    }
    if (strcmp(name, "capacity") == 0) {
        if (!number)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "capacity '%.40s': expected a number above 0", text);
        INV_CHECK(inv_make_routes(p, err));
        return inv_set_demands(p, NULL, value, err);
    }
    return inv_fail(err, INVIT_ERR_ARGUMENT,
                    "'%.40s': expected capacity, vehicles, open, start_node, end_node, max_length, "
                    "max_duration, max_stops, speed or clock",
                    name);
}

/* ---- reading them back --------------------------------------------------------------------------------- */

double invit_instance_get(const invit_instance *p, const char *name)
{
    const inv_rules *r = p->rules;
    if (strcmp(name, "capacity") == 0) return p->problem == INVIT_CVRP ? (double)p->capacity / p->scale : NAN;
    if (strcmp(name, "demand_scale") == 0) return p->scale;
    if (strcmp(name, "plain") == 0) return inv_is_plain(p);
    if (strcmp(name, "policy") == 0) return inv_policy_suits(p);
    if (strcmp(name, "timed") == 0) return inv_is_timed(p);
    if (strcmp(name, "clock") == 0) return r && r->clock;
    if (strcmp(name, "has_coords") == 0) return !r || r->has_xy;
    if (strcmp(name, "symmetric") == 0) return !r || r->symmetric;
    if (strcmp(name, "open") == 0) return r && r->open;
    if (strcmp(name, "fewest") == 0) return r && r->fewest;
    if (strcmp(name, "first_id") == 0) return p->first_id;
    if (strcmp(name, "table_columns") == 0) return p->table ? p->table->columns : 0;
    if (strcmp(name, "table_bytes") == 0) return p->table ? (double)p->table->bytes : 0;
    if (strcmp(name, "text_bytes") == 0) return (double)inv_text_bytes(p);
    if (!r) return NAN;
    if (strcmp(name, "speed") == 0) /* as it is set: km/h on the globe */
        return r->speed == 1                                  ? NAN
               : p->metric == INVIT_HAVERSINE && !r->distance ? r->speed * 60 / 1000
                                                              : r->speed;
    if (strcmp(name, "vehicles") == 0) return r->vehicles ? r->vehicles : NAN;
    if (strcmp(name, "max_stops") == 0) return r->max_stops ? r->max_stops : NAN;
    if (strcmp(name, "max_length") == 0) return isfinite(r->max_length) ? r->max_length : NAN;
    if (strcmp(name, "max_duration") == 0) return isfinite(r->max_duration) ? r->max_duration : NAN;
    if (strcmp(name, "start_node") == 0) return r->start >= 0 ? r->start : NAN;
    if (strcmp(name, "end_node") == 0) return r->end >= 0 ? r->end : NAN;
    return NAN;
}

const double *invit_instance_array(const invit_instance *p, const char *name)
{
    const inv_rules *r = p->rules;
    if (!r) return NULL;
    return strcmp(name, "service") == 0     ? r->service
           : strcmp(name, "earliest") == 0  ? r->earliest
           : strcmp(name, "latest") == 0    ? r->latest
           : strcmp(name, "distances") == 0 ? r->distance
           : strcmp(name, "durations") == 0 ? r->duration
           : strcmp(name, "freeze") == 0    ? r->freeze
                                            : NULL;
}
