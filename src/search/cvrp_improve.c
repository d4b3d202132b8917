/* Anytime improvement of a CVRP solution. The routes are cut into spatially compact parts, the threads anneal
 * the parts by ruin and recreate, the parts are joined and cut elsewhere; the temperature falls with the
 * budget. */
#include "base/cancel.h"
#include "search/cvrp_fleet.h"
#include "search/cvrp_part.h"
#include "search/fall.h"
#include "search/improve.h"
#include "search/parts.h"
#include "search/show.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "problem/metric.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NEIGHBOURS       64
#define NEIGHBOURS_LARGE 32 /* from LARGE nodes on, for memory                                         */
#define LARGE            300000
#define PART             1000 /* customers in a part: its lists and nodes stay in the cache              */
#define PART_GIVE_UP     4000 /* the same where steps are given up early: 0.05 % shorter on 20,000       */
#define PART_ROUTES      40   /* routes in a part at least: with ten of them most have a rim as a neighbour */
#define LEAST_PART       250  /* customers in a part at least, however many threads there are            */
#define CHAINS           600  /* nodes up to which every thread anneals the whole                        */
#define INDEPENDENT      300  /* nodes up to which they do so without taking over each other's solutions   */
/* From so many customers on, in routes of up to so many, steps are given up early (inv_cvrp_run). */
#define GIVE_UP_CUSTOMERS 600
#define GIVE_UP_ROUTE     10
#define FIRST_SPEED       150000 /* steps a second and thread, until it is measured                         */
#define LONG_FALL         30.0   /* seconds, when there is no limit */
#define SHORT_SHARE       0.025  /* of the budget goes into each short fall of the temperature */
#define SHORT_FIRST       100    /* steps per customer from which there is a short fall first */
/* Temperatures, in units of the mean edge between customers. The hot one is a LONG_ROUTE-th of the customers in a
 * route, within its bounds: the longer routes are, the more edges must change together. Steps that are given up early
 * are many, and begin hotter. Generated instances of 400 to 750 customers in routes of 8 to 25 ended 0.05 % shorter
 * with 1 than with 2, those of 5,000 and 20,000 in routes of 9, given up early, 0.04 % longer. */
#define LONG_ROUTE  16.0
#define HOT         1.0
#define HOTTEST     10.0
#define HOT_GIVE_UP 2.0
/* Where many customers ask for two fifths of a vehicle and more, loading the vehicles is a puzzle of its own. Of five such
 * generated instances of 900 and 930 customers, three ended 0.1 to 0.8 % shorter with 8 than with 2, two within 0.04 %;
 * five others 0.1 % longer on average. */
#define HOT_PACKING   8.0
#define LARGE_DEMAND  0.4  /* of the capacity  */
#define LARGE_DEMANDS 0.05 /* of the customers */
#define WARM          0.3
#define COLD          0.05
/* Fleet reduction: routes that are saved one by one, and the capacity that must be left in a route on average, in mean
 * demands: fuller vehicles make longer routes. A search for one route less takes so many steps per customer at most, in
 * parts as large as may be, since each of them leaves a part of a vehicle empty. */
#define MOST_SAVED  3
#define LEAST_SLACK 0.2
#define SAVE_STEPS  20
#define SAVE_PART   20000

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
    int32_t round;
    inv_parts parts;
    int64_t *made;            /* [parts] steps                                        */
    inv_fall_round under_way; /* the round */
    double *gain;             /* [parts] how much shorter the part's best is than what it began with */
    atomic_bool *finished;    /* [parts] */
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
    for (int32_t i = 0; i < s->parts.count; i++)
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
    int32_t largest = inv_parts_cut(&s->parts, s->now, &rng);
    /* Here, so that the threads need no memory. */
    for (int t = 0; t < s->o->threads && t < s->parts.count; t++)
        INV_CHECK(inv_cvrp_part_begin(&s->worker[t], s->p->metric, largest + 1, s->near.k,
                                      (int32_t)s->p->capacity, err));
    return INVIT_OK;
}

static void load_part(const search *s, int32_t i, inv_cvrp_part *q)
{
    const invit_instance *p = s->p;
    int32_t n = inv_parts_nodes(&s->parts, i);
    const int32_t *nodes, *start;
    inv_cvrp_part_begin(q, p->metric, n, s->near.k, (int32_t)p->capacity, NULL);
    for (int32_t v = 0; v < n; v++) {
        int32_t id = inv_parts_node(&s->parts, i, v);
        q->node[v].x = p->xy[2 * (size_t)id];
        q->node[v].y = p->xy[2 * (size_t)id + 1];
        q->node[v].demand = (int32_t)p->demand[id];
        if (v > 0) inv_parts_neighbours(&s->parts, i, &s->near, id, q->near + (size_t)v * (size_t)q->k);
    }
    inv_cvrp_part_measure(q);
    int32_t routes = inv_parts_begin(&s->parts, i, &nodes, &start);
    inv_cvrp_part_set(q, nodes, start, routes);
}

static void store_part(const search *s, int32_t i, const inv_cvrp_part *q, bool best)
{
    const inv_parts *parts = &s->parts;
    const inv_parts_routes *out = best ? &parts->best : &parts->current;
    int32_t routes =
        inv_cvrp_part_routes(q, best, inv_parts_nodes_of(parts, out, i), inv_parts_start_of(parts, out, i));
    inv_parts_set(parts, out, i, routes, best ? q->best_length : q->length);
}

/* A part for which there is no time stays as it is. */
static void pass_part(const search *s, int32_t i)
{
    const inv_parts *parts = &s->parts;
    const int32_t *nodes, *start;
    int32_t routes = inv_parts_begin(parts, i, &nodes, &start);
    double length = 0;
    for (int32_t r = 0; r < routes; r++) {
        int32_t at = 0;
        for (int32_t h = start[r]; h <= start[r + 1]; h++) {
            int32_t to = h < start[r + 1] ? inv_parts_node(parts, i, nodes[h]) : 0;
            length += inv_edge(s->p, at, to);
            at = to;
        }
    }
    memcpy(inv_parts_nodes_of(parts, &parts->best, i), nodes, (size_t)start[routes] * sizeof *nodes);
    memcpy(inv_parts_start_of(parts, &parts->best, i), start, (size_t)(routes + 1) * sizeof *start);
    inv_parts_set(parts, &parts->current, i, routes, length);
    inv_parts_set(parts, &parts->best, i, routes, length);
}

static inv_cvrp_run run_of(const search *s, double from, double until, int64_t steps)
{
    return (inv_cvrp_run){.hot = s->under_way.hot,
                          .cold = s->under_way.cold,
                          .from = from,
                          .deadline = until,
                          .steps = steps,
                          .give_up = s->give_up,
                          .near_first = s->give_up,
                          .cancel = inv_cancel_flag(s->o->control)};
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
    for (int32_t i; (i = atomic_fetch_add(&s->taken, 1)) < s->parts.count;) {
        int32_t waves = (s->parts.count - i + s->o->threads - 1) / s->o->threads;
        double now = inv_now();
        double until = s->under_way.until;
        if (now >= until || cancelled(s)) {
            pass_part(s, i);
            s->made[i] = 0;
            continue;
        }
        if (until < INFINITY) until = now + (until - now) / waves;
        inv_cvrp_run run = run_of(s, now, until, inv_parts_share(&s->parts, i, s->under_way.steps));
        inv_rng rng;
        inv_rng_init(&rng, s->o->seed, ((uint64_t)s->round << 32) + (uint64_t)i + 1);
        load_part(s, i, q);
        double before = q->length;
        s->made[i] = s->save ? save_route(s, i, q, &run, &rng) : inv_cvrp_part_run(q, &run, &rng);
        store_part(s, i, q, false);
        store_part(s, i, q, true);
        s->gain[i] = before - q->best_length;
        atomic_store(&s->finished[i], true);
        if (member == 0) tell_within_round(s);
    }
}

/* ---- chains: on small instances every thread anneals the whole --------------------------------- */

static void run_chain(void *context, int member)
{
    search *s = context;
    inv_cvrp_run run = run_of(s, s->under_way.from, s->under_way.until,
                              inv_fall_share(&s->under_way, member, s->o->threads));
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
        for (int32_t i = 0; i < s->p->n - 1; i++)
            s->best->nodes[i] = inv_parts_node(&s->parts, 0, s->best->nodes[i]);
    }
}

static invit_status begin_chains(search *s, invit_error *err)
{
    s->parts.count = 1;
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
    double seconds = inv_now() - s->under_way.from;
    if (seconds > 0 && steps > 0) s->speed = (double)steps / seconds;
}

static invit_status one_round(search *s, invit_error *err)
{
    if (s->chains) {
        inv_parallel(s->o->threads, run_chain, s);
        count_steps(s, s->o->threads);
        exchange(s);
        s->round++;
        return INVIT_OK;
    }
    INV_CHECK(cut(s, err));
    int32_t parts = s->parts.count;
    for (int32_t i = 0; i < parts; i++) atomic_store(&s->finished[i], false);
    atomic_store(&s->taken, 0);
    inv_parallel(s->o->threads < parts ? s->o->threads : parts, work, s);
    count_steps(s, parts);
    double shortest = 0;
    for (int32_t i = 0; i < parts; i++) shortest += s->parts.best.length[i];
    if (shortest < s->best_length) s->best_length = inv_parts_join(&s->parts, &s->parts.best, s->best);
    s->now_length = inv_parts_join(&s->parts, &s->parts.current, s->now);
    s->round++;
    return INVIT_OK;
}

/* ---- the whole --------------------------------------------------------------------------------- */

/* One fall of the temperature over `budget` seconds or, when o->iterations says so, steps. */
static invit_status anneal(search *s, double budget, double hot, double cold, invit_error *err)
{
    s->unit = inv_mean_edge(s->p, s->now, inv_length(s->p, s->now));
    inv_fall fall = inv_fall_begin(s->o, hot * s->unit, cold * s->unit, budget, s->steps);
    if (s->chains) INV_CHECK(begin_chains(s, err));
    while (fall.done < 1 && !stopped(s)) {
        s->under_way = inv_fall_next(&fall, s->p->n - 1, s->speed, s->steps);
        INV_CHECK(one_round(s, err));
        inv_fall_note(&fall, s->steps);
        s->done = inv_done(s->o, s->begun, s->steps);
        tell_better(s, s->best_length, false);
        tell_progress(s, s->best_length, s->steps);
        inv_show(s->o, &s->shown, s->best_length, s->best);
    }
    if (s->chains) inv_copy_routes(s->best, s->now);
    return INVIT_OK;
}

static bool packs_hard(const invit_instance *p)
{
    int32_t large = 0;
    for (int32_t v = 1; v < p->n; v++) large += (double)p->demand[v] > LARGE_DEMAND * (double)p->capacity;
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
    if (s->now->routes < 2) return false;
    int64_t demand = 0;
    for (int32_t v = 1; v < s->p->n; v++) demand += s->p->demand[v];
    double slack = (double)s->p->capacity * (s->now->routes - 1) - (double)demand;
    return slack >= LEAST_SLACK * (double)demand / (s->p->n - 1) * s->now->routes;
}

static invit_status save_routes(search *s, invit_error *err)
{
    int32_t parts = s->parts.count;
    int32_t large = (s->p->n - 1) / SAVE_PART + 1;
    if (large < parts) s->parts.count = large;
    s->save = true;
    atomic_store(&s->saved, 0);
    double cold = COLD * s->unit;
    s->under_way = (inv_fall_round){cold, cold, inv_now(), s->o->deadline, s->under_way.steps};
    invit_status status = one_round(s, err);
    s->save = false;
    s->parts.count = parts;
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
        inv_copy_routes(begun, s->now);
        INV_TRY(save_routes(s, err));
        if (atomic_load(&s->saved) > 0) INV_TRY(short_fall(s, budget, err));
        if (atomic_load(&s->saved) > 0 && s->now_length < length) continue;
        inv_copy_routes(kept, s->now);
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
    double hot = hot_temperature(s);
    bool limited = o->iterations >= 0 || o->deadline < INFINITY;
    double budget = o->iterations >= 0 ? (double)o->iterations
                    : limited          ? o->deadline - inv_now()
                                       : LONG_FALL;
    double per_customer = budget * (o->iterations >= 0 ? 1 : s->speed) / s->p->n;
    double first_hot = inv_fall_first(o, hot, COLD, per_customer);
    if (per_customer >= SHORT_FIRST) {
        INV_CHECK(short_fall(s, budget, err));
        if (!s->chains) INV_CHECK(reduce_fleet(s, budget, err));
        budget = o->iterations >= 0 ? (double)(o->iterations - s->steps)
                 : limited          ? o->deadline - inv_now()
                                    : budget;
    }
    INV_CHECK(anneal(s, budget, first_hot, COLD, err));
    while (!stopped(s) && !limited) {
        budget *= 2;
        inv_copy_routes(s->best, s->now);
        INV_CHECK(anneal(s, budget, hot, COLD, err));
    }
    tell_better(s, s->best_length, true);
    return INVIT_OK;
}

static void destroy(search *s)
{
    inv_neighbours_destroy(&s->near);
    for (int t = 0; s->worker && t < s->o->threads; t++) inv_cvrp_part_destroy(&s->worker[t]);
    free(s->worker);
    invit_solution_destroy(s->now);
    invit_solution_destroy(s->best);
    inv_parts_destroy(&s->parts);
    free(s->made);
    free(s->gain);
    free(s->finished);
}

/* Parts enough for every thread, if they are large enough for that. */
static int32_t choose_parts(search *s, int32_t routes)
{
    int32_t customers = s->p->n - 1, threads = s->o->threads;
    double route = (double)customers / (routes > 0 ? routes : 1);
    s->chains = s->p->n <= CHAINS || (customers <= PART && threads > customers / LEAST_PART);
    s->give_up = customers >= GIVE_UP_CUSTOMERS && route <= GIVE_UP_ROUTE;
    double size = fmax(s->give_up ? PART_GIVE_UP : PART, PART_ROUTES * route);
    int32_t parts = (int32_t)(customers / size) + 1;
    return parts < threads ? threads : parts;
}

static invit_status init(search *s, const invit_solution *given, invit_error *err)
{
    const invit_instance *p = s->p;
    inv_neighbour_options o = {.k = p->n < LARGE ? NEIGHBOURS : NEIGHBOURS_LARGE,
                               .threads = s->o->threads,
                               .deadline = s->o->deadline,
                               .cancel = s->o->control ? s->o->control->cancel : NULL};
    INV_CHECK(inv_neighbours_create(p, &o, &s->near, err));
    int32_t parts = choose_parts(s, given->routes);
    INV_CHECK(inv_parts_init(&s->parts, p, parts, err));
    s->worker = calloc((size_t)s->o->threads, sizeof *s->worker);
    s->made = malloc((size_t)parts * sizeof *s->made);
    s->gain = malloc((size_t)parts * sizeof *s->gain);
    s->finished = malloc((size_t)parts * sizeof *s->finished);
    if (!s->worker || !s->made || !s->gain || !s->finished) return inv_no_memory(err, (size_t)parts * 100);
    INV_CHECK(inv_solution_alloc(p->n, p->n, &s->now, err));
    INV_CHECK(inv_solution_alloc(p->n, p->n, &s->best, err));
    inv_copy_routes(given, s->now);
    inv_copy_routes(given, s->best);
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
