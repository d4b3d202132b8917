/* Instances with rules, as files: TSPLIB and VRPLIB sections where these have a word for all of it, JSON for
 * everything. */
#include "problem/freeze.h"
#include "problem/table_json.h"
#include "problem/write.h"

#include "base/json_writer.h"
#include "base/longitude.h"
#include "base/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- TSPLIB, VRPLIB ------------------------------------------------------------------------------------ */

/* What of the rules such a file has no word for, or NULL. DISTANCE limits travel and service, and without service the
 * length; times are distances. */
static const char *unsaid(const invit_instance *p)
{
    const inv_rules *r = p->rules;
    bool times = r->service || r->earliest;
    if (r->max_stops) return "max_stops";
    if (r->fewest) return "vehicles fewest";
    if (r->open) return "open";
    if (r->start >= 0) return "start_node";
    if (r->end >= 0) return "end_node";
    if (r->freeze) return "freeze";
    if (r->duration) return "durations";
    if (r->speed != 1) return "speed";
    if (isfinite(r->max_length) && times) return "max_length beside times";
    if (isfinite(r->max_duration) && !times) return "max_duration without service";
    if (r->earliest && p->metric == INVIT_EUC_2D && !r->distance) return "whole distances beside windows";
    return NULL;
}

invit_status inv_check_writable(const invit_instance *p, invit_error *err)
{
    const char *what = p->rules ? unsaid(p) : NULL;
    if (!what) return INVIT_OK;
    return inv_fail(err, INVIT_ERR_UNSUPPORTED, "%s: a TSPLIB file cannot say %s: write it as JSON", p->name,
                    what);
}

void inv_write_rules_head(inv_outfile *f, const invit_instance *p)
{
    const inv_rules *r = p->rules;
    double limit = isfinite(r->max_duration) ? r->max_duration : r->max_length;
    if (isfinite(limit)) {
        inv_outfile_puts(f, "DISTANCE : ");
        inv_put_number(f, limit, '\n');
    }
    if (r->vehicles) inv_outfile_printf(f, "VEHICLES : %d\n", r->vehicles);
    if (r->distance) inv_outfile_puts(f, "EDGE_WEIGHT_FORMAT : FULL_MATRIX\n");
}

void inv_write_rules_sections(inv_outfile *f, const invit_instance *p, int64_t first)
{
    const inv_rules *r = p->rules;
    size_t n = (size_t)p->n;
    if (r->distance) {
        inv_outfile_puts(f, "EDGE_WEIGHT_SECTION\n");
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) inv_put_number(f, r->distance[i * n + j], j + 1 < n ? ' ' : '\n');
    }
    if (r->service) {
        inv_outfile_puts(f, "SERVICE_TIME_SECTION\n");
        for (size_t i = 0; i < n; i++) {
            inv_put_int(f, first + (int64_t)i, ' ');
            inv_put_number(f, r->service[i], '\n');
        }
    }
    if (r->earliest) {
        inv_outfile_puts(f, "TIME_WINDOW_SECTION\n");
        for (size_t i = 0; i < n; i++) {
            inv_put_int(f, first + (int64_t)i, ' ');
            inv_put_number(f, r->earliest[i], ' ');
            inv_put_number(f, fmin(r->latest[i], INV_LARGEST_COST), '\n');
        }
    }
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

#define MEMBER "\n "  /* each on a line of its own */
#define ROW    "\n  " /* the rows of a member too  */

static void put_list(inv_json *j, const char *key, const double *value, size_t n)
{
    inv_json_break(j, MEMBER);
    inv_json_open(j, key, '[');
    for (size_t i = 0; i < n; i++) inv_json_number(j, NULL, value[i]);
    inv_json_close(j);
}

static void put_rows(inv_json *j, const char *key, const double *value, size_t rows, size_t columns)
{
    inv_json_break(j, MEMBER);
    inv_json_open(j, key, '[');
    for (size_t i = 0; i < rows; i++) {
        if (i > 0) inv_json_break(j, ROW);
        inv_json_open(j, NULL, '[');
        for (size_t k = 0; k < columns; k++) inv_json_number(j, NULL, value[i * columns + k]);
        inv_json_close(j);
    }
    inv_json_close(j);
}

static void put_text(inv_json *j, const char *key, const char *text)
{
    inv_json_break(j, MEMBER);
    inv_json_string(j, key, text);
}

/* NaN: not given. */
static void put_value(inv_json *j, const char *key, double v)
{
    if (isnan(v)) return;
    inv_json_break(j, MEMBER);
    inv_json_number(j, key, v);
}

static void put_true(inv_json *j, const char *key)
{
    inv_json_break(j, MEMBER);
    inv_json_bool(j, key, true);
}

static invit_status put_freeze(inv_json *j, const invit_instance *p, invit_error *err)
{
    invit_solution *s = NULL;
    if (!p->rules || !p->rules->freeze) return INVIT_OK;
    INV_CHECK(inv_with_frozen(p, NULL, &s, err));
    inv_json_break(j, MEMBER);
    inv_json_open(j, "freeze", '[');
    for (int32_t r = 0; r < s->routes; r++) {
        if (s->start[r + 1] == s->start[r]) continue;
        inv_json_open(j, NULL, '[');
        for (int32_t i = s->start[r]; i < s->start[r + 1]; i++) inv_json_int(j, NULL, s->nodes[i]);
        inv_json_close(j);
    }
    inv_json_close(j);
    invit_solution_destroy(s);
    return INVIT_OK;
}

static invit_status put_nodes(inv_json *j, const invit_instance *p, invit_error *err)
{
    const inv_rules *r = p->rules;
    size_t n = (size_t)p->n;
    double *list = malloc(2 * n * sizeof *list);
    if (!list) return inv_no_memory(err, 2 * n * sizeof *list);
    if (!r || r->has_xy) {
        for (size_t i = 0; i < n; i++) {
            double x = p->xy[2 * i];
            list[2 * i] = p->metric == INVIT_HAVERSINE ? inv_wrap_longitude(x) : x;
            list[2 * i + 1] = p->xy[2 * i + 1];
        }
        put_text(j, "metric", inv_metric_name(p->metric));
        put_rows(j, "coords", list, n, 2);
    }
    if (p->demand && inv_has_demands(p)) {
        for (size_t i = 0; i < n; i++) list[i] = (double)p->demand[i] / p->scale;
        put_list(j, "demands", list, n);
    }
    if (p->demand && (inv_has_demands(p) || p->capacity != INT32_MAX))
        put_value(j, "capacity", (double)p->capacity / p->scale);
    if (r && r->earliest) {
        for (size_t i = 0; i < n; i++) list[2 * i] = r->earliest[i], list[2 * i + 1] = r->latest[i];
        put_rows(j, "time_windows", list, n, 2);
    }
    free(list);
    return INVIT_OK;
}

static void put_labels(inv_json *j, const invit_instance *p)
{
    inv_json_break(j, MEMBER);
    inv_json_open(j, "labels", '[');
    for (int32_t i = 0; i < p->n; i++) inv_json_string(j, NULL, invit_instance_label(p, i));
    inv_json_close(j);
}

static void put_rules(inv_json *j, const invit_instance *p)
{
    static const char *const values[] = {"max_length", "max_duration", "max_stops", "speed"};
    const inv_rules *r = p->rules;
    size_t n = (size_t)p->n;
    if (r->distance) put_rows(j, "distances", r->distance, n, n);
    if (r->duration) put_rows(j, "durations", r->duration, n, n);
    if (r->service) put_list(j, "service", r->service, n);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        put_value(j, values[i], invit_instance_get(p, values[i]));
    if (r->fewest)
        put_text(j, "vehicles", "fewest");
    else
        put_value(j, "vehicles", invit_instance_get(p, "vehicles"));
    if (r->open) put_true(j, "open");
    if (r->clock) put_true(j, "clock");
    put_value(j, "start_node", invit_instance_get(p, "start_node"));
    put_value(j, "end_node", invit_instance_get(p, "end_node"));
}

invit_status inv_write_json(inv_outfile *f, const invit_instance *p, invit_error *err)
{
    inv_json j = inv_json_to_outfile(f);
    inv_json_open(&j, NULL, '{');
    inv_json_string(&j, "name", p->name);
    put_text(&j, "problem", inv_problem_name(p->problem));
    INV_CHECK(put_nodes(&j, p, err));
    if (p->labels) put_labels(&j, p);
    if (p->rules) put_rules(&j, p);
    INV_CHECK(put_freeze(&j, p, err));
    if (p->table) {
        inv_json_break(&j, MEMBER);
        inv_put_table_json(&j, "table", p->table);
    }
    inv_json_close(&j);
    inv_outfile_puts(f, "\n");
    return INVIT_OK;
}
