#include "serve/wire.h"

#include "base/json_memory.h"
#include "base/json_text.h"
#include "base/longitude.h"
#include "base/names.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *problem_name(int problem)
{
    return inv_problem_name((invit_problem)problem);
}

static const char *metric_name(int metric)
{
    return inv_metric_name((invit_metric)metric);
}

__attribute__((format(printf, 2, 3))) static invit_status refuse(invit_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (err) {
        err->code = INVIT_ERR_INPUT;
        vsnprintf(err->message, sizeof err->message, format, args);
    }
    va_end(args);
    return INVIT_ERR_INPUT;
}

json_t *wire_text(const char *message)
{
    json_t *text = json_string(message);
    if (text) return text;
    char plain[sizeof((invit_error *)0)->message];
    snprintf(plain, sizeof plain, "%s", message);
    for (char *at = plain; *at; at++)
        if ((unsigned char)*at >= 0x80) *at = '?';
    return json_string(plain);
}

invit_status wire_only(const json_t *object, const char *names, invit_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        size_t length = strlen(key);
        const char *at = names;
        bool known = false;
        while (*at && !known) {
            size_t word = strcspn(at, " ");
            known = word == length && strncmp(at, key, word) == 0;
            at += word + (at[word] == ' ');
        }
        if (!known) return refuse(err, "\"%.40s\" is not known here; there are: %s", key, names);
    }
    return INVIT_OK;
}

invit_status wire_number(const json_t *object, const char *key, double low, double high, double fallback,
                         double *out, invit_error *err)
{
    const json_t *v = json_object_get(object, key);
    *out = fallback;
    if (!v) return INVIT_OK;
    double x = json_number_value(v);
    if (!json_is_number(v) || !(x >= low && x <= high))
        return refuse(err, "\"%s\" must be a number from %g to %g", key, low, high);
    *out = x;
    return INVIT_OK;
}

invit_status wire_integer(const json_t *object, const char *key, int64_t low, int64_t high, int64_t fallback,
                          int64_t *out, invit_error *err)
{
    const json_t *v = json_object_get(object, key);
    *out = fallback;
    if (!v) return INVIT_OK;
    if (!json_is_integer(v) || json_integer_value(v) < low || json_integer_value(v) > high)
        return refuse(err, "\"%s\" must be a whole number from %lld to %lld", key, (long long)low,
                      (long long)high);
    *out = json_integer_value(v);
    return INVIT_OK;
}

static invit_status read_choice(const json_t *object, const char *key, const char *(*name)(int), int count,
                                int *out, invit_error *err)
{
    const json_t *v = json_object_get(object, key);
    *out = 0;
    if (!v) return INVIT_OK;
    for (int i = 0; json_is_string(v) && i < count; i++)
        if (strcmp(json_string_value(v), name(i)) == 0) {
            *out = i;
            return INVIT_OK;
        }
    return refuse(err, "\"%s\" must be one of the %d names the API description lists, for example \"%s\"",
                  key, count, name(0));
}

/* Coordinates as pairs; one array for the library. */
static invit_status read_coords(const json_t *coords, double *xy, invit_error *err)
{
    size_t i;
    json_t *pair;
    json_array_foreach(coords, i, pair)
    {
        const json_t *x = json_array_get(pair, 0), *y = json_array_get(pair, 1);
        if (json_array_size(pair) != 2 || !json_is_number(x) || !json_is_number(y))
            return refuse(err, "\"coords\"[%zu] must be a pair of numbers [x, y]", i);
        xy[2 * i] = json_number_value(x);
        xy[2 * i + 1] = json_number_value(y);
        if (!(fabs(xy[2 * i]) <= 1e18 && fabs(xy[2 * i + 1]) <= 1e18)) /* as the library says, but by name */
            return refuse(err, "\"coords\"[%zu] is too large; coordinates go up to 1e18", i);
    }
    return INVIT_OK;
}

static invit_status read_demands(const json_t *demands, size_t n, int64_t *demand, invit_error *err)
{
    if (!json_is_array(demands) || json_array_size(demands) != n)
        return refuse(
            err, "\"demands\" must be a list of %zu whole numbers, one per node (the depot's is ignored)", n);
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(demands, i);
        if (!json_is_integer(v)) return refuse(err, "\"demands\"[%zu] must be a whole number", i);
        demand[i] = json_integer_value(v);
    }
    return INVIT_OK;
}

/* What the nodes are called; nothing when there is no such member. */
static invit_status read_labels(const json_t *labels, invit_instance *p, invit_error *err)
{
    size_t n = (size_t)invit_instance_nodes(p);
    if (!labels || json_is_null(labels)) return INVIT_OK;
    if (!json_is_array(labels) || json_array_size(labels) != n)
        return refuse(err, "\"labels\" must be a list of %zu texts, one per node", n);
    const char **text = malloc(n * sizeof *text);
    invit_status status = text ? INVIT_OK : INVIT_ERR_MEMORY;
    for (size_t i = 0; status == INVIT_OK && i < n; i++)
        if (!(text[i] = json_string_value(json_array_get(labels, i))))
            status = refuse(err, "\"labels\"[%zu] must be a text", i);
    if (status == INVIT_OK) status = invit_instance_set_labels(p, text, err);
    free(text);
    return status;
}

/* What else a table says of its stops: the library reads and writes it as JSON. */
static invit_status read_table(const json_t *table, invit_instance *p, invit_error *err)
{
    if (!table || json_is_null(table)) return INVIT_OK;
    char *text = inv_json_text(table, JSON_COMPACT | JSON_ENCODE_ANY);
    invit_status status = text ? invit_instance_set(p, "table", text, err) : INVIT_ERR_MEMORY;
    free(text);
    return status;
}

/* False: there was no memory for it. */
static bool write_table(const invit_instance *p, json_t *o)
{
    char *text = NULL;
    size_t length = 0;
    invit_status status = invit_instance_table(p, &text, &length, NULL);
    json_t *table = text ? inv_json_load(text, length, 0, NULL) : NULL;
    bool whole = status == INVIT_OK && (!text || table);
    if (table) json_object_set_new(o, "table", table);
    free(text);
    return whole;
}

/* ---- what routes must keep ---- */

static const char *const limits[] = {"vehicles", "max_length", "max_duration", "max_stops", "speed"};

/* A number, or a text as on the command line ("fewest", "8:00"). */
static invit_status read_limit(const json_t *v, const char *key, invit_instance *p, invit_error *err)
{
    char text[40];
    if (!v || json_is_null(v)) return INVIT_OK;
    if (json_is_number(v))
        snprintf(text, sizeof text, "%.17g", json_number_value(v));
    else if (json_is_string(v))
        snprintf(text, sizeof text, "%s", json_string_value(v));
    else
        return refuse(err, "\"%s\" must be a number or a text", key);
    return invit_instance_set(p, key, text, err);
}

/* One number for every stop, or a list with one per node. */
static invit_status read_service(const json_t *v, invit_instance *p, invit_error *err)
{
    size_t n = (size_t)invit_instance_nodes(p);
    if (!v || json_is_null(v)) return INVIT_OK;
    if (!json_is_number(v) && json_array_size(v) != n)
        return refuse(err, "\"service\" must be a number, or a list of %zu numbers, one per node", n);
    double *value = calloc(n, sizeof *value);
    invit_status status = value ? INVIT_OK : INVIT_ERR_MEMORY;
    for (size_t i = 0; status == INVIT_OK && i < n; i++) {
        const json_t *own = json_is_number(v) ? v : json_array_get(v, i);
        if (!json_is_number(own)) status = refuse(err, "\"service\"[%zu] must be a number", i);
        value[i] = i == 0 && json_is_number(v) ? 0 : json_number_value(own);
    }
    if (status == INVIT_OK) status = invit_instance_set_array(p, "service", value, (int64_t)n, err);
    free(value);
    return status;
}

static invit_status read_windows(const json_t *v, invit_instance *p, invit_error *err)
{
    size_t n = (size_t)invit_instance_nodes(p);
    if (!v || json_is_null(v)) return INVIT_OK;
    if (!json_is_array(v) || json_array_size(v) != n)
        return refuse(err, "\"time_windows\" must be a list of %zu pairs [earliest, latest] or null", n);
    double *value = malloc(2 * n * sizeof *value);
    invit_status status = value ? INVIT_OK : INVIT_ERR_MEMORY;
    for (size_t i = 0; status == INVIT_OK && i < 2 * n; i++) {
        const json_t *pair = json_array_get(v, i / 2), *end = json_array_get(pair, i % 2);
        bool none = json_is_null(pair) || (json_array_size(pair) == 2 && json_is_null(end));
        if (!none && (json_array_size(pair) != 2 || !json_is_number(end)))
            status = refuse(err, "\"time_windows\"[%zu] must be a pair [earliest, latest] or null", i / 2);
        value[i] = none ? NAN : json_number_value(end);
    }
    if (status == INVIT_OK) status = invit_instance_set_array(p, "time_windows", value, 2 * (int64_t)n, err);
    free(value);
    return status;
}

static invit_status read_rules(const json_t *object, invit_instance *p, invit_error *err)
{
    invit_status status = INVIT_OK;
    const json_t *open = json_object_get(object, "open");
    for (size_t i = 0; status == INVIT_OK && i < sizeof limits / sizeof *limits; i++)
        status = read_limit(json_object_get(object, limits[i]), limits[i], p, err);
    if (status == INVIT_OK && open && !json_is_boolean(open))
        status = refuse(err, "\"open\" must be true or false");
    if (status == INVIT_OK && json_is_true(open)) status = invit_instance_set(p, "open", "yes", err);
    if (status == INVIT_OK && json_is_true(json_object_get(object, "clock")))
        status = invit_instance_set(p, "clock", "yes", err);
    if (status == INVIT_OK) status = read_service(json_object_get(object, "service"), p, err);
    if (status == INVIT_OK) status = read_windows(json_object_get(object, "time_windows"), p, err);
    return status;
}

/* Rows of a matrix; nothing when there is none. */
static void write_matrix(const invit_instance *p, const char *key, json_t *o)
{
    const double *value = invit_instance_array(p, key);
    int64_t n = invit_instance_nodes(p);
    if (!value) return;
    json_t *rows = json_array();
    for (int64_t i = 0; i < n; i++) {
        json_t *row = json_array();
        for (int64_t j = 0; j < n; j++) json_array_append_new(row, json_real(value[i * n + j]));
        json_array_append_new(rows, row);
    }
    json_object_set_new(o, key, rows);
}

static json_t *finite_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* Each beginning from its first node on. */
static json_t *frozen_routes(const invit_instance *p)
{
    int32_t n = (int32_t)invit_instance_nodes(p);
    bool cvrp = invit_instance_problem(p) == INVIT_CVRP;
    const double *before = invit_instance_array(p, "freeze");
    int32_t *behind = malloc((size_t)n * sizeof *behind);
    json_t *list = json_array();
    for (int32_t v = 0; behind && v < n; v++) behind[v] = -1;
    for (int32_t v = 0; behind && v < n; v++)
        if (!isnan(before[v]) && before[v] != (cvrp ? 0 : v)) behind[(int32_t)before[v]] = v;
    for (int32_t v = 0; behind && v < n; v++) {
        if (before[v] != (cvrp ? 0 : v)) continue;
        json_t *route = json_array();
        for (int32_t u = v; u >= 0; u = behind[u]) json_array_append_new(route, json_integer(u));
        json_array_append_new(list, route);
    }
    free(behind);
    return list;
}

static void write_rules(const invit_instance *p, json_t *o)
{
    int64_t n = invit_instance_nodes(p);
    const double *service = invit_instance_array(p, "service"), *early = invit_instance_array(p, "earliest");
    const double *late = invit_instance_array(p, "latest");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        double value = invit_instance_get(p, limits[i]);
        if (isfinite(value)) json_object_set_new(o, limits[i], json_real(value));
    }
    if (invit_instance_get(p, "fewest") == 1) json_object_set_new(o, "vehicles", json_string("fewest"));
    if (invit_instance_get(p, "open") == 1) json_object_set_new(o, "open", json_true());
    if (service) {
        json_t *list = json_array();
        for (int64_t i = 0; i < n; i++) json_array_append_new(list, json_real(service[i]));
        json_object_set_new(o, "service", list);
    }
    if (early || late) {
        json_t *list = json_array();
        for (int64_t i = 0; i < n; i++)
            json_array_append_new(list, json_pack("[o,o]", finite_or_null(early ? early[i] : NAN),
                                                  finite_or_null(late ? late[i] : NAN)));
        json_object_set_new(o, "time_windows", list);
    }
    if (invit_instance_get(p, "clock") == 1) json_object_set_new(o, "clock", json_true());
    for (int end = 0; end < 2; end++) {
        const char *key = end ? "end_node" : "start_node";
        double node = invit_instance_get(p, key);
        if (isfinite(node)) json_object_set_new(o, key, json_integer((json_int_t)node));
    }
    write_matrix(p, "distances", o);
    write_matrix(p, "durations", o);
    if (invit_instance_array(p, "freeze")) json_object_set_new(o, "freeze", frozen_routes(p));
}

/* What only the library's JSON problems have: matrices, the ends of a path, frozen beginnings, routes without demands,
 * decimals and texts. */
static bool as_in_files(const json_t *object)
{
    static const char *const names[] = {"distances", "durations", "start_node", "end_node", "freeze"};
    const json_t *capacity = json_object_get(object, "capacity"), *value, *window;
    const char *problem = json_string_value(json_object_get(object, "problem"));
    size_t i, j;
    if (problem && strcmp(problem, "cvrp") == 0 && !capacity && !json_object_get(object, "demands"))
        return true;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (json_object_get(object, names[i])) return true;
    if (json_is_real(capacity)) return true;
    json_array_foreach(json_object_get(object, "demands"), i, value) if (json_is_real(value)) return true;
    json_array_foreach(json_object_get(object, "service"), i, value) if (json_is_string(value)) return true;
    json_array_foreach(json_object_get(object, "time_windows"), i, window)
        json_array_foreach(window, j, value) if (json_is_string(value)) return true;
    return false;
}

static invit_status read_as_a_file(const json_t *object, int64_t max_nodes, invit_instance **out,
                                   invit_error *err)
{
    const json_t *coords = json_object_get(object, "coords");
    size_t n = json_array_size(coords ? coords : json_object_get(object, "distances"));
    invit_reader *reader = NULL;
    if ((int64_t)n > max_nodes)
        return refuse(err, "%zu nodes are more than are taken here (%lld)", n, (long long)max_nodes);
    json_t *known = json_copy((json_t *)(uintptr_t)object);
    if (known) json_object_del(known, "remarks"); /* of /v1/parse, whose answer may come back as it is */
    char *text = known ? inv_json_text(known, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(known);
    invit_status status =
        text ? invit_reader_open_memory(text, strlen(text), "instance", &reader, err) : INVIT_ERR_MEMORY;
    if (status == INVIT_OK) status = invit_reader_next(reader, out, err);
    invit_reader_close(reader);
    free(text);
    return status;
}

invit_status wire_read_instance(const json_t *object, int64_t max_nodes, invit_instance **out,
                                invit_error *err)
{
    *out = NULL;
    if (!json_is_object(object)) return refuse(err, "\"instance\" must be a JSON object with \"coords\"");
    int problem, metric;
    if (as_in_files(object)) return read_as_a_file(object, max_nodes, out, err);
    invit_status status = wire_only(object,
                                    "problem name coords demands capacity metric labels vehicles max_length "
                                    "max_duration max_stops open speed service time_windows clock table "
                                    "remarks", /* of /v1/parse, whose answer may come back as it is */
                                    err);
    if (status == INVIT_OK) status = read_choice(object, "problem", problem_name, 2, &problem, err);
    if (status == INVIT_OK)
        status = read_choice(object, "metric", metric_name, INVIT_DIMACS + 1, &metric, err);
    if (status != INVIT_OK) return status;
    if (!json_object_get(object, "problem") &&
        (json_object_get(object, "demands") || json_object_get(object, "capacity")))
        problem = INVIT_CVRP;
    const json_t *coords = json_object_get(object, "coords");
    size_t n = json_array_size(coords);
    if (!json_is_array(coords) || n < 1)
        return refuse(err, "\"coords\" must be a list of at least one pair [x, y]");
    if ((int64_t)n > max_nodes)
        return refuse(err, "%zu nodes are more than are taken here (%lld)", n, (long long)max_nodes);

    double *xy = malloc(n * 2 * sizeof *xy);
    int64_t *demand = problem == INVIT_CVRP ? malloc(n * sizeof *demand) : NULL, capacity = 0;
    status = !xy || (problem == INVIT_CVRP && !demand) ? INVIT_ERR_MEMORY : read_coords(coords, xy, err);
    if (status == INVIT_OK && problem == INVIT_CVRP) {
        status = read_demands(json_object_get(object, "demands"), n, demand, err);
        if (status == INVIT_OK) status = wire_integer(object, "capacity", 1, INT32_MAX, 0, &capacity, err);
        if (status == INVIT_OK && !capacity)
            status = refuse(err, "\"capacity\" must be a whole number of at least 1");
        if (status == INVIT_OK)
            status =
                invit_instance_create_cvrp(xy, demand, (int64_t)n, capacity, (invit_metric)metric, out, err);
    } else if (status == INVIT_OK) {
        status = invit_instance_create_tsp(xy, (int64_t)n, (invit_metric)metric, out, err);
    }
    const json_t *name = json_object_get(object, "name");
    if (status == INVIT_OK && json_is_string(name))
        status = invit_instance_set_name(*out, json_string_value(name), err);
    if (status == INVIT_OK) status = read_labels(json_object_get(object, "labels"), *out, err);
    if (status == INVIT_OK) status = read_rules(object, *out, err);
    if (status == INVIT_OK) status = read_table(json_object_get(object, "table"), *out, err);
    if (status != INVIT_OK) {
        invit_instance_destroy(*out);
        *out = NULL;
    }
    free(xy);
    free(demand);
    return status;
}

/* Without any, vehicles carry nothing, and as much of it as one likes. */
static bool has_demands(const invit_instance *p)
{
    const int32_t *demand = invit_instance_demands(p);
    for (int64_t i = 1; demand && i < invit_instance_nodes(p); i++)
        if (demand[i]) return true;
    return demand && invit_instance_capacity(p) < INT32_MAX;
}

json_t *wire_write_instance(const invit_instance *p)
{
    int64_t n = invit_instance_nodes(p);
    const double *xy = invit_instance_coords(p);
    json_t *coords = json_array(), *o = json_object();
    bool places = invit_instance_get(p, "has_coords") == 1;   /* else a matrix is all there is */
    bool globe = invit_instance_metric(p) == INVIT_HAVERSINE; /* where the library lets longitudes run on */
    for (int64_t i = 0; places && i < n; i++) {
        double x = globe ? inv_wrap_longitude(xy[2 * i]) : xy[2 * i];
        json_array_append_new(coords, json_pack("[f,f]", x, xy[2 * i + 1]));
    }
    json_object_set_new(o, "problem", json_string(problem_name(invit_instance_problem(p))));
    json_object_set_new(o, "name", json_string(invit_instance_name(p)));
    if (places) {
        json_object_set_new(o, "metric", json_string(metric_name(invit_instance_metric(p))));
        json_object_set_new(o, "coords", coords);
    } else {
        json_decref(coords);
    }
    if (invit_instance_label(p, 0)) {
        json_t *labels = json_array();
        for (int64_t i = 0; i < n; i++) {
            json_t *label = json_string(invit_instance_label(p, i)); /* NULL when it is not UTF-8 */
            json_array_append_new(labels, label ? label : json_string(""));
        }
        json_object_set_new(o, "labels", labels);
    }
    if (invit_instance_get(p, "plain") != 1) write_rules(p, o);
    if (invit_instance_problem(p) == INVIT_CVRP && has_demands(p)) {
        const int32_t *demand = invit_instance_demands(p);
        json_t *demands = json_array();
        double scale = invit_instance_get(p, "demand_scale");
        for (int64_t i = 0; i < n; i++)
            json_array_append_new(demands,
                                  scale > 1 ? json_real(demand[i] / scale) : json_integer(demand[i]));
        json_object_set_new(o, "demands", demands);
        json_object_set_new(o, "capacity",
                            scale > 1 ? json_real(invit_instance_get(p, "capacity"))
                                      : json_integer(invit_instance_capacity(p)));
    }
    if (write_table(p, o)) return o;
    json_decref(o);
    return NULL;
}

json_t *wire_write_routes(const invit_solution *s)
{
    json_t *routes = json_array();
    for (int32_t r = 0; r < invit_solution_routes(s); r++) {
        int32_t count;
        const int32_t *node = invit_solution_route(s, r, &count);
        json_t *route = json_array();
        for (int32_t i = 0; i < count; i++) json_array_append_new(route, json_integer(node[i]));
        json_array_append_new(routes, route);
    }
    return routes;
}

/* Times only where there are any; a tour comes back to its first stop. */
json_t *wire_write_stops(const invit_instance *p, const invit_solution *s)
{
    json_t *routes = json_array();
    bool timed = invit_instance_get(p, "timed") == 1;
    invit_stop *stop = malloc(((size_t)invit_instance_nodes(p) + 2) * sizeof *stop);
    if (!stop) {
        json_decref(routes);
        return NULL;
    }
    for (int32_t r = 0; r < invit_solution_routes(s); r++) {
        int32_t count = invit_schedule(p, s, r, stop);
        json_t *route = json_array();
        for (int32_t i = 0; i < count; i++) {
            json_t *o = json_pack("{s:i, s:o, s:o, s:o}", "node", (int)stop[i].node, "leg",
                                  finite_or_null(stop[i].leg), "distance", finite_or_null(stop[i].distance),
                                  "load", finite_or_null(stop[i].load));
            if (timed) {
                json_object_set_new(o, "arrival", finite_or_null(stop[i].arrival));
                json_object_set_new(o, "waiting", finite_or_null(stop[i].waiting));
                json_object_set_new(o, "departure", finite_or_null(stop[i].departure));
            }
            json_array_append_new(route, o);
        }
        json_array_append_new(routes, route);
    }
    free(stop);
    return routes;
}
