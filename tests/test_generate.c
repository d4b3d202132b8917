/* The four distributions are what they claim, and the same on every machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"
#include "base/rng.h"
#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static invit_instance *make(invit_problem problem, invit_distribution d, int64_t size, uint64_t index)
{
    invit_instance *p = NULL;
    invit_error err;
    assert_int_equal(invit_generate(problem, d, size, 1, index, &p, &err), INVIT_OK);
    return p;
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    for (const unsigned char *b = bytes; n > 0; n--, b++) h = (h ^ *b) * 0x100000001b3u;
    return h;
}

static uint64_t hash_of_four(invit_problem problem, invit_distribution d, bool library)
{
    invit_generate_options o = invit_generate_defaults();
    uint64_t h = 0xcbf29ce484222325u;
    o.like_library = library;
    for (uint64_t i = 0; i < 4; i++) {
        invit_instance *p;
        assert_int_equal(invit_generate_with(problem, d, 200, 1, i, &o, &p, NULL), INVIT_OK);
        h = hash_bytes(h, p->xy, 2 * sizeof(double) * (size_t)p->n);
        if (p->demand) h = hash_bytes(h, p->demand, sizeof(int32_t) * (size_t)p->n);
        invit_instance_destroy(p);
    }
    return h;
}

/* Recorded values: another machine, compiler or thread count must give these bits too. */
static void same_seed_gives_the_same_bits(void **state)
{
    (void)state;
    static const uint64_t expected[2][2][4] = {
        {{0xcfd86b7b0d5f080u, 0xb3e2bccca02def83u, 0x7c1ceaa0c059a7dfu, 0x2d32fe4ab2b85c9fu},
         {0xdf6d32d502c90b6au, 0xe2badb29c66c4b22u, 0xd6fa3e523290f559u, 0xaf8cadec0fe21b5eu}},
        {{0x8f0967b76b1b1dc6u, 0xd84c80d0b17a7cdu, 0x3fa8ae9235ea2200u, 0x7ae4ba11bf603b92u},
         {0x87327d063183bbfeu, 0xdb179be986a83138u, 0x11035180afd42e20u, 0xc968f53cdc884c0cu}},
    };
    for (int library = 0; library < 2; library++)
        for (int problem = 0; problem < 2; problem++)
            for (int d = 0; d < 4; d++) {
                uint64_t h = hash_of_four((invit_problem)problem, (invit_distribution)d, library);
                if (h != expected[library][problem][d])
                    print_message("library %d, problem %d, distribution %d: 0x%llxu\n", library, problem, d,
                                  (unsigned long long)h);
                assert_true(h == expected[library][problem][d]);
            }
}

static void every_instance_fills_the_unit_square(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++)
        for (int d = 0; d < 4; d++)
            for (uint64_t i = 0; i < 20; i++) {
                invit_instance *p =
                    make((invit_problem)problem, (invit_distribution)d, 1 + (int64_t)i * 7, i);
                double low[2] = {9, 9}, high[2] = {-9, -9};
                assert_int_equal(p->n, 1 + (int)i * 7 + problem);
                for (int32_t v = 0; v < 2 * p->n; v++) {
                    low[v % 2] = fmin(low[v % 2], p->xy[v]);
                    high[v % 2] = fmax(high[v % 2], p->xy[v]);
                }
                assert_true(low[0] == 0 && low[1] == 0);
                assert_true(p->n == 1 || fmax(high[0], high[1]) == 1);
                invit_instance_destroy(p);
            }
}

/* Pearson's statistic of node counts on an 8 x 8 grid; 63 degrees of freedom, so 63 on average when uniform.
 */
static double chi_square(const invit_instance *p)
{
    int count[64] = {0};
    for (int32_t i = 0; i < p->n; i++) {
        int gx = (int)(p->xy[2 * i] * 8), gy = (int)(p->xy[2 * i + 1] * 8);
        count[(gx > 7 ? 7 : gx) * 8 + (gy > 7 ? 7 : gy)]++;
    }
    double sum = 0, mean = p->n / 64.0;
    for (int i = 0; i < 64; i++) sum += (count[i] - mean) * (count[i] - mean) / mean;
    return sum;
}

static void uniform_is_uniform(void **state)
{
    (void)state;
    double sum = 0;
    for (uint64_t i = 0; i < 20; i++) {
        invit_instance *p = make(INVIT_TSP, INVIT_UNIFORM, 20000, i);
        sum += chi_square(p) / 20;
        invit_instance_destroy(p);
    }
    assert_true(sum > 50 && sum < 76); /* mean of 20: standard deviation 2.5 */
}

static int32_t nearest_centre(const double (*centre)[2], int centres, const double *at)
{
    int32_t best = 0;
    for (int32_t c = 1; c < centres; c++)
        if (hypot(at[0] - centre[c][0], at[1] - centre[c][1]) <
            hypot(at[0] - centre[best][0], at[1] - centre[best][1]))
            best = c;
    return best;
}

/* Far apart centres are found again as the components of nodes within a grid cell's reach; of those instances
 * whose centres are well separated, sizes and spread must be a cluster's. */
static void clustered_has_its_clusters(void **state)
{
    (void)state;
    int seen = 0;
    for (uint64_t i = 1; i < 400; i += 2) { /* odd: 7 centres on a side of 50 */
        invit_instance *p = make(INVIT_TSP, INVIT_CLUSTERED, 3500, i);
        double centre[7][2];
        int centres = 0;
        /* farthest-point seeding, then Lloyd: exact when the clusters are far apart */
        memcpy(centre[centres++], p->xy, sizeof centre[0]);
        while (centres < 7) {
            int32_t far = 0;
            double best = -1;
            for (int32_t v = 0; v < p->n; v++) {
                const double *at = p->xy + 2 * v, *c = centre[nearest_centre(centre, centres, at)];
                double d = hypot(at[0] - c[0], at[1] - c[1]);
                if (d > best) best = d, far = v;
            }
            memcpy(centre[centres++], p->xy + 2 * far, sizeof centre[0]);
        }
        int size[7];
        double spread[7][2];
        for (int round = 0; round < 6; round++) {
            double sum[7][2] = {{0}};
            memset(size, 0, sizeof size);
            memset(spread, 0, sizeof spread);
            for (int32_t v = 0; v < p->n; v++) {
                int32_t c = nearest_centre(centre, 7, p->xy + 2 * v);
                size[c]++;
                for (int a = 0; a < 2; a++) {
                    sum[c][a] += p->xy[2 * v + a];
                    spread[c][a] += pow(p->xy[2 * v + a] - centre[c][a], 2);
                }
            }
            for (int c = 0; c < 7; c++)
                for (int a = 0; a < 2; a++) {
                    centre[c][a] = sum[c][a] / size[c];
                    spread[c][a] = sqrt(spread[c][a] / size[c]);
                }
        }
        double closest = 9;
        for (int c = 0; c < 7; c++)
            for (int e = 0; e < c; e++)
                closest = fmin(closest, hypot(centre[c][0] - centre[e][0], centre[c][1] - centre[e][1]));
        if (closest > 9 * spread[0][0]) { /* well separated: the assignment is certain */
            seen++;
            double unit = 0;
            for (int c = 0; c < 7; c++) unit += (spread[c][0] + spread[c][1]) / 14;
            for (int c = 0; c < 7; c++) {
                assert_in_range(size[c], 500 - 110, 500 + 110); /* 5 standard deviations */
                for (int a = 0; a < 2; a++) assert_true(fabs(spread[c][a] / unit - 1) < 0.15);
            }
            /* a side of 50 with noise of deviation 1: the scaled unit lies between 1/60 and 1/20 */
            assert_true(unit > 1 / 60.0 && unit < 1 / 20.0);
        }
        invit_instance_destroy(p);
    }
    assert_true(seen >= 3);
}

static void clustered_halves_differ(void **state)
{
    (void)state;
    double even = 0, odd = 0; /* 3 clusters on 10 fill more of their box than 7 on 50 */
    for (uint64_t i = 0; i < 60; i++) {
        invit_instance *p = make(INVIT_TSP, INVIT_CLUSTERED, 4000, i);
        bool hit[64][64] = {{false}};
        int cells = 0;
        for (int32_t v = 0; v < p->n; v++) {
            bool *h = &hit[(int)(p->xy[2 * v] * 63.999)][(int)(p->xy[2 * v + 1] * 63.999)];
            cells += !*h;
            *h = true;
        }
        *(i % 2 == 0 ? &even : &odd) += cells / 30.0;
        invit_instance_destroy(p);
    }
    assert_true(even > 1.5 * odd);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where all but the outermost 2 % of the nodes lie, per axis. */
static void core_box(const invit_instance *p, double low[2], double high[2])
{
    double *v = malloc((size_t)p->n * sizeof *v);
    assert_non_null(v);
    for (int a = 0; a < 2; a++) {
        for (int32_t i = 0; i < p->n; i++) v[i] = p->xy[2 * i + a];
        qsort(v, (size_t)p->n, sizeof *v, by_value);
        low[a] = v[p->n / 50];
        high[a] = v[p->n - 1 - p->n / 50];
    }
    free(v);
}

/* Largest empty (explosion) or densest (implosion) disc is visible as the change of the grid's occupancy. */
static double empty_cells(const invit_instance *p)
{
    bool hit[32][32] = {{false}};
    int cells = 0;
    for (int32_t v = 0; v < p->n; v++) {
        bool *h = &hit[(int)(p->xy[2 * v] * 31.999)][(int)(p->xy[2 * v + 1] * 31.999)];
        cells += !*h;
        *h = true;
    }
    return 1 - cells / 1024.0;
}

static void explosion_leaves_an_empty_disc(void **state)
{
    (void)state;
    int inner = 0, dense = 0;
    for (uint64_t i = 0; i < 60; i++) {
        invit_instance *p = make(INVIT_TSP, INVIT_EXPLOSION, 20000, i);
        /* The largest empty circle on a grid of centres is the disc, unless that reaches over the border.
         * What was inside now lies in a ring around it, thinning out exponentially (mean 0.1). */
        double best = 0, bx = 0, by = 0, low[2], high[2];
        core_box(p, low, high);
        for (int gx = 0; gx <= 40; gx++)
            for (int gy = 0; gy <= 40; gy++) {
                double x = gx / 40.0, y = gy / 40.0;
                double least = fmin(fmin(x - low[0], high[0] - x), fmin(y - low[1], high[1] - y)) - 0.02;
                double border = least;
                for (int32_t v = 0; v < p->n && least > best; v++)
                    least = fmin(least, hypot(p->xy[2 * v] - x, p->xy[2 * v + 1] - y));
                if (least > best && least < border) best = least, bx = x, by = y;
            }
        if (best > 0.05) {
            int ring[3] = {0};
            for (int32_t v = 0; v < p->n; v++) {
                double d = hypot(p->xy[2 * v] - bx, p->xy[2 * v + 1] - by) - best;
                assert_true(d >= 0);
                if (d < 0.15) ring[(int)(d / 0.05)]++;
            }
            double density[3];
            for (int k = 0; k < 3; k++) {
                double in = best + 0.05 * k, out = in + 0.05;
                density[k] = ring[k] / (3.14159265 * (out * out - in * in));
            }
            dense += density[0] > 1.1 * density[2];
            inner++;
        }
        invit_instance_destroy(p);
    }
    assert_true(inner >= 10 && dense >= 0.8 * inner);
}

static void implosion_draws_nodes_together(void **state)
{
    (void)state;
    int dense = 0;
    for (uint64_t i = 0; i < 30; i++) {
        invit_instance *p = make(INVIT_TSP, INVIT_IMPLOSION, 20000, i);
        /* The part of the square the disc covered is empty but for its shrunken copy (unless |m| is near 1).
         */
        dense += empty_cells(p) > 0.01 && chi_square(p) > 1000;
        invit_instance_destroy(p);
    }
    assert_true(dense >= 20);
}

static void demands_are_uniform_on_their_range(void **state)
{
    (void)state;
    int count[11] = {0};
    invit_instance *p = make(INVIT_CVRP, INVIT_CLUSTERED, 100000, 0);
    assert_int_equal(p->capacity, 50);
    assert_int_equal(p->demand[0], 0);
    for (int32_t i = 1; i < p->n; i++) {
        assert_in_range(p->demand[i], 1, 10);
        count[p->demand[i]]++;
    }
    for (int d = 1; d <= 10; d++) assert_in_range(count[d], 9500, 10500);
    invit_instance_destroy(p);

    invit_generate_options training = {.capacity = 40, .demand_min = 1, .demand_max = 9};
    assert_int_equal(invit_generate_with(INVIT_CVRP, INVIT_UNIFORM, 5000, 1, 0, &training, &p, NULL),
                     INVIT_OK);
    int32_t largest = 0;
    for (int32_t i = 1; i < p->n; i++) largest = p->demand[i] > largest ? p->demand[i] : largest;
    assert_int_equal(largest, 9);
    assert_int_equal(p->capacity, 40);
    invit_instance_destroy(p);
}

/* As in the X set: the mean route takes 3 to 25 customers, no demand exceeds the capacity, all seven kinds of
 * demands and all three places of the depot occur. */
static void library_instances_vary_like_the_library(void **state)
{
    (void)state;
    invit_generate_options o = {.like_library = true};
    int centre = 0, corner = 0, units = 0, large = 0, small = 0;
    double sizes = 0;
    for (uint64_t i = 0; i < 700; i++) {
        invit_instance *p;
        assert_int_equal(invit_generate_with(INVIT_CVRP, INVIT_UNIFORM, 400, 1, i, &o, &p, NULL), INVIT_OK);
        double sum = 0;
        int32_t least = 1000, most = 0;
        for (int32_t v = 1; v < p->n; v++) {
            sum += p->demand[v];
            if (p->demand[v] < least) least = p->demand[v];
            if (p->demand[v] > most) most = p->demand[v];
        }
        double size = (double)p->capacity * (p->n - 1) / sum;
        assert_true(most <= p->capacity && least >= 1 && most <= 100);
        assert_true(size >= 3 && (size < 26 || sum < 1000));
        sizes += size / 700;
        units += most == 1;
        small += most == 10;
        large += least == 50;
        centre += fabs(p->xy[0] - 0.5) < 0.02 && fabs(p->xy[1] - 0.5) < 0.02;
        corner += p->xy[0] == 0 && p->xy[1] == 0;
        invit_instance_destroy(p);
    }
    assert_true(sizes > 10.5 && sizes < 12.5); /* (3 + 6 + 25) / 3, and a little for rounding up */
    assert_in_range(units, 65, 135);           /* a seventh of them, and two sevenths */
    assert_in_range(small, 150, 250);
    assert_in_range(large, 65, 135);
    assert_in_range(centre, 190, 280); /* a third */
    assert_in_range(corner, 190, 280);
}

/* Half of the nodes and more are in patches, so nearest neighbours are at very different distances, where a
 * uniform instance has nearly none ten times as near as the middle one; nowhere do two nodes coincide. */
static void routes_are_as_long_as_asked(void **state)
{
    (void)state;
    const double asked[] = {4, 90, 1e9};
    for (int j = 0; j < 3; j++)
        for (uint64_t i = 0; i < 20; i++) {
            invit_generate_options o = {.like_library = true, .route_size = asked[j]};
            invit_instance *p;
            assert_int_equal(invit_generate_with(INVIT_CVRP, INVIT_UNIFORM, 400, 1, i, &o, &p, NULL),
                             INVIT_OK);
            double sum = 0;
            for (int32_t v = 1; v < p->n; v++) sum += p->demand[v];
            double capacity = fmin(ceil(asked[j] * sum / 400), INT32_MAX);
            assert_true((double)p->capacity >= capacity && (double)p->capacity <= fmax(capacity, 100));
            invit_instance_destroy(p);
        }
    invit_generate_options wrong = {.like_library = true, .route_size = -1};
    invit_instance *p;
    assert_int_equal(invit_generate_with(INVIT_CVRP, INVIT_UNIFORM, 400, 1, 0, &wrong, &p, NULL),
                     INVIT_ERR_ARGUMENT);
}

static void library_tours_have_dense_places(void **state)
{
    (void)state;
    int uneven[2] = {0};
    for (int library = 0; library < 2; library++)
        for (uint64_t i = 0; i < 100; i++) {
            enum { N = 300 };
            invit_generate_options o = {.like_library = library};
            invit_instance *p;
            assert_int_equal(invit_generate_with(INVIT_TSP, INVIT_UNIFORM, N, 1, i, &o, &p, NULL), INVIT_OK);
            double near[N], widest = 0;
            for (int v = 0; v < N; v++) {
                near[v] = 9;
                for (int w = 0; w < N; w++)
                    if (w != v)
                        near[v] = fmin(
                            near[v], hypot(p->xy[2 * v] - p->xy[2 * w], p->xy[2 * v + 1] - p->xy[2 * w + 1]));
                widest = fmax(widest, near[v]);
                assert_true(near[v] > 0 && near[v] < 2);
            }
            int dense = 0;
            for (int v = 0; v < N; v++) dense += near[v] < widest / 20;
            uneven[library] += dense > N / 4;
            invit_instance_destroy(p);
        }
    assert_int_equal(uneven[0], 0);
    assert_true(uneven[1] > 50);
}

/* In the other three the depot is one more uniform point; in clustered it is a centre of its own. */
static void depots_are_placed_as_described(void **state)
{
    (void)state;
    double mean[4][2] = {{0}};
    for (int d = 0; d < 4; d++)
        for (uint64_t i = 0; i < 400; i++) {
            invit_instance *p = make(INVIT_CVRP, (invit_distribution)d, 50, i);
            for (int a = 0; a < 2; a++) mean[d][a] += p->xy[a] / 400;
            invit_instance_destroy(p);
        }
    for (int d = 0; d < 4; d++)
        for (int a = 0; a < 2; a++) assert_true(mean[d][a] > 0.38 && mean[d][a] < 0.58);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    invit_instance *p;
    invit_error err;
    assert_int_equal(invit_generate(INVIT_TSP, INVIT_UNIFORM, 0, 1, 0, &p, &err), INVIT_ERR_ARGUMENT);
    assert_int_equal(invit_generate(INVIT_TSP, (invit_distribution)4, 5, 1, 0, &p, &err), INVIT_ERR_ARGUMENT);
    assert_int_equal(invit_generate(INVIT_TSP, INVIT_UNIFORM, INT64_MAX, 1, 0, &p, &err), INVIT_ERR_ARGUMENT);
    invit_generate_options o = {.capacity = 5, .demand_min = 1, .demand_max = 10};
    assert_int_equal(invit_generate_with(INVIT_CVRP, INVIT_UNIFORM, 5, 1, 0, &o, &p, &err),
                     INVIT_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_gives_the_same_bits),
        cmocka_unit_test(every_instance_fills_the_unit_square),
        cmocka_unit_test(uniform_is_uniform),
        cmocka_unit_test(clustered_has_its_clusters),
        cmocka_unit_test(clustered_halves_differ),
        cmocka_unit_test(explosion_leaves_an_empty_disc),
        cmocka_unit_test(implosion_draws_nodes_together),
        cmocka_unit_test(demands_are_uniform_on_their_range),
        cmocka_unit_test(library_instances_vary_like_the_library),
        cmocka_unit_test(routes_are_as_long_as_asked),
        cmocka_unit_test(library_tours_have_dense_places),
        cmocka_unit_test(depots_are_placed_as_described),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
