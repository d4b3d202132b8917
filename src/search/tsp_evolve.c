/* The genetic algorithm around edge assembly crossover. A population of chained Lin-Kernighan tours; in each
 * generation every tour is crossed with the next one in a random round and replaced by its best child, until
 * nothing gets shorter. Then a larger population begins anew, the best tour among it. Every tour has its own
 * random stream, so the result does not depend on how threads share the work. */
#include "search/tsp_search.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "search/construct.h"
#include "search/tsp_eax.h"
#include "problem/metric.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_MOST = 120, MOST = 300, PATIENCE = 3 };
/* How a population is made and crossed. The less time there is per node, the fewer kicks a tour gets, and the
 * more a child takes over at once, so that a single population has converged when the time is over. */
typedef struct way {
    double seconds, kicks;      /* per node, of one core, from which on this is the best way     */
    int least;                  /* tours                                                         */
    int children;               /* cycles tried for each one that is kept                        */
    int32_t nodes_per_exchange; /* nodes for each cycle that a child may take over               */
    int32_t nodes_per_kick;     /* nodes for each kick that a new tour gets                      */
    double making;              /* share of the time left that goes into making the population   */
    bool again;                 /* after one population, a larger one                            */
    int32_t whole_most;         /* nodes of the largest tour that has a population as a whole    */
    int32_t piece;              /* nodes of a piece of a larger one that has its own             */
} way;
static const way unhurried = {200e-6, 1, 10, 30, 1000, 10, 0.5, true, 150000, 50000};
static const way hurried[] = {{1500e-6, 8, 10, 30, 1000, 10, 0.5, true, 150000, 50000},
                              {150e-6, 0.8, 4, 10, 100, 20, 0.7, false, 75000, 50000},
                              {40e-6, 0.2, 4, 3, 30, 30, 0.75, false, 30000, 12500}};
/* Seconds per node that a thread needs for its first tour; those show how many there is time for. */
static const double first_tour = 20e-6;
enum { UNHURRIED_NODES = 2000 }; /* fewer have time for several populations anyway */

typedef struct worker {
    inv_lk lk;
    inv_eax *eax;
    int32_t *start, *place; /* [n] the tour a new one begins with, its inverse */
    invit_status status;
} worker;

typedef struct population {
    inv_tsp_search *s;
    const way *way;
    worker *workers;
    _Atomic int32_t size;
    int32_t room;
    double make_until; /* inv_now() after which no further tour is begun */
    int32_t *tours[2]; /* [room][n] this generation and the next       */
    double *length[2]; /* [room]                                        */
    int32_t *round;    /* [room] who is crossed with whom               */
    uint64_t stream;   /* random streams used up                        */
    atomic_int next;
    int now;               /* which of the two is this generation           */
    atomic_bool cut_short; /* the time was over before all were done        */
} population;

static int32_t *tour_of(const population *g, int which, int32_t i)
{
    return g->tours[which] + (size_t)i * (size_t)g->s->p->n;
}

static int64_t kicks_per_tour(const population *g)
{
    return (g->s->p->n + g->way->nodes_per_kick - 1) / g->way->nodes_per_kick;
}

static double tour_length(const invit_instance *p, const int32_t *order)
{
    double length = 0;
    for (int32_t i = 0; i < p->n; i++) length += inv_distance(p, order[i], order[i + 1 == p->n ? 0 : i + 1]);
    return length;
}

/* Hands a whole tour to the search; place[v] is v's position in order. */
static void load(inv_lk *lk, const inv_tsp_search *s, const int32_t *order, const int32_t *place)
{
    int32_t k = s->nb->k;
    lk->n = s->p->n;
    inv_lk_measure(lk, s->p);
    for (int32_t i = 0; i < lk->n; i++) {
        int32_t v = order[i];
        lk->mate[i] = s->fixed && s->fixed[v] >= 0 ? place[s->fixed[v]] : -1;
        inv_lk_place(lk, i, s->p, v);
        const int32_t *list = inv_neighbours_of(s->nb, v);
        for (int32_t j = 0; j < k; j++)
            lk->neighbour[(size_t)i * (size_t)k + (size_t)j] = list[j] < 0 ? -1 : place[list[j]];
    }
    inv_lk_begin(lk);
}

/* Greedy edges chosen a little wrong (the caller's tour for the first), then some kicks. False when time is
 * up before the tour is worth having. */
static bool make_tour(population *g, worker *w, int32_t i)
{
    inv_tsp_search *s = g->s;
    int32_t n = s->p->n;
    inv_rng rng;
    inv_rng_init(&rng, s->o->seed, g->stream + (uint64_t)i);
    if (i == 0)
        memcpy(w->start, s->order, (size_t)n * sizeof *w->start);
    else if ((w->status = inv_greedy_order_around(s->p, s->nb, s->fixed, &rng, NULL, w->start, NULL)) !=
             INVIT_OK)
        return false;
    for (int32_t j = 0; j < n; j++) w->place[w->start[j]] = j;
    load(&w->lk, s, w->start, w->place);
    for (int32_t v = 0; v < n; v++) inv_lk_push(&w->lk, v);
    bool over = false;
    while (!inv_lk_optimise(&w->lk, 32) && !over) over = inv_tsp_over(s);
    for (int32_t v = 0, step = g->way->nodes_per_kick; v < n && !over; v += step) {
        int32_t near = (int32_t)inv_rng_below(&rng, (uint32_t)(n - v < step ? n - v : step));
        inv_lk_kick(&w->lk, v + near, &rng);
        over = inv_tsp_over(s);
    }
    for (int32_t j = 0; j < n; j++) tour_of(g, g->now, i)[j] = w->start[w->lk.tour.order[j]];
    g->length[g->now][i] = tour_length(s->p, tour_of(g, g->now, i));
    return !over;
}

static void make_tours(void *context, int member)
{
    population *g = context;
    for (;;) {
        int32_t i = atomic_fetch_add(&g->next, 1);
        if (i >= g->size || atomic_load(&g->cut_short)) return;
        if (i >= g->way->least &&
            inv_now() >= g->make_until) { /* tours before this one are made or being made */
            int32_t size = g->size;
            while (i < size && !atomic_compare_exchange_weak(&g->size, &size, i)) {
            }
            return;
        }
        if (!make_tour(g, &g->workers[member], i)) atomic_store(&g->cut_short, true);
        if (member == 0) inv_tsp_tell(g->s, g->s->length, g->s->kicks + i * kicks_per_tour(g));
    }
}

static void cross_tours(void *context, int member)
{
    population *g = context;
    for (;;) {
        int32_t i = atomic_fetch_add(&g->next, 1);
        if (i >= g->size) return;
        int32_t a = g->round[i], b = g->round[i + 1 == g->size ? 0 : i + 1];
        if (inv_tsp_over(g->s)) {
            atomic_store(&g->cut_short, true);
            return;
        }
        inv_rng rng;
        inv_rng_init(&rng, g->s->o->seed, g->stream + (uint64_t)i);
        double gain = inv_eax_cross(g->workers[member].eax, tour_of(g, g->now, a), tour_of(g, g->now, b),
                                    g->way->children, 1 + g->s->p->n / g->way->nodes_per_exchange, &rng,
                                    tour_of(g, !g->now, a));
        g->length[!g->now][a] = g->length[g->now][a] - gain;
    }
}

/* Takes the best of tours first..last-1 of generation `which`, if it is the best so far. */
static void keep_best(population *g, int which, int32_t last)
{
    inv_tsp_search *s = g->s;
    for (int32_t i = 0; i < last; i++) {
        if (g->length[which][i] >= s->length) continue;
        s->length = g->length[which][i];
        memcpy(s->order, tour_of(g, which, i), (size_t)s->p->n * sizeof *s->order);
    }
    inv_tsp_tell(s, s->length, s->kicks);
    inv_tsp_show(s);
}

static double mean_length(const population *g)
{
    double sum = 0;
    for (int32_t i = 0; i < g->size; i++) sum += g->length[g->now][i];
    return sum / g->size;
}

/* Crosses until nothing has got shorter for a while or the time is over. */
static void evolve(population *g, inv_rng *rng)
{
    double mean = mean_length(g);
    for (int idle = 0; idle < PATIENCE;) {
        for (int32_t i = 0; i < g->size; i++) g->round[i] = i;
        for (int32_t i = g->size - 1; i > 0; i--) {
            int32_t j = (int32_t)inv_rng_below(rng, (uint32_t)i + 1), v = g->round[i];
            g->round[i] = g->round[j];
            g->round[j] = v;
        }
        for (int32_t i = 0; i < g->size; i++)
            g->length[!g->now][i] = INFINITY; /* not made when time runs out */
        atomic_store(&g->next, 0);
        inv_parallel(g->s->o->threads, cross_tours, g);
        g->stream += (uint64_t)g->size;
        keep_best(g, !g->now, g->size);
        if (atomic_load(&g->cut_short)) return;
        g->now = !g->now;
        double new_mean = mean_length(g);
        idle = new_mean < mean * (1 - 1e-9) ? 0 : idle + 1;
        mean = new_mean;
    }
}

/* Makes tours first..size-1; those before are there. */
static void make_population(population *g, int32_t first, int32_t size)
{
    double left = g->s->o->deadline - inv_now();
    g->make_until = g->s->o->iterations < 0 ? inv_now() + g->way->making * left : INFINITY;
    g->size = size;
    for (int32_t i = first; i < size; i++) g->length[g->now][i] = INFINITY;
    atomic_store(&g->next, first);
    inv_parallel(g->s->o->threads, make_tours, g);
    g->stream += (uint64_t)size;
    int32_t made = atomic_load(&g->next) < g->size ? atomic_load(&g->next) : g->size;
    g->s->kicks += made * kicks_per_tour(g);
    keep_best(g, g->now, g->size);
}

static bool make_room(population *g, int32_t size)
{
    size_t n = (size_t)g->s->p->n;
    for (int which = 0; which < 2; which++) {
        int32_t *tours = realloc(g->tours[which], (size_t)size * n * sizeof *tours);
        if (tours) g->tours[which] = tours;
        double *length = realloc(g->length[which], (size_t)size * sizeof *length);
        if (length) g->length[which] = length;
        if (!tours || !length) return false;
    }
    int32_t *round = realloc(g->round, (size_t)size * sizeof *round);
    if (!round) return false;
    g->round = round;
    g->room = size;
    return true;
}

/* How many tours the kicks allow for. */
static int32_t affordable(const population *g)
{
    const inv_tsp_search *s = g->s;
    if (s->o->iterations < 0) return FIRST_MOST;
    int64_t tours = s->o->iterations / kicks_per_tour(g);
    return tours < FIRST_MOST ? (int32_t)tours : FIRST_MOST;
}

/* Every thread makes a tour; returns how many tours there is time for, when each takes as long as these. */
static int32_t make_first(population *g, int32_t count)
{
    const inv_improve_options *o = g->s->o;
    double begun = inv_now();
    g->size = count;
    g->make_until = INFINITY;
    for (int32_t i = 0; i < count; i++) g->length[g->now][i] = INFINITY;
    inv_parallel(count, make_tours, g);
    keep_best(g, g->now, count);
    double now = inv_now(), left = g->way->making * (o->deadline - now);
    double more = left > 0 ? left * o->threads / (now - begun + 1e-9) : 0;
    return more < FIRST_MOST - count ? count + (int32_t)more : FIRST_MOST;
}

/* The best way for the time, or the kicks, that are left; NULL: there are too few for any. */
static const way *choose_way(const inv_tsp_search *s)
{
    bool few = s->p->n < UNHURRIED_NODES;
    double seconds = (s->o->deadline - inv_now()) * s->o->threads / s->p->n;
    double kicks = (double)(s->o->iterations - s->kicks) / s->p->n;
    const way *list = few ? &unhurried : hurried;
    for (size_t i = 0; i < (few ? 1 : sizeof hurried / sizeof *hurried); i++)
        if (s->o->iterations >= 0 ? kicks >= list[i].kicks : seconds >= list[i].seconds) return &list[i];
    return NULL;
}

int32_t inv_tsp_population_piece(const inv_tsp_search *s)
{
    const way *way = choose_way(s);
    return way ? way->piece : 0;
}

int32_t inv_tsp_whole_most(const inv_tsp_search *s)
{
    const way *way = choose_way(s);
    if (s->p->rules && s->p->rules->distance) return INT32_MAX; /* no places to cut by */
    return way ? way->whole_most : 0;
}

invit_status inv_tsp_evolve(inv_tsp_search *s, bool *done, invit_error *err)
{
    invit_status status = INVIT_OK;
    int32_t n = s->p->n;
    *done = false;
    const way *way = choose_way(s);
    if (n > s->whole_most || !way) return INVIT_OK;
    if (s->o->iterations < 0 && s->o->deadline - inv_now() < first_tour * n) return INVIT_OK;

    population g = {.s = s, .way = way, .stream = 1};
    int32_t size = affordable(&g), first = size < s->o->threads ? size : s->o->threads;
    if (size < way->least) return INVIT_OK;
    inv_rng rng;
    inv_rng_init(&rng, s->o->seed, 0);
    g.workers = calloc((size_t)s->o->threads, sizeof *g.workers);
    if (!g.workers) return inv_no_memory(err, sizeof *g.workers);
    for (int i = 0; i < s->o->threads; i++) {
        worker *w = &g.workers[i];
        INV_TRY(inv_lk_reserve(&w->lk, n, s->nb->k, err));
        w->lk.lean = !way->again;
        INV_TRY(inv_eax_create(s, &w->eax, err));
        w->start = malloc((size_t)n * sizeof *w->start);
        w->place = malloc((size_t)n * sizeof *w->place);
        if (!w->start || !w->place || (i == 0 && !make_room(&g, first))) {
            status = inv_no_memory(err, (size_t)n * sizeof *w->start);
            goto done;
        }
    }

    int32_t in_time = make_first(&g, first);
    if (in_time < size) size = in_time;
    if (atomic_load(&g.cut_short) || size < way->least) { /* what was made counts */
        s->kicks += first * kicks_per_tour(&g);
        goto done;
    }
    if (!make_room(&g, size)) {
        status = inv_no_memory(err, 2 * (size_t)size * (size_t)n * sizeof *s->order);
        goto done;
    }
    *done = way->again; /* what is left then is not enough for another one */
    for (; !atomic_load(&g.cut_short) &&
           (s->o->iterations < 0 || s->kicks + size * kicks_per_tour(&g) <= s->o->iterations);
         first = 0) {
        make_population(&g, first, size);
        if (!atomic_load(&g.cut_short)) evolve(&g, &rng);
        if (!way->again) break;
        size = size * 2 < MOST ? size * 2 : MOST;
        if (size > g.room && !make_room(&g, size)) break;
    }
done:
    for (int i = 0; i < s->o->threads; i++) {
        if (status == INVIT_OK && g.workers[i].status != INVIT_OK) status = inv_no_memory(err, (size_t)n);
        inv_lk_destroy(&g.workers[i].lk);
        inv_eax_destroy(g.workers[i].eax);
        free(g.workers[i].start);
        free(g.workers[i].place);
    }
    free(g.workers);
    for (int which = 0; which < 2; which++) {
        free(g.tours[which]);
        free(g.length[which]);
    }
    free(g.round);
    return status;
}
