#include "solve/route_groups.h"

#include "problem/metric.h"

#include <stdlib.h>

/* Shorter than by rounding errors, as a share. */
#define NOTICEABLE 1e-9

invit_status inv_route_groups_create(const invit_instance *p, int32_t window, const inv_limits *limits,
                                     inv_route_groups *g, invit_error *err)
{
    size_t n = (size_t)p->n;
    *g = (inv_route_groups){.p = p, .window = window};
    INV_CHECK(inv_index_create_within(p, limits, &g->index, err));
    INV_CHECK(inv_marks_init(&g->marks, g->index, err));
    g->near = malloc(n * sizeof *g->near);
    g->seed = malloc(n * sizeof *g->seed);
    g->route = malloc(n * sizeof *g->route);
    g->node = malloc(2 * n * sizeof *g->node);
    g->order = malloc(4 * n * sizeof *g->order);
    g->fresh = malloc(2 * n * sizeof *g->fresh);
    g->job = malloc(n * sizeof *g->job);
    bool all = g->near && g->seed && g->route && g->node && g->order && g->fresh && g->job;
    if (!all) return inv_no_memory(err, n * (sizeof *g->near + sizeof *g->job + 40));
    for (int32_t i = 1; i < p->n; i++) g->seed[i - 1] = i;
    return INVIT_OK;
}

void inv_route_groups_destroy(inv_route_groups *g)
{
    inv_marks_destroy(&g->marks);
    inv_index_destroy(g->index);
    free(g->near);
    free(g->seed);
    free(g->route);
    free(g->group);
    free(g->root);
    free(g->gain);
    free(g->node);
    free(g->order);
    free(g->fresh);
    free(g->job);
    *g = (inv_route_groups){0};
}

static invit_status make_room(inv_route_groups *g, int32_t routes, invit_error *err)
{
    if (routes <= g->room) return INVIT_OK;
    size_t room = (size_t)routes;
    free(g->group), free(g->root), free(g->gain);
    g->room = 0;
    g->group = malloc(room * sizeof *g->group);
    g->root = malloc(room * sizeof *g->root);
    g->gain = malloc(room * sizeof *g->gain);
    if (!g->group || !g->root || !g->gain) return inv_no_memory(err, room * 16);
    g->room = routes;
    return INVIT_OK;
}

/* ---- cutting ------------------------------------------------------------------------------------------- */

/* Adds a route to the last group. */
static void take_route(inv_route_groups *g, const invit_solution *s, int32_t r)
{
    inv_rebuild_job *job = &g->job[g->count - 1];
    int32_t *node = g->node + (job->node - g->node);
    g->group[r] = g->count - 1;
    for (int32_t i = s->start[r]; i < s->start[r + 1]; i++) {
        node[job->n++] = s->nodes[i];
        inv_marks_remove(&g->marks, g->index->position[s->nodes[i]]);
    }
}

/* The routes that pass nearest to a customer, until they have enough customers. */
static void take_group(inv_route_groups *g, const invit_solution *s, int32_t seed, int32_t size)
{
    const inv_rebuild_job *last = &g->job[g->count - 1];
    inv_rebuild_job *job = &g->job[g->count];
    int32_t at = g->count > 0 ? (int32_t)(last->node - g->node) + last->n : 0;
    int32_t found =
        inv_marks_nearest(&g->marks, g->index->tree.xy[g->index->position[seed]], size, INT32_MAX, g->near);
    *job = (inv_rebuild_job){.node = g->node + at, .n = 1, .order = g->order + 2 * at};
    g->node[at] = 0;
    g->count++;
    for (int32_t i = 0; i < found; i++) {
        int32_t r = g->route[g->near[i].node], length = s->start[r + 1] - s->start[r];
        if (g->group[r] >= 0) continue;
        if (job->n > 1 && job->n - 1 + length > size) return;
        take_route(g, s, r);
    }
}

/* The next customer in a random order, which begins anew when all were drawn. */
static int32_t draw(inv_route_groups *g, int32_t customers, inv_rng *rng)
{
    if (g->drawn >= customers) g->drawn = 0;
    int32_t i = g->drawn++, j = i + (int32_t)inv_rng_below(rng, (uint32_t)(customers - i)), seed = g->seed[j];
    g->seed[j] = g->seed[i];
    g->seed[i] = seed;
    return seed;
}

invit_status inv_route_groups_cut(inv_route_groups *g, const invit_solution *s, int32_t size, inv_rng *rng,
                                  invit_error *err)
{
    int32_t customers = s->start[s->routes];
    INV_CHECK(make_room(g, s->routes, err));
    inv_marks_reset(&g->marks);
    g->count = 0;
    for (int32_t r = 0; r < s->routes; r++) {
        g->group[r] = -1;
        for (int32_t i = s->start[r]; i < s->start[r + 1]; i++) g->route[s->nodes[i]] = r;
    }
    if (size > customers) size = customers;
    for (int32_t tries = 0, taken = 0; tries < customers && taken < g->window; tries++) {
        int32_t seed = draw(g, customers, rng);
        if (g->group[g->route[seed]] >= 0) continue;
        take_group(g, s, seed, size);
        taken += g->job[g->count - 1].n - 1;
    }
    return INVIT_OK;
}

/* ---- keeping ------------------------------------------------------------------------------------------- */

static int32_t root_of(const inv_route_groups *g, int32_t r)
{
    while (g->root[r] != r) r = g->root[r] = g->root[g->root[r]];
    return r;
}

/* A route of the job's order, beginning at *at: its length; *at is left behind it. */
static double next_route(const inv_route_groups *g, const inv_rebuild_job *job, int32_t *at)
{
    double length = 0;
    int32_t last = 0;
    for (; *at < job->count && job->order[*at] != 0; (*at)++) {
        int32_t node = job->node[job->order[*at]];
        length += inv_edge(g->p, last, node);
        last = node;
    }
    (*at)++;
    return length + inv_edge(g->p, last, 0);
}

static double old_length(const inv_route_groups *g, const invit_solution *s, int32_t r)
{
    double length = 0;
    int32_t last = 0;
    for (int32_t i = s->start[r]; i < s->start[r + 1]; last = s->nodes[i++])
        length += inv_edge(g->p, last, s->nodes[i]);
    return length + inv_edge(g->p, last, 0);
}

/* Joins the trees of the old routes that a new route takes customers from. */
static void join(inv_route_groups *g, const inv_rebuild_job *job, int32_t begin, int32_t end)
{
    for (int32_t i = begin + 1; i < end; i++) {
        int32_t a = root_of(g, g->route[job->node[job->order[begin]]]);
        int32_t b = root_of(g, g->route[job->node[job->order[i]]]);
        if (a == b) continue;
        g->root[b] = a;
        g->gain[a] += g->gain[b];
    }
}

static void weigh(inv_route_groups *g, const inv_rebuild_job *job)
{
    for (int32_t at = 0, begin = 0; at < job->count; begin = at) {
        double length = next_route(g, job, &at);
        if (at - 1 == begin) continue;
        join(g, job, begin, at - 1);
        g->gain[root_of(g, g->route[job->node[job->order[begin]]])] -= length;
    }
}

static bool worth(const inv_route_groups *g, int32_t r, double length)
{
    return g->gain[root_of(g, r)] > NOTICEABLE * length;
}

/* Appends the new routes of a job that are kept. Returns how many. */
static int32_t keep_routes(inv_route_groups *g, const inv_rebuild_job *job, int32_t *filled, double whole)
{
    int32_t routes = 0;
    for (int32_t at = 0, begin = 0; at < job->count; begin = at) {
        next_route(g, job, &at);
        if (at - 1 == begin || !worth(g, g->route[job->node[job->order[begin]]], whole)) continue;
        for (int32_t i = begin; i < at - 1; i++) g->fresh[(*filled)++] = job->node[job->order[i]];
        g->fresh[(*filled)++] = 0;
        routes++;
    }
    return routes;
}

/* The old routes that stay, and the fresh ones. */
static invit_status put_together(const inv_route_groups *g, invit_solution **s, int32_t routes,
                                 int32_t filled, double whole, invit_error *err)
{
    const invit_solution *old = *s;
    invit_solution *merged;
    int32_t r = 0, at = 0;
    INV_CHECK(inv_solution_alloc(old->routes + routes, old->start[old->routes], &merged, err));
    for (int32_t i = 0; i < old->routes; i++) {
        if (worth(g, i, whole)) continue;
        merged->start[r++] = at;
        for (int32_t j = old->start[i]; j < old->start[i + 1]; j++) merged->nodes[at++] = old->nodes[j];
    }
    for (int32_t i = 0; i < filled; i++) {
        if (i == 0 || g->fresh[i - 1] == 0) merged->start[r++] = at;
        if (g->fresh[i] != 0) merged->nodes[at++] = g->fresh[i];
    }
    merged->start[r] = at;
    merged->routes = r;
    invit_solution_destroy(*s);
    *s = merged;
    return INVIT_OK;
}

invit_status inv_route_groups_keep(inv_route_groups *g, invit_solution **s, double *shorter, invit_error *err)
{
    const invit_solution *old = *s;
    double whole = 0;
    int32_t routes = 0, filled = 0;
    *shorter = 0;
    for (int32_t r = 0; r < old->routes; r++) {
        g->root[r] = r;
        g->gain[r] = old_length(g, old, r);
        whole += g->gain[r];
        bool rebuilt = g->group[r] >= 0 && g->job[g->group[r]].count > 0;
        if (!rebuilt) g->gain[r] = 0;
    }
    for (int32_t i = 0; i < g->count; i++) weigh(g, &g->job[i]);
    for (int32_t r = 0; r < old->routes; r++)
        if (root_of(g, r) == r && worth(g, r, whole)) *shorter += g->gain[r];
    if (!(*shorter > 0)) return INVIT_OK;
    for (int32_t i = 0; i < g->count; i++) routes += keep_routes(g, &g->job[i], &filled, whole);
    return put_together(g, s, routes, filled, whole, err);
}
