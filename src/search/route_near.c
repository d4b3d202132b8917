#include "search/route_near.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "problem/metric.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_PAIRS = 5000, MAX_K = 128, ROWS_PER_LOOK = 16 };
enum { SHARED_FROM = 500 }; /* nodes: fewer are listed faster than threads start */
enum { NEIGHBOURS = 64, NEIGHBOURS_WINDOWS = 100, NEIGHBOURS_LARGE = 20, LARGE = 300000 }; /* large: memory */
/* What waiting counts, in distance; as in other solvers for time windows. */
#define WAITING 0.2

typedef struct candidate {
    double key;
    int32_t id;
} candidate;

typedef struct job {
    const invit_instance *p;
    const inv_neighbour_options *o;
    const inv_neighbours *by_xy; /* NULL: look at all pairs */
    int32_t *out;
    atomic_int next, stopped;
} job;

int32_t inv_route_near_length(const invit_instance *p)
{
    if (p->n >= LARGE) return NEIGHBOURS_LARGE;
    return p->rules && p->rules->earliest && p->n <= ALL_PAIRS ? NEIGHBOURS_WINDOWS : NEIGHBOURS;
}

/* From i straight to j: INFINITY when too late in any case. */
static double one_way(const invit_instance *p, int32_t i, int32_t j)
{
    const inv_rules *r = p->rules;
    double d = inv_distance(p, i, j);
    if (!r || !r->earliest) return d;
    double travel = inv_duration(p, i, j) + (r->service ? r->service[i] : 0);
    if (r->earliest[i] + travel > r->latest[j] * (1 + 1e-9)) return INFINITY;
    double waiting = r->earliest[j] - r->latest[i] - travel;
    return waiting > 0 ? d + WAITING * waiting * r->speed : d;
}

/* Keeps the `want` smallest, sorted. */
static int32_t offer(candidate *best, int32_t count, int32_t want, candidate c)
{
    if (count == want && c.key >= best[count - 1].key) return count;
    int32_t at = count < want ? count++ : count - 1;
    for (; at > 0 && best[at - 1].key > c.key; at--) best[at] = best[at - 1];
    best[at] = c;
    return count;
}

static void fill_list(const job *w, int32_t v)
{
    const invit_instance *p = w->p;
    candidate best[MAX_K], sorted[MAX_K];
    int32_t k = w->o->k, count = 0, kept = 0;
    const int32_t *from = w->by_xy ? inv_neighbours_of(w->by_xy, v) : NULL;
    int32_t all = w->by_xy ? w->by_xy->k : p->n;
    for (int32_t i = 0; i < all; i++) {
        int32_t u = from ? from[i] : i;
        if (u < 0) break;
        if (u == 0 || u == v) continue;
        double key = fmin(one_way(p, v, u), one_way(p, u, v));
        if (key < INFINITY) count = offer(best, count, k, (candidate){key, u});
    }
    for (int32_t i = 0; i < count; i++)
        kept = offer(
            sorted, kept, k,
            (candidate){fmin(inv_distance(p, v, best[i].id), inv_distance(p, best[i].id, v)), best[i].id});
    int32_t *list = w->out + (size_t)v * (size_t)k;
    for (int32_t i = 0; i < k; i++) list[i] = i < kept ? sorted[i].id : -1;
}

static void fill_lists(void *context, int member)
{
    job *w = context;
    (void)member;
    for (;;) {
        int32_t from = atomic_fetch_add(&w->next, 1) * ROWS_PER_LOOK;
        if (from >= w->p->n || atomic_load(&w->stopped)) return;
        if (inv_flag_set(w->o->cancel) || inv_now() >= w->o->deadline) {
            atomic_store(&w->stopped, 1);
            return;
        }
        int32_t to = w->p->n - from < ROWS_PER_LOOK ? w->p->n : from + ROWS_PER_LOOK;
        for (int32_t v = from; v < to; v++) fill_list(w, v);
    }
}

invit_status inv_route_near_create(const invit_instance *p, const inv_neighbour_options *o,
                                   inv_neighbours *out, invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_neighbours by_xy = {0};
    bool filtered = !(p->rules && p->rules->distance) && p->n > ALL_PAIRS;
    *out = (inv_neighbours){.n = p->n, .k = o->k};
    if (filtered) {
        inv_neighbour_options wide = *o;
        if ((p->rules && p->rules->earliest) || wide.k > NEIGHBOURS) wide.k = NEIGHBOURS;
        INV_TRY(inv_neighbours_create(p, &wide, &by_xy, err));
    }
    out->node = malloc((size_t)p->n * (size_t)o->k * sizeof *out->node);
    if (!out->node) INV_TRY(inv_no_memory(err, (size_t)p->n * (size_t)o->k * sizeof *out->node));
    job w = {.p = p, .o = o, .by_xy = filtered ? &by_xy : NULL, .out = out->node};
    inv_parallel(p->n < SHARED_FROM ? 1 : o->threads, fill_lists, &w);
    if (atomic_load(&w.stopped))
        status = inv_fail(err, INVIT_ERR_CANCELLED, "stopped while listing neighbours");
done:
    if (filtered) inv_neighbours_destroy(&by_xy);
    if (status != INVIT_OK) inv_neighbours_destroy(out);
    return status;
}
