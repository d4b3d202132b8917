#include "lab/train/data/demonstration.h"

#include "lab/train/data/length.h"

#include <stdlib.h>
#include <string.h>

invit_status inv_demonstration_init(inv_demonstration *d, int32_t room, invit_error *err)
{
    size_t n = (size_t)room + 2;
    *d = (inv_demonstration){.room = room};
    d->order = malloc(2 * n * sizeof *d->order);
    d->xy = malloc(2 * n * sizeof *d->xy);
    d->map = malloc(n * sizeof *d->map);
    d->demand = malloc(n * sizeof *d->demand);
    d->nodes = malloc(n * sizeof *d->nodes);
    d->start = malloc(n * sizeof *d->start);
    d->done = malloc(n * sizeof *d->done);
    d->plan.beside = malloc(n * sizeof *d->plan.beside);
    if (d->order && d->xy && d->map && d->demand && d->nodes && d->start && d->done && d->plan.beside)
        return INVIT_OK;
    inv_demonstration_destroy(d);
    return inv_no_memory(err, n * 48);
}

void inv_demonstration_destroy(inv_demonstration *d)
{
    free(d->order);
    free(d->xy);
    free(d->map);
    free(d->demand);
    free(d->nodes);
    free(d->start);
    free(d->done);
    free(d->plan.beside);
    *d = (inv_demonstration){0};
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

invit_status inv_demonstration_solve(inv_demonstration *d, inv_expert *e, const invit_instance *p,
                                     double effort, inv_rng *rng, invit_error *err)
{
    uint64_t seed = inv_rng_u64(rng);
    d->own = 0;
    if (p->problem == INVIT_TSP) {
        inv_tsp_request q = {p->xy, p->n, -1, -1, effort, seed};
        d->count = p->n;
        return inv_expert_tsp(e, &q, d->order, NULL, err);
    }
    inv_cvrp_request q = {p->xy, p->demand, p->n, (int32_t)p->capacity, -1, 0, effort, seed};
    inv_cvrp_answer a = {.nodes = d->nodes, .start = d->start};
    INV_CHECK(inv_expert_cvrp(e, &q, &a, err));
    d->count = inv_order_routes(p->xy, d->nodes, d->start, a.routes, false, d->order);
    return d->count < 0 ? inv_no_memory(err, (size_t)a.routes * sizeof(leg)) : INVIT_OK;
}

void inv_demonstration_rotate(inv_demonstration *d, inv_rng *rng)
{
    int32_t shift = (int32_t)inv_rng_below(rng, (uint32_t)d->count);
    bool backwards = inv_rng_u64(rng) >> 63;
    if (backwards) reverse(d->order, d->count);
    reverse(d->order, shift); /* three reversals rotate an array */
    reverse(d->order + shift, d->count - shift);
    reverse(d->order, d->count);
}

/* Node `node` becomes node number `k` of what the expert sees. */
static void put(inv_demonstration *d, const invit_instance *p, int32_t k, int32_t node)
{
    d->map[k] = node;
    d->xy[2 * k] = p->xy[2 * (size_t)node];
    d->xy[2 * k + 1] = p->xy[2 * (size_t)node + 1];
    d->demand[k] = p->demand ? p->demand[node] : 0;
    d->done[node] = true;
}

static int32_t put_unvisited(inv_demonstration *d, const invit_instance *p, int32_t k)
{
    for (int32_t i = 0; i < p->n; i++)
        if (!d->done[i]) put(d, p, k++, i);
    return k;
}

static void mark_visited(inv_demonstration *d, const invit_instance *p, const int32_t *order, int32_t count)
{
    memset(d->done, 0, (size_t)p->n * sizeof *d->done);
    for (int32_t i = 0; i < count; i++) d->done[order[i]] = true;
}

/* What is asked of the expert: the best way from `at`, which is not among the unvisited nodes, through all that is
 * not done. TSP: to `first`. CVRP: from customer `at` with `load` left, or from the depot (at = 0). */
typedef struct question {
    inv_expert *expert;
    const invit_instance *p;
    int32_t at, first, load;
    double effort;
    uint64_t seed;
} question;

/* As a tour of *count nodes with the edge between first and `at`. */
static invit_status solve_path(inv_demonstration *d, const question *q, int32_t *count, double *length,
                               invit_error *err)
{
    put(d, q->p, 0, q->at);
    put(d, q->p, 1, q->first);
    *count = put_unvisited(d, q->p, 2);
    inv_tsp_request r = {d->xy, *count, 0, 1, q->effort, q->seed};
    return inv_expert_tsp(q->expert, &r, d->nodes, length, err);
}

static invit_status solve_routes(inv_demonstration *d, const question *q, int32_t *routes, double *length,
                                 invit_error *err)
{
    bool open = q->at != 0;
    put(d, q->p, 0, 0);
    if (open) put(d, q->p, 1, q->at);
    int32_t k = put_unvisited(d, q->p, open ? 2 : 1);
    int32_t beginning = open ? 1 : -1;
    int32_t load = open ? q->load : 0;
    inv_cvrp_request r = {d->xy, d->demand, k, (int32_t)q->p->capacity, beginning, load, q->effort, q->seed};
    inv_cvrp_answer a = {.nodes = d->nodes, .start = d->start};
    INV_CHECK(inv_expert_cvrp(q->expert, &r, &a, err));
    *routes = a.routes;
    *length = a.length;
    return INVIT_OK;
}

/* The path that solve_path found, without its ends, as nodes of the instance. */
static int32_t path_order(const inv_demonstration *d, int32_t k, int32_t *order)
{
    int32_t at = 0;
    while (d->nodes[at] != 0) at++;
    int32_t step = d->nodes[(at + 1) % k] == 1 ? k - 1 : 1; /* away from `first` */
    for (int32_t i = 1; i < k - 1; i++) order[i - 1] = d->map[d->nodes[(at + (int64_t)step * i) % k]];
    return k - 2;
}

static invit_status complete_tsp(inv_demonstration *d, const question *q, invit_error *err)
{
    int32_t k;
    double length;
    INV_CHECK(solve_path(d, q, &k, &length, err));
    d->count += path_order(d, k, d->order + d->count);
    return INVIT_OK;
}

static invit_status complete_cvrp(inv_demonstration *d, const question *q, invit_error *err)
{
    int32_t routes;
    double length;
    INV_CHECK(solve_routes(d, q, &routes, &length, err));
    int32_t *added = d->order + d->count;
    int32_t count = inv_order_routes(d->xy, d->nodes, d->start, routes, q->at != 0, added);
    if (count < 0) return inv_no_memory(err, (size_t)routes * sizeof(leg));
    for (int32_t i = 0; i < count; i++) added[i] = d->map[added[i]];
    d->count += count;
    return INVIT_OK;
}

/* The walk as it stands. */
static question ask_about(inv_expert *e, const invit_instance *p, const inv_walk *w, double effort,
                          uint64_t seed)
{
    int32_t count;
    const int32_t *order = inv_walk_order(w, &count);
    return (question){.expert = e,
                      .p = p,
                      .at = inv_walk_last(w),
                      .first = count > 0 ? order[0] : 0,
                      .load = p->problem == INVIT_CVRP ? inv_walk_load(w) : 0,
                      .effort = effort,
                      .seed = seed};
}

invit_status inv_demonstration_complete(inv_demonstration *d, inv_expert *e, const invit_instance *p,
                                        const inv_walk *w, double effort, inv_rng *rng, invit_error *err)
{
    question q = ask_about(e, p, w, effort, inv_rng_u64(rng));
    const int32_t *order = inv_walk_order(w, &d->count);
    memcpy(d->order, order, (size_t)d->count * sizeof *order);
    d->own = d->count;
    mark_visited(d, p, order, d->count);
    return p->problem == INVIT_TSP ? complete_tsp(d, &q, err) : complete_cvrp(d, &q, err);
}

/* The cost to the end. `found` is the number of nodes (TSP) or of routes. */
static invit_status cost_of(inv_demonstration *d, const question *q, int32_t *found, double *cost,
                            invit_error *err)
{
    if (q->p->problem == INVIT_CVRP) return solve_routes(d, q, found, cost, err);
    INV_CHECK(solve_path(d, q, found, cost, err));
    *cost -= inv_straight(q->p, q->at, q->first);
    return INVIT_OK;
}

static void mark_walk(inv_demonstration *d, const invit_instance *p, const inv_walk *w)
{
    int32_t count;
    const int32_t *order = inv_walk_order(w, &count);
    mark_visited(d, p, order, count);
}

invit_status inv_cost_after(inv_demonstration *d, inv_expert *e, const invit_instance *p, const inv_walk *w,
                            int32_t node, double effort, uint64_t seed, double *cost, invit_error *err)
{
    int32_t found;
    question q = ask_about(e, p, w, effort, seed);
    q.at = node;
    q.load = p->problem == INVIT_TSP || node == 0 ? 0 : q.load - p->demand[node];
    mark_walk(d, p, w);
    INV_CHECK(cost_of(d, &q, &found, cost, err));
    *cost += inv_straight(p, inv_walk_last(w), node);
    return INVIT_OK;
}

invit_status inv_cost_to_go(inv_demonstration *d, inv_expert *e, const invit_instance *p, const inv_walk *w,
                            double effort, uint64_t seed, double *cost, invit_error *err)
{
    int32_t found;
    question q = ask_about(e, p, w, effort, seed);
    mark_walk(d, p, w);
    INV_CHECK(cost_of(d, &q, &found, cost, err));
    if (p->problem == INVIT_TSP) {
        inv_plan_path(&d->plan, q.at, d->order, path_order(d, found, d->order), q.first);
    } else {
        for (int32_t i = 0; i < d->start[found]; i++) d->nodes[i] = d->map[d->nodes[i]];
        inv_plan_routes(&d->plan, q.at, d->nodes, d->start, found);
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

invit_status inv_replay(inv_walk *w, const inv_config *c, const inv_demonstration *d, const inv_frame *f,
                        double share, inv_rng *rng, inv_buffer *buffer, inv_replay_tally *tally,
                        invit_error *err)
{
    int32_t first = c->problem == INVIT_TSP ? 1 : 0;
    inv_walk_start(w, first ? d->order[0] : 0, f);
    for (int32_t i = first; i < d->count; i++) {
        if (i >= d->own && (inv_rng_double(rng) < share || (d->own > 0 && i == d->own))) {
            inv_state s;
            inv_walk_view(w, &s);
            if (inv_choices(&s) > 1) {
                int32_t label = inv_candidate_of(c, &s, d->order[i]);
                tally->seen++;
                if (label < 0)
                    tally->skipped++;
                else
                    INV_CHECK(inv_buffer_add(buffer, &s, label, NULL, err));
            }
        }
        inv_walk_visit(w, d->order[i]);
    }
    return INVIT_OK;
}
