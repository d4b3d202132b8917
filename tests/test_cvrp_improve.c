/* Savings and the anytime search for CVRP: feasible, never longer, exact lengths, reproducible, on time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fewer.h"
#include "base/clock.h"
#include "base/rng.h"
#include "search/cvrp_part.h"
#include "search/improve.h"
#include "problem/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static invit_instance *make(int64_t n, int64_t capacity, int64_t largest, invit_metric metric, uint64_t seed)
{
    double *xy = malloc((size_t)n * 2 * sizeof *xy);
    int64_t *demand = calloc((size_t)n, sizeof *demand);
    invit_instance *p = NULL;
    invit_error err;
    inv_rng rng;
    inv_rng_init(&rng, seed, 9);
    for (int64_t i = 0; i < 2 * n; i++) xy[i] = floor(1000 * inv_rng_double(&rng));
    for (int64_t i = 1; i < n; i++) demand[i] = largest ? 1 + inv_rng_below(&rng, (uint32_t)largest) : 0;
    assert_int_equal(invit_instance_create_cvrp(xy, demand, n, capacity, metric, &p, &err), INVIT_OK);
    free(xy);
    free(demand);
    return p;
}

static double measure(const invit_instance *p, const invit_solution *s)
{
    invit_check_result r;
    invit_error err;
    assert_int_equal(invit_check(p, s, &r, &err), INVIT_OK);
    if (!r.feasible) print_error("%s\n", r.message);
    assert_true(r.feasible);
    return r.length;
}

static invit_solution *savings(const invit_instance *p)
{
    invit_solution *s = NULL;
    invit_error err;
    assert_int_equal(inv_construct_savings(p, NULL, &s, &err), INVIT_OK);
    measure(p, s);
    return s;
}

/* Improves, checks, and returns the length. */
static double improve(const invit_instance *p, invit_solution **s, const inv_improve_options *o)
{
    inv_improve_stats stats;
    invit_error err;
    double before = measure(p, *s);
    assert_int_equal(inv_improve_cvrp(p, s, o, &stats, &err), INVIT_OK);
    double after = measure(p, *s);
    assert_true(after <= before);
    assert_true(fabs(after - stats.length) <= 1e-9 * (1 + after));
    if (o->iterations >= 0) assert_true(stats.iterations <= o->iterations);
    return after;
}

static inv_improve_options steps(int64_t count, int threads, uint64_t seed)
{
    return (inv_improve_options){.deadline = INFINITY, .iterations = count, .threads = threads, .seed = seed};
}

static void shapes_and_metrics_stay_feasible(void **state)
{
    (void)state;
    const invit_metric metrics[] = {INVIT_EXACT, INVIT_EUC_2D, INVIT_CEIL_2D, INVIT_ATT};
    const int sizes[] = {1, 2, 3, 4, 5, 9, 40, 150, 400};
    for (int i = 0; i < 9; i++)
        for (int kind = 0; kind < 4; kind++) {
            /* ordinary; one route; every customer alone; no demand at all */
            int64_t capacity = kind == 1   ? 100000
                               : kind == 2 ? 1
                                           : 30,
                    largest = kind == 2   ? 1
                              : kind == 3 ? 0
                                          : 10;
            invit_instance *p = make(sizes[i], capacity, largest, metrics[(i + kind) % 4], (uint64_t)i);
            invit_solution *s = savings(p);
            inv_improve_options o = steps(3000, 1 + i % 3, 5);
            improve(p, &s, &o);
            if (kind == 2) assert_int_equal(s->routes, sizes[i] - 1);
            invit_solution_destroy(s);
            invit_instance_destroy(p);
        }
}

static void duplicates_and_full_vehicles_work(void **state)
{
    (void)state;
    invit_instance *p = make(121, 12, 1, INVIT_EXACT, 3);
    for (int i = 1; i < p->n; i++) p->demand[i] = 3; /* four fill a vehicle exactly */
    for (int i = 0; i < 2 * p->n; i++) p->xy[i] = (i / 2) % 7 * (i % 2 ? 1 : 2); /* also at the depot */
    invit_solution *s = savings(p);
    inv_improve_options o = steps(20000, 2, 1);
    improve(p, &s, &o);
    for (int i = 0; i < 2 * p->n; i++) p->xy[i] = 4;
    assert_true(improve(p, &s, &o) == 0);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

static void remember_last(void *user, double elapsed, double length)
{
    double *last = user;
    assert_true(length < last[0]);
    assert_true(elapsed >= last[1]);
    last[0] = length;
    last[1] = elapsed;
}

static void it_finds_what_savings_miss(void **state)
{
    (void)state;
    invit_instance *p = make(301, 50, 10, INVIT_EUC_2D, 4);
    invit_solution *s = savings(p);
    double before = measure(p, s);
    inv_improve_options o = steps(60000, 2, 1);
    double last[2] = {INFINITY, 0};
    o.on_better = remember_last;
    o.on_better_user = last;
    double after = improve(p, &s, &o);
    if (after >= 0.98 * before) print_error("%g of %g\n", after, before);
    assert_true(after < 0.98 * before);
    assert_true(last[0] < before);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

/* Towns far from the depot and from each other: all neighbours of a customer are in its own. */
static invit_instance *make_clusters(int64_t n, int64_t capacity)
{
    enum { CLUSTERS = 12 };
    invit_instance *p = make(n, capacity, 3, INVIT_EUC_2D, 8);
    for (int i = 1 + CLUSTERS; i < p->n; i++)
        for (int j = 0; j < 2; j++) {
            double centre = p->xy[2 * (1 + i % CLUSTERS) + j];
            p->xy[2 * i + j] = floor(centre + 0.1 * (p->xy[2 * i + j] - 500));
        }
    p->xy[0] = -3000;
    return p;
}

/* Savings fill vehicles town by town; the rest of each town's demand must share vehicles with other towns'. */
static void towns_share_vehicles(void **state)
{
    (void)state;
    invit_instance *p = make_clusters(2001, 156);
    invit_solution *s = savings(p);
    int64_t demand = 0;
    for (int i = 1; i < p->n; i++) demand += p->demand[i];
    int32_t least = (int32_t)((demand + p->capacity - 1) / p->capacity);
    assert_true(s->routes > least + 5);
    inv_improve_options o = steps(300000, 2, 1);
    improve(p, &s, &o);
    if (s->routes > least + 1) print_error("%d routes of %d\n", s->routes, least);
    assert_true(s->routes <= least + 1);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

/* A search that has few steps and begins hot does not find back to what a longer one has found. */
static void few_steps_refine(void **state)
{
    (void)state;
    invit_instance *p = make(1001, 50, 10, INVIT_EXACT, 12);
    invit_solution *s = savings(p);
    inv_improve_options o = steps(FEWER(600000, 300000), 1, 1);
    double found = improve(p, &s, &o);
    o.iterations = 20000;
    o.seed = 2;
    o.refine = true;
    assert_true(improve(p, &s, &o) < found);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

static void a_poor_start_is_made_good(void **state)
{
    (void)state;
    invit_instance *p = make(201, 50, 10, INVIT_EXACT, 5);
    invit_solution *s = NULL, *good = savings(p);
    invit_error err;
    int32_t *nodes = malloc(200 * sizeof *nodes), *start = malloc(203 * sizeof *start);
    for (int32_t i = 0; i < 200; i++) {
        nodes[i] = i + 1;
        start[i] = i;
    }
    start[200] = start[201] = start[202] = 200; /* two of the routes are empty */
    assert_int_equal(invit_solution_create(nodes, start, 202, &s, &err), INVIT_OK);
    inv_improve_options o = steps(40000, 1, 1);
    assert_true(improve(p, &s, &o) < measure(p, good));
    free(nodes);
    free(start);
    invit_solution_destroy(s);
    invit_solution_destroy(good);
    invit_instance_destroy(p);
}

static void the_same_seed_gives_the_same_routes(void **state)
{
    (void)state;
    invit_instance *p = make(2501, 50, 10, INVIT_EXACT, 6);
    for (int threads = 1; threads <= 2; threads++) {
        invit_solution *a = savings(p), *b = savings(p);
        inv_improve_options o = steps(30000, threads, 11);
        improve(p, &a, &o);
        improve(p, &b, &o);
        assert_int_equal(a->routes, b->routes);
        assert_memory_equal(a->start, b->start, ((size_t)a->routes + 1) * sizeof *a->start);
        assert_memory_equal(a->nodes, b->nodes, 2500 * sizeof *a->nodes);
        invit_solution_destroy(a);
        invit_solution_destroy(b);
    }
    invit_instance_destroy(p);
}

static void the_length_does_not_drift(void **state)
{
    (void)state;
    inv_cvrp_part q = {0};
    inv_rng rng;
    invit_error err;
    inv_rng_init(&rng, 1, 2);
    assert_int_equal(inv_cvrp_part_begin(&q, INVIT_EXACT, 41, 39, 30, &err), INVIT_OK);
    for (int v = 0; v < 41; v++) {
        q.node[v].x = inv_rng_double(&rng);
        q.node[v].y = inv_rng_double(&rng);
        q.node[v].demand = v ? 1 + (int32_t)inv_rng_below(&rng, 9) : 0;
        for (int i = 0, u = 1; u < 41; u++)
            if (u != v && i < 39) q.near[39 * v + i++] = u; /* any order will do here */
    }
    inv_cvrp_part_measure(&q);
    inv_cvrp_part_insert_all(&q, 0, &rng);
    /* Hot all the way: nearly every step is kept, some ten moves each. */
    inv_cvrp_run run = {.hot = 10, .cold = 10, .steps = 1000000, .deadline = INFINITY};
    assert_int_equal(inv_cvrp_part_run(&q, &run, &rng), run.steps);
    for (int best = 0; best < 2; best++) {
        int32_t nodes[40], start[42], routes = inv_cvrp_part_routes(&q, best, nodes, start);
        double length = 0;
        assert_int_equal(start[routes], 40);
        for (int r = 0; r < routes; r++) {
            int32_t at = 0;
            for (int i = start[r]; i <= start[r + 1]; i++) {
                int32_t to = i < start[r + 1] ? nodes[i] : 0;
                length += hypot(q.node[at].x - q.node[to].x, q.node[at].y - q.node[to].y);
                at = to;
            }
        }
        assert_true(fabs(length - (best ? q.best_length : q.length)) < 1e-9 * length);
    }
    inv_cvrp_part_destroy(&q);
}

static void limits_are_kept(void **state)
{
    (void)state;
    invit_instance *p = make(20001, 50, 10, INVIT_EXACT, 7);
    invit_solution *s = savings(p);
    double begun = inv_now(), last[2] = {INFINITY, 0};
    inv_improve_options o = {.deadline = begun + 0.6,
                             .iterations = -1,
                             .threads = 2,
                             .on_better = remember_last,
                             .on_better_user = last};
    improve(p, &s, &o);
    assert_true(inv_now() - begun < 1.5); /* generous: the test machine may be busy */
    o.deadline = inv_now() - 1;           /* already over */
    begun = inv_now();
    improve(p, &s, &o);
    assert_true(inv_now() - begun < 0.5);
    volatile int cancel = 1;
    invit_control control = {.cancel = &cancel};
    o.deadline = INFINITY;
    o.control = &control;
    begun = inv_now();
    improve(p, &s, &o);
    assert_true(inv_now() - begun < 0.5);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

static void the_target_stops_it(void **state)
{
    (void)state;
    invit_instance *p = make(301, 50, 10, INVIT_EXACT, 8);
    invit_solution *s = savings(p);
    inv_improve_options o = steps(1000000000, 2, 1);
    o.target = 0.99 * measure(p, s);
    assert_true(improve(p, &s, &o) <= o.target);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_metrics_stay_feasible),
        cmocka_unit_test(duplicates_and_full_vehicles_work),
        cmocka_unit_test(it_finds_what_savings_miss),
        cmocka_unit_test(towns_share_vehicles),
        cmocka_unit_test(few_steps_refine),
        cmocka_unit_test(a_poor_start_is_made_good),
        cmocka_unit_test(the_same_seed_gives_the_same_routes),
        cmocka_unit_test(the_length_does_not_drift),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(the_target_stops_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
