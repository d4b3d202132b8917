#include "serve/wire.h"

#include "base/names.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *problem_name(int problem)
{
    return problem == INVIT_CVRP ? "cvrp" : "tsp";
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

invit_status wire_read_instance(const json_t *object, int64_t max_nodes, invit_instance **out,
                                invit_error *err)
{
    *out = NULL;
    if (!json_is_object(object)) return refuse(err, "\"instance\" must be a JSON object with \"coords\"");
    int problem, metric;
    invit_status status = wire_only(object, "problem name coords demands capacity metric labels", err);
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
        return refuse(err, "%zu nodes are more than this server takes (%lld)", n, (long long)max_nodes);

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
    if (status != INVIT_OK) {
        invit_instance_destroy(*out);
        *out = NULL;
    }
    free(xy);
    free(demand);
    return status;
}

json_t *wire_write_instance(const invit_instance *p)
{
    int64_t n = invit_instance_nodes(p);
    const double *xy = invit_instance_coords(p);
    json_t *coords = json_array(), *o = json_object();
    bool globe = invit_instance_metric(p) == INVIT_HAVERSINE; /* where the library lets longitudes run on */
    for (int64_t i = 0; i < n; i++) {
        double x = xy[2 * i];
        if (globe && fabs(x) > 180) x = round(1e10 * remainder(x, 360)) / 1e10;
        json_array_append_new(coords, json_pack("[f,f]", x, xy[2 * i + 1]));
    }
    json_object_set_new(o, "problem", json_string(problem_name(invit_instance_problem(p))));
    json_object_set_new(o, "name", json_string(invit_instance_name(p)));
    json_object_set_new(o, "metric", json_string(metric_name(invit_instance_metric(p))));
    json_object_set_new(o, "coords", coords);
    if (invit_instance_label(p, 0)) {
        json_t *labels = json_array();
        for (int64_t i = 0; i < n; i++) {
            json_t *label = json_string(invit_instance_label(p, i)); /* NULL when it is not UTF-8 */
            json_array_append_new(labels, label ? label : json_string(""));
        }
        json_object_set_new(o, "labels", labels);
    }
    if (invit_instance_problem(p) == INVIT_CVRP) {
        const int32_t *demand = invit_instance_demands(p);
        json_t *demands = json_array();
        for (int64_t i = 0; i < n; i++) json_array_append_new(demands, json_integer(demand[i]));
        json_object_set_new(o, "demands", demands);
        json_object_set_new(o, "capacity", json_integer(invit_instance_capacity(p)));
    }
    return o;
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
