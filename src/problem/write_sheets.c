/* Sheets to print: an HTML page that needs nothing else, an overview and then one page per driver, each with a small map
 * of the route (SVG), its stops, times and load. */
#include "problem/write.h"

#include "base/longitude.h"
#include "base/number.h"
#include "problem/drive.h"

#include <math.h>
#include <stdio.h>

#define KM_PER_DEGREE 111.195 /* of latitude, on a sphere of the mean radius */

static const char style[] =
    "<style>\n"
    "@page{size:A4;margin:14mm}\n"
    "*{box-sizing:border-box}\n"
    "body{font:10.5pt/1.35 system-ui,-apple-system,'Segoe UI',Roboto,'Liberation "
    "Sans',sans-serif;color:#16191d;"
    "margin:0;background:#e9ebee;-webkit-print-color-adjust:exact;print-color-adjust:exact}\n"
    "section{background:#fff;max-width:190mm;margin:8mm auto;padding:9mm 10mm;border-radius:2mm;"
    "box-shadow:0 1px 4px #0002}\n"
    "header{display:flex;align-items:center;gap:4mm;border-bottom:.7mm solid var(--c);padding-bottom:3mm}\n"
    "header b{background:var(--c);color:#fff;font-size:20pt;line-height:1;min-width:14mm;text-align:center;"
    "padding:2.5mm 2mm;border-radius:1.5mm}\n"
    "h1{font-size:17pt;line-height:1.15;margin:0;flex:1}h1 "
    "small{display:block;font-size:10pt;font-weight:400;"
    "color:#59616b}\n"
    "dl{display:flex;flex-wrap:wrap;gap:2mm 9mm;margin:3.5mm 0}dl "
    "div{min-width:18mm}dt{font-size:8pt;color:#59616b}"
    "dd{margin:0;font-size:13pt;font-weight:600;font-variant-numeric:tabular-nums}\n"
    "svg{display:block;width:100%;height:auto;background:#f6f7f9;border:.2mm solid "
    "#d5d9de;border-radius:1.5mm}\n"
    "table{width:100%;border-collapse:collapse;margin-top:4mm;font-variant-numeric:tabular-nums}\n"
    "th{font-size:8pt;text-align:left;color:#59616b;font-weight:600;padding:1mm 1.5mm;"
    "border-bottom:.4mm solid #16191d}\n"
    "td{padding:1.6mm 1.5mm;border-bottom:.2mm solid #d5d9de;vertical-align:top}\n"
    "tr{break-inside:avoid}thead{display:table-header-group}\n"
    ".n{text-align:right;white-space:nowrap}.t{white-space:nowrap;font-weight:600}.d td{color:#59616b}\n"
    "td small{display:block;color:#59616b;font-size:8.5pt}td small i{font-style:normal;color:#7d858f}td "
    "small span{display:inline-block}\n"
    ".k{width:6mm}.k span{display:block;width:4.5mm;height:4.5mm;border:.3mm solid "
    "#59616b;border-radius:.6mm;"
    "margin-left:auto}\n"
    "footer{margin-top:4mm;font-size:8pt;color:#7d858f}\n"
    "@media "
    "print{body{background:#fff}section{max-width:none;margin:0;padding:0;border-radius:0;box-shadow:none;"
    "break-after:page}section:last-of-type{break-after:auto}}\n"
    "@media (max-width:600px){section{margin:0 0 3mm;padding:4mm}}\n"
    "</style>\n";

/* ---- numbers and times --------------------------------------------------------------------------------- */

static const char *time_of(const invit_instance *p, double time, char text[INV_TIME_TEXT])
{
    return inv_told_time(p, inv_has_clock(p) ? time : round(10 * time) / 10, text);
}

static void put_fact(inv_outfile *f, const char *name, const char *value)
{
    inv_outfile_printf(f, "<div><dt>%s</dt><dd>%s</dd></div>", name, value);
}

static void put_time_fact(inv_outfile *f, const invit_instance *p, const char *name, double time)
{
    char text[INV_TIME_TEXT];
    put_fact(f, name, time_of(p, time, text));
}

static void put_load_fact(inv_outfile *f, const invit_instance *p, double load, double capacity)
{
    inv_outfile_puts(f, "<div><dt>Load</dt><dd>");
    inv_put_number(f, load, 0);
    inv_outfile_puts(f, " of ");
    inv_put_number(f, capacity / p->scale, 0);
    inv_outfile_puts(f, "</dd></div>");
}

/* ---- the map ------------------------------------------------------------------------------------------- */

enum { WIDTH = 720, HEIGHT = 330, EDGE = 26 };

/* From places to the picture; on the globe a degree of longitude is as wide as it is there. */
typedef struct frame {
    double left, top, scale, narrow;
    double margin_x, margin_y;
} frame;

static double place_x(const invit_instance *p, int32_t node)
{
    return p->metric == INVIT_GEO ? inv_map_x(p, node) : p->xy[2 * (size_t)node]; /* laid out in one piece */
}

typedef struct box {
    double west, east, south, north;
} box;
static const box nowhere = {.west = INFINITY, .east = -INFINITY, .south = INFINITY, .north = -INFINITY};

static void widen(box *b, const inv_drive *d)
{
    for (int32_t i = 0; i < d->count; i++) {
        double x = place_x(d->p, d->stop[i].node), y = inv_map_y(d->p, d->stop[i].node);
        *b = (box){fmin(b->west, x), fmax(b->east, x), fmin(b->south, y), fmax(b->north, y)};
    }
}

static frame frame_around(const inv_drive *d, const box *b)
{
    double narrow = d->globe ? inv_longitude_scale(b->south, b->north) : 1;
    double wide = (b->east - b->west) * narrow, high = b->north - b->south;
    double scale = fmin((WIDTH - 2 * EDGE) / wide, (HEIGHT - 2 * EDGE) / high);
    if (!(scale < 1e300)) scale = 1; /* one place only */
    return (frame){.left = b->west,
                   .top = b->north,
                   .scale = scale,
                   .narrow = narrow,
                   .margin_x = (WIDTH - wide * scale) / 2,
                   .margin_y = (HEIGHT - high * scale) / 2};
}

static double at_x(const frame *m, const inv_drive *d, int32_t node)
{
    return m->margin_x + (place_x(d->p, node) - m->left) * m->narrow * m->scale;
}

static double at_y(const frame *m, const inv_drive *d, int32_t node)
{
    return m->margin_y + (m->top - inv_map_y(d->p, node)) * m->scale;
}

static void put_path(inv_outfile *f, const frame *m, const inv_drive *d)
{
    inv_outfile_printf(f, "<path d=\"");
    for (int32_t i = 0; i < d->count; i++)
        inv_outfile_printf(f, "%c%.1f %.1f", i == 0 ? 'M' : 'L', at_x(m, d, d->stop[i].node),
                           at_y(m, d, d->stop[i].node));
    inv_outfile_printf(f,
                       "\" fill=\"none\" stroke=\"#%06x\" stroke-width=\"2.2\" stroke-linejoin=\"round\"/>\n",
                       inv_route_colour(d->number - 1));
}

static void put_depot(inv_outfile *f, const frame *m, const inv_drive *d)
{
    double x = at_x(m, d, d->stop[0].node), y = at_y(m, d, d->stop[0].node);
    inv_outfile_printf(f,
                       "<rect x=\"%.1f\" y=\"%.1f\" width=\"15\" height=\"15\" rx=\"2\" fill=\"#16191d\" "
                       "stroke=\"#fff\" stroke-width=\"2\"/>\n",
                       x - 7.5, y - 7.5);
}

/* A bar of a round number of kilometres. */
static void put_scale_bar(inv_outfile *f, const frame *m, const inv_drive *d)
{
    if (!d->globe) return;
    double per_km = m->scale / KM_PER_DEGREE, km = pow(10, floor(log10(130 / per_km)));
    if (!(per_km > 0 && km > 1e-6 && km < 1e5)) return;
    if (km * 5 * per_km <= 130)
        km *= 5;
    else if (km * 2 * per_km <= 130)
        km *= 2;
    bool metres = km < 1;
    inv_outfile_printf(
        f,
        "<path d=\"M14 %dv5h%.1fv-5\" fill=\"none\" stroke=\"#59616b\"/><text x=\"18\" y=\"%d\" "
        "font-size=\"11\" fill=\"#59616b\">%.10g %s</text>\n",
        HEIGHT - 16, km * per_km, HEIGHT - 16, metres ? 1000 * km : km, metres ? "m" : "km");
}

static void begin_map(inv_outfile *f, const char *what)
{
    inv_outfile_printf(f,
                       "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\" "
                       "font-family=\"system-ui,sans-serif\">\n",
                       WIDTH, HEIGHT, what);
}

static void put_route_map(inv_outfile *f, const inv_drive *d)
{
    enum { NUMBERED = 60 };
    box around = nowhere;
    widen(&around, d);
    frame m = frame_around(d, &around);
    begin_map(f, "Map of the route");
    put_path(f, &m, d);
    if (d->depot) put_depot(f, &m, d);
    for (int32_t i = d->visited - 1; i >= 0; i--) { /* the first ones on top */
        double x = at_x(&m, d, inv_drive_visit(d, i)->node), y = at_y(&m, d, inv_drive_visit(d, i)->node);
        bool numbered = d->visited <= NUMBERED;
        inv_outfile_printf(
            f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"#fff\" stroke=\"#%06x\" stroke-width=\"2\"/>",
            x, y, numbered ? "9.5" : "3", inv_route_colour(d->number - 1));
        if (numbered)
            inv_outfile_printf(f,
                               "<text x=\"%.1f\" y=\"%.1f\" font-size=\"10.5\" font-weight=\"600\" "
                               "text-anchor=\"middle\">%d</text>",
                               x, y + 3.8, i + 1);
        inv_outfile_puts(f, "\n");
    }
    put_scale_bar(f, &m, d);
    inv_outfile_puts(f, "</svg>\n");
}

static void put_overview_map(inv_outfile *f, inv_drive *d)
{
    box around = nowhere;
    inv_drive_seek(d, 1);
    while (inv_drive_next(d)) widen(&around, d);
    frame m = frame_around(d, &around);
    begin_map(f, "Map of all routes");
    inv_drive_seek(d, 1);
    while (inv_drive_next(d)) {
        put_path(f, &m, d);
        for (int32_t i = 0; i < d->visited; i++) {
            int32_t node = inv_drive_visit(d, i)->node;
            inv_outfile_printf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#%06x\"/>",
                               at_x(&m, d, node), at_y(&m, d, node), inv_route_colour(d->number - 1));
        }
        inv_outfile_puts(f, "\n");
    }
    if (d->depot) put_depot(f, &m, d);
    put_scale_bar(f, &m, d);
    inv_outfile_puts(f, "</svg>\n");
}

/* ---- a driver's page ----------------------------------------------------------------------------------- */

static void put_heading(inv_outfile *f, const inv_drive *d, int32_t routes)
{
    const invit_instance *p = d->p;
    char text[INV_LENGTH_TEXT], node[INV_NODE_TEXT];
    inv_drive_sum sum = inv_drive_total(d);
    inv_outfile_printf(f, "<section style=\"--c:#%06x\"><header><b>%d</b><h1>Route %d of %d<small>",
                       inv_route_colour(d->number - 1), d->number, d->number, routes);
    inv_put_xml(f, p->name);
    inv_outfile_puts(f, " &middot; from ");
    inv_put_xml(f, inv_stop_name(p, d->stop[0].node, node));
    inv_outfile_puts(f, "</small></h1></header>\n<dl>");
    if (d->timed) {
        put_time_fact(f, p, "Leave at", sum.departure);
        put_time_fact(f, p, p->rules->open ? "Last stop at" : "Back at", sum.arrival);
        put_time_fact(f, p, "Duration", sum.duration);
    }
    snprintf(text, sizeof text, "%d", d->visited);
    put_fact(f, "Stops", text);
    put_fact(f, "Distance", inv_length_text(p, sum.length, text));
    if (d->loaded) put_load_fact(f, p, sum.load, (double)p->capacity);
    inv_outfile_puts(f, "</dl>\n");
}

/* What the table says of a stop besides, in small print. */
static void put_details(inv_outfile *f, const invit_instance *p, int32_t node)
{
    const inv_stop_table *t = p->table;
    const char *cell = t && t->columns > 0 ? inv_stop_table_row(t, node) : NULL;
    bool some = false;
    for (int k = 0; cell && k < t->columns; k++, cell = inv_stop_table_next(cell)) {
        if (t->use[k] != INV_FOR_PEOPLE || !cell[0]) continue;
        inv_outfile_puts(f, some ? " &middot; <span>" : "<small><span>");
        if (t->name[k][0]) {
            inv_outfile_puts(f, "<i>");
            inv_put_xml(f, t->name[k]);
            inv_outfile_puts(f, "</i> ");
        }
        inv_put_xml(f, cell);
        inv_outfile_puts(f, "</span>");
        some = true;
    }
    if (some) inv_outfile_puts(f, "</small>");
}

/* "08:00 to 10:00", or what there is of it. */
static void put_window(inv_outfile *f, const invit_instance *p, int32_t node)
{
    const inv_rules *r = p->rules;
    char text[INV_TIME_TEXT];
    inv_outfile_puts(f, "<td class=n>");
    bool from = r->earliest && isfinite(r->earliest[node]) && r->earliest[node] > 0,
         to = r->latest && isfinite(r->latest[node]);
    if (from) inv_outfile_puts(f, time_of(p, r->earliest[node], text));
    if (from || to) inv_outfile_puts(f, "&ndash;");
    if (to) inv_outfile_puts(f, time_of(p, r->latest[node], text));
    inv_outfile_puts(f, "</td>");
}

static void put_row(inv_outfile *f, const inv_drive *d, int32_t i)
{
    const invit_instance *p = d->p;
    const invit_stop *at = &d->stop[i];
    int32_t number = i + 1 - d->depot;
    bool visit = number >= 1 && number <= d->visited;
    char text[INV_NODE_TEXT], length[INV_LENGTH_TEXT];
    inv_outfile_puts(f, visit ? "<tr><td class=n>" : "<tr class=d><td>");
    if (visit) inv_outfile_printf(f, "%d", number);
    inv_outfile_puts(f, "</td>");
    if (d->timed) {
        inv_outfile_printf(f, "<td class=t>%s</td>", time_of(p, i > 0 ? at->arrival : at->departure, text));
    }
    inv_outfile_puts(f, "<td>");
    if (visit)
        inv_outfile_puts(f, "<strong>");
    else
        inv_outfile_puts(f, i == 0 ? "Start: " : "Back: ");
    inv_put_xml(f, inv_stop_name(p, at->node, text));
    if (visit) inv_outfile_puts(f, "</strong>");
    if (visit || i == 0) put_details(f, p, at->node);
    inv_outfile_puts(f, "</td>");
    if (d->timed && p->rules->latest) put_window(f, p, at->node);
    if (d->timed) {
        inv_outfile_puts(f, "<td class=n>");
        if (visit) inv_outfile_puts(f, time_of(p, at->departure, text));
        inv_outfile_puts(f, "</td>");
    }
    if (d->loaded) {
        inv_outfile_puts(f, "<td class=n>");
        if (visit) inv_put_number(f, inv_demand_of(p, at->node), 0);
        inv_outfile_puts(f, "</td>");
    }
    inv_outfile_printf(f, "<td class=n>%s</td><td class=k>%s</td></tr>\n",
                       i > 0 ? inv_length_text(p, at->leg, length) : "", visit ? "<span></span>" : "");
}

static void put_sheet(inv_outfile *f, const inv_drive *d, int32_t routes)
{
    put_heading(f, d, routes);
    if (d->places) put_route_map(f, d);
    inv_outfile_printf(f,
                       "<table><thead><tr><th class=n></th>%s<th>Stop</th>%s%s%s<th class=n>Way</th>"
                       "<th class=k></th></tr></thead>\n<tbody>\n",
                       d->timed ? "<th>Arrive</th>" : "",
                       d->timed && d->p->rules->latest ? "<th class=n>Window</th>" : "",
                       d->timed ? "<th class=n>Leave</th>" : "", d->loaded ? "<th class=n>Load</th>" : "");
    for (int32_t i = 0; i < d->count; i++) put_row(f, d, i);
    inv_outfile_puts(f, "</tbody></table></section>\n");
}

/* ---- the planner's page -------------------------------------------------------------------------------- */

static void put_overview_row(inv_outfile *f, const inv_drive *d)
{
    const invit_instance *p = d->p;
    char text[INV_LENGTH_TEXT];
    inv_drive_sum sum = inv_drive_total(d);
    inv_outfile_printf(f, "<tr><td class=t style=\"color:#%06x\">%d</td><td class=n>%d</td>",
                       inv_route_colour(d->number - 1), d->number, d->visited);
    if (d->loaded) {
        inv_outfile_puts(f, "<td class=n>");
        inv_put_number(f, sum.load, 0);
        inv_outfile_printf(f, "</td><td class=n>%.0f %%</td>",
                           100 * sum.load * p->scale / (double)p->capacity);
    }
    if (d->timed) {
        inv_outfile_printf(f, "<td class=n>%s</td>", time_of(p, sum.departure, text));
        inv_outfile_printf(f, "<td class=n>%s</td>", time_of(p, sum.arrival, text));
        inv_outfile_printf(f, "<td class=n>%s</td>", time_of(p, sum.duration, text));
    }
    inv_outfile_printf(f, "<td class=n>%s</td></tr>\n", inv_length_text(p, sum.length, text));
}

static void put_overview(inv_outfile *f, inv_drive *d, int32_t routes)
{
    const invit_instance *p = d->p;
    double length = 0;
    int64_t stops = 0;
    char text[INV_LENGTH_TEXT];
    inv_drive_seek(d, 1);
    while (inv_drive_next(d)) {
        length += inv_drive_total(d).length;
        stops += d->visited;
    }
    inv_outfile_puts(f, "<section style=\"--c:#16191d\"><header><h1>");
    inv_put_xml(f, p->name);
    inv_outfile_puts(f, "<small>All routes</small></h1></header>\n<dl>");
    snprintf(text, sizeof text, "%d", routes);
    put_fact(f, "Routes", text);
    snprintf(text, sizeof text, "%lld", (long long)stops);
    put_fact(f, "Stops", text);
    put_fact(f, "Distance", inv_length_text(p, length, text));
    inv_outfile_puts(f, "</dl>\n");
    if (d->places) put_overview_map(f, d);
    inv_outfile_printf(
        f,
        "<table><thead><tr><th>Route</th><th class=n>Stops</th>%s%s<th class=n>Distance</th></tr>"
        "</thead>\n<tbody>\n",
        d->loaded ? "<th class=n>Load</th><th class=n>Full</th>" : "",
        !d->timed        ? ""
        : p->rules->open ? "<th class=n>Leave</th><th class=n>Last stop</th><th class=n>Duration</th>"
                         : "<th class=n>Leave</th><th class=n>Back</th><th class=n>Duration</th>");
    inv_drive_seek(d, 1);
    while (inv_drive_next(d)) put_overview_row(f, d);
    inv_outfile_puts(f, "</tbody></table></section>\n");
}

invit_status inv_write_sheets(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                              invit_error *err)
{
    inv_drive d;
    INV_CHECK(inv_drive_begin(&d, p, s, err));
    int32_t routes = inv_drive_routes(&d);
    inv_outfile_puts(f, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    inv_put_xml(f, p->name);
    inv_outfile_puts(f, ": driver sheets</title>\n");
    inv_outfile_puts(f, style);
    inv_outfile_puts(f, "</head><body>\n");
    if (routes > 1) put_overview(f, &d, routes);
    inv_drive_seek(&d, 1);
    while (inv_drive_next(&d)) put_sheet(f, &d, routes);
    inv_outfile_puts(f, "</body></html>\n");
    inv_drive_end(&d);
    return INVIT_OK;
}
