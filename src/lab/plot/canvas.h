/* A page to draw on with cairo, which becomes an SVG, PNG or PDF file by the ending of its name. */
#ifndef INVIT_LAB_PLOT_CANVAS_H
#define INVIT_LAB_PLOT_CANVAS_H

#include "base/outfile.h"

#include <cairo.h>

typedef struct inv_canvas {
    cairo_t *cr;
    cairo_surface_t *surface;
    bool vector; /* SVG or PDF */
} inv_canvas;

/* A white page of that many points. It is drawn in a process of its own, by a copy of everything: what `draw` changes is
 * gone when it returns. */
typedef struct inv_page {
    const char *path; /* gives the kind by its ending, and is what messages call it */
    double width, height;
    double scale; /* PNG pixels per point */
    invit_status (*draw)(void *context, inv_canvas *c, invit_error *err);
    void *context;
} inv_page;

/* Draws it and puts the file in place; or to an open file, which is closed or abandoned in any case (NULL: none). */
invit_status inv_page_write(const inv_page *page, inv_outfile *file, invit_error *err);

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
