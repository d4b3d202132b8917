/* Solutions as others want them: GeoJSON for maps (RFC 7946), and a table of stops for the driver. */
#include "problem/write.h"

#include "problem/metric.h"

#include <math.h>
#include <string.h>

/* One route as it is driven: from the depot (or the first node) through all stops and back. */
typedef struct drive {
    const invit_instance *p;
    const int32_t *node;
    int32_t count; /* nodes of the route                                     */
    bool depot;    /* CVRP: node 0 stands at both ends                        */
} drive;

static int32_t stops(const drive *d)
{
    return d->count + (d->depot ? 2 : 1);
}

static int32_t stop(const drive *d, int32_t i)
{
    if (d->depot) return i == 0 || i == d->count + 1 ? 0 : d->node[i - 1];
    return d->node[i % d->count];
}

static double leg(const drive *d, int32_t i)
{
    return i == 0 ? 0 : inv_edge(d->p, stop(d, i - 1), stop(d, i));
}

/* Metres on the globe are told to a tenth: nobody drives by more. */
static double told(const drive *d, double length)
{
    return d->p->metric == INVIT_HAVERSINE ? round(10 * length) / 10 : length;
}

/* ---- GeoJSON ------------------------------------------------------------------------------------------- */

static void put_quoted(inv_outfile *f, const char *text)
{
    inv_outfile_puts(f, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            inv_outfile_printf(f, "\\%c", *c);
        else if (*c < 32)
            inv_outfile_printf(f, "\\u%04x", *c);
        else
            inv_outfile_write(f, c, 1);
    }
    inv_outfile_puts(f, "\"");
}

/* TSPLIB writes degrees and minutes as DDD.MM. */
static double decimal_degrees(double x)
{
    return round((trunc(x) + 5.0 / 3.0 * (x - trunc(x))) * 1e9) / 1e9;
}

static double map_x(const invit_instance *p, int32_t node)
{
    double x = p->xy[2 * (size_t)node];
    if (p->metric == INVIT_GEO) return decimal_degrees(p->xy[2 * (size_t)node + 1]);
    return p->metric == INVIT_HAVERSINE ? inv_wrap_longitude(x) : x;
}

static double map_y(const invit_instance *p, int32_t node)
{
    const double *xy = p->xy + 2 * (size_t)node;
    return p->metric == INVIT_GEO ? decimal_degrees(xy[0]) : xy[1];
}

static void put_position(inv_outfile *f, double x, double y)
{
    inv_outfile_puts(f, "[");
    inv_put_number(f, x, ',');
    inv_put_number(f, y, ']');
}

static void put_point(inv_outfile *f, const invit_instance *p, int32_t node, int32_t route, int32_t order)
{
    inv_outfile_puts(f, "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":");
    put_position(f, map_x(p, node), map_y(p, node));
    inv_outfile_printf(f, "},\"properties\":{\"node\":%d", node);
    if (invit_instance_label(p, node)) {
        inv_outfile_puts(f, ",\"id\":");
        put_quoted(f, invit_instance_label(p, node));
    }
    if (route > 0) inv_outfile_printf(f, ",\"route\":%d,\"order\":%d", route, order);
    if (p->demand)
        inv_outfile_printf(f, ",\"demand\":%d,\"depot\":%s", p->demand[node], node == 0 ? "true" : "false");
    inv_outfile_puts(f, "}}");
}

/* A line across the date line is cut there, as the standard asks. */
static void put_line(inv_outfile *f, const drive *d)
{
    bool globe = d->p->metric == INVIT_HAVERSINE;
    inv_outfile_puts(f,
                     "{\"type\":\"Feature\",\"geometry\":{\"type\":\"MultiLineString\",\"coordinates\":[[");
    for (int32_t i = 0; i < stops(d); i++) {
        double x = map_x(d->p, stop(d, i)), y = map_y(d->p, stop(d, i));
        if (i > 0) {
            double x0 = map_x(d->p, stop(d, i - 1)), y0 = map_y(d->p, stop(d, i - 1));
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

static void put_route(inv_outfile *f, const drive *d, int32_t route)
{
    double length = 0;
    int64_t load = 0;
    put_line(f, d);
    inv_outfile_printf(f, "\"route\":%d,\"stops\":%d,\"legs\":[", route, d->count);
    for (int32_t i = 1; i < stops(d); i++) {
        length += leg(d, i);
        inv_put_number(f, told(d, leg(d, i)), i + 1 < stops(d) ? ',' : ']');
    }
    for (int32_t i = 0; d->p->demand && i < d->count; i++) load += d->p->demand[d->node[i]];
    inv_outfile_puts(f, ",\"length\":");
    inv_put_number(f, told(d, length), 0);
    if (d->p->demand) inv_outfile_printf(f, ",\"load\":%lld", (long long)load);
    inv_outfile_puts(f, "}}");
}

void inv_write_geojson(inv_outfile *f, const invit_instance *p, const invit_solution *s)
{
    bool depot = p->problem == INVIT_CVRP;
    int32_t number = 0;
    inv_outfile_puts(f, "{\"type\":\"FeatureCollection\",\"features\":[\n");
    if (depot) put_point(f, p, 0, 0, 0);
    for (int32_t r = 0; r < s->routes; r++) {
        drive d = {p, s->nodes + s->start[r], s->start[r + 1] - s->start[r], depot};
        if (d.count == 0) continue;
        number++;
        for (int32_t i = 0; i < d.count; i++) {
            if (depot || number > 1 || i > 0) inv_outfile_puts(f, ",\n");
            put_point(f, p, d.node[i], number, i + 1);
        }
        inv_outfile_puts(f, ",\n");
        put_route(f, &d, number);
    }
    inv_outfile_puts(f, "\n]}\n");
}

/* ---- the table of stops -------------------------------------------------------------------------------- */

static void put_cell(inv_outfile *f, const char *text)
{
    if (!strpbrk(text, ",;\"\r\n\t")) {
        inv_outfile_puts(f, text);
        return;
    }
    inv_outfile_puts(f, "\"");
    for (; *text; text++) inv_outfile_write(f, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    inv_outfile_puts(f, "\"");
}

void inv_write_stops(inv_outfile *f, const invit_instance *p, const invit_solution *s)
{
    bool depot = p->problem == INVIT_CVRP, globe = p->metric == INVIT_HAVERSINE || p->metric == INVIT_GEO;
    int32_t number = 0;
    inv_outfile_printf(f, "route,stop,node,id,%s%s,leg,distance\n", globe ? "lat,lon" : "x,y",
                       depot ? ",demand,load" : "");
    for (int32_t r = 0; r < s->routes; r++) {
        drive d = {p, s->nodes + s->start[r], s->start[r + 1] - s->start[r], depot};
        double distance = 0;
        int64_t load = 0;
        if (d.count == 0) continue;
        number++;
        for (int32_t i = 0; i < stops(&d); i++) {
            int32_t node = stop(&d, i);
            const char *label = invit_instance_label(p, node);
            double x = map_x(p, node), y = map_y(p, node);
            inv_put_int(f, number, ',');
            inv_put_int(f, i, ',');
            inv_put_int(f, node, ',');
            put_cell(f, label ? label : "");
            inv_outfile_puts(f, ",");
            inv_put_number(f, globe ? y : x, ',');
            inv_put_number(f, globe ? x : y, ',');
            if (depot) {
                load += p->demand[node];
                inv_put_int(f, p->demand[node], ',');
                inv_put_int(f, load, ',');
            }
            distance += leg(&d, i);
            inv_put_number(f, told(&d, leg(&d, i)), ',');
            inv_put_number(f, told(&d, distance), '\n');
        }
    }
}
