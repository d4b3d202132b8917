/* Solutions as others want them: GeoJSON for maps (RFC 7946), and a table of stops for the driver. */
#include "problem/write.h"

#include "base/number.h"
#include "problem/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One route as it is driven: from the depot (or the first node) through all stops and back. */
typedef struct drive {
    const invit_instance *p;
    invit_stop *stop; /* [count] */
    int32_t count;
    int32_t visited; /* nodes of the route, without depot and way back */
    bool depot;      /* CVRP: node 0 stands at the beginning           */
    bool timed, loaded;
} drive;

/* Room for the longest route; stop is NULL when there is no memory. */
static drive drive_through(const invit_instance *p, const invit_solution *s)
{
    int32_t longest = 0;
    for (int32_t r = 0; r < s->routes; r++)
        if (s->start[r + 1] - s->start[r] > longest) longest = s->start[r + 1] - s->start[r];
    return (drive){.p = p,
                   .stop = malloc(((size_t)longest + 2) * sizeof(invit_stop)),
                   .depot = p->problem == INVIT_CVRP,
                   .timed = inv_is_timed(p),
                   .loaded = p->problem == INVIT_CVRP && (inv_is_plain(p) || inv_has_demands(p))};
}

static void take_route(drive *d, const invit_solution *s, int32_t r)
{
    d->visited = s->start[r + 1] - s->start[r];
    d->count = invit_schedule(d->p, s, r, d->stop);
}

static int32_t stop(const drive *d, int32_t i)
{
    return d->stop[i].node;
}

/* Metres on the globe are told to a tenth: nobody drives by more. */
static double told(const drive *d, double length)
{
    return d->p->metric == INVIT_HAVERSINE ? round(10 * length) / 10 : length;
}

static double demand_of(const invit_instance *p, int32_t node)
{
    return (double)p->demand[node] / p->scale;
}

/* hh:mm where times were given so, in quotes if wanted. */
static void put_time(inv_outfile *f, const invit_instance *p, double time, bool quoted, char after)
{
    char text[INV_TIME_TEXT], end[2] = {after, 0};
    if (!p->rules || !p->rules->clock) {
        inv_put_number(f, round(1e6 * time) / 1e6, after);
        return;
    }
    if (quoted) inv_outfile_puts(f, "\"");
    inv_outfile_puts(f, inv_time_text(p, time, text));
    if (quoted) inv_outfile_puts(f, "\"");
    inv_outfile_puts(f, end);
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

/* `at` is NULL for the depot, which belongs to no route. */
static void put_point(inv_outfile *f, const drive *d, int32_t node, const invit_stop *at, int32_t route,
                      int32_t order)
{
    const invit_instance *p = d->p;
    inv_outfile_puts(f, "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":");
    put_position(f, map_x(p, node), map_y(p, node));
    inv_outfile_printf(f, "},\"properties\":{\"node\":%d", node);
    if (invit_instance_label(p, node)) {
        inv_outfile_puts(f, ",\"id\":");
        put_quoted(f, invit_instance_label(p, node));
    }
    if (at) inv_outfile_printf(f, ",\"route\":%d,\"order\":%d", route, order);
    if (p->demand) {
        inv_outfile_puts(f, ",\"demand\":");
        inv_put_number(f, demand_of(p, node), ',');
        inv_outfile_printf(f, "\"depot\":%s", node == 0 ? "true" : "false");
    }
    if (at && d->timed) {
        inv_outfile_puts(f, ",\"arrival\":");
        put_time(f, p, at->arrival, true, ',');
        inv_outfile_puts(f, "\"waiting\":");
        put_time(f, p, at->waiting, true, ',');
        inv_outfile_puts(f, "\"departure\":");
        put_time(f, p, at->departure, true, 0);
    }
    inv_outfile_puts(f, "}}");
}

/* A line across the date line is cut there, as the standard asks. */
static void put_line(inv_outfile *f, const drive *d)
{
    bool globe = d->p->metric == INVIT_HAVERSINE;
    inv_outfile_puts(f,
                     "{\"type\":\"Feature\",\"geometry\":{\"type\":\"MultiLineString\",\"coordinates\":[[");
    for (int32_t i = 0; i < d->count; i++) {
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
    const invit_stop *first = &d->stop[0], *last = &d->stop[d->count - 1];
    put_line(f, d);
    inv_outfile_printf(f, "\"route\":%d,\"stops\":%d,\"legs\":[", route, d->visited);
    for (int32_t i = 1; i < d->count; i++)
        inv_put_number(f, told(d, d->stop[i].leg), i + 1 < d->count ? ',' : 0);
    inv_outfile_puts(f, "],\"length\":");
    inv_put_number(f, told(d, last->distance), 0);
    if (d->p->demand) {
        inv_outfile_puts(f, ",\"load\":");
        inv_put_number(f, last->load, 0);
    }
    if (d->timed) {
        inv_outfile_puts(f, ",\"departure\":");
        put_time(f, d->p, first->departure, true, ',');
        inv_outfile_puts(f, "\"arrival\":");
        put_time(f, d->p, last->arrival, true, ',');
        inv_outfile_puts(f, "\"duration\":");
        put_time(f, d->p, last->departure - first->departure, true, 0);
    }
    inv_outfile_puts(f, "}}");
}

invit_status inv_write_geojson(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                               invit_error *err)
{
    int32_t number = 0;
    if (p->rules && !p->rules->has_xy)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: a map needs coordinates, and there are distances only",
                        p->name);
    drive d = drive_through(p, s);
    if (!d.stop) return inv_no_memory(err, (size_t)p->n * sizeof *d.stop);
    inv_outfile_puts(f, "{\"type\":\"FeatureCollection\",\"features\":[\n");
    if (d.depot) put_point(f, &d, 0, NULL, 0, 0);
    for (int32_t r = 0; r < s->routes; r++) {
        take_route(&d, s, r);
        if (d.visited == 0) continue;
        number++;
        for (int32_t i = 0; i < d.visited; i++) {
            const invit_stop *at = &d.stop[i + d.depot];
            if (d.depot || number > 1 || i > 0) inv_outfile_puts(f, ",\n");
            put_point(f, &d, at->node, at, number, i + 1);
        }
        inv_outfile_puts(f, ",\n");
        put_route(f, &d, number);
    }
    inv_outfile_puts(f, "\n]}\n");
    free(d.stop);
    return INVIT_OK;
}

/* ---- the table of stops -------------------------------------------------------------------------------- */

/* Spreadsheets take what begins with these for a formula, and would run it; a number is none. */
static bool is_formula(const char *text)
{
    double number;
    const char *after;
    if (!*text || !strchr("=+-@", *text)) return false;
    after = inv_parse_double(text, &number);
    return !after || *after;
}

static void put_cell(inv_outfile *f, const char *text)
{
    bool quoted = strpbrk(text, ",;\"\r\n\t");
    if (quoted) inv_outfile_puts(f, "\"");
    if (is_formula(text)) inv_outfile_puts(f, "'");
    for (; *text; text++) {
        if (*text == '"') inv_outfile_puts(f, "\"");
        inv_outfile_write(f, text, 1);
    }
    if (quoted) inv_outfile_puts(f, "\"");
}

static void put_stop(inv_outfile *f, const drive *d, int32_t i, bool globe, bool places)
{
    const invit_instance *p = d->p;
    const invit_stop *at = &d->stop[i];
    const char *label = invit_instance_label(p, at->node);
    double x = map_x(p, at->node), y = map_y(p, at->node);
    inv_put_int(f, i, ',');
    inv_put_int(f, at->node, ',');
    put_cell(f, label ? label : "");
    inv_outfile_puts(f, ",");
    if (places) {
        inv_put_number(f, globe ? y : x, ',');
        inv_put_number(f, globe ? x : y, ',');
    }
    if (d->loaded) {
        inv_put_number(f, demand_of(p, at->node), ',');
        inv_put_number(f, at->load, ',');
    }
    if (d->timed) {
        put_time(f, p, at->arrival, false, ',');
        put_time(f, p, at->waiting, false, ',');
        put_time(f, p, at->departure, false, ',');
    }
    inv_put_number(f, told(d, at->leg), ',');
    inv_put_number(f, told(d, at->distance), '\n');
}

invit_status inv_write_stops(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                             invit_error *err)
{
    bool globe = p->metric == INVIT_HAVERSINE || p->metric == INVIT_GEO,
         places = !p->rules || p->rules->has_xy;
    int32_t number = 0;
    drive d = drive_through(p, s);
    if (!d.stop) return inv_no_memory(err, (size_t)p->n * sizeof *d.stop);
    inv_outfile_printf(f, "route,stop,node,id,%s%s%sleg,distance\n",
                       !places ? ""
                       : globe ? "lat,lon,"
                               : "x,y,",
                       d.loaded ? "demand,load," : "", d.timed ? "arrival,waiting,departure," : "");
    for (int32_t r = 0; r < s->routes; r++) {
        take_route(&d, s, r);
        if (d.visited == 0) continue;
        number++;
        for (int32_t i = 0; i < d.count; i++) {
            inv_put_int(f, number, ',');
            put_stop(f, &d, i, globe, places);
        }
    }
    free(d.stop);
    return INVIT_OK;
}
