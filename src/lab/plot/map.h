/* An instance on the page: where each node lies, how thick things are at this density, and the drawing of
 * nodes, routes and depot. */
#ifndef INVIT_LAB_PLOT_MAP_H
#define INVIT_LAB_PLOT_MAP_H

#include "problem/problem.h"
#include "lab/plot/canvas.h"

typedef struct inv_map {
    const invit_instance *instance;
    double x0, y0, scale_x, scale_y; /* page = x0 + scale_x * east, y0 - scale_y * north                  */
    bool swapped;                    /* TSPLIB's GEO gives latitude first                                  */
    double left, top, width, height; /* the rectangle                                                      */
    double line, dot;                /* line width and radius of a node that stay legible at this density  */
} inv_map;

/* Height of the drawing for a given width, from the shape of the instance. */
double inv_map_height(const invit_instance *p, double width);
/* Fits the instance into the rectangle, keeping its proportions. */
void inv_map_init(inv_map *m, const invit_instance *p, double left, double top, double width, double height);
void inv_map_point(const inv_map *m, int32_t node, double *x, double *y);

void inv_map_draw_nodes(const inv_map *m, cairo_t *cr, bool with_routes);
void inv_map_draw_depot(const inv_map *m, cairo_t *cr);
void inv_map_draw_routes(const inv_map *m, cairo_t *cr, const invit_solution *s);

#endif
