/* A tour from which nodes are missing is completed by cheapest insertion next to a neighbour. */
#include "search/atsp_improve.h"

#include "problem/freeze.h"
#include "problem/metric.h"
#include "search/neighbours.h"

#include <math.h>
#include <stdlib.h>

enum { NEIGHBOURS = 10 };

/* The tour as a list between the two ends: head and tail are no nodes. */
typedef struct list {
    const invit_instance *p;
    int32_t n, *next, *prev; /* [n + 2]; n: before the first, n + 1: behind the last; -1: not in it */
    bool path, fixed_start, fixed_end;
} list;

static void insert(list *l, int32_t v, int32_t prev)
{
    int32_t next = l->next[prev];
    l->next[v] = next;
    l->prev[v] = prev;
    l->next[prev] = l->prev[next] = v;
}

/* What v costs behind prev; INFINITY where it may not be. */
static double cost(const list *l, int32_t v, int32_t prev)
{
    const invit_instance *p = l->p;
    int32_t n = l->n, next = l->next[prev];
    if (prev == n + 1 || (next < n && inv_is_frozen(p, next))) return INFINITY;
    if (prev == n && l->fixed_start && next <= n) return INFINITY;
    if (next == n + 1 && l->fixed_end && prev < n) return INFINITY;
    bool first = prev == n, last = next == n + 1;
    if (first && last) return 0;
    if (l->path && first) return inv_distance(p, v, next);
    if (l->path && last) return inv_distance(p, prev, v);
    if (first) prev = l->prev[n + 1]; /* closed: the first and the last are neighbours */
    if (last) next = l->next[n];
    return inv_distance(p, prev, v) + inv_distance(p, v, next) -
           (prev == next ? 0 : inv_distance(p, prev, next));
}

static bool in_it(const list *l, int32_t v)
{
    return l->next[v] >= 0;
}

/* The cheapest place beside one of the neighbours; -1: none of them is in the tour. */
static int32_t beside_neighbours(const list *l, int32_t v, const int32_t *near, int32_t k)
{
    double best = INFINITY;
    int32_t place = -1;
    for (int32_t i = 0; i < k && near[i] >= 0; i++) {
        if (!in_it(l, near[i])) continue;
        const int32_t both[2] = {near[i], l->prev[near[i]]};
        for (int j = 0; j < 2; j++) {
            double c = cost(l, v, both[j]);
            if (c < best) best = c, place = both[j];
        }
    }
    return place;
}

static int32_t anywhere(const list *l, int32_t v)
{
    double best = INFINITY;
    int32_t place = l->prev[l->n + 1];
    for (int32_t u = l->n; u != l->n + 1; u = l->next[u]) {
        double c = cost(l, v, u);
        if (c < best) best = c, place = u;
    }
    return place;
}

static void insert_missing(list *l, int32_t *missing, int32_t count, const inv_neighbours *near)
{
    while (count > 0) {
        int32_t waiting = 0;
        for (int32_t i = 0; i < count; i++) {
            int32_t v = missing[i], place = beside_neighbours(l, v, inv_neighbours_of(near, v), near->k);
            if (place >= 0)
                insert(l, v, place);
            else
                missing[waiting++] = v;
        }
        if (waiting == count) { /* none has a neighbour in the tour */
            waiting--;
            insert(l, missing[waiting], anywhere(l, missing[waiting]));
        }
        count = waiting;
    }
}

static invit_status begin(list *l, const invit_solution *given, invit_error *err)
{
    const invit_instance *p = l->p;
    const inv_rules *r = p->rules;
    int32_t n = l->n, last = n;
    for (int32_t v = 0; v < n + 2; v++) l->next[v] = l->prev[v] = -1;
    l->next[n] = n + 1;
    l->prev[n + 1] = n;
    for (int32_t i = 0; given->routes && i < given->start[1]; i++)
        insert(l, given->nodes[i], last), last = given->nodes[i];
    if (!r) return INVIT_OK;
    if (r->start >= 0 && !in_it(l, r->start)) insert(l, r->start, n);
    if (r->end >= 0 && !in_it(l, r->end)) insert(l, r->end, l->prev[n + 1]);
    if (r->start >= 0 && l->next[n] != r->start)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "the solution to start from begins at node %d, not at start_node, %d", l->next[n],
                        r->start);
    if (r->end >= 0 && l->prev[n + 1] != r->end)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "the solution to start from ends at node %d, not at end_node, %d", l->prev[n + 1],
                        r->end);
    l->fixed_start = r->start >= 0;
    l->fixed_end = r->end >= 0;
    return INVIT_OK;
}

invit_status inv_complete_tour(const invit_instance *p, const invit_solution *given, invit_solution **out,
                               invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_neighbours near = {0};
    inv_neighbour_options o = {
        .k = NEIGHBOURS < p->n - 1 ? NEIGHBOURS : p->n - 1, .threads = 1, .deadline = INFINITY};
    size_t n = (size_t)p->n;
    list l = {.p = p, .n = p->n, .path = inv_is_path(p)};
    int32_t *missing = malloc(n * sizeof *missing), count = 0;
    *out = NULL;
    l.next = malloc((n + 2) * sizeof *l.next);
    l.prev = malloc((n + 2) * sizeof *l.prev);
    if (!missing || !l.next || !l.prev) INV_TRY(inv_no_memory(err, (n + 2) * 12));
    INV_TRY(begin(&l, given, err));
    for (int32_t v = 0; v < p->n; v++)
        if (!in_it(&l, v)) missing[count++] = v;
    if (count > 0 && p->n > 1) INV_TRY(inv_neighbours_create(p, &o, &near, err));
    if (p->n > 1)
        insert_missing(&l, missing, count, &near);
    else if (count > 0)
        insert(&l, 0, 1);
    INV_TRY(inv_solution_alloc(1, p->n, out, err));
    (*out)->start[0] = 0;
    (*out)->start[1] = count = 0;
    for (int32_t v = l.next[p->n]; v != p->n + 1; v = l.next[v]) (*out)->nodes[count++] = v;
    (*out)->start[1] = count;
done:
    inv_neighbours_destroy(&near);
    free(missing);
    free(l.next);
    free(l.prev);
    return status;
}
