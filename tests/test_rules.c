/* Routes with rules: what the readers make of them, what the checker refuses, and the solver against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"
#include "base/rng.h"
#include "problem/metric.h"
#include "solve/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static invit_status read_text(const char *text, invit_instance **p, char note[1024], invit_error *err)
{
    invit_reader *r = NULL;
    *p = NULL;
    if (note) *note = 0;
    invit_status status = invit_reader_open_memory(text, strlen(text), "f", &r, err);
    if (status == INVIT_OK) status = invit_reader_next(r, p, err);
    if (status == INVIT_OK && note) snprintf(note, 1024, "%s", invit_reader_note(r));
    invit_reader_close(r);
    return status;
}

static invit_instance *good(const char *text)
{
    invit_error err = {0};
    invit_instance *p;
    if (read_text(text, &p, NULL, &err) != INVIT_OK) fail_msg("%s\nwas refused: %s", text, err.message);
    return p;
}

static void refused(const char *text, const char *message)
{
    invit_error err = {0};
    invit_instance *p;
    invit_status status = read_text(text, &p, NULL, &err);
    if (status == INVIT_OK) status = invit_instance_validate(p, &err);
    invit_instance_destroy(p);
    if (status == INVIT_OK) fail_msg("%s\nwas accepted", text);
    if (!strstr(err.message, message)) fail_msg("%s\ngave '%s', expected '%s'", text, err.message, message);
}

/* ---- readers ------------------------------------------------------------------------------------------- */

static void matrices_of_every_format_read_alike(void **state)
{
    (void)state;
    static const char *const same[][2] = {{"FULL_MATRIX", "9 1 2\n1 9 3\n2 3 9"},
                                          {"UPPER_ROW", "1 2 3"},
                                          {"LOWER_ROW", "1\n2 3"},
                                          {"UPPER_DIAG_ROW", "0 1 2 0 3 0"},
                                          {"LOWER_DIAG_ROW", "0 1 0 2 3 0"},
                                          {"UPPER_COL", "1 2 3"},
                                          {"LOWER_COL", "1 2 3"},
                                          {"UPPER_DIAG_COL", "0 1 0 2 3 0"},
                                          {"LOWER_DIAG_COL", "0 1 2 0 3 0"}};
    static const double wanted[9] = {0, 1, 2, 1, 0, 3, 2, 3, 0};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "NAME: m\nTYPE: %s\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: %s\n"
                 "EDGE_WEIGHT_SECTION\n%s\nEOF\n",
                 i ? "TSP" : "ATSP", same[i][0], same[i][1]);
        invit_instance *p = good(text);
        assert_memory_equal(p->rules->distance, wanted, sizeof wanted);
        assert_true(p->rules->symmetric);
        assert_false(p->rules->has_xy);
        invit_instance_destroy(p);
    }
    static const char *const texts[] = {"0,1,2\n1,0,3\n2,3,0\n", "0 1 2\n1 0 3\n2 3 0",
                                        "0;1;2\n1;0;3\n2;3;0\n", ",A,B,C\nA,0,1,2\nB,1,0,3\nC,2,3,0\n",
                                        "{\"distances\": [[0,1,2],[1,0,3],[2,3,0]]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        invit_instance *p = good(texts[i]);
        assert_int_equal(p->n, 3);
        assert_memory_equal(p->rules->distance, wanted, sizeof wanted);
        if (i == 3) assert_string_equal(invit_instance_label(p, 2), "C");
        invit_instance_destroy(p);
    }
    refused("0,1,2\n1,0,3\n", "expected a square matrix, found 2 rows of 3 numbers");
    refused("0,1,2\n1,0\n2,3,0\n", "row 2 of a matrix: expected 3 numbers");
    refused("0,1,2\n1,0,\n2,3,0\n", "row 2 of a matrix: expected 3 numbers");
    refused("0,,2\n1,0,2\n2,3,0\n", "a number (row 1, column 2 of a matrix)");
    refused("0;1;4\n1;;2\n2;3;0\n", "a number (row 2, column 2 of a matrix)");
    refused("0,1,2\n1,0,-3\n2,3,0\n", "distance from node 1 to node 2: expected a number from 0");
}

/* One small problem in the formats that can say it. */
static void windows_read_alike_everywhere(void **state)
{
    (void)state;
    static const char *const same[] = {
        "w\n\nVEHICLE\nNUMBER     CAPACITY\n  2         10\n\nCUSTOMER\nCUST NO.  XCOORD.   YCOORD.\n \n"
        "0 0 0 0 0 100 0\n1 3 4 5 10 20 2\n2 6 8 5 0 50 2\n",
        "NAME: w\nTYPE: VRPTW\nDIMENSION: 3\nVEHICLES: 2\nCAPACITY: 10\nSERVICE_TIME: 2\nEDGE_WEIGHT_TYPE: "
        "EUC_2D\n"
        "NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 6 8\nDEMAND_SECTION\n1 0\n2 5\n3 5\nTIME_WINDOW_SECTION\n1 0 "
        "100\n"
        "2 10 20\n3 0 50\nDEPOT_SECTION\n1\n-1\nEOF\n",
        "{\"name\": \"w\", \"coords\": [[0,0],[3,4],[6,8]], \"metric\": \"dimacs\", \"demands\": [0,5,5], "
        "\"capacity\": 10, \"vehicles\": 2, \"service\": 2, \"time_windows\": [[0,100],[10,20],[0,50]]}"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        invit_instance *p = good(same[i]);
        assert_string_equal(p->name, "w");
        assert_int_equal(p->problem, INVIT_CVRP);
        assert_int_equal(p->metric, INVIT_DIMACS);
        assert_int_equal(p->capacity, 10);
        assert_int_equal(p->rules->vehicles, 2);
        assert_true(p->rules->service[0] == 0 && p->rules->service[1] == 2 && p->rules->service[2] == 2);
        assert_true(p->rules->earliest[1] == 10 && p->rules->latest[1] == 20 && p->rules->latest[0] == 100);
        invit_instance_destroy(p);
    }
}

static void tables_say_what_routes_keep(void **state)
{
    (void)state;
    invit_error err;
    char note[1024];
    invit_instance *p;
    assert_int_equal(
        read_text("Name;x;y;Menge;Kapazit\303\244t;tw_start;tw_end;service_minutes;vehicles;max_hours;driver_"
                  "skill\n"
                  "D;0;0;;7,5;8:00;17:00;;2;8;\nA;1;0;2,5;;09:00;9:30 ;10;;;x\nB;2;0;5;;;;0:15;;;\n",
                  &p, note, &err),
        INVIT_OK);
    assert_int_equal(p->scale, 10);
    assert_int_equal(p->capacity, 75);
    assert_int_equal(p->demand[1], 25);
    assert_true(p->rules->clock && p->rules->vehicles == 2 && p->rules->max_duration == 480);
    assert_true(p->rules->earliest[1] == 540 && p->rules->latest[1] == 570 && isinf(p->rules->latest[2]));
    assert_true(p->rules->service[1] == 10 && p->rules->service[2] == 15);
    assert_non_null(strstr(note, "column 'driver_skill' is not used"));
    invit_instance_destroy(p);
    assert_int_equal(read_text("x,y,weight\n0,0,\n1,1,5\n", &p, note, &err), INVIT_OK);
    assert_int_equal(p->problem, INVIT_TSP);
    assert_non_null(strstr(note, "not used, since there is no capacity"));
    invit_instance_destroy(p);
    refused("x,y,open,close\n0,0,,\n1,1,10:00,9:00\n", "stop 1: closes 09:00, before it opens, 10:00");
    refused("id,x,y,close\nD,0,0,\nMeier,30,40,0:30\n", "stop 1 'Meier': cannot be reached in time");
    refused("x,y,max_length\n0,0,5\n3,4,\n",
            "stop 1: the way there and back is 10 long, more than max_length, 5");
    refused("x,y,max_duration,service\n0,0,11,\n3,4,,5\n",
            "stop 1: the way there and back and its service take 15");
    refused("x,y,demand,capacity,vehicles\n0,0,0,5,1\n3,4,4,,\n3,5,4,,\n", "at least 2 vehicles are needed");
    refused("x,y,max_stops,vehicles\n0,0,1,1\n3,4,,\n3,5,,\n", "at least 2 vehicles are needed");
    refused("x,y,open\n0,0,soon\n", "expected a time in column open, minutes or hh:mm, found 'soon'");
    refused("{\"coords\": [[0,0],[1,1]], \"demand\": [0,1]}", "\"demand\" is not known here");
    refused("{\"coords\": [[0,0],[1,1]], \"demands\": [0,1]}", "expected \"capacity\" with \"demands\"");
    refused("{\"coords\": [[0,0],[1]]}", "\"coords\"[1] must be a list of 2 numbers");
    refused("{\"distances\": [[0,1],[null,0]]}", "\"distances\"[1][0] must be a number");
    refused("{\"coords\": [[0,0]", "f:1: JSON");
}

/* ---- the checker --------------------------------------------------------------------------------------- */

static void says(const char *problem, const char *routes, const char *message)
{
    invit_instance *p = good(problem);
    invit_solution_reader *r = NULL;
    invit_solution *s = NULL;
    invit_check_result result;
    invit_error err = {0};
    assert_int_equal(invit_solution_reader_open_memory(routes, strlen(routes), "s", &r, &err), INVIT_OK);
    if (invit_solution_reader_next(r, p, &s, NULL, &err) != INVIT_OK) fail_msg("%s", err.message);
    assert_int_equal(invit_check(p, s, &result, &err), INVIT_OK);
    if (!*message != result.feasible || !strstr(result.message, message))
        fail_msg("%s\n%s: '%s', expected '%s'", problem, routes, result.message, message);
    invit_solution_reader_close(r);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

static void the_checker_names_stop_and_rule(void **state)
{
    (void)state;
    says("x,y,open,close,id\n0,0,8:00,18:00,D\n30,0,,,A\n60,0,,9:10,Meier\n", "Route #1: 1 2\n", "");
    says("x,y,open,close,id\n0,0,8:00,18:00,D\n30,40,,,A\n60,0,,9:10,Meier\n", "Route #1: 1 2\n",
         "route 1: stop 2 'Meier': arrives 09:40, closes 09:10");
    says("x,y,open,close\n0,0,0,100\n50,0,10,99\n", "Route #1: 1\n", "");
    says("x,y,service,close\n0,0,,100\n50,0,1,99\n", "Route #1: 1\n",
         "route 1: is back at the depot 101, which closes 100");
    says("x,y,max_length\n0,0,30\n5,0,\n0,10,\n", "Route #1: 1\nRoute #2: 2\n", "");
    says("x,y,max_length\n0,0,25\n5,0,\n0,10,\n", "Route #1: 1 2\n", "longer than max_length, 25");
    says("x,y,max_duration,service\n0,0,25,\n5,0,,5\n10,0,,5\n", "Route #1: 1 2\n",
         "route 1: takes 30, longer than max_duration, 25");
    /* waiting counts, unless the vehicle can leave later */
    says("x,y,max_duration,open,close\n0,0,20,0,99\n5,0,,50,60\n", "Route #1: 1\n", "");
    says("x,y,max_duration,open,close\n0,0,30,0,99\n5,0,,,8\n10,0,,50,60\n", "Route #1: 1 2\n",
         "longer than max_duration, 30");
    says("x,y,max_stops\n0,0,1\n5,0,\n0,10,\n", "Route #1: 1 2\n",
         "route 1: 2 stops, more than max_stops, 1");
    says("x,y,vehicles\n0,0,1\n5,0,\n0,10,\n", "Route #1: 1\nRoute #2: 2\n",
         "2 routes, more than the 1 vehicles");
    says("x,y,demand,capacity\n0,0,0,1\n5,0,0.5,\n0,10,0.6,\n", "Route #1: 1 2\n",
         "route 1: load 1.1 exceeds the capacity, 1");
    says("{\"coords\": [[0,0],[1,0],[2,0]], \"start_node\": 1}", "1,0,2 3 0\n", "");
    says("{\"coords\": [[0,0],[1,0],[2,0]], \"start_node\": 1}", "0,1,2 3 0\n",
         "begins at node 0, not at start_node, 1");
    says("{\"coords\": [[0,0],[1,0],[2,0]], \"end_node\": 1}", "0,1,2 3 0\n",
         "ends at node 2, not at end_node, 1");
}

/* ---- against brute force ------------------------------------------------------------------------------- */

enum { STOPS = 5 };
enum {
    WINDOWS = 1,
    SERVICE = 2,
    DURATION = 4,
    LENGTH = 8,
    FEW_STOPS = 16,
    VEHICLES = 32,
    OPEN = 64,
    MATRIX = 128,
    ALL = 256
};

static invit_instance *draw(unsigned rules, uint64_t seed)
{
    invit_instance *p;
    inv_rng r;
    double xy[2 * (STOPS + 1)], m[(STOPS + 1) * (STOPS + 1)], pairs[2 * (STOPS + 1)], service[STOPS + 1];
    int64_t demand[STOPS + 1];
    inv_rng_init(&r, seed, rules);
    for (int i = 0; i <= STOPS; i++) {
        xy[2 * i] = floor(inv_rng_double(&r) * 100);
        xy[2 * i + 1] = floor(inv_rng_double(&r) * 100);
        demand[i] = i ? 1 + (int64_t)(inv_rng_double(&r) * 4) : 0;
        pairs[2 * i] = i ? floor(inv_rng_double(&r) * 150) : 0;
        pairs[2 * i + 1] = i ? pairs[2 * i] + 30 + floor(inv_rng_double(&r) * 200) : 1000;
        service[i] = i ? floor(inv_rng_double(&r) * 20) : 0;
    }
    assert_int_equal(invit_instance_create_cvrp(xy, demand, STOPS + 1, 8, INVIT_EUC_2D, &p, NULL), INVIT_OK);
    for (int i = 0; i < (STOPS + 1) * (STOPS + 1); i++) m[i] = floor(10 + inv_rng_double(&r) * 90);
    if (rules & MATRIX)
        assert_int_equal(invit_instance_set_matrix(p, "distances", m, STOPS + 1, NULL), INVIT_OK);
    if (rules & WINDOWS)
        assert_int_equal(invit_instance_set_array(p, "time_windows", pairs, 2 * (STOPS + 1), NULL), INVIT_OK);
    if (rules & SERVICE)
        assert_int_equal(invit_instance_set_array(p, "service", service, STOPS + 1, NULL), INVIT_OK);
    if (rules & DURATION) assert_int_equal(invit_instance_set(p, "max_duration", "290", NULL), INVIT_OK);
    if (rules & LENGTH) assert_int_equal(invit_instance_set(p, "max_length", "260", NULL), INVIT_OK);
    if (rules & FEW_STOPS) assert_int_equal(invit_instance_set(p, "max_stops", "2", NULL), INVIT_OK);
    if (rules & VEHICLES) assert_int_equal(invit_instance_set(p, "vehicles", "3", NULL), INVIT_OK);
    if (rules & OPEN) assert_int_equal(invit_instance_set(p, "open", "yes", NULL), INVIT_OK);
    return p;
}

static double try_splits(const invit_instance *p, const int32_t *order, double best)
{
    for (unsigned cut = 0; cut < 1u << (STOPS - 1); cut++) {
        int32_t start[STOPS + 1] = {0}, routes = 0;
        for (int i = 1; i < STOPS; i++)
            if (cut >> (i - 1) & 1) start[++routes] = i;
        start[++routes] = STOPS;
        invit_solution *s;
        invit_check_result result;
        assert_int_equal(invit_solution_create(order, start, routes, &s, NULL), INVIT_OK);
        assert_int_equal(invit_check(p, s, &result, NULL), INVIT_OK);
        if (result.feasible && result.length < best) best = result.length;
        invit_solution_destroy(s);
    }
    return best;
}

static double brute_force(const invit_instance *p, int32_t *order, int at, double best)
{
    if (at == STOPS) return try_splits(p, order, best);
    for (int i = at; i < STOPS; i++) {
        int32_t swap = order[at];
        order[at] = order[i], order[i] = swap;
        best = brute_force(p, order, at + 1, best);
        swap = order[at], order[at] = order[i], order[i] = swap;
    }
    return best;
}

static void every_combination_is_solved_to_the_optimum(void **state)
{
    (void)state;
    int solved = 0, none = 0;
    for (unsigned rules = 1; rules < ALL; rules++) {
        invit_instance *p = draw(rules, 7 + rules / 3);
        int32_t order[STOPS];
        invit_error err = {0};
        invit_solution *s = NULL;
        inv_solved result = {0};
        inv_solve_options o = inv_solve_defaults();
        o.construct = INVIT_CONSTRUCT_SAVINGS;
        o.iterations = 2000;
        o.threads = 1;
        for (int i = 0; i < STOPS; i++) order[i] = i + 1;
        double best = brute_force(p, order, 0, INFINITY);
        bool alone = invit_instance_validate(p, &err) == INVIT_OK;
        invit_status status = inv_solve(p, NULL, &o, &s, &result, &err);
        if (alone && isfinite(best)) {
            if (status != INVIT_OK) fail_msg("rules %u: %s, brute force found %g", rules, err.message, best);
            if (fabs(result.length - best) > 1e-9 * best)
                fail_msg("rules %u: solved to %g, brute force found %g", rules, result.length, best);
            solved++;
        } else {
            assert_int_equal(status, INVIT_ERR_INPUT);
            none++;
        }
        invit_solution_destroy(s);
        invit_instance_destroy(p);
    }
    assert_true(solved > 100);
    assert_true(none > 5);
}

/* ---- the table of stops -------------------------------------------------------------------------------- */

static void stops_tell_times_and_read_back(void **state)
{
    (void)state;
    char path[] = "/tmp/test_rules_XXXXXX.csv", text[4096] = "";
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    invit_instance *p =
        good("id,x,y,demand,capacity,open,close,service\nD,0,0,0,9,8:00,18:00,\n=1+1,30,0,1.5,,9:00,,10\n"
             "B,0,20,2,,,,5\n");
    static const int32_t nodes[] = {1, 2}, start[] = {0, 2};
    invit_solution *s, *back;
    invit_writer *w;
    invit_error err = {0};
    assert_int_equal(invit_solution_create(nodes, start, 1, &s, &err), INVIT_OK);
    assert_int_equal(invit_writer_open(path, &w, &err), INVIT_OK);
    assert_int_equal(invit_writer_solution(w, p, s, INVIT_SOLUTION_STOPS, NULL, &err), INVIT_OK);
    assert_int_equal(invit_writer_close(w, &err), INVIT_OK);
    FILE *f = fopen(path, "r");
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_non_null(
        strstr(text, "1,1,1,'=1+1,30,0,1.5,1.5,09:00,00:00,09:10,30,30,,9:00,,10\n")); /* leaves at 8:30 */
    assert_int_equal(invit_solution_read(path, p, 0, &back, NULL, &err), INVIT_OK);
    assert_int_equal(back->routes, 1);
    assert_memory_equal(back->nodes, nodes, sizeof nodes);
    invit_stop stops[4];
    assert_int_equal(invit_schedule(p, s, 0, stops), 4);
    assert_true(stops[0].departure == 510 && stops[3].node == 0 && stops[3].load == 3.5);
    unlink(path);
    invit_solution_destroy(s);
    invit_solution_destroy(back);
    invit_instance_destroy(p);
}

static void rounding_is_right_at_its_edges(void **state)
{
    (void)state;
    static const double cases[][2] = {
        {0.49999999999999994, 0}, {0.5, 1}, {1.5, 2}, {2.5, 3}, {4503599627370497, 4503599627370497}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double xy[4] = {0, 0, cases[i][0], 0};
        static const int32_t nodes[] = {0, 1}, start[] = {0, 2};
        invit_instance *p;
        invit_solution *s;
        invit_check_result result;
        assert_int_equal(invit_instance_create_tsp(xy, 2, INVIT_EUC_2D, &p, NULL), INVIT_OK);
        assert_int_equal(invit_solution_create(nodes, start, 1, &s, NULL), INVIT_OK);
        assert_int_equal(invit_check(p, s, &result, NULL), INVIT_OK);
        assert_true(result.length == 2 * cases[i][1]);
        assert_true(inv_length(p, s) == 2 * cases[i][1]);
        invit_solution_destroy(s);
        invit_instance_destroy(p);
    }
}

static void a_run_stops_when_nothing_gets_better(void **state)
{
    (void)state;
    invit_instance *p = draw(WINDOWS, 3);
    invit_solution *s;
    inv_solved result = {0};
    inv_solve_options o = inv_solve_defaults();
    o.seconds = 600;
    o.stop_after = 0.3;
    o.threads = 1;
    assert_int_equal(inv_solve(p, NULL, &o, &s, &result, NULL), INVIT_OK);
    assert_true(result.seconds_total < 300);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_of_every_format_read_alike),
        cmocka_unit_test(windows_read_alike_everywhere),
        cmocka_unit_test(tables_say_what_routes_keep),
        cmocka_unit_test(the_checker_names_stop_and_rule),
        cmocka_unit_test(every_combination_is_solved_to_the_optimum),
        cmocka_unit_test(stops_tell_times_and_read_back),
        cmocka_unit_test(a_run_stops_when_nothing_gets_better),
        cmocka_unit_test(rounding_is_right_at_its_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
