#include "search/cvrp_part.h"

#include "search/cvrp_exchange.h"
#include "search/cvrp_insert.h"
#include "search/cvrp_local.h"
#include "search/cvrp_moves.h"
#include "search/cvrp_ruin.h"

#include "base/cancel.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_PER_CLOCK 16
/* The local search makes good what recreate left too long: in mean edges, how far above the threshold a step may be for
 * that. Steps farther away are hardly ever brought below it, and cost as much. */
#define WORTH_MENDING 6.0
/* What a route counts when steps are given up, in temperatures: hot solutions have more routes than short ones, and merging
 * them later takes many changes together. */
#define ROUTE_PRICE 40.0
/* Routes of so many customers move chains of at most two: their steps are dear, and they need many. */
#define LONG_ROUTE  40
#define SHORT_CHAIN 2

void inv_cvrp_part_destroy(inv_cvrp_part *q)
{
    free(q->node);
    free(q->near);
    free(q->near_length);
    free(q->route);
    free(q->fits);
    free(q->room);
    free(q->size);
    free(q->best_next);
    free(q->stamp);
    free(q->empty);
    free(q->in_empty);
    free(q->removed);
    free(q->key);
    free(q->dirty);
    free(q->is_dirty);
    free(q->change);
    free(q->old_next);
    free(q->changed_in);
    free(q->load_to);
    free(q->loads_known);
    free(q->queue);
    free(q->queued);
    free(q->chains_tried);
    free(q->left);
    free(q->left_at);
    free(q->absences);
    memset(q, 0, sizeof *q);
}

static bool grow(void *array, size_t count, size_t size)
{
    void *p;
    memcpy(&p, array, sizeof p); /* whatever it points to, all pointers look alike */
    p = realloc(p, count * size);
    if (p) memcpy(array, &p, sizeof p);
    return p != NULL;
}

invit_status inv_cvrp_part_begin(inv_cvrp_part *q, invit_metric metric, int32_t n, int32_t k,
                                 int32_t capacity, invit_error *err)
{
    size_t m = (size_t)n, near = m * (size_t)k;
    if (n > q->reserved_n) {
        /* A step may take every customer out and put it back, and some of them twice. */
        size_t removals = m + INV_CVRP_MOST_EJECTIONS,
               changes = 2 * removals + INV_CVRP_EXCHANGE_CHANGES * INV_CVRP_LOCAL_MOVES;
        if (!grow(&q->node, 2 * m, sizeof *q->node) || !grow(&q->room, m + 1, sizeof *q->room) ||
            !grow(&q->route, 2 * m, sizeof *q->route) || !grow(&q->size, m, sizeof *q->size) ||
            !grow(&q->best_next, 2 * m, sizeof *q->best_next) || !grow(&q->stamp, m, sizeof *q->stamp) ||
            !grow(&q->empty, m, sizeof *q->empty) || !grow(&q->in_empty, m, sizeof *q->in_empty) ||
            !grow(&q->removed, removals, sizeof *q->removed) || !grow(&q->key, m, sizeof *q->key) ||
            !grow(&q->dirty, 2 * m, sizeof *q->dirty) || !grow(&q->is_dirty, 2 * m, sizeof *q->is_dirty) ||
            !grow(&q->change, changes, sizeof *q->change) ||
            !grow(&q->old_next, 2 * m, sizeof *q->old_next) ||
            !grow(&q->changed_in, 2 * m, sizeof *q->changed_in) ||
            !grow(&q->load_to, 2 * m, sizeof *q->load_to) ||
            !grow(&q->loads_known, m, sizeof *q->loads_known) || !grow(&q->queue, 2 * m, sizeof *q->queue) ||
            !grow(&q->queued, 2 * m, sizeof *q->queued) ||
            !grow(&q->chains_tried, m, sizeof *q->chains_tried) || !grow(&q->left, m, sizeof *q->left) ||
            !grow(&q->left_at, m, sizeof *q->left_at) || !grow(&q->absences, m, sizeof *q->absences))
            return inv_no_memory(err, m * 200);
        q->reserved_n = n;
    }
    if (near > q->reserved_near) {
        if (!grow(&q->near, near, sizeof *q->near) || !grow(&q->near_length, near, sizeof *q->near_length))
            return inv_no_memory(err, near * sizeof *q->near);
        q->reserved_near = near;
    }
    if (k > q->reserved_k) {
        if (!grow(&q->fits, (size_t)k, sizeof *q->fits))
            return inv_no_memory(err, (size_t)k * sizeof *q->fits);
        q->reserved_k = k;
    }
    q->metric = metric;
    q->n = n;
    q->k = k;
    q->capacity = capacity;
    q->longest_chain = INV_CVRP_LONGEST_CHAIN;
    q->local_moves = 0;
    q->near_first = false;
    q->pinned = 0;
    q->per_route = 0;
    return INVIT_OK;
}

/* ---- recreate: greedy insertion with blinks ---------------------------------------------------- */

/* What steps are judged by. */
static double cost(const inv_cvrp_part *q)
{
    return q->length + q->per_route * q->routes;
}

/* False: the solution cost more than `limit` before all customers were back, and could only grow. Fast steps try
 * ejections before that. */
static bool recreate(inv_cvrp_part *q, double limit, inv_rng *rng)
{
    inv_cvrp_sort_removed(q, rng);
    int32_t most = q->removals + INV_CVRP_MOST_EJECTIONS;
    for (int32_t i = 0; i < q->removals; i++) {
        int32_t v = q->removed[i];
        inv_cvrp_place_found found = inv_cvrp_place_anywhere(q, v, rng);
        if (cost(q) + found.added > limit) {
            if (!q->give_up || q->removals + INV_CVRP_MOST_EJECTED > most) return false;
            inv_cvrp_ejection e = inv_cvrp_find_ejection(q, v, limit - cost(q), rng);
            if (e.count == 0) return false;
            inv_cvrp_eject(q, v, &e);
        } else
            inv_cvrp_link_after(q, v, found.place);
    }
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------- */

static void clear(inv_cvrp_part *q)
{
    int32_t n = q->n;
    q->length = 0;
    q->routes = 0;
    q->changes = 0;
    q->dirties = 0;
    q->empties = 0;
    q->stamp_now = 0;
    q->blink_in = 50;
    q->room[n] = -1;
    for (int32_t r = n - 1; r >= 0; r--) {
        inv_cvrp_node *end = &q->node[n + r];
        *end = (inv_cvrp_node){.next = n + r, .prev = n + r, .x = q->node[0].x, .y = q->node[0].y};
        q->route[r] = n;
        q->route[n + r] = r;
        q->room[r] = q->capacity;
        q->size[r] = 0;
        q->stamp[r] = 0;
        q->in_empty[r] = false;
        q->loads_known[r] = false;
        inv_cvrp_note_empty(q, r);
    }
    memset(q->queued, 0, 2 * (size_t)n * sizeof *q->queued);
    memset(q->changed_in, 0, 2 * (size_t)n * sizeof *q->changed_in);
    q->step = 1;
    memset(q->chains_tried, 0, (size_t)n * sizeof *q->chains_tried);
    q->state = 0;
    memset(q->is_dirty, 0, 2 * (size_t)n * sizeof *q->is_dirty);
}

void inv_cvrp_part_measure(inv_cvrp_part *q)
{
    for (int32_t v = 1; v < q->n; v++) {
        size_t row = (size_t)v * (size_t)q->k;
        for (int32_t i = 0; i < q->k && q->near[row + (size_t)i] != 0; i++) {
            double d = inv_cvrp_distance(q, v, q->near[row + (size_t)i]);
            float f = (float)d;
            q->near_length[row + (size_t)i] = (double)f > d ? nextafterf(f, 0) : f;
        }
    }
}

/* What was linked so far is the solution to start from. */
static void settle(inv_cvrp_part *q)
{
    q->changes = 0;
    for (int32_t v = 0; v < 2 * q->n; v++) q->best_next[v] = q->node[v].next;
    q->best_length = q->length;
}

void inv_cvrp_part_set(inv_cvrp_part *q, const int32_t *nodes, const int32_t *start, int32_t routes)
{
    clear(q);
    for (int32_t r = 0; r < routes; r++)
        for (int32_t i = start[r]; i < start[r + 1]; i++)
            inv_cvrp_link_after(q, nodes[i], i == start[r] ? q->n + r : nodes[i - 1]);
    settle(q);
}

void inv_cvrp_part_insert_all(inv_cvrp_part *q, int32_t pinned, inv_rng *rng)
{
    clear(q);
    q->pinned = pinned;
    if (pinned) inv_cvrp_link_after(q, pinned, q->n);
    q->removals = 0;
    for (int32_t v = 1; v < q->n; v++)
        if (v != pinned) q->removed[q->removals++] = v;
    for (int32_t i = q->removals - 1; i > 0; i--) {
        int32_t j = (int32_t)inv_rng_below(rng, (uint32_t)i + 1), v = q->removed[i];
        q->removed[i] = q->removed[j];
        q->removed[j] = v;
    }
    for (int32_t i = 0; i < q->removals; i++)
        inv_cvrp_link_after(q, q->removed[i], inv_cvrp_place_anywhere(q, q->removed[i], rng).place);
    settle(q);
}

void inv_cvrp_part_take(inv_cvrp_part *q, const inv_cvrp_part *from)
{
    size_t n = (size_t)q->n;
    memcpy(q->node, from->node, 2 * n * sizeof *q->node);
    memcpy(q->route, from->route, 2 * n * sizeof *q->route);
    memcpy(q->room, from->room, n * sizeof *q->room);
    memcpy(q->size, from->size, n * sizeof *q->size);
    memcpy(q->empty, from->empty, n * sizeof *q->empty);
    memcpy(q->in_empty, from->in_empty, n * sizeof *q->in_empty);
    memset(q->loads_known, 0, n * sizeof *q->loads_known);
    q->empties = from->empties;
    q->routes = from->routes;
    q->length = from->length;
    for (int32_t v = 1; v < 2 * q->n; v++) inv_cvrp_mark_dirty(q, v);
    if (q->length < q->best_length) inv_cvrp_remember_best(q);
}

int64_t inv_cvrp_part_run(inv_cvrp_part *q, const inv_cvrp_run *run, inv_rng *rng)
{
    if (q->n < 2) return 0;
    double temperature = run->hot;
    int64_t step = 0;
    inv_cvrp_draw_blink(q, rng);
    q->unit = inv_cvrp_part_unit(q);
    q->give_up = run->give_up;
    q->near_first = run->near_first;
    q->longest_chain = q->n > LONG_ROUTE * q->routes ? SHORT_CHAIN : INV_CVRP_LONGEST_CHAIN;
    q->local_moves = run->local_moves;
    double mending = run->worth_mending > 0 ? run->worth_mending : WORTH_MENDING;
    double slack = q->give_up ? 0 : mending * q->unit;
    for (; step < run->steps; step++) {
        if (step % STEPS_PER_CLOCK == 0) {
            double done = (double)step / (double)run->steps;
            if (inv_flag_set(run->cancel)) break;
            if (run->deadline < INFINITY) {
                double now = inv_now();
                if (now >= run->deadline) break;
                done = fmax(done, (now - run->from) / (run->deadline - run->from));
            }
            temperature = run->hot * pow(run->cold / run->hot, done);
            q->per_route = q->give_up ? ROUTE_PRICE * temperature : 0;
        }
        /* The threshold is drawn first: most steps are refused, and then long before they are whole. */
        double before = q->length, limit = cost(q) + temperature * inv_rng_exponential(rng);
        inv_cvrp_ruin(q, 1 + (int32_t)inv_rng_below(rng, (uint32_t)(q->n - 1)), rng);
        bool mendable = recreate(q, limit + slack, rng);
        if (mendable) inv_cvrp_local_search(q);
        if (mendable && cost(q) < limit) {
            inv_cvrp_keep(q);
            if (q->length < q->best_length) inv_cvrp_remember_best(q);
        } else {
            inv_cvrp_undo(q);
            q->length = before;
        }
    }
    return step;
}

double inv_cvrp_part_unit(const inv_cvrp_part *q)
{
    double sum = 0;
    int32_t edges = 0;
    for (int32_t v = 1; v < q->n; v++) {
        if (q->node[v].next >= q->n) continue;
        sum += q->node[v].out;
        edges++;
    }
    if (sum > 0) return sum / edges;
    return q->length > 0 ? q->length / q->n : 1;
}

int32_t inv_cvrp_part_routes(const inv_cvrp_part *q, bool best, int32_t *nodes, int32_t *start)
{
    int32_t routes = 0, count = 0;
    start[0] = 0;
    for (int32_t r = 0; r < q->n; r++) {
        int32_t end = q->n + r;
        for (int32_t v = best ? q->best_next[end] : q->node[end].next; v != end;
             v = best ? q->best_next[v] : q->node[v].next)
            nodes[count++] = v;
        if (count > start[routes]) start[++routes] = count;
    }
    return routes;
}
