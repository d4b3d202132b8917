/* Chained Lin-Kernighan in rounds. A round cuts the tour into pieces that fit the cache, at places that change from
 * round to round, by space and by stretches of the tour in turn (in the first round of a large tour each piece has a
 * population of its own); threads take piece after piece, those with most to gain first, and their results are joined.
 * With a given number of kicks no round looks at the clock, and the result depends on the seed alone (and on the number
 * of threads where there are too few nodes to keep all of them busy with pieces of the usual size). */
#include "search/tsp_search.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "search/tsp_pieces.h"
#include "problem/metric.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOKS = 32,
    KICKS = 8,
    PIECE = 10000,
    SMALLEST_PIECE = 1000,
    WIDER = 10,
    WIDEST = 250000, /* what threads work on takes 160 bytes per node */
    MOST_ROUNDS = 8
};
/* The mean distance of neighbours, as a share of the distance to the last one listed. */
static const double list_radius = 0.6;
/* Core-seconds per node that make another round worth its cost. */
static const double worth_a_round = 30e-6;
/* Share of the time, or of the kicks, that populations get where there is enough for them; the rest is for the
 * borders of their pieces. */
static const double for_populations = 0.75;

typedef struct worker {
    inv_piece piece;
    int64_t kicks;       /* made in this round                 */
    double kick_seconds; /* spent on kicks, all rounds ...     */
    int64_t timed_kicks; /* ... and how many they were         */
    double finished;     /* gain of the pieces that are done   */
    _Atomic double gain; /* in this round, for the report      */
    invit_status status;
} worker;

/* When a piece's turn comes, and what it may cost. */
typedef struct turn {
    int32_t piece;
    double worth, per_node; /* how much there may be to gain in it                          */
    double from, to;        /* its share of the round's time or kicks; the whole is 0 to 1 */
} turn;

typedef struct chain {
    inv_tsp_search *s;
    inv_pieces q;
    worker *workers;
    uint64_t round;
    int64_t kicks;      /* of the round; 0: none, -1: by the clock      */
    int32_t population; /* in this round each piece, of so many nodes, has one; 0: none */
    double until;       /* inv_now() when a round by the clock should end */
    turn *turns;        /* [q.count] the pieces, those with most to gain first */
    atomic_int next;    /* turn                                         */
} chain;

#define CERTAIN 0.95 /* of what was gained in pieces, so much is left when cycles are joined */

/* What was gained may shrink a little when cycles are joined: what is told must not be better than the truth. */
static void report(chain *c, worker *w, int member)
{
    if (member != 0) return;
    double gain = 0;
    int64_t kicks = c->s->kicks;
    for (int i = 0; i < c->s->o->threads; i++)
        gain += atomic_load_explicit(&c->workers[i].gain, memory_order_relaxed);
    kicks += w->kicks * c->s->o->threads;
    if (c->q.count > 1) gain = c->s->o->target > 0 ? 0 : CERTAIN * gain;
    inv_tsp_tell(c->s, c->s->length - gain, kicks);
}

/* Kicks spread evenly over the piece, in the order of the tour; `count` of them, or fewer when the time is up.
 * True when it is. */
static bool kick(chain *c, worker *w, int member, double before, int64_t count, double until, inv_rng *rng)
{
    inv_lk *lk = &w->piece.lk;
    double at = inv_rng_double(rng) * lk->n, step = (double)lk->n / (double)count;
    if (step > lk->n) step = lk->n;
    for (int64_t made = 0; made < count;) {
        for (int i = 0; i < KICKS && made < count; i++, made++) {
            inv_lk_kick(lk, at < lk->n ? (int32_t)at : lk->n - 1, rng);
            at += step;
            if (at >= lk->n) at -= lk->n;
        }
        w->kicks += made % KICKS ? made % KICKS : KICKS;
        atomic_store_explicit(&w->gain, w->finished + before - lk->length, memory_order_relaxed);
        report(c, w, member);
        if (inv_tsp_over(c->s) || (c->kicks < 0 && inv_now() >= until)) return true;
    }
    return false;
}

static void kick_by_clock(chain *c, worker *w, int member, double before, double until, inv_rng *rng)
{
    for (double now = inv_now(); now < until;) {
        double each = w->timed_kicks > 0 ? w->kick_seconds / (double)w->timed_kicks : 1e-4;
        int64_t made = w->kicks;
        bool over = kick(c, w, member, before, 1 + (int64_t)((until - now) / each), until, rng);
        double then = inv_now();
        w->kick_seconds += then - now;
        w->timed_kicks += w->kicks - made;
        now = then;
        if (over) return;
    }
}

typedef struct teller {
    chain *c;
    worker *w;
} teller;

static void tell_progress(void *user, const invit_progress *progress)
{
    teller *t = user;
    (void)progress; /* of one piece */
    report(t->c, t->w, 0);
}

/* A population of tours of the piece, which all have its fixed edges; `kicks` at most, < 0: until the clock
 * says. Leaves the best in the search of the piece; returns how many kicks it was. */
static int64_t evolve_piece(chain *c, worker *w, int member, int64_t kicks, double until, uint64_t seed)
{
    inv_lk *lk = &w->piece.lk;
    const inv_improve_options *o = c->s->o;
    invit_instance p = {.problem = INVIT_TSP, .metric = lk->metric, .n = lk->n, .xy = lk->xy};
    inv_neighbours nb = {.n = lk->n, .k = lk->k, .node = lk->neighbour};
    teller t = {c, w};
    invit_control control = {
        .progress = member == 0 ? tell_progress : NULL, .user = &t, .cancel = inv_cancel_flag(o->control)};
    inv_improve_options own = {.deadline = until < o->deadline ? until : o->deadline,
                               .iterations = kicks,
                               .threads = 1,
                               .seed = seed,
                               .control = &control};
    inv_tsp_search s = {.p = &p,
                        .nb = &nb,
                        .o = &own,
                        .begun = inv_now(),
                        .fixed = lk->mate,
                        .order = lk->tour.order,
                        .length = lk->length,
                        .whole_most = lk->n,
                        .told_length = INFINITY};
    bool done;
    w->status = inv_tsp_evolve(&s, &done, NULL);
    inv_lk_restore(lk);
    w->kicks += s.kicks;
    return s.kicks;
}

static void improve_piece(chain *c, worker *w, int member, const turn *turn)
{
    inv_pieces *q = &c->q;
    inv_lk *lk = &w->piece.lk;
    int32_t i = turn->piece;
    w->status = inv_piece_load(q, i, &w->piece, NULL);
    if (w->status != INVIT_OK || lk->n == 0) return;
    double before = lk->length, now = inv_now();
    double of_the_rest = turn->to > turn->from ? (turn->to - turn->from) / (1 - turn->from) : 0;
    double until = now + (c->until - now) * c->s->o->threads * of_the_rest;
    if (!(until <= c->until)) until = c->until; /* also where that is never */
    bool over = inv_tsp_over(c->s);
    while (!over && !inv_lk_optimise(lk, LOOKS)) {
        atomic_store_explicit(&w->gain, w->finished + before - lk->length, memory_order_relaxed);
        report(c, w, member);
        over = inv_tsp_over(c->s);
    }
    inv_rng rng;
    inv_rng_init(&rng, c->s->o->seed, c->round << 32 | (uint32_t)(i + 1));
    int64_t share = -1;
    if (c->kicks >= 0)
        share = (int64_t)((double)c->kicks * turn->to) - (int64_t)((double)c->kicks * turn->from);
    if (!over && c->population) share -= evolve_piece(c, w, member, share, until, inv_rng_u64(&rng));
    if (!over && c->kicks < 0) kick_by_clock(c, w, member, before, until, &rng);
    if (!over && share > 0) kick(c, w, member, before, share, INFINITY, &rng);
    inv_piece_unload(q, &w->piece);
    w->finished += before - lk->length;
    atomic_store_explicit(&w->gain, w->finished, memory_order_relaxed);
}

static void improve_pieces(void *context, int member)
{
    chain *c = context;
    worker *w = &c->workers[member];
    while (w->status == INVIT_OK && !inv_tsp_over(c->s)) {
        int32_t i = atomic_fetch_add(&c->next, 1);
        if (i >= c->q.count) return;
        improve_piece(c, w, member, &c->turns[i]);
    }
}

static int by_worth(const void *x, const void *y)
{
    const turn *a = x, *b = y;
    if (a->per_node != b->per_node) return a->per_node > b->per_node ? -1 : 1;
    return (a->piece > b->piece) - (a->piece < b->piece);
}

/* What a kick gains is in proportion to the edges around it, and the less the more kicks there were before. So the worth
 * of a piece is the geometric mean of its nodes and its length: it gets more time per node where edges are longer. The
 * pieces with the longest ones come first. */
static invit_status take_turns(chain *c, invit_error *err)
{
    const inv_pieces *q = &c->q;
    double all = 0, before = 0;
    free(c->turns);
    c->turns = malloc((size_t)q->count * sizeof *c->turns);
    if (!c->turns) return inv_no_memory(err, (size_t)q->count * sizeof *c->turns);
    for (int32_t i = 0; i < q->count; i++) {
        double worth = sqrt(q->kept[i] * fmax(q->length[i], 0));
        c->turns[i] = (turn){i, worth, q->kept[i] > 0 ? worth / q->kept[i] : 0, 0, 0};
        all += worth;
    }
    qsort(c->turns, (size_t)q->count, sizeof *c->turns, by_worth);
    for (int32_t i = 0; i < q->count; i++) {
        turn *t = &c->turns[i];
        t->from = before;
        /* Equal parts where all nodes of every piece are at one place. */
        before = fmin(1, before + (all > 0 ? t->worth / all : 1.0 / q->count));
        t->to = i + 1 < q->count ? before : 1;
    }
    return INVIT_OK;
}

/* Do populations come first, and in pieces of how many nodes? Without any limit there would be no end of the first
 * piece's. */
static int32_t first_populations(const chain *c)
{
    const inv_tsp_search *s = c->s;
    if (s->p->n <= s->whole_most || (s->o->iterations < 0 && !isfinite(s->o->deadline))) return 0;
    int32_t most = inv_tsp_population_piece(s), share = s->p->n / (2 * s->o->threads);
    if (share < SMALLEST_PIECE) share = SMALLEST_PIECE;
    return share < most ? share : most;
}

/* How many kicks, or until when: what is left in equal parts, in as many rounds as are worth it. */
static void plan(chain *c, double closing)
{
    const inv_tsp_search *s = c->s;
    int32_t n = s->p->n;
    c->until = INFINITY;
    c->kicks = n;
    if (s->o->iterations >= 0) {
        int64_t left = s->o->iterations - s->kicks;
        if (left < n) c->kicks = left;
        if (c->population) c->kicks = (int64_t)(for_populations * (double)left);
    } else if (isfinite(s->o->deadline)) {
        double now = inv_now(), left = s->o->deadline - closing - now;
        double rounds = floor(left * s->o->threads / (n * worth_a_round));
        rounds = fmax(1, fmin(rounds, MOST_ROUNDS));
        c->kicks = -1;
        c->until = now + (c->population ? for_populations * left : left / rounds);
    }
}

/* Improves the pieces that the tour has been cut into. */
static invit_status run_round(chain *c, invit_error *err)
{
    inv_tsp_search *s = c->s;
    int32_t n = s->p->n, cycles = 0;
    INV_CHECK(take_turns(c, err));
    atomic_store(&c->next, 0);
    for (int i = 0; i < s->o->threads; i++) {
        c->workers[i].kicks = 0;
        c->workers[i].finished = 0;
        atomic_store(&c->workers[i].gain, 0);
    }
    inv_parallel(s->o->threads < c->q.count ? s->o->threads : c->q.count, improve_pieces, c);
    for (int i = 0; i < s->o->threads; i++) {
        if (c->workers[i].status != INVIT_OK) return inv_no_memory(err, PIECE * sizeof(double));
        s->kicks += c->workers[i].kicks;
    }
    c->round++;
    INV_CHECK(inv_pieces_join(&c->q, c->q.member, &cycles, err));
    double length = inv_tour_length(s->p, c->q.member);
    if (length <= s->length) {
        s->length = length;
        memcpy(s->order, c->q.member, (size_t)n * sizeof *s->order);
        inv_tsp_show(s);
    } else { /* joining cost more than the pieces had gained */
        inv_pieces_link(&c->q, s->order);
    }
    return INVIT_OK;
}

static uint64_t round_seed(const chain *c)
{
    return inv_nth_seed(c->s->o->seed, c->round);
}

/* Has the ends of edges looked at that are longer than so many times what lies between neighbours there. */
static void look_at_long(chain *c, double spacings)
{
    const inv_neighbours *nb = c->q.nb;
    const invit_instance *p = c->s->p;
    memset(c->q.look, 0, (size_t)p->n);
    for (int32_t i = 0; i < p->n; i++) {
        int32_t a = c->s->order[i], b = c->s->order[i + 1 == p->n ? 0 : i + 1];
        const int32_t *list = inv_neighbours_of(nb, a);
        int32_t last = nb->k - 1;
        while (last > 0 && list[last] < 0) last--;
        if (list[last] < 0 || inv_edge(p, a, b) <= spacings * list_radius * inv_edge(p, a, list[last]))
            continue;
        c->q.look[a] = c->q.look[b] = 1;
    }
}

/* A constructed tour has some edges that are longer than a piece is wide, and no piece contains them. Once the
 * rest of the tour is good, local search cannot get rid of them any more. So they are dealt with first, the
 * longest ones in the widest pieces; then everything in small pieces. */
static invit_status settle(chain *c, int32_t size, invit_error *err)
{
    c->kicks = 0;
    c->until = INFINITY;
    for (int wider = WIDER * WIDER; wider > 1; wider /= WIDER) {
        if ((double)size * wider / WIDER * 1.3 >= c->s->p->n || inv_tsp_over(c->s)) continue;
        look_at_long(c, sqrt((double)size * wider / WIDER) / 12);
        inv_pieces_cut(&c->q, c->s->order, (int32_t)fmin((double)size * wider, WIDEST), round_seed(c));
        INV_CHECK(run_round(c, err));
    }
    memset(c->q.look, 1, (size_t)c->s->p->n);
    for (int i = 0; i < c->s->o->threads; i++)
        inv_piece_destroy(&c->workers[i].piece); /* wide ones are large */
    inv_pieces_cut(&c->q, c->s->order, size, round_seed(c));
    return run_round(c, err);
}

invit_status inv_tsp_chain(inv_tsp_search *s, invit_error *err)
{
    invit_status status = INVIT_OK;
    int32_t n = s->p->n, size = n / (2 * s->o->threads);
    if (size > PIECE) size = PIECE;
    if (size < SMALLEST_PIECE) size = SMALLEST_PIECE;
    if (s->p->rules && s->p->rules->distance) size = n; /* no places to cut by */
    chain c = {.s = s};
    c.workers = calloc((size_t)s->o->threads, sizeof *c.workers);
    if (!c.workers) return inv_no_memory(err, sizeof *c.workers);
    INV_TRY(inv_pieces_create(s->p, s->nb, s->o->threads, size, &c.q, err));
    c.q.fixed = s->fixed;
    double begun = inv_now();
    inv_pieces_link(&c.q, s->order);
    s->length = inv_tour_length(s->p, s->order);
    /* Joining, measuring and copying at the end of a round: a few passes like these two. */
    double closing = 3 * (inv_now() - begun);
    if (1.3 * size < n && !s->fixed) INV_TRY(settle(&c, size, err)); /* else it is a part of a settled tour */
    c.population = first_populations(&c);
    for (int round = 0; !inv_tsp_over(s); round++, c.population = 0) {
        plan(&c, closing);
        if (round > 0 && (s->o->iterations >= 0 ? c.kicks == 0 : c.until <= inv_now())) break;
        int64_t kicks = s->kicks;
        /* By space, by stretches of the tour, and so on in turn. */
        if (round % 2 == 0)
            inv_pieces_cut(&c.q, s->order, c.population ? c.population : size, round_seed(&c));
        else
            inv_pieces_cut_along(&c.q, s->order, size, round_seed(&c));
        INV_TRY(run_round(&c, err));
        if (s->kicks == kicks) break; /* nothing in any piece may change */
    }
done:
    for (int i = 0; i < s->o->threads; i++) inv_piece_destroy(&c.workers[i].piece);
    free(c.workers);
    free(c.turns);
    inv_pieces_destroy(&c.q);
    return status;
}
