/* One decision of the policy as a picture: the partial tour, the nested views as discs around the node last
 * visited, and the candidates' probabilities as colours. Left the whole instance, right what the policy looks
 * at. */
#include "base/names.h"
#include "invit_lab.h"
#include "lab/plot/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_WIDTH = 1040, MARGIN = 24, HEADER = 62, FOOTER = 56, GUTTER = 28, MAX_VIEWS = 9 };

typedef struct scene {
    const invit_instance *p;
    const invit_step *step;
    const unsigned char *visited; /* [n]                                                */
    int views;
    double radius[MAX_VIEWS]; /* on the whole map, of the farthest node in each view */
    int members[MAX_VIEWS];
} scene;

static inv_color probability_color(double probability)
{
    return inv_viridis(0.92 * (1 - sqrt(probability))); /* likely is dark */
}

static void draw_dot(cairo_t *cr, double x, double y, double r)
{
    cairo_new_path(cr);
    cairo_arc(cr, x, y, r, 0, 2 * M_PI);
    cairo_fill(cr);
}

static void draw_ring(cairo_t *cr, double x, double y, double r, double width)
{
    cairo_new_path(cr);
    cairo_arc(cr, x, y, r, 0, 2 * M_PI);
    cairo_set_line_width(cr, width);
    cairo_stroke(cr);
}

/* The way so far, from the start node or the depot. */
static void draw_path(const scene *s, const inv_map *m, cairo_t *cr, double width)
{
    double x, y;
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_width(cr, width);
    inv_set_color(cr, inv_palette[0], 1);
    inv_map_point(m, s->step->first, &x, &y);
    cairo_move_to(cr, x, y);
    for (int32_t i = 0; i < s->step->visited; i++) {
        inv_map_point(m, s->step->order[i], &x, &y);
        cairo_line_to(cr, x, y);
        if (i % 512 == 511) {
            cairo_stroke(cr);
            cairo_move_to(cr, x, y);
        }
    }
    cairo_stroke(cr);
}

static void draw_nodes(const scene *s, const inv_map *m, cairo_t *cr, double radius)
{
    for (int32_t i = s->p->problem == INVIT_CVRP; i < s->p->n; i++) {
        double x, y;
        inv_map_point(m, i, &x, &y);
        if (x < m->left - 9 || x > m->left + m->width + 9 || y < m->top - 9 || y > m->top + m->height + 9)
            continue;
        if (s->visited[i])
            inv_set_color(cr, inv_palette[0], 1);
        else
            inv_set_color(cr, inv_ink, 0.55);
        draw_dot(cr, x, y, s->visited[i] ? 0.8 * radius : radius);
    }
}

static void draw_discs(const scene *s, const inv_map *m, cairo_t *cr, double zoom)
{
    double x, y;
    inv_map_point(m, s->step->last, &x, &y);
    for (int v = s->views - 1; v >= 0; v--) {
        inv_set_color(cr, inv_palette[4], 0.13 + 0.07 * (s->views - 1 - v));
        draw_dot(cr, x, y, s->radius[v] * zoom + 4);
        inv_set_color(cr, inv_palette[1], 0.6);
        draw_ring(cr, x, y, s->radius[v] * zoom + 4, 0.8);
    }
}

static void draw_candidates(const scene *s, const inv_map *m, cairo_t *cr)
{
    const invit_step *t = s->step;
    bool cvrp = s->p->problem == INVIT_CVRP;
    double lx, ly;
    inv_map_point(m, t->last, &lx, &ly);
    /* unlikely first, so that the likely ones lie on top */
    for (int pass = 0; pass < 2; pass++)
        for (int32_t j = 0; j < t->action + cvrp; j++) {
            double x, y, probability = t->probability[j];
            bool likely = probability >= 0.05;
            if (likely != (pass == 1)) continue;
            bool depot = j == t->action;
            if (depot && probability == 0) continue;
            inv_map_point(m, depot ? 0 : t->neighbour[j], &x, &y);
            inv_set_color(cr, probability_color(probability), 1);
            cairo_set_line_width(cr, 0.7 + 4 * probability);
            cairo_move_to(cr, lx, ly);
            cairo_line_to(cr, x, y);
            cairo_stroke(cr);
            if (!depot) draw_dot(cr, x, y, 5);
        }
}

/* What a label covers. */
typedef struct box {
    double left, top, width, height;
} box;

static bool overlaps_any(const box *b, const box *others, int count)
{
    for (int i = 0; i < count; i++)
        if (b->left < others[i].left + others[i].width && others[i].left < b->left + b->width &&
            b->top < others[i].top + others[i].height && others[i].top < b->top + b->height)
            return true;
    return false;
}

/* The likeliest first; where another label is in the way, on the other side of the node or not at all. */
static void draw_labels(const scene *s, const inv_map *m, cairo_t *cr)
{
    enum { MOST = 50, SIZE = 11 };
    const double least = 1.0 / MOST;
    const invit_step *t = s->step;
    box drawn[MOST];
    int count = 0;
    double lx, ly, before = 2; /* above any probability */
    int32_t last = -1, all = t->action + (s->p->problem == INVIT_CVRP);
    inv_map_point(m, t->last, &lx, &ly);
    while (count < MOST) {
        int32_t next = -1; /* the likeliest after the last one */
        for (int32_t j = 0; j < all; j++) {
            double q = t->probability[j];
            bool later = q < before || (q == before && j > last);
            if (q >= least && later && (next < 0 || q > t->probability[next])) next = j;
        }
        if (next < 0) return;
        last = next;
        before = t->probability[next];
        double x, y;
        char text[32];
        inv_map_point(m, next == t->action ? 0 : t->neighbour[next], &x, &y);
        if (x < m->left || x > m->left + m->width || y < m->top || y > m->top + m->height) continue;
        snprintf(text, sizeof text, "%.0f %%", 100 * before);
        double width = inv_drawn_width(cr, SIZE, true, text);
        for (int side = 0; side < 2; side++) {
            bool right = (x >= lx) == (side == 0);
            double at = x + (right ? 9 : -9);
            box b = {at - (right ? 0 : width) - 2, y - 6, width + 4, 13};
            if (overlaps_any(&b, drawn, count)) continue;
            drawn[count++] = b;
            cairo_set_source_rgba(cr, 1, 1, 1, 0.8);
            cairo_rectangle(cr, b.left, b.top, b.width, b.height);
            cairo_fill(cr);
            inv_set_color(cr, inv_ink, 1);
            inv_draw_text(cr, at, y + 4, right ? 0 : 1, SIZE, true, text);
            break;
        }
    }
}

static void draw_ends(const scene *s, const inv_map *m, cairo_t *cr)
{
    double x, y;
    if (s->p->problem == INVIT_TSP) {
        inv_map_point(m, s->step->first, &x, &y);
        inv_set_color(cr, inv_palette[2], 1);
        draw_dot(cr, x, y, 5.5);
        cairo_set_source_rgb(cr, 1, 1, 1);
        draw_ring(cr, x, y, 5.5, 1.4);
    }
    inv_map_draw_depot(m, cr);
    inv_map_point(m, s->step->last, &x, &y);
    inv_set_color(cr, inv_palette[1], 1);
    draw_dot(cr, x, y, 6);
    cairo_set_source_rgb(cr, 1, 1, 1);
    draw_ring(cr, x, y, 6, 1.4);
}

static void draw_frame(const inv_map *m, cairo_t *cr)
{
    cairo_rectangle(cr, m->left, m->top, m->width, m->height);
    inv_set_color(cr, inv_light, 1);
    cairo_set_line_width(cr, 1);
    cairo_stroke(cr);
}

/* The same map, larger and moved so that the largest view fills the rectangle. */
static inv_map zoomed(const scene *s, const inv_map *whole, double left, double *zoom)
{
    double x, y, largest = 1e-9;
    for (int v = 0; v < s->views; v++) largest = fmax(largest, s->radius[v]);
    inv_map m = *whole;
    *zoom = fmax(1, fmin(0.42 * fmin(whole->width, whole->height) / largest, 400));
    inv_map_point(whole, s->step->last, &x, &y);
    m.left = left;
    m.scale_x *= *zoom;
    m.scale_y *= *zoom;
    m.x0 = left + m.width / 2 + (whole->x0 - x) * *zoom;
    m.y0 = m.top + m.height / 2 + (whole->y0 - y) * *zoom;
    return m;
}

static void draw_legend(const scene *s, cairo_t *cr, double y)
{
    double x = MARGIN;
    char text[64];
    static const char *const name[] = {"last node", "start", "visited", "to visit"};
    static const int color[] = {1, 2, 0}; /* of the palette; what is to be visited is in ink */
    for (int k = 0; k < 4; k++) {
        if (k == 1 && s->p->problem == INVIT_CVRP) continue;
        if (k == 3)
            inv_set_color(cr, inv_ink, 0.55);
        else
            inv_set_color(cr, inv_palette[color[k]], 1);
        draw_dot(cr, x + 4, y - 4, k < 2 ? 5 : 3);
        inv_set_color(cr, inv_grey, 1);
        x += 16 + inv_draw_text(cr, x + 14, y, 0, 11, false, name[k]) + 16;
    }
    for (int v = 0; v < s->views; v++) {
        inv_set_color(cr, inv_palette[4], 0.13 + 0.07 * (s->views - 1 - v));
        draw_dot(cr, x + 5, y - 4, 6);
        inv_set_color(cr, inv_palette[1], 0.6);
        draw_ring(cr, x + 5, y - 4, 6, 0.8);
        inv_set_color(cr, inv_grey, 1);
        if (v == 0)
            snprintf(text, sizeof text, "action view, %d", s->members[v]);
        else
            snprintf(text, sizeof text, "state view, %d", s->members[v]);
        x += 18 + inv_draw_text(cr, x + 17, y, 0, 11, false, text) + 16;
    }
    /* the scale of probabilities */
    double bar = 150, right = PAGE_WIDTH - MARGIN - 40;
    inv_draw_text(cr, right - bar - 10, y, 1, 11, false, "probability  0 %");
    for (int i = 0; i < 75; i++) {
        inv_set_color(cr, probability_color(i / 74.0), 1);
        cairo_rectangle(cr, right - bar + i * bar / 75, y - 10, bar / 75 + 0.5, 11);
        cairo_fill(cr);
    }
    inv_set_color(cr, inv_grey, 1);
    inv_draw_text(cr, right + 6, y, 0, 11, false, "100 %");
}

static void draw_header(const scene *s, cairo_t *cr, const char *title)
{
    char text[256], buffer[32];
    bool cvrp = s->p->problem == INVIT_CVRP;
    if (!title) title = s->p->name[0] ? s->p->name : "INViT, one decision";
    inv_set_color(cr, inv_ink, 1);
    inv_draw_text(cr, MARGIN, 28, 0, 17, true, title);
    snprintf(text, sizeof text, "%s · %s %s · decision %lld: from node %d to %s %d",
             inv_problem_title(s->p->problem), inv_grouped(s->p->n - cvrp, buffer),
             cvrp ? "customers" : "nodes", (long long)s->step->step, (int)s->step->last,
             cvrp && s->step->chosen == 0 ? "the depot," : "node", (int)s->step->chosen);
    inv_set_color(cr, inv_grey, 1);
    inv_draw_text(cr, MARGIN, 47, 0, 11.5, false, text);
}

/* The farthest member of each view, on the page. */
static void measure_views(scene *s, const inv_map *m, const int32_t *view, int views)
{
    double lx, ly;
    inv_map_point(m, s->step->last, &lx, &ly);
    s->views = views;
    for (int v = 0; v < views; v++) {
        int32_t count = v == 0 ? s->step->action : s->step->action + s->step->further;
        if (v > 0 && view[v] - view[0] < s->step->further) count = s->step->action + view[v] - view[0];
        s->members[v] = count;
        for (int32_t j = 0; j < count; j++) {
            double x, y;
            inv_map_point(m, s->step->neighbour[j], &x, &y);
            s->radius[v] = fmax(s->radius[v], hypot(x - lx, y - ly));
        }
    }
}

static void draw_panels(scene *s, cairo_t *cr, inv_map *whole, const int32_t *view, int views)
{
    double zoom;
    measure_views(s, whole, view, views);
    inv_map detail = zoomed(s, whole, whole->left + whole->width + GUTTER, &zoom);

    cairo_save(cr);
    cairo_rectangle(cr, whole->left, whole->top, whole->width, whole->height);
    cairo_clip(cr);
    draw_discs(s, whole, cr, 1);
    cairo_restore(cr);
    draw_path(s, whole, cr, fmax(whole->line, 0.5));
    if (s->p->n <= 20000) draw_nodes(s, whole, cr, 0.8 * whole->dot);
    draw_ends(s, whole, cr);
    draw_frame(whole, cr);

    cairo_save(cr);
    cairo_rectangle(cr, detail.left, detail.top, detail.width, detail.height);
    cairo_clip(cr);
    draw_discs(s, &detail, cr, zoom);
    draw_path(s, &detail, cr, 2);
    draw_nodes(s, &detail, cr, 3.2);
    draw_candidates(s, &detail, cr);
    draw_labels(s, &detail, cr);
    draw_ends(s, &detail, cr);
    cairo_restore(cr);
    draw_frame(&detail, cr);
}

static invit_status check_step(const invit_instance *p, const invit_step *step, const int32_t *view,
                               int views, invit_error *err)
{
    if (views < 1 || views > MAX_VIEWS)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "1 to %d views can be drawn, not %d", MAX_VIEWS, views);
    for (int v = 1; v < views; v++)
        if (view[v] < view[v - 1]) return inv_fail(err, INVIT_ERR_ARGUMENT, "the views' sizes must increase");
    for (int32_t i = 0; i < step->visited; i++)
        if (step->order[i] < 0 || step->order[i] >= p->n)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "the step is not of this instance");
    for (int32_t j = 0; j < step->action + step->further; j++)
        if (step->neighbour[j] < 0 || step->neighbour[j] >= p->n)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "the step is not of this instance");
    return INVIT_OK;
}

typedef struct step_page {
    scene *s;
    const char *title;
    const int32_t *view;
    int views;
    double factor, panel;
} step_page;

static invit_status draw_step(void *context, inv_canvas *c, invit_error *err)
{
    const step_page *it = context;
    inv_map whole;
    (void)err;
    cairo_scale(c->cr, it->factor, it->factor);
    inv_map_init(&whole, it->s->p, MARGIN, HEADER, it->panel, it->panel);
    draw_header(it->s, c->cr, it->title);
    draw_panels(it->s, c->cr, &whole, it->view, it->views);
    draw_legend(it->s, c->cr, HEADER + it->panel + 34);
    return INVIT_OK;
}

invit_status invit_plot_step(const invit_instance *p, const invit_step *step, const int32_t *view, int views,
                             const char *path, const invit_plot_options *options, invit_error *err)
{
    invit_plot_options o = options ? *options : invit_plot_defaults();
    INV_CHECK(check_step(p, step, view, views, err));
    unsigned char *visited = calloc((size_t)p->n, 1);
    if (!visited) return inv_no_memory(err, (size_t)p->n);
    for (int32_t i = 0; i < step->visited; i++) visited[step->order[i]] = 1;
    scene s = {.p = p, .step = step, .visited = visited};
    double panel = (PAGE_WIDTH - 2 * MARGIN - GUTTER) / 2.0, factor = o.width / 720,
           height = HEADER + panel + FOOTER;
    invit_status status = INVIT_OK;
    step_page it = {&s, o.title, view, views, factor, panel};
    inv_page page = {path, PAGE_WIDTH * factor, height * factor, o.scale > 0 ? o.scale : 2, draw_step, &it};
    status = inv_page_write(&page, NULL, err);
    free(visited);
    return status;
}
