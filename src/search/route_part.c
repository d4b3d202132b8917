/* The solution: routes as rings, and what their nodes know about what comes before and after. */
#include "search/route_part.h"

#include "problem/freeze.h"

#include "search/route_fit.h"

#include <stdlib.h>
#include <string.h>

/* Limits are met up to rounding: this share of the largest of them. */
#define ROUNDING 1e-13

void inv_route_part_destroy(inv_route_part *q)
{
    void *owned[] = {q->node,        q->stop,      q->head,       q->tail,          q->near,
                     q->near_length, q->fits,      q->room,       q->size,          q->route_length,
                     q->route_time,  q->best_next, q->absent,     q->absent_before, q->missed,
                     q->stamp,       q->touched,   q->is_touched, q->empty,         q->in_empty,
                     q->removed,     q->key,       q->dirty,      q->is_dirty,      q->change};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
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

static bool make_room(inv_route_part *q, size_t m)
{
#define GROW(array, count) grow(&q->array, count, sizeof *q->array)
    return GROW(node, 2 * m) && GROW(stop, 2 * m) && GROW(room, m + 1) && GROW(size, m + 1) &&
           GROW(route_length, m) && GROW(route_time, m) && GROW(best_next, 2 * m) && GROW(absent, m) &&
           GROW(absent_before, m) && GROW(missed, m) && GROW(stamp, m) && GROW(touched, m) &&
           GROW(is_touched, m + 1) && GROW(empty, m) && GROW(in_empty, m) && GROW(removed, m) &&
           GROW(key, m) && GROW(dirty, 2 * m) && GROW(is_dirty, 2 * m) &&
           GROW(change, 4 * m); /* a step may take every customer out and put it back, twice */
}

/* What of the rules this instance has. */
static void take_rules(inv_route_part *q)
{
    const invit_instance *p = q->p;
    const inv_rules none = {.max_length = INFINITY,
                            .max_duration = INFINITY,
                            .start = -1,
                            .end = -1,
                            .speed = 1,
                            .symmetric = true,
                            .has_xy = true};
    const inv_rules *rules = p->rules ? p->rules : &none;
    q->metric = p->metric;
    q->all = (size_t)p->n;
    q->capacity = p->capacity < INT32_MAX ? (int32_t)p->capacity : INT32_MAX;
    q->max_stops = rules->max_stops > 0 ? rules->max_stops : INT32_MAX;
    q->max_routes = q->n;
    q->fewest = rules->fewest;
    q->open = rules->open;
    q->distance = rules->distance;
    q->duration = rules->duration;
    q->speed = rules->speed;
    q->symmetric = rules->symmetric;
    q->frozen = rules->freeze != NULL;
    q->triangle = !rules->distance && !rules->duration && p->metric == INVIT_EXACT;
    q->turns = rules->symmetric && !rules->open && !rules->earliest && !rules->freeze &&
               !rules->duration; /* whose order may be another one than that of lengths */
    q->same_time = !rules->duration && rules->speed == 1;
    q->max_length = rules->max_length;
    q->max_duration = rules->max_duration;
    q->windows = rules->earliest != NULL;
    q->spans = q->windows && rules->max_duration < INFINITY;
    q->sums = rules->max_length < INFINITY || (!q->windows && rules->max_duration < INFINITY);
    double largest = 1000;
    if (rules->max_length < INFINITY) largest = inv_route_max(largest, rules->max_length);
    if (rules->max_duration < INFINITY) largest = inv_route_max(largest, rules->max_duration);
    for (int32_t i = 0; q->windows && i < p->n; i++)
        if (rules->latest[i] < INFINITY) largest = inv_route_max(largest, rules->latest[i]);
    q->slack = ROUNDING * largest;
}

invit_status inv_route_part_begin(inv_route_part *q, const invit_instance *p, int32_t n, int32_t k,
                                  invit_error *err)
{
    size_t m = (size_t)n, near = m * (size_t)k;
    q->p = p;
    q->n = n;
    q->k = k;
    take_rules(q);
    if (n > q->reserved_n || (q->spans && !q->head)) {
        if (!make_room(q, m) || (q->spans && (!GROW(head, 2 * m) || !GROW(tail, 2 * m))))
            return inv_no_memory(err, m * 400);
        q->reserved_n = n;
    }
    if (near > q->reserved_near) {
        if (!GROW(near, near) || !GROW(near_length, near)) return inv_no_memory(err, near * sizeof *q->near);
        q->reserved_near = near;
    }
    if (k > q->reserved_k) {
        if (!GROW(fits, (size_t)k)) return inv_no_memory(err, (size_t)k * sizeof *q->fits);
        q->reserved_k = k;
    }
    return INVIT_OK;
#undef GROW
}

void inv_route_part_fill(inv_route_part *q, int32_t v, int32_t id)
{
    const invit_instance *p = q->p;
    const inv_rules *rules = p->rules;
    q->node[v] = (inv_route_node){
        .id = id, .demand = id ? p->demand[id] : 0, .route = q->n, .fixed = inv_is_frozen(p, id)};
    if (p->xy) {
        q->node[v].x = p->xy[2 * (size_t)id];
        q->node[v].y = p->xy[2 * (size_t)id + 1];
    }
    q->stop[v] = (inv_route_stop){.service = id && rules && rules->service ? rules->service[id] : 0,
                                  .earliest = q->windows ? rules->earliest[id] : -INFINITY,
                                  .latest = q->windows ? rules->latest[id] : INFINITY};
}

void inv_route_part_measure(inv_route_part *q)
{
    for (int32_t v = 1; v < q->n; v++) {
        size_t row = (size_t)v * (size_t)q->k;
        for (int32_t i = 0; i < q->k && q->near[row + (size_t)i] != 0; i++) {
            const inv_route_node *a = &q->node[v], *b = &q->node[q->near[row + (size_t)i]];
            double d = inv_route_edge(q, a, b);
            if (!q->symmetric) d = inv_route_min(d, inv_route_edge(q, b, a));
            float f = (float)d;
            q->near_length[row + (size_t)i] = (double)f > d ? nextafterf(f, 0) : f;
        }
    }
}

/* ---- what nodes know about their route -------------------------------------------------------------- */

static inline double time_out(const inv_route_part *q, int32_t v)
{
    return q->same_time ? q->node[v].out : q->stop[v].time_out;
}

static inline double leave_of(const inv_route_part *q, int32_t v)
{
    int32_t prev = q->node[v].prev;
    return inv_route_max(q->node[prev].leave + time_out(q, prev), q->stop[v].earliest) + q->stop[v].service;
}

static inline double due_of(const inv_route_part *q, int32_t v)
{
    return inv_route_min(q->node[q->node[v].next].due - time_out(q, v) - q->stop[v].service,
                         q->stop[v].latest);
}

static void refresh_spans(inv_route_part *q, int32_t end)
{
    for (int32_t v = q->node[end].next; v != end; v = q->node[v].next) {
        int32_t prev = q->node[v].prev;
        q->head[v] = inv_route_follow(q->head[prev], time_out(q, prev), inv_route_alone(&q->stop[v]));
    }
    for (int32_t v = q->node[end].prev; v != end; v = q->node[v].prev)
        q->tail[v] = inv_route_follow(inv_route_alone(&q->stop[v]), time_out(q, v), q->tail[q->node[v].next]);
}

static void refresh_sums(inv_route_part *q, int32_t end)
{
    double length = q->node[end].out, time = time_out(q, end);
    for (int32_t v = q->node[end].next; v != end; v = q->node[v].next) {
        length += q->node[v].out;
        time += q->stop[v].service + time_out(q, v);
    }
    q->route_length[q->node[end].route] = length;
    q->route_time[q->node[end].route] = time;
}

void inv_route_refresh(inv_route_part *q, int32_t route)
{
    int32_t end = q->n + route;
    if (q->windows) {
        for (int32_t v = q->node[end].next; v != end; v = q->node[v].next) q->node[v].leave = leave_of(q, v);
        for (int32_t v = q->node[end].prev; v != end; v = q->node[v].prev) q->node[v].due = due_of(q, v);
    }
    if (q->sums) refresh_sums(q, end);
    if (q->spans) refresh_spans(q, end);
}

/* After v was linked: times change from here on, both ways, until they do not. */
static void refresh_around(inv_route_part *q, int32_t v)
{
    int32_t n = q->n;
    if (q->windows) {
        q->node[v].leave = leave_of(q, v);
        for (int32_t u = q->node[v].next; u < n; u = q->node[u].next) {
            double leave = leave_of(q, u);
            if (leave == q->node[u].leave) break;
            q->node[u].leave = leave;
        }
        q->node[v].due = due_of(q, v);
        for (int32_t u = q->node[v].prev; u < n; u = q->node[u].prev) {
            double due = due_of(q, u);
            if (due == q->node[u].due) break;
            q->node[u].due = due;
        }
    }
    if (q->sums) refresh_sums(q, n + q->node[v].route);
    if (q->spans) refresh_spans(q, n + q->node[v].route);
}

/* ---- link and unlink, with a journal ---------------------------------------------------------------- */

static void note_empty(inv_route_part *q, int32_t r)
{
    if (q->in_empty[r]) return;
    q->in_empty[r] = true;
    q->empty[q->empties++] = r;
}

int32_t inv_route_empty(inv_route_part *q)
{
    for (;;) { /* there always is one: n routes for n - 1 customers */
        int32_t r = q->empty[q->empties - 1];
        if (q->size[r] == 0) return r;
        q->empties--;
        q->in_empty[r] = false;
    }
}

static void touch(inv_route_part *q, int32_t r)
{
    if (q->is_touched[r]) return;
    q->is_touched[r] = true;
    q->touched[q->touches++] = r;
}

static void put(inv_route_part *q, const inv_route_change *e)
{
    inv_route_node *p = &q->node[e->prev], *c = &q->node[e->node];
    int32_t r = p->route, next = p->next;
    c->prev = e->prev;
    c->next = next;
    c->route = r;
    c->out = e->after;
    p->next = e->node;
    p->out = e->before;
    q->node[next].prev = e->node;
    q->stop[e->node].time_out = e->time_after;
    q->stop[e->prev].time_out = e->time_before;
    q->room[r] -= c->demand;
    if (q->size[r]++ == 0) q->routes++;
}

static void take(inv_route_part *q, const inv_route_change *e)
{
    inv_route_node *c = &q->node[e->node], *p = &q->node[c->prev];
    int32_t r = c->route;
    p->next = c->next;
    p->out = e->across;
    q->stop[c->prev].time_out = e->time_across;
    q->node[c->next].prev = c->prev;
    c->route = q->n;
    q->room[r] += c->demand;
    if (--q->size[r] == 0) {
        q->routes--;
        note_empty(q, r);
    }
}

void inv_route_link(inv_route_part *q, int32_t v, int32_t prev)
{
    inv_route_change *e = &q->change[q->changes++];
    const inv_route_node *p = &q->node[prev], *c = &q->node[v], *next = &q->node[p->next];
    *e = (inv_route_change){.node = v,
                            .prev = prev,
                            .linked = true,
                            .before = inv_route_edge(q, p, c),
                            .after = inv_route_edge(q, c, next),
                            .across = p->out,
                            .time_across = q->stop[prev].time_out};
    e->time_before = inv_route_travel(q, p, c, e->before);
    e->time_after = inv_route_travel(q, c, next, e->after);
    q->length += e->before + e->after - e->across;
    touch(q, p->route);
    put(q, e);
    refresh_around(q, v);
}

void inv_route_unlink(inv_route_part *q, int32_t v)
{
    inv_route_change *e = &q->change[q->changes++];
    const inv_route_node *c = &q->node[v], *p = &q->node[c->prev], *next = &q->node[c->next];
    bool last = c->prev == c->next; /* the depot's way to itself takes no time */
    *e = (inv_route_change){.node = v,
                            .prev = c->prev,
                            .before = p->out,
                            .after = c->out,
                            .across = last ? 0 : inv_route_edge(q, p, next),
                            .time_before = q->stop[c->prev].time_out,
                            .time_after = q->stop[v].time_out};
    e->time_across = last ? 0 : inv_route_travel(q, p, next, e->across);
    q->length += e->across - e->before - e->after;
    touch(q, c->route);
    take(q, e);
}

void inv_route_undo(inv_route_part *q)
{
    while (q->changes > 0) {
        const inv_route_change *e = &q->change[--q->changes];
        if (e->linked)
            take(q, e);
        else
            put(q, e);
    }
    while (q->touches > 0) {
        int32_t r = q->touched[--q->touches];
        q->is_touched[r] = false;
        inv_route_refresh(q, r);
    }
}

static void mark_dirty(inv_route_part *q, int32_t v)
{
    if (q->is_dirty[v]) return;
    q->is_dirty[v] = true;
    q->dirty[q->dirties++] = v;
}

void inv_route_keep(inv_route_part *q)
{
    while (q->changes > 0) {
        const inv_route_change *e = &q->change[--q->changes];
        mark_dirty(q, e->node);
        mark_dirty(q, e->prev);
    }
    while (q->touches > 0) q->is_touched[q->touched[--q->touches]] = false;
}

/* Brings the copy of the best up to date at the cost of what changed since the last time. */
void inv_route_remember_best(inv_route_part *q)
{
    while (q->dirties > 0) {
        int32_t v = q->dirty[--q->dirties];
        q->best_next[v] = q->node[v].next;
        q->is_dirty[v] = false;
    }
    q->best_length = q->length;
    q->best_routes = q->routes;
}

/* ---- whole solutions -------------------------------------------------------------------------------- */

/* No customer in any route. */
void inv_route_clear(inv_route_part *q)
{
    int32_t n = q->n;
    const inv_route_stop *depot = &q->stop[0];
    q->length = 0;
    q->routes = 0;
    q->changes = 0;
    q->dirties = 0;
    q->empties = 0;
    q->touches = 0;
    q->absents = 0;
    q->stamp_now = 0;
    q->blink_in = 50;
    q->room[n] = -1;
    q->size[n] = 0;
    q->is_touched[n] = false;
    for (int32_t r = n - 1; r >= 0; r--) {
        int32_t v = n + r;
        q->node[v] = (inv_route_node){.next = v,
                                      .prev = v,
                                      .route = r,
                                      .leave = depot->earliest,
                                      .due = q->open ? INFINITY : depot->latest,
                                      .x = q->node[0].x,
                                      .y = q->node[0].y};
        q->stop[v] = (inv_route_stop){.earliest = depot->earliest, .latest = depot->latest};
        if (q->spans) {
            q->head[v] = (inv_route_span){0, depot->earliest, depot->latest};
            q->tail[v] = (inv_route_span){0, -INFINITY, q->node[v].due};
        }
        q->node[r].route = n;
        q->room[r] = q->capacity;
        q->size[r] = 0;
        q->route_length[r] = q->route_time[r] = 0;
        q->stamp[r] = 0;
        q->in_empty[r] = q->is_touched[r] = false;
        note_empty(q, r);
    }
    memset(q->is_dirty, 0, 2 * (size_t)n * sizeof *q->is_dirty);
}

/* What was linked so far is the solution to start from. */
void inv_route_settle(inv_route_part *q)
{
    inv_route_keep(q);
    while (q->dirties > 0) q->is_dirty[q->dirty[--q->dirties]] = false;
    for (int32_t v = 0; v < 2 * q->n; v++) q->best_next[v] = q->node[v].next;
    q->best_length = q->length;
    q->best_routes = q->routes;
}

static void link_all(inv_route_part *q, const int32_t *nodes, const int32_t *start, int32_t routes)
{
    inv_route_clear(q);
    for (int32_t r = 0; r < routes; r++)
        for (int32_t i = start[r]; i < start[r + 1]; i++)
            inv_route_link(q, nodes[i], i == start[r] ? q->n + r : nodes[i - 1]);
}

void inv_route_part_set(inv_route_part *q, const int32_t *nodes, const int32_t *start, int32_t routes)
{
    link_all(q, nodes, start, routes);
    inv_route_settle(q);
    for (int32_t v = 0; v < q->n; v++) q->missed[v] = 1;
}

void inv_route_part_take(inv_route_part *q, const inv_route_part *from)
{
    size_t n = (size_t)q->n;
    memcpy(q->node, from->node, 2 * n * sizeof *q->node);
    memcpy(q->stop, from->stop, 2 * n * sizeof *q->stop);
    if (q->spans) memcpy(q->head, from->head, 2 * n * sizeof *q->head);
    if (q->spans) memcpy(q->tail, from->tail, 2 * n * sizeof *q->tail);
    memcpy(q->room, from->room, n * sizeof *q->room);
    memcpy(q->size, from->size, n * sizeof *q->size);
    memcpy(q->route_length, from->route_length, n * sizeof *q->route_length);
    memcpy(q->route_time, from->route_time, n * sizeof *q->route_time);
    memcpy(q->empty, from->empty, n * sizeof *q->empty);
    memcpy(q->in_empty, from->in_empty, n * sizeof *q->in_empty);
    q->empties = from->empties;
    q->routes = from->routes;
    q->length = from->length;
    for (int32_t v = 1; v < 2 * q->n; v++) mark_dirty(q, v);
    if (inv_route_better(q, q->routes, q->length, q->best_routes, q->best_length)) inv_route_remember_best(q);
}

void inv_route_part_return(inv_route_part *q)
{
    int32_t *nodes = q->absent, *start = q->removed, count = 0, routes = 0; /* not in use between steps */
    start[0] = 0;
    for (int32_t r = 0; r < q->n; r++) {
        for (int32_t v = q->best_next[q->n + r]; v < q->n; v = q->best_next[v]) nodes[count++] = v;
        if (count > start[routes]) start[++routes] = count;
    }
    link_all(q, nodes, start, routes);
    inv_route_settle(q);
}

double inv_route_part_unit(const inv_route_part *q)
{
    double sum = 0;
    int32_t edges = 0;
    for (int32_t v = 1; v < q->n; v++) {
        if (q->node[v].route == q->n || q->node[v].next >= q->n) continue;
        sum += q->node[v].out;
        edges++;
    }
    if (sum > 0) return sum / edges;
    return q->length > 0 ? q->length / q->n : 1;
}

int32_t inv_route_part_routes(const inv_route_part *q, bool best, int32_t *nodes, int32_t *start)
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
