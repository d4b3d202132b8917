/* The CVRP expert: feasible, near-optimal, reproducible, with and without a vehicle under way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "lab/expert/expert.h"
#include "problem/metric.h"

#include <math.h>
#include <string.h>

#define MOST 200

typedef struct cvrp {
    int32_t n, capacity, open, open_load;
    double xy[2 * MOST];
    int32_t demand[MOST];
} cvrp;

typedef struct answer {
    int32_t nodes[MOST], start[MOST + 1], routes;
    double length;
} answer;

static cvrp random_cvrp(int32_t n, int32_t capacity, uint64_t seed)
{
    cvrp p = {.n = n, .capacity = capacity};
    inv_rng rng;
    inv_rng_init(&rng, seed, 1);
    for (int i = 0; i < 2 * n; i++) p.xy[i] = inv_rng_double(&rng);
    for (int i = 1; i < n; i++) p.demand[i] = 1 + (int32_t)inv_rng_below(&rng, 9);
    return p;
}

static double edge(const cvrp *p, int32_t a, int32_t b)
{
    return hypot(p->xy[2 * a] - p->xy[2 * b], p->xy[2 * a + 1] - p->xy[2 * b + 1]);
}

/* Everything the contract promises about an answer. */
static void check(const cvrp *p, const answer *a)
{
    bool seen[MOST] = {false};
    double length = 0;
    assert_int_equal(a->start[0], 0);
    assert_int_equal(a->start[a->routes], p->n - 1);
    for (int32_t r = 0; r < a->routes; r++) {
        int64_t load = 0;
        int32_t at = 0;
        assert_true(a->start[r + 1] > a->start[r]);
        for (int32_t i = a->start[r]; i < a->start[r + 1]; i++) {
            int32_t v = a->nodes[i];
            assert_in_range(v, 1, p->n - 1);
            assert_false(seen[v]);
            seen[v] = true;
            if (v == p->open) {
                assert_int_equal(i, 0);
                load += p->capacity - p->open_load;
            } else {
                load += p->demand[v];
                length += edge(p, at, v);
            }
            at = v;
        }
        length += edge(p, at, 0);
        assert_true(load <= p->capacity);
    }
    if (p->open) assert_int_equal(a->nodes[0], p->open);
    assert_true(fabs(length - a->length) <= 1e-9 * (1 + length));
}

/* One call, its answer in arrays of the test's own. */
static invit_status ask(inv_expert *e, const inv_cvrp_request *q, answer *a, invit_error *err)
{
    inv_cvrp_answer got = {.nodes = a->nodes, .start = a->start};
    invit_status status = inv_expert_cvrp(e, q, &got, err);
    a->routes = got.routes;
    a->length = got.length;
    return status;
}

static answer solve(const cvrp *p, double effort, uint64_t seed)
{
    inv_expert *t = NULL;
    answer a;
    memset(&a, 0, sizeof a);
    invit_error err;
    assert_int_equal(inv_expert_create(&t, &err), INVIT_OK);
    assert_int_equal(
        ask(t, &(inv_cvrp_request){p->xy, p->demand, p->n, p->capacity, p->open, p->open_load, effort, seed},
            &a, &err),
        INVIT_OK);
    inv_expert_destroy(t);
    check(p, &a);
    return a;
}

/* The best way to cut the order perm[0..m-1] into routes; perm[0] is the open customer if there is one. */
static double split(const cvrp *p, const int32_t *perm, int32_t m)
{
    double best[10];
    best[0] = 0;
    for (int32_t j = 1; j <= m; j++) {
        best[j] = INFINITY;
        for (int32_t i = 0; i < j; i++) {
            int64_t load = 0;
            double length = 0;
            for (int32_t h = i; h < j; h++) {
                bool open = perm[h] == p->open;
                load += open ? p->capacity - p->open_load : p->demand[perm[h]];
                if (!open) length += edge(p, h == i ? 0 : perm[h - 1], perm[h]);
            }
            length += edge(p, perm[j - 1], 0);
            if (load <= p->capacity && best[i] + length < best[j]) best[j] = best[i] + length;
        }
    }
    return best[m];
}

static double optimum(const cvrp *p, int32_t *perm, int32_t fixed, int32_t m)
{
    if (fixed == m) return split(p, perm, m);
    double best = INFINITY;
    for (int32_t i = fixed; i < m; i++) {
        int32_t v = perm[fixed];
        perm[fixed] = perm[i];
        perm[i] = v;
        double length = optimum(p, perm, fixed + 1, m);
        if (length < best) best = length;
        perm[i] = perm[fixed];
        perm[fixed] = v;
    }
    return best;
}

static void small_instances_are_solved_to_optimality(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        cvrp p = random_cvrp(2 + (int32_t)(seed % 7), 12 + (int32_t)(seed % 5), seed);
        if (seed % 2) {
            p.open = 1 + (int32_t)seed % (p.n - 1);
            p.open_load = (int32_t)(seed % 13);
        }
        int32_t perm[10];
        for (int32_t i = 0; i < p.n - 1; i++) perm[i] = i + 1;
        if (p.open) {
            perm[0] = p.open;
            perm[p.open - 1] = 1;
        }
        double best = optimum(&p, perm, p.open ? 1 : 0, p.n - 1);
        answer a = solve(&p, 1, seed);
        assert_true(fabs(a.length - best) < 1e-9);
    }
}

static void a_hundred_customers_come_close(void **state)
{
    (void)state;
    double quick = 0, thorough = 0;
    for (uint64_t seed = 0; seed < 3; seed++) {
        cvrp p = random_cvrp(101, 50, seed);
        quick += solve(&p, 0.3, seed).length;
        thorough += solve(&p, 2, seed + 100).length;
    }
    assert_true(quick < 1.03 * thorough);
    assert_true(thorough < 1.003 * quick);
}

static void the_same_seed_gives_the_same_answer(void **state)
{
    (void)state;
    cvrp p = random_cvrp(80, 40, 7), other = random_cvrp(150, 60, 8);
    inv_expert *t = NULL;
    invit_error err;
    answer a, b = solve(&p, 0.2, 3);
    memset(&a, 0, sizeof a);
    assert_int_equal(inv_expert_create(&t, &err), INVIT_OK);
    for (int i = 0; i < 2; i++) { /* a used expert answers like a fresh one */
        const cvrp *c = i ? &p : &other;
        memset(&a, 0, sizeof a);
        assert_int_equal(
            ask(t, &(inv_cvrp_request){c->xy, c->demand, c->n, c->capacity, 0, 0, 0.2, 3}, &a, &err),
            INVIT_OK);
    }
    inv_expert_destroy(t);
    assert_int_equal(a.routes, b.routes);
    assert_memory_equal(a.nodes, b.nodes, sizeof a.nodes);
    assert_memory_equal(a.start, b.start, sizeof a.start);
}

static void an_open_route_comes_first_and_fits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        cvrp p = random_cvrp(60, 30, seed);
        p.open = 1 + (int32_t)seed * 4;
        p.open_load = seed == 0 ? 0 : seed == 1 ? 30 : (int32_t)seed;
        p.demand[p.open] = 1000; /* ignored */
        solve(&p, 0.1, seed);
    }
}

static void edge_cases_are_feasible(void **state)
{
    (void)state;
    cvrp p = random_cvrp(1, 10, 0); /* no customer */
    assert_int_equal(solve(&p, 1, 0).routes, 0);
    p = random_cvrp(40, 1000, 1); /* one route */
    assert_int_equal(solve(&p, 0.1, 0).routes, 1);
    p = random_cvrp(40, 9, 2); /* every customer alone */
    for (int i = 1; i < p.n; i++) p.demand[i] = 9;
    assert_int_equal(solve(&p, 0.1, 0).routes, 39);
    for (int i = 1; i < p.n; i++) p.demand[i] = 3; /* routes can be filled exactly */
    solve(&p, 0.1, 0);
    for (int i = 1; i < p.n; i++) p.demand[i] = 0;
    assert_int_equal(solve(&p, 0.1, 0).routes, 1);
    p = random_cvrp(40, 20, 3); /* duplicates, also of the depot */
    for (int i = 0; i < 2 * p.n; i++) p.xy[i] = (i / 2) % 3;
    solve(&p, 0.1, 0);
    for (int i = 0; i < 2 * p.n; i++) p.xy[i] = 0.5; /* all in one place */
    assert_true(solve(&p, 0.1, 0).length == 0);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    cvrp p = random_cvrp(5, 10, 0);
    answer a;
    inv_expert *t = NULL;
    invit_error err;
    assert_int_equal(inv_expert_create(&t, &err), INVIT_OK);
    p.demand[2] = 11;
    assert_int_equal(ask(t, &(inv_cvrp_request){p.xy, p.demand, p.n, 10, 0, 0, 1, 0}, &a, &err),
                     INVIT_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "customer 2"));
    p.demand[2] = 1;
    assert_int_equal(ask(t, &(inv_cvrp_request){p.xy, p.demand, p.n, 10, 5, 0, 1, 0}, &a, &err),
                     INVIT_ERR_ARGUMENT);
    assert_int_equal(ask(t, &(inv_cvrp_request){p.xy, p.demand, p.n, 10, 1, 11, 1, 0}, &a, &err),
                     INVIT_ERR_ARGUMENT);
    inv_expert_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_instances_are_solved_to_optimality),
        cmocka_unit_test(a_hundred_customers_come_close),
        cmocka_unit_test(the_same_seed_gives_the_same_answer),
        cmocka_unit_test(an_open_route_comes_first_and_fits),
        cmocka_unit_test(edge_cases_are_feasible),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
