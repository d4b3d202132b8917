/* Instances with rules, as files: TSPLIB and VRPLIB sections where these have a word for all of it, JSON for
 * everything. */
#include "problem/freeze.h"
#include "problem/table_json.h"
#include "problem/write.h"

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

static void put_or_null(inv_outfile *f, double v)
{
    if (isfinite(v))
        inv_put_number(f, v, 0);
    else
        inv_outfile_puts(f, "null");
}

/* ,\n"key": [v, v, ...], in rows of `columns` when that is not 0. */
static void put_list(inv_outfile *f, const char *key, const double *value, size_t rows, size_t columns)
{
    size_t width = columns ? columns : 1;
    inv_outfile_printf(f, ",\n \"%s\": [", key);
    for (size_t i = 0; i < rows; i++) {
        if (i > 0) inv_outfile_puts(f, columns ? ",\n  " : ", ");
        if (columns) inv_outfile_puts(f, "[");
        for (size_t j = 0; j < width; j++) {
            if (j > 0) inv_outfile_puts(f, ", ");
            put_or_null(f, value[i * width + j]);
        }
        if (columns) inv_outfile_puts(f, "]");
    }
    inv_outfile_puts(f, "]");
}

static void put_value(inv_outfile *f, const char *key, double v)
{
    if (isnan(v)) return;
    inv_outfile_printf(f, ",\n \"%s\": ", key);
    inv_put_number(f, v, 0);
}

static void put_beginning(inv_outfile *f, const int32_t *nodes, int32_t count, bool *some)
{
    if (count == 0) return;
    inv_outfile_puts(f, *some ? ", [" : "[");
    *some = true;
    for (int32_t i = 0; i < count; i++) inv_outfile_printf(f, i > 0 ? ", %d" : "%d", nodes[i]);
    inv_outfile_puts(f, "]");
}

static invit_status put_freeze(inv_outfile *f, const invit_instance *p, invit_error *err)
{
    invit_solution *s = NULL;
    if (!p->rules || !p->rules->freeze) return INVIT_OK;
    INV_CHECK(inv_with_frozen(p, NULL, &s, err));
    bool some = false;
    inv_outfile_puts(f, ",\n \"freeze\": [");
    for (int32_t r = 0; r < s->routes; r++)
        put_beginning(f, s->nodes + s->start[r], s->start[r + 1] - s->start[r], &some);
    inv_outfile_puts(f, "]");
    invit_solution_destroy(s);
    return INVIT_OK;
}

static invit_status put_nodes(inv_outfile *f, const invit_instance *p, invit_error *err)
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
        inv_outfile_puts(f, ",\n \"metric\": ");
        inv_put_json_text(f, inv_metric_name(p->metric));
        put_list(f, "coords", list, n, 2);
    }
    if (p->demand && inv_has_demands(p)) {
        for (size_t i = 0; i < n; i++) list[i] = (double)p->demand[i] / p->scale;
        put_list(f, "demands", list, n, 0);
    }
    if (p->demand && (inv_has_demands(p) || p->capacity != INT32_MAX))
        put_value(f, "capacity", (double)p->capacity / p->scale);
    if (r && r->earliest) {
        for (size_t i = 0; i < n; i++) list[2 * i] = r->earliest[i], list[2 * i + 1] = r->latest[i];
        put_list(f, "time_windows", list, n, 2);
    }
    free(list);
    return INVIT_OK;
}

invit_status inv_write_json(inv_outfile *f, const invit_instance *p, invit_error *err)
{
    static const char *const values[] = {"max_length", "max_duration", "max_stops", "speed"};
    const inv_rules *r = p->rules;
    size_t n = (size_t)p->n;
    inv_outfile_puts(f, "{\"name\": ");
    inv_put_json_text(f, p->name);
    inv_outfile_printf(f, ",\n \"problem\": \"%s\"", inv_problem_name(p->problem));
    INV_CHECK(put_nodes(f, p, err));
    if (p->labels) {
        inv_outfile_puts(f, ",\n \"labels\": [");
        for (int32_t i = 0; i < p->n; i++) {
            if (i > 0) inv_outfile_puts(f, ", ");
            inv_put_json_text(f, invit_instance_label(p, i));
        }
        inv_outfile_puts(f, "]");
    }
    if (r) {
        if (r->distance) put_list(f, "distances", r->distance, n, n);
        if (r->duration) put_list(f, "durations", r->duration, n, n);
        if (r->service) put_list(f, "service", r->service, n, 0);
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            put_value(f, values[i], invit_instance_get(p, values[i]));
        if (r->fewest)
            inv_outfile_puts(f, ",\n \"vehicles\": \"fewest\"");
        else
            put_value(f, "vehicles", invit_instance_get(p, "vehicles"));
        if (r->open) inv_outfile_puts(f, ",\n \"open\": true");
        if (r->clock) inv_outfile_puts(f, ",\n \"clock\": true");
        put_value(f, "start_node", invit_instance_get(p, "start_node"));
        put_value(f, "end_node", invit_instance_get(p, "end_node"));
    }
    INV_CHECK(put_freeze(f, p, err));
    if (p->table) {
        inv_outfile_puts(f, ",\n \"table\": ");
        inv_put_table_json(f, p->table);
    }
    inv_outfile_puts(f, "}\n");
    return INVIT_OK;
}
