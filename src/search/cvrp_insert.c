#include "search/cvrp_insert.h"

#include "search/cvrp_moves.h"

#define FIRST_LOOK   16 /* neighbours beside which a place is looked for; the others if that is dear */
#define ENDS         8  /* routes tried at their ends before a new one is opened */
#define EJECTED_FROM 16 /* neighbours whose place a customer may take */

void inv_cvrp_draw_blink(inv_cvrp_part *q, inv_rng *rng)
{
    const double rate = 0.01005033585350145; /* -log(1 - 0.01): one in a hundred */
    q->blink_in = (int64_t)(inv_rng_exponential(rng) / rate);
}

static inline bool blinks(inv_cvrp_part *q, inv_rng *rng)
{
    if (q->blink_in-- > 0) return false;
    inv_cvrp_draw_blink(q, rng);
    return true;
}

/* Neighbours `from` to `to` whose route has room, without a branch: which ones do is hard to predict. *end: how far
 * the list goes. */
static inline int32_t find_room(const inv_cvrp_part *q, const int32_t *near, int32_t from, int32_t to,
                                int32_t demand, bool prefetch, int32_t *end)
{
    const int32_t *route = q->route, *room = q->room;
    int32_t *restrict fits = q->fits, count = 0, i = from;
    for (; i < to && near[i] != 0; i++) {
        if (prefetch) __builtin_prefetch(&q->node[near[i]]);
        fits[count] = i;
        count += room[route[near[i]]] >= demand;
    }
    *end = i;
    return count;
}

/* Looks beside neighbours `from` to `to`; returns where the list ends, or `to`. */
static inline int32_t look_beside(inv_cvrp_part *q, int32_t v, int32_t from, int32_t to, double home,
                                  bool prefetch, inv_rng *rng, inv_cvrp_place_found *best)
{
    const inv_cvrp_node *node = q->node, *c = &node[v];
    const int32_t *near = q->near + (size_t)v * (size_t)q->k;
    const float *length = q->near_length + (size_t)v * (size_t)q->k;
    int32_t end, place = best->place, count = find_room(q, near, from, to, c->demand, prefetch, &end);
    double cost = best->added;
    for (int32_t j = 0; j < count; j++) {
        int32_t i = q->fits[j];
        const inv_cvrp_node *u = &node[near[i]], *p = &node[u->prev];
        /* A customer at the edge's other end is no nearer than u, or the edge has been seen from there. */
        double d = length[i];
        bool behind = d + (u->next >= q->n ? home : d) - u->out < cost;
        bool before = d + (u->prev >= q->n ? home : d) - p->out < cost && near[i] != q->pinned;
        if (!behind && !before) continue;
        d = inv_cvrp_between(q, c, u);
        if (behind) {
            double added = d + inv_cvrp_between(q, c, &node[u->next]) - u->out;
            if (added < cost && !blinks(q, rng)) {
                cost = added;
                place = near[i];
            }
        }
        if (before) {
            double added = d + inv_cvrp_between(q, c, p) - p->out;
            if (added < cost && !blinks(q, rng)) {
                cost = added;
                place = u->prev;
            }
        }
    }
    *best = (inv_cvrp_place_found){place, cost};
    return end;
}

inv_cvrp_place_found inv_cvrp_best_place(inv_cvrp_part *q, int32_t v, inv_rng *rng)
{
    int32_t own = q->n + inv_cvrp_empty_route(q), first = q->k < FIRST_LOOK ? q->k : FIRST_LOOK;
    double home = inv_cvrp_distance(q, v, own);
    inv_cvrp_place_found best = {own, 2 * home + q->per_route};
    if (!q->near_first) {
        look_beside(q, v, 0, q->k, home, false, rng, &best);
        return best;
    }
    int32_t seen = look_beside(q, v, 0, first, home, true, rng, &best);
    /* Farther away only long edges that pass by could be cheaper than what costs less than the way there. */
    if (seen == first && first < q->k &&
        best.added > (double)q->near_length[(size_t)v * (size_t)q->k + (size_t)seen - 1])
        look_beside(q, v, first, q->k, home, true, rng, &best);
    return best;
}

/* Where a cluster's vehicles are full, no neighbour has room, but vehicles of other clusters may pass by on their way to or
 * from the depot. */
static void look_at_ends(inv_cvrp_part *q, int32_t v, inv_rng *rng, inv_cvrp_place_found *best)
{
    double home = inv_cvrp_distance(q, v, q->n);
    for (int i = 0; i < ENDS; i++) {
        int32_t r = q->route[1 + (int32_t)inv_rng_below(rng, (uint32_t)(q->n - 1))], end = q->n + r;
        if (r == q->n || q->room[r] < q->node[v].demand) continue;
        int32_t first = q->node[end].next, last = q->node[end].prev;
        double at_first = home + inv_cvrp_distance(q, v, first) - q->node[end].out;
        double at_last = home + inv_cvrp_distance(q, v, last) - q->node[last].out;
        if (at_first < best->added && first != q->pinned) *best = (inv_cvrp_place_found){end, at_first};
        if (at_last < best->added) *best = (inv_cvrp_place_found){last, at_last};
    }
}

inv_cvrp_place_found inv_cvrp_place_anywhere(inv_cvrp_part *q, int32_t v, inv_rng *rng)
{
    inv_cvrp_place_found best = inv_cvrp_best_place(q, v, rng);
    bool opens = best.place >= q->n && q->size[best.place - q->n] == 0;
    if (opens) look_at_ends(q, v, rng, &best);
    return best;
}

/* The shortest string from u on that makes room for a customer of this demand, all of its customers having smaller
 * ones; returns its length, 0: none. */
static int32_t string_for(const inv_cvrp_part *q, int32_t u, int32_t demand, int32_t *last)
{
    int32_t room = q->room[q->route[u]];
    for (int32_t w = u, count = 1; count <= INV_CVRP_MOST_EJECTED; w = q->node[w].next, count++) {
        if (w >= q->n || w == q->pinned || q->node[w].demand >= demand) return 0;
        *last = w;
        room += q->node[w].demand;
        if (room >= demand) return count;
    }
    return 0;
}

inv_cvrp_ejection inv_cvrp_find_ejection(inv_cvrp_part *q, int32_t v, double most, inv_rng *rng)
{
    const inv_cvrp_node *node = q->node, *c = &node[v];
    const int32_t *near = q->near + (size_t)v * (size_t)q->k;
    inv_cvrp_ejection best = {.added = most};
    int32_t last = q->k < EJECTED_FROM ? q->k : EJECTED_FROM, end = 0;
    for (int32_t i = 0; i < last && near[i] != 0; i++) {
        int32_t u = near[i], r = q->route[u], room = q->room[r];
        int32_t count = r == q->n ? 0 : string_for(q, u, c->demand, &end);
        if (count == 0) continue;
        const inv_cvrp_node *p = &node[node[u].prev], *next = &node[node[end].next];
        double added = inv_cvrp_between(q, p, c) + inv_cvrp_between(q, c, next) - p->out;
        for (int32_t w = u, j = 0; j < count; w = node[w].next, j++) added -= node[w].out;
        q->room[r] = -1; /* what seems to be room there is about to be taken by v */
        for (int32_t w = u, j = 0; j < count && added < best.added; w = node[w].next, j++)
            added += inv_cvrp_best_place(q, w, rng).added;
        q->room[r] = room;
        if (added < best.added) best = (inv_cvrp_ejection){.first = u, .count = count, .added = added};
    }
    return best;
}

void inv_cvrp_eject(inv_cvrp_part *q, int32_t v, const inv_cvrp_ejection *e)
{
    int32_t before = q->node[e->first].prev, w = e->first;
    for (int32_t j = 0; j < e->count; j++) {
        int32_t next = q->node[w].next;
        inv_cvrp_unlink_node(q, w);
        q->removed[q->removals++] = w;
        w = next;
    }
    inv_cvrp_link_after(q, v, before);
}
