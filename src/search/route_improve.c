/* Anytime improvement of routes with rules. Small instances: every thread anneals the whole, and all go on
 * from the best one now and then. Larger ones are cut into spatially compact parts of whole routes, which the
 * threads anneal, join and cut elsewhere. The temperature falls with the budget. */
#include "base/cancel.h"
#include "search/route.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "problem/metric.h"
#include "search/fall.h"
#include "search/parts.h"
#include "search/route_near.h"
#include "search/route_part.h"
#include "search/show.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PART 1000 /* customers in a part: its lists and nodes stay in the cache            */
/* Nodes up to which every thread anneals the whole: cutting traps what is left of the capacity in the parts.
 * With time windows that matters less than the steps. */
#define CHAINS         1500
#define CHAINS_WINDOWS 400
#define FIRST_SPEED    50000 /* steps per second and thread, until it is measured                       */
#define LONG_FALL      30.0  /* seconds, when there is no limit                                       */
#define SHORT_SHARE    0.05  /* of the budget goes into a first fast fall of the temperature         */
#define SAVING_SHARE   0.3   /* of the budget goes into fewer routes, where these count first         */
#define MANY_STEPS     1000  /* per customer, with which windows need no hotter falls                    */
#define SHORT_FIRST    100   /* steps per customer from which there is a short fall first              */
/* Temperatures, in units of the mean edge between customers. The hot ones grow with the customers in a route: the longer
 * routes are, the more edges must change together. 4,000 customers with windows in routes of 37 ended 7 to 10 % shorter from
 * 8 than from 0.3 to 1, with 10 to 300 steps each. */
#define HOT                2.0
#define LONG_ROUTE         20.0
#define HOT_WINDOWS        3.0
#define LONG_ROUTE_WINDOWS 12.0
#define HOTTEST            10.0
#define WARM               0.3
#define COLD               0.05

typedef struct search {
    const invit_instance *p;
    const inv_improve_options *o;
    inv_neighbours near;
    inv_route_part *worker; /* [threads] */
    double begun, unit, speed;
    int64_t steps;
    invit_solution *now, *best; /* with room for n routes */
    double now_length, best_length;
    bool fewest;
    int32_t max_routes; /* in all; n: any number */
    double told_length, told_at, progress_at;
    inv_shown shown;

    bool chains; /* every thread anneals the whole */
    int32_t round;
    inv_parts parts;
    int64_t *made;            /* [parts] steps                                        */
    inv_fall_round under_way; /* the round */
    int32_t wanted;           /* routes, while routes are being saved                 */
    atomic_int taken;
} search;

static bool cancelled(const search *s)
{
    return inv_cancelled(s->o->control);
}

static bool stopped(const search *s)
{
    return cancelled(s) || inv_now() >= s->o->deadline ||
           (s->o->iterations >= 0 && s->steps >= s->o->iterations) ||
           (s->o->target > 0 && s->best_length <= s->o->target);
}

static bool better(const search *s, int32_t routes, double length)
{
    if (s->fewest && routes != s->best->routes) return routes < s->best->routes;
    return length < s->best_length;
}

/* ---- what the caller hears ------------------------------------------------------------------------ */

static void tell(search *s, bool at_once)
{
    const invit_control *c = s->o->control;
    double now = inv_now();
    if (s->best_length < s->told_length && (at_once || now - s->told_at >= INV_SHOW_SECONDS)) {
        s->told_at = now;
        s->told_length = s->best_length;
        if (s->o->on_better) s->o->on_better(s->o->on_better_user, now - s->begun, s->best_length);
    }
    if (c && c->progress && now - s->progress_at >= INV_SHOW_SECONDS) {
        s->progress_at = now;
        invit_progress progress = {.stage = "improve",
                                   .elapsed = now - s->begun,
                                   .fraction = inv_done(s->o, s->begun, s->steps),
                                   .best = s->best_length,
                                   .count = s->steps};
        c->progress(c->user, &progress);
    }
    inv_show(s->o, &s->shown, s->best_length, s->best);
}

/* Fewer routes may be longer: lengths told so far do not count any more. */
static void forget_told(search *s)
{
    s->told_length = s->shown.length = INFINITY;
}

/* ---- parts ------------------------------------------------------------------------------------- */

static invit_status cut(search *s, invit_error *err)
{
    inv_rng rng;
    inv_rng_init(&rng, s->o->seed, (uint64_t)s->round << 32);
    int32_t largest = inv_parts_cut(&s->parts, s->now, &rng);
    for (int t = 0; t < s->o->threads; t++) /* here, so that the threads need no memory */
        INV_CHECK(inv_route_part_begin(&s->worker[t], s->p, largest + 1, s->near.k, err));
    return INVIT_OK;
}

/* Routes that part i may have: what it has and its share of those not in use. */
static int32_t routes_for(const search *s, int32_t i)
{
    const inv_parts *parts = &s->parts;
    int64_t spare = s->max_routes - s->now->routes;
    if (spare < 0) spare = 0;
    return parts->first[i + 1] - parts->first[i] +
           (int32_t)(spare * (i + 1) / parts->count - spare * i / parts->count);
}

static void load_part(const search *s, int32_t i, inv_route_part *q)
{
    int32_t n = inv_parts_nodes(&s->parts, i);
    const int32_t *nodes, *start;
    inv_route_part_begin(q, s->p, n, s->near.k, NULL);
    q->max_routes = routes_for(s, i);
    for (int32_t v = 0; v < n; v++) {
        int32_t id = inv_parts_node(&s->parts, i, v);
        inv_route_part_fill(q, v, id);
        if (v > 0) inv_parts_neighbours(&s->parts, i, &s->near, id, q->near + (size_t)v * (size_t)q->k);
    }
    inv_route_part_measure(q);
    int32_t routes = inv_parts_begin(&s->parts, i, &nodes, &start);
    inv_route_part_set(q, nodes, start, routes);
}

static void store_part(const search *s, int32_t i, const inv_route_part *q, bool best)
{
    const inv_parts *parts = &s->parts;
    const inv_parts_routes *out = best ? &parts->best : &parts->current;
    int32_t routes =
        inv_route_part_routes(q, best, inv_parts_nodes_of(parts, out, i), inv_parts_start_of(parts, out, i));
    inv_parts_set(parts, out, i, routes, best ? q->best_length : q->length);
}

static inv_route_run run_of(const search *s, double from, double until, int64_t steps)
{
    return (inv_route_run){.hot = s->under_way.hot,
                           .cold = s->under_way.cold,
                           .from = from,
                           .deadline = until,
                           .steps = steps,
                           .cancel = inv_cancel_flag(s->o->control)};
}

static void work(void *context, int member)
{
    search *s = context;
    inv_route_part *q = &s->worker[member];
    for (int32_t i; (i = atomic_fetch_add(&s->taken, 1)) < s->parts.count;) {
        int32_t waves = (s->parts.count - i + s->o->threads - 1) / s->o->threads;
        double now = inv_now();
        double until = s->under_way.until;
        if (until < INFINITY) until = now + (until - now) / waves;
        inv_route_run run = run_of(s, now, until, inv_parts_share(&s->parts, i, s->under_way.steps));
        inv_rng rng;
        inv_rng_init(&rng, s->o->seed, ((uint64_t)s->round << 32) + (uint64_t)i + 1);
        load_part(s, i, q);
        s->made[i] = inv_route_part_run(q, &run, &rng);
        store_part(s, i, q, false);
        store_part(s, i, q, true);
    }
}

/* ---- chains: every thread has the whole --------------------------------------------------------- */

static void take_best(search *s, const inv_route_part *q)
{
    if (!better(s, q->best_routes, q->best_length)) return;
    if (q->best_routes < s->best->routes && s->fewest) forget_told(s);
    s->best_length = q->best_length;
    s->best->routes = inv_route_part_routes(q, true, s->best->nodes, s->best->start);
    for (int32_t i = 0; i < s->p->n - 1; i++)
        s->best->nodes[i] = inv_parts_node(&s->parts, 0, s->best->nodes[i]);
}

/* The run of a thread that has the whole. */
static inv_route_run run_of_thread(const search *s, int member)
{
    return run_of(s, s->under_way.from, s->under_way.until,
                  inv_fall_share(&s->under_way, member, s->o->threads));
}

static void run_chain(void *context, int member)
{
    search *s = context;
    inv_route_run run = run_of_thread(s, member);
    inv_rng rng;
    inv_rng_init(&rng, s->o->seed, ((uint64_t)s->round << 32) + (uint64_t)member + 1);
    s->made[member] = inv_route_part_run(&s->worker[member], &run, &rng);
}

/* The chains go on from the best of their solutions. */
static void exchange(search *s)
{
    int best = 0;
    for (int t = 1; t < s->o->threads; t++)
        if (inv_route_better(&s->worker[t], s->worker[t].routes, s->worker[t].length, s->worker[best].routes,
                             s->worker[best].length))
            best = t;
    for (int t = 0; t < s->o->threads; t++) {
        if (t != best) inv_route_part_take(&s->worker[t], &s->worker[best]);
        take_best(s, &s->worker[t]);
    }
    for (int t = 0; s->fewest && t < s->o->threads; t++) s->worker[t].max_routes = s->best->routes;
}

static invit_status load_whole(search *s, invit_error *err)
{
    int32_t parts = s->parts.count;
    s->parts.count = 1;
    invit_status status = cut(s, err);
    for (int t = 0; status == INVIT_OK && t < s->o->threads; t++) load_part(s, 0, &s->worker[t]);
    s->parts.count = parts;
    return status;
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
    s->round++;
    if (s->chains) {
        inv_parallel(s->o->threads, run_chain, s);
        count_steps(s, s->o->threads);
        exchange(s);
        return INVIT_OK;
    }
    INV_CHECK(cut(s, err));
    atomic_store(&s->taken, 0);
    int32_t parts = s->parts.count;
    inv_parallel(s->o->threads < parts ? s->o->threads : parts, work, s);
    count_steps(s, parts);
    double shortest = 0;
    int32_t routes = 0;
    for (int32_t i = 0; i < parts; i++) {
        shortest += s->parts.best.length[i];
        routes += s->parts.best.routes[i];
    }
    if (better(s, routes, shortest)) {
        if (routes < s->best->routes && s->fewest) forget_told(s);
        s->best_length = inv_parts_join(&s->parts, &s->parts.best, s->best);
        if (s->fewest) s->max_routes = s->best->routes;
    }
    s->now_length = inv_parts_join(&s->parts, &s->parts.current, s->now);
    return INVIT_OK;
}

/* ---- the whole --------------------------------------------------------------------------------- */

double inv_route_total(const invit_instance *p, const invit_solution *s)
{
    double total = 0;
    bool open = p->rules && p->rules->open;
    for (int32_t r = 0; r < s->routes; r++) {
        const int32_t *v = s->nodes + s->start[r];
        int32_t m = s->start[r + 1] - s->start[r];
        if (m == 0) continue;
        total += inv_distance(p, 0, v[0]);
        for (int32_t i = 1; i < m; i++) total += inv_distance(p, v[i - 1], v[i]);
        if (!open) total += inv_distance(p, v[m - 1], 0);
    }
    return total;
}

/* One fall of the temperature over `budget` seconds or, when o->iterations says so, steps. */
static invit_status anneal(search *s, double budget, double hot, double cold, invit_error *err)
{
    s->unit = inv_mean_edge(s->p, s->now, inv_route_total(s->p, s->now));
    inv_fall fall = inv_fall_begin(s->o, hot * s->unit, cold * s->unit, budget, s->steps);
    if (s->chains) INV_CHECK(load_whole(s, err));
    while (fall.done < 1 && !stopped(s)) {
        s->under_way = inv_fall_next(&fall, s->p->n - 1, s->speed, s->steps);
        INV_CHECK(one_round(s, err));
        inv_fall_note(&fall, s->steps);
        tell(s, false);
    }
    inv_copy_routes(s->best, s->now);
    return INVIT_OK;
}

static void save_routes(void *context, int member)
{
    search *s = context;
    inv_route_run run = run_of_thread(s, member);
    inv_rng rng;
    inv_rng_init(&rng, s->o->seed, ((uint64_t)s->round << 32) + (uint64_t)member + 1);
    s->made[member] = inv_route_part_save(&s->worker[member], s->wanted, &run, &rng);
}

/* Each thread tries to do with fewer routes, down to what the demands need. */
static invit_status save(search *s, double budget, invit_error *err)
{
    bool clocked = s->o->iterations < 0;
    int64_t demand = 0;
    for (int32_t v = 1; v < s->p->n; v++) demand += s->p->demand[v];
    s->wanted = s->p->capacity > 0 ? (int32_t)((demand + s->p->capacity - 1) / s->p->capacity) : 1;
    if (s->wanted < 1) s->wanted = 1;
    s->unit = inv_mean_edge(s->p, s->now, inv_route_total(s->p, s->now));
    double now = inv_now(), warm = WARM * s->unit;
    s->under_way = (inv_fall_round){warm, warm, now, s->o->deadline, clocked ? INT64_MAX : (int64_t)budget};
    if (clocked) s->under_way.until = fmin(now + budget, s->o->deadline);
    s->round++;
    INV_CHECK(load_whole(s, err));
    inv_parallel(s->o->threads, save_routes, s);
    count_steps(s, s->o->threads);
    for (int t = 0; t < s->o->threads; t++) take_best(s, &s->worker[t]);
    s->max_routes = s->best->routes;
    inv_copy_routes(s->best, s->now);
    tell(s, false);
    return INVIT_OK;
}

/* What is left of the time or the steps. */
static double budget_left(const search *s)
{
    const inv_improve_options *o = s->o;
    if (o->iterations >= 0) return (double)(o->iterations - s->steps);
    return o->deadline < INFINITY ? o->deadline - inv_now() : LONG_FALL;
}

static double hot_temperature(const search *s, double per_customer)
{
    bool windows = s->p->rules && s->p->rules->earliest;
    double route = (double)(s->p->n - 1) / s->now->routes;
    if (windows && per_customer >= MANY_STEPS) return HOT_WINDOWS;
    double hot =
        windows ? HOT_WINDOWS * fmax(1, route / LONG_ROUTE_WINDOWS) : HOT * fmax(1, route / LONG_ROUTE);
    return fmin(HOTTEST, hot);
}

/* A short fall first, so that there soon is something good; then the long one. Without any limit the search
 * goes on until it is cancelled, in ever longer falls. */
static invit_status anneal_to_the_limit(search *s, invit_error *err)
{
    const inv_improve_options *o = s->o;
    bool counted = o->iterations >= 0, limited = counted || o->deadline < INFINITY;
    if (s->fewest && !stopped(s)) {
        double share = SAVING_SHARE * budget_left(s);
        INV_CHECK(save(s, counted ? ceil(share) : share, err));
    }
    double budget = budget_left(s);
    double per_customer = budget * (counted ? 1 : s->speed) / s->p->n;
    double hot = inv_fall_first(o, hot_temperature(s, per_customer), COLD, per_customer);
    if (per_customer >= SHORT_FIRST) {
        INV_CHECK(anneal(s, counted ? ceil(SHORT_SHARE * budget) : SHORT_SHARE * budget, WARM, COLD, err));
        if (limited) budget = budget_left(s);
    }
    if (!stopped(s)) INV_CHECK(anneal(s, budget, hot, COLD, err));
    while (!stopped(s) && !limited) {
        budget *= 2;
        INV_CHECK(anneal(s, budget, hot, COLD, err));
    }
    tell(s, true);
    return INVIT_OK;
}

static void destroy(search *s)
{
    inv_neighbours_destroy(&s->near);
    for (int t = 0; s->worker && t < s->o->threads; t++) inv_route_part_destroy(&s->worker[t]);
    free(s->worker);
    invit_solution_destroy(s->now);
    invit_solution_destroy(s->best);
    inv_parts_destroy(&s->parts);
    free(s->made);
}

static invit_status init(search *s, const invit_solution *given, invit_error *err)
{
    const invit_instance *p = s->p;
    const inv_rules *rules = p->rules;
    inv_neighbour_options o = {.k = inv_route_near_length(p),
                               .threads = s->o->threads,
                               .deadline = s->o->deadline,
                               .cancel = inv_cancel_flag(s->o->control)};
    INV_CHECK(inv_route_near_create(p, &o, &s->near, err));
    s->chains = p->n <= (rules && rules->earliest ? CHAINS_WINDOWS : CHAINS) || (rules && !rules->has_xy);
    int32_t parts = p->n / PART + 1;
    if (parts < s->o->threads) parts = s->o->threads;
    INV_CHECK(inv_parts_init(&s->parts, p, parts, err));
    s->worker = calloc((size_t)s->o->threads, sizeof *s->worker);
    s->made = malloc((size_t)parts * sizeof *s->made);
    if (!s->worker || !s->made) return inv_no_memory(err, (size_t)parts * sizeof *s->made);
    INV_CHECK(inv_solution_alloc(p->n, p->n, &s->now, err));
    INV_CHECK(inv_solution_alloc(p->n, p->n, &s->best, err));
    inv_copy_routes(given, s->now);
    inv_copy_routes(given, s->best);
    s->fewest = rules && rules->fewest;
    s->max_routes = rules && rules->vehicles > 0 ? rules->vehicles : p->n;
    if (s->fewest) s->max_routes = s->best->routes;
    s->now_length = s->best_length = s->told_length = inv_route_total(p, given);
    s->shown = (inv_shown){-INFINITY, s->best_length};
    s->speed = (double)FIRST_SPEED * s->o->threads;
    return INVIT_OK;
}

invit_status inv_improve_routes(const invit_instance *p, invit_solution **solution,
                                const inv_improve_options *o, inv_improve_stats *stats, invit_error *err)
{
    invit_status status = INVIT_OK;
    search s = {.p = p, .o = o, .begun = inv_now()};
    if (p->n > 2 && !(o->iterations == 0)) {
        status = init(&s, *solution, err);
        double given = status == INVIT_OK ? s.best_length : 0;
        int32_t routes = status == INVIT_OK ? s.best->routes : 0;
        if (status == INVIT_OK) status = anneal_to_the_limit(&s, err);
        if (status == INVIT_ERR_CANCELLED)
            status = INVIT_OK; /* too little time to begin: what was given stays */
        else if (status == INVIT_OK && (s.best_length < given || (s.fewest && s.best->routes < routes))) {
            invit_solution *better_one = NULL;
            status = inv_solution_copy(s.best, &better_one, err);
            if (status == INVIT_OK) {
                invit_solution_destroy(*solution);
                *solution = better_one;
            }
        }
    }
    if (status == INVIT_OK && stats)
        *stats = (inv_improve_stats){s.steps, inv_route_total(p, *solution), inv_now() - s.begun};
    destroy(&s);
    return status;
}
