#include "problem/drive.h"

#include "base/longitude.h"
#include "base/number.h"
#include "problem/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

invit_status inv_drive_begin(inv_drive *d, const invit_instance *p, const invit_solution *s, invit_error *err)
{
    int32_t longest = 0;
    for (int32_t r = 0; r < s->routes; r++)
        if (s->start[r + 1] - s->start[r] > longest) longest = s->start[r + 1] - s->start[r];
    *d = (inv_drive){.p = p,
                     .s = s,
                     .stop = malloc(((size_t)longest + 2) * sizeof(invit_stop)),
                     .depot = p->problem == INVIT_CVRP,
                     .timed = inv_is_timed(p),
                     .loaded = p->problem == INVIT_CVRP && (inv_is_plain(p) || inv_has_demands(p)),
                     .globe = p->metric == INVIT_HAVERSINE || p->metric == INVIT_GEO,
                     .places = !p->rules || p->rules->has_xy};
    return d->stop ? INVIT_OK : inv_no_memory(err, ((size_t)longest + 2) * sizeof(invit_stop));
}

void inv_drive_end(inv_drive *d)
{
    free(d->stop);
    d->stop = NULL;
}

bool inv_drive_next(inv_drive *d)
{
    while (d->next < d->s->routes && d->s->start[d->next + 1] == d->s->start[d->next]) d->next++;
    if (d->next >= d->s->routes) return false;
    d->visited = d->s->start[d->next + 1] - d->s->start[d->next];
    d->count = invit_schedule(d->p, d->s, d->next, d->stop);
    d->next++;
    d->number++;
    return true;
}

void inv_drive_seek(inv_drive *d, int32_t number)
{
    for (d->next = d->number = 0; d->next < d->s->routes && d->number < number - 1; d->next++)
        d->number += d->s->start[d->next + 1] > d->s->start[d->next];
}

int32_t inv_drive_routes(const inv_drive *d)
{
    int32_t routes = 0;
    for (int32_t r = 0; r < d->s->routes; r++) routes += d->s->start[r + 1] > d->s->start[r];
    return routes;
}

inv_drive_sum inv_drive_total(const inv_drive *d)
{
    const invit_stop *first = &d->stop[0], *last = &d->stop[d->count - 1];
    inv_drive_sum sum = {.length = last->distance,
                         .load = last->load,
                         .departure = first->departure,
                         .arrival = last->arrival,
                         .duration = last->departure - first->departure};
    for (int32_t i = 1; i < d->count; i++) {
        sum.waiting += d->stop[i].waiting;
        sum.service += d->stop[i].departure - d->stop[i].arrival - d->stop[i].waiting;
    }
    return sum;
}

/* TSPLIB writes degrees and minutes as DDD.MM. */
static double decimal_degrees(double x)
{
    return round((trunc(x) + 5.0 / 3.0 * (x - trunc(x))) * 1e9) / 1e9;
}

double inv_map_x(const invit_instance *p, int32_t node)
{
    double x = p->xy[2 * (size_t)node];
    if (p->metric == INVIT_GEO) return decimal_degrees(p->xy[2 * (size_t)node + 1]);
    return p->metric == INVIT_HAVERSINE ? inv_wrap_longitude(x) : x;
}

double inv_map_y(const invit_instance *p, int32_t node)
{
    const double *xy = p->xy + 2 * (size_t)node;
    return p->metric == INVIT_GEO ? decimal_degrees(xy[0]) : xy[1];
}

double inv_told_length(const invit_instance *p, double length)
{
    return p->metric == INVIT_HAVERSINE ? round(10 * length) / 10 : length;
}

double inv_demand_of(const invit_instance *p, int32_t node)
{
    return p->demand ? (double)p->demand[node] / p->scale : 0;
}

bool inv_has_clock(const invit_instance *p)
{
    return p->rules && p->rules->clock;
}

double inv_time_number(double time)
{
    return round(1e6 * time) / 1e6;
}

const char *inv_told_time(const invit_instance *p, double time, char text[INV_TIME_TEXT])
{
    if (inv_has_clock(p)) return inv_time_text(p, time, text);
    text[inv_format_double(text, inv_time_number(time))] = 0;
    return text;
}

const char *inv_stop_name(const invit_instance *p, int32_t node, char text[INV_NODE_TEXT])
{
    const char *label = invit_instance_label(p, node);
    if (label && *label) return label;
    if (p->problem == INVIT_CVRP && node == 0) return "Depot";
    snprintf(text, INV_NODE_TEXT, "Stop %lld",
             (long long)node + (p->problem == INVIT_CVRP ? 0 : p->first_id));
    return text;
}

const char *inv_length_text(const invit_instance *p, double length, char text[INV_LENGTH_TEXT])
{
    bool metres = p->metric == INVIT_HAVERSINE, globe = metres || p->metric == INVIT_GEO;
    if (globe)
        snprintf(text, INV_LENGTH_TEXT, "%.1f km", metres ? length / 1000 : length);
    else
        text[inv_format_double(text, round(1e4 * length) / 1e4)] = 0;
    return text;
}

unsigned inv_route_colour(int route)
{
    static const unsigned colour[INV_ROUTE_COLOURS] = {0x1f5fa8, 0xb8431f, 0x2b7a3e, 0x7b3fa0,
                                                       0x9a6a00, 0x0f7c86, 0xb02a6b, 0x555b66};
    return colour[route % INV_ROUTE_COLOURS];
}

invit_status inv_needs_globe(const invit_instance *p, const char *what, invit_error *err)
{
    bool places = !p->rules || p->rules->has_xy;
    if (places && (p->metric == INVIT_HAVERSINE || p->metric == INVIT_GEO)) return INVIT_OK;
    return inv_fail(
        err, INVIT_ERR_ARGUMENT,
        "%s: %s needs latitudes and longitudes (columns lat,lon, or --metric haversine), and these "
        "are %s",
        p->name, what, places ? "places in a plane" : "distances only");
}

void inv_put_xml(inv_outfile *f, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '<'    ? "&lt;"
                             : *text == '>'  ? "&gt;"
                             : *text == '&'  ? "&amp;"
                             : *text == '"'  ? "&quot;"
                             : *text == '\'' ? "&#39;"
                                             : NULL;
        char c = (unsigned char)*text < 32 ? ' ' : *text;
        if (entity)
            inv_outfile_puts(f, entity);
        else
            inv_outfile_write(f, &c, 1);
    }
}
