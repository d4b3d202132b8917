/* Tours by matrices, symmetric or not, and paths with fixed or free ends: tiny ones optimal against trying
 * every order, larger ones valid, never longer, as good as without the detour over a matrix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"
#include "problem/metric.h"
#include "search/atsp_improve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COORDINATES, SYMMETRIC, ASYMMETRIC, KINDS };

static invit_instance *make(int32_t n, int kind, int32_t start, int32_t end, bool open, uint64_t seed)
{
    invit_instance *p = NULL;
    inv_rules *r = NULL;
    invit_error err;
    inv_rng rng;
    inv_rng_init(&rng, seed, 2);
    assert_int_equal(inv_instance_alloc(INVIT_TSP, n, &p, &err), INVIT_OK);
    assert_int_equal(inv_instance_rules(p, &r, &err), INVIT_OK);
    p->metric = INVIT_EUC_2D;
    for (int32_t i = 0; i < 2 * n; i++) p->xy[i] = floor(1000 * inv_rng_double(&rng));
    r->start = start;
    r->end = end;
    r->open = open;
    if (kind == COORDINATES) return p;
    double *d = calloc((size_t)n * (size_t)n, sizeof *d);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            if (i != j) d[i * n + j] = inv_edge(p, i, j);
    for (int32_t i = 0; kind == ASYMMETRIC && i < n * n; i++) d[i] *= 1 + 0.5 * inv_rng_double(&rng);
    r->distance = d;
    r->symmetric = kind == SYMMETRIC;
    return p;
}

static double judge(const invit_instance *p, const invit_solution *s)
{
    int32_t n = p->n;
    const int32_t *v = s->nodes;
    bool *seen = calloc((size_t)n, sizeof *seen), path = inv_is_path(p);
    double length = path ? 0 : inv_distance(p, v[n - 1], v[0]);
    assert_int_equal(s->routes, 1);
    assert_int_equal(s->start[1], n);
    for (int32_t i = 0; i < n; i++) {
        assert_false(seen[v[i]]);
        seen[v[i]] = true;
        if (i > 0) length += inv_distance(p, v[i - 1], v[i]);
    }
    if (p->rules->start >= 0) assert_int_equal(v[0], p->rules->start);
    if (p->rules->end >= 0) assert_int_equal(v[n - 1], p->rules->end);
    free(seen);
    return length;
}

static double solve(const invit_instance *p, int64_t iterations, int threads, invit_solution **out)
{
    invit_solution *s = NULL;
    invit_error err;
    inv_improve_stats stats;
    inv_improve_options o = {.deadline = INFINITY, .iterations = iterations, .threads = threads, .seed = 1};
    assert_int_equal(inv_construct_tour(p, &s, &err), INVIT_OK);
    double before = judge(p, s);
    assert_int_equal(inv_improve_tour(p, &s, &o, &stats, &err), INVIT_OK);
    double length = judge(p, s);
    assert_true(length <= before * (1 + 1e-12));
    assert_true(fabs(length - stats.length) <= 1e-9 * length);
    if (out)
        *out = s;
    else
        invit_solution_destroy(s);
    return length;
}

static void try_orders(const invit_instance *p, int32_t *v, int32_t fixed, double *best)
{
    int32_t n = p->n > 0 ? p->n : 1;
    if (fixed == n) {
        const inv_rules *r = p->rules;
        if ((r->start >= 0 && v[0] != r->start) || (r->end >= 0 && v[n - 1] != r->end)) return;
        double length = inv_is_path(p) ? 0 : inv_distance(p, v[n - 1], v[0]);
        for (int32_t i = 1; i < n; i++) length += inv_distance(p, v[i - 1], v[i]);
        *best = fmin(*best, length);
        return;
    }
    for (int32_t i = fixed; i < n; i++) {
        int32_t a = v[fixed], b = v[i];
        v[fixed] = b;
        v[i] = a;
        try_orders(p, v, fixed + 1, best);
        v[fixed] = a;
        v[i] = b;
    }
}

/* Up to 9 nodes with the joint are solved by dynamic programming, so 9 nodes reach the search with a path. */
static void test_small_are_optimal(void **state)
{
    (void)state;
    static const struct {
        int32_t start, end;
        bool open;
    } ends[] = {{-1, -1, false}, {-1, -1, true}, {2, -1, true}, {-1, 0, true}, {0, 4, true}, {3, 1, false}};
    for (int32_t n = 2; n <= 9; n += n == 6 ? 3 : 2)
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
                if (ends[e].start >= n || ends[e].end >= n) continue;
                invit_instance *p =
                    make(n, kind, ends[e].start, ends[e].end, ends[e].open, (uint64_t)n * 100 + e);
                int32_t v[9];
                double best = INFINITY;
                for (int32_t i = 0; i < n; i++) v[i] = i;
                try_orders(p, v, 0, &best);
                double length = solve(p, 200, 1, NULL);
                if (fabs(length - best) > 1e-6)
                    print_error("%d nodes, kind %d, ends %d: %g, optimal is %g\n", (int)n, kind, (int)e,
                                length, best);
                assert_true(fabs(length - best) <= 1e-6);
                invit_instance_destroy(p);
            }
}

/* The same problem in three clothes: as it is, by its matrix, and by a matrix that is called asymmetric. */
static void test_matrices_lose_nothing(void **state)
{
    (void)state;
    double length[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        invit_instance *p = make(150, kind == ASYMMETRIC ? SYMMETRIC : kind, -1, -1, false, 8);
        if (kind == ASYMMETRIC) p->rules->symmetric = false;
        length[kind] = solve(p, 4000, 2, NULL);
        invit_instance_destroy(p);
    }
    assert_true(length[SYMMETRIC] <= 1.001 * length[COORDINATES]);
    assert_true(length[ASYMMETRIC] <= 1.001 * length[COORDINATES]);
}

static void test_reproducible(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        invit_instance *p = make(120, kind, 5, kind == SYMMETRIC ? -1 : 7, true, 4);
        invit_solution *a, *b;
        assert_true(solve(p, 2000, 2, &a) == solve(p, 2000, 2, &b));
        assert_memory_equal(a->nodes, b->nodes, (size_t)p->n * sizeof *a->nodes);
        invit_solution_destroy(a);
        invit_solution_destroy(b);
        invit_instance_destroy(p);
    }
}

static void test_large_paths(void **state)
{
    (void)state;
    for (int32_t start = -1; start < 20; start += 20)
        for (int32_t end = -1; end < 20; end += 11) {
            invit_instance *p = make(6000, COORDINATES, start, end, true, 6);
            solve(p, 100, 2, NULL);
            invit_instance_destroy(p);
        }
}

typedef struct heard {
    const invit_instance *p;
    double last;
    int count;
    volatile int cancel;
} heard;

static void hear(void *user, double elapsed, double length)
{
    heard *h = user;
    assert_true(elapsed >= 0 && length > 0 && length < h->last);
    h->last = length;
}

static void see(void *user, double length, const invit_solution *s)
{
    heard *h = user;
    assert_true(fabs(judge(h->p, s) - length) <= 1e-6 * length);
    if (++h->count == 2) h->cancel = 1;
}

/* What the caller hears is in the instance's own lengths and nodes; then it cancels. */
static void test_told_and_cancelled(void **state)
{
    (void)state;
    invit_error err;
    inv_improve_stats stats;
    invit_solution *s = NULL;
    invit_instance *p = make(400, ASYMMETRIC, 3, -1, true, 12);
    heard h = {.p = p, .last = INFINITY};
    invit_control control = {.cancel = &h.cancel};
    assert_int_equal(inv_construct_tour(p, &s, &err), INVIT_OK);
    inv_improve_options o = {.deadline = inv_now() + 20,
                             .iterations = -1,
                             .threads = 2,
                             .seed = 1,
                             .control = &control,
                             .on_better = hear,
                             .on_better_user = &h,
                             .on_solution = see,
                             .on_solution_user = &h};
    assert_int_equal(inv_improve_tour(p, &s, &o, &stats, &err), INVIT_OK);
    assert_true(h.count > 0);
    double length = judge(p, s);
    assert_true(length <= h.last * (1 + 1e-9));

    h.cancel = 0;
    o = (inv_improve_options){.deadline = inv_now() - 1, .iterations = -1, .threads = 1, .seed = 1};
    assert_int_equal(inv_improve_tour(p, &s, &o, &stats, &err), INVIT_OK);
    assert_true(judge(p, s) == length);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_are_optimal),  cmocka_unit_test(test_matrices_lose_nothing),
        cmocka_unit_test(test_reproducible),       cmocka_unit_test(test_large_paths),
        cmocka_unit_test(test_told_and_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
