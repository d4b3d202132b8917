/* Routes with rules: what the search keeps along its routes is what it would be computed anew; solutions keep
 * all rules, by a judge of the test's own; tiny ones are optimal, against trying everything; reproducible, on
 * time, stopped when asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fewer.h"
#include "base/clock.h"
#include "problem/metric.h"
#include "search/route.h"
#include "search/route_near.h"
#include "search/route_part.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOWS = 1,
    LENGTH = 2,
    DURATION = 4,
    STOPS = 8,
    OPEN = 16,
    MATRIX = 32, /* asymmetric */
    TIMES = 64,  /* a matrix of durations, or another speed */
    COMBINATIONS = 128
};

static double *array(int32_t n)
{
    double *a = malloc((size_t)n * sizeof *a);
    assert_non_null(a);
    return a;
}

/* A random instance in which every customer can be served alone. */
static invit_instance *make(int32_t n, int kind, uint64_t seed)
{
    invit_instance *p = NULL;
    inv_rules *r = NULL;
    invit_error err;
    inv_rng rng;
    inv_rng_init(&rng, seed, 5);
    assert_int_equal(inv_instance_alloc(INVIT_CVRP, n, &p, &err), INVIT_OK);
    assert_int_equal(inv_instance_rules(p, &r, &err), INVIT_OK);
    p->metric = (kind & LENGTH) ? INVIT_EXACT : INVIT_DIMACS;
    p->capacity = 60;
    for (int32_t i = 0; i < n; i++) {
        p->xy[2 * i] = floor(100 * inv_rng_double(&rng));
        p->xy[2 * i + 1] = floor(100 * inv_rng_double(&rng));
        p->demand[i] = i ? 1 + (int32_t)inv_rng_below(&rng, 20) : 0;
    }
    r->service = array(n);
    for (int32_t i = 0; i < n; i++) r->service[i] = i ? 5 + inv_rng_below(&rng, 10) : 0;
    if (kind & MATRIX) {
        r->distance = array(n * n);
        r->symmetric = false;
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++)
                r->distance[i * n + j] = i == j ? 0 : inv_edge(p, i, j) * (1 + 0.3 * inv_rng_double(&rng));
    }
    if ((kind & TIMES) && (kind & MATRIX)) {
        r->duration = array(n * n);
        for (int32_t i = 0; i < n * n; i++) r->duration[i] = r->distance[i] * (0.5 + inv_rng_double(&rng));
    } else if (kind & TIMES) {
        r->speed = 1.25;
    }
    r->open = kind & OPEN;
    if (kind & STOPS) r->max_stops = 4;
    double longest = 0, slowest = 0;
    for (int32_t i = 1; i < n; i++) {
        longest = fmax(longest, inv_distance(p, 0, i) + (r->open ? 0 : inv_distance(p, i, 0)));
        slowest =
            fmax(slowest, inv_duration(p, 0, i) + r->service[i] + (r->open ? 0 : inv_duration(p, i, 0)));
    }
    if (kind & LENGTH) r->max_length = 1.2 * longest;
    if (kind & DURATION) r->max_duration = 1.3 * slowest;
    if (kind & WINDOWS) {
        r->earliest = array(n);
        r->latest = array(n);
        r->earliest[0] = 10;
        r->latest[0] = 10 + 4 * slowest;
        for (int32_t i = 1; i < n; i++) {
            double from = r->earliest[0] + inv_duration(p, 0, i);
            double to = r->latest[0] - r->service[i] - (r->open ? 0 : inv_duration(p, i, 0));
            r->earliest[i] = r->earliest[0] + floor((to - from) * inv_rng_double(&rng));
            r->latest[i] = fmax(from, fmin(to, r->earliest[i] + 20 + inv_rng_below(&rng, 60)));
        }
    }
    return p;
}

/* The least duration of a route whose departure is free: later departures help until somebody would be
 * late. INFINITY when it breaks a window. */
static double least_duration(const invit_instance *p, const int32_t *v, int32_t m)
{
    const inv_rules *r = p->rules;
    double time = r->earliest ? r->earliest[0] : 0, later = INFINITY, waited = 0, total = 0;
    if (r->earliest) later = r->latest[0] - time;
    for (int32_t i = 0, at = 0; i <= m; i++) {
        int32_t to = i < m ? v[i] : 0;
        if (i == m && r->open) break;
        double travel = inv_duration(p, at, to);
        time += travel;
        total += travel;
        if (r->earliest) {
            if (time > r->latest[to] + 1e-7) return INFINITY;
            if (i < m && time < r->earliest[to]) {
                waited += r->earliest[to] - time;
                time = r->earliest[to];
            }
            /* leaving later by up to what was waited so far costs nothing here, by more makes it late */
            later = fmin(later, waited + r->latest[to] - time);
        }
        if (i < m) {
            time += r->service[to];
            total += r->service[to];
        }
        at = to;
    }
    return total + waited - fmin(waited, fmax(later, 0));
}

/* Length of a route, INFINITY when it breaks a rule. */
static double judge(const invit_instance *p, const int32_t *v, int32_t m)
{
    const inv_rules *r = p->rules;
    int64_t load = 0;
    double length = inv_distance(p, 0, v[0]) + (r->open ? 0 : inv_distance(p, v[m - 1], 0));
    for (int32_t i = 0; i < m; i++) load += p->demand[v[i]];
    for (int32_t i = 1; i < m; i++) length += inv_distance(p, v[i - 1], v[i]);
    if (load > p->capacity || (r->max_stops && m > r->max_stops) || length > r->max_length + 1e-7)
        return INFINITY;
    double duration = least_duration(p, v, m);
    return duration < INFINITY && duration <= r->max_duration + 1e-7 ? length : INFINITY;
}

static double judge_all(const invit_instance *p, const invit_solution *s)
{
    double total = 0;
    int32_t visits = 0;
    bool *seen = calloc((size_t)p->n, sizeof *seen);
    for (int32_t r = 0; r < s->routes; r++) {
        int32_t m = s->start[r + 1] - s->start[r];
        assert_true(m > 0);
        total += judge(p, s->nodes + s->start[r], m);
    }
    for (int32_t i = 0; i < s->start[s->routes]; i++, visits++) {
        assert_false(seen[s->nodes[i]]);
        seen[s->nodes[i]] = true;
    }
    free(seen);
    assert_int_equal(visits, p->n - 1);
    assert_true(!p->rules->vehicles || s->routes <= p->rules->vehicles);
    return total;
}

static invit_solution *construct(const invit_instance *p)
{
    invit_solution *s = NULL;
    invit_error err;
    inv_route_options o = {.seed = 1, .threads = 1, .deadline = INFINITY};
    invit_status status = inv_construct_routes(p, &o, &s, &err);
    if (status != INVIT_OK) print_error("%s\n", err.message);
    assert_int_equal(status, INVIT_OK);
    assert_true(judge_all(p, s) < INFINITY);
    return s;
}

static double improve(const invit_instance *p, invit_solution **s, int64_t iterations, int threads)
{
    invit_error err;
    inv_improve_stats stats;
    inv_improve_options o = {.deadline = INFINITY, .iterations = iterations, .threads = threads, .seed = 3};
    assert_int_equal(inv_improve_routes(p, s, &o, &stats, &err), INVIT_OK);
    double length = judge_all(p, *s);
    assert_true(fabs(length - stats.length) <= 1e-9 * length);
    assert_true(stats.iterations <= iterations);
    return length;
}

/* ---- tiny instances against trying everything ------------------------------------------------------- */

enum { TINY = 7, SETS = 1 << (TINY - 1) };

static void try_orders(const invit_instance *p, int32_t *v, int32_t m, int32_t fixed, double *best)
{
    if (fixed == m) {
        *best = fmin(*best, judge(p, v, m));
        return;
    }
    for (int32_t i = fixed; i < m; i++) {
        int32_t a = v[fixed], b = v[i];
        v[fixed] = b;
        v[i] = a;
        try_orders(p, v, m, fixed + 1, best);
        v[fixed] = a;
        v[i] = b;
    }
}

/* best[k][set]: shortest way to serve the set by at most k routes. */
static void try_everything(const invit_instance *p, double best[TINY][SETS])
{
    double alone[SETS];
    for (int set = 1; set < SETS; set++) {
        int32_t v[TINY], m = 0;
        for (int i = 0; i < TINY - 1; i++)
            if (set >> i & 1) v[m++] = i + 1;
        alone[set] = INFINITY;
        try_orders(p, v, m, 0, &alone[set]);
    }
    for (int k = 0; k < TINY; k++)
        for (int set = 0; set < SETS; set++) {
            best[k][set] = set == 0 ? 0 : INFINITY;
            for (int sub = set; k > 0 && sub > 0; sub = (sub - 1) & set)
                best[k][set] = fmin(best[k][set], alone[sub] + best[k - 1][set & ~sub]);
        }
}

static void test_tiny_are_optimal(void **state)
{
    (void)state;
    static double best[TINY][SETS];
    for (int kind = 0; kind < COMBINATIONS; kind++) {
        invit_instance *p = make(TINY, kind, 100 + (uint64_t)kind);
        try_everything(p, best);
        int32_t fewest = 1;
        while (!(best[fewest][SETS - 1] < INFINITY)) fewest++;
        for (int mode = 0; mode < 3; mode++) { /* any number of routes; so many vehicles; fewest */
            p->rules->vehicles = mode == 1 ? fewest : 0;
            p->rules->fewest = mode == 2;
            double optimum = best[mode == 0 ? TINY - 1 : fewest][SETS - 1];
            invit_solution *s = construct(p);
            double length = improve(p, &s, 2500, 1);
            if (fabs(length - optimum) > 1e-6)
                print_error("kind %d mode %d: %g, optimal is %g\n", kind, mode, length, optimum);
            assert_true(fabs(length - optimum) <= 1e-6);
            if (mode == 2) assert_int_equal(s->routes, fewest);
            invit_solution_destroy(s);
        }
        if (fewest > 1) { /* one vehicle fewer is impossible, and said so */
            invit_solution *s = NULL;
            invit_error err;
            char expected[64];
            inv_route_options o = {.seed = 1, .threads = 1, .deadline = INFINITY};
            p->rules->vehicles = fewest - 1;
            p->rules->fewest = false;
            assert_int_equal(inv_construct_routes(p, &o, &s, &err), INVIT_ERR_INPUT);
            snprintf(expected, sizeof expected, "needs at least %d vehicles as far as found", (int)fewest);
            assert_non_null(strstr(err.message, expected));
        }
        invit_instance_destroy(p);
    }
}

/* ---- what the search keeps ---------------------------------------------------------------------------- */

static void load(inv_route_part *q, const invit_instance *p)
{
    invit_error err;
    inv_neighbours near;
    inv_neighbour_options o = {.k = 16, .threads = 1, .deadline = INFINITY};
    assert_int_equal(inv_route_near_create(p, &o, &near, &err), INVIT_OK);
    assert_int_equal(inv_route_part_begin(q, p, p->n, near.k, &err), INVIT_OK);
    for (int32_t v = 0; v < p->n; v++) {
        inv_route_part_fill(q, v, v);
        for (int32_t i = 0; i < q->k; i++) {
            int32_t u = inv_neighbours_of(&near, v)[i];
            q->near[v * q->k + i] = u < 0 ? 0 : u;
        }
    }
    inv_route_part_measure(q);
    inv_neighbours_destroy(&near);
}

/* Everything kept along the routes, against the same computed from nothing. */
static void verify(const inv_route_part *q)
{
    int32_t nodes[64], start[65], routes = inv_route_part_routes(q, false, nodes, start);
    inv_route_part fresh = {0};
    load(&fresh, q->p);
    inv_route_part_set(&fresh, nodes, start, routes);
    assert_true(fabs(fresh.length - q->length) <= 1e-9 * fresh.length);
    assert_int_equal(fresh.routes, q->routes);
    for (int32_t v = 1; v < q->n; v++) {
        int32_t r = q->node[v].route, f = fresh.node[v].route;
        assert_true(r < q->n);
        assert_int_equal(q->room[r], fresh.room[f]);
        assert_int_equal(q->size[r], fresh.size[f]);
        assert_true(q->node[v].out == fresh.node[v].out);
        assert_true(q->same_time || q->stop[v].time_out == fresh.stop[v].time_out);
        if (q->windows) {
            assert_true(q->node[v].leave == fresh.node[v].leave);
            assert_true(q->node[v].due == fresh.node[v].due);
        }
        if (q->sums) {
            assert_true(q->route_length[r] == fresh.route_length[f]);
            assert_true(q->route_time[r] == fresh.route_time[f]);
        }
        if (q->spans) {
            assert_memory_equal(&q->head[v], &fresh.head[v], sizeof q->head[v]);
            assert_memory_equal(&q->tail[v], &fresh.tail[v], sizeof q->tail[v]);
        }
    }
    for (int32_t r = 0; r < routes; r++)
        assert_true(judge(q->p, nodes + start[r], start[r + 1] - start[r]) < INFINITY);
    inv_route_part_destroy(&fresh);
}

static void test_nothing_drifts(void **state)
{
    (void)state;
    for (int kind = 0; kind < COMBINATIONS; kind++) {
        invit_instance *p = make(40, kind, 300 + (uint64_t)kind);
        inv_route_part q = {0};
        inv_rng rng;
        inv_rng_init(&rng, 1, 1);
        int32_t who;
        load(&q, p);
        assert_true(inv_route_part_insert_all(&q, NULL, INV_ROUTE_RANDOM, &rng, &who));
        verify(&q);
        double unit = inv_route_part_unit(&q);
        inv_route_run run = {.hot = unit, .cold = unit, .steps = 37, .deadline = INFINITY};
        for (int i = 0; i < 20; i++) {
            assert_int_equal(inv_route_part_run(&q, &run, &rng), run.steps);
            verify(&q);
        }
        int32_t routes = q.routes;
        inv_route_part_save(&q, 1, &run, &rng);
        verify(&q);
        assert_true(q.routes <= routes);
        run.steps = FEWER(20000, 3000);
        inv_route_part_run(&q, &run, &rng);
        verify(&q);
        inv_route_part_destroy(&q);
        invit_instance_destroy(p);
    }
}

/* 2-opt and 2-opt* moves shorten, keep all rules, leave what a fresh start would compute, and are taken back whole. */
static void test_local_moves(void **state)
{
    (void)state;
    int32_t total = 0;
    for (int kind = 0; kind < COMBINATIONS; kind++) {
        invit_instance *p = make(40, kind, 700 + (uint64_t)kind);
        inv_route_part q = {0};
        inv_rng rng;
        inv_rng_init(&rng, 1, 1);
        int32_t who, moved = 0;
        load(&q, p);
        assert_true(inv_route_part_insert_all(&q, NULL, INV_ROUTE_RANDOM, &rng, &who));
        for (int i = 0; i < 200 && q.turns; i++) {
            double before = q.length;
            inv_route_ruin(&q, 1 + (int32_t)inv_rng_below(&rng, 39), &rng);
            if (!q.broken) inv_route_recreate(&q, &rng);
            if (!q.broken && q.absents == 0) {
                double inserted = q.length;
                int32_t moves = inv_route_local_search(&q);
                assert_true(moves == 0 ? q.length == inserted : q.length < inserted);
                moved += moves;
                if (i % 2 == 0) {
                    inv_route_keep(&q);
                    if (i % 10 == 0) verify(&q);
                    continue;
                }
            }
            inv_route_undo(&q);
            q.length = before;
            if (i % 10 == 1) verify(&q);
        }
        total += moved;
        inv_route_part_destroy(&q);
        invit_instance_destroy(p);
    }
    assert_true(total > 100);
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static void test_larger_in_parts(void **state)
{
    (void)state;
    static const int kinds[] = {0, WINDOWS, WINDOWS | DURATION, LENGTH | STOPS,
                                MATRIX | TIMES | WINDOWS | OPEN};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        invit_instance *p = make(600, kinds[i], i);
        for (int mode = 0; mode < 2; mode++) {
            p->rules->fewest = mode == 1;
            invit_solution *s = construct(p), *again = NULL;
            invit_error err;
            assert_int_equal(inv_solution_copy(s, &again, &err), INVIT_OK);
            double before = judge_all(p, s);
            int32_t routes = s->routes;
            double length = improve(p, &s, 10000, 2);
            assert_true(mode == 1 ? s->routes <= routes : length < 0.95 * before);
            assert_true(improve(p, &again, 10000, 2) == length); /* reproducible */
            assert_int_equal(again->routes, s->routes);
            assert_memory_equal(again->nodes, s->nodes, (size_t)(p->n - 1) * sizeof *s->nodes);
            invit_solution_destroy(s);
            invit_solution_destroy(again);
        }
        invit_instance_destroy(p);
    }
}

/* Neighbour lists do not leave a town. What is left of each town's demand must share vehicles with other towns'. */
static void test_towns_share_vehicles(void **state)
{
    (void)state;
    enum { TOWNS = 8, CUSTOMERS = 1200 };
    invit_instance *p = make(CUSTOMERS + 1, WINDOWS, 8);
    int64_t demand = 0;
    p->capacity = 156;
    p->rules->latest[0] = 1e6;
    p->xy[0] = -3000;
    for (int32_t i = 1; i < p->n; i++) {
        for (int j = 0; j < 2; j++) p->xy[2 * i + j] = 300 * ((i % TOWNS) >> j) + floor(p->xy[2 * i + j] / 3);
        p->demand[i] = 1 + i % 3;
        p->rules->earliest[i] = i % 4 ? 0 : 5000;
        p->rules->latest[i] = 1e5;
        demand += p->demand[i];
    }
    int32_t least = (int32_t)((demand + p->capacity - 1) / p->capacity);
    invit_solution *s = construct(p);
    improve(p, &s, FEWER(100000, 50000), 2);
    if (s->routes > least + 1) print_error("%d routes, the demands need %d\n", s->routes, least);
    assert_true(s->routes <= least + 1);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

typedef struct heard {
    int count;
    double last;
    volatile int cancel;
    bool shown;
} heard;

static void hear(void *user, double elapsed, double length)
{
    heard *h = user;
    assert_true(elapsed >= 0 && length < h->last);
    h->last = length;
    h->count++;
}

static void see(void *user, double length, const invit_solution *s)
{
    heard *h = user;
    assert_true(length > 0 && s->routes > 0);
    h->shown = true;
    h->cancel = 1;
}

static void test_time_and_cancel(void **state)
{
    (void)state;
    invit_error err;
    inv_improve_stats stats;
    invit_instance *p = make(600, WINDOWS, 77);
    invit_solution *s = construct(p);
    heard h = {.last = INFINITY};
    double begun = inv_now();
    inv_improve_options o = {.deadline = begun + 0.4,
                             .iterations = -1,
                             .threads = 2,
                             .seed = 1,
                             .on_better = hear,
                             .on_better_user = &h};
    assert_int_equal(inv_improve_routes(p, &s, &o, &stats, &err), INVIT_OK);
    assert_true(inv_now() - begun < 2); /* a busy machine may take its time */
    assert_true(h.count > 0 && fabs(h.last - stats.length) < 1e-6);

    /* Past its deadline it leaves things as they are. */
    double length = judge_all(p, s);
    o.deadline = inv_now() - 1;
    assert_int_equal(inv_improve_routes(p, &s, &o, &stats, &err), INVIT_OK);
    assert_true(judge_all(p, s) == length);

    /* Without any limit: until it is cancelled. */
    invit_solution_destroy(s);
    s = construct(p);
    h = (heard){.last = INFINITY};
    invit_control control = {.cancel = &h.cancel};
    o = (inv_improve_options){.deadline = INFINITY,
                              .iterations = -1,
                              .threads = 2,
                              .seed = 1,
                              .control = &control,
                              .on_solution = see,
                              .on_solution_user = &h};
    assert_int_equal(inv_improve_routes(p, &s, &o, &stats, &err), INVIT_OK);
    assert_true(h.shown);
    judge_all(p, s);

    /* A target that is reached at once. */
    o = (inv_improve_options){
        .deadline = INFINITY, .iterations = -1, .threads = 1, .target = 10 * stats.length};
    assert_int_equal(inv_improve_routes(p, &s, &o, &stats, &err), INVIT_OK);
    assert_int_equal(stats.iterations, 0);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

static void test_what_cannot_be_served(void **state)
{
    (void)state;
    invit_error err;
    invit_solution *s = NULL;
    inv_route_options o = {.seed = 1, .threads = 1, .deadline = INFINITY};
    invit_instance *p = make(20, WINDOWS, 5);
    p->rules->latest[7] = p->rules->earliest[7] = 0; /* before the depot opens */
    assert_int_equal(inv_construct_routes(p, &o, &s, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "stop 7 "));
    assert_null(s);
    invit_instance_destroy(p);
}

static void test_nobody_and_one(void **state)
{
    (void)state;
    for (int32_t n = 1; n <= 3; n++) {
        invit_instance *p = make(n, WINDOWS | DURATION, 9);
        invit_solution *s = construct(p);
        assert_int_equal(s->start[s->routes], n - 1);
        improve(p, &s, 50, 2);
        invit_solution_destroy(s);
        invit_instance_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny_are_optimal),      cmocka_unit_test(test_nothing_drifts),
        cmocka_unit_test(test_local_moves),           cmocka_unit_test(test_larger_in_parts),
        cmocka_unit_test(test_towns_share_vehicles),  cmocka_unit_test(test_time_and_cancel),
        cmocka_unit_test(test_what_cannot_be_served), cmocka_unit_test(test_nobody_and_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
