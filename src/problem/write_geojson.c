/* Solutions for maps: GeoJSON (RFC 7946). */
#include "problem/write.h"

#include "base/json_writer.h"
#include "problem/drive.h"

#include <math.h>

/* As hh:mm where times were given so. */
static void put_time(inv_json *j, const char *key, const invit_instance *p, double time)
{
    char text[INV_TIME_TEXT];
    if (inv_has_clock(p))
        inv_json_string(j, key, inv_told_time(p, time, text));
    else
        inv_json_number(j, key, inv_time_number(time));
}

static void put_position(inv_json *j, const char *key, double x, double y)
{
    inv_json_open(j, key, '[');
    inv_json_number(j, NULL, x);
    inv_json_number(j, NULL, y);
    inv_json_close(j);
}

static void begin_feature(inv_json *j, const char *geometry)
{
    inv_json_break(j, "\n");
    inv_json_open(j, NULL, '{');
    inv_json_string(j, "type", "Feature");
    inv_json_open(j, "geometry", '{');
    inv_json_string(j, "type", geometry);
}

static void begin_properties(inv_json *j)
{
    inv_json_close(j); /* the geometry */
    inv_json_open(j, "properties", '{');
}

static void end_feature(inv_json *j)
{
    inv_json_close(j);
    inv_json_close(j);
}

/* `at` is NULL for the depot, which belongs to no route. */
static void put_point(inv_json *j, const inv_drive *d, int32_t node, const invit_stop *at, int32_t route,
                      int32_t order)
{
    const invit_instance *p = d->p;
    begin_feature(j, "Point");
    put_position(j, "coordinates", inv_map_x(p, node), inv_map_y(p, node));
    begin_properties(j);
    inv_json_int(j, "node", node);
    if (invit_instance_label(p, node)) inv_json_string(j, "id", invit_instance_label(p, node));
    if (at) {
        inv_json_int(j, "route", route);
        inv_json_int(j, "order", order);
    }
    if (p->demand) {
        inv_json_number(j, "demand", inv_demand_of(p, node));
        inv_json_bool(j, "depot", node == 0);
    }
    if (at && p->demand) inv_json_number(j, "load", at->load);
    if (at) inv_json_number(j, "distance", inv_told_length(p, at->distance));
    if (at && d->timed) {
        put_time(j, "arrival", p, at->arrival);
        put_time(j, "waiting", p, at->waiting);
        put_time(j, "departure", p, at->departure);
    }
    end_feature(j);
}

/* A line across the date line is cut there, as the standard asks. */
static void put_line(inv_json *j, const inv_drive *d)
{
    bool globe = d->p->metric == INVIT_HAVERSINE;
    inv_json_open(j, "coordinates", '[');
    inv_json_open(j, NULL, '[');
    for (int32_t i = 0; i < d->count; i++) {
        double x = inv_map_x(d->p, d->stop[i].node), y = inv_map_y(d->p, d->stop[i].node);
        if (i > 0) {
            double x0 = inv_map_x(d->p, d->stop[i - 1].node), y0 = inv_map_y(d->p, d->stop[i - 1].node);
            if (globe && fabs(x - x0) > 180) {
                double side = x0 > 0 ? 180 : -180, past = x + 2 * side - x0;
                double at = y0 + (y - y0) * (past != 0 ? (side - x0) / past : 0);
                put_position(j, NULL, side, at);
                inv_json_close(j);
                inv_json_open(j, NULL, '[');
                put_position(j, NULL, -side, at);
            }
        }
        put_position(j, NULL, x, y);
    }
    inv_json_close(j);
    inv_json_close(j);
}

static void put_route(inv_json *j, const inv_drive *d, int32_t route)
{
    const invit_stop *first = &d->stop[0], *last = &d->stop[d->count - 1];
    begin_feature(j, "MultiLineString");
    put_line(j, d);
    begin_properties(j);
    inv_json_int(j, "route", route);
    inv_json_int(j, "stops", d->visited);
    inv_json_open(j, "legs", '[');
    for (int32_t i = 1; i < d->count; i++) inv_json_number(j, NULL, inv_told_length(d->p, d->stop[i].leg));
    inv_json_close(j);
    inv_json_number(j, "length", inv_told_length(d->p, last->distance));
    if (d->p->demand) inv_json_number(j, "load", last->load);
    if (d->timed) {
        put_time(j, "departure", d->p, first->departure);
        put_time(j, "arrival", d->p, last->arrival);
        put_time(j, "duration", d->p, last->departure - first->departure);
    }
    end_feature(j);
}

invit_status inv_write_geojson(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                               invit_error *err)
{
    inv_drive d;
    if (p->rules && !p->rules->has_xy)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: a map needs coordinates, and there are distances only",
                        p->name);
    INV_CHECK(inv_drive_begin(&d, p, s, err));
    inv_json j = inv_json_to_outfile(f);
    j.gap = "";
    inv_json_open(&j, NULL, '{');
    inv_json_string(&j, "type", "FeatureCollection");
    inv_json_open(&j, "features", '[');
    if (d.depot) put_point(&j, &d, 0, NULL, 0, 0);
    while (inv_drive_next(&d)) {
        for (int32_t i = 0; i < d.visited; i++) {
            const invit_stop *at = inv_drive_visit(&d, i);
            put_point(&j, &d, at->node, at, d.number, i + 1);
        }
        put_route(&j, &d, d.number);
    }
    inv_json_break(&j, "\n");
    inv_json_close(&j);
    inv_json_close(&j);
    inv_outfile_puts(f, "\n");
    inv_drive_end(&d);
    return INVIT_OK;
}
