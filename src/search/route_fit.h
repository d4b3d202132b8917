/* Edges, and whether a customer fits between two others: constant time. */
#ifndef INVIT_SEARCH_ROUTE_FIT_H
#define INVIT_SEARCH_ROUTE_FIT_H

#include "problem/metric.h"
#include "search/route_part.h"

/* Length of the edge from a to b. */
static inline double inv_route_edge(const inv_route_part *q, const inv_route_node *a, const inv_route_node *b)
{
    if (q->open && b->id == 0) return 0;
    if (q->distance) return q->distance[(size_t)a->id * q->all + (size_t)b->id];
    double dx = a->x - b->x, dy = a->y - b->y;
    switch (q->metric) {
    case INVIT_EXACT:
        return sqrt(dx * dx + dy * dy);
    case INVIT_EUC_2D:
        return inv_round_half_up(sqrt(dx * dx + dy * dy));
    case INVIT_DIMACS:
        return inv_whole(10 * sqrt(dx * dx + dy * dy)) / 10;
    default: {
        const double u[2] = {a->x, a->y}, v[2] = {b->x, b->y};
        return inv_metric_distance(q->metric, u, v);
    }
    }
}

/* Travel time along an edge of that length. */
static inline double inv_route_travel(const inv_route_part *q, const inv_route_node *a,
                                      const inv_route_node *b, double length)
{
    if (q->same_time) return length;
    if (q->open && b->id == 0) return 0;
    if (q->duration) return q->duration[(size_t)a->id * q->all + (size_t)b->id];
    return length / q->speed;
}

static inline double inv_route_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double inv_route_min(double a, double b)
{
    return a < b ? a : b;
}

/* One piece after the other (Vidal et al. 2013), both possible: no lateness. */
static inline inv_route_span inv_route_follow(inv_route_span a, double travel, inv_route_span b)
{
    double until = a.duration + travel;
    double waiting = inv_route_max(b.earliest - until - a.latest, 0);
    return (inv_route_span){until + b.duration + waiting,
                            inv_route_max(b.earliest - until, a.earliest) - waiting,
                            inv_route_min(b.latest - until, a.latest)};
}

static inline inv_route_span inv_route_alone(const inv_route_stop *s)
{
    return (inv_route_span){s->service, s->earliest, s->latest};
}

/* The time from a's departure to b's arrival, the limits on sums, and the duration; not the load. `in` and
 * `out` are the lengths of a-v and v-b. */
static inline bool inv_route_fits(const inv_route_part *q, int32_t v, int32_t a, int32_t b, double in,
                                  double out)
{
    const inv_route_node *A = &q->node[a], *V = &q->node[v], *B = &q->node[b];
    const inv_route_stop *s = &q->stop[v];
    if (B->fixed) return false;
    if (!q->windows && !q->sums) return true;
    double there = inv_route_travel(q, A, V, in), on = inv_route_travel(q, V, B, out);
    if (q->windows) {
        double start = inv_route_max(A->leave + there, s->earliest);
        if (start > s->latest + q->slack || start + s->service + on > B->due + q->slack) return false;
    }
    if (q->sums) {
        int32_t r = A->route;
        if (q->route_length[r] + in + out - A->out > q->max_length + q->slack) return false;
        if (!q->windows &&
            q->route_time[r] + there + on - q->stop[a].time_out + s->service > q->max_duration + q->slack)
            return false;
    }
    if (q->spans) {
        inv_route_span whole =
            inv_route_follow(inv_route_follow(q->head[a], there, inv_route_alone(s)), on, q->tail[b]);
        if (whole.duration > q->max_duration + q->slack) return false;
    }
    return true;
}

/* Whether the route keeps its limits, as it may not after stops were taken out behind prev where detours are
 * shorter. What comes before is known to be possible. */
static inline bool inv_route_possible(const inv_route_part *q, int32_t prev)
{
    const inv_route_node *a = &q->node[prev];
    double travel = q->same_time ? a->out : q->stop[prev].time_out;
    if (q->windows && a->leave + travel > q->node[a->next].due + q->slack) return false;
    if (q->sums && q->route_length[a->route] > q->max_length + q->slack) return false;
    if (q->sums && !q->windows && q->route_time[a->route] > q->max_duration + q->slack) return false;
    return !q->spans ||
           inv_route_follow(q->head[prev], travel, q->tail[a->next]).duration <= q->max_duration + q->slack;
}

#endif
