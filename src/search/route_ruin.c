/* Ruin and recreate: strings of customers are taken out of neighbouring routes and inserted greedily, with
 * blinks, under simulated annealing. */
#include "base/cancel.h"
#include "search/route_part.h"

#include "base/clock.h"
#include "search/route_fit.h"

/* The paper's constants. */
#define REMOVED_ON_AVERAGE 10.0
#define LONGEST_STRING     10.0
#define SPLIT_STRING       0.5
#define SPLIT_GROWS        0.01
#define STEPS_PER_CLOCK    16
#define ENDS               8 /* routes tried at their ends before a new one is opened */
#define LOCAL_RANGE        3.0 /* temperatures by which a step may be longer for a local search to be worth it */

/* ---- ruin: adjacent string removal ------------------------------------------------------------- */

static void remove_customer(inv_route_part *q, int32_t v)
{
    inv_route_unlink(q, v);
    q->removed[q->removals++] = v;
}

/* Customers of c's route that may be taken out; those are behind the fixed ones. */
static int32_t free_around(const inv_route_part *q, int32_t c)
{
    int32_t count = 1;
    for (int32_t v = q->node[c].next; v < q->n; v = q->node[v].next) count++;
    for (int32_t v = q->node[c].prev; v < q->n && !q->node[v].fixed; v = q->node[v].prev) count++;
    return count;
}

/* Takes a string of `length` customers that has c in it out of c's route; a split string leaves some in its
 * middle. */
static void remove_string(inv_route_part *q, int32_t c, int32_t length, inv_rng *rng)
{
    int32_t r = q->node[c].route, size = q->frozen ? free_around(q, c) : q->size[r];
    int32_t left = 0;
    if (length > size) length = size;
    if (length > 1 && length < size && inv_rng_double(rng) < SPLIT_STRING) {
        left = 1;
        while (length + left < size && inv_rng_double(rng) < SPLIT_GROWS) left++;
    }
    int32_t span = length + left, back = 0, ahead = 0, first = c;
    for (int32_t v = q->node[c].next; v < q->n && ahead < span - 1; v = q->node[v].next) ahead++;
    for (int32_t v = q->node[c].prev; v < q->n && !q->node[v].fixed && back < span - 1; v = q->node[v].prev)
        back++;
    int32_t least = span - 1 - ahead;
    back = least + (int32_t)inv_rng_below(rng, (uint32_t)(back - least + 1));
    while (back-- > 0) first = q->node[first].prev;

    int32_t prev = q->node[first].prev;
    int32_t head = left ? 1 + (int32_t)inv_rng_below(rng, (uint32_t)(length - 1)) : length;
    for (int32_t i = 0, v = first; i < span; i++) {
        int32_t next = q->node[v].next;
        if (i < head || i >= head + left) remove_customer(q, v);
        v = next;
    }
    inv_route_refresh(q, r);
    if (!q->triangle && q->size[r] > 0 && !inv_route_possible(q, prev)) q->broken = true;
}

void inv_route_ruin(inv_route_part *q, int32_t seed, inv_rng *rng)
{
    double mean = (double)(q->n - 1) / (q->routes > 0 ? q->routes : 1);
    double longest = mean < LONGEST_STRING ? mean : LONGEST_STRING;
    double most = 4 * REMOVED_ON_AVERAGE / (1 + longest) - 1;
    int32_t strings = (int32_t)(1 + inv_rng_double(rng) * most);
    const int32_t *near = q->near + (size_t)seed * (size_t)q->k;

    q->removals = 0;
    q->broken = false;
    q->stamp_now++;
    for (int32_t i = -1; i < q->k && strings > 0; i++) {
        int32_t c = i < 0 ? seed : near[i];
        if (c == 0) break;
        int32_t r = q->node[c].route;
        if (r == q->n || q->stamp[r] == q->stamp_now || q->node[c].fixed) continue;
        q->stamp[r] = q->stamp_now;
        double most_here = q->size[r] < longest ? q->size[r] : longest;
        remove_string(q, c, (int32_t)(1 + inv_rng_double(rng) * most_here), rng);
        strings--;
    }
}

/* ---- recreate: greedy insertion with blinks ---------------------------------------------------- */

void inv_route_draw_blink(inv_route_part *q, inv_rng *rng)
{
    const double rate = 0.01005033585350145; /* -log(1 - 0.01): one in a hundred */
    q->blink_in = (int64_t)(inv_rng_exponential(rng) / rate);
}

static inline bool blinks(inv_route_part *q, inv_rng *rng)
{
    if (q->blink_in-- > 0) return false;
    inv_route_draw_blink(q, rng);
    return true;
}

/* Neighbours whose route has room, without a branch: which ones do is hard to predict. */
static int32_t find_room(const inv_route_part *q, const int32_t *near, int32_t demand)
{
    const int32_t *room = q->room, *size = q->size;
    int32_t *restrict fits = q->fits, k = q->k, count = 0, most = q->max_stops;
    for (int32_t i = 0; i < k; i++) {
        int32_t u = near[i];
        if (u == 0) break;
        int32_t r = q->node[u].route;
        fits[count] = i;
        count += (room[r] >= demand) & (size[r] < most);
    }
    return count;
}

typedef struct place {
    int32_t prev; /* -1: none */
    double cost;
} place;

/* Considers v between prev and its next one; `in` is the length from prev, `out` to the next. */
static inline void consider(inv_route_part *q, int32_t v, int32_t prev, double in, double out, place *best,
                            inv_rng *rng)
{
    double added = in + out - q->node[prev].out;
    if (added < best->cost && inv_route_fits(q, v, prev, q->node[prev].next, in, out) && !blinks(q, rng))
        *best = (place){prev, added};
}

/* Any place in any route: when there is none next to a neighbour. */
static place search_all(inv_route_part *q, int32_t v, inv_rng *rng)
{
    place best = {-1, INFINITY};
    const inv_route_node *node = q->node, *c = &node[v];
    for (int32_t u = 1; u < q->n; u++) {
        int32_t r = node[u].route;
        if (q->room[r] < c->demand || q->size[r] >= q->max_stops) continue;
        consider(q, v, u, inv_route_edge(q, &node[u], c), inv_route_edge(q, c, &node[node[u].next]), &best,
                 rng);
        int32_t prev = node[u].prev;
        if (prev >= q->n)
            consider(q, v, prev, inv_route_edge(q, &node[prev], c), inv_route_edge(q, c, &node[u]), &best,
                     rng);
    }
    return best;
}

/* A route of its own, if there may be one more. */
static place own_route(inv_route_part *q, int32_t v)
{
    if (q->routes >= q->max_routes) return (place){-1, INFINITY};
    int32_t end = q->n + inv_route_empty(q);
    double in = inv_route_edge(q, &q->node[end], &q->node[v]);
    double out = inv_route_edge(q, &q->node[v], &q->node[end]);
    if (q->node[v].demand > q->capacity || !inv_route_fits(q, v, end, end, in, out))
        return (place){-1, INFINITY};
    return (place){end, in + out};
}

/* Where no neighbour's vehicle has room, those of other places may pass by on their way to or from the depot. */
static void look_at_ends(inv_route_part *q, int32_t v, place *best, inv_rng *rng)
{
    const inv_route_node *node = q->node, *c = &node[v], *depot = &node[q->n];
    double from_home = inv_route_edge(q, depot, c), to_home = inv_route_edge(q, c, depot);
    for (int i = 0; i < ENDS; i++) {
        int32_t r = node[1 + (int32_t)inv_rng_below(rng, (uint32_t)(q->n - 1))].route, end = q->n + r;
        if (r == q->n || q->room[r] < c->demand || q->size[r] >= q->max_stops) continue;
        const inv_route_node *first = &node[node[end].next], *last = &node[node[end].prev];
        consider(q, v, end, from_home, inv_route_edge(q, c, first), best, rng);
        consider(q, v, node[end].prev, inv_route_edge(q, last, c), to_home, best, rng);
    }
}

/* The cheapest place next to one of the customer's neighbours, or a route of its own; -1: none at all. */
static int32_t best_place(inv_route_part *q, int32_t v, inv_rng *rng)
{
    const inv_route_node *node = q->node, *c = &node[v], *depot = &node[q->n];
    const int32_t *near = q->near + (size_t)v * (size_t)q->k;
    const float *length = q->near_length + (size_t)v * (size_t)q->k;
    int32_t count = find_room(q, near, c->demand);
    place best = own_route(q, v);
    double from_home = inv_route_edge(q, depot, c), to_home = inv_route_edge(q, c, depot);

    for (int32_t j = 0; j < count; j++) {
        int32_t i = q->fits[j];
        const inv_route_node *u = &node[near[i]], *p = &node[u->prev];
        /* A customer at the edge's other end is no nearer than u, or the edge has been seen from there. */
        double d = length[i];
        bool behind = d + (u->next >= q->n ? to_home : d) - u->out < best.cost;
        bool before = d + (u->prev >= q->n ? from_home : d) - p->out < best.cost;
        if (!behind && !before) continue;
        double from = inv_route_edge(q, u, c), to = q->symmetric ? from : inv_route_edge(q, c, u);
        if (behind) consider(q, v, near[i], from, inv_route_edge(q, c, &node[u->next]), &best, rng);
        if (before) consider(q, v, u->prev, inv_route_edge(q, p, c), to, &best, rng);
    }
    bool opens = best.prev >= q->n && q->size[best.prev - q->n] == 0;
    if (opens) look_at_ends(q, v, &best, rng);
    if (best.prev < 0 && q->routes > 0) best = search_all(q, v, rng);
    return best.prev;
}

static double sort_key(const inv_route_part *q, int32_t v, inv_route_order order, inv_rng *rng)
{
    const inv_route_node *depot = &q->node[q->n];
    switch (order) {
    case INV_ROUTE_DEMAND:
        return -(double)q->node[v].demand;
    case INV_ROUTE_FAR:
        return -inv_route_edge(q, depot, &q->node[v]);
    case INV_ROUTE_CLOSE:
        return inv_route_edge(q, depot, &q->node[v]);
    case INV_ROUTE_NARROW:
        return q->stop[v].latest - q->stop[v].earliest;
    case INV_ROUTE_OPENS:
        return q->stop[v].earliest;
    case INV_ROUTE_CLOSES:
        return -q->stop[v].latest;
    default:
        return inv_rng_double(rng);
    }
}

static void sort_removed(inv_route_part *q, inv_route_order order, inv_rng *rng)
{
    for (int32_t i = 0; i < q->removals; i++) {
        int32_t v = q->removed[i], j = i;
        double key = sort_key(q, v, order, rng);
        for (; j > 0 && q->key[j - 1] > key; j--) {
            q->key[j] = q->key[j - 1];
            q->removed[j] = q->removed[j - 1];
        }
        q->key[j] = key;
        q->removed[j] = v;
    }
}

void inv_route_recreate(inv_route_part *q, inv_rng *rng)
{
    static const uint8_t weighted[] = {INV_ROUTE_RANDOM, INV_ROUTE_RANDOM, INV_ROUTE_RANDOM, INV_ROUTE_RANDOM,
                                       INV_ROUTE_DEMAND, INV_ROUTE_DEMAND, INV_ROUTE_DEMAND, INV_ROUTE_DEMAND,
                                       INV_ROUTE_FAR,    INV_ROUTE_FAR,    INV_ROUTE_CLOSE,  INV_ROUTE_NARROW,
                                       INV_ROUTE_NARROW, INV_ROUTE_OPENS,  INV_ROUTE_OPENS,  INV_ROUTE_CLOSES,
                                       INV_ROUTE_CLOSES};
    sort_removed(q, (inv_route_order)weighted[inv_rng_below(rng, q->windows ? 17 : 11)], rng);
    q->absents = 0;
    for (int32_t i = 0; i < q->removals; i++) {
        int32_t v = q->removed[i], prev = best_place(q, v, rng);
        if (prev >= 0)
            inv_route_link(q, v, prev);
        else
            q->absent[q->absents++] = v;
    }
}

/* ---- the whole --------------------------------------------------------------------------------- */

static void sift(inv_route_part *q, int32_t at, int32_t count)
{
    for (int32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && q->key[child + 1] > q->key[child]) child++;
        if (q->key[at] >= q->key[child]) return;
        double key = q->key[at];
        int32_t v = q->removed[at];
        q->key[at] = q->key[child];
        q->removed[at] = q->removed[child];
        q->key[child] = key;
        q->removed[child] = v;
    }
}

/* All at once: too many for sorting by insertion. */
static void sort_all(inv_route_part *q, inv_route_order order, inv_rng *rng)
{
    int32_t count = q->removals;
    for (int32_t i = 0; i < count; i++) q->key[i] = sort_key(q, q->removed[i], order, rng);
    for (int32_t i = count / 2 - 1; i >= 0; i--) sift(q, i, count);
    for (int32_t last = count - 1; last > 0; last--) {
        double key = q->key[0];
        int32_t v = q->removed[0];
        q->key[0] = q->key[last];
        q->removed[0] = q->removed[last];
        q->key[last] = key;
        q->removed[last] = v;
        sift(q, 0, last);
    }
}

bool inv_route_part_insert_all(inv_route_part *q, const invit_solution *given, inv_route_order order,
                               inv_rng *rng, int32_t *who)
{
    if (given)
        inv_route_part_set(q, given->nodes, given->start, given->routes);
    else
        inv_route_clear(q);
    q->removals = 0;
    for (int32_t v = 1; v < q->n; v++)
        if (q->node[v].route == q->n) q->removed[q->removals++] = v;
    sort_all(q, order, rng);
    for (int32_t v = 0; v < q->n; v++) q->missed[v] = 1;
    for (int32_t i = 0; i < q->removals; i++) {
        int32_t prev = best_place(q, q->removed[i], rng);
        *who = q->removed[i];
        if (prev < 0) return false;
        inv_route_link(q, q->removed[i], prev);
        inv_route_keep(q);
    }
    inv_route_settle(q);
    return true;
}

int64_t inv_route_part_run(inv_route_part *q, const inv_route_run *run, inv_rng *rng)
{
    if (q->n < 2) return 0;
    double temperature = run->hot;
    int64_t step = 0;
    inv_route_draw_blink(q, rng);
    for (; step < run->steps; step++) {
        if (step % STEPS_PER_CLOCK == 0) {
            double done = (double)step / (double)run->steps;
            if (inv_flag_set(run->cancel)) break;
            if (run->deadline < INFINITY) {
                double now = inv_now();
                if (now >= run->deadline) break;
                done = inv_route_max(done, (now - run->from) / (run->deadline - run->from));
            }
            temperature = run->hot * pow(run->cold / run->hot, done);
        }
        double before = q->length;
        int32_t routes = q->routes;
        inv_route_ruin(q, 1 + (int32_t)inv_rng_below(rng, (uint32_t)(q->n - 1)), rng);
        if (!q->broken) inv_route_recreate(q, rng);
        if (q->turns && !q->broken && q->absents == 0 && q->length < before + LOCAL_RANGE * temperature)
            inv_route_local_search(q);
        bool fewer = q->fewest && q->routes < routes;
        if (!q->broken && q->absents == 0 &&
            (fewer || q->length < before + temperature * inv_rng_exponential(rng))) {
            inv_route_keep(q);
            if (inv_route_better(q, q->routes, q->length, q->best_routes, q->best_length)) {
                inv_route_remember_best(q);
                if (q->fewest) q->max_routes = q->routes;
            }
        } else {
            inv_route_undo(q);
            q->length = before;
        }
    }
    q->absents = 0;
    return step;
}
