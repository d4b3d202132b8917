/* Pictures of instances and solutions. */
#include "invit_lab.h"
#include "base/names.h"
#include "lab/plot/map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Above this many nodes an SVG or PDF holds the map as one raster image, or viewers choke on it. */
enum { RASTER_ABOVE = 20000 };
enum { PAGE_WIDTH = 720, MARGIN = 24, HEADER = 58 };

invit_plot_options invit_plot_defaults(void)
{
    return (invit_plot_options){.width = PAGE_WIDTH, .scale = 0, .title = NULL, .best_known = NAN};
}

static void describe_length(double length, char *text, size_t size)
{
    char buffer[32];
    if (length == floor(length) && fabs(length) < 1e15)
        snprintf(text, size, "%s", inv_grouped((int64_t)length, buffer));
    else if (fabs(length) >= 1000)
        snprintf(text, size, "%.1f", length);
    else
        snprintf(text, size, "%.4f", length);
}

static void draw_header(cairo_t *cr, const invit_instance *p, const invit_solution *s,
                        const invit_check_result *checked, const invit_plot_options *o)
{
    char facts[512], buffer[32], capacity[32], length[64];
    bool cvrp = p->problem == INVIT_CVRP;
    const char *title = p->name[0] ? p->name : inv_problem_title(p->problem);
    if (o->title) title = o->title;
    inv_set_color(cr, inv_ink, 1);
    inv_draw_text(cr, MARGIN, 28, 0, 17, true, title);
    int at = snprintf(facts, sizeof facts, "%s · %s %s", inv_problem_title(p->problem),
                      inv_grouped(p->n - cvrp, buffer), cvrp ? "customers" : "nodes");
    if (cvrp)
        at += snprintf(facts + at, sizeof facts - (size_t)at, " · capacity %s",
                       inv_grouped(p->capacity, capacity));
    if (s && cvrp)
        at += snprintf(facts + at, sizeof facts - (size_t)at, " · %s routes", inv_grouped(s->routes, buffer));
    if (s && checked->feasible) {
        describe_length(checked->length, length, sizeof length);
        at += snprintf(facts + at, sizeof facts - (size_t)at, " · length %s", length);
        if (o->best_known > 0)
            snprintf(facts + at, sizeof facts - (size_t)at, " · gap %.2f %%",
                     100 * (checked->length / o->best_known - 1));
    } else if (s) {
        snprintf(facts + at, sizeof facts - (size_t)at, " · NOT FEASIBLE: %.200s", checked->message);
    }
    inv_set_color(cr, inv_grey, 1);
    inv_draw_text(cr, MARGIN, 47, 0, 11.5, false, facts);
}

static void draw_map(const inv_map *m, cairo_t *cr, const invit_solution *s)
{
    if (s) inv_map_draw_routes(m, cr, s);
    inv_map_draw_nodes(m, cr, s != NULL);
    inv_map_draw_depot(m, cr);
}

/* The same drawing as pixels, placed on a vector page. */
static invit_status draw_raster(const inv_map *m, cairo_t *cr, const invit_solution *s, double scale,
                                const char *path, invit_error *err)
{
    int width = (int)ceil(m->width * scale), height = (int)ceil(m->height * scale);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *inner = cairo_create(image);
    invit_status status = INVIT_OK;
    cairo_set_source_rgb(inner, 1, 1, 1);
    cairo_paint(inner);
    cairo_scale(inner, scale, scale);
    cairo_translate(inner, -m->left, -m->top);
    draw_map(m, inner, s);
    if (cairo_status(inner) != CAIRO_STATUS_SUCCESS) {
        status = inv_fail(err, INVIT_ERR_MEMORY, "%s: cannot draw %d x %d pixels: %s", path, width, height,
                          cairo_status_to_string(cairo_status(inner)));
    } else {
        cairo_save(cr);
        cairo_translate(cr, m->left, m->top);
        cairo_scale(cr, 1 / scale, 1 / scale);
        cairo_set_source_surface(cr, image, 0, 0);
        cairo_paint(cr);
        cairo_restore(cr);
    }
    cairo_destroy(inner);
    cairo_surface_destroy(image);
    return status;
}

static invit_status check_request(const invit_instance *p, const invit_solution *s, const char *path,
                                  const invit_plot_options *o, invit_check_result *checked, invit_error *err)
{
    if (!p || !path) return inv_fail(err, INVIT_ERR_ARGUMENT, "an instance and a file name are needed");
    if (p->rules && !p->rules->has_xy)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: a picture needs coordinates, and there are distances only",
                        p->name);
    if (!(o->width >= 100 && o->width <= 10000))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "the width must be 100 to 10000 points, not %g", o->width);
    if (!s) return INVIT_OK;
    INV_CHECK(inv_check_nodes(p, s, err));
    return invit_check(p, s, checked, err);
}

typedef struct picture {
    const invit_instance *p;
    const invit_solution *s;
    const invit_plot_options *o;
    const invit_check_result *checked;
    const char *path;
    double factor, inner, map_height, scale;
} picture;

static invit_status draw_picture(void *context, inv_canvas *c, invit_error *err)
{
    const picture *it = context;
    inv_map m;
    cairo_scale(c->cr, it->factor, it->factor);
    draw_header(c->cr, it->p, it->s, it->checked, it->o);
    inv_map_init(&m, it->p, MARGIN, HEADER, it->inner, it->map_height);
    if (c->vector && it->p->n > RASTER_ABOVE)
        return draw_raster(&m, c->cr, it->s, it->scale * it->factor, it->path, err);
    draw_map(&m, c->cr, it->s);
    return INVIT_OK;
}

/* To the file `path`, or to the one that is already open and then closed or abandoned in every case. */
static invit_status plot(const invit_instance *p, const invit_solution *s, const char *path,
                         inv_outfile *file, const invit_plot_options *options, invit_error *err)
{
    invit_plot_options o = options ? *options : invit_plot_defaults();
    invit_check_result checked = {.feasible = false};
    invit_status status = check_request(p, s, path, &o, &checked, err);
    if (status != INVIT_OK) {
        inv_outfile_abandon(file);
        return status;
    }
    double known;
    if (isnan(o.best_known) && invit_instance_best_known(p, &known)) o.best_known = known;
    double factor = o.width / PAGE_WIDTH, inner = PAGE_WIDTH - 2 * MARGIN;
    double map_height = inv_map_height(p, inner), height = HEADER + map_height + MARGIN;
    double scale = p->n > RASTER_ABOVE ? 4 : 2;
    if (o.scale > 0) scale = o.scale;
    picture it = {p, s, &o, &checked, path, factor, inner, map_height, scale};
    inv_page page = {path, o.width, height * factor, scale, draw_picture, &it};
    return inv_page_write(&page, file, err);
}

invit_status invit_plot(const invit_instance *p, const invit_solution *s, const char *path,
                        const invit_plot_options *options, invit_error *err)
{
    return plot(p, s, path, NULL, options, err);
}

invit_status invit_plot_memory(const invit_instance *p, const invit_solution *s, const char *ending,
                               const invit_plot_options *options, char **picture, size_t *size,
                               invit_error *err)
{
    inv_outfile *file;
    *picture = NULL;
    if (strcmp(ending, ".svg") != 0 && strcmp(ending, ".png") != 0 && strcmp(ending, ".pdf") != 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "a picture is .svg, .png or .pdf, not '%s'", ending);
    INV_CHECK(inv_outfile_open_memory(picture, size, &file, err));
    return plot(p, s, ending, file, options, err);
}
