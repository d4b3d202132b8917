/* Anytime improvement of a CVRP solution. The routes are cut into spatially compact parts, the threads anneal
 * the parts by ruin and recreate, the parts are joined and cut elsewhere; the temperature falls with the
 * budget. */
#include "base/cancel.h"
#include "search/cvrp_fleet.h"
#include "search/cvrp_part.h"
#include "search/cvrp_partition.h"
#include "search/improve.h"
#include "search/neighbours.h"
#include "search/show.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "problem/metric.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NEIGHBOURS       64
#define NEIGHBOURS_LARGE 20 /* from LARGE nodes on, for memory                                         */
#define LARGE            300000
#define PART             1000 /* customers in a part: its lists and nodes stay in the cache              */
#define PART_ROUTES      40   /* routes in a part at least: with ten of them most have a rim as a neighbour */
#define LEAST_PART       250  /* customers in a part at least, however many threads there are            */
#define CHAINS           600  /* nodes up to which every thread anneals the whole                        */
#define INDEPENDENT      300  /* nodes up to which they do so without taking over each other's solutions   */
/* From so many customers on, in routes of up to so many, steps are given up early (inv_cvrp_run). */
#define GIVE_UP_CUSTOMERS 600
#define GIVE_UP_ROUTE     10
#define ROUND_STEPS       50 /* steps per customer before the solution is cut anew                      */
#define LEAST_ROUNDS      6
#define FIRST_SPEED       150000 /* steps a second and thread, until it is measured                         */
#define LONG_FALL         30.0   /* seconds, when there is no limit */
#define SHORT_SHARE       0.025  /* of the budget goes into each quick fall of the temperature */
#define FEW_STEPS         100    /* per customer: too few to begin hot */
/* Temperatures, in units of the mean edge between customers. The hot one is a LONG_ROUTE-th of the customers in a
 * route, within its bounds: the longer routes are, the more edges must change together. Steps that are given up early
 * are many, and begin hotter. Generated instances of 400 to 750 customers in routes of 8 to 25 ended 0.05 % shorter
 * with 1 than with 2, those of 5,000 and 20,000 in routes of 9, given up early, 0.04 % longer. */
#define LONG_ROUTE  16.0
#define HOT         1.0
#define HOTTEST     10.0
#define HOT_GIVE_UP 2.0
/* Where so many customers of a hundred ask for more than a third of a vehicle, loading the vehicles is a puzzle of its own.
 * Of six generated instances of 900 and 930 customers, four ended 0.05 to 0.5 % shorter with 8 than with 2, two within
 * 0.05 %; six without such demands 0.1 % longer. */
#define HOT_PACKING   8.0
#define LARGE_DEMANDS 0.05
#define WARM          0.3
#define COLD          0.05
/* Fleet reduction: routes that are saved one by one, and the capacity that must be left in a route on average, in mean
 * demands: fuller vehicles make longer routes. A search for one route less takes so many steps per customer at most, in
 * parts as large as may be, since each of them leaves a part of a vehicle empty. */
#define MOST_SAVED  3
#define LEAST_SLACK 0.2
#define SAVE_STEPS  20
#define SAVE_PART   20000

/* What a round leaves: the routes of part i from nodes[offset[i]] and start[offset[i] + i] on. */
typedef struct outcome {
    int32_t *nodes;  /* [n]         */
    int32_t *start;  /* [n + parts] */
    int32_t *routes; /* [parts]     */
    double *length;  /* [parts]     */
} outcome;

typedef struct search {
    const invit_instance *p;
    const inv_improve_options *o;
    inv_neighbours near;
    inv_cvrp_part *worker; /* [threads] */
    double begun, unit, speed;
    int64_t steps;
    invit_solution *now, *best; /* with room for n routes */
    double now_length, best_length;
    double told_length, told_at, progress_at, done;
    inv_shown shown;

    bool chains;  /* every thread anneals the whole */
    bool give_up; /* of each run */
    bool save;    /* this round is one of fleet reduction */
    atomic_int saved;
    int32_t round, parts;
    inv_cvrp_place *place; /* [n] routes, in the parts' order                      */
    int32_t *first;        /* [parts + 1] into place                               */
    int32_t *offset;       /* [parts + 1] customers before part i                  */
    int32_t *part_of;      /* [n] a customer's part, and its number there (from 1) */
    int32_t *local;        /* [n]                                                  */
    int32_t *global;       /* [n] customers by part and number                     */
    outcome current, shortest;
    int64_t *made; /* [parts] steps                                        */
    double hot, cold, from, until;
    int64_t round_steps;   /* INT64_MAX: by the clock                              */
    double *gain;          /* [parts] how much shorter the part's best is than what it began with */
    atomic_bool *finished; /* [parts] */
    atomic_int taken;
} search;

static bool cancelled(const search *s)
{
    return inv_cancelled(s->o->control);
}

static bool stopped(const search *s)
{
    return cancelled(s) || inv_now() >= s->o->deadline ||
           (s->o->iterations >= 0 && s->steps >= s->o->iterations) || s->best_length <= s->o->target;
}

/* ---- what the caller hears ------------------------------------------------------------------------ */

static void tell_better(search *s, double length, bool at_once)
{
    double now = inv_now();
    if (length >= s->told_length || (now - s->told_at < 0.1 && !at_once)) return;
    s->told_at = now;
    s->told_length = length;
    if (s->o->on_better) s->o->on_better(s->o->on_better_user, now - s->begun, length);
}

static void tell_progress(search *s, double best, int64_t steps)
{
    const invit_control *c = s->o->control;
    double now = inv_now();
    if (!c || !c->progress || now - s->progress_at < 0.1) return;
    s->progress_at = now;
    invit_progress progress = {
        .stage = "improve", .elapsed = now - s->begun, .fraction = s->done, .best = best, .count = steps};
    c->progress(c->user, &progress);
}

/* On large instances a round is long: the parts that are finished already make a better whole. */
static void tell_within_round(search *s)
{
    double length = s->now_length;
    int64_t steps = s->steps;
    for (int32_t i = 0; i < s->parts; i++)
        if (atomic_load(&s->finished[i])) {
            length -= s->gain[i];
            steps += s->made[i];
        }
    tell_better(s, length, false);
    tell_progress(s, fmin(length, s->best_length), steps);
}

/* ---- a round ----------------------------------------------------------------------------------- */

static invit_status cut(search *s, invit_error *err)
{
    inv_rng rng;
    inv_rng_init(&rng, s->o->seed, (uint64_t)s->round << 32);
    inv_cvrp_partition(s->p, s->now, s->parts, &rng, s->place, s->first);
    int32_t count = 0, largest = 0;
    for (int32_t i = 0; i < s->parts; i++) {
        s->offset[i] = count;
        for (int32_t j = s->first[i]; j < s->first[i + 1]; j++) {
            int32_t r = s->place[j].route;
            for (int32_t h = s->now->start[r]; h < s->now->start[r + 1]; h++) {
                int32_t v = s->now->nodes[h];
                s->part_of[v] = i;
                s->local[v] = count - s->offset[i] + 1;
                s->global[count++] = v;
            }
        }
        if (count - s->offset[i] > largest) largest = count - s->offset[i];
    }
    s->offset[s->parts] = count;
    for (int t = 0; t < s->o->threads && t < s->parts; t++) /* here, so that the threads need no memory */
        INV_CHECK(inv_cvrp_part_begin(&s->worker[t], s->p->metric, largest + 1, s->near.k,
                                      (int32_t)s->p->capacity, err));
    return INVIT_OK;
}

static void load_part(const search *s, int32_t i, inv_cvrp_part *q)
{
    const invit_instance *p = s->p;
    const int32_t *global = s->global + s->offset[i] - 1;
    int32_t n = s->offset[i + 1] - s->offset[i] + 1, routes = 0;
    inv_cvrp_part_begin(q, p->metric, n, s->near.k, (int32_t)p->capacity, NULL);
    q->node[0].x = p->xy[0];
    q->node[0].y = p->xy[1];
    for (int32_t v = 1; v < n; v++) {
        int32_t g = global[v], *near = q->near + (size_t)v * (size_t)q->k, count = 0;
        const int32_t *all = inv_neighbours_of(&s->near, g);
        q->node[v].x = p->xy[2 * (size_t)g];
        q->node[v].y = p->xy[2 * (size_t)g + 1];
        q->node[v].demand = p->demand[g];
        for (int32_t j = 0; j < s->near.k && all[j] >= 0; j++)
            if (all[j] != 0 && s->part_of[all[j]] == i) near[count++] = s->local[all[j]];
        if (count < q->k) near[count] = 0;
    }
    inv_cvrp_part_measure(q);
    /* Customers are numbered route by route, so the routes are runs of numbers. */
    int32_t *nodes = s->current.nodes + s->offset[i], *start = s->current.start + s->offset[i] + i;
    start[0] = 0;
    for (int32_t j = s->first[i]; j < s->first[i + 1]; j++) {
        start[routes + 1] = start[routes] + s->place[j].size;
        routes++;
    }
    for (int32_t v = 1; v < n; v++) nodes[v - 1] = v;
    inv_cvrp_part_set(q, nodes, start, routes);
}

/* A part for which there is no time stays as it is. */
static void pass_part(const search *s, int32_t i, const outcome *out)
{
    int32_t *start = out->start + s->offset[i] + i, count = s->offset[i + 1] - s->offset[i];
    const int32_t *nodes = s->global + s->offset[i];
    double length = 0;
    start[0] = 0;
    out->routes[i] = 0;
    for (int32_t j = s->first[i]; j < s->first[i + 1]; j++) {
        int32_t r = out->routes[i]++, from = start[r], to = start[r] + s->place[j].size;
        start[r + 1] = to;
        length += inv_edge(s->p, 0, nodes[from]) + inv_edge(s->p, nodes[to - 1], 0);
        for (int32_t h = from + 1; h < to; h++) length += inv_edge(s->p, nodes[h - 1], nodes[h]);
    }
    memcpy(out->nodes + s->offset[i], nodes, (size_t)count * sizeof *nodes);
    out->length[i] = length;
}

static void store_part(const search *s, int32_t i, const inv_cvrp_part *q, bool best, const outcome *out)
{
    int32_t *nodes = out->nodes + s->offset[i];
    out->routes[i] = inv_cvrp_part_routes(q, best, nodes, out->start + s->offset[i] + i);
    out->length[i] = best ? q->best_length : q->length;
    for (int32_t j = 0; j < q->n - 1; j++) nodes[j] = s->global[s->offset[i] + nodes[j] - 1];
}

/* Steps of the round that fall to the parts before i, so that the parts' shares add up. */
static int64_t share_of(const search *s, int32_t i)
{
    return (int64_t)((double)s->round_steps * s->offset[i] / (s->p->n - 1));
}

static int64_t save_route(search *s, int32_t i, inv_cvrp_part *q, const inv_cvrp_run *run, inv_rng *rng)
{
    bool saved = false;
    if (!inv_cvrp_may_save_route(q)) return 0;
    int64_t steps = inv_cvrp_save_route(q, run, (int64_t)SAVE_STEPS * q->n, rng, &saved);
    if (saved)
        atomic_fetch_add(&s->saved, 1);
    else
        load_part(s, i, q);
    return steps;
}

static void work(void *context, int member)
{
    search *s = context;
    inv_cvrp_part *q = &s->worker[member];
    for (int32_t i; (i = atomic_fetch_add(&s->taken, 1)) < s->parts;) {
        int32_t waves = (s->parts - i + s->o->threads - 1) / s->o->threads;
        double now = inv_now();
        if (now >= s->until || cancelled(s)) {
            pass_part(s, i, &s->current);
            pass_part(s, i, &s->shortest);
            s->made[i] = 0;
            continue;
        }
        inv_cvrp_run run = {.hot = s->hot,
                            .cold = s->cold,
                            .from = now,
                            .deadline = s->until < INFINITY ? now + (s->until - now) / waves : INFINITY,
                            .steps = s->round_steps,
                            .give_up = s->give_up,
                            .near_first = s->give_up,
                            .cancel = s->o->control ? s->o->control->cancel : NULL};
        if (s->round_steps < INT64_MAX) run.steps = share_of(s, i + 1) - share_of(s, i);
        inv_rng rng;
        inv_rng_init(&rng, s->o->seed, ((uint64_t)s->round << 32) + (uint64_t)i + 1);
        load_part(s, i, q);
        double before = q->length;
        s->made[i] = s->save ? save_route(s, i, q, &run, &rng) : inv_cvrp_part_run(q, &run, &rng);
        store_part(s, i, q, false, &s->current);
        store_part(s, i, q, true, &s->shortest);
        s->gain[i] = before - q->best_length;
        atomic_store(&s->finished[i], true);
        if (member == 0) tell_within_round(s);
    }
}

/* Puts the parts' routes together; returns the length. */
static double join(const search *s, const outcome *from, invit_solution *to)
{
    double length = 0;
    to->routes = 0;
    for (int32_t i = 0; i < s->parts; i++) {
        const int32_t *start = from->start + s->offset[i] + i;
        for (int32_t r = 1; r <= from->routes[i]; r++) to->start[++to->routes] = s->offset[i] + start[r];
        length += from->length[i];
    }
    memcpy(to->nodes, from->nodes, (size_t)(s->p->n - 1) * sizeof *to->nodes);
    return length;
}

/* ---- chains: on small instances every thread anneals the whole --------------------------------- */

static void run_chain(void *context, int member)
{
    search *s = context;
    inv_cvrp_run run = {.hot = s->hot,
                        .cold = s->cold,
                        .from = s->from,
                        .deadline = s->until,
                        .steps = s->round_steps,
                        .give_up = s->give_up,
                        .near_first = s->give_up,
                        .cancel = s->o->control ? s->o->control->cancel : NULL};
    if (s->round_steps < INT64_MAX)
        run.steps = s->round_steps * (member + 1) / s->o->threads - s->round_steps * member / s->o->threads;
    inv_rng rng;
    inv_rng_init(&rng, s->o->seed, ((uint64_t)s->round << 32) + (uint64_t)member + 1);
    s->made[member] = inv_cvrp_part_run(&s->worker[member], &run, &rng);
}

/* The chains go on from the shortest of their solutions. On few nodes a fall of the temperature is long and ends where
 * luck had it: there each goes its own way, and the best of them counts. */
static void exchange(search *s)
{
    int shortest = 0;
    for (int t = 1; t < s->o->threads; t++)
        if (s->worker[t].length < s->worker[shortest].length) shortest = t;
    for (int t = 0; t < s->o->threads; t++) {
        if (t != shortest && s->p->n > INDEPENDENT) inv_cvrp_part_take(&s->worker[t], &s->worker[shortest]);
        if (s->worker[t].best_length >= s->best_length) continue;
        s->best_length = s->worker[t].best_length;
        s->best->routes = inv_cvrp_part_routes(&s->worker[t], true, s->best->nodes, s->best->start);
        for (int32_t i = 0; i < s->p->n - 1; i++) s->best->nodes[i] = s->global[s->best->nodes[i] - 1];
    }
}

static invit_status begin_chains(search *s, invit_error *err)
{
    s->parts = 1;
    INV_CHECK(cut(s, err));
    for (int t = 0; t < s->o->threads; t++) {
        INV_CHECK(inv_cvrp_part_begin(&s->worker[t], s->p->metric, s->p->n, s->near.k,
                                      (int32_t)s->p->capacity, err));
        load_part(s, 0, &s->worker[t]);
    }
    return INVIT_OK;
}

static void count_steps(search *s, int32_t of)
{
    int64_t steps = 0;
    for (int32_t i = 0; i < of; i++) steps += s->made[i];
    s->steps += steps;
    double seconds = inv_now() - s->from;
    if (seconds > 0 && steps > 0) s->speed = (double)steps / seconds;
}

static invit_status one_round(search *s, invit_error *err)
{
    s->from = inv_now();
    if (s->chains) {
        inv_parallel(s->o->threads, run_chain, s);
        count_steps(s, s->o->threads);
        exchange(s);
        s->round++;
        return INVIT_OK;
    }
    INV_CHECK(cut(s, err));
    for (int32_t i = 0; i < s->parts; i++) atomic_store(&s->finished[i], false);
    atomic_store(&s->taken, 0);
    inv_parallel(s->o->threads < s->parts ? s->o->threads : s->parts, work, s);
    count_steps(s, s->parts);
    double shortest = 0;
    for (int32_t i = 0; i < s->parts; i++) shortest += s->shortest.length[i];
    if (shortest < s->best_length) s->best_length = join(s, &s->shortest, s->best);
    s->now_length = join(s, &s->current, s->now);
    s->round++;
    return INVIT_OK;
}

/* ---- the whole --------------------------------------------------------------------------------- */

/* Empty routes, which a caller may give, are left out. */
static void copy_routes(const invit_solution *from, invit_solution *to)
{
    to->routes = 0;
    for (int32_t r = 0; r < from->routes; r++)
        if (from->start[r + 1] > from->start[r]) to->start[++to->routes] = from->start[r + 1];
    memcpy(to->nodes, from->nodes, (size_t)from->start[from->routes] * sizeof *to->nodes);
}

static double mean_edge(const invit_instance *p, const invit_solution *x)
{
    double sum = 0;
    int64_t edges = 0;
    for (int32_t r = 0; r < x->routes; r++)
        for (int32_t i = x->start[r] + 1; i < x->start[r + 1]; i++, edges++)
            sum += inv_edge(p, x->nodes[i - 1], x->nodes[i]);
    if (sum > 0) return sum / (double)edges;
    double length = inv_length(p, x);
    return length > 0 ? length / p->n : 1;
}

/* One fall of the temperature over `budget` seconds or, when o->iterations says so, steps. */
static invit_status anneal(search *s, double budget, double hot, double cold, invit_error *err)
{
    const inv_improve_options *o = s->o;
    bool clocked = o->iterations < 0;
    double begun = inv_now(), done = 0;
    int64_t first = s->steps;
    s->unit = mean_edge(s->p, s->now);
    if (s->chains) INV_CHECK(begin_chains(s, err));
    while (done < 1 && !stopped(s)) {
        /* A round is a share of the budget, at most what ROUND_STEPS takes. */
        double share = ROUND_STEPS * (double)(s->p->n - 1) / (clocked ? s->speed * budget : budget);
        double next = fmin(1, done + fmin(share, 1.0 / LEAST_ROUNDS));
        s->hot = hot * s->unit * pow(cold / hot, done);
        s->cold = hot * s->unit * pow(cold / hot, next);
        s->until = clocked ? fmin(begun + next * budget, o->deadline) : o->deadline;
        s->round_steps = INT64_MAX;
        if (!clocked) s->round_steps = (int64_t)ceil(next * budget) - (s->steps - first);
        INV_CHECK(one_round(s, err));
        done = clocked ? (inv_now() - begun) / budget : (double)(s->steps - first) / budget;
        if (o->iterations > 0) s->done = (double)s->steps / (double)o->iterations;
        if (o->deadline < INFINITY)
            s->done = fmax(s->done, (inv_now() - s->begun) / (o->deadline - s->begun));
        tell_better(s, s->best_length, false);
        tell_progress(s, s->best_length, s->steps);
        inv_show(o, &s->shown, s->best_length, s->best);
    }
    if (s->chains) copy_routes(s->best, s->now);
    return INVIT_OK;
}

/* Whether loading vehicles is a puzzle: many demands are more than a third of a vehicle. */
static bool packs_hard(const invit_instance *p)
{
    int32_t large = 0;
    for (int32_t v = 1; v < p->n; v++) large += p->demand[v] > p->capacity / 3;
    return large >= LARGE_DEMANDS * (p->n - 1);
}

static double hot_temperature(const search *s)
{
    if (s->give_up) return packs_hard(s->p) ? HOT_PACKING : HOT_GIVE_UP;
    double route = (double)(s->p->n - 1) / s->now->routes;
    return fmin(HOTTEST, fmax(HOT, route / LONG_ROUTE));
}

static invit_status short_fall(search *s, double budget, invit_error *err)
{
    if (s->o->iterations >= 0) budget = ceil(budget);
    return anneal(s, SHORT_SHARE * budget, WARM, COLD, err);
}

static bool may_save_route(const search *s)
{
    int64_t demand = 0;
    for (int32_t v = 1; v < s->p->n; v++) demand += s->p->demand[v];
    double slack = (double)s->p->capacity * (s->now->routes - 1) - (double)demand;
    return slack >= LEAST_SLACK * (double)demand / (s->p->n - 1) * s->now->routes;
}

static invit_status save_routes(search *s, invit_error *err)
{
    int32_t parts = s->parts;
    s->parts = (s->p->n - 1) / SAVE_PART + 1;
    s->save = true;
    atomic_store(&s->saved, 0);
    s->hot = s->cold = COLD * s->unit;
    s->until = s->o->deadline;
    invit_status status = one_round(s, err);
    s->save = false;
    s->parts = parts;
    return status;
}

/* Whether fewer routes are shorter only shows once they have been annealed too: both go on from the same solution for the
 * same time. */
static invit_status reduce_fleet(search *s, double budget, invit_error *err)
{
    invit_status status = INVIT_OK;
    invit_solution *begun = NULL, *kept = NULL;
    for (int i = 0; i < MOST_SAVED && may_save_route(s) && !stopped(s); i++) {
        invit_solution_destroy(begun);
        begun = NULL;
        INV_TRY(inv_solution_copy(s->now, &begun, err));
        INV_TRY(short_fall(s, budget, err));
        double length = s->now_length;
        invit_solution_destroy(kept);
        kept = NULL;
        INV_TRY(inv_solution_copy(s->now, &kept, err));
        copy_routes(begun, s->now);
        INV_TRY(save_routes(s, err));
        if (atomic_load(&s->saved) > 0) INV_TRY(short_fall(s, budget, err));
        if (atomic_load(&s->saved) > 0 && s->now_length < length) continue;
        copy_routes(kept, s->now);
        break;
    }
done:
    invit_solution_destroy(begun);
    invit_solution_destroy(kept);
    return status;
}

/* A short fall first, so that there soon is something good; then the long one. Without any limit the search
 * goes on until it is cancelled, in ever longer falls. */
static invit_status anneal_to_the_limit(search *s, invit_error *err)
{
    const inv_improve_options *o = s->o;
    double hot = hot_temperature(s), warm = s->give_up ? WARM : WARM * hot;
    bool limited = o->iterations >= 0 || o->deadline < INFINITY;
    double budget = o->iterations >= 0 ? (double)o->iterations
                    : limited          ? o->deadline - inv_now()
                                       : LONG_FALL;
    double per_customer = budget * (o->iterations >= 0 ? 1 : s->speed) / s->p->n;
    double first_hot = per_customer < FEW_STEPS ? fmax(COLD, warm * per_customer / FEW_STEPS)
                                                : hot * fmin(1, per_customer / (2 * FEW_STEPS));
    if (per_customer >= FEW_STEPS) {
        INV_CHECK(short_fall(s, budget, err));
        if (!s->chains) INV_CHECK(reduce_fleet(s, budget, err));
        budget = o->iterations >= 0 ? (double)(o->iterations - s->steps)
                 : limited          ? o->deadline - inv_now()
                                    : budget;
    }
    INV_CHECK(anneal(s, budget, first_hot, COLD, err));
    while (!stopped(s) && !limited) {
        budget *= 2;
        copy_routes(s->best, s->now);
        INV_CHECK(anneal(s, budget, hot, COLD, err));
    }
    tell_better(s, s->best_length, true);
    return INVIT_OK;
}

static void free_outcome(outcome *x)
{
    free(x->nodes);
    free(x->start);
    free(x->routes);
    free(x->length);
}

static bool alloc_outcome(outcome *x, size_t n, size_t parts)
{
    x->nodes = malloc(n * sizeof *x->nodes);
    x->start = malloc((n + parts) * sizeof *x->start);
    x->routes = malloc(parts * sizeof *x->routes);
    x->length = malloc(parts * sizeof *x->length);
    return x->nodes && x->start && x->routes && x->length;
}

static void destroy(search *s)
{
    inv_neighbours_destroy(&s->near);
    for (int t = 0; s->worker && t < s->o->threads; t++) inv_cvrp_part_destroy(&s->worker[t]);
    free(s->worker);
    invit_solution_destroy(s->now);
    invit_solution_destroy(s->best);
    free(s->place);
    free(s->first);
    free(s->offset);
    free(s->part_of);
    free(s->local);
    free(s->global);
    free_outcome(&s->current);
    free_outcome(&s->shortest);
    free(s->made);
    free(s->gain);
    free(s->finished);
}

/* Parts enough for every thread, if they are large enough for that. */
static void choose_parts(search *s, int32_t routes)
{
    int32_t customers = s->p->n - 1, threads = s->o->threads;
    double route = (double)customers / (routes > 0 ? routes : 1);
    double size = fmax(PART, PART_ROUTES * route);
    s->chains = s->p->n <= CHAINS || (customers <= PART && threads > customers / LEAST_PART);
    s->parts = (int32_t)(customers / size) + 1;
    if (s->parts < threads) s->parts = threads;
    s->give_up = customers >= GIVE_UP_CUSTOMERS && route <= GIVE_UP_ROUTE;
}

static invit_status init(search *s, const invit_solution *given, invit_error *err)
{
    const invit_instance *p = s->p;
    size_t n = (size_t)p->n;
    inv_neighbour_options o = {.k = p->n < LARGE ? NEIGHBOURS : NEIGHBOURS_LARGE,
                               .threads = s->o->threads,
                               .deadline = s->o->deadline,
                               .cancel = s->o->control ? s->o->control->cancel : NULL};
    INV_CHECK(inv_neighbours_create(p, &o, &s->near, err));
    choose_parts(s, given->routes);
    size_t parts = (size_t)s->parts;
    s->worker = calloc((size_t)s->o->threads, sizeof *s->worker);
    s->place = malloc(n * sizeof *s->place);
    s->first = malloc((parts + 1) * sizeof *s->first);
    s->offset = malloc((parts + 1) * sizeof *s->offset);
    s->part_of = malloc(n * sizeof *s->part_of);
    s->local = malloc(n * sizeof *s->local);
    s->global = malloc(n * sizeof *s->global);
    s->made = malloc(parts * sizeof *s->made);
    s->gain = malloc(parts * sizeof *s->gain);
    s->finished = malloc(parts * sizeof *s->finished);
    if (!s->worker || !s->place || !s->first || !s->offset || !s->part_of || !s->local || !s->global ||
        !s->made || !s->gain || !s->finished || !alloc_outcome(&s->current, n, parts) ||
        !alloc_outcome(&s->shortest, n, parts))
        return inv_no_memory(err, n * 100);
    INV_CHECK(inv_solution_alloc(p->n, p->n, &s->now, err));
    INV_CHECK(inv_solution_alloc(p->n, p->n, &s->best, err));
    copy_routes(given, s->now);
    copy_routes(given, s->best);
    s->now_length = s->best_length = s->told_length = inv_length(p, given);
    s->shown = (inv_shown){-INFINITY, s->best_length};
    s->speed = (double)FIRST_SPEED * s->o->threads;
    return INVIT_OK;
}

invit_status inv_improve_cvrp(const invit_instance *p, invit_solution **solution,
                              const inv_improve_options *o, inv_improve_stats *stats, invit_error *err)
{
    invit_status status = INVIT_OK;
    search s = {.p = p, .o = o, .begun = inv_now()};
    if (p->n > 2 && !(o->iterations == 0)) {
        status = init(&s, *solution, err);
        if (status == INVIT_OK) status = anneal_to_the_limit(&s, err);
        if (status == INVIT_ERR_CANCELLED)
            status = INVIT_OK; /* too little time to begin: what was given stays */
        else if (status == INVIT_OK && s.best_length < inv_length(p, *solution)) {
            invit_solution *better = NULL;
            status = inv_solution_copy(s.best, &better, err);
            if (status == INVIT_OK) {
                invit_solution_destroy(*solution);
                *solution = better;
            }
        }
    }
    if (status == INVIT_OK && stats)
        *stats = (inv_improve_stats){s.steps, inv_length(p, *solution), inv_now() - s.begun};
    destroy(&s);
    return status;
}
