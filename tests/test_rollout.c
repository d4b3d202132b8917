/* Rollouts: always complete and feasible, the same for any threads and batch, and stopped when asked. */
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
#include "solve/rollout.h"

#include <math.h>
#include <string.h>

typedef struct scene {
    invit_instance *p;
    inv_index *x;
    invit_model *model;
    inv_prepared *weights;
} scene;

static scene set_up_model(const inv_config *c, int64_t size)
{
    scene s = {0};
    assert_int_equal(invit_generate(c->problem, INVIT_UNIFORM, size, 5, 0, &s.p, NULL), INVIT_OK);
    assert_int_equal(inv_index_create(s.p, &s.x, NULL), INVIT_OK);
    assert_int_equal(inv_model_create(c, &s.model, NULL), INVIT_OK);
    inv_model_randomise(s.model, 3);
    assert_int_equal(inv_prepared_create(s.model, INV_EXACT, &s.weights, NULL), INVIT_OK);
    return s;
}

static scene set_up(invit_problem problem, int64_t size)
{
    inv_config c = tiny_config(problem);
    return set_up_model(&c, size);
}

static void tear_down(scene *s)
{
    inv_prepared_destroy(s->weights);
    invit_model_destroy(s->model);
    inv_index_destroy(s->x);
    invit_instance_destroy(s->p);
}

static inv_rollout_options plain(int32_t rollouts)
{
    return (inv_rollout_options){.rollouts = rollouts,
                                 .decode = INV_DECODE_GREEDY,
                                 .temperature = 1,
                                 .beam = 4,
                                 .seed = 7,
                                 .threads = 1,
                                 .deadline = INFINITY};
}

static invit_solution *run(const scene *s, const inv_rollout_options *o, inv_rollout_stats *stats)
{
    invit_solution *solution = NULL;
    invit_error err = {0};
    if (inv_rollout(s->p, s->x, &s->model->config, s->weights, o, &solution, stats, &err) != INVIT_OK)
        fail_msg("%s", err.message);
    return solution;
}

static void every_size_and_decoding_gives_a_feasible_solution(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 4, 7, 60};
    for (int problem = 0; problem < 2; problem++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            scene s = set_up((invit_problem)problem, sizes[i]);
            for (int decode = 0; decode < 3; decode++) {
                inv_rollout_options o = plain(5);
                inv_rollout_stats stats;
                invit_check_result found;
                o.decode = (inv_decode)decode;
                invit_solution *solution = run(&s, &o, &stats);
                assert_non_null(solution);
                assert_int_equal(stats.rollouts, 5);
                assert_int_equal(invit_check(s.p, solution, &found, NULL), INVIT_OK);
                if (!found.feasible) fail_msg("%s", found.message);
                assert_true(fabs(found.length - stats.length) < 1e-9 * (1 + stats.length));
                assert_true(stats.mean_length >= stats.length - 1e-12);
                invit_solution_destroy(solution);
            }
            tear_down(&s);
        }
}

static void threads_and_batches_do_not_show(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++)
        for (int decode = 0; decode < 3; decode++) {
            scene s = set_up((invit_problem)problem, FEWER(80, 24));
            inv_rollout_options o = plain(9);
            inv_rollout_stats first, other;
            o.decode = (inv_decode)decode;
            o.temperature = 0.7;
            invit_solution *expected = run(&s, &o, &first);
            for (int threads = 1; threads <= 4; threads++)
                for (int32_t batch = 1; batch <= 9; batch += 4) {
                    o.threads = threads;
                    o.batch = batch;
                    invit_solution *got = run(&s, &o, &other);
                    same_solution(got, expected);
                    assert_true(other.length == first.length);
                    assert_true(other.mean_length == first.mean_length);
                    assert_int_equal(other.decisions, first.decisions);
                    invit_solution_destroy(got);
                }
            invit_solution_destroy(expected);
            tear_down(&s);
        }
}

static void more_rollouts_are_never_worse(void **state)
{
    (void)state;
    scene s = set_up(INVIT_TSP, 50);
    double before = INFINITY;
    for (int32_t rollouts = 1; rollouts <= 64; rollouts *= 2) { /* 64 rollouts, 50 nodes: starts repeat */
        inv_rollout_options o = plain(rollouts);
        inv_rollout_stats stats;
        invit_solution_destroy(run(&s, &o, &stats));
        assert_true(stats.length <= before);
        before = stats.length;
    }
    tear_down(&s);
}

static void a_beam_of_one_is_greedy(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        scene s = set_up((invit_problem)problem, 40);
        inv_rollout_options o = plain(3);
        inv_rollout_stats stats;
        invit_solution *greedy = run(&s, &o, &stats);
        o.decode = INV_DECODE_BEAM;
        o.beam = 1;
        invit_solution *beam = run(&s, &o, &stats);
        same_solution(greedy, beam);
        invit_solution_destroy(greedy);
        invit_solution_destroy(beam);
        tear_down(&s);
    }
}

/* A beam too wide for the time is narrowed, and ends with a solution. */
static void a_wide_beam_keeps_the_deadline(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        enum { NODES = FEWER(300, 100) };
        scene s = set_up((invit_problem)problem, NODES);
        inv_rollout_options o = plain(1);
        inv_rollout_stats stats;
        double began = inv_now();
        invit_solution_destroy(run(&s, &o, &stats));
        double budget = 30 * (inv_now() - began) + 0.1;
        o.rollouts = 64;
        o.decode = INV_DECODE_BEAM;
        o.beam = 4096;
        o.grace = 0.5;
        began = inv_now();
        o.deadline = began + budget;
        invit_solution *solution = run(&s, &o, &stats);
        assert_true(inv_now() - began < 4 * budget);
        assert_non_null(solution);
        assert_true(stats.decisions > 2 * NODES); /* more than one walk was followed */
        invit_solution_destroy(solution);
        tear_down(&s);
    }
}

/* How many rollouts are greedy unless the caller says how; the rest is sampled. */
static int32_t greedy_ones(invit_problem problem, int64_t size, bool canonical, int32_t rollouts)
{
    invit_instance *p = NULL;
    inv_config c = tiny_config(problem);
    inv_rollout_options o = plain(rollouts);
    c.canonical_frame = canonical;
    assert_int_equal(invit_generate(problem, INVIT_UNIFORM, size, 5, 0, &p, NULL), INVIT_OK);
    inv_choose_decoding(p, &c, &o);
    invit_instance_destroy(p);
    if (o.decode == INV_DECODE_GREEDY) return rollouts;
    assert_int_equal(o.decode, INV_DECODE_SAMPLE);
    return o.greedy;
}

static void rollouts_are_greedy_as_far_as_they_differ(void **state)
{
    (void)state;
    assert_int_equal(greedy_ones(INVIT_TSP, 20, false, 30), 30);
    assert_int_equal(greedy_ones(INVIT_TSP, 20, true, 30), 20); /* as many as start nodes */
    assert_int_equal(greedy_ones(INVIT_TSP, 300, true, 30), 30);
    assert_int_equal(greedy_ones(INVIT_CVRP, 50, false, 8), 1);
    assert_int_equal(greedy_ones(INVIT_CVRP, 300, false, 8), 8);
    assert_int_equal(greedy_ones(INVIT_CVRP, 300, true, 8), 1);
}

/* Another rotation is nothing new to a model that turns its views, so its rollouts from the depot agree. */
static void canonical_rollouts_from_the_depot_are_one(void **state)
{
    (void)state;
    for (int canonical = 0; canonical < 2; canonical++) {
        inv_config c = tiny_config(INVIT_CVRP);
        c.canonical_frame = canonical;
        scene s = set_up_model(&c, 60);
        inv_rollout_options o = plain(6);
        inv_rollout_stats stats;
        invit_solution_destroy(run(&s, &o, &stats));
        assert_int_equal(fabs(stats.mean_length - stats.length) < 1e-9, canonical);
        tear_down(&s);
    }
}

static void the_first_rollout_starts_at_the_loneliest_node(void **state)
{
    (void)state;
    scene s = set_up(INVIT_TSP, 30);
    for (int32_t lonely = 0; lonely < 30; lonely += 7) {
        double *xy = s.p->xy + 2 * (size_t)lonely, before[2] = {xy[0], xy[1]};
        xy[0] = xy[1] = 3;
        inv_index_destroy(s.x);
        assert_int_equal(inv_index_create(s.p, &s.x, NULL), INVIT_OK);
        inv_rollout_options o = plain(1);
        inv_rollout_stats stats;
        invit_solution *solution = run(&s, &o, &stats);
        assert_int_equal(solution->nodes[0], lonely);
        invit_solution_destroy(solution);
        xy[0] = before[0], xy[1] = before[1];
    }
    tear_down(&s);
}

static void cold_sampling_is_greedy(void **state)
{
    (void)state;
    scene s = set_up(INVIT_TSP, 40);
    inv_rollout_options o = plain(1);
    inv_rollout_stats stats;
    invit_solution *greedy = run(&s, &o, &stats);
    o.decode = INV_DECODE_SAMPLE;
    o.temperature = 1e-6;
    invit_solution *cold = run(&s, &o, &stats);
    same_solution(greedy, cold);
    invit_solution_destroy(greedy);
    invit_solution_destroy(cold);
    tear_down(&s);
}

typedef struct watcher {
    int64_t steps;
    int32_t order[4096], visited;
    bool open[2]; /* seen the depot open and closed */
} watcher;

static void watch(void *user, const invit_step *step)
{
    watcher *w = user;
    assert_int_equal(step->step, w->steps);
    w->steps++;
    float sum = w->open[1] ? step->probability[step->action] : 0; /* CVRP: the depot's */
    bool member = step->chosen == 0 && w->open[1];
    for (int32_t i = 0; i < step->action; i++) {
        sum += step->probability[i];
        member = member || step->neighbour[i] == step->chosen;
    }
    assert_true(member);
    assert_true(fabsf(sum - 1) < 1e-4f);
    memcpy(w->order, step->order, (size_t)step->visited * sizeof *w->order);
    w->visited = step->visited;
    w->order[w->visited++] = step->chosen;
}

static void a_watcher_sees_every_decision(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        scene s = set_up((invit_problem)problem, 30);
        static watcher w;
        w = (watcher){.open = {false, problem == INVIT_CVRP}};
        inv_rollout_options o = plain(1);
        inv_rollout_stats stats;
        o.step = watch;
        o.step_user = &w;
        invit_solution *solution = run(&s, &o, &stats);
        int32_t at = 0;
        for (int32_t i = 0; i < w.visited; i++)
            if (problem == INVIT_TSP || w.order[i] != 0) assert_int_equal(w.order[i], solution->nodes[at++]);
        assert_int_equal(at, solution->start[solution->routes]);
        invit_solution_destroy(solution);
        tear_down(&s);
    }
}

/* Weights may be finite and yet too large to compute with. */
static void what_is_not_a_number_is_an_error(void **state)
{
    (void)state;
    static const inv_decode ways[] = {INV_DECODE_GREEDY, INV_DECODE_SAMPLE, INV_DECODE_BEAM};
    for (int problem = 0; problem < 2; problem++)
        for (int i = 0; i < 3; i++) {
            scene s = set_up(problem ? INVIT_CVRP : INVIT_TSP, 8);
            for (size_t j = 0; j < s.model->params; j++) s.model->param[j] *= 1e30f;
            inv_prepared_refresh(s.weights, s.model);
            inv_rollout_options o = plain(2);
            o.decode = ways[i];
            invit_solution *solution = NULL;
            inv_rollout_stats stats;
            invit_error err = {0};
            assert_int_equal(inv_rollout(s.p, s.x, &s.model->config, s.weights, &o, &solution, &stats, &err),
                             INVIT_ERR_INPUT);
            assert_non_null(strstr(err.message, "not numbers"));
            assert_null(solution);
            tear_down(&s);
        }
}

/* Nine nodes close together and one so far away that floats cannot say how many times as far. */
static void distances_may_differ_beyond_measure(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        inv_config c = tiny_config(problem ? INVIT_CVRP : INVIT_TSP);
        c.canonical_frame = true;
        double xy[20] = {[0] = 1, [1] = 1};
        int64_t demand[10];
        for (int i = 1; i < 10; i++) xy[2 * i] = i * 1e-21;
        for (int i = 0; i < 10; i++) demand[i] = i > 0;
        scene s = {0};
        assert_int_equal(problem ? invit_instance_create_cvrp(xy, demand, 10, 4, INVIT_EXACT, &s.p, NULL)
                                 : invit_instance_create_tsp(xy, 10, INVIT_EXACT, &s.p, NULL),
                         INVIT_OK);
        assert_int_equal(inv_index_create(s.p, &s.x, NULL), INVIT_OK);
        assert_int_equal(inv_model_create(&c, &s.model, NULL), INVIT_OK);
        inv_model_randomise(s.model, 3);
        assert_int_equal(inv_prepared_create(s.model, INV_EXACT, &s.weights, NULL), INVIT_OK);
        inv_rollout_options o = plain(30);
        o.decode = INV_DECODE_SAMPLE;
        invit_check_result check;
        inv_rollout_stats stats;
        invit_solution *solution = run(&s, &o, &stats);
        assert_int_equal(invit_check(s.p, solution, &check, NULL), INVIT_OK);
        assert_true(check.feasible);
        invit_solution_destroy(solution);
        tear_down(&s);
    }
}

static void a_deadline_is_kept(void **state)
{
    (void)state;
    scene s = set_up(INVIT_TSP, 200000);
    inv_rollout_options o = plain(8);
    inv_rollout_stats stats;
    double began = inv_now();
    o.threads = 2;
    o.deadline = began + 0.2;
    invit_solution *solution = run(&s, &o, &stats);
    assert_null(solution);
    assert_int_equal(stats.rollouts, 0);
    assert_true(inv_now() - began <
                3); /* it gives up long before; generous for sanitizers and busy machines */
    tear_down(&s);
}

static void cancelling_stops_between_steps(void **state)
{
    (void)state;
    scene s = set_up(INVIT_TSP, 200);
    inv_rollout_options o = plain(4);
    inv_rollout_stats stats;
    int cancel = 1;
    invit_control control = {.cancel = &cancel};
    o.control = &control;
    assert_null(run(&s, &o, &stats));
    assert_int_equal(stats.decisions, 0);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_and_decoding_gives_a_feasible_solution),
        cmocka_unit_test(threads_and_batches_do_not_show),
        cmocka_unit_test(more_rollouts_are_never_worse),
        cmocka_unit_test(a_beam_of_one_is_greedy),
        cmocka_unit_test(a_wide_beam_keeps_the_deadline),
        cmocka_unit_test(rollouts_are_greedy_as_far_as_they_differ),
        cmocka_unit_test(canonical_rollouts_from_the_depot_are_one),
        cmocka_unit_test(the_first_rollout_starts_at_the_loneliest_node),
        cmocka_unit_test(cold_sampling_is_greedy),
        cmocka_unit_test(a_watcher_sees_every_decision),
        cmocka_unit_test(what_is_not_a_number_is_an_error),
        cmocka_unit_test(distances_may_differ_beyond_measure),
        cmocka_unit_test(a_deadline_is_kept),
        cmocka_unit_test(cancelling_stops_between_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
