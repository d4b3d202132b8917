#include "lab/plot/canvas.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const inv_color inv_palette[INV_PALETTE] = {
    {0.000, 0.447, 0.698}, /* blue        */
    {0.835, 0.369, 0.000}, /* vermilion   */
    {0.000, 0.620, 0.451}, /* green       */
    {0.800, 0.475, 0.655}, /* pink        */
    {0.902, 0.624, 0.000}, /* orange      */
    {0.337, 0.706, 0.914}, /* sky         */
    {0.533, 0.133, 0.333}, /* wine        */
    {0.200, 0.133, 0.533}, /* indigo      */
    {0.600, 0.600, 0.200}, /* olive       */
    {0.267, 0.267, 0.267}, /* charcoal    */
};
const inv_color inv_ink = {0.13, 0.15, 0.18}, inv_grey = {0.42, 0.45, 0.49}, inv_light = {0.88, 0.89, 0.91};

void inv_set_color(cairo_t *cr, inv_color color, double alpha)
{
    cairo_set_source_rgba(cr, color.r, color.g, color.b, alpha);
}

inv_color inv_viridis(double position)
{
    static const inv_color stop[] = {{0.267, 0.005, 0.329}, {0.275, 0.194, 0.496}, {0.212, 0.359, 0.551},
                                     {0.153, 0.497, 0.558}, {0.122, 0.633, 0.530}, {0.290, 0.758, 0.428},
                                     {0.622, 0.854, 0.226}, {0.993, 0.906, 0.144}};
    enum { LAST = sizeof stop / sizeof *stop - 1 };
    double at = fmin(fmax(position, 0), 1) * LAST;
    int i = (int)at < LAST ? (int)at : LAST - 1;
    double t = at - i;
    return (inv_color){stop[i].r + t * (stop[i + 1].r - stop[i].r),
                       stop[i].g + t * (stop[i + 1].g - stop[i].g),
                       stop[i].b + t * (stop[i + 1].b - stop[i].b)};
}

static cairo_status_t write_out(void *closure, const unsigned char *data, unsigned int length)
{
    inv_outfile_write(closure, data, length); /* failures are remembered until it is closed */
    return CAIRO_STATUS_SUCCESS;
}

static invit_status cairo_failed(const inv_canvas *c, cairo_status_t status, invit_error *err)
{
    return inv_fail(err, status == CAIRO_STATUS_NO_MEMORY ? INVIT_ERR_MEMORY : INVIT_ERR_INTERNAL,
                    "%s: cannot draw: %s", c->path, cairo_status_to_string(status));
}

static invit_status check_ending(const char *path, invit_error *err)
{
    const char *dot = strrchr(path, '.');
    if (dot && (strcasecmp(dot, ".svg") == 0 || strcasecmp(dot, ".pdf") == 0 || strcasecmp(dot, ".png") == 0))
        return INVIT_OK;
    return inv_fail(err, INVIT_ERR_ARGUMENT, "%s: a picture's name must end in .svg, .png or .pdf", path);
}

invit_status inv_canvas_open(const char *path, double width, double height, double scale, inv_canvas *c,
                             invit_error *err)
{
    inv_outfile *file;
    memset(c, 0, sizeof *c);
    INV_CHECK(check_ending(path, err));
    INV_CHECK(inv_outfile_open(path, &file, err));
    return inv_canvas_begin(path, file, width, height, scale, c, err);
}

invit_status inv_canvas_begin(const char *path, inv_outfile *file, double width, double height, double scale,
                              inv_canvas *c, invit_error *err)
{
    memset(c, 0, sizeof *c);
    const char *dot = strrchr(path, '.');
    bool svg = dot && strcasecmp(dot, ".svg") == 0, pdf = dot && strcasecmp(dot, ".pdf") == 0;
    *c = (inv_canvas){.path = path, .file = file, .vector = svg || pdf, .width = width, .height = height};
    if (svg) {
        c->surface = cairo_svg_surface_create_for_stream(write_out, c->file, width, height);
    } else if (pdf) {
        c->surface = cairo_pdf_surface_create_for_stream(write_out, c->file, width, height);
    } else {
        c->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(width * scale),
                                                (int)ceil(height * scale));
    }
    c->cr = cairo_create(c->surface);
    if (cairo_status(c->cr) != CAIRO_STATUS_SUCCESS) {
        invit_status status = cairo_failed(c, cairo_status(c->cr), err);
        inv_canvas_abandon(c);
        return status;
    }
    if (!c->vector) cairo_scale(c->cr, scale, scale);
    cairo_set_source_rgb(c->cr, 1, 1, 1);
    cairo_paint(c->cr);
    return INVIT_OK;
}

invit_status inv_canvas_close(inv_canvas *c, invit_error *err)
{
    cairo_status_t drawn = cairo_status(c->cr);
    if (drawn == CAIRO_STATUS_SUCCESS && !c->vector)
        drawn = cairo_surface_write_to_png_stream(c->surface, write_out, c->file);
    cairo_surface_finish(c->surface);
    if (drawn == CAIRO_STATUS_SUCCESS) drawn = cairo_surface_status(c->surface);
    invit_status status = INVIT_OK;
    if (drawn != CAIRO_STATUS_SUCCESS) {
        status = cairo_failed(c, drawn, err);
    } else {
        inv_outfile *file = c->file;
        c->file = NULL;
        status = inv_outfile_close(file, err);
    }
    inv_canvas_abandon(c);
    return status;
}

void inv_canvas_abandon(inv_canvas *c)
{
    if (c->cr) cairo_destroy(c->cr);
    if (c->surface) {
        cairo_surface_finish(c->surface); /* while there still is a file for its last bytes to go to */
        cairo_surface_destroy(c->surface);
    }
    inv_outfile_abandon(c->file);
    memset(c, 0, sizeof *c);
}

static void select_font(cairo_t *cr, double size, bool bold)
{
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
}

double inv_drawn_width(cairo_t *cr, double size, bool bold, const char *text)
{
    cairo_text_extents_t extents;
    select_font(cr, size, bold);
    cairo_text_extents(cr, text, &extents);
    return extents.x_advance;
}

double inv_draw_text(cairo_t *cr, double x, double y, double align, double size, bool bold, const char *text)
{
    double width = inv_drawn_width(cr, size, bold, text);
    cairo_move_to(cr, x - align * width, y);
    cairo_show_text(cr, text);
    return width;
}

const char *inv_grouped(int64_t value, char buffer[32])
{
    char plain[32];
    int digits = snprintf(plain, sizeof plain, "%lld", (long long)(value < 0 ? -value : value)), at = 0;
    if (value < 0) buffer[at++] = '-';
    for (int i = 0; i < digits; i++) {
        if (i && (digits - i) % 3 == 0) buffer[at++] = ',';
        buffer[at++] = plain[i];
    }
    buffer[at] = 0;
    return buffer;
}
