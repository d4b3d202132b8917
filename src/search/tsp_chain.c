/* Chained Lin-Kernighan in rounds. A round cuts the tour into one stretch per thread, at a place that changes
 * from round to round; each thread improves its own stretch between fixed ends, with one kick at every node
 * in the order of the tour, so that what it touches stays in cache however large the instance. No round waits
 * for the clock, so with a given number of kicks the result depends on seed and thread count alone. */
#include "search/tsp_search.h"

#include "base/parallel.h"
#include "problem/metric.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKS = 32, KICKS = 8, SMALLEST_STRETCH = 100 };

typedef struct stretch {
    inv_lk lk;
    int32_t *node; /* [count] what the search's nodes are called outside */
    int32_t from, count;
    int64_t kicks, kicked; /* to make, made                                       */
    inv_rng rng;
    double before;       /* length when loaded                                  */
    _Atomic double gain; /* so far, for the report                              */
} stretch;

typedef struct chain {
    inv_tsp_search *s;
    int threads;
    int32_t *place; /* [n] position of each node in s->order                       */
    uint8_t *look;  /* [n] nodes to look at again: by node                         */
    stretch *part;  /* [threads]                                                   */
} chain;

void inv_tsp_load(inv_lk *lk, const inv_tsp_search *s, const int32_t *order, const int32_t *place,
                  int32_t from, int32_t count)
{
    int32_t n = s->p->n, k = s->nb->k;
    lk->n = count;
    lk->metric = s->p->metric;
    lk->matrix = s->p->rules ? s->p->rules->distance : NULL;
    lk->stride = (size_t)n;
    lk->fix_a = count < n ? count - 1 : -1;
    lk->fix_b = count < n ? 0 : -1;
    for (int32_t i = 0; i < count; i++) {
        int32_t at = from + i < n ? from + i : from + i - n, v = order[at];
        if (lk->matrix) {
            lk->xy[2 * (size_t)i] = v;
            lk->xy[2 * (size_t)i + 1] = 0;
        } else {
            memcpy(lk->xy + 2 * (size_t)i, s->p->xy + 2 * (size_t)v, 2 * sizeof *lk->xy);
        }
        const int32_t *list = inv_neighbours_of(s->nb, v);
        int32_t *own = lk->neighbour + (size_t)i * (size_t)k;
        int32_t kept = 0;
        for (int32_t j = 0; j < k && list[j] >= 0; j++) {
            int32_t w = place[list[j]] - from;
            if (w < 0) w += n;
            if (w < count) own[kept++] = w;
        }
        while (kept < k) own[kept++] = -1;
    }
    inv_lk_begin(lk);
}

static void load(const chain *c, stretch *part)
{
    const inv_tsp_search *s = c->s;
    int32_t n = s->p->n, k = s->nb->k;
    inv_tsp_load(&part->lk, s, s->order, c->place, part->from, part->count);
    part->before = part->lk.length;
    for (int32_t i = 0; i < part->count; i++) {
        int32_t at = part->from + i < n ? part->from + i : part->from + i - n;
        part->node[i] = s->order[at];
        if (c->look[part->node[i]]) inv_lk_push(&part->lk, i);
        /* A node that does not see all its neighbours now is to be looked at again when it does. */
        c->look[part->node[i]] = part->lk.neighbour[((size_t)i + 1) * (size_t)k - 1] < 0;
    }
}

/* Back into the tour, from the first node of the stretch to the last. */
static void unload(const chain *c, stretch *part)
{
    int32_t n = c->s->p->n, m = part->count, p = part->lk.tour.pos[0];
    int32_t last = part->lk.fix_a < 0 ? -1 : m - 1;
    int32_t step = inv_tour_next(&part->lk.tour, 0) == last && m > 2 ? m - 1 : 1;
    for (int32_t i = 0; i < m; i++) {
        int32_t at = part->from + i < n ? part->from + i : part->from + i - n;
        c->s->order[at] = part->node[part->lk.tour.order[p]];
        p += step;
        if (p >= m) p -= m;
    }
    while (part->lk.waiting > 0) {
        c->look[part->node[part->lk.queue[part->lk.head]]] = 1;
        part->lk.head = part->lk.head + 1 == m ? 0 : part->lk.head + 1;
        part->lk.waiting--;
    }
}

static void report(chain *c, stretch *part, int member)
{
    atomic_store_explicit(&part->gain, part->before - part->lk.length, memory_order_relaxed);
    if (member != 0) return;
    double length = c->s->length;
    for (int i = 0; i < c->threads; i++)
        length -= atomic_load_explicit(&c->part[i].gain, memory_order_relaxed);
    inv_tsp_tell(c->s, length, c->s->kicks + part->kicked * c->threads);
}

static void improve_stretch(void *context, int member)
{
    chain *c = context;
    stretch *part = &c->part[member];
    load(c, part);
    bool over = inv_tsp_over(c->s);
    while (!over && !inv_lk_optimise(&part->lk, LOOKS)) {
        report(c, part, member);
        over = inv_tsp_over(c->s);
    }
    while (!over && part->kicked < part->kicks) {
        for (int i = 0; i < KICKS && part->kicked < part->kicks; i++)
            inv_lk_kick(&part->lk, (int32_t)(part->kicked++ % part->count), &part->rng);
        report(c, part, member);
        over = inv_tsp_over(c->s);
    }
    unload(c, part);
}

static int64_t kicks_left(const inv_tsp_search *s)
{
    return s->o->iterations < 0 ? INT64_MAX : s->o->iterations - s->kicks;
}

/* Cuts the tour anew and sets each part's share of the kicks. */
static void divide(chain *c, inv_rng *rng, uint64_t round)
{
    inv_tsp_search *s = c->s;
    int32_t n = s->p->n, from = (int32_t)inv_rng_below(rng, (uint32_t)n);
    int64_t kicks = kicks_left(s) < n ? kicks_left(s) : n;
    for (int32_t i = 0; i < n; i++) c->place[s->order[i]] = i;
    for (int i = 0; i < c->threads; i++) {
        stretch *part = &c->part[i];
        part->count = (int32_t)((int64_t)n * (i + 1) / c->threads - (int64_t)n * i / c->threads);
        part->from = from;
        part->kicks = kicks * (i + 1) / c->threads - kicks * i / c->threads;
        part->kicked = 0;
        atomic_store(&part->gain, 0);
        inv_rng_init(&part->rng, s->o->seed, round * (uint64_t)c->threads + (uint64_t)i + 1);
        from = (int32_t)(((int64_t)from + part->count) % n);
    }
}

invit_status inv_tsp_chain(inv_tsp_search *s, invit_error *err)
{
    invit_status status = INVIT_OK;
    int32_t n = s->p->n;
    inv_rng rng;
    inv_rng_init(&rng, s->o->seed, 0);
    chain c = {.s = s, .threads = s->o->threads};
    while (c.threads > 1 && n / c.threads < SMALLEST_STRETCH) c.threads--;
    c.place = malloc((size_t)n * sizeof *c.place);
    c.look = malloc((size_t)n);
    c.part = calloc((size_t)c.threads, sizeof *c.part);
    if (!c.place || !c.look || !c.part) {
        status = inv_no_memory(err, (size_t)n * sizeof *c.place);
        goto done;
    }
    memset(c.look, 1, (size_t)n);
    for (int i = 0; i < c.threads; i++) {
        int32_t room = n / c.threads + 1;
        INV_TRY(inv_lk_reserve(&c.part[i].lk, room, s->nb->k, err));
        c.part[i].node = malloc((size_t)room * sizeof *c.part[i].node);
        if (!c.part[i].node) {
            status = inv_no_memory(err, (size_t)room * sizeof *c.part[i].node);
            goto done;
        }
    }
    for (uint64_t round = 0; !inv_tsp_over(s) && (round == 0 || kicks_left(s) > 0); round++) {
        divide(&c, &rng, round);
        inv_parallel(c.threads, improve_stretch, &c);
        for (int i = 0; i < c.threads; i++) {
            s->length -= c.part[i].gain;
            s->kicks += c.part[i].kicked;
        }
        inv_show(s->o, &s->shown, s->length, s->solution);
    }
done:
    for (int i = 0; c.part && i < c.threads; i++) {
        inv_lk_destroy(&c.part[i].lk);
        free(c.part[i].node);
    }
    free(c.part);
    free(c.look);
    free(c.place);
    return status;
}
