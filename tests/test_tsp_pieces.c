/* Pieces of a tour: what a piece does not own stays, and pieces changed at the same time give one tour. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "search/curve.h"
#include "search/improve.h"
#include "search/tsp_pieces.h"
#include "search/tsp_search.h"
#include "problem/metric.h"

#include <stdlib.h>
#include <string.h>

enum { UNIFORM, COLLINEAR, ONE_POINT, FOUR_PLACES, LATTICE, KINDS, SIZE = 20 };

static invit_instance *make_instance(int n, int kind)
{
    double *xy = malloc(2 * (size_t)n * sizeof *xy);
    inv_rng r;
    inv_rng_init(&r, (uint64_t)n, 3);
    for (int i = 0; i < n; i++) {
        xy[2 * i] = 1000 * inv_rng_double(&r);
        xy[2 * i + 1] = kind == COLLINEAR ? 3 : 1000 * inv_rng_double(&r);
        if (kind == ONE_POINT) xy[2 * i] = xy[2 * i + 1] = 7;
        if (kind == FOUR_PLACES) xy[2 * i] = i & 1, xy[2 * i + 1] = i >> 1 & 1;
        if (kind == LATTICE) xy[2 * i] = i % 20, xy[2 * i + 1] = (int)(i / 20);
    }
    invit_instance *p = NULL;
    assert_int_equal(invit_instance_create_tsp(xy, n, INVIT_EXACT, &p, NULL), INVIT_OK);
    free(xy);
    return p;
}

static double measure(const invit_instance *p, const int32_t *order)
{
    double length = 0;
    for (int32_t i = 0; i < p->n; i++) length += inv_edge(p, order[i], order[(i + 1) % p->n]);
    return length;
}

static void assert_tour(const int32_t *order, int n)
{
    char *seen = calloc((size_t)n, 1);
    for (int i = 0; i < n; i++) {
        assert_in_range(order[i], 0, n - 1);
        assert_int_equal(seen[order[i]]++, 0);
    }
    free(seen);
}

/* Optimises and kicks every piece; each must keep its fixed edges and its length. Returns the gain of all. */
static double improve_all(inv_pieces *q, inv_rng *rng)
{
    double gain = 0;
    inv_piece w = {0};
    for (int32_t i = 0; i < q->count; i++) {
        assert_int_equal(inv_piece_load(q, i, &w, NULL), INVIT_OK);
        inv_lk *lk = &w.lk;
        if (lk->n == 0) continue;
        double before = lk->length, length = 0, own = 0;
        for (int32_t v = 0; v < lk->n; v++)
            if (lk->mate[v] != inv_tour_next(&lk->tour, v)) own += lk->link[v].length[1];
        assert_true(fabs(own - q->length[i]) <= 1e-9 * (1 + own));
        inv_lk_optimise(lk, INT64_MAX);
        for (int32_t v = 0; v < lk->n; v++) inv_lk_kick(lk, v, rng);
        for (int32_t v = 0; v < lk->n; v++) {
            int32_t next = inv_tour_next(&lk->tour, v);
            double dx = lk->xy[2 * v] - lk->xy[2 * next], dy = lk->xy[2 * v + 1] - lk->xy[2 * next + 1];
            length += sqrt(dx * dx + dy * dy);
            if (lk->mate[v] < 0) continue;
            assert_int_equal(lk->mate[lk->mate[v]], v);
            assert_true(next == lk->mate[v] || inv_tour_prev(&lk->tour, v) == lk->mate[v]);
        }
        assert_true(fabs(length - lk->length) <= 1e-9 * (1 + length));
        gain += before - lk->length;
        inv_piece_unload(q, &w);
    }
    inv_piece_destroy(&w);
    return gain;
}

static void pieces_changed_at_once_give_a_tour(void **state)
{
    (void)state;
    for (int n = 8; n <= 1000; n += n < 44 ? 1 : n / 2)
        for (int kind = 0; kind < KINDS; kind++) {
            invit_instance *p = make_instance(n, kind);
            inv_neighbours nb;
            inv_neighbour_options o = {.k = 8, .per_quadrant = 1, .threads = 1, .deadline = INFINITY};
            inv_pieces q;
            inv_rng rng;
            inv_rng_init(&rng, 1, (uint64_t)n);
            int32_t *order = malloc((size_t)n * sizeof *order);
            for (int i = 0; i < n; i++) order[i] = i;
            assert_int_equal(inv_neighbours_create(p, &o, &nb, NULL), INVIT_OK);
            assert_int_equal(inv_pieces_create(p, &nb, 2, SIZE, &q, NULL), INVIT_OK);
            inv_pieces_link(&q, order);
            for (uint64_t round = 0; round < 9; round++) {
                double before = measure(p, order);
                int32_t cycles = 0;
                int32_t size = round < 7 ? SIZE : n;
                if (round % 3 == 0) inv_pieces_cut(&q, order, size, round);
                if (round % 3 == 1) inv_pieces_cut_along(&q, order, size, round);
                if (round % 3 == 2) inv_pieces_cut_into(&q, order, 1 + n / size / 2, round);
                assert_int_equal(q.begin[0], 0);
                assert_int_equal(q.begin[q.count], n);
                double gain = improve_all(&q, &rng);
                assert_true(gain >= -1e-9 * before);
                assert_int_equal(inv_pieces_join(&q, order, &cycles, NULL), INVIT_OK);
                assert_tour(order, n);
                double after = measure(p, order);
                if (cycles == 1) assert_true(fabs(before - gain - after) <= 1e-9 * (1 + before));
            }
            inv_pieces_destroy(&q);
            inv_neighbours_destroy(&nb);
            invit_instance_destroy(p);
            free(order);
        }
}

/* A long strip of two rows and, beyond its far end, a higher block. The upper row lists the block from afar, for
 * there is nothing else above; where the two are joined it has to be at that end. */
static void cycles_are_joined_where_it_is_cheap(void **state)
{
    (void)state;
    enum { LONG = 4000, HIGH = 5000, N = 2 * LONG + 2 * HIGH };
    double *xy = malloc(2 * N * sizeof *xy);
    for (int i = 0; i < LONG; i++) {
        xy[2 * i] = i;
        xy[2 * i + 1] = 1;
        xy[2 * (2 * LONG - 1 - i)] = i;
        xy[2 * (2 * LONG - 1 - i) + 1] = 0;
    }
    for (int i = 0; i < HIGH; i++) {
        double *left = xy + 2 * (2 * LONG + i), *right = xy + 2 * (N - 1 - i);
        left[0] = LONG + 1;
        right[0] = LONG + 2;
        left[1] = right[1] = i;
    }
    invit_instance *p = NULL;
    assert_int_equal(invit_instance_create_tsp(xy, N, INVIT_EXACT, &p, NULL), INVIT_OK);
    inv_neighbours nb;
    inv_neighbour_options o = {.k = 8, .per_quadrant = 1, .threads = 1, .deadline = INFINITY};
    inv_pieces q;
    int32_t *order = malloc(N * sizeof *order), cycles = 0;
    assert_int_equal(inv_neighbours_create(p, &o, &nb, NULL), INVIT_OK);
    assert_int_equal(inv_pieces_create(p, &nb, 1, SIZE, &q, NULL), INVIT_OK);
    for (int i = 0; i < N; i++) {
        int first = i < 2 * LONG ? 0 : 2 * LONG, last = i < 2 * LONG ? 2 * LONG - 1 : N - 1;
        q.link[i][0] = i == first ? last : i - 1;
        q.link[i][1] = i == last ? first : i + 1;
    }
    /* The strip is the smaller one: its nodes are tried, from node 0 on. */
    assert_int_equal(inv_pieces_join(&q, order, &cycles, NULL), INVIT_OK);
    assert_int_equal(cycles, 2);
    assert_tour(order, N);
    assert_true(measure(p, order) < N + 10);
    inv_pieces_destroy(&q);
    inv_neighbours_destroy(&nb);
    invit_instance_destroy(p);
    free(order);
    free(xy);
}

/* Several pieces, and the result of the threads does not depend on which of them had which piece. */
static void rounds_are_reproducible(void **state)
{
    (void)state;
    enum { N = 6000 };
    invit_instance *p = make_instance(N, UNIFORM);
    invit_solution *s[2];
    inv_improve_options o = {.deadline = INFINITY, .iterations = 1500, .threads = 2, .seed = 4};
    inv_improve_stats stats;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(inv_construct_space_filling(p, &s[i], NULL), INVIT_OK);
        assert_int_equal(inv_improve_tsp(p, &s[i], &o, &stats, NULL), INVIT_OK);
        assert_int_equal(stats.iterations, 1500);
        assert_tour(s[i]->nodes, N);
        assert_true(fabs(stats.length - inv_length(p, s[i])) <= 1e-9 * stats.length);
    }
    assert_memory_equal(s[0]->nodes, s[1]->nodes, N * sizeof *s[0]->nodes);
    invit_solution_destroy(s[0]);
    invit_solution_destroy(s[1]);
    invit_instance_destroy(p);
}

/* Edges that have to stay do, whatever is improved around them; one in three, and never two at a node. */
static void fixed_edges_stay(void **state)
{
    (void)state;
    static const int sizes[] = {5, 8, 30, 400, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            int n = sizes[i];
            invit_instance *p = make_instance(n, kind);
            invit_solution *s;
            int32_t *fixed = malloc((size_t)n * sizeof *fixed), *place = malloc((size_t)n * sizeof *place);
            assert_int_equal(inv_construct_space_filling(p, &s, NULL), INVIT_OK);
            for (int j = 0; j < n; j++) fixed[j] = -1;
            for (int j = 0; j + 1 < n; j += 3) {
                fixed[s->nodes[j]] = s->nodes[j + 1];
                fixed[s->nodes[j + 1]] = s->nodes[j];
            }
            double before = inv_length(p, s);
            inv_improve_options o = {
                .deadline = INFINITY, .iterations = 2 * n, .threads = 2, .seed = 4, .fixed = fixed};
            inv_improve_stats stats;
            assert_int_equal(inv_improve_tsp(p, &s, &o, &stats, NULL), INVIT_OK);
            assert_tour(s->nodes, n);
            assert_true(stats.length <= before * (1 + 1e-12));
            if (kind == UNIFORM && n >= 30) assert_true(stats.length < 0.97 * before);
            for (int j = 0; j < n; j++) place[s->nodes[j]] = j;
            for (int j = 0; j < n; j++) {
                int apart = fixed[j] < 0 ? 1 : abs(place[j] - place[fixed[j]]);
                assert_true(apart == 1 || apart == n - 1);
            }
            invit_solution_destroy(s);
            invit_instance_destroy(p);
            free(fixed);
            free(place);
        }
}

/* Every piece with a population of its own: a tour, the edges that have to stay in it, the length that is told,
 * the same with the same seed, and better than as many kicks without. */
static void pieces_with_populations(void **state)
{
    (void)state;
    enum { N = 4000, LITTLE = 2 };
    for (int kind = 0; kind < KINDS; kind++) {
        invit_instance *p = make_instance(kind == UNIFORM ? N : N / LITTLE, kind);
        int n = p->n;
        inv_neighbours nb;
        inv_neighbour_options near = {.k = 8, .per_quadrant = 1, .threads = 2, .deadline = INFINITY};
        assert_int_equal(inv_neighbours_create(p, &near, &nb, NULL), INVIT_OK);
        invit_solution *start;
        assert_int_equal(inv_construct_space_filling(p, &start, NULL), INVIT_OK);
        inv_improve_options o = {.deadline = INFINITY, .iterations = n + n / 2, .threads = 2, .seed = 9};
        int32_t *order[3], *fixed = malloc((size_t)n * sizeof *fixed),
                           *place = malloc((size_t)n * sizeof *place);
        for (int j = 0; j < n; j++) fixed[j] = -1;
        for (int j = 0; j + 1 < n; j += 10) {
            fixed[start->nodes[j]] = start->nodes[j + 1];
            fixed[start->nodes[j + 1]] = start->nodes[j];
        }
        for (int run = 0; run < 3; run++) {
            order[run] = malloc((size_t)n * sizeof **order);
            memcpy(order[run], start->nodes, (size_t)n * sizeof **order);
            inv_tsp_search s = {.p = p, .nb = &nb, .o = &o, .order = order[run], .fixed = fixed};
            s.whole_most = run < 2 ? 1000 : n; /* the last one has none */
            assert_int_equal(inv_tsp_chain(&s, NULL), INVIT_OK);
            assert_tour(order[run], n);
            assert_true(fabs(s.length - measure(p, order[run])) <= 1e-9 * (1 + s.length));
            for (int j = 0; j < n; j++) place[order[run][j]] = j;
            for (int j = 0; j < n; j++) {
                int apart = fixed[j] < 0 ? 1 : abs(place[j] - place[fixed[j]]);
                assert_true(apart == 1 || apart == n - 1);
            }
        }
        assert_memory_equal(order[0], order[1], (size_t)n * sizeof **order);
        if (kind == UNIFORM) assert_true(measure(p, order[0]) < measure(p, order[2]));
        for (int run = 0; run < 3; run++) free(order[run]);
        free(fixed);
        free(place);
        invit_solution_destroy(start);
        inv_neighbours_destroy(&nb);
        invit_instance_destroy(p);
    }
}

/* 100,000 nodes have a population as a whole where there is much time per node, or many kicks; in pieces where there
 * is less, and none where there is next to nothing. */
static void less_time_means_smaller_populations(void **state)
{
    (void)state;
    enum { N = 100000 };
    invit_instance p = {.problem = INVIT_TSP, .n = N};
    static const struct {
        double seconds, kicks;
        bool any, whole;
    } cases[] = {{1, 0.1, false, false}, {6, 0.5, true, false}, {60, 2, true, false}, {600, 10, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int timed = 0; timed < 2; timed++) {
            inv_improve_options o = {.threads = 2, .deadline = INFINITY, .iterations = -1};
            if (timed)
                o.deadline = inv_now() + cases[i].seconds;
            else
                o.iterations = (int64_t)(cases[i].kicks * N);
            inv_tsp_search s = {.p = &p, .o = &o};
            assert_int_equal(inv_tsp_population_piece(&s) > 0, cases[i].any);
            assert_int_equal(inv_tsp_whole_most(&s) >= N, cases[i].whole);
        }
}

/* A population as a whole is the same with any number of threads, when kicks are counted. */
static void populations_are_the_same_with_threads(void **state)
{
    (void)state;
    enum { N = 2500 };
    invit_instance *p = make_instance(N, UNIFORM);
    invit_solution *s[3];
    inv_improve_stats stats;
    for (int i = 0; i < 3; i++) {
        inv_improve_options o = {.deadline = INFINITY, .iterations = N, .threads = 1 + 2 * i, .seed = 4};
        assert_int_equal(inv_construct_space_filling(p, &s[i], NULL), INVIT_OK);
        double before = inv_length(p, s[i]);
        assert_int_equal(inv_improve_tsp(p, &s[i], &o, &stats, NULL), INVIT_OK);
        assert_tour(s[i]->nodes, N);
        assert_true(stats.length < 0.8 * before);
        assert_true(stats.iterations <= N);
        assert_memory_equal(s[0]->nodes, s[i]->nodes, N * sizeof *s[0]->nodes);
    }
    for (int i = 0; i < 3; i++) invit_solution_destroy(s[i]);
    invit_instance_destroy(p);
}

/* Stretches of the tour: each has its nodes in the order of the tour and one fixed edge, from its end to its
 * beginning; cut elsewhere the next time. */
static void pieces_along_the_tour(void **state)
{
    (void)state;
    enum { N = 1000, LONG = 90 };
    int32_t order[N], mate[N], outside[N], first_cut = -1;
    invit_instance *p = make_instance(N, UNIFORM);
    inv_neighbours nb;
    inv_neighbour_options o = {.k = 8, .per_quadrant = 1, .threads = 1, .deadline = INFINITY};
    inv_pieces q;
    for (int i = 0; i < N; i++) order[i] = (int32_t)((i * 7 + 3) % N);
    assert_int_equal(inv_neighbours_create(p, &o, &nb, NULL), INVIT_OK);
    assert_int_equal(inv_pieces_create(p, &nb, 2, SIZE, &q, NULL), INVIT_OK);
    inv_pieces_link(&q, order);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        char seen[N] = {0};
        inv_pieces_cut_along(&q, order, LONG, seed);
        assert_int_equal(q.count, N / LONG);
        for (int32_t i = 0; i < q.count; i++) {
            int32_t count = q.kept[i], ties = 0, *own = q.member + q.begin[i];
            assert_int_equal(count, q.begin[i + 1] - q.begin[i]);
            assert_in_range(count, LONG, 2 * LONG);
            inv_pieces_tie(&q, i, mate, outside);
            for (int32_t j = 0; j < count; j++) {
                assert_int_equal(seen[own[j]]++, 0);
                int32_t next = own[j + 1 == count ? 0 : j + 1];
                bool follows = q.link[own[j]][1] == next;
                bool tied = mate[j] == (j + 1 == count ? 0 : j + 1);
                assert_true(follows != tied);
                if (!tied) continue;
                ties++;
                assert_int_equal(outside[j], q.link[own[j]][1]);
                assert_int_equal(outside[mate[j]], q.link[next][0]);
                if (i == 0) {
                    assert_int_not_equal(own[j], first_cut);
                    first_cut = own[j];
                }
            }
            assert_int_equal(ties, 1);
        }
    }
    inv_pieces_destroy(&q);
    inv_neighbours_destroy(&nb);
    invit_instance_destroy(p);
}

/* Sorting by several threads gives what one gives, nodes in one place in their order. */
static void curve_is_the_same_with_threads(void **state)
{
    (void)state;
    enum { N = 600000 };
    int32_t *order[2];
    double *xy = malloc(2 * N * sizeof *xy), *along = malloc(2 * N * sizeof *along);
    inv_rng r;
    inv_rng_init(&r, 1, 3);
    for (int i = 0; i < 2 * N; i++) xy[i] = inv_rng_below(&r, 300);
    for (int i = 0; i < 2; i++) {
        order[i] = malloc(N * sizeof **order);
        assert_int_equal(inv_curve_points(xy, N, i == 0 ? 1 : 5, order[i], along, NULL), INVIT_OK);
        assert_tour(order[i], N);
        for (int j = 0; j < N; j++) assert_memory_equal(along + 2 * j, xy + 2 * order[i][j], 2 * sizeof *xy);
        for (int j = 0; j + 1 < N; j++)
            if (along[2 * j] == along[2 * j + 2] && along[2 * j + 1] == along[2 * j + 3])
                assert_true(order[i][j] < order[i][j + 1]);
    }
    assert_memory_equal(order[0], order[1], N * sizeof **order);
    for (int i = 0; i < 2; i++) free(order[i]);
    free(xy);
    free(along);
}

/* As many pieces as asked for, of about the same size, that together are all nodes. */
static void pieces_of_equal_size(void **state)
{
    (void)state;
    enum { N = 3000 };
    invit_instance *p = make_instance(N, UNIFORM);
    inv_neighbours nb;
    inv_neighbour_options o = {.k = 8, .per_quadrant = 1, .threads = 1, .deadline = INFINITY};
    inv_pieces q;
    int32_t order[N];
    for (int i = 0; i < N; i++) order[i] = i;
    assert_int_equal(inv_neighbours_create(p, &o, &nb, NULL), INVIT_OK);
    assert_int_equal(inv_pieces_create(p, &nb, 2, SIZE, &q, NULL), INVIT_OK);
    inv_pieces_link(&q, order);
    for (int count = 1; count <= 9; count++) {
        inv_pieces_cut_into(&q, order, count, (uint64_t)count);
        assert_int_equal(q.count, count);
        assert_int_equal(q.begin[0], 0);
        assert_int_equal(q.begin[count], N);
        for (int i = 0; i < count; i++)
            assert_in_range(q.begin[i + 1] - q.begin[i], 0.7 * N / count, 1.3 * N / count);
    }
    inv_pieces_destroy(&q);
    inv_neighbours_destroy(&nb);
    invit_instance_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_changed_at_once_give_a_tour),
        cmocka_unit_test(cycles_are_joined_where_it_is_cheap),
        cmocka_unit_test(rounds_are_reproducible),
        cmocka_unit_test(fixed_edges_stay),
        cmocka_unit_test(pieces_with_populations),
        cmocka_unit_test(less_time_means_smaller_populations),
        cmocka_unit_test(populations_are_the_same_with_threads),
        cmocka_unit_test(pieces_along_the_tour),
        cmocka_unit_test(curve_is_the_same_with_threads),
        cmocka_unit_test(pieces_of_equal_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
