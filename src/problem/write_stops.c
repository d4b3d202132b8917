/* Tables for drivers and planners, in the dialect of the table that was read: one stop per line, and one route per
 * line. */
#include "problem/write.h"

#include "base/number.h"
#include "problem/drive.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const inv_dialect plain;

static const inv_dialect *dialect_of(const invit_instance *p)
{
    return p->table ? &p->table->dialect : &plain;
}

static void put_beginning(inv_outfile *f, const inv_dialect *d)
{
    if (d->mark) inv_outfile_puts(f, "\xef\xbb\xbf");
    if (!d->sep_line) return;
    inv_outfile_puts(f, "sep=");
    inv_put_separator(f, d);
    inv_put_line_end(f, d);
}

static void put_text(inv_outfile *f, const inv_dialect *d, const char *text)
{
    inv_put_separator(f, d);
    inv_put_cell(f, d, text);
}

static void put_number(inv_outfile *f, const inv_dialect *d, double value)
{
    inv_put_separator(f, d);
    inv_put_decimal(f, d, value);
}

static void put_time(inv_outfile *f, const inv_dialect *d, const invit_instance *p, double time)
{
    char text[INV_TIME_TEXT];
    if (inv_has_clock(p))
        put_text(f, d, inv_time_text(p, time, text));
    else
        put_number(f, d, inv_time_number(time));
}

/* ---- one stop per line --------------------------------------------------------------------------------- */

enum { NAMES = 16 };

/* The names of our own columns; returns how many. */
static int own_names(const inv_drive *d, const char *name[NAMES])
{
    int n = 0;
    name[n++] = "route";
    name[n++] = "stop";
    name[n++] = "node";
    name[n++] = "id";
    if (d->places) {
        name[n++] = d->globe ? "lat" : "x";
        name[n++] = d->globe ? "lon" : "y";
    }
    if (d->loaded) {
        name[n++] = "demand";
        name[n++] = "load";
    }
    if (d->timed) {
        name[n++] = "arrival";
        name[n++] = "waiting";
        name[n++] = "departure";
    }
    name[n++] = "leg";
    name[n++] = "distance";
    return n;
}

/* Demands stand among our own columns where they count. */
static bool comes_through(const inv_drive *d, int column)
{
    return d->p->table->use[column] != INV_FOR_DEMANDS || !d->loaded;
}

/* A column of the input that is called like one of ours gets another name. */
static void put_header(inv_outfile *f, const inv_drive *d, const inv_dialect *how)
{
    const inv_stop_table *t = d->p->table;
    const char *name[NAMES];
    int names = own_names(d, name);
    for (int i = 0; i < names; i++) {
        if (i > 0) inv_put_separator(f, how);
        inv_outfile_puts(f, name[i]);
    }
    for (int k = 0; t && k < t->columns; k++) {
        char other[64];
        bool taken = false;
        if (!comes_through(d, k)) continue;
        for (int i = 0; i < names; i++) taken = taken || strcasecmp(t->name[k], name[i]) == 0;
        snprintf(other, sizeof other, "input_%.40s", t->name[k]);
        put_text(f, how, taken ? other : t->name[k]);
    }
    inv_put_line_end(f, how);
}

static void put_stop(inv_outfile *f, const inv_drive *d, const inv_dialect *how, int32_t i)
{
    const invit_instance *p = d->p;
    const invit_stop *at = &d->stop[i];
    const char *label = invit_instance_label(p, at->node);
    inv_put_int(f, d->number, 0);
    inv_put_separator(f, how);
    inv_put_int(f, i, 0);
    inv_put_separator(f, how);
    inv_put_int(f, at->node, 0);
    put_text(f, how, label ? label : "");
    if (d->places) {
        double x = inv_map_x(p, at->node), y = inv_map_y(p, at->node);
        put_number(f, how, d->globe ? y : x);
        put_number(f, how, d->globe ? x : y);
    }
    if (d->loaded) {
        put_number(f, how, inv_demand_of(p, at->node));
        put_number(f, how, at->load);
    }
    if (d->timed) {
        put_time(f, how, p, at->arrival);
        put_time(f, how, p, at->waiting);
        put_time(f, how, p, at->departure);
    }
    put_number(f, how, inv_told_length(p, at->leg));
    put_number(f, how, inv_told_length(p, at->distance));
    const inv_stop_table *t = p->table;
    const char *cell = t && t->columns > 0 ? inv_stop_table_row(t, at->node) : NULL;
    for (int k = 0; cell && k < t->columns; k++, cell = inv_stop_table_next(cell))
        if (comes_through(d, k)) put_text(f, how, cell);
    inv_put_line_end(f, how);
}

invit_status inv_write_stops(inv_outfile *f, const invit_instance *p, const invit_solution *s, int32_t only,
                             invit_error *err)
{
    const inv_dialect *how = dialect_of(p);
    inv_drive d;
    INV_CHECK(inv_drive_begin(&d, p, s, err));
    put_beginning(f, how);
    put_header(f, &d, how);
    if (only > 0) inv_drive_seek(&d, only);
    while ((only == 0 || d.number < only) && inv_drive_next(&d))
        for (int32_t i = 0; i < d.count; i++) put_stop(f, &d, how, i);
    inv_drive_end(&d);
    return INVIT_OK;
}

/* ---- one route per line -------------------------------------------------------------------------------- */

static void put_sum(inv_outfile *f, const inv_drive *d, const inv_dialect *how, int64_t stops,
                    const inv_drive_sum *sum, bool total)
{
    const invit_instance *p = d->p;
    inv_put_separator(f, how);
    inv_put_int(f, stops, 0);
    if (d->loaded) {
        put_number(f, how, sum->load);
        put_number(f, how, (double)p->capacity / p->scale * (total ? inv_drive_routes(d) : 1));
    }
    if (d->timed) {
        put_time(f, how, p, sum->departure);
        put_time(f, how, p, sum->arrival);
        put_time(f, how, p, sum->duration);
        put_time(f, how, p, sum->waiting);
        put_time(f, how, p, sum->service);
    }
    put_number(f, how, inv_told_length(p, sum->length));
    inv_put_line_end(f, how);
}

/* The last line: sums, the first departure and the last arrival. */
static void add_up(inv_drive_sum *all, const inv_drive_sum *one)
{
    all->length += one->length;
    all->load += one->load;
    all->departure = fmin(all->departure, one->departure);
    all->arrival = fmax(all->arrival, one->arrival);
    all->duration += one->duration;
    all->waiting += one->waiting;
    all->service += one->service;
}

invit_status inv_write_summary(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                               invit_error *err)
{
    static const char *const names[] = {"route",   "stops",    "load",    "capacity", "departure",
                                        "arrival", "duration", "waiting", "service",  "length"};
    const inv_dialect *how = dialect_of(p);
    inv_drive d;
    int64_t stops = 0;
    inv_drive_sum all = {.departure = INFINITY, .arrival = -INFINITY};
    INV_CHECK(inv_drive_begin(&d, p, s, err));
    put_beginning(f, how);
    for (int i = 0; i < 10; i++) {
        if ((!d.loaded && (i == 2 || i == 3)) || (!d.timed && i > 3 && i < 9)) continue;
        if (i > 0) inv_put_separator(f, how);
        inv_outfile_puts(f, names[i]);
    }
    inv_put_line_end(f, how);
    while (inv_drive_next(&d)) {
        inv_drive_sum sum = inv_drive_total(&d);
        add_up(&all, &sum);
        stops += d.visited;
        inv_put_int(f, d.number, 0);
        put_sum(f, &d, how, d.visited, &sum, false);
    }
    if (d.number > 1) {
        inv_outfile_puts(f, "total");
        put_sum(f, &d, how, stops, &all, true);
    }
    inv_drive_end(&d);
    return INVIT_OK;
}
