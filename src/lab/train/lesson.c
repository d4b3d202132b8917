#include "lab/train/lesson.h"

#include "lab/train/roll.h"

#include <stdlib.h>
#include <string.h>

invit_status inv_lesson_init(inv_lesson *l, int32_t room, invit_error *err)
{
    size_t n = (size_t)room + 2;
    *l = (inv_lesson){.room = room};
    l->order = malloc(2 * n * sizeof *l->order);
    l->xy = malloc(2 * n * sizeof *l->xy);
    l->map = malloc(n * sizeof *l->map);
    l->demand = malloc(n * sizeof *l->demand);
    l->nodes = malloc(n * sizeof *l->nodes);
    l->start = malloc(n * sizeof *l->start);
    l->done = malloc(n * sizeof *l->done);
    l->plan.beside = malloc(n * sizeof *l->plan.beside);
    if (l->order && l->xy && l->map && l->demand && l->nodes && l->start && l->done && l->plan.beside)
        return INVIT_OK;
    inv_lesson_destroy(l);
    return inv_no_memory(err, n * 48);
}

void inv_lesson_destroy(inv_lesson *l)
{
    free(l->order);
    free(l->xy);
    free(l->map);
    free(l->demand);
    free(l->nodes);
    free(l->start);
    free(l->done);
    free(l->plan.beside);
    *l = (inv_lesson){0};
}

static double depot_square(const double *xy, int32_t node)
{
    double dx = xy[2 * node] - xy[0], dy = xy[2 * node + 1] - xy[1];
    return dx * dx + dy * dy;
}

static void reverse(int32_t *a, int32_t count)
{
    for (int32_t i = 0, j = count - 1; i < j; i++, j--) {
        int32_t x = a[i];
        a[i] = a[j];
        a[j] = x;
    }
}

typedef struct leg {
    double near;
    int32_t from, count;
} leg;

static int compare_legs(const void *a, const void *b)
{
    const leg *x = a, *y = b;
    if (x->near != y->near) return x->near < y->near ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

int32_t inv_order_routes(const double *xy, int32_t *nodes, int32_t *start, int32_t routes, bool open,
                         int32_t *order)
{
    int32_t count = 0, first = open ? 1 : 0;
    for (int32_t i = start[0] + 1; open && i < start[1]; i++) order[count++] = nodes[i];

    leg *legs = malloc((size_t)(routes > 0 ? routes : 1) * sizeof *legs);
    int32_t kept = 0;
    for (int32_t r = first; r < routes; r++) {
        int32_t length = start[r + 1] - start[r], *route = nodes + start[r];
        if (length == 0) continue;
        if (depot_square(xy, route[length - 1]) < depot_square(xy, route[0])) reverse(route, length);
        if (legs) legs[kept] = (leg){depot_square(xy, route[0]), start[r], length};
        kept++;
    }
    if (!legs) return -1;
    qsort(legs, (size_t)kept, sizeof *legs, compare_legs);
    for (int32_t r = 0; r < kept; r++) {
        if (open || r > 0) order[count++] = 0;
        memcpy(order + count, nodes + legs[r].from, (size_t)legs[r].count * sizeof *order);
        count += legs[r].count;
    }
    free(legs);
    return count;
}

invit_status inv_lesson_teach(inv_lesson *l, inv_teacher *t, const invit_instance *p, double effort,
                              inv_rng *rng, invit_error *err)
{
    double length;
    int32_t routes;
    uint64_t seed = inv_rng_u64(rng);
    l->own = 0;
    if (p->problem == INVIT_TSP) {
        l->count = p->n;
        return inv_teach_tsp(t, p->xy, p->n, -1, -1, effort, seed, l->order, &length, err);
    }
    INV_CHECK(inv_teach_cvrp(t, p->xy, p->demand, p->n, (int32_t)p->capacity, -1, 0, effort, seed, l->nodes,
                             l->start, &routes, &length, err));
    l->count = inv_order_routes(p->xy, l->nodes, l->start, routes, false, l->order);
    return l->count < 0 ? inv_no_memory(err, (size_t)routes * sizeof(leg)) : INVIT_OK;
}

void inv_lesson_turn(inv_lesson *l, inv_rng *rng)
{
    int32_t shift = (int32_t)inv_rng_below(rng, (uint32_t)l->count);
    bool backwards = inv_rng_u64(rng) >> 63;
    if (backwards) reverse(l->order, l->count);
    reverse(l->order, shift); /* three reversals turn an array */
    reverse(l->order + shift, l->count - shift);
    reverse(l->order, l->count);
}

/* Node `node` becomes node number `k` of what the teacher sees. */
static void put(inv_lesson *l, const invit_instance *p, int32_t k, int32_t node)
{
    l->map[k] = node;
    l->xy[2 * k] = p->xy[2 * (size_t)node];
    l->xy[2 * k + 1] = p->xy[2 * (size_t)node + 1];
    l->demand[k] = p->demand ? p->demand[node] : 0;
    l->done[node] = true;
}

static int32_t put_unvisited(inv_lesson *l, const invit_instance *p, int32_t k)
{
    for (int32_t i = 0; i < p->n; i++)
        if (!l->done[i]) put(l, p, k++, i);
    return k;
}

static void mark_visited(inv_lesson *l, const invit_instance *p, const int32_t *order, int32_t count)
{
    memset(l->done, 0, (size_t)p->n * sizeof *l->done);
    for (int32_t i = 0; i < count; i++) l->done[order[i]] = true;
}

/* TSP: from `at` through all that is not done to `first`, as a tour of *count nodes with the edge between the
 * two. */
static invit_status teach_path(inv_lesson *l, inv_teacher *t, const invit_instance *p, int32_t at,
                               int32_t first, double effort, uint64_t seed, int32_t *count, double *length,
                               invit_error *err)
{
    put(l, p, 0, at);
    put(l, p, 1, first);
    *count = put_unvisited(l, p, 2);
    return inv_teach_tsp(t, l->xy, *count, 0, 1, effort, seed, l->nodes, length, err);
}

/* CVRP: what is not done, beginning at customer `at` with `load` left, or at the depot (at = 0). */
static invit_status teach_routes(inv_lesson *l, inv_teacher *t, const invit_instance *p, int32_t at,
                                 int32_t load, double effort, uint64_t seed, int32_t *routes, double *length,
                                 invit_error *err)
{
    bool open = at != 0;
    put(l, p, 0, 0);
    if (open) put(l, p, 1, at);
    int32_t k = put_unvisited(l, p, open ? 2 : 1);
    return inv_teach_cvrp(t, l->xy, l->demand, k, (int32_t)p->capacity, open ? 1 : -1, open ? load : 0,
                          effort, seed, l->nodes, l->start, routes, length, err);
}

/* The path that teach_path found, without its ends, as nodes of the instance. */
static int32_t path_order(const inv_lesson *l, int32_t k, int32_t *order)
{
    int32_t at = 0;
    while (l->nodes[at] != 0) at++;
    int32_t step = l->nodes[(at + 1) % k] == 1 ? k - 1 : 1; /* away from `first` */
    for (int32_t i = 1; i < k - 1; i++) order[i - 1] = l->map[l->nodes[(at + (int64_t)step * i) % k]];
    return k - 2;
}

static invit_status complete_tsp(inv_lesson *l, inv_teacher *t, const invit_instance *p, double effort,
                                 uint64_t seed, invit_error *err)
{
    int32_t k;
    double length;
    INV_CHECK(teach_path(l, t, p, l->order[l->count - 1], l->order[0], effort, seed, &k, &length, err));
    l->count += path_order(l, k, l->order + l->count);
    return INVIT_OK;
}

static invit_status complete_cvrp(inv_lesson *l, inv_teacher *t, const invit_instance *p, int32_t last,
                                  int32_t load, double effort, uint64_t seed, invit_error *err)
{
    int32_t routes;
    double length;
    INV_CHECK(teach_routes(l, t, p, last, load, effort, seed, &routes, &length, err));
    int32_t *added = l->order + l->count;
    int32_t count = inv_order_routes(l->xy, l->nodes, l->start, routes, last != 0, added);
    if (count < 0) return inv_no_memory(err, (size_t)routes * sizeof(leg));
    for (int32_t i = 0; i < count; i++) added[i] = l->map[added[i]];
    l->count += count;
    return INVIT_OK;
}

invit_status inv_lesson_complete(inv_lesson *l, inv_teacher *t, const invit_instance *p, const inv_walk *w,
                                 double effort, inv_rng *rng, invit_error *err)
{
    uint64_t seed = inv_rng_u64(rng);
    const int32_t *order = inv_walk_order(w, &l->count);
    memcpy(l->order, order, (size_t)l->count * sizeof *order);
    l->own = l->count;
    mark_visited(l, p, order, l->count);
    return p->problem == INVIT_TSP
               ? complete_tsp(l, t, p, effort, seed, err)
               : complete_cvrp(l, t, p, inv_walk_last(w), inv_walk_load(w), effort, seed, err);
}

/* From `at`, which is not among the unvisited nodes, to the end. `found` is the number of nodes (TSP) or of
 * routes. */
static invit_status cost_from(inv_lesson *l, inv_teacher *t, const invit_instance *p, int32_t at,
                              int32_t first, int32_t load, double effort, uint64_t seed, int32_t *found,
                              double *cost, invit_error *err)
{
    if (p->problem == INVIT_CVRP) return teach_routes(l, t, p, at, load, effort, seed, found, cost, err);
    INV_CHECK(teach_path(l, t, p, at, first, effort, seed, found, cost, err));
    *cost -= inv_straight(p, at, first);
    return INVIT_OK;
}

invit_status inv_lesson_price(inv_lesson *l, inv_teacher *t, const invit_instance *p, const inv_walk *w,
                              int32_t node, double effort, uint64_t seed, double *cost, invit_error *err)
{
    int32_t count, found,
        load = p->problem == INVIT_TSP || node == 0 ? 0 : inv_walk_load(w) - p->demand[node];
    const int32_t *order = inv_walk_order(w, &count);
    mark_visited(l, p, order, count);
    INV_CHECK(cost_from(l, t, p, node, count > 0 ? order[0] : 0, load, effort, seed, &found, cost, err));
    *cost += inv_straight(p, inv_walk_last(w), node);
    return INVIT_OK;
}

invit_status inv_lesson_rest(inv_lesson *l, inv_teacher *t, const invit_instance *p, const inv_walk *w,
                             double effort, uint64_t seed, double *cost, invit_error *err)
{
    int32_t count, last = inv_walk_last(w), found;
    const int32_t *order = inv_walk_order(w, &count);
    int32_t first = count > 0 ? order[0] : 0;
    mark_visited(l, p, order, count);
    INV_CHECK(cost_from(l, t, p, last, first, inv_walk_load(w), effort, seed, &found, cost, err));
    if (p->problem == INVIT_TSP) {
        inv_plan_path(&l->plan, last, l->order, path_order(l, found, l->order), first);
    } else {
        for (int32_t i = 0; i < l->start[found]; i++) l->nodes[i] = l->map[l->nodes[i]];
        inv_plan_routes(&l->plan, last, l->nodes, l->start, found);
    }
    return INVIT_OK;
}

int32_t inv_candidate_of(const inv_config *c, const inv_state *s, int32_t node)
{
    if (c->problem == INVIT_CVRP && node == 0) return s->depot_open ? c->action_k : -1;
    for (int32_t i = 0; i < s->action; i++)
        if (s->node[i] == node) return i;
    return -1;
}

invit_status inv_replay(inv_walk *w, const inv_config *c, const inv_lesson *l, const inv_frame *f,
                        double share, inv_rng *rng, inv_pool *pool, inv_replay_tally *tally, invit_error *err)
{
    int32_t first = c->problem == INVIT_TSP ? 1 : 0;
    inv_walk_start(w, first ? l->order[0] : 0, f);
    for (int32_t i = first; i < l->count; i++) {
        if (i >= l->own && (inv_rng_double(rng) < share || (l->own > 0 && i == l->own))) {
            inv_state s;
            inv_walk_view(w, &s);
            if (inv_choices(&s) > 1) {
                int32_t label = inv_candidate_of(c, &s, l->order[i]);
                tally->seen++;
                if (label < 0)
                    tally->skipped++;
                else
                    INV_CHECK(inv_pool_add(pool, &s, label, NULL, err));
            }
        }
        inv_walk_visit(w, l->order[i]);
    }
    return INVIT_OK;
}
