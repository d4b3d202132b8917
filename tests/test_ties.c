/* Points that share their places, lines and lattices: every construction and every improvement keeps its time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "invit.h"
#include "problem/problem.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

enum { N = 40000, PATTERNS = 5 };
/* Quadratic work takes minutes at this size; what is asked for here is a second. Far above what a busy machine or a
 * sanitizer makes of it. */
#define MOST_SECONDS 30.0

static void place(int pattern, int i, double *at)
{
    static const double side = 200; /* sqrt(N) */
    switch (pattern) {
    case 0:
        at[0] = at[1] = 1;
        break; /* all equal       */
    case 1:
        at[0] = i % 2, at[1] = i / 2 % 2;
        break; /* four places     */
    case 2:
        at[0] = i % 3000, at[1] = 0;
        break; /* a line, 20 each */
    case 3:
        at[0] = i % (int)side, at[1] = (int)(i / side);
        break; /* a lattice       */
    default:
        at[0] = i % 2 ? 0 : i * 0.37, at[1] = i % 2 ? 0 : i % 977;
        break; /* half at one place */
    }
}

static volatile int cancel;

static void set_cancel(int number)
{
    (void)number;
    cancel = 1;
}

/* An hour is allowed, and after a tenth of a second the caller changes its mind. */
static void cancel_soon(invit_options *o)
{
    invit_control control = {.cancel = &cancel};
    invit_error err;
    cancel = 0;
    invit_options_set_control(o, &control);
    assert_int_equal(invit_options_set(o, "time", "3600", &err), INVIT_OK);
    signal(SIGALRM, set_cancel);
    assert_int_equal(setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 100000}, NULL), 0);
}

/* time_limit NULL: until it is cancelled. */
static void solve_in_time(invit_problem problem, const char *construct, const char *improve,
                          const char *time_limit, const invit_model *model)
{
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        invit_error err = {0};
        invit_instance *p = NULL;
        invit_solution *s = NULL;
        double *xy = malloc(2 * N * sizeof *xy);
        int64_t *demand = malloc(N * sizeof *demand);
        assert_true(xy && demand);
        for (int i = 0; i < N; i++) {
            place(pattern, i, xy + 2 * (size_t)i);
            demand[i] = i > 0;
        }
        invit_status status = problem == INVIT_TSP
                                  ? invit_instance_create_tsp(xy, N, INVIT_EXACT, &p, &err)
                                  : invit_instance_create_cvrp(xy, demand, N, 200, INVIT_EXACT, &p, &err);
        assert_int_equal(status, INVIT_OK);
        invit_options *o = invit_options_create();
        assert_non_null(o);
        assert_int_equal(invit_options_set(o, "construct", construct, &err), INVIT_OK);
        assert_int_equal(invit_options_set(o, "improve", improve, &err), INVIT_OK);
        if (time_limit)
            assert_int_equal(invit_options_set(o, "time", time_limit, &err), INVIT_OK);
        else
            cancel_soon(o);
        double begun = inv_now();
        status = invit_solve(p, model, o, &s, &err);
        double seconds = inv_now() - begun;
        if (status != INVIT_OK) fail_msg("%s, %s, pattern %d: %s", construct, improve, pattern, err.message);
        if (seconds > MOST_SECONDS)
            fail_msg("%s, %s, pattern %d: %.1f s", construct, improve, pattern, seconds);
        invit_solution_destroy(s);
        invit_options_destroy(o);
        invit_instance_destroy(p);
        free(xy);
        free(demand);
    }
}

static void every_way(invit_problem problem, const char *const construct[4], const char *weights)
{
    static const char *const improve[] = {"search", "neural", "both"};
    invit_error err;
    invit_model *model = NULL;
    assert_int_equal(invit_model_load(weights, &model, &err), INVIT_OK);
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < 3; i++) solve_in_time(problem, construct[c], improve[i], "0.05", model);
    invit_model_destroy(model);
}

static void tours_of_ties(void **state)
{
    (void)state;
    every_way(INVIT_TSP, (const char *const[]){"invit", "greedy", "nearest", "space-filling"},
              TEST_DATA "/golden/tsp-tiny.weights.safetensors");
}

static void routes_of_ties(void **state)
{
    (void)state;
    every_way(INVIT_CVRP, (const char *const[]){"invit", "savings", "nearest", "space-filling"},
              TEST_DATA "/golden/cvrp-tiny.weights.safetensors");
}

/* Without a limit it is the number of steps that keeps it short. */
static void constructions_end_without_a_limit(void **state)
{
    (void)state;
    for (int c = 0; c < 3; c++) {
        solve_in_time(INVIT_TSP, (const char *const[]){"greedy", "nearest", "space-filling"}[c], "search",
                      "0", NULL);
        solve_in_time(INVIT_CVRP, (const char *const[]){"savings", "nearest", "space-filling"}[c], "search",
                      "0", NULL);
    }
}

static void cancelling_is_heeded(void **state)
{
    (void)state;
    for (int c = 0; c < 3; c++) {
        solve_in_time(INVIT_TSP, (const char *const[]){"greedy", "nearest", "space-filling"}[c], "search",
                      NULL, NULL);
        solve_in_time(INVIT_CVRP, (const char *const[]){"savings", "nearest", "space-filling"}[c], "search",
                      NULL, NULL);
    }
}

/* Places so near each other that all distances between them are 0: nothing tells where not to look for the nearest. In
 * processor time, of which other programs take nothing. */
static void nearest_keeps_time_where_distances_underflow(void **state)
{
    enum { CLUMP = 200000, SECONDS = 5 };
    (void)state;
    invit_error err = {0};
    invit_instance *p = NULL;
    invit_solution *s = NULL;
    invit_options *o = invit_options_create();
    double *xy = malloc(2 * CLUMP * sizeof *xy);
    assert_true(o && xy);
    for (int i = 0; i < CLUMP; i++) {
        xy[2 * i] = i * 1e-200;
        xy[2 * i + 1] = (int)(i * 7919L % 100003) * 1e-200;
    }
    xy[0] = xy[1] = 1;
    assert_int_equal(invit_instance_create_tsp(xy, CLUMP, INVIT_EXACT, &p, &err), INVIT_OK);
    assert_int_equal(invit_options_set(o, "construct", "nearest", &err), INVIT_OK);
    assert_int_equal(invit_options_set(o, "time", "1", &err), INVIT_OK);
    assert_int_equal(invit_options_set(o, "threads", "1", &err), INVIT_OK);
    clock_t begun = clock();
    assert_int_equal(invit_solve(p, NULL, o, &s, &err), INVIT_OK);
    double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    if (seconds > SECONDS) fail_msg("%.1f s of processor time", seconds);
    invit_solution_destroy(s);
    invit_options_destroy(o);
    invit_instance_destroy(p);
    free(xy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tours_of_ties), cmocka_unit_test(routes_of_ties),
                                       cmocka_unit_test(constructions_end_without_a_limit),
                                       cmocka_unit_test(cancelling_is_heeded),
                                       cmocka_unit_test(nearest_keeps_time_where_distances_underflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
