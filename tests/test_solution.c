/* Solutions: read, written, checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"
#include "base/rng.h"
#include "problem/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static invit_instance *tsp(int n, invit_metric metric)
{
    double xy[200];
    invit_instance *p;
    for (int i = 0; i < 2 * n; i++) xy[i] = i * 37 % 101;
    assert_int_equal(invit_instance_create_tsp(xy, n, metric, &p, NULL), INVIT_OK);
    return p;
}

/* Customers 1..n-1 with demand i % 5, capacity 10. */
static invit_instance *cvrp(int n)
{
    double xy[200];
    int64_t demand[100];
    invit_instance *p;
    for (int i = 0; i < 2 * n; i++) xy[i] = i * 37 % 101;
    for (int i = 0; i < n; i++) demand[i] = i % 5;
    assert_int_equal(invit_instance_create_cvrp(xy, demand, n, 10, INVIT_EUC_2D, &p, NULL), INVIT_OK);
    return p;
}

static invit_status read_text(const invit_instance *p, const char *text, invit_solution **s,
                              invit_solution_info *info, invit_error *err)
{
    invit_solution_reader *r = NULL;
    *s = NULL;
    invit_status status = invit_solution_reader_open_memory(text, strlen(text), "f", &r, err);
    if (status == INVIT_OK) status = invit_solution_reader_next(r, p, s, info, err);
    invit_solution_reader_close(r);
    return status;
}

static void tours_read_in_all_their_variants(void **state)
{
    (void)state;
    static const char *const same[] = {
        "NAME : a.tour\nCOMMENT : Length 5\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n3\n1\n4\n2\n-1\nEOF\n",
        "type: tour\r\ntour_section\r\n3 1 4 2 -1\r\neof\r\n",
        "TOUR_SECTION\n3 1\n4 2",
        "TOUR_SECTION\n3\n1\n4\n2\nEOF\n",
        "2,0,3,1 12.5 0.25\n",
        "\357\273\2772,0,3,1\n",
        "\xef\xbb\xbfTOUR_SECTION\n3 1 4 2 -1\n-1\nEOF\nwhat follows does not count\n",
        "TYPE : TOUR\rTOUR_SECTION\r3\r1\r4\r2\r-1\rEOF\r",
        "TOUR_SECTION\r\n3 1 4 2\r\n-1\r\nEOF\r\n\x1a",
        "2,0,3,1",
        "2,0,3,1,2 12.5 0.25\n",
    };
    invit_instance *p = tsp(4, INVIT_EUC_2D);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        invit_solution *s;
        invit_solution_info info;
        invit_error err;
        if (read_text(p, same[i], &s, &info, &err) != INVIT_OK) fail_msg("%s: %s", same[i], err.message);
        int32_t count;
        const int32_t *node = invit_solution_route(s, 0, &count);
        assert_int_equal(invit_solution_routes(s), 1);
        assert_int_equal(count, 4);
        assert_memory_equal(node, ((int32_t[]){2, 0, 3, 1}), sizeof(int32_t[4]));
        if (i == 4) assert_true(info.length == 12.5 && info.seconds == 0.25);
        if (i == 0) assert_true(isnan(info.seconds));
        invit_solution_destroy(s);
    }
    p->first_id = 0; /* a file whose ids begin at 0 */
    invit_solution *s;
    assert_int_equal(read_text(p, "TOUR_SECTION\n2 0 3 1 -1", &s, NULL, NULL), INVIT_OK);
    assert_int_equal(s->nodes[0], 2);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

static void routes_read_in_all_their_variants(void **state)
{
    (void)state;
    static const char *const same[] = {
        "Route #1: 3 1\nRoute #2: 2\nCost 27591\n",
        "\xef\xbb\xbfRoute #1: 3 1\r\nRoute #2: 2\r\nCost 27591\r\n",
        "Cost : 27591.0\r\nroute 1 : 3 1 \r\nRoute #2: 2\r\nTime 5\r\n",
        "0,3,1,0,2,0 27591 0.5\n",
        "3,1,0,2 27591 0.5\n",
        "0,3,1,0,0,2,0,0 27591 0.5\n",
        "-1,2,0,-1,1,-1,-1 27591 0.5\n",
    };
    invit_instance *p = cvrp(4);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        invit_solution *s;
        invit_solution_info info;
        invit_error err;
        if (read_text(p, same[i], &s, &info, &err) != INVIT_OK) fail_msg("%s: %s", same[i], err.message);
        assert_int_equal(s->routes, 2);
        assert_memory_equal(s->start, ((int32_t[]){0, 2, 3}), sizeof(int32_t[3]));
        assert_memory_equal(s->nodes, ((int32_t[]){3, 1, 2}), sizeof(int32_t[3]));
        assert_true(info.length == 27591);
        invit_solution_destroy(s);
    }
    invit_instance_destroy(p);
}

static void bad_solutions_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        bool cvrp;
        const char *text, *message;
    } cases[] = {
        {false, "", "f:1: expected a solution, found an empty file"},
        {false, "TYPE : TSP\n", "f:1: TYPE TSP: expected a solution"},
        {false, "DIMENSION : 5\n", "f:1: DIMENSION 5: expected at most 4"},
        {false, "hello\n", "f:1: expected KEY : value or TOUR_SECTION"},
        {false, "NAME : x\nEOF\n", "expected a TOUR_SECTION"},
        {false, "TOUR_SECTION\n1 2 3 4 1 2 3 4\n1\n-1\n", "f:3: expected -1 after 4 nodes, found '1'"},
        {false, "TOUR_SECTION\n1\n2\n5\n4\n-1\n", "f:4: expected a node id from 1 to 4, found '5'"},
        {false, "TOUR_SECTION\n0\n2\n3\n4\n-1\n", "f:2: expected a node id from 1 to 4, found '0'"},
        {false, "TOUR_SECTION\n1.5\n", "f:2: expected a node id"},
        {false, "TOUR_SECTION\n1\n2\nthree\n4\n-1\n", "f:4: expected a node id from 1 to 4, found 'three'"},
        {false, "TOUR_SECTION\n1 2 3 4\n-1\n7 junk\n",
         "f:4: expected EOF or nothing after the tour, found '7'"},
        {false, "TOUR_SECTION\n1 2 3 4\n-1\njunk\n",
         "f:4: expected EOF or nothing after the tour, found 'junk'"},
        {false, "TOUR_SECTION\n1 2 3 4\n-1EOF\n", "f:3: expected a node id from 1 to 4, found '-1EOF'"},
        {false, "1\n2\n3\n4\n", "f:1: expected a comma and the next node"},
        {false, "1 2 3 4\n", "are read after a line TOUR_SECTION), found '2'"},
        {true, "1\n2\n3\n", "f:1: expected a comma and the next node"},
        {false, "\xff\xfeT", "f: text in UTF-16: save it as UTF-8"},
        {true, "\xfe\xffR", "f: text in UTF-16: save it as UTF-8"},
        {false, "0,1,2,4 5 6\n", "f:1: expected a node from 0 to 3, found '4'"},
        {false, "0,1,-1,2 5 6\n", "f:1: expected a node from 0 to 3"},
        {false, "0,1,2,3 x 6\n", "f:1: expected a length, found 'x'"},
        {false, "0,1,2,3 5 6 7\n", "f:1: expected the end of the line"},
        {false, "0,1,,3 5 6\n", "f:1: expected a node"},
        {false, "Route #1: 1 2\n", "f:1: routes solve a CVRP"},
        {true, "TOUR_SECTION\n1\n2\n3\n4\n-1\n", "f:1: a TSPLIB tour solves a TSP"},
        {true, "Route #1: 1 4\n", "f:1: expected a customer from 1 to 3, found '4'"},
        {true, "Route #1: 0 1 2 3 0\n", "f:1: expected a customer from 1 to 3, found '0'"},
        {true, "Route #1: 1 2 3 1 2 3\nRoute #2: 1 2 3\n", "f:2: expected 3 customers in all"},
        {true, "Route #1 1 2 3\n", "f:1: expected 'Route #number:'"},
        {true, "Route #1: 1 2 3\nCost x\n", "f:2: expected a number after Cost"},
        {true, "-1,0,1,3,-1 5 6\n", "f:1: customer 3: expected at most 2"},
    };
    invit_instance *p[2] = {tsp(4, INVIT_EUC_2D), cvrp(4)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        invit_solution *s;
        invit_error err;
        invit_status status = read_text(p[cases[i].cvrp], cases[i].text, &s, NULL, &err);
        if (status == INVIT_OK) fail_msg("%s was accepted", cases[i].text);
        if (!strstr(err.message, cases[i].message))
            fail_msg("%s: %s, expected %s", cases[i].text, err.message, cases[i].message);
        assert_null(s);
    }
    invit_instance_destroy(p[0]);
    invit_instance_destroy(p[1]);
}

/* They can be read: what is missing and what is twice there, the checker says. */
static void incomplete_solutions_are_infeasible(void **state)
{
    (void)state;
    static const struct {
        bool cvrp;
        const char *text, *message;
    } cases[] = {
        {false, "TOUR_SECTION\n1\n2\n3\n-1\n", "node 3, counted from 0, is not visited"},
        {false, "TOUR_SECTION\nEOF\n", "node 0, counted from 0, is not visited"},
        {false, "TOUR_SECTION\n1\n2\n3\n4\n1\n-1\n", "node 0, counted from 0, is visited a second time"},
        {true, "Route #1: 1\nRoute #2: 3\n", "customer 2 is not visited"},
        {true, "Route #1: 1 2 3\nRoute #2: 1\n", "customer 1 is visited a second time"},
    };
    invit_instance *p[2] = {tsp(4, INVIT_EUC_2D), cvrp(4)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        invit_solution *s;
        invit_error err;
        invit_check_result found;
        if (read_text(p[cases[i].cvrp], cases[i].text, &s, NULL, &err) != INVIT_OK)
            fail_msg("%s", err.message);
        assert_int_equal(invit_check(p[cases[i].cvrp], s, &found, &err), INVIT_OK);
        assert_false(found.feasible);
        if (!strstr(found.message, cases[i].message))
            fail_msg("%s: %s, expected %s", cases[i].text, found.message, cases[i].message);
        invit_solution_destroy(s);
    }
    invit_instance_destroy(p[0]);
    invit_instance_destroy(p[1]);
}

static void solutions_come_back_as_they_were(void **state)
{
    (void)state;
    char path[64] = "/tmp/invit-solution-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    inv_rng r;
    inv_rng_init(&r, 1, 0);
    for (int round = 0; round < 60; round++) {
        bool vehicles = round % 2;
        int32_t n = 2 + (int32_t)inv_rng_below(&r, 60), node[100], start[100] = {0}, routes = 1,
                count = n - vehicles;
        invit_instance *p = vehicles ? cvrp(n) : tsp(n, INVIT_EXACT);
        if (!vehicles) p->first_id = round % 3;
        for (int32_t i = 0; i < count; i++) node[i] = i + vehicles;
        for (int32_t i = count - 1; i > 0; i--) {
            int32_t k = (int32_t)inv_rng_below(&r, (uint32_t)i + 1), t = node[i];
            node[i] = node[k];
            node[k] = t;
        }
        for (int32_t i = 1; vehicles && i < count; i++)
            if (inv_rng_below(&r, 3) == 0) start[routes++] = i;
        start[routes] = count;
        invit_solution *s, *back;
        invit_writer *w;
        invit_error err;
        invit_solution_info info = {.length = 12.5 + round, .seconds = 0.125}, read;
        assert_int_equal(invit_solution_create(node, start, routes, &s, &err), INVIT_OK);
        invit_solution_format formats[] = {vehicles ? INVIT_SOLUTION_ROUTES : INVIT_SOLUTION_TOUR,
                                           INVIT_SOLUTION_MSVDRP};
        for (int f = 0; f < 2; f++) {
            assert_int_equal(invit_writer_open(path, &w, &err), INVIT_OK);
            assert_int_equal(invit_writer_solution(w, p, s, formats[f], &info, &err), INVIT_OK);
            if (f == 1) assert_int_equal(invit_writer_solution(w, p, s, formats[f], &info, &err), INVIT_OK);
            assert_int_equal(invit_writer_close(w, &err), INVIT_OK);
            assert_int_equal(invit_solution_read(path, p, f, &back, &read, &err), INVIT_OK);
            assert_int_equal(back->routes, routes);
            assert_memory_equal(back->start, start, sizeof *start * (size_t)(routes + 1));
            assert_memory_equal(back->nodes, node, sizeof *node * (size_t)count);
            if (f == 1 || vehicles) assert_true(read.length == info.length);
            invit_solution_destroy(back);
        }
        assert_int_equal(invit_writer_open(path, &w, &err), INVIT_OK);
        assert_int_equal(invit_writer_solution(
                             w, p, s, vehicles ? INVIT_SOLUTION_TOUR : INVIT_SOLUTION_ROUTES, NULL, &err),
                         INVIT_ERR_ARGUMENT);
        invit_writer_abandon(w);
        invit_solution_destroy(s);
        invit_instance_destroy(p);
    }
    unlink(path);
}

static void lines_may_be_followed_by_lines_only(void **state)
{
    (void)state;
    static const char text[] = "0,1,2,3\n\n3,2,1,0\nthe end\n";
    invit_instance *p = tsp(4, INVIT_EUC_2D);
    invit_solution_reader *r;
    invit_solution *s;
    invit_error err;
    assert_int_equal(invit_solution_reader_open_memory(text, strlen(text), "f", &r, &err), INVIT_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(invit_solution_reader_next(r, p, &s, NULL, &err), INVIT_OK);
        assert_non_null(s);
        invit_solution_destroy(s);
    }
    assert_int_equal(invit_solution_reader_next(r, p, &s, NULL, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "f:4: expected a node from 0 to 3, found 'the'"));
    invit_solution_reader_close(r);
    invit_instance_destroy(p);
}

/* Made by hand, a solution may name anything; writers look its nodes up. */
static void nodes_that_do_not_exist_are_not_written(void **state)
{
    (void)state;
    static const int32_t beyond[] = {4, -1, INT32_MAX, INT32_MIN};
    invit_instance *p[2] = {tsp(4, INVIT_EUC_2D), cvrp(4)};
    invit_writer *w;
    invit_error err;
    assert_int_equal(invit_writer_open("/dev/null", &w, &err), INVIT_OK);
    for (int vehicles = 0; vehicles < 2; vehicles++)
        for (int i = 0; i < 4; i++)
            for (int format = INVIT_SOLUTION_TOUR; format <= INVIT_SOLUTION_SHEETS; format++) {
                invit_solution *s;
                int32_t node[] = {1, 2, beyond[i]}, start[] = {0, 3};
                if (format == (vehicles ? INVIT_SOLUTION_TOUR : INVIT_SOLUTION_ROUTES)) continue;
                assert_int_equal(invit_solution_create(node, start, 1, &s, &err), INVIT_OK);
                assert_int_equal(
                    invit_writer_solution(w, p[vehicles], s, (invit_solution_format)format, NULL, &err),
                    INVIT_ERR_INPUT);
                assert_non_null(strstr(err.message, "the instance has nodes 0 to 3"));
                invit_solution_destroy(s);
            }
    invit_writer_abandon(w);
    invit_instance_destroy(p[0]);
    invit_instance_destroy(p[1]);
}

/* ---- the checker --------------------------------------------------------------------------------------- */

static invit_check_result check(const invit_instance *p, const int32_t *node, const int32_t *start,
                                int32_t routes)
{
    invit_solution *s;
    invit_check_result result;
    assert_int_equal(invit_solution_create(node, start, routes, &s, NULL), INVIT_OK);
    assert_int_equal(invit_check(p, s, &result, NULL), INVIT_OK);
    invit_solution_destroy(s);
    return result;
}

static void refuses(const invit_instance *p, const int32_t *node, const int32_t *start, int32_t routes,
                    const char *reason)
{
    invit_check_result r = check(p, node, start, routes);
    assert_false(r.feasible);
    assert_true(isnan(r.length));
    if (!strstr(r.message, reason)) fail_msg("'%s', expected '%s'", r.message, reason);
}

static void infeasible_solutions_are_told_why(void **state)
{
    (void)state;
    invit_instance *p = tsp(4, INVIT_EUC_2D), *v = cvrp(5);
    refuses(p, (int32_t[]){0, 1, 2}, (int32_t[]){0, 3}, 1, "node 3, counted from 0, is not visited");
    refuses(p, (int32_t[]){0, 1, 2, 2}, (int32_t[]){0, 4}, 1,
            "node 2, counted from 0, is visited a second time");
    refuses(p, (int32_t[]){0, 1, 2, 4}, (int32_t[]){0, 4}, 1, "node 4 does not exist");
    refuses(p, (int32_t[]){0, 1, 2, -1}, (int32_t[]){0, 4}, 1, "node -1 does not exist");
    refuses(p, (int32_t[]){0, 1, 2, 3}, (int32_t[]){0, 2, 4}, 2, "expected one tour, found 2 routes");
    refuses(p, (int32_t[]){0}, (int32_t[]){0}, 0, "expected one tour, found 0 routes");
    refuses(v, (int32_t[]){1, 2, 3}, (int32_t[]){0, 1, 3}, 2, "customer 4 is not visited");
    refuses(v, (int32_t[]){1, 2, 0, 3, 4}, (int32_t[]){0, 5}, 1, "the depot stands among the customers");
    refuses(v, (int32_t[]){1, 2, 3, 1, 4}, (int32_t[]){0, 3, 5}, 2,
            "route 2, position 1: customer 1 is visited a second time");
    /* 1 + 2 + 3 + 4 = 10 fits exactly; with capacity 9 it does not */
    assert_true(check(v, (int32_t[]){1, 2, 3, 4}, (int32_t[]){0, 4}, 1).feasible);
    v->capacity = 9;
    refuses(v, (int32_t[]){1, 2, 3, 4}, (int32_t[]){0, 4}, 1, "route 1: load 10 exceeds the capacity, 9");
    /* empty routes cost nothing and do not count */
    invit_check_result r = check(v, (int32_t[]){1, 2, 3, 4}, (int32_t[]){0, 0, 2, 2, 4}, 4);
    assert_true(r.feasible);
    assert_int_equal(r.routes, 2);
    invit_instance_destroy(p);
    invit_instance_destroy(v);
}

static double pair_length(invit_metric metric, double x1, double y1, double x2, double y2, bool exact)
{
    double xy[] = {x1, y1, x2, y2};
    invit_instance *p;
    assert_int_equal(invit_instance_create_tsp(xy, 2, metric, &p, NULL), INVIT_OK);
    invit_check_result r = check(p, (int32_t[]){0, 1}, (int32_t[]){0, 2}, 1);
    invit_instance_destroy(p);
    return (exact ? r.length_exact : r.length) / 2; /* there and back */
}

/* Worked out by hand from TSPLIB's definitions. */
static void distances_follow_their_rules(void **state)
{
    (void)state;
    assert_true(pair_length(INVIT_EUC_2D, 0, 0, 3, 4, false) == 5);
    assert_true(pair_length(INVIT_EUC_2D, 0, 0, 1, 1, false) == 1);
    assert_true(pair_length(INVIT_EUC_2D, 0, 0, 1.5, 0, false) == 2); /* halves go up */
    assert_true(fabs(pair_length(INVIT_EUC_2D, 0, 0, 1, 1, true) - sqrt(2)) < 1e-15);
    assert_true(pair_length(INVIT_CEIL_2D, 0, 0, 1, 1, false) == 2);
    assert_true(pair_length(INVIT_CEIL_2D, 0, 0, 3, 4, false) == 5); /* whole distances stay */
    assert_true(pair_length(INVIT_ATT, 0, 0, 10, 0, false) ==
                4); /* sqrt(10) = 3.16 rounds to 3, which is less */
    assert_true(pair_length(INVIT_ATT, 0, 0, 12, 0, false) == 4);   /* sqrt(14.4) = 3.79 */
    assert_true(pair_length(INVIT_ATT, 0, 0, 30, 10, false) == 10); /* sqrt(100) exactly */
    assert_true(pair_length(INVIT_EXACT, 0, 0, 1, 1, false) == sqrt(2));
    /* one degree of latitude on TSPLIB's sphere: 111.32 km, plus one, truncated; 30 minutes are half of it */
    assert_true(pair_length(INVIT_GEO, 10, 20, 11, 20, false) == 112);
    assert_true(pair_length(INVIT_GEO, 10, 20, 10.30, 20, false) == 56);
    assert_true(fabs(pair_length(INVIT_GEO, 10, 20, 11, 20, true) - 111.3238) < 1e-3);
    assert_true(fabs(pair_length(INVIT_HAVERSINE, 0, 0, 0, 90, false) - 10007557.2) < 0.1);
    assert_true(fabs(pair_length(INVIT_HAVERSINE, 179.5, 0, -179.5, 0, false) - 111195.08) <
                0.01); /* the date line */
}

/* The solver's distances and the checker's were written apart; they must agree. */
static void checker_and_solver_agree(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 7, 0);
    for (int round = 0; round < 600; round++) {
        invit_metric metric = (invit_metric)(round % 6);
        double xy[60];
        int64_t demand[30];
        int32_t node[30], start[31] = {0}, routes = 1;
        bool vehicles = round % 7 < 3;
        for (int i = 0; i < 60; i++) {
            xy[i] =
                (inv_rng_double(&r) - 0.5) * (metric == INVIT_GEO || metric == INVIT_HAVERSINE ? 160 : 2000);
            if (round % 2) xy[i] = floor(xy[i]);
        }
        for (int i = 0; i < 30; i++) demand[i] = 1;
        invit_instance *p;
        invit_status made = vehicles ? invit_instance_create_cvrp(xy, demand, 30, 30, metric, &p, NULL)
                                     : invit_instance_create_tsp(xy, 30, metric, &p, NULL);
        assert_int_equal(made, INVIT_OK);
        int32_t count = 30 - vehicles;
        for (int32_t i = 0; i < count; i++) node[i] = (i * 7) % count + vehicles;
        if (count % 7 == 0)
            for (int32_t i = 0; i < count; i++) node[i] = i + vehicles;
        for (int32_t i = 5; vehicles && i < count; i += 5) start[routes++] = i;
        start[routes] = count;
        invit_check_result result = check(p, node, start, routes);
        assert_true(result.feasible);
        invit_solution *s;
        assert_int_equal(invit_solution_create(node, start, routes, &s, NULL), INVIT_OK);
        double solver = inv_length(p, s);
        assert_true(fabs(result.length - solver) <= 1e-9 * solver);
        invit_solution_destroy(s);
        invit_instance_destroy(p);
    }
}

static void best_known_lengths_are_found_by_name(void **state)
{
    (void)state;
    double v;
    assert_true(invit_best_known("berlin52", &v) && v == 7542);
    assert_true(invit_best_known("X-n101-k25", &v) && v == 27591);
    assert_true(invit_best_known("pcb442.tsp", &v) && v == 50778);
    assert_false(invit_best_known("berlin5", &v));
    assert_true(isnan(v));
    assert_false(invit_best_known("", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tours_read_in_all_their_variants),
        cmocka_unit_test(routes_read_in_all_their_variants),
        cmocka_unit_test(bad_solutions_are_refused_with_a_reason),
        cmocka_unit_test(incomplete_solutions_are_infeasible),
        cmocka_unit_test(solutions_come_back_as_they_were),
        cmocka_unit_test(lines_may_be_followed_by_lines_only),
        cmocka_unit_test(nodes_that_do_not_exist_are_not_written),
        cmocka_unit_test(infeasible_solutions_are_told_why),
        cmocka_unit_test(distances_follow_their_rules),
        cmocka_unit_test(checker_and_solver_agree),
        cmocka_unit_test(best_known_lengths_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
