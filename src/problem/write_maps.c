/* Routes for satellite navigation (GPX 1.1) and for Google Earth and its kind (KML 2.2). */
#include "problem/write.h"

#include "problem/drive.h"

#include <stdio.h>

/* Where the text of an element is shown as HTML, as KML's descriptions are, it is escaped once more. */
static void put_text(inv_outfile *f, const char *text, bool html)
{
    char piece[2] = "";
    for (; *text; text++) {
        piece[0] = *text;
        if (html && *text == '<')
            inv_outfile_puts(f, "&amp;lt;");
        else if (html && *text == '>')
            inv_outfile_puts(f, "&amp;gt;");
        else if (html && *text == '&')
            inv_outfile_puts(f, "&amp;amp;");
        else
            inv_put_xml(f, piece);
    }
}

/* "arrive 09:43, leave 09:58, demand 2; Phone: 089 123": what a driver wants to know of a stop. GPX has no times of day
 * without a date, so times are part of the text. */
static void put_about_stop(inv_outfile *f, const inv_drive *d, const invit_stop *at, bool html)
{
    const invit_instance *p = d->p;
    const inv_stop_table *t = p->table;
    char text[INV_TIME_TEXT];
    const char *between = "";
    if (d->timed) {
        inv_outfile_printf(f, "arrive %s", inv_told_time(p, at->arrival, text));
        if (at->waiting > 0) inv_outfile_printf(f, ", wait %s", inv_told_time(p, at->waiting, text));
        inv_outfile_printf(f, ", leave %s", inv_told_time(p, at->departure, text));
        between = ", ";
    }
    if (d->loaded && at->node != 0) {
        inv_outfile_printf(f, "%sdemand ", between);
        inv_put_number(f, inv_demand_of(p, at->node), 0);
        between = ", ";
    }
    if (between[0]) between = "; ";
    const char *cell = t && t->columns > 0 ? inv_stop_table_row(t, at->node) : NULL;
    for (int k = 0; cell && k < t->columns; k++, cell = inv_stop_table_next(cell)) {
        if (t->use[k] != INV_FOR_PEOPLE || !cell[0]) continue;
        inv_outfile_puts(f, between);
        put_text(f, t->name[k], html);
        if (t->name[k][0]) inv_outfile_puts(f, ": ");
        put_text(f, cell, html);
        between = "; ";
    }
}

static void put_about_route(inv_outfile *f, const inv_drive *d)
{
    const invit_instance *p = d->p;
    char length[INV_LENGTH_TEXT], text[INV_TIME_TEXT];
    inv_drive_sum sum = inv_drive_total(d);
    inv_outfile_printf(f, "%d %s, %s", d->visited, d->visited == 1 ? "stop" : "stops",
                       inv_length_text(p, sum.length, length));
    if (d->loaded) {
        inv_outfile_puts(f, ", load ");
        inv_put_number(f, sum.load, 0);
        inv_outfile_puts(f, " of ");
        inv_put_number(f, (double)p->capacity / p->scale, 0);
    }
    if (!d->timed) return;
    inv_outfile_printf(f, ", leaves %s", inv_told_time(p, sum.departure, text));
    inv_outfile_printf(f, ", %s %s", p->rules->open ? "ends" : "back", inv_told_time(p, sum.arrival, text));
}

/* "3 Meier"; the depot and the first node once more at the end have no number. */
static void put_name(inv_outfile *f, const inv_drive *d, int32_t i)
{
    char text[INV_NODE_TEXT];
    int32_t number = i + 1 - d->depot;
    if (number >= 1 && number <= d->visited) inv_outfile_printf(f, "%d ", number);
    inv_put_xml(f, inv_stop_name(d->p, d->stop[i].node, text));
}

/* ---- GPX ----------------------------------------------------------------------------------------------- */

invit_status inv_write_gpx(inv_outfile *f, const invit_instance *p, const invit_solution *s, invit_error *err)
{
    inv_drive d;
    INV_CHECK(inv_needs_globe(p, "GPX", err));
    INV_CHECK(inv_drive_begin(&d, p, s, err));
    inv_outfile_puts(f,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<gpx version=\"1.1\" creator=\"invit\" xmlns=\"http://www.topografix.com/GPX/1/1\">\n"
                     "<metadata><name>");
    inv_put_xml(f, p->name);
    inv_outfile_puts(f, "</name></metadata>\n");
    while (inv_drive_next(&d)) {
        inv_outfile_printf(f, "<rte><name>Route %d</name><desc>", d.number);
        put_about_route(f, &d);
        inv_outfile_printf(f, "</desc><number>%d</number>\n", d.number);
        for (int32_t i = 0; i < d.count; i++) {
            inv_outfile_puts(f, "<rtept lat=\"");
            inv_put_number(f, inv_map_y(p, d.stop[i].node), 0);
            inv_outfile_puts(f, "\" lon=\"");
            inv_put_number(f, inv_map_x(p, d.stop[i].node), 0);
            inv_outfile_puts(f, "\"><name>");
            put_name(f, &d, i);
            inv_outfile_puts(f, "</name><desc>");
            put_about_stop(f, &d, &d.stop[i], false);
            inv_outfile_puts(f, "</desc></rtept>\n");
        }
        inv_outfile_puts(f, "</rte>\n");
    }
    inv_outfile_puts(f, "</gpx>\n");
    inv_drive_end(&d);
    return INVIT_OK;
}

/* ---- KML ----------------------------------------------------------------------------------------------- */

static void put_coordinates(inv_outfile *f, const invit_instance *p, int32_t node)
{
    inv_put_number(f, inv_map_x(p, node), ',');
    inv_put_number(f, inv_map_y(p, node), 0);
}

static void put_place(inv_outfile *f, const inv_drive *d, int32_t i)
{
    inv_outfile_puts(f, "<Placemark><name>");
    put_name(f, d, i);
    inv_outfile_puts(f, "</name><description>");
    put_about_stop(f, d, &d->stop[i], true);
    inv_outfile_printf(f, "</description><styleUrl>#c%d</styleUrl><Point><coordinates>",
                       (d->number - 1) % INV_ROUTE_COLOURS);
    put_coordinates(f, d->p, d->stop[i].node);
    inv_outfile_puts(f, "</coordinates></Point></Placemark>\n");
}

static void put_line(inv_outfile *f, const inv_drive *d)
{
    inv_outfile_printf(f, "<Placemark><name>Route %d</name><description>", d->number);
    put_about_route(f, d);
    inv_outfile_printf(
        f, "</description><styleUrl>#c%d</styleUrl><LineString><tessellate>1</tessellate><coordinates>\n",
        (d->number - 1) % INV_ROUTE_COLOURS);
    for (int32_t i = 0; i < d->count; i++) {
        put_coordinates(f, d->p, d->stop[i].node);
        inv_outfile_puts(f, "\n");
    }
    inv_outfile_puts(f, "</coordinates></LineString></Placemark>\n");
}

/* KML writes colours as alpha, blue, green, red. */
static void put_styles(inv_outfile *f)
{
    for (int i = 0; i < INV_ROUTE_COLOURS; i++) {
        unsigned c = inv_route_colour(i), kml = (c & 255) << 16 | (c & 0xff00) | c >> 16;
        inv_outfile_printf(f,
                           "<Style id=\"c%d\"><IconStyle><color>ff%06x</color></IconStyle>"
                           "<LineStyle><color>ff%06x</color><width>4</width></LineStyle></Style>\n",
                           i, kml, kml);
    }
}

invit_status inv_write_kml(inv_outfile *f, const invit_instance *p, const invit_solution *s, invit_error *err)
{
    inv_drive d;
    char text[INV_NODE_TEXT];
    INV_CHECK(inv_needs_globe(p, "KML", err));
    INV_CHECK(inv_drive_begin(&d, p, s, err));
    inv_outfile_puts(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<kml xmlns=\"http://www.opengis.net/kml/2.2\"><Document><name>");
    inv_put_xml(f, p->name);
    inv_outfile_puts(f, "</name>\n");
    put_styles(f);
    if (d.depot) {
        inv_outfile_puts(f, "<Placemark><name>");
        inv_put_xml(f, inv_stop_name(p, 0, text));
        inv_outfile_puts(f, "</name><Point><coordinates>");
        put_coordinates(f, p, 0);
        inv_outfile_puts(f, "</coordinates></Point></Placemark>\n");
    }
    while (inv_drive_next(&d)) {
        inv_outfile_printf(f, "<Folder><name>Route %d</name>\n", d.number);
        put_line(f, &d);
        for (int32_t i = 0; i < d.visited; i++) put_place(f, &d, i + d.depot);
        inv_outfile_puts(f, "</Folder>\n");
    }
    inv_outfile_puts(f, "</Document></kml>\n");
    inv_drive_end(&d);
    return INVIT_OK;
}
