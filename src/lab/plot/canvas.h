/* A page to draw on with cairo, which becomes an SVG, PNG or PDF file by the ending of its name. */
#ifndef INVIT_LAB_PLOT_CANVAS_H
#define INVIT_LAB_PLOT_CANVAS_H

#include "base/outfile.h"

#include <cairo.h>

typedef struct inv_canvas {
    cairo_t *cr;
    cairo_surface_t *surface;
    inv_outfile *file;
    const char *path;
    bool vector;          /* SVG or PDF                            */
    double width, height; /* in points, whatever the kind          */
} inv_canvas;

/* A white page of that many points; `scale` is the number of PNG pixels a point. */
invit_status inv_canvas_open(const char *path, double width, double height, double scale, inv_canvas *c,
                             invit_error *err);
/* The same to an open file, which the canvas closes or abandons; `path` gives the kind by its ending and is what messages
 * call it. */
invit_status inv_canvas_begin(const char *path, inv_outfile *file, double width, double height, double scale,
                              inv_canvas *c, invit_error *err);
/* Finishes the drawing and puts the file in place. */
invit_status inv_canvas_close(inv_canvas *c, invit_error *err);
void inv_canvas_abandon(inv_canvas *c);

/* Colours that people with any colour vision can tell apart (after Okabe and Ito, and Tol), darkest ink
 * first. */
typedef struct inv_color {
    double r, g, b;
} inv_color;
enum { INV_PALETTE = 10 };
extern const inv_color inv_palette[INV_PALETTE];
extern const inv_color inv_ink, inv_grey, inv_light;
void inv_set_color(cairo_t *cr, inv_color color, double alpha);
/* Position 0..1 on a perceptually even dark-to-light scale (viridis). */
inv_color inv_viridis(double position);

/* Text with its left (0), middle (0.5) or right (1) at x, its baseline at y. Returns its width. */
double inv_draw_text(cairo_t *cr, double x, double y, double align, double size, bool bold, const char *text);
double inv_drawn_width(cairo_t *cr, double size, bool bold, const char *text);

/* 1234567 -> 1,234,567 */
const char *inv_grouped(int64_t value, char buffer[32]);

#endif
