/* Instances and solutions as objects: creation, access, destruction. */
#include "problem/problem.h"

#include "base/memory.h"
#include "base/text.h"
#include "problem/stop_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

invit_status inv_instance_alloc(invit_problem problem, int64_t n, invit_instance **out, invit_error *err)
{
    *out = NULL;
    if (n < 1 || n > INT32_MAX / 2)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "an instance has 1 to %d nodes, not %lld", INT32_MAX / 2,
                        (long long)n);
    INV_CHECK(inv_memory_expect(n * 2 * (int64_t)sizeof(double), "an instance of this size", err));
    invit_instance *p = calloc(1, sizeof *p);
    if (!p) return inv_no_memory(err, sizeof *p);
    p->problem = problem;
    p->n = (int32_t)n;
    p->first_id = 1;
    p->scale = 1;
    p->xy = malloc((size_t)n * 2 * sizeof *p->xy);
    p->name = strdup("unnamed");
    if (problem == INVIT_CVRP) p->demand = calloc((size_t)n, sizeof *p->demand);
    if (!p->xy || !p->name || (problem == INVIT_CVRP && !p->demand)) {
        invit_instance_destroy(p);
        return inv_no_memory(err, (size_t)n * 20);
    }
    *out = p;
    return INVIT_OK;
}

void invit_instance_destroy(invit_instance *p)
{
    if (!p) return;
    free(p->xy);
    free(p->demand);
    free(p->name);
    free(p->comment);
    free(p->labels);
    free(p->label_at);
    inv_rules_destroy(p->rules);
    inv_stop_table_destroy(p->table);
    free(p);
}

static invit_status copy_coords(invit_instance *p, const double *xy, invit_error *err)
{
    for (size_t i = 0; i < 2 * (size_t)p->n; i++) {
        if (!(fabs(xy[i]) <= INV_FARTHEST))
            return inv_fail(err, INVIT_ERR_INPUT, "node %zu: expected coordinates from %g to %g", i / 2,
                            -INV_FARTHEST, INV_FARTHEST);
        p->xy[i] = xy[i];
    }
    return INVIT_OK;
}

invit_status invit_instance_create_tsp(const double *xy, int64_t n, invit_metric metric, invit_instance **out,
                                       invit_error *err)
{
    invit_instance *p;
    INV_CHECK(inv_instance_alloc(INVIT_TSP, n, &p, err));
    p->metric = metric;
    invit_status status = copy_coords(p, xy, err);
    if (status == INVIT_OK) status = invit_instance_set_metric(p, metric, err);
    if (status != INVIT_OK) {
        invit_instance_destroy(p);
        return status;
    }
    *out = p;
    return INVIT_OK;
}

invit_status invit_instance_create_cvrp(const double *xy, const int64_t *demand, int64_t n, int64_t capacity,
                                        invit_metric metric, invit_instance **out, invit_error *err)
{
    invit_instance *p;
    INV_CHECK(inv_instance_alloc(INVIT_CVRP, n, &p, err));
    invit_status status = INVIT_OK;
    p->metric = metric;
    p->capacity = capacity;
    if (capacity < 1 || capacity > INT32_MAX)
        INV_TRY(
            inv_fail(err, INVIT_ERR_INPUT, "capacity %lld is not in 1..%d", (long long)capacity, INT32_MAX));
    INV_TRY(copy_coords(p, xy, err));
    INV_TRY(invit_instance_set_metric(p, metric, err));
    for (int64_t i = 1; i < n; i++) {
        if (demand[i] < 0 || demand[i] > capacity)
            INV_TRY(inv_fail(err, INVIT_ERR_INPUT,
                             "demand %lld of customer %lld is not in 0..%lld (the capacity)",
                             (long long)demand[i], (long long)i, (long long)capacity));
        p->demand[i] = (int32_t)demand[i];
    }
    *out = p;
    p = NULL;
done:
    invit_instance_destroy(p);
    return status;
}

invit_problem invit_instance_problem(const invit_instance *p)
{
    return p->problem;
}
const char *invit_instance_name(const invit_instance *p)
{
    return p->name;
}
int64_t invit_instance_nodes(const invit_instance *p)
{
    return p->n;
}
invit_metric invit_instance_metric(const invit_instance *p)
{
    return p->metric;
}
const double *invit_instance_coords(const invit_instance *p)
{
    return p->xy;
}
const int32_t *invit_instance_demands(const invit_instance *p)
{
    return p->demand;
}
int64_t invit_instance_capacity(const invit_instance *p)
{
    return p->capacity;
}

invit_status invit_instance_set_name(invit_instance *p, const char *name, invit_error *err)
{
    char *copy = inv_utf8_copy(name, strlen(name));
    if (!copy) return inv_no_memory(err, 3 * strlen(name) + 1);
    free(p->name);
    p->name = copy;
    return INVIT_OK;
}

/* Squares of distances must be numbers: those of 1e-170 would be 0, and every tour as long as any other. */
static invit_status check_extent(const invit_instance *p, invit_error *err)
{
    double side = 0;
    if (p->rules && p->rules->distance) return INVIT_OK;
    for (size_t i = 2; i < 2 * (size_t)p->n; i++) side = fmax(side, fabs(p->xy[i] - p->xy[i % 2]));
    if (side == 0 || side >= INV_NARROWEST) return INVIT_OK;
    return inv_fail(
        err, INVIT_ERR_INPUT,
        "%s: all nodes are within %g of the first: expected coordinates at least %g apart; multiply them "
        "by a power of ten",
        p->name, side, INV_NARROWEST);
}

invit_status invit_instance_set_metric(invit_instance *p, invit_metric metric, invit_error *err)
{
    if ((unsigned)metric > INVIT_DIMACS)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "metric %d does not exist", (int)metric);
    enum { FARTHEST = 540 }; /* as far as inv_join_longitudes lets longitudes run */
    for (int32_t i = 0; metric == INVIT_HAVERSINE && i < p->n; i++)
        if (fabs(p->xy[2 * (size_t)i]) > FARTHEST || fabs(p->xy[2 * (size_t)i + 1]) > 90)
            return inv_fail(err, INVIT_ERR_INPUT,
                            "%s: node %d at (%g, %g): great circles need a longitude (x) from -540 to 540 "
                            "and a latitude (y) from -90 to 90",
                            p->name, i, p->xy[2 * (size_t)i], p->xy[2 * (size_t)i + 1]);
    p->metric = metric;
    if (metric == INVIT_HAVERSINE) inv_join_longitudes(p);
    return check_extent(p, err);
}

invit_status invit_instance_set_labels(invit_instance *p, const char *const *labels, invit_error *err)
{
    size_t n = (size_t)p->n, bytes = 0, *at = NULL;
    char *text = NULL;
    if (labels) {
        for (size_t i = 0; i < n; i++) bytes += 3 * strlen(labels[i]) + 1;
        text = malloc(bytes);
        at = malloc(n * sizeof *at);
        if (!text || !at) {
            free(text);
            free(at);
            return inv_no_memory(err, bytes + n * sizeof *at);
        }
        bytes = 0;
        for (size_t i = 0; i < n; i++) {
            at[i] = bytes;
            bytes = (size_t)(inv_put_utf8(text + bytes, labels[i], strlen(labels[i])) + 1 - text);
        }
        char *tight = realloc(text, bytes);
        if (tight) text = tight;
    }
    free(p->labels);
    free(p->label_at);
    p->labels = text;
    p->label_at = at;
    return INVIT_OK;
}

size_t inv_text_bytes(const invit_instance *p)
{
    size_t bytes = strlen(p->name);
    if (p->table) bytes += p->table->bytes;
    if (p->labels) bytes += p->label_at[p->n - 1] + strlen(p->labels + p->label_at[p->n - 1]);
    return bytes;
}

const char *invit_instance_label(const invit_instance *p, int64_t node)
{
    return p->labels && node >= 0 && node < p->n ? p->labels + p->label_at[node] : NULL;
}

invit_status inv_solution_alloc(int32_t routes, int64_t nodes, invit_solution **out, invit_error *err)
{
    *out = NULL;
    invit_solution *s = calloc(1, sizeof *s);
    if (!s) return inv_no_memory(err, sizeof *s);
    s->routes = routes;
    s->start = calloc((size_t)routes + 1, sizeof *s->start);
    s->nodes = malloc((size_t)(nodes > 0 ? nodes : 1) * sizeof *s->nodes);
    if (!s->start || !s->nodes) {
        invit_solution_destroy(s);
        return inv_no_memory(err, ((size_t)routes + (size_t)nodes) * sizeof(int32_t));
    }
    *out = s;
    return INVIT_OK;
}

void invit_solution_destroy(invit_solution *s)
{
    if (!s) return;
    free(s->start);
    free(s->nodes);
    free(s);
}

invit_status invit_solution_create(const int32_t *nodes, const int32_t *start, int32_t routes,
                                   invit_solution **out, invit_error *err)
{
    *out = NULL;
    if (routes < 0 || start[0] != 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "routes must be >= 0 and start[0] must be 0");
    for (int32_t r = 0; r < routes; r++)
        if (start[r + 1] < start[r])
            return inv_fail(err, INVIT_ERR_ARGUMENT, "start must not decrease (route %d)", r);
    INV_CHECK(inv_solution_alloc(routes, start[routes], out, err));
    memcpy((*out)->start, start, ((size_t)routes + 1) * sizeof *start);
    memcpy((*out)->nodes, nodes, (size_t)start[routes] * sizeof *nodes);
    return INVIT_OK;
}

invit_status inv_solution_copy(const invit_solution *from, invit_solution **out, invit_error *err)
{
    return invit_solution_create(from->nodes, from->start, from->routes, out, err);
}

invit_status inv_check_nodes(const invit_instance *p, const invit_solution *s, invit_error *err)
{
    for (int32_t i = 0; i < s->start[s->routes]; i++)
        if (s->nodes[i] < 0 || s->nodes[i] >= p->n)
            return inv_fail(err, INVIT_ERR_INPUT,
                            "the solution names node %d, the instance has nodes 0 to %d", (int)s->nodes[i],
                            (int)(p->n - 1));
    return INVIT_OK;
}

int32_t invit_solution_routes(const invit_solution *s)
{
    return s->routes;
}

const int32_t *invit_solution_route(const invit_solution *s, int32_t r, int32_t *count)
{
    *count = s->start[r + 1] - s->start[r];
    return s->nodes + s->start[r];
}
