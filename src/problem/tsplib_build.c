/* From what a TSPLIB file said to an instance. */
#include "problem/tsplib.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static invit_status check_routes_complete(const inv_tsplib *f, invit_error *err)
{
    inv_text *t = f->t;
    if (!f->capacity && f->demands.ids.line)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                             "expected CAPACITY : q for a CVRP, found none");
    if (!f->demands.ids.line && !f->windows.ids.line)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                             "expected a DEMAND_SECTION for a CVRP, found none");
    if (!f->depot_line)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                             "expected a DEPOT_SECTION for a CVRP, found none");
    return INVIT_OK;
}

static invit_status check_complete(inv_tsplib *f, invit_error *err)
{
    inv_text *t = f->t;
    int64_t last = t->line;
    if (f->problem < 0)
        f->problem = f->demands.ids.line || f->capacity || f->windows.ids.line ? INVIT_CVRP : INVIT_TSP;
    if (!f->coord_ids.line && !f->matrix)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err, "expected a NODE_COORD_SECTION, found none");
    if (!f->dimension)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err, "expected DIMENSION : n, found none");
    if (f->coord_ids.line && f->points.n != f->dimension)
        return inv_text_fail(t, f->coord_ids.line, INVIT_ERR_INPUT, err,
                             "expected %lld nodes (DIMENSION), found %lld", (long long)f->dimension,
                             (long long)f->points.n);
    if (f->matrix && !f->weights)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err,
                             "expected an EDGE_WEIGHT_SECTION (EDGE_WEIGHT_TYPE is EXPLICIT), found none");
    if (f->metric < 0 && !f->matrix)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err,
                             "expected EDGE_WEIGHT_TYPE : EUC_2D, CEIL_2D, ATT, GEO or EXPLICIT, found none");
    if (f->problem == INVIT_TSP && (f->windows.ids.line || f->services.ids.line))
        return inv_tsplib_unsupported(
            f, last, err, "windows and service times: expected TYPE : VRPTW or CVRP with a depot");
    return f->problem == INVIT_TSP ? INVIT_OK : check_routes_complete(f, err);
}

/* Where the node with an id goes: in the order of ids, the depot first. */
static int64_t slot_of(int64_t id, int64_t low, int64_t depot)
{
    if (id == depot) return 0;
    return id < depot ? id - low + 1 : id - low;
}

static int64_t line_of(const inv_tsplib_ids *c, int64_t i)
{
    return c->regular ? c->line + 1 + i : c->line;
}

/* Column k of a section in the order of nodes; caller frees. */
static double *placed(const inv_tsplib_section *s, int k, int64_t n, int64_t low, int64_t depot)
{
    double *v = calloc((size_t)n, sizeof *v);
    for (int64_t i = 0; v && i < s->ids.n; i++)
        v[slot_of(inv_tsplib_id(&s->ids, i), low, depot)] = s->value[i * s->width + k];
    return v;
}

static invit_status place_demands(inv_tsplib *f, invit_instance *p, int64_t low, int64_t depot,
                                  invit_error *err)
{
    const inv_tsplib_ids *c = &f->demands.ids;
    bool whole = f->capacity == floor(f->capacity);
    for (int64_t i = 0; i < c->n; i++) {
        int64_t id = inv_tsplib_id(c, i), slot = slot_of(id, low, depot);
        double demand = f->demands.value[i];
        if (slot == 0 && demand != 0)
            return inv_text_fail(f->t, line_of(c, i), INVIT_ERR_INPUT, err,
                                 "demand %.10g of the depot (node %lld): expected 0", demand, (long long)id);
        if (demand > f->capacity)
            return inv_text_fail(f->t, line_of(c, i), INVIT_ERR_INPUT, err,
                                 "demand %.10g of node %lld: expected at most the capacity, %.10g", demand,
                                 (long long)id, f->capacity);
        whole = whole && demand == floor(demand);
        p->demand[slot] = (int32_t)demand;
    }
    p->capacity = f->capacity ? (int64_t)f->capacity : INT32_MAX;
    if (whole || !c->n) return INVIT_OK;
    double *demand = placed(&f->demands, 0, p->n, low, depot);
    if (!demand) return inv_no_memory(err, (size_t)p->n * sizeof *demand);
    invit_status status = inv_set_demands(p, demand, f->capacity, err);
    free(demand);
    return status;
}

static invit_status place_windows(inv_tsplib *f, invit_instance *p, int64_t low, int64_t depot,
                                  invit_error *err)
{
    static const char *const name[] = {"earliest", "latest"};
    for (int k = 0; k < 2; k++) {
        double *v = placed(&f->windows, k, p->n, low, depot);
        if (!v) return inv_no_memory(err, (size_t)p->n * sizeof *v);
        invit_status status = invit_instance_set_array(p, name[k], v, p->n, err);
        free(v);
        INV_CHECK(status);
    }
    for (int64_t i = 0; i < f->windows.ids.n; i++)
        if (f->windows.value[2 * i] > f->windows.value[2 * i + 1])
            return inv_text_fail(f->t, line_of(&f->windows.ids, i), INVIT_ERR_INPUT, err,
                                 "window of node %lld: closes at %.10g, before it opens, at %.10g",
                                 (long long)inv_tsplib_id(&f->windows.ids, i), f->windows.value[2 * i + 1],
                                 f->windows.value[2 * i]);
    if (p->metric == INVIT_EUC_2D && !f->weights) p->metric = INVIT_DIMACS; /* what such files mean by it */
    return INVIT_OK;
}

static invit_status place_services(inv_tsplib *f, invit_instance *p, int64_t low, int64_t depot,
                                   invit_error *err)
{
    double *v = placed(&f->services, 0, p->n, low, depot);
    if (!v) return inv_no_memory(err, (size_t)p->n * sizeof *v);
    for (int64_t i = 1; !f->services.ids.line && i < p->n; i++) v[i] = f->service;
    invit_status status = invit_instance_set_array(p, "service", v, p->n, err);
    free(v);
    return status;
}

static invit_status place_matrix(inv_tsplib *f, invit_instance *p, int64_t low, int64_t depot,
                                 invit_error *err)
{
    size_t n = (size_t)p->n;
    if (depot > low) { /* the depot's row and column come first */
        double *m = malloc(n * n * sizeof *m);
        if (!m) return inv_no_memory(err, n * n * sizeof *m);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                m[(size_t)slot_of(low + (int64_t)i, low, depot) * n +
                  (size_t)slot_of(low + (int64_t)j, low, depot)] = f->weights[i * n + j];
        free(f->weights);
        f->weights = m;
    }
    double *m = f->weights;
    f->weights = NULL;
    INV_CHECK(inv_take_matrix(p, false, m, err));
    p->rules->has_xy = f->coord_ids.line || f->display_ids.line;
    return INVIT_OK;
}

/* DISTANCE limits travel and service (as in CMT6), which without service is the length. */
static invit_status place_rules(inv_tsplib *f, invit_instance *p, int64_t low, int64_t depot,
                                invit_error *err)
{
    inv_rules *r = NULL;
    if (f->weights) INV_CHECK(place_matrix(f, p, low, depot, err));
    if (f->problem == INVIT_TSP) return INVIT_OK;
    bool service = f->service > 0 || f->services.ids.line;
    if (service) INV_CHECK(place_services(f, p, low, depot, err));
    if (f->windows.ids.line) INV_CHECK(place_windows(f, p, low, depot, err));
    if (!f->distance && !f->vehicles) return INVIT_OK;
    INV_CHECK(inv_instance_rules(p, &r, err));
    if (f->distance) *(service || f->windows.ids.line ? &r->max_duration : &r->max_length) = f->distance;
    r->vehicles = (int32_t)f->vehicles;
    return INVIT_OK;
}

static invit_status check_sections(const inv_tsplib *f, int64_t low, int64_t n, invit_error *err)
{
    const struct {
        const inv_tsplib_ids *ids;
        const char *name;
    } all[] = {{&f->coord_ids, "NODE_COORD_SECTION"},
               {&f->display_ids, "DISPLAY_DATA_SECTION"},
               {&f->demands.ids, "DEMAND_SECTION"},
               {&f->services.ids, "SERVICE_TIME_SECTION"},
               {&f->windows.ids, "TIME_WINDOW_SECTION"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].ids->line && !(i == 1 && f->coord_ids.line)) /* display data that is not used */
            INV_CHECK(inv_tsplib_check_ids(f, all[i].ids, low, n, all[i].name, err));
    if (f->problem == INVIT_CVRP && (f->depot < low || f->depot >= low + n))
        return inv_text_fail(f->t, f->depot_line, INVIT_ERR_INPUT, err,
                             "depot %lld: expected one of the nodes %lld..%lld", (long long)f->depot,
                             (long long)low, (long long)(low + n - 1));
    return INVIT_OK;
}

/* The lowest id that the file uses. */
static int64_t lowest_id(const inv_tsplib *f, const inv_tsplib_ids *c)
{
    if (!c->line || c->n == 0) {
        c = &f->demands.ids;
        if (!c->line || c->n == 0) return 1;
    }
    int64_t low = inv_tsplib_id(c, 0);
    for (int64_t i = 1; c->id && i < c->n; i++)
        if (c->id[i] < low) low = c->id[i];
    return low;
}

invit_status inv_tsplib_build(inv_tsplib *f, invit_instance **out, invit_error *err)
{
    INV_CHECK(check_complete(f, err));
    bool display = !f->coord_ids.line && f->display_ids.line;
    const inv_tsplib_ids *c = display ? &f->display_ids : &f->coord_ids;
    inv_points *points = display ? &f->display : &f->points;
    int64_t n = f->dimension, low = lowest_id(f, c), depot = f->problem == INVIT_CVRP ? f->depot : -1;
    INV_CHECK(check_sections(f, low, n, err));

    invit_instance *p = NULL;
    invit_status status = INVIT_OK;
    if (c->line) {
        INV_TRY(
            inv_points_to_instance(points, f->metric < 0 ? INVIT_EXACT : (invit_metric)f->metric, &p, err));
    } else {
        INV_TRY(inv_instance_alloc(INVIT_TSP, n, &p, err));
        memset(p->xy, 0, (size_t)n * 2 * sizeof *p->xy);
    }
    p->first_id = (int32_t)low;
    if (c->line && (c->id || depot > low)) { /* not yet in the order of ids with the depot first */
        double *xy = malloc((size_t)n * 2 * sizeof *xy);
        if (!xy) INV_TRY(inv_no_memory(err, (size_t)n * 2 * sizeof *xy));
        for (int64_t i = 0; i < n; i++)
            memcpy(xy + 2 * slot_of(inv_tsplib_id(c, i), low, depot), p->xy + 2 * i, 2 * sizeof *xy);
        free(p->xy);
        p->xy = xy;
    }
    if (f->name && *f->name) {
        free(p->name);
        p->name = f->name;
        f->name = NULL;
    }
    if (f->problem == INVIT_CVRP) {
        INV_TRY(inv_make_routes(p, err));
        INV_TRY(place_demands(f, p, low, depot, err));
    }
    INV_TRY(place_rules(f, p, low, depot, err));
    p->comment = f->comment;
    f->comment = NULL;
    *out = p;
    p = NULL;
done:
    invit_instance_destroy(p);
    return status;
}
