/* 2-opt within a route and 2-opt* between two, in both directions, around what a step has inserted. For lengths that
 * are the same both ways and routes without windows: there a path that is turned round keeps its limits. */
#include "search/route_part.h"

#include "search/route_fit.h"

enum { MOST_NEIGHBOURS = 10, MOST_MOVES = 6 };

/* The edges (a, next of a) and (b, next of b) go; a-b and next-next come (turned), or a-next of b and b-next of a. */
typedef struct move {
    int32_t a, b;
    bool turned;
} move;

/* What adds up along a piece of a route. */
typedef struct sums {
    int32_t load, stops;
    double length, time;
} sums;

static sums plus(sums x, sums y, double length, double time)
{
    return (sums){x.load + y.load, x.stops + y.stops, x.length + y.length + length, x.time + y.time + time};
}

static double travel_out(const inv_route_part *q, int32_t v)
{
    return q->same_time ? q->node[v].out : q->stop[v].time_out;
}

/* From the depot to v with it, and from behind v back to the depot; the edge between them is in neither. */
static void split(const inv_route_part *q, int32_t v, sums *head, sums *tail)
{
    int32_t end = q->n + q->node[v].route;
    sums *part = head;
    *head = *tail = (sums){0};
    for (int32_t u = end;;) {
        int32_t next = q->node[u].next;
        if (u == v)
            part = tail;
        else
            part->length += q->node[u].out, part->time += travel_out(q, u);
        if (next == end) break;
        part->load += q->node[next].demand;
        part->stops++;
        part->time += q->stop[next].service;
        u = next;
    }
}

static bool keeps(const inv_route_part *q, sums s)
{
    return s.load <= q->capacity && s.stops <= q->max_stops && s.length <= q->max_length + q->slack &&
           s.time <= q->max_duration + q->slack;
}

static bool fits(const inv_route_part *q, const move *m, int32_t x, int32_t y)
{
    const inv_route_node *node = q->node;
    int32_t from = m->a, to = m->turned ? m->b : y;
    int32_t other = m->turned ? x : m->b;
    int32_t last = m->turned ? y : x;
    double first = inv_route_edge(q, &node[from], &node[to]),
           second = inv_route_edge(q, &node[other], &node[last]);
    double first_time = inv_route_travel(q, &node[from], &node[to], first);
    double second_time = inv_route_travel(q, &node[other], &node[last], second);
    sums head_a, tail_a, head_b, tail_b;
    split(q, m->a, &head_a, &tail_a);
    split(q, m->b, &head_b, &tail_b);
    if (m->turned)
        return keeps(q, plus(head_a, head_b, first, first_time)) &&
               keeps(q, plus(tail_a, tail_b, second, second_time));
    return keeps(q, plus(head_a, tail_b, first, first_time)) &&
           keeps(q, plus(head_b, tail_a, second, second_time));
}

/* Takes the customers from `first` to `last` out and lists them. */
static int32_t take_out(inv_route_part *q, int32_t first, int32_t last, int32_t *list)
{
    int32_t count = 0;
    for (int32_t v = first;; v = q->node[v].next) {
        if (v >= q->n) break;
        list[count++] = v;
        if (v == last) break;
    }
    for (int32_t i = 0; i < count; i++) inv_route_unlink(q, list[i]);
    return count;
}

static void put_in(inv_route_part *q, int32_t prev, const int32_t *list, int32_t count, bool turned)
{
    for (int32_t i = 0; i < count; i++) {
        int32_t v = list[turned ? count - 1 - i : i];
        inv_route_link(q, v, prev);
        prev = v;
    }
}

static void turn_within(inv_route_part *q, int32_t a, int32_t b)
{
    int32_t first = q->node[a].next, last = b, v = first;
    while (v < q->n && v != b) v = q->node[v].next;
    if (v != b || b >= q->n) first = q->node[b].next, last = a; /* b comes before a */
    int32_t prev = q->node[first].prev, count = take_out(q, first, last, q->removed);
    put_in(q, prev, q->removed, count, true);
}

static bool room_in_journal(const inv_route_part *q, int32_t moved)
{
    return q->changes + 2 * (size_t)moved + 2 <= 4 * (size_t)q->n;
}

static bool apply(inv_route_part *q, const move *m, int32_t x, int32_t y)
{
    int32_t r = q->node[m->a].route, s = q->node[m->b].route, n = q->n;
    if (!room_in_journal(q, q->size[r] + (r == s ? 0 : q->size[s]))) return false;
    if (r == s) {
        turn_within(q, m->a, m->b);
        return true;
    }
    if (!fits(q, m, x, y)) return false;
    int32_t *one = q->removed, *two = q->absent_before, ones, twos;
    if (m->turned) { /* the beginning of s turned behind a; what was behind a, turned, before y */
        ones = x < n ? take_out(q, x, -1, one) : 0;
        twos = m->b < n ? take_out(q, q->node[n + s].next, m->b, two) : 0;
        put_in(q, m->a, two, twos, true);
        put_in(q, n + s, one, ones, true);
    } else {
        ones = x < n ? take_out(q, x, -1, one) : 0;
        twos = y < n ? take_out(q, y, -1, two) : 0;
        put_in(q, m->a, two, twos, false);
        put_in(q, m->b, one, ones, false);
    }
    inv_route_refresh(q, r);
    inv_route_refresh(q, s);
    return true;
}

/* Makes the move if it shortens the routes; `added` is the length of one of the new edges, the other is u-v. */
static bool consider(inv_route_part *q, move m, double removed, double added, int32_t u, int32_t v,
                     double least)
{
    double gain = removed - added - least;
    if (gain <= 0 || inv_route_edge(q, &q->node[u], &q->node[v]) >= gain) return false;
    return apply(q, &m, q->node[m.a].next, q->node[m.b].next);
}

/* The first improving move that takes out an edge beside v for one to a neighbour. */
static bool improve_beside(inv_route_part *q, int32_t v, double least)
{
    const inv_route_node *node = q->node;
    const int32_t *near = q->near + (size_t)v * (size_t)q->k;
    const float *length = q->near_length + (size_t)v * (size_t)q->k;
    int32_t next = node[v].next, prev = node[v].prev, most = q->k < MOST_NEIGHBOURS ? q->k : MOST_NEIGHBOURS;
    double out = node[v].out, in = node[prev].out, longer = out > in ? out : in;
    for (int32_t i = 0; i < most && near[i] != 0 && (double)length[i] < longer; i++) {
        int32_t u = near[i], before = node[u].prev, behind = node[u].next;
        if (node[u].route == q->n) continue;
        bool other = node[u].route != node[v].route;
        double d = inv_route_edge(q, &node[v], &node[u]);
        if (d < out) {
            if (u != next && v != behind &&
                consider(q, (move){v, u, true}, out + node[u].out, d, next, behind, least))
                return true;
            if (other &&
                consider(q, (move){v, before, false}, out + node[before].out, d, before, next, least))
                return true;
        }
        if (d < in) {
            if (u != prev && v != before &&
                consider(q, (move){prev, before, true}, in + node[before].out, d, prev, before, least))
                return true;
            if (other && consider(q, (move){prev, u, false}, in + node[u].out, d, prev, behind, least))
                return true;
        }
    }
    return false;
}

int32_t inv_route_local_search(inv_route_part *q)
{
    int32_t moves = 0;
    double least = 1e-9 * (q->length > 1 ? q->length : 1);
    size_t made = q->changes;
    for (size_t i = 0; i < made && moves < MOST_MOVES; i++) {
        int32_t v = q->change[i].node;
        if (!q->change[i].linked || q->node[v].route == q->n) continue;
        while (moves < MOST_MOVES && improve_beside(q, v, least)) moves++;
    }
    return moves;
}
