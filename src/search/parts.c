#include "search/parts.h"

#include "problem/metric.h"

#include <stdlib.h>
#include <string.h>

static void free_routes(inv_parts_routes *r)
{
    free(r->nodes);
    free(r->start);
    free(r->routes);
    free(r->length);
}

static bool alloc_routes(inv_parts_routes *r, size_t n, size_t parts)
{
    r->nodes = malloc(n * sizeof *r->nodes);
    r->start = malloc((n + parts) * sizeof *r->start);
    r->routes = malloc(parts * sizeof *r->routes);
    r->length = malloc(parts * sizeof *r->length);
    return r->nodes && r->start && r->routes && r->length;
}

invit_status inv_parts_init(inv_parts *q, const invit_instance *p, int32_t parts, invit_error *err)
{
    size_t n = (size_t)p->n, count = (size_t)parts;
    *q = (inv_parts){.p = p, .count = parts};
    q->place = malloc(n * sizeof *q->place);
    q->first = malloc((count + 1) * sizeof *q->first);
    q->offset = malloc((count + 1) * sizeof *q->offset);
    q->part_of = malloc(n * sizeof *q->part_of);
    q->local = malloc(n * sizeof *q->local);
    q->global = malloc(n * sizeof *q->global);
    if (!q->place || !q->first || !q->offset || !q->part_of || !q->local || !q->global ||
        !alloc_routes(&q->current, n, count) || !alloc_routes(&q->best, n, count))
        return inv_no_memory(err, n * 100);
    return INVIT_OK;
}

void inv_parts_destroy(inv_parts *q)
{
    free(q->place);
    free(q->first);
    free(q->offset);
    free(q->part_of);
    free(q->local);
    free(q->global);
    free_routes(&q->current);
    free_routes(&q->best);
}

/* All routes as one part; needs no coordinates. */
static void take_whole(inv_parts *q, const invit_solution *s)
{
    for (int32_t r = 0; r < s->routes; r++)
        q->place[r] = (inv_cvrp_place){.route = r, .size = s->start[r + 1] - s->start[r]};
    q->first[0] = 0;
    q->first[1] = s->routes;
}

int32_t inv_parts_cut(inv_parts *q, const invit_solution *s, inv_rng *rng)
{
    if (q->count > 1)
        inv_cvrp_partition(q->p, s, q->count, rng, q->place, q->first);
    else
        take_whole(q, s);
    int32_t count = 0, largest = 0;
    for (int32_t i = 0; i < q->count; i++) {
        q->offset[i] = count;
        for (int32_t j = q->first[i]; j < q->first[i + 1]; j++) {
            int32_t r = q->place[j].route;
            for (int32_t h = s->start[r]; h < s->start[r + 1]; h++) {
                int32_t v = s->nodes[h];
                q->part_of[v] = i;
                q->local[v] = count - q->offset[i] + 1;
                q->global[count++] = v;
            }
        }
        if (count - q->offset[i] > largest) largest = count - q->offset[i];
    }
    q->offset[q->count] = count;
    return largest;
}

void inv_parts_neighbours(const inv_parts *q, int32_t i, const inv_neighbours *all, int32_t customer,
                          int32_t *near)
{
    const int32_t *node = inv_neighbours_of(all, customer);
    int32_t count = 0;
    for (int32_t j = 0; j < all->k && node[j] >= 0; j++)
        if (node[j] != 0 && q->part_of[node[j]] == i) near[count++] = q->local[node[j]];
    if (count < all->k) near[count] = 0;
}

int32_t *inv_parts_nodes_of(const inv_parts *q, const inv_parts_routes *r, int32_t i)
{
    return r->nodes + q->offset[i];
}

int32_t *inv_parts_start_of(const inv_parts *q, const inv_parts_routes *r, int32_t i)
{
    return r->start + q->offset[i] + i;
}

int32_t inv_parts_begin(const inv_parts *q, int32_t i, const int32_t **nodes, const int32_t **start)
{
    /* Customers are numbered route by route, so the routes are runs of numbers. */
    int32_t *node = inv_parts_nodes_of(q, &q->current, i), *at = inv_parts_start_of(q, &q->current, i);
    int32_t routes = 0;
    at[0] = 0;
    for (int32_t j = q->first[i]; j < q->first[i + 1]; j++, routes++)
        at[routes + 1] = at[routes] + q->place[j].size;
    for (int32_t v = 1; v < inv_parts_nodes(q, i); v++) node[v - 1] = v;
    *nodes = node;
    *start = at;
    return routes;
}

void inv_parts_set(const inv_parts *q, const inv_parts_routes *r, int32_t i, int32_t routes, double length)
{
    int32_t *nodes = inv_parts_nodes_of(q, r, i), customers = inv_parts_nodes(q, i) - 1;
    for (int32_t j = 0; j < customers; j++) nodes[j] = inv_parts_node(q, i, nodes[j]);
    r->routes[i] = routes;
    r->length[i] = length;
}

double inv_parts_join(const inv_parts *q, const inv_parts_routes *from, invit_solution *to)
{
    double length = 0;
    to->routes = 0;
    for (int32_t i = 0; i < q->count; i++) {
        const int32_t *start = inv_parts_start_of(q, from, i);
        for (int32_t r = 1; r <= from->routes[i]; r++) to->start[++to->routes] = q->offset[i] + start[r];
        length += from->length[i];
    }
    memcpy(to->nodes, from->nodes, (size_t)(q->p->n - 1) * sizeof *to->nodes);
    return length;
}

static int64_t share_before(const inv_parts *q, int32_t i, int64_t steps)
{
    return (int64_t)((double)steps * q->offset[i] / (q->p->n - 1));
}

int64_t inv_parts_share(const inv_parts *q, int32_t i, int64_t steps)
{
    if (steps == INT64_MAX) return INT64_MAX;
    return share_before(q, i + 1, steps) - share_before(q, i, steps);
}

void inv_copy_routes(const invit_solution *from, invit_solution *to)
{
    to->routes = 0;
    for (int32_t r = 0; r < from->routes; r++)
        if (from->start[r + 1] > from->start[r]) to->start[++to->routes] = from->start[r + 1];
    memcpy(to->nodes, from->nodes, (size_t)from->start[from->routes] * sizeof *to->nodes);
}

double inv_mean_edge(const invit_instance *p, const invit_solution *s, double length)
{
    double sum = 0;
    int64_t edges = 0;
    for (int32_t r = 0; r < s->routes; r++)
        for (int32_t i = s->start[r] + 1; i < s->start[r + 1]; i++, edges++)
            sum += inv_distance(p, s->nodes[i - 1], s->nodes[i]);
    if (sum > 0) return sum / (double)edges;
    return length > 0 ? length / p->n : 1;
}
