/* Problems as programs write them: one JSON object with coords or distances, and whatever else routes must keep, under
 * the names that invit_instance_set, _set_array and _set_matrix know. */
#include "problem/read.h"

#include "problem/freeze.h"
#include "problem/table_json.h"

#include "base/json_memory.h"
#include "base/json_size.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS                                                                                                 \
    "name, problem, coords, metric, distances, durations, demands, capacity, service, time_windows, "        \
    "vehicles, "                                                                                             \
    "open, start_node, end_node, max_length, max_duration, max_stops, speed, freeze, clock, labels or table"

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* A number, or where `clock` is given a time like "8:30"; null is NaN where that says something. */
static bool number_of(const json_t *v, bool null, bool *clock, double *out)
{
    bool as_clock = false;
    *out = NAN;
    if (json_is_number(v)) {
        *out = json_number_value(v);
        return isfinite(*out);
    }
    if (json_is_string(v) && clock && inv_parse_time(json_string_value(v), out, &as_clock)) {
        *clock = *clock || as_clock;
        return true;
    }
    return json_is_null(v) && null;
}

/* `rows` lists of `columns` numbers each, or with columns == 0 a list of numbers; one after the other. */
static invit_status numbers(const json_t *list, const char *key, size_t rows, size_t columns, bool null,
                            bool *clock, double **out, invit_error *err)
{
    size_t width = columns ? columns : 1;
    *out = NULL;
    if (!json_is_array(list) || json_array_size(list) != rows)
        return inv_fail(err, INVIT_ERR_INPUT, "\"%s\" must be a list of %zu %s, one per node", key, rows,
                        columns ? "lists of numbers" : "numbers");
    double *value = malloc(rows * width * sizeof *value);
    if (!value) return inv_no_memory(err, rows * width * sizeof *value);
    for (size_t i = 0; i < rows; i++) {
        const json_t *row = json_array_get(list, i);
        if (columns && (!json_is_array(row) || json_array_size(row) != columns)) {
            free(value);
            return inv_fail(err, INVIT_ERR_INPUT, "\"%s\"[%zu] must be a list of %zu numbers", key, i,
                            columns);
        }
        for (size_t j = 0; j < width; j++)
            if (!number_of(columns ? json_array_get(row, j) : row, null, clock, &value[i * width + j])) {
                free(value);
                char at[64];
                snprintf(at, sizeof at, columns ? "[%zu][%zu]" : "[%zu]", i, j);
                return inv_fail(err, INVIT_ERR_INPUT, "\"%s\"%s must be a number%s", key, at,
                                clock ? " or a time like \"8:30\"" : "");
            }
    }
    *out = value;
    return INVIT_OK;
}

/* ---- the members --------------------------------------------------------------------------------------- */

static invit_status create(const json_t *object, invit_instance **out, invit_error *err)
{
    const json_t *coords = json_object_get(object, "coords"),
                 *distances = json_object_get(object, "distances");
    const char *metric = json_string_value(json_object_get(object, "metric"));
    double *value = NULL;
    invit_metric rule = INVIT_EXACT;
    if (metric) {
        while (rule <= INVIT_DIMACS && strcmp(metric, inv_metric_name(rule)) != 0) rule++;
        if (rule > INVIT_DIMACS)
            return inv_fail(
                err, INVIT_ERR_INPUT,
                "\"metric\" must be exact, euc_2d, ceil_2d, att, geo, haversine or dimacs, not '%.40s'",
                metric);
    }
    size_t n = json_array_size(json_is_array(coords) ? coords : distances);
    if (n == 0)
        return inv_fail(
            err, INVIT_ERR_INPUT,
            "expected \"coords\", a list of [x, y], or \"distances\", a list of rows, with a node or more");
    if (json_is_array(coords)) {
        INV_CHECK(numbers(coords, "coords", n, 2, false, NULL, &value, err));
        invit_status status = invit_instance_create_tsp(value, (int64_t)n, rule, out, err);
        free(value);
        return status;
    }
    INV_CHECK(numbers(distances, "distances", n, n, false, NULL, &value, err));
    invit_status status = invit_instance_create_matrix(value, (int64_t)n, out, err);
    free(value);
    return status;
}

static invit_status set_matrix(const json_t *object, const char *key, invit_instance *p, invit_error *err)
{
    const json_t *v = json_object_get(object, key);
    bool have = strcmp(key, "distances") == 0 && invit_instance_array(p, key); /* made from it */
    double *value = NULL;
    if (!v || json_is_null(v) || have) return INVIT_OK;
    INV_CHECK(numbers(v, key, (size_t)p->n, (size_t)p->n, false, NULL, &value, err));
    return inv_take_matrix(p, strcmp(key, "durations") == 0, value, err);
}

static invit_status set_array(const json_t *object, const char *key, invit_instance *p, bool *clock,
                              invit_error *err)
{
    const json_t *v = json_object_get(object, key);
    size_t n = (size_t)p->n;
    bool windows = strcmp(key, "time_windows") == 0, times = strcmp(key, "demands") != 0;
    double *value = NULL;
    if (!v || json_is_null(v)) return INVIT_OK;
    if (json_is_number(v) && strcmp(key, "service") == 0) { /* the same at every stop */
        value = malloc(n * sizeof *value);
        if (!value) return inv_no_memory(err, n * sizeof *value);
        for (size_t i = 0; i < n; i++) value[i] = i ? json_number_value(v) : 0;
    } else {
        if (!times) clock = NULL;
        INV_CHECK(numbers(v, key, n, windows ? 2 : 0, windows, clock, &value, err));
    }
    invit_status status = invit_instance_set_array(p, key, value, (windows ? 2 : 1) * (int64_t)n, err);
    free(value);
    return status;
}

static invit_status set_value(const json_t *object, const char *key, invit_instance *p, invit_error *err)
{
    const json_t *v = json_object_get(object, key);
    char text[INV_DOUBLE_CHARS + 1] = "";
    if (!v || json_is_null(v)) return INVIT_OK;
    if (json_is_boolean(v))
        snprintf(text, sizeof text, "%s", json_is_true(v) ? "yes" : "no");
    else if (json_is_number(v) && isfinite(json_number_value(v)))
        text[inv_format_double(text, json_number_value(v))] = 0;
    else if (!json_is_string(v))
        return inv_fail(err, INVIT_ERR_INPUT, "\"%s\" must be a number or a text", key);
    return invit_instance_set(p, key, json_is_string(v) ? json_string_value(v) : text, err);
}

static invit_status set_labels(const json_t *object, invit_instance *p, invit_error *err)
{
    const json_t *labels = json_object_get(object, "labels");
    size_t n = (size_t)p->n;
    if (!labels || json_is_null(labels)) return INVIT_OK;
    if (!json_is_array(labels) || json_array_size(labels) != n)
        return inv_fail(err, INVIT_ERR_INPUT, "\"labels\" must be a list of %zu texts, one per node", n);
    const char **text = malloc(n * sizeof *text);
    invit_status status = text ? INVIT_OK : inv_no_memory(err, n * sizeof *text);
    for (size_t i = 0; status == INVIT_OK && i < n; i++)
        if (!(text[i] = json_string_value(json_array_get(labels, i))))
            status = inv_fail(err, INVIT_ERR_INPUT, "\"labels\"[%zu] must be a text", i);
    if (status == INVIT_OK) status = invit_instance_set_labels(p, text, err);
    free(text);
    return status;
}

/* Beginnings of routes: lists of nodes, or of a tour one list. */
static invit_status set_freeze(const json_t *object, invit_instance *p, invit_error *err)
{
    const json_t *list = json_object_get(object, "freeze");
    size_t n = (size_t)p->n, routes = json_array_size(list), total = 0;
    invit_status status = INVIT_OK;
    if (!list || json_is_null(list)) return INVIT_OK;
    bool flat = routes > 0 && json_is_integer(json_array_get(list, 0));
    if (flat) routes = 1;
    for (size_t r = 0; r < routes; r++) total += json_array_size(flat ? list : json_array_get(list, r));
    if (!json_is_array(list) || total > n)
        return inv_fail(err, INVIT_ERR_INPUT, "\"freeze\" must be a list of routes, each a list of nodes");
    int32_t *node = malloc((total + 1) * sizeof *node), *start = malloc((routes + 1) * sizeof *start);
    invit_solution *s = NULL;
    if (!node || !start) INV_TRY(inv_no_memory(err, (total + routes) * sizeof *node));
    start[0] = 0;
    for (size_t r = 0; r < routes; r++) {
        const json_t *route = flat ? list : json_array_get(list, r);
        start[r + 1] = start[r];
        if (!json_is_array(route))
            INV_TRY(inv_fail(err, INVIT_ERR_INPUT, "\"freeze\"[%zu] must be a list of nodes", r));
        for (size_t i = 0; i < json_array_size(route); i++) {
            const json_t *v = json_array_get(route, i);
            if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= (json_int_t)n)
                INV_TRY(inv_fail(err, INVIT_ERR_INPUT, "\"freeze\"[%zu] must be a list of nodes below %zu", r,
                                 n));
            node[start[r + 1]++] = (int32_t)json_integer_value(v);
        }
    }
    INV_TRY(invit_solution_create(node, start, (int32_t)routes, &s, err));
    INV_TRY(inv_freeze_routes(p, s, err));
done:
    invit_solution_destroy(s);
    free(node);
    free(start);
    return status;
}

/* Unknown members are refused, so that typos are noticed. */
static invit_status check_members(json_t *object, invit_error *err)
{
    static const char *const known[] = {"name",      "problem",      "coords",   "metric",     "distances",
                                        "durations", "demands",      "capacity", "service",    "vehicles",
                                        "open",      "start_node",   "end_node", "max_length", "max_duration",
                                        "max_stops", "time_windows", "speed",    "labels",     "freeze",
                                        "clock",     "table"};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) found = found || strcmp(key, known[i]) == 0;
        if (!found) return inv_fail(err, INVIT_ERR_INPUT, "\"%.40s\" is not known here: expected " KEYS, key);
    }
    return INVIT_OK;
}

static invit_status build(json_t *object, invit_instance **out, invit_error *err)
{
    static const char *const values[] = {"open",       "start_node",   "end_node",  "vehicles",
                                         "max_length", "max_duration", "max_stops", "speed"};
    invit_status status = INVIT_OK;
    invit_instance *p = NULL;
    bool clock = false;
    const json_t *table = json_object_get(object, "table");
    const char *problem = json_string_value(json_object_get(object, "problem")),
               *name = json_string_value(json_object_get(object, "name"));
    if (!json_is_object(object)) return inv_fail(err, INVIT_ERR_INPUT, "expected one JSON object");
    INV_CHECK(check_members(object, err));
    INV_TRY(create(object, &p, err));
    if (name && *name) INV_TRY(invit_instance_set_name(p, name, err));
    INV_TRY(set_labels(object, p, err));
    INV_TRY(set_matrix(object, "distances", p, err));
    INV_TRY(set_matrix(object, "durations", p, err));
    INV_TRY(set_value(object, "capacity", p, err));
    INV_TRY(set_array(object, "demands", p, &clock, err));
    INV_TRY(set_array(object, "service", p, &clock, err));
    INV_TRY(set_array(object, "time_windows", p, &clock, err));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) INV_TRY(set_value(object, values[i], p, err));
    if (json_is_true(json_object_get(object, "clock"))) clock = true;
    if (p->rules) p->rules->clock = clock;
    if (problem && strcmp(problem, "tsp") == 0 && p->problem != INVIT_TSP)
        INV_TRY(inv_fail(err, INVIT_ERR_INPUT,
                         "\"problem\" is tsp, but demands, windows, limits and vehicles are for cvrp"));
    if (problem && strcmp(problem, "cvrp") == 0) INV_TRY(inv_make_routes(p, err));
    if (problem && strcmp(problem, "cvrp") != 0 && strcmp(problem, "tsp") != 0)
        INV_TRY(inv_fail(err, INVIT_ERR_INPUT, "\"problem\" must be tsp or cvrp, not '%.40s'", problem));
    if (json_object_get(object, "demands") && !json_object_get(object, "capacity"))
        INV_TRY(inv_fail(err, INVIT_ERR_INPUT, "expected \"capacity\" with \"demands\""));
    INV_TRY(set_freeze(object, p, err));
    if (table && !json_is_null(table)) INV_TRY(inv_table_from_json(table, p, err));
    *out = p;
    p = NULL;
done:
    invit_instance_destroy(p);
    return status;
}

/* What is read, and what it takes: refused as soon as there is no memory for the next STEP of it. */
typedef struct source {
    inv_text *text;
    inv_json_size size;
    int64_t expected;
    invit_status status;
    invit_error *err;
} source;

enum { STEP = 256 << 20 };

static size_t hand_on(void *buffer, size_t room, void *user)
{
    source *s = user;
    inv_text *t = s->text;
    if (inv_text_at_end(t)) return 0;
    size_t n = (size_t)(t->end - t->at);
    if (n > room) n = room;
    memcpy(buffer, t->at, n);
    inv_json_size_add(&s->size, t->at, n);
    t->at += n;
    if (s->size.bytes < s->expected) return n;
    s->expected += STEP;
    s->status = inv_memory_expect(STEP, "reading JSON", s->err);
    return s->status == INVIT_OK ? n : (size_t)-1;
}

invit_status inv_read_json(inv_text *t, inv_read_state *state, invit_instance **out, invit_error *err)
{
    *out = NULL;
    if (state->index > 0) return INVIT_OK;
    json_error_t wrong;
    source s = {.text = t, .expected = STEP, .err = err};
    int64_t failures = inv_json_failures();
    json_t *object = json_load_callback(hand_on, &s, JSON_REJECT_DUPLICATES, &wrong);
    if (s.status == INVIT_OK) s.status = inv_text_status(t, err);
    if (s.status == INVIT_OK && inv_json_failures() != failures)
        s.status = inv_no_memory(err, INV_TEXT_WINDOW);
    if (s.status == INVIT_OK && !object)
        s.status = inv_text_fail(t, wrong.line, INVIT_ERR_INPUT, err, "JSON: %.200s", wrong.text);
    if (s.status == INVIT_OK) s.status = build(object, out, err);
    json_decref(object);
    return s.status;
}
