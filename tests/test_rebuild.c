/* Reconstruction: parts cover the solution without overlap, ends stay where they are, only what is shorter is kept, the
 * same for any number of threads, and stopped when asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "same.h"
#include "invit_lab.h"
#include "fewer.h"
#include "tiny_model.h"
#include "base/clock.h"
#include "problem/metric.h"
#include "solve/options.h"
#include "solve/path_merge.h"
#include "solve/reconstruct.h"
#include "solve/route_groups.h"
#include "solve/tour_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct scene {
    invit_instance *p;
    invit_model *model;
    inv_prepared *weights;
    invit_solution *solution;
} scene;

static scene set_up(invit_problem problem, int64_t size, invit_construct how)
{
    scene s = {0};
    inv_config c = tiny_config(problem);
    assert_int_equal(invit_generate(problem, INVIT_UNIFORM, size, 5, 0, &s.p, NULL), INVIT_OK);
    assert_int_equal(inv_model_create(&c, &s.model, NULL), INVIT_OK);
    inv_model_randomise(s.model, 3);
    assert_int_equal(inv_prepared_create(s.model, INV_EXACT, &s.weights, NULL), INVIT_OK);
    inv_solve_options o = inv_solve_defaults();
    o.construct = how;
    o.seconds = 0;
    assert_int_equal(inv_solve(s.p, NULL, &o, &s.solution, NULL, NULL), INVIT_OK);
    return s;
}

static void tear_down(scene *s)
{
    invit_solution_destroy(s->solution);
    inv_prepared_destroy(s->weights);
    invit_model_destroy(s->model);
    invit_instance_destroy(s->p);
}

static void shuffle(int32_t *a, int32_t n, inv_rng *rng)
{
    for (int32_t i = n - 1; i > 0; i--) {
        int32_t j = (int32_t)inv_rng_below(rng, (uint32_t)i + 1), swap = a[i];
        a[i] = a[j];
        a[j] = swap;
    }
}

static double path_length(const invit_instance *p, const int32_t *node, int32_t n)
{
    double length = 0;
    for (int32_t i = 1; i < n; i++) length += inv_edge(p, node[i - 1], node[i]);
    return length;
}

/* ---- putting paths together ---------------------------------------------------------------------------- */

enum { MOST = 12 };

/* The shortest of all paths that use only edges of two given ones: by trying. */
static double shortest_of_both(const invit_instance *p, int32_t n, bool edge[MOST][MOST], bool *used,
                               int32_t last, int32_t visited)
{
    if (visited == n - 1) return edge[last][n - 1] ? inv_edge(p, last, n - 1) : INFINITY;
    double best = INFINITY;
    for (int32_t v = 1; v < n - 1; v++) {
        if (used[v] || !edge[last][v]) continue;
        used[v] = true;
        best = fmin(best, inv_edge(p, last, v) + shortest_of_both(p, n, edge, used, v, visited + 1));
        used[v] = false;
    }
    return best;
}

static void a_merged_path_is_at_most_as_long_as_both(void **state)
{
    (void)state;
    char scratch[1024];
    int32_t better_than_both = 0, shortest = 0, rounds = FEWER(3000, 300);
    inv_rng rng;
    inv_rng_init(&rng, 1, 1);
    assert_true(inv_path_merge_room(MOST) <= sizeof scratch);
    for (int32_t round = 0; round < rounds; round++) {
        invit_instance *p;
        int32_t n = 2 + (int32_t)inv_rng_below(&rng, MOST - 1), order[MOST], path[MOST], seen[MOST] = {0};
        bool edge[MOST][MOST] = {{0}}, used[MOST] = {0};
        assert_int_equal(invit_generate(INVIT_TSP, INVIT_UNIFORM, n, 7, (uint64_t)round, &p, NULL), INVIT_OK);
        for (int32_t i = 0; i < n; i++) path[i] = order[i] = i;
        int32_t from = 1 + (int32_t)inv_rng_below(&rng, 4),
                some = n - 1 - from; /* mostly a part is mixed up */
        if (some > 5) some = 5;
        if (some > 1) shuffle(order + from, some, &rng);
        if (n > 4) shuffle(order + n - 3, 2, &rng);
        for (int32_t i = 1; i < n; i++) {
            edge[i - 1][i] = edge[i][i - 1] = true;
            edge[order[i - 1]][order[i]] = edge[order[i]][order[i - 1]] = true;
        }
        double before = path_length(p, path, n), other = path_length(p, order, n);
        double gain = inv_path_merge(p, path, order, n, scratch), after = path_length(p, path, n);
        double best = n > 2 ? shortest_of_both(p, n, edge, used, 0, 1) : before;
        assert_int_equal(path[0], 0);
        assert_int_equal(path[n - 1], n - 1);
        for (int32_t i = 0; i < n; i++) assert_int_equal(seen[path[i]]++, 0);
        assert_true(fabs(before - gain - after) < 1e-12 && gain >= 0);
        assert_true(after <= fmin(before, other) + 1e-8 && after >= best - 1e-12);
        better_than_both += after < fmin(before, other) - 1e-9;
        shortest += after < best + 1e-8;
        invit_instance_destroy(p);
    }
    assert_true(better_than_both > rounds / 50);
    assert_true(shortest > rounds / 2); /* not always: edges of both may be mixed in other ways too */
}

/* Each path is good in one half: the merged one is good in both, also where one half is walked the other way round. */
static void each_half_comes_from_the_better_path(void **state)
{
    (void)state;
    const double xy[] = {0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0};
    int32_t path[] = {0, 2, 1, 3, 4, 5, 6, 7}, order[] = {0, 2, 1, 3, 5, 4, 6, 7};
    char scratch[512];
    invit_instance *p;
    assert_int_equal(invit_instance_create_tsp(xy, 8, INVIT_EXACT, &p, NULL), INVIT_OK);
    assert_true(inv_path_merge(p, path, order, 8, scratch) > 1.99);
    for (int32_t i = 0; i < 8; i++) assert_int_equal(path[i], i);
    invit_instance_destroy(p);
}

/* ---- parts of a tour ----------------------------------------------------------------------------------- */

static void segments_cover_the_tour_and_share_only_their_ends(void **state)
{
    (void)state;
    inv_rng rng;
    inv_rng_init(&rng, 3, 3);
    for (int32_t n = 4; n < 40; n++)
        for (int32_t size = 1; size < 50; size += 3)
            for (int32_t window = 4; window < 60; window += 9) {
                scene s = set_up(INVIT_TSP, n, INVIT_CONSTRUCT_NEAREST);
                inv_tour_parts t;
                int32_t times[40] = {0}, edges = 0, place[40], most = window < n ? window : n;
                const int32_t *tour = s.solution->nodes;
                for (int32_t i = 0; i < n; i++) place[tour[i]] = i;
                assert_int_equal(inv_tour_parts_create(s.p, window, &t, NULL), INVIT_OK);
                inv_tour_parts_cut(&t, tour, size, &rng);
                assert_true(t.count >= 1);
                for (int32_t k = 0; k < t.count; k++) {
                    const inv_rebuild_job *job = &t.job[k];
                    int32_t forward = (place[job->node[1]] - place[job->node[0]] + n) % n;
                    assert_true(forward == 1 || forward == n - 1);
                    for (int32_t i = 1; i < job->n; i++)
                        assert_int_equal((place[job->node[i]] - place[job->node[i - 1]] + n) % n, forward);
                    for (int32_t i = 0; i < job->n; i++)
                        times[job->node[i]] += i > 0 && i < job->n - 1 ? 2 : 1;
                    assert_true(job->n >= 4 && (job->n <= 2 * size + 1 || size < 4 || t.count == 1));
                    edges += job->n - 1;
                }
                assert_int_equal(edges, most == n && t.count == 1 ? n - 1 : most);
                for (int32_t i = 0; i < n; i++) assert_true(times[i] <= 2);
                inv_tour_parts_destroy(&t);
                tear_down(&s);
            }
}

/* A long tour is looked at window by window, all of it. */
static void windows_go_round_the_tour(void **state)
{
    (void)state;
    scene s = set_up(INVIT_TSP, 50, INVIT_CONSTRUCT_NEAREST);
    inv_tour_parts t;
    inv_rng rng;
    int32_t seen[50] = {0};
    inv_rng_init(&rng, 3, 3);
    assert_int_equal(inv_tour_parts_create(s.p, 12, &t, NULL), INVIT_OK);
    for (int round = 0; round < 5; round++) {
        inv_tour_parts_cut(&t, s.solution->nodes, 6, &rng);
        for (int32_t k = 0; k < t.count; k++)
            for (int32_t i = 0; i < t.job[k].n; i++) seen[t.job[k].node[i]]++;
    }
    for (int32_t i = 0; i < 50; i++) assert_true(seen[i] > 0);
    inv_tour_parts_destroy(&t);
    tear_down(&s);
}

static void only_shorter_segments_are_kept(void **state)
{
    (void)state;
    inv_rng rng;
    inv_rng_init(&rng, 3, 3);
    scene s = set_up(INVIT_TSP, 60, INVIT_CONSTRUCT_SPACE_FILLING);
    inv_tour_parts t;
    int32_t kept = 0;
    invit_check_result found;
    assert_int_equal(inv_tour_parts_create(s.p, 45, &t, NULL), INVIT_OK);
    for (int round = 0; round < FEWER(300, 60); round++) {
        double before = inv_length(s.p, s.solution);
        inv_tour_parts_cut(&t, s.solution->nodes, 5, &rng);
        for (int32_t k = 0; k < t.count; k++) {
            inv_rebuild_job *job = &t.job[k];
            job->count = k % 3 ? job->n : 0; /* some were not complete */
            for (int32_t i = 0; i < job->n; i++) job->order[i] = i;
            shuffle(job->order + 1, job->n - 2, &rng);
        }
        double shorter = inv_tour_parts_keep(&t, s.solution->nodes), after = inv_length(s.p, s.solution);
        assert_true(shorter >= 0 && fabs(before - shorter - after) < 1e-9);
        assert_int_equal(invit_check(s.p, s.solution, &found, NULL), INVIT_OK);
        assert_true(found.feasible);
        kept += shorter > 0;
    }
    assert_true(kept > 3);
    inv_tour_parts_destroy(&t);
    tear_down(&s);
}

/* ---- groups of routes ---------------------------------------------------------------------------------- */

static void groups_are_whole_routes_and_disjoint(void **state)
{
    (void)state;
    inv_rng rng;
    inv_rng_init(&rng, 3, 3);
    for (int32_t size = 1; size < 130; size += 16)
        for (int32_t window = 1; window < 200; window += 60) {
            scene s = set_up(INVIT_CVRP, 100, INVIT_CONSTRUCT_NEAREST);
            inv_route_groups g;
            int32_t times[101] = {0}, route[101], customers = 0;
            for (int32_t r = 0; r < s.solution->routes; r++)
                for (int32_t i = s.solution->start[r]; i < s.solution->start[r + 1]; i++)
                    route[s.solution->nodes[i]] = r;
            assert_int_equal(inv_route_groups_create(s.p, window, NULL, &g, NULL), INVIT_OK);
            assert_int_equal(inv_route_groups_cut(&g, s.solution, size, &rng, NULL), INVIT_OK);
            for (int32_t k = 0; k < g.count; k++) {
                const inv_rebuild_job *job = &g.job[k];
                int32_t routes = 0;
                assert_int_equal(job->node[0], 0);
                for (int32_t i = 1; i < job->n; i++) {
                    int32_t r = route[job->node[i]];
                    times[job->node[i]]++;
                    assert_int_equal(g.group[r], k);
                    routes += i == 1 || r != route[job->node[i - 1]];
                }
                for (int32_t r = 0; r < s.solution->routes; r++) /* no route in parts */
                    for (int32_t i = s.solution->start[r]; g.group[r] == k && i < s.solution->start[r + 1];
                         i++)
                        assert_int_equal(times[s.solution->nodes[i]], 1);
                assert_true(job->n - 1 <= size || routes == 1);
                customers += job->n - 1;
            }
            for (int32_t i = 1; i <= 100; i++) assert_true(times[i] <= 1);
            assert_true(customers >= (window < 100 ? window : 100));
            inv_route_groups_destroy(&g);
            tear_down(&s);
        }
}

/* Of a group, the routes that serve the same customers as before are judged by themselves. */
static void a_shorter_route_is_kept_beside_a_longer_one(void **state)
{
    (void)state;
    const double xy[] = {0, 0, 1, 0, 2, 0, 3, 0, 0, 1, 0, 2, 0, 3};
    const int64_t demand[] = {0, 1, 1, 1, 1, 1, 1};
    const int32_t nodes[] = {2, 1, 3, 4, 5, 6}, start[] = {0, 3, 6};
    int32_t order[16], at = 0;
    invit_instance *p;
    invit_solution *s;
    inv_route_groups g;
    inv_rng rng;
    double shorter;
    inv_rng_init(&rng, 1, 1);
    assert_int_equal(invit_instance_create_cvrp(xy, demand, 7, 3, INVIT_EXACT, &p, NULL), INVIT_OK);
    assert_int_equal(invit_solution_create(nodes, start, 2, &s, NULL), INVIT_OK);
    assert_int_equal(inv_route_groups_create(p, 100, NULL, &g, NULL), INVIT_OK);
    assert_int_equal(inv_route_groups_cut(&g, s, 100, &rng, NULL), INVIT_OK);
    assert_int_equal(g.count, 1);
    static const int32_t better_and_worse[] = {1, 2, 3, 0, 5, 4, 6};
    for (int32_t i = 0; i < 7; i++)
        for (int32_t j = 0; j < 7; j++)
            if (g.job[0].node[j] == better_and_worse[i]) order[at++] = j;
    memcpy(g.job[0].order, order, sizeof(int32_t) * 7);
    g.job[0].count = 7;
    assert_int_equal(inv_route_groups_keep(&g, &s, &shorter, NULL), INVIT_OK);
    assert_true(fabs(shorter - 2) < 1e-9);
    assert_true(fabs(inv_length(p, s) - 12) < 1e-9);
    assert_int_equal(s->routes, 2);
    inv_route_groups_destroy(&g);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

/* ---- the policy at work -------------------------------------------------------------------------------- */

static inv_improve_options options(int64_t iterations, int threads)
{
    return (inv_improve_options){
        .iterations = iterations, .threads = threads, .deadline = INFINITY, .seed = 4};
}

static inv_improve_stats reconstruct(scene *s, const inv_improve_options *o)
{
    inv_improve_stats stats = {0};
    invit_error err = {0};
    invit_check_result found;
    double before = inv_length(s->p, s->solution);
    if (inv_reconstruct(s->p, &s->model->config, s->weights, &s->solution, o, &stats, &err) != INVIT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(invit_check(s->p, s->solution, &found, NULL), INVIT_OK);
    if (!found.feasible) fail_msg("%s", found.message);
    assert_true(stats.length <= before * (1 + 1e-12) && fabs(found.length - stats.length) <= 1e-12 * before);
    return stats;
}

static void jobs_are_the_same_for_any_threads_and_keep_their_ends(void **state)
{
    (void)state;
    scene s = set_up(INVIT_TSP, 200, INVIT_CONSTRUCT_NEAREST);
    enum { JOBS = 40 };
    int32_t order[3][JOBS][20];
    for (int threads = 1; threads <= 3; threads++) {
        inv_rebuild_job job[JOBS];
        inv_rebuilder *r;
        inv_improve_options o = options(-1, threads);
        for (int i = 0; i < JOBS; i++)
            job[i] = (inv_rebuild_job){.node = s.solution->nodes + 4 * i,
                                       .n = 4 + i % 17,
                                       .temperature = i % 2,
                                       .order = order[threads - 1][i]};
        assert_int_equal(inv_rebuilder_create(s.p, &s.model->config, s.weights, threads, &r, NULL), INVIT_OK);
        assert_int_equal(inv_rebuild(r, job, JOBS, &o, 9, NULL), INVIT_OK);
        for (int i = 0; i < JOBS; i++) {
            int32_t seen[20] = {0};
            assert_int_equal(job[i].count, job[i].n);
            assert_int_equal(job[i].order[0], 0);
            assert_int_equal(job[i].order[job[i].n - 1], job[i].n - 1);
            for (int32_t j = 0; j < job[i].n; j++) assert_int_equal(seen[job[i].order[j]]++, 0);
            assert_memory_equal(job[i].order, order[0][i], (size_t)job[i].n * sizeof(int32_t));
        }
        o.deadline = inv_now() - 1;
        assert_int_equal(inv_rebuild(r, job, JOBS, &o, 9, NULL), INVIT_OK);
        for (int i = 0; i < JOBS; i++) assert_int_equal(job[i].count, 0);
        inv_rebuilder_destroy(r);
    }
    tear_down(&s);
}

/* A solution so poor that even a random network finds a shorter one: a random tour, or a vehicle for every customer. */
static void spoil(scene *s)
{
    inv_rng rng;
    inv_rng_init(&rng, 6, 6);
    if (s->p->problem == INVIT_TSP) {
        shuffle(s->solution->nodes, s->p->n, &rng);
        return;
    }
    int32_t customers = s->p->n - 1;
    int32_t *start = malloc((size_t)s->p->n * sizeof *start),
            *nodes = malloc((size_t)s->p->n * sizeof *nodes);
    for (int32_t i = 0; i <= customers; i++) start[i] = i;
    for (int32_t i = 0; i < customers; i++) nodes[i] = i + 1;
    invit_solution_destroy(s->solution);
    assert_int_equal(invit_solution_create(nodes, start, customers, &s->solution, NULL), INVIT_OK);
    free(start);
    free(nodes);
}

static void iterations_give_the_same_for_any_threads(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        invit_solution *first = NULL;
        for (int threads = 1; threads <= 3; threads++) {
            scene s = set_up((invit_problem)problem, FEWER(400, 150), INVIT_CONSTRUCT_SPACE_FILLING);
            inv_improve_options o = options(FEWER(83, 31), threads);
            spoil(&s);
            double before = inv_length(s.p, s.solution);
            inv_improve_stats stats = reconstruct(&s, &o);
            assert_int_equal(stats.iterations, o.iterations);
            assert_true(stats.length < 0.9 * before);
            if (first) same_solution(first, s.solution);
            if (threads == 1) {
                first = s.solution;
                s.solution = NULL;
            }
            tear_down(&s);
        }
        invit_solution_destroy(first);
    }
}

static void the_smallest_instances_are_left_alone_or_rebuilt(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++)
        for (int32_t n = 1; n <= 10; n++) {
            scene s = set_up((invit_problem)problem, n, INVIT_CONSTRUCT_SPACE_FILLING);
            inv_improve_options o = options(7, 2);
            assert_int_equal(reconstruct(&s, &o).iterations, s.p->n >= 4 ? 7 : 0);
            tear_down(&s);
        }
}

/* One route with more customers than a group has; and the many of one customer each. */
static void long_and_short_routes_are_rebuilt(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        enum { N = 301 };
        double xy[2 * N];
        int64_t demand[N] = {0};
        inv_rng rng;
        scene s = set_up(INVIT_CVRP, 5, INVIT_CONSTRUCT_NEAREST);
        invit_instance_destroy(s.p);
        invit_solution_destroy(s.solution);
        inv_rng_init(&rng, 8, 8);
        for (int i = 0; i < 2 * N; i++) xy[i] = inv_rng_double(&rng);
        for (int i = 1; i < N; i++) demand[i] = 1;
        assert_int_equal(invit_instance_create_cvrp(xy, demand, N, kind ? 1 : N, INVIT_EXACT, &s.p, NULL),
                         INVIT_OK);
        inv_solve_options how = inv_solve_defaults();
        how.construct = INVIT_CONSTRUCT_SPACE_FILLING;
        how.seconds = 0;
        assert_int_equal(inv_solve(s.p, NULL, &how, &s.solution, NULL, NULL), INVIT_OK);
        inv_improve_options o = options(5, 2);
        assert_int_equal(reconstruct(&s, &o).iterations, 5);
        tear_down(&s);
    }
}

static void deadline_and_cancel_are_kept(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        scene s = set_up((invit_problem)problem, FEWER(20000, 3000), INVIT_CONSTRUCT_SPACE_FILLING);
        inv_improve_options o = options(4, 2);
        double began = inv_now();
        reconstruct(&s, &o);
        double budget = 10 * (inv_now() - began) + 0.1;
        o = options(-1, 2);
        began = inv_now();
        o.deadline = began + budget;
        inv_improve_stats stats = reconstruct(&s, &o);
        assert_true(inv_now() - began < 2 * budget + 1);
        assert_true(stats.iterations > 0);
        volatile int cancel = 1;
        invit_control control = {.cancel = &cancel};
        o = options(-1, 2);
        o.control = &control;
        assert_int_equal(reconstruct(&s, &o).iterations, 0);
        tear_down(&s);
    }
}

typedef struct heard {
    int32_t rebuilt;
    volatile int cancel;
} heard;

static void hear(void *user, const invit_progress *progress)
{
    heard *h = user;
    assert_string_equal(progress->stage, "rebuild");
    assert_true(progress->best > 0);
    if (++h->rebuilt == 3) h->cancel = 1;
}

static void progress_is_told_and_may_cancel(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        heard h = {0};
        invit_control control = {.cancel = &h.cancel, .progress = hear, .user = &h};
        scene s = set_up((invit_problem)problem, 100, INVIT_CONSTRUCT_SPACE_FILLING);
        inv_improve_options o = options(-1, 1);
        o.control = &control;
        reconstruct(&s, &o);
        assert_int_equal(h.rebuilt, 3);
        tear_down(&s);
    }
}

static void weights_that_are_too_large_are_an_error(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        scene s = set_up((invit_problem)problem, 40, INVIT_CONSTRUCT_SPACE_FILLING);
        inv_improve_options o = options(5, 2);
        inv_improve_stats stats = {0};
        invit_error err = {0};
        for (size_t j = 0; j < s.model->params; j++) s.model->param[j] *= 1e30f;
        inv_prepared_refresh(s.weights, s.model);
        assert_int_equal(inv_reconstruct(s.p, &s.model->config, s.weights, &s.solution, &o, &stats, &err),
                         INVIT_ERR_INPUT);
        assert_non_null(strstr(err.message, "not numbers"));
        tear_down(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_merged_path_is_at_most_as_long_as_both),
        cmocka_unit_test(each_half_comes_from_the_better_path),
        cmocka_unit_test(segments_cover_the_tour_and_share_only_their_ends),
        cmocka_unit_test(windows_go_round_the_tour),
        cmocka_unit_test(only_shorter_segments_are_kept),
        cmocka_unit_test(groups_are_whole_routes_and_disjoint),
        cmocka_unit_test(a_shorter_route_is_kept_beside_a_longer_one),
        cmocka_unit_test(jobs_are_the_same_for_any_threads_and_keep_their_ends),
        cmocka_unit_test(iterations_give_the_same_for_any_threads),
        cmocka_unit_test(the_smallest_instances_are_left_alone_or_rebuilt),
        cmocka_unit_test(long_and_short_routes_are_rebuilt),
        cmocka_unit_test(deadline_and_cancel_are_kept),
        cmocka_unit_test(progress_is_told_and_may_cancel),
        cmocka_unit_test(weights_that_are_too_large_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
