/* The pipeline: every way to construct and improve gives a checked solution, limits are kept, wishes are
 * reproducible. */
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
#include "policy/model.h"
#include "problem/problem.h"
#include "solve/options.h"

#include <math.h>
#include <string.h>

static invit_model *tiny_model(invit_problem problem)
{
    inv_config c = tiny_config(problem);
    invit_model *m;
    assert_int_equal(inv_model_create(&c, &m, NULL), INVIT_OK);
    inv_model_randomise(m, 3);
    return m;
}

static invit_instance *instance(invit_problem problem, int64_t size)
{
    invit_instance *p;
    assert_int_equal(invit_generate(problem, INVIT_UNIFORM, size, 9, 0, &p, NULL), INVIT_OK);
    return p;
}

/* Solves, checks again from outside, and returns the solution. */
static invit_solution *solve(const invit_instance *p, const invit_model *m, const inv_solve_options *o,
                             inv_solved *r)
{
    invit_error err = {0};
    invit_solution *s = NULL;
    invit_check_result found;
    if (inv_solve(p, m, o, &s, r, &err) != INVIT_OK) fail_msg("%s", err.message);
    assert_int_equal(invit_check(p, s, &found, NULL), INVIT_OK);
    if (!found.feasible) fail_msg("%s", found.message);
    assert_true(found.length == r->length);
    assert_true(r->length <= r->constructed * (1 + 1e-9));
    return s;
}

static void every_way_works_at_every_size(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 9, FEWER(40, 15)};
    for (int problem = 0; problem < 2; problem++) {
        invit_model *m = tiny_model((invit_problem)problem);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            invit_instance *p = instance((invit_problem)problem, sizes[i]);
            for (int construct = 0; construct < INVIT_CONSTRUCT_START; construct++) {
                if (construct == (problem == INVIT_TSP ? INVIT_CONSTRUCT_SAVINGS : INVIT_CONSTRUCT_GREEDY))
                    continue;
                for (int improve = 0; improve < 3; improve++) {
                    inv_solve_options o = inv_solve_defaults();
                    inv_solved r;
                    o.construct = (invit_construct)construct;
                    o.improve = improve;
                    o.iterations = 18;
                    o.rollouts = 3;
                    o.threads = 2;
                    invit_solution_destroy(solve(p, m, &o, &r));
                    assert_int_equal(r.construct, construct);
                    assert_int_equal(r.rollouts, construct == INVIT_CONSTRUCT_INVIT ? 3 : 0);
                }
            }
            invit_instance_destroy(p);
        }
        invit_model_destroy(m);
    }
}

static void iterations_make_a_run_reproducible(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++)
        for (int improve = 0; improve < 3; improve++) {
            invit_model *m = tiny_model((invit_problem)problem);
            invit_instance *p = instance((invit_problem)problem, FEWER(60, 25));
            inv_solve_options o = inv_solve_defaults();
            inv_solved a, b;
            o.improve = improve;
            o.iterations = 36;
            o.rollouts = 4;
            o.threads = 2;
            invit_solution *first = solve(p, m, &o, &a), *second = solve(p, m, &o, &b);
            same_solution(first, second);
            assert_int_equal(a.decisions, b.decisions);
            invit_solution_destroy(first);
            invit_solution_destroy(second);
            invit_instance_destroy(p);
            invit_model_destroy(m);
        }
}

/* Reconstruction makes more of the time than further rollouts do: few come first, unless their number is given. */
static void reconstruction_begins_with_few_rollouts(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        invit_model *m = tiny_model((invit_problem)problem);
        invit_instance *p = instance((invit_problem)problem, 30);
        inv_solve_options o = inv_solve_defaults();
        inv_solved r;
        o.improve = INV_IMPROVE_NEURAL;
        o.iterations = 5;
        invit_solution_destroy(solve(p, m, &o, &r));
        assert_int_equal(r.rollouts, problem == INVIT_TSP ? 8 : 4);
        assert_int_equal(r.iterations, 5);
        o.rollouts = 11;
        invit_solution_destroy(solve(p, m, &o, &r));
        assert_int_equal(r.rollouts, 11);
        o.rollouts = 0;
        o.iterations = 0; /* nothing is rebuilt */
        invit_solution_destroy(solve(p, m, &o, &r));
        assert_int_equal(r.rollouts, 64);
        invit_instance_destroy(p);
        invit_model_destroy(m);
    }
}

/* The same routes are rebuilt again and again, and at some time nothing is gained. */
static void reconstruction_stops_when_nothing_is_gained(void **state)
{
    (void)state;
    invit_model *m = tiny_model(INVIT_TSP);
    invit_instance *p = instance(INVIT_TSP, 12);
    inv_solve_options o = inv_solve_defaults();
    inv_solved r;
    o.improve = INV_IMPROVE_NEURAL;
    o.seconds = 60;
    o.stop_after = 0.2;
    double began = inv_now();
    invit_solution_destroy(solve(p, m, &o, &r));
    assert_true(inv_now() - began < 30);
    assert_true(r.iterations > 0);
    invit_instance_destroy(p);
    invit_model_destroy(m);
}

static void construction_is_the_same_for_any_threads(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        invit_model *m = tiny_model((invit_problem)problem);
        invit_instance *p = instance((invit_problem)problem, 100);
        inv_solve_options o = inv_solve_defaults();
        inv_solved r;
        o.seconds = 0;
        o.threads = 1;
        invit_solution *one = solve(p, m, &o, &r);
        assert_int_equal(r.rollouts, 64);
        assert_int_equal(r.iterations, 0);
        o.threads = 3;
        invit_solution *three = solve(p, m, &o, &r);
        same_solution(one, three);
        invit_solution_destroy(one);
        invit_solution_destroy(three);
        invit_instance_destroy(p);
        invit_model_destroy(m);
    }
}

/* A tour begins with the instance's first node, wherever the solver began. */
static void tours_begin_at_the_first_node(void **state)
{
    (void)state;
    for (int32_t n = 1; n < 40; n += 5) {
        invit_instance *p = instance(INVIT_TSP, n);
        inv_solve_options o = inv_solve_defaults();
        o.construct = INVIT_CONSTRUCT_NEAREST;
        o.iterations = n % 2 ? 0 : 50;
        for (o.seed = 1; o.seed < 4; o.seed++) {
            inv_solved result;
            invit_solution *s = solve(p, NULL, &o, &result);
            assert_int_equal(s->nodes[0], 0);
            invit_solution_destroy(s);
        }
        invit_instance_destroy(p);
    }
}

/* Routes without customers are allowed, and there may be more of them than nodes. */
static void a_start_may_have_empty_routes(void **state)
{
    (void)state;
    enum { EMPTY = 500 };
    invit_instance *p = instance(INVIT_CVRP, 5);
    invit_model *m = tiny_model(INVIT_CVRP);
    int32_t customers[5] = {1, 2, 3, 4, 5}, start[EMPTY + 6] = {0};
    for (int i = 1; i < EMPTY + 6; i++) start[i] = i <= 5 ? i : 5;
    invit_solution *given;
    inv_solve_options o = inv_solve_defaults();
    assert_int_equal(invit_solution_create(customers, start, EMPTY + 5, &given, NULL), INVIT_OK);
    o.start = given;
    o.iterations = 3;
    for (int improve = 0; improve < 3; improve++) {
        o.improve = improve;
        inv_solved result;
        invit_solution *s = solve(p, m, &o, &result);
        assert_true(s->routes <= 5 && result.length <= result.constructed);
        invit_solution_destroy(s);
    }
    invit_solution_destroy(given);
    invit_model_destroy(m);
    invit_instance_destroy(p);
}

static void a_given_solution_is_where_it_starts(void **state)
{
    (void)state;
    invit_instance *p = instance(INVIT_TSP, 50);
    inv_solve_options o = inv_solve_defaults();
    inv_solved first, second;
    invit_error err = {0};
    o.construct = INVIT_CONSTRUCT_GREEDY;
    o.iterations = 200;
    invit_solution *s = solve(p, NULL, &o, &first), *again = NULL;
    o.start = s;
    o.iterations = 0;
    again = solve(p, NULL, &o, &second);
    assert_int_equal(second.construct, INVIT_CONSTRUCT_START);
    assert_true(second.constructed <= first.length * (1 + 1e-12));
    invit_solution_destroy(again);
    s->nodes[0] = s->nodes[1]; /* one node twice, one not at all */
    assert_int_equal(inv_solve(p, NULL, &o, &again, NULL, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "does not fit the instance"));
    assert_null(again);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

/* The policy cannot do it in time; the answer comes anyway, and in time. Generous bounds: the machine may be
 * busy. */
static void a_time_limit_holds_on_a_large_instance(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        invit_model *m = tiny_model((invit_problem)problem);
        invit_instance *p = instance((invit_problem)problem, 100000);
        inv_solve_options o = inv_solve_defaults();
        inv_solved r;
        o.seconds = 0.3;
        double began = inv_now();
        invit_solution_destroy(solve(p, m, &o, &r));
        assert_true(inv_now() - began < 10);
        assert_int_not_equal(r.construct, INVIT_CONSTRUCT_INVIT);
        invit_instance_destroy(p);
        invit_model_destroy(m);
    }
}

/* A beam that would take seconds is narrowed to what its share of the time allows, and its solution is kept. */
static void a_wide_beam_is_narrowed(void **state)
{
    (void)state;
    invit_model *m = tiny_model(INVIT_TSP);
    invit_instance *p = instance(INVIT_TSP, 100);
    inv_solve_options o = inv_solve_defaults();
    inv_solved r;
    o.decode = INV_DECODE_BEAM;
    o.beam = 4096;
    o.seconds = 4;
    double began = inv_now();
    invit_solution_destroy(solve(p, m, &o, &r));
    assert_int_equal(r.construct, INVIT_CONSTRUCT_INVIT);
    assert_true(inv_now() - began < 30);
    invit_instance_destroy(p);
    invit_model_destroy(m);
}

/* A construction asked for by name keeps the limits too: the curve takes its place. */
static void a_construction_that_would_not_end_is_replaced(void **state)
{
    (void)state;
    static const struct {
        invit_problem problem;
        invit_construct construct;
    } ways[] = {{INVIT_TSP, INVIT_CONSTRUCT_GREEDY},
                {INVIT_TSP, INVIT_CONSTRUCT_NEAREST},
                {INVIT_CVRP, INVIT_CONSTRUCT_SAVINGS},
                {INVIT_CVRP, INVIT_CONSTRUCT_NEAREST}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int cancelled = 0; cancelled < 2; cancelled++) {
            invit_instance *p = instance(ways[i].problem, 200000);
            inv_solve_options o = inv_solve_defaults();
            inv_solved r;
            volatile int cancel = 1;
            invit_control control = {.cancel = &cancel};
            o.construct = ways[i].construct;
            o.seconds = cancelled ? 1000 : 0.02;
            if (cancelled) o.control = &control;
            invit_solution_destroy(solve(p, NULL, &o, &r));
            assert_int_equal(r.construct, INVIT_CONSTRUCT_SPACE_FILLING);
            invit_instance_destroy(p);
        }
}

typedef struct curve {
    int points;
    double seconds, length;
} curve;

static void add_point(void *user, double seconds, double length, const invit_solution *solution)
{
    (void)solution;
    curve *c = user;
    assert_true(seconds >= c->seconds);
    if (c->points > 0) assert_true(length <= c->length * (1 + 1e-9));
    *c = (curve){c->points + 1, seconds, length};
}

static void the_trace_goes_down(void **state)
{
    (void)state;
    for (int problem = 0; problem < 2; problem++) {
        invit_instance *p = instance((invit_problem)problem, 200);
        inv_solve_options o = inv_solve_defaults();
        inv_solved r;
        curve c = {0};
        o.construct = INVIT_CONSTRUCT_NEAREST;
        o.seconds = 0.4;
        o.better = add_point;
        o.better_user = &c;
        invit_solution_destroy(solve(p, NULL, &o, &r));
        assert_true(c.points >= 1);
        assert_true(c.length >= r.length * (1 - 1e-9));
        invit_instance_destroy(p);
    }
}

typedef struct gallery {
    const invit_instance *p;
    int shown;
    double length;
} gallery;

static void look_at(void *user, double seconds, double length, const invit_solution *s)
{
    gallery *g = user;
    invit_check_result found;
    assert_true(seconds >= 0);
    assert_int_equal(invit_check(g->p, s, &found, NULL), INVIT_OK);
    assert_true(found.feasible);
    assert_true(fabs(found.length - length) <= 1e-6 * length);
    if (g->shown > 0) assert_true(length < g->length);
    *g = (gallery){g->p, g->shown + 1, length};
}

/* Small and large instances, searched in different ways. */
static void what_is_shown_is_feasible_and_gets_shorter(void **state)
{
    (void)state;
    static const int64_t sizes[] = {200, 5000};
    for (int i = 0; i < 4; i++) {
        invit_instance *p = instance((invit_problem)(i % 2), sizes[i / 2]);
        inv_solve_options o = inv_solve_defaults();
        inv_solved r;
        gallery g = {.p = p};
        o.construct = INVIT_CONSTRUCT_NEAREST;
        o.seconds = 0.7;
        o.better = look_at;
        o.better_user = &g;
        o.with_solution = true;
        invit_solution_destroy(solve(p, NULL, &o, &r));
        assert_true(g.shown >= 1);
        assert_true(g.length >= r.length * (1 - 1e-9));
        invit_instance_destroy(p);
    }
}

static void cancelling_before_the_first_solution_gives_a_quick_one(void **state)
{
    (void)state;
    invit_model *m = tiny_model(INVIT_TSP);
    invit_instance *p = instance(INVIT_TSP, 50);
    inv_solve_options o = inv_solve_defaults();
    invit_solution *s = NULL;
    invit_error err = {0};
    int cancel = 1;
    invit_control control = {.cancel = &cancel};
    o.control = &control;
    inv_solved result;
    assert_int_equal(inv_solve(p, m, &o, &s, &result, &err), INVIT_OK);
    assert_int_equal(result.construct, INVIT_CONSTRUCT_GREEDY);
    assert_int_equal(result.rollouts, 0);
    assert_non_null(s);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
    invit_model_destroy(m);
}

static double constructed(const invit_instance *p, const invit_model *m, inv_decode decode, int32_t rollouts)
{
    inv_solve_options o = inv_solve_defaults();
    inv_solved r;
    o.seconds = 0;
    o.decode = decode;
    o.rollouts = rollouts;
    invit_solution_destroy(solve(p, m, &o, &r));
    return r.length_exact;
}

static void only_small_cvrps_are_sampled_by_default(void **state)
{
    (void)state;
    assert_int_equal(inv_solve_defaults().decode, INV_DECODE_AUTO);
    for (int problem = 0; problem < 2; problem++) {
        invit_model *m = tiny_model((invit_problem)problem);
        invit_instance *small = instance((invit_problem)problem, 50),
                       *large = instance((invit_problem)problem, 300);
        double greedy = constructed(small, m, INV_DECODE_GREEDY, 8);
        double automatic = constructed(small, m, INV_DECODE_AUTO, 8);
        assert_true(problem == INVIT_CVRP ? automatic != greedy : automatic == greedy);
        /* the first rollout is greedy everywhere, so what is sampled can only add to it */
        greedy = constructed(small, m, INV_DECODE_GREEDY, 1);
        assert_true(constructed(small, m, INV_DECODE_AUTO, 1) == greedy && automatic <= greedy);
        assert_true(constructed(large, m, INV_DECODE_AUTO, 4) == constructed(large, m, INV_DECODE_GREEDY, 4));
        invit_instance_destroy(small);
        invit_instance_destroy(large);
        invit_model_destroy(m);
    }
}

static void refuse(const invit_instance *p, const invit_model *m, const inv_solve_options *o,
                   const char *words)
{
    invit_solution *s = NULL;
    invit_error err = {0};
    assert_int_equal(inv_solve(p, m, o, &s, NULL, &err), INVIT_ERR_ARGUMENT);
    if (!strstr(err.message, words)) fail_msg("'%s' does not say '%s'", err.message, words);
    assert_null(s);
}

static void impossible_wishes_are_refused(void **state)
{
    (void)state;
    invit_model *m = tiny_model(INVIT_CVRP);
    invit_instance *p = instance(INVIT_TSP, 10), *q = instance(INVIT_CVRP, 10);
    inv_solve_options o = inv_solve_defaults();
    refuse(p, NULL, &o, "needs a model");
    refuse(p, m, &o, "the model is for CVRP");
    o.rollouts = -1;
    refuse(q, m, &o, "rollouts");
    o = inv_solve_defaults();
    o.decode = INV_DECODE_SAMPLE;
    o.temperature = 0;
    refuse(q, m, &o, "temperature");
    o.decode = INV_DECODE_BEAM;
    o.beam = 0;
    refuse(q, m, &o, "beam");
    o = inv_solve_defaults();
    o.construct = INVIT_CONSTRUCT_SAVINGS;
    refuse(p, NULL, &o, "savings");
    o.construct = INVIT_CONSTRUCT_GREEDY;
    refuse(q, NULL, &o, "greedy");
    o.seconds = NAN;
    refuse(q, NULL, &o, "time");
    invit_instance_destroy(p);
    invit_instance_destroy(q);
    invit_model_destroy(m);
}

static void defaults_follow_the_size(void **state)
{
    (void)state;
    assert_int_equal(inv_default_rollouts(200), 64);
    assert_int_equal(inv_default_rollouts(201), 32);
    assert_int_equal(inv_default_rollouts(1000), 32);
    assert_int_equal(inv_default_rollouts(5000), 16);
    assert_int_equal(inv_default_rollouts(10000), 8);
    assert_int_equal(inv_default_rollouts(100000), 4);
    assert_int_equal(inv_default_rollouts(10000000), 1);
    for (int cvrp = FEWER(0, 1); cvrp < 2; cvrp++) { /* customers count, the depot does not */
        invit_problem problem = cvrp ? INVIT_CVRP : INVIT_TSP;
        invit_instance *p = instance(problem, 200);
        invit_model *m = tiny_model(problem);
        inv_solve_options o = inv_solve_defaults();
        inv_solved r;
        o.seconds = 0;
        invit_solution_destroy(solve(p, m, &o, &r));
        assert_int_equal(r.rollouts, 64);
        invit_model_destroy(m);
        invit_instance_destroy(p);
    }
    assert_true(fabs(inv_default_seconds(100) - 2) < 1e-9);
    assert_true(fabs(inv_default_seconds(1000) - 7) < 1e-9);
    assert_true(fabs(inv_default_seconds(20000) - 60) < 1e-9);
    assert_true(fabs(inv_default_seconds(1000000) - 300) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_works_at_every_size),
        cmocka_unit_test(iterations_make_a_run_reproducible),
        cmocka_unit_test(reconstruction_begins_with_few_rollouts),
        cmocka_unit_test(reconstruction_stops_when_nothing_is_gained),
        cmocka_unit_test(construction_is_the_same_for_any_threads),
        cmocka_unit_test(tours_begin_at_the_first_node),
        cmocka_unit_test(a_start_may_have_empty_routes),
        cmocka_unit_test(a_given_solution_is_where_it_starts),
        cmocka_unit_test(a_time_limit_holds_on_a_large_instance),
        cmocka_unit_test(a_wide_beam_is_narrowed),
        cmocka_unit_test(a_construction_that_would_not_end_is_replaced),
        cmocka_unit_test(the_trace_goes_down),
        cmocka_unit_test(what_is_shown_is_feasible_and_gets_shorter),
        cmocka_unit_test(cancelling_before_the_first_solution_gives_a_quick_one),
        cmocka_unit_test(only_small_cvrps_are_sampled_by_default),
        cmocka_unit_test(impossible_wishes_are_refused),
        cmocka_unit_test(defaults_follow_the_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
