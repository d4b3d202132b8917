/* The TSP expert: valid, near-optimal, reproducible tours; fixed edges kept; tiny instances exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "lab/expert/expert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double distance(const double *xy, int a, int b)
{
    return hypot(xy[2 * a] - xy[2 * b], xy[2 * a + 1] - xy[2 * b + 1]);
}

static void assert_tour(const double *xy, const int32_t *tour, int n, double length)
{
    char *seen = calloc((size_t)n, 1);
    double sum = 0;
    for (int i = 0; i < n; i++) {
        assert_in_range(tour[i], 0, n - 1);
        assert_int_equal(seen[tour[i]]++, 0);
        sum += distance(xy, tour[i], tour[(i + 1) % n]);
    }
    assert_true(fabs(sum - length) <= 1e-9 * (1 + sum));
    free(seen);
}

static int has_edge(const int32_t *tour, int n, int a, int b)
{
    for (int i = 0; i < n; i++) {
        int u = tour[i], v = tour[(i + 1) % n];
        if ((u == a && v == b) || (u == b && v == a)) return 1;
    }
    return 0;
}

static void random_points(double *xy, int n, uint64_t seed)
{
    inv_rng r;
    inv_rng_init(&r, seed, 3);
    for (int i = 0; i < 2 * n; i++) xy[i] = inv_rng_double(&r);
}

static void every_size_gives_a_valid_tour(void **state)
{
    (void)state;
    inv_expert *t;
    double xy[2 * 300], length;
    int32_t tour[300];
    assert_int_equal(inv_expert_create(&t, NULL), INVIT_OK);
    for (int n = 1; n <= 300; n += n < 20 ? 1 : 35)
        for (int kind = 0; kind < 4; kind++) {
            random_points(xy, n, (uint64_t)n);
            for (int i = 0; i < n; i++) {
                if (kind == 1) xy[2 * i] = 0.5;                                 /* collinear        */
                if (kind == 2) xy[2 * i] = xy[2 * i + 1] = 0.25;                /* one point        */
                if (kind == 3 && i % 2) memcpy(xy + 2 * i, xy, 2 * sizeof *xy); /* many duplicates */
            }
            assert_int_equal(inv_expert_tsp(t, &(inv_tsp_request){xy, n, -1, -1, 1, 1}, tour, &length, NULL),
                             INVIT_OK);
            assert_tour(xy, tour, n, length);
            if (n < 2) continue;
            assert_int_equal(
                inv_expert_tsp(t, &(inv_tsp_request){xy, n, n - 1, 0, 1, 1}, tour, &length, NULL), INVIT_OK);
            assert_tour(xy, tour, n, length);
            assert_true(has_edge(tour, n, n - 1, 0));
        }
    inv_expert_destroy(t);
}

static double shortest(const double *xy, int n, int32_t *tour, int at, double so_far, double best)
{
    if (at == n) return so_far + distance(xy, tour[n - 1], tour[0]);
    for (int i = at; i < n; i++) {
        int32_t v = tour[i];
        tour[i] = tour[at];
        tour[at] = v;
        double l = so_far + distance(xy, tour[at - 1], v);
        if (l < best) l = shortest(xy, n, tour, at + 1, l, best);
        if (l < best) best = l;
        tour[at] = tour[i];
        tour[i] = v;
    }
    return best;
}

static void small_tours_are_optimal(void **state)
{
    (void)state;
    inv_expert *t;
    double xy[2 * 11], length;
    int32_t tour[11], order[11];
    assert_int_equal(inv_expert_create(&t, NULL), INVIT_OK);
    for (int n = 4; n <= 11; n++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            random_points(xy, n, seed);
            assert_int_equal(inv_expert_tsp(t, &(inv_tsp_request){xy, n, -1, -1, 5, 1}, tour, &length, NULL),
                             INVIT_OK);
            for (int i = 0; i < n; i++) order[i] = i;
            double best = shortest(xy, n, order, 1, 0, INFINITY);
            assert_true(fabs(best - length) < 1e-9);
        }
    inv_expert_destroy(t);
}

/* The asymptotic constant for 100 uniform points, with its boundary term, is close to the mean optimum 7.765.
 */
static void hundred_nodes_are_near_optimal_and_reproducible(void **state)
{
    (void)state;
    enum { N = 100, COUNT = 100 };
    inv_expert *t, *u;
    double xy[2 * N], length, again, sum = 0;
    int32_t tour[N], other[N];
    assert_int_equal(inv_expert_create(&t, NULL), INVIT_OK);
    assert_int_equal(inv_expert_create(&u, NULL), INVIT_OK);
    for (int i = 0; i < COUNT; i++) {
        random_points(xy, N, (uint64_t)i);
        assert_int_equal(inv_expert_tsp(t, &(inv_tsp_request){xy, N, -1, -1, 1, 5}, tour, &length, NULL),
                         INVIT_OK);
        sum += length;
        if (i % 10) continue;
        assert_int_equal(inv_expert_tsp(u, &(inv_tsp_request){xy, N, -1, -1, 1, 5}, other, &again, NULL),
                         INVIT_OK);
        assert_memory_equal(tour, other, sizeof tour);
        assert_true(length == again);
    }
    assert_true(sum / COUNT > 7.6 && sum / COUNT < 7.85);
    inv_expert_destroy(t);
    inv_expert_destroy(u);
}

static void impossible_requests_are_refused(void **state)
{
    (void)state;
    inv_expert *t;
    double xy[4] = {0, 0, 1, 1}, length;
    int32_t tour[2];
    invit_error err;
    assert_int_equal(inv_expert_create(&t, NULL), INVIT_OK);
    assert_int_equal(inv_expert_tsp(t, &(inv_tsp_request){xy, 0, -1, -1, 1, 1}, tour, &length, &err),
                     INVIT_ERR_ARGUMENT);
    assert_int_equal(inv_expert_tsp(t, &(inv_tsp_request){xy, 2, 0, 2, 1, 1}, tour, &length, &err),
                     INVIT_ERR_ARGUMENT);
    inv_expert_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_gives_a_valid_tour),
        cmocka_unit_test(small_tours_are_optimal),
        cmocka_unit_test(hundred_nodes_are_near_optimal_and_reproducible),
        cmocka_unit_test(impossible_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
