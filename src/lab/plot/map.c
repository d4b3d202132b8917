#include "lab/plot/map.h"

#include <math.h>
#include <stdlib.h>

/* Above this many nodes dots on top of a route's line would only blur it. */
enum { DOTS_WITH_ROUTES = 5000, TOUR_SHADES = 128 };

typedef struct box {
    double low[2], high[2];
} box;

/* East and north of a node. */
static void ground(const invit_instance *p, int32_t node, double *east, double *north)
{
    const double *c = p->xy + 2 * (size_t)node;
    bool swapped = p->metric == INVIT_GEO;
    *east = c[swapped];
    *north = c[!swapped];
}

static box bounds(const invit_instance *p)
{
    box b = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (int32_t i = 0; i < p->n; i++) {
        double v[2];
        ground(p, i, &v[0], &v[1]);
        for (int k = 0; k < 2; k++) {
            b.low[k] = fmin(b.low[k], v[k]);
            b.high[k] = fmax(b.high[k], v[k]);
        }
    }
    return b;
}

/* A degree of longitude is shorter than one of latitude. */
static double east_stretch(const invit_instance *p)
{
    double scale[2];
    inv_plane_scale(p, scale);
    return scale[0] * scale[1]; /* one of them is 1 */
}

double inv_map_height(const invit_instance *p, double width)
{
    box b = bounds(p);
    double east = (b.high[0] - b.low[0]) * east_stretch(p), north = b.high[1] - b.low[1];
    double ratio = east > 0 ? north / east : 1;
    return width * fmin(fmax(ratio, 0.4), 1.3);
}

void inv_map_init(inv_map *m, const invit_instance *p, double left, double top, double width, double height)
{
    box b = bounds(p);
    double stretch = east_stretch(p);
    double east = (b.high[0] - b.low[0]) * stretch, north = b.high[1] - b.low[1];
    double margin = 8;
    double scale = fmin(east > 0 ? (width - 2 * margin) / east : INFINITY,
                        north > 0 ? (height - 2 * margin) / north : INFINITY);
    if (!isfinite(scale)) scale = 1; /* all nodes in one place */
    *m = (inv_map){.instance = p, .left = left, .top = top, .width = width, .height = height};
    m->scale_x = scale * stretch;
    m->scale_y = scale;
    m->x0 = left + (width - scale * east) / 2 - m->scale_x * b.low[0];
    m->y0 = top + height - (height - scale * north) / 2 + m->scale_y * b.low[1];
    double spacing = sqrt(width * height / (p->n + 1.0));
    m->line = fmin(fmax(0.055 * spacing, 0.34), 1.5);
    m->dot = fmin(fmax(0.085 * spacing, 0.3), 3.2);
}

void inv_map_point(const inv_map *m, int32_t node, double *x, double *y)
{
    double east, north;
    ground(m->instance, node, &east, &north);
    *x = m->x0 + m->scale_x * east;
    *y = m->y0 - m->scale_y * north;
}

void inv_map_draw_nodes(const inv_map *m, cairo_t *cr, bool with_routes)
{
    const invit_instance *p = m->instance;
    bool cvrp = p->problem == INVIT_CVRP;
    if (with_routes && p->n > DOTS_WITH_ROUTES) return;
    double mean = 0;
    for (int32_t i = 1; cvrp && i < p->n; i++) mean += (double)p->demand[i] / fmax(1, p->n - 1);
    inv_set_color(cr, inv_ink, 1);
    for (int32_t i = cvrp; i < p->n; i++) {
        double x, y, r = m->dot;
        inv_map_point(m, i, &x, &y);
        /* a customer's area grows with its demand, within reason */
        if (cvrp && mean > 0) r *= sqrt(fmin(fmax(p->demand[i] / mean, 0.4), 2.2));
        cairo_new_sub_path(cr);
        cairo_arc(cr, x, y, r, 0, 2 * M_PI);
        if (i % 512 == 511) cairo_fill(cr); /* one path of all nodes would be slow to fill */
    }
    cairo_fill(cr);
}

void inv_map_draw_depot(const inv_map *m, cairo_t *cr)
{
    if (m->instance->problem != INVIT_CVRP) return;
    double x, y, half = fmin(fmax(2.4 * m->dot, 4.5), 6.5);
    inv_map_point(m, 0, &x, &y);
    cairo_rectangle(cr, x - half, y - half, 2 * half, 2 * half);
    inv_set_color(cr, inv_ink, 1);
    cairo_fill_preserve(cr);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_set_line_width(cr, 1.6);
    cairo_stroke(cr);
}

/* One tour, its colour going once around so that the eye can follow it where lines are dense. */
static void draw_tour(const inv_map *m, cairo_t *cr, const int32_t *node, int32_t count)
{
    double x, y;
    int shades = count > 2000 ? TOUR_SHADES : 1;
    for (int k = 0; k < shades; k++) {
        int32_t from = (int32_t)((int64_t)count * k / shades),
                to = (int32_t)((int64_t)count * (k + 1) / shades);
        double around = 1 - fabs(2.0 * k / shades - 1);
        inv_set_color(cr, shades == 1 ? inv_palette[0] : inv_viridis(0.05 + 0.65 * around), 1);
        inv_map_point(m, node[from], &x, &y);
        cairo_move_to(cr, x, y);
        for (int32_t i = from + 1; i <= to; i++) {
            inv_map_point(m, node[i % count], &x, &y);
            cairo_line_to(cr, x, y);
            if (i % 512 == 0) { /* long paths are slow to stroke */
                cairo_stroke(cr);
                cairo_move_to(cr, x, y);
            }
        }
        cairo_stroke(cr);
    }
}

typedef struct spoke {
    double angle;
    int32_t route;
} spoke;

static int by_angle(const void *a, const void *b)
{
    const spoke *p = a, *q = b;
    return (p->angle > q->angle) - (p->angle < q->angle);
}

/* The direction of a route's middle from the depot. */
static double route_angle(const inv_map *m, const int32_t *node, int32_t count)
{
    double x, y, dx, dy, sum_x = 0, sum_y = 0;
    inv_map_point(m, 0, &dx, &dy);
    for (int32_t i = 0; i < count; i++) {
        inv_map_point(m, node[i], &x, &y);
        sum_x += x - dx;
        sum_y += y - dy;
    }
    return atan2(sum_y, sum_x);
}

/* The way out and back is thin and pale, so that what a vehicle does on its route stands out. */
static void draw_route(const inv_map *m, cairo_t *cr, const int32_t *node, int32_t count, inv_color color)
{
    double x, y, dx, dy;
    inv_map_point(m, 0, &dx, &dy);
    inv_set_color(cr, color, 0.35);
    cairo_set_line_width(cr, 0.6 * m->line);
    for (int end = 0; end < 2; end++) {
        inv_map_point(m, node[end ? count - 1 : 0], &x, &y);
        cairo_move_to(cr, dx, dy);
        cairo_line_to(cr, x, y);
        cairo_stroke(cr);
    }
    inv_set_color(cr, color, 1);
    cairo_set_line_width(cr, m->line);
    for (int32_t i = 0; i < count; i++) {
        inv_map_point(m, node[i], &x, &y);
        cairo_line_to(cr, x, y);
    }
    cairo_stroke(cr);
}

void inv_map_draw_routes(const inv_map *m, cairo_t *cr, const invit_solution *s)
{
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_width(cr, m->line);
    if (m->instance->problem == INVIT_TSP) {
        for (int32_t r = 0; r < s->routes; r++)
            if (s->start[r + 1] > s->start[r])
                draw_tour(m, cr, s->nodes + s->start[r], s->start[r + 1] - s->start[r]);
        return;
    }
    /* Neighbouring routes get neighbouring entries of the palette, which differ most. */
    spoke *order = malloc(sizeof *order * (size_t)(s->routes > 0 ? s->routes : 1));
    for (int32_t r = 0; order && r < s->routes; r++)
        order[r] = (spoke){route_angle(m, s->nodes + s->start[r], s->start[r + 1] - s->start[r]), r};
    if (order) qsort(order, (size_t)s->routes, sizeof *order, by_angle);
    int colors = INV_PALETTE - 1;                                /* charcoal is the depot's */
    if (s->routes > colors && s->routes % colors == 1) colors--; /* the last is next to the first */
    for (int32_t k = 0; k < s->routes; k++) {
        int32_t r = order ? order[k].route : k, count = s->start[r + 1] - s->start[r];
        if (count > 0) draw_route(m, cr, s->nodes + s->start[r], count, inv_palette[k % colors]);
    }
    free(order);
}
