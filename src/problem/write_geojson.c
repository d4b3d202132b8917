/* Solutions for maps: GeoJSON (RFC 7946). */
#include "problem/write.h"

#include "problem/drive.h"
#include "problem/table_json.h"

#include <math.h>

/* hh:mm in quotes where times were given so. */
static void put_time(inv_outfile *f, const invit_instance *p, double time, char after)
{
    char text[INV_TIME_TEXT], end[2] = {after, 0};
    const char *quote = inv_has_clock(p) ? "\"" : "";
    inv_outfile_puts(f, quote);
    inv_outfile_puts(f, inv_told_time(p, time, text));
    inv_outfile_puts(f, quote);
    inv_outfile_puts(f, end);
}

static void put_position(inv_outfile *f, double x, double y)
{
    inv_outfile_puts(f, "[");
    inv_put_number(f, x, ',');
    inv_put_number(f, y, ']');
}

/* `at` is NULL for the depot, which belongs to no route. */
static void put_point(inv_outfile *f, const inv_drive *d, int32_t node, const invit_stop *at, int32_t route,
                      int32_t order)
{
    const invit_instance *p = d->p;
    inv_outfile_puts(f, "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":");
    put_position(f, inv_map_x(p, node), inv_map_y(p, node));
    inv_outfile_printf(f, "},\"properties\":{\"node\":%d", node);
    if (invit_instance_label(p, node)) {
        inv_outfile_puts(f, ",\"id\":");
        inv_put_json_text(f, invit_instance_label(p, node));
    }
    if (at) inv_outfile_printf(f, ",\"route\":%d,\"order\":%d", route, order);
    if (p->demand) {
        inv_outfile_puts(f, ",\"demand\":");
        inv_put_number(f, inv_demand_of(p, node), ',');
        inv_outfile_printf(f, "\"depot\":%s", node == 0 ? "true" : "false");
    }
    if (at && p->demand) {
        inv_outfile_puts(f, ",\"load\":");
        inv_put_number(f, at->load, 0);
    }
    if (at) {
        inv_outfile_puts(f, ",\"distance\":");
        inv_put_number(f, inv_told_length(p, at->distance), 0);
    }
    if (at && d->timed) {
        inv_outfile_puts(f, ",\"arrival\":");
        put_time(f, p, at->arrival, ',');
        inv_outfile_puts(f, "\"waiting\":");
        put_time(f, p, at->waiting, ',');
        inv_outfile_puts(f, "\"departure\":");
        put_time(f, p, at->departure, 0);
    }
    inv_outfile_puts(f, "}}");
}

/* A line across the date line is cut there, as the standard asks. */
static void put_line(inv_outfile *f, const inv_drive *d)
{
    bool globe = d->p->metric == INVIT_HAVERSINE;
    inv_outfile_puts(f,
                     "{\"type\":\"Feature\",\"geometry\":{\"type\":\"MultiLineString\",\"coordinates\":[[");
    for (int32_t i = 0; i < d->count; i++) {
        double x = inv_map_x(d->p, d->stop[i].node), y = inv_map_y(d->p, d->stop[i].node);
        if (i > 0) {
            double x0 = inv_map_x(d->p, d->stop[i - 1].node), y0 = inv_map_y(d->p, d->stop[i - 1].node);
            if (globe && fabs(x - x0) > 180) {
                double side = x0 > 0 ? 180 : -180, past = x + 2 * side - x0;
                double at = y0 + (y - y0) * (past != 0 ? (side - x0) / past : 0);
                inv_outfile_puts(f, ",");
                put_position(f, side, at);
                inv_outfile_puts(f, "],[");
                put_position(f, -side, at);
            }
            inv_outfile_puts(f, ",");
        }
        put_position(f, x, y);
    }
    inv_outfile_puts(f, "]]},\"properties\":{");
}

static void put_route(inv_outfile *f, const inv_drive *d, int32_t route)
{
    const invit_stop *first = &d->stop[0], *last = &d->stop[d->count - 1];
    put_line(f, d);
    inv_outfile_printf(f, "\"route\":%d,\"stops\":%d,\"legs\":[", route, d->visited);
    for (int32_t i = 1; i < d->count; i++)
        inv_put_number(f, inv_told_length(d->p, d->stop[i].leg), i + 1 < d->count ? ',' : 0);
    inv_outfile_puts(f, "],\"length\":");
    inv_put_number(f, inv_told_length(d->p, last->distance), 0);
    if (d->p->demand) {
        inv_outfile_puts(f, ",\"load\":");
        inv_put_number(f, last->load, 0);
    }
    if (d->timed) {
        inv_outfile_puts(f, ",\"departure\":");
        put_time(f, d->p, first->departure, ',');
        inv_outfile_puts(f, "\"arrival\":");
        put_time(f, d->p, last->arrival, ',');
        inv_outfile_puts(f, "\"duration\":");
        put_time(f, d->p, last->departure - first->departure, 0);
    }
    inv_outfile_puts(f, "}}");
}

invit_status inv_write_geojson(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                               invit_error *err)
{
    inv_drive d;
    if (p->rules && !p->rules->has_xy)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: a map needs coordinates, and there are distances only",
                        p->name);
    INV_CHECK(inv_drive_begin(&d, p, s, err));
    inv_outfile_puts(f, "{\"type\":\"FeatureCollection\",\"features\":[\n");
    if (d.depot) put_point(f, &d, 0, NULL, 0, 0);
    while (inv_drive_next(&d)) {
        for (int32_t i = 0; i < d.visited; i++) {
            const invit_stop *at = inv_drive_visit(&d, i);
            if (d.depot || d.number > 1 || i > 0) inv_outfile_puts(f, ",\n");
            put_point(f, &d, at->node, at, d.number, i + 1);
        }
        inv_outfile_puts(f, ",\n");
        put_route(f, &d, d.number);
    }
    inv_outfile_puts(f, "\n]}\n");
    inv_drive_end(&d);
    return INVIT_OK;
}
