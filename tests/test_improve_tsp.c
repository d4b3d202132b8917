/* TSP improvement: every size and metric, deadlines, budgets, and the length kept move by move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fewer.h"
#include "base/clock.h"
#include "base/rng.h"
#include "search/construct.h"
#include "search/improve.h"
#include "search/tsp_eax.h"
#include "problem/metric.h"

#include <stdlib.h>
#include <string.h>

enum { UNIFORM, COLLINEAR, ONE_POINT, DUPLICATES, LATTICE, KINDS };

static invit_instance *make_instance(int n, int kind, invit_metric metric, uint64_t seed)
{
    double *xy = malloc(2 * (size_t)n * sizeof *xy);
    inv_rng r;
    inv_rng_init(&r, seed, 9);
    for (int i = 0; i < n; i++) {
        xy[2 * i] = inv_rng_double(&r) * (metric == INVIT_GEO || metric == INVIT_HAVERSINE ? 80 : 1000);
        xy[2 * i + 1] = inv_rng_double(&r) * (metric == INVIT_GEO || metric == INVIT_HAVERSINE ? 80 : 1000);
        if (kind == COLLINEAR) xy[2 * i + 1] = 3;
        if (kind == ONE_POINT) xy[2 * i] = xy[2 * i + 1] = 7;
        if (kind == DUPLICATES && i >= 3) memcpy(xy + 2 * i, xy + 2 * (i % 3), 2 * sizeof *xy);
        if (kind == LATTICE) {
            xy[2 * i] = 10 * (i % 20);
            xy[2 * i + 1] = 10 * (i / 20);
        }
    }
    invit_instance *p = NULL;
    assert_int_equal(invit_instance_create_tsp(xy, n, metric, &p, NULL), INVIT_OK);
    free(xy);
    return p;
}

static invit_solution *identity(int n)
{
    invit_solution *s = NULL;
    int32_t *nodes = malloc((size_t)n * sizeof *nodes), start[2] = {0, n};
    for (int i = 0; i < n; i++) nodes[i] = i;
    assert_int_equal(invit_solution_create(nodes, start, 1, &s, NULL), INVIT_OK);
    free(nodes);
    return s;
}

static void assert_permutation(const invit_solution *s, int n)
{
    int32_t count;
    const int32_t *nodes = invit_solution_route(s, 0, &count);
    char *seen = calloc((size_t)n, 1);
    assert_int_equal(invit_solution_routes(s), 1);
    assert_int_equal(count, n);
    for (int i = 0; i < n; i++) {
        assert_in_range(nodes[i], 0, n - 1);
        assert_int_equal(seen[nodes[i]]++, 0);
    }
    free(seen);
}

static double improve(const invit_instance *p, invit_solution **s, int threads, int64_t kicks, double seconds)
{
    inv_improve_options o = {.deadline = seconds > 0 ? inv_now() + seconds : INFINITY,
                             .iterations = kicks,
                             .threads = threads,
                             .seed = 4};
    inv_improve_stats stats;
    assert_int_equal(inv_improve_tsp(p, s, &o, &stats, NULL), INVIT_OK);
    assert_true(fabs(stats.length - inv_length(p, *s)) <= 1e-9 * (1 + stats.length));
    return stats.length;
}

static void every_shape_and_size_stays_a_tour(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13, 30, 250, FEWER(700, 350)};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int threads = 1; threads <= 3; threads += 2) {
                int n = sizes[i];
                invit_instance *p = make_instance(n, kind, INVIT_EXACT, (uint64_t)n);
                invit_solution *s = identity(n);
                double before = inv_length(p, s);
                double after = improve(p, &s, threads, 2 * n, 0);
                assert_permutation(s, n);
                assert_true(after <= before * (1 + 1e-12));
                if (kind == LATTICE && n % 40 == 0) assert_true(after < 10.0 * n * 1.05);
                invit_solution_destroy(s);
                invit_instance_destroy(p);
            }
}

static double tour_length(const invit_instance *p, const int32_t *order, int n)
{
    double length = 0;
    for (int i = 0; i < n; i++) length += inv_edge(p, order[i], order[(i + 1) % n]);
    return length;
}

/* Parents that share nothing, and so few nodes that an exchange may touch them all. */
static void children_of_strangers_are_tours(void **state)
{
    (void)state;
    enum { MOST = 24, PAIRS = 200 };
    for (int n = 8; n <= MOST; n++) {
        invit_instance *p = make_instance(n, UNIFORM, INVIT_EXACT, (uint64_t)n);
        inv_neighbours nb;
        inv_neighbour_options lists = {.k = 8, .per_quadrant = 1, .threads = 1, .deadline = INFINITY};
        inv_improve_options o = {.deadline = INFINITY, .iterations = -1, .threads = 1};
        inv_tsp_search s = {.p = p, .nb = &nb, .o = &o};
        inv_eax *x;
        inv_rng rng;
        inv_rng_init(&rng, 5, (uint64_t)n);
        assert_int_equal(inv_neighbours_create(p, &lists, &nb, NULL), INVIT_OK);
        assert_int_equal(inv_eax_create(&s, &x, NULL), INVIT_OK);
        for (int pair = 0; pair < PAIRS; pair++) {
            int32_t parent[2][MOST], child[MOST], seen[MOST] = {0};
            for (int side = 0; side < 2; side++)
                for (int i = 0; i < n; i++) { /* a random order, built by insertion */
                    int j = (int)inv_rng_below(&rng, (uint32_t)i + 1);
                    parent[side][i] = parent[side][j];
                    parent[side][j] = i;
                }
            double gain = inv_eax_cross(x, parent[0], parent[1], 30, 1 + pair % 3, &rng, child);
            for (int i = 0; i < n; i++) assert_int_equal(seen[child[i]]++, 0);
            double before = tour_length(p, parent[0], n);
            assert_true(fabs(before - gain - tour_length(p, child, n)) < 1e-9 * before);
        }
        inv_eax_destroy(x);
        inv_neighbours_destroy(&nb);
        invit_instance_destroy(p);
    }
}

static void every_metric_is_optimised_by_its_own_rule(void **state)
{
    (void)state;
    for (invit_metric metric = INVIT_EXACT; metric <= INVIT_DIMACS; metric++) {
        invit_instance *p = make_instance(200, UNIFORM, metric, 11);
        invit_solution *s = NULL;
        assert_int_equal(inv_construct_greedy(p, NULL, &s, NULL), INVIT_OK);
        double before = inv_length(p, s), after = improve(p, &s, 1, 500, 0);
        assert_permutation(s, 200);
        assert_true(after < 0.95 * before);
        invit_solution_destroy(s);
        invit_instance_destroy(p);
    }
}

static void a_budget_of_kicks_is_reproducible(void **state)
{
    (void)state;
    invit_instance *p = make_instance(1500, UNIFORM, INVIT_EXACT, 5);
    for (int threads = 1; threads <= 2; threads++) {
        invit_solution *a = identity(1500), *b = identity(1500);
        improve(p, &a, threads, 2000, 0);
        improve(p, &b, threads, 2000, 0);
        assert_memory_equal(a->nodes, b->nodes, 1500 * sizeof *a->nodes);
        invit_solution_destroy(a);
        invit_solution_destroy(b);
    }
    invit_instance_destroy(p);
}

static void deadline_and_cancel_are_kept(void **state)
{
    (void)state;
    enum { N = 50000 };
    invit_instance *p = make_instance(N, UNIFORM, INVIT_EXACT, 6);
    static const double limits[] = {1e-9, 0.02, 0.2};
    for (int i = 0; i < 3; i++) {
        invit_solution *s = NULL;
        assert_int_equal(inv_construct_space_filling(p, &s, NULL), INVIT_OK);
        double begun = inv_now();
        improve(p, &s, 2, -1, limits[i]);
        assert_true(inv_now() - begun < limits[i] + 2); /* generous: test machines are busy */
        assert_permutation(s, N);
        invit_solution_destroy(s);
    }
    volatile int cancel = 1;
    invit_control control = {.cancel = &cancel};
    invit_solution *s = identity(N);
    inv_improve_options o = {.deadline = INFINITY, .iterations = -1, .threads = 2, .control = &control};
    inv_improve_stats stats;
    assert_int_equal(inv_improve_tsp(p, &s, &o, &stats, NULL), INVIT_OK);
    assert_permutation(s, N);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

static void the_length_does_not_drift(void **state)
{
    (void)state;
    enum { N = 400, K = 8 };
    invit_instance *p = make_instance(N, UNIFORM, INVIT_EXACT, 8);
    inv_neighbours nb;
    inv_neighbour_options o = {.k = K, .per_quadrant = 1, .threads = 1, .deadline = INFINITY};
    assert_int_equal(inv_neighbours_create(p, &o, &nb, NULL), INVIT_OK);
    inv_lk lk = {0};
    assert_int_equal(inv_lk_reserve(&lk, N, K, NULL), INVIT_OK);
    lk.n = N;
    lk.metric = INVIT_EXACT;
    for (int i = 0; i < N; i++) lk.mate[i] = -1;
    lk.mate[3] = 4;
    lk.mate[4] = 3;
    memcpy(lk.xy, p->xy, 2 * N * sizeof *lk.xy);
    memcpy(lk.neighbour, nb.node, N * K * sizeof *nb.node);
    inv_lk_begin(&lk);
    inv_rng rng;
    inv_rng_init(&rng, 1, 1);
    /* Every kick is made, with several moves each, and kept or, most of them, taken back. */
    int64_t moves = 0;
    while (moves < FEWER(1000000, 200000)) {
        inv_lk_kick(&lk, (int32_t)inv_rng_below(&rng, N), &rng);
        moves += 4 + lk.moves;
        lk.moves = 0;
    }
    double length = 0;
    for (int32_t i = 0; i < N; i++) {
        assert_int_equal(lk.tour.pos[lk.tour.order[i]], i);
        length += inv_edge(p, lk.tour.order[i], lk.tour.order[(i + 1) % N]);
    }
    assert_true(fabs(length - lk.length) < 1e-6);
    for (int32_t i = 0; i < N; i++)
        for (int j = 0; j < 2; j++) {
            int32_t to = lk.link[i].to[j];
            assert_true(to == inv_tour_next(&lk.tour, i) || to == inv_tour_prev(&lk.tour, i));
            assert_true(lk.link[i].length[j] == inv_edge(p, i, to));
        }
    int32_t apart = lk.tour.pos[3] - lk.tour.pos[4];
    assert_true(apart == 1 || apart == -1 || apart == N - 1 || apart == 1 - N);
    inv_lk_destroy(&lk);
    inv_neighbours_destroy(&nb);
    invit_instance_destroy(p);
}

/* A chain of random cuts: what its path says about a further one is what making the move finds. */
static void paths_know_which_moves_close(void **state)
{
    (void)state;
    enum { N = 14 };
    int32_t order[N], pos[N], scratch[N];
    inv_tour tour = {.n = N, .order = order, .pos = pos, .scratch = scratch};
    inv_rng rng;
    inv_rng_init(&rng, 3, 3);
    int closed = 0, open = 0;
    for (int trial = 0; trial < FEWER(200000, 20000); trial++) {
        for (int32_t i = 0; i < N; i++) order[i] = pos[i] = i;
        inv_kopt m = {.k = 0};
        int k = 2 + (int)inv_rng_below(&rng, 5);
        bool back = false, goes_on = false;
        uint32_t used = 0;
        while (m.k < k) {
            int32_t c = (int32_t)inv_rng_below(&rng, N);
            back = inv_rng_below(&rng, 2);
            int32_t d = back ? inv_tour_prev(&tour, c) : inv_tour_next(&tour, c);
            uint32_t edge = 1u << (back ? d : c);
            if (used & edge) continue;
            used |= edge;
            if (m.k > 0) {
                inv_path path;
                inv_kopt_path(&m, &path);
                goes_on = inv_path_goes_on(&path, path.role[inv_kopt_before(&m, pos[c])], back);
            }
            inv_kopt_cut(&m, &tour, c, d);
        }
        assert_int_equal(inv_kopt_apply(&m, INV_SEQUENTIAL, &tour, N), goes_on);
        closed += goes_on;
        open += !goes_on;
    }
    assert_true(closed > 1000 && open > 1000);
}

static void neighbour_lists_match_brute_force(void **state)
{
    (void)state;
    enum { N = 300, K = 6 };
    for (int kind = 0; kind < KINDS; kind++) {
        invit_instance *p = make_instance(N, kind, INVIT_EXACT, 21);
        inv_neighbours nb;
        inv_neighbour_options o = {.k = K, .threads = 2, .deadline = INFINITY};
        assert_int_equal(inv_neighbours_create(p, &o, &nb, NULL), INVIT_OK);
        for (int i = 0; i < N; i++) {
            double far = inv_edge(p, i, inv_neighbours_of(&nb, i)[K - 1]);
            int nearer = 0;
            for (int j = 0; j < N; j++) nearer += j != i && inv_edge(p, i, j) < far;
            assert_true(nearer < K);
            for (int a = 0; a < K; a++) {
                assert_int_not_equal(inv_neighbours_of(&nb, i)[a], i);
                for (int b = 0; b < a; b++)
                    assert_int_not_equal(inv_neighbours_of(&nb, i)[a], inv_neighbours_of(&nb, i)[b]);
            }
        }
        inv_neighbours_destroy(&nb);
        invit_instance_destroy(p);
    }
}

/* Two far clusters: without quadrants no node of one would list a node of the other. */
static void quadrants_reach_across_gaps(void **state)
{
    (void)state;
    enum { N = 200, K = 8 };
    invit_instance *p = make_instance(N, UNIFORM, INVIT_EXACT, 22);
    for (int i = 0; i < N / 2; i++) p->xy[2 * i] += 1e5;
    inv_neighbours nb;
    inv_neighbour_options o = {.k = K, .per_quadrant = 1, .threads = 1, .deadline = INFINITY};
    assert_int_equal(inv_neighbours_create(p, &o, &nb, NULL), INVIT_OK);
    int across = 0;
    for (int i = 0; i < N / 2; i++)
        for (int j = 0; j < K; j++) across += inv_neighbours_of(&nb, i)[j] >= N / 2;
    assert_true(across > 0);
    inv_neighbours_destroy(&nb);
    invit_instance_destroy(p);
}

/* With any number of threads the same tour; it stops when it is told to. */
static void greedy_edges_with_threads_and_limits(void **state)
{
    (void)state;
    enum { N = FEWER(9000, 4500) };
    for (int kind = 0; kind < KINDS; kind++) {
        invit_instance *p = make_instance(N, kind, INVIT_EUC_2D, 33);
        invit_solution *s = NULL, *same = NULL, *stopped = NULL;
        int cancel = 1;
        inv_limits many = {INFINITY, NULL, 3}, flag = {INFINITY, &cancel, 2}, past = {inv_now() - 1, NULL, 2};
        assert_int_equal(inv_construct_greedy(p, NULL, &s, NULL), INVIT_OK);
        assert_int_equal(inv_construct_greedy(p, &many, &same, NULL), INVIT_OK);
        assert_permutation(s, N);
        assert_memory_equal(s->nodes, same->nodes, N * sizeof *s->nodes);
        assert_int_equal(inv_construct_greedy(p, &flag, &stopped, NULL), INVIT_ERR_CANCELLED);
        assert_null(stopped);
        assert_int_equal(inv_construct_greedy(p, &past, &stopped, NULL), INVIT_ERR_CANCELLED);
        assert_null(stopped);
        invit_solution_destroy(s);
        invit_solution_destroy(same);
        invit_instance_destroy(p);
    }
}

/* So many nodes that threads join the fragments too, in blocks; on a lattice edges are equally long. */
static void greedy_edges_in_blocks(void **state)
{
    (void)state;
    enum { N = 140000 };
    static const int kinds[] = {UNIFORM, LATTICE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        invit_instance *p = make_instance(N, kinds[i], INVIT_EUC_2D, 35);
        invit_solution *s = NULL, *same = NULL;
        inv_limits many = {INFINITY, NULL, 3};
        assert_int_equal(inv_construct_greedy(p, NULL, &s, NULL), INVIT_OK);
        assert_int_equal(inv_construct_greedy(p, &many, &same, NULL), INVIT_OK);
        assert_permutation(s, N);
        assert_memory_equal(s->nodes, same->nodes, N * sizeof *s->nodes);
        if (kinds[i] == UNIFORM) assert_true(inv_length(p, s) < 1.2 * 0.7124 * sqrt((double)N) * 1000);
        invit_solution_destroy(s);
        invit_solution_destroy(same);
        invit_instance_destroy(p);
    }
}

static void constructors_give_tours(void **state)
{
    (void)state;
    for (int n = 1; n < 400; n += n < 12 ? 1 : 129)
        for (int kind = 0; kind < KINDS; kind++) {
            invit_instance *p = make_instance(n, kind, INVIT_EXACT, 31);
            invit_solution *s = NULL;
            assert_int_equal(inv_construct_nearest(p, 1, NULL, &s, NULL), INVIT_OK);
            assert_permutation(s, n);
            invit_solution_destroy(s);
            assert_int_equal(inv_construct_greedy(p, NULL, &s, NULL), INVIT_OK);
            assert_permutation(s, n);
            invit_solution_destroy(s);
            assert_int_equal(inv_construct_space_filling(p, &s, NULL), INVIT_OK);
            assert_permutation(s, n);
            invit_solution_destroy(s);
            invit_instance_destroy(p);
        }
    invit_instance *p = make_instance(2000, UNIFORM, INVIT_EXACT, 32);
    invit_solution *s = NULL;
    double optimum = 0.7124 * sqrt(2000.0) * 1000 * 1.02;
    assert_int_equal(inv_construct_greedy(p, NULL, &s, NULL), INVIT_OK);
    assert_true(inv_length(p, s) < 1.25 * optimum);
    invit_solution_destroy(s);
    assert_int_equal(inv_construct_nearest(p, 1, NULL, &s, NULL), INVIT_OK);
    assert_true(inv_length(p, s) < 1.35 * optimum);
    invit_solution_destroy(s);
    assert_int_equal(inv_construct_space_filling(p, &s, NULL), INVIT_OK);
    assert_true(inv_length(p, s) < 1.45 * optimum);
    double polished = improve(p, &s, 2, 4000, 0);
    assert_true(polished < 1.03 * optimum);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_and_size_stays_a_tour),
        cmocka_unit_test(children_of_strangers_are_tours),
        cmocka_unit_test(every_metric_is_optimised_by_its_own_rule),
        cmocka_unit_test(a_budget_of_kicks_is_reproducible),
        cmocka_unit_test(deadline_and_cancel_are_kept),
        cmocka_unit_test(the_length_does_not_drift),
        cmocka_unit_test(paths_know_which_moves_close),
        cmocka_unit_test(neighbour_lists_match_brute_force),
        cmocka_unit_test(quadrants_reach_across_gaps),
        cmocka_unit_test(greedy_edges_with_threads_and_limits),
        cmocka_unit_test(greedy_edges_in_blocks),
        cmocka_unit_test(constructors_give_tours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
