/* Instances with rules are written and read back as they were; what a format cannot say is refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"
#include "problem/metric.h"
#include "problem/stop_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static invit_instance *read_text(const char *text, size_t size)
{
    invit_error err = {0};
    invit_reader *r = NULL;
    invit_instance *p = NULL;
    invit_status status = invit_reader_open_memory(text, size, "f", &r, &err);
    if (status == INVIT_OK) status = invit_reader_next(r, &p, &err);
    if (status != INVIT_OK) fail_msg("%s\n%s", err.message, text);
    invit_reader_close(r);
    return p;
}

static void same_array(const double *a, const double *b, size_t count)
{
    assert_true((a == NULL) == (b == NULL));
    for (size_t i = 0; a && i < count; i++)
        assert_true(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])) || (a[i] == INFINITY && b[i] >= 1e15));
}

static void same(const invit_instance *a, const invit_instance *b, bool all)
{
    static const char *const values[] = {"capacity",     "vehicles",  "open",  "fewest",     "max_length",
                                         "max_duration", "max_stops", "speed", "start_node", "end_node"};
    static const char *const arrays[] = {"service", "earliest", "latest", "freeze"};
    size_t n = (size_t)a->n;
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->problem, b->problem);
    assert_string_equal(a->name, b->name);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        double x = invit_instance_get(a, values[i]), y = invit_instance_get(b, values[i]);
        if (!(x == y || (isnan(x) && isnan(y)))) fail_msg("%s: %g, %g", values[i], x, y);
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        same_array(invit_instance_array(a, arrays[i]), invit_instance_array(b, arrays[i]), n);
    same_array(invit_instance_array(a, "distances"), invit_instance_array(b, "distances"), n * n);
    same_array(invit_instance_array(a, "durations"), invit_instance_array(b, "durations"), n * n);
    for (int32_t i = 0; i < a->n; i++)
        for (int32_t j = 0; j < a->n; j++)
            assert_true(fabs(inv_distance(a, i, j) - inv_distance(b, i, j)) < 1e-6);
    if (a->demand) assert_memory_equal(a->demand, b->demand, n * sizeof *a->demand);
    assert_true(invit_instance_get(a, "has_coords") == invit_instance_get(b, "has_coords"));
    if (!all) return;
    assert_int_equal(a->metric, b->metric);
    assert_true(invit_instance_get(a, "clock") == invit_instance_get(b, "clock"));
    for (int32_t i = 0; a->labels && i < a->n; i++)
        assert_string_equal(invit_instance_label(a, i), invit_instance_label(b, i));
    assert_true(!a->table == !b->table);
    if (a->table) assert_int_equal(a->table->bytes, b->table->bytes);
    if (a->table) assert_memory_equal(a->table->cells, b->table->cells, a->table->bytes);
    if (a->table) assert_memory_equal(&a->table->dialect, &b->table->dialect, sizeof a->table->dialect);
}

static void round_trip(const char *problem, const char *refused)
{
    static const invit_format formats[] = {INVIT_FORMAT_JSON, INVIT_FORMAT_TSPLIB, INVIT_FORMAT_MSVDRP};
    invit_instance *p = read_text(problem, strlen(problem));
    for (int i = 0; i < 3; i++) {
        char *text = NULL;
        size_t size;
        invit_error err = {0};
        invit_writer *w = NULL;
        assert_int_equal(invit_writer_open_memory(&text, &size, &w, &err), INVIT_OK);
        invit_status status = invit_writer_instance(w, p, formats[i], &err);
        if (i == 2 || (i == 1 && refused)) {
            assert_int_equal(status, INVIT_ERR_UNSUPPORTED);
            if (!strstr(err.message, i == 1 ? refused : "MSVDRP")) fail_msg("%s", err.message);
            invit_writer_abandon(w);
            free(text);
            continue;
        }
        if (status != INVIT_OK) fail_msg("%s", err.message);
        assert_int_equal(invit_writer_close(w, &err), INVIT_OK);
        invit_instance *again = read_text(text, size);
        same(p, again, i == 0);
        invit_instance_destroy(again);
        free(text);
    }
    invit_instance_destroy(p);
}

#define COORDS  "{\"name\": \"a\", \"coords\": [[0,0],[3,4],[6,0],[1.5,2]]"
#define DEMANDS ", \"demands\": [0,1.5,2,3], \"capacity\": 5.5"

static void whatever_routes_keep_is_written(void **state)
{
    (void)state;
    round_trip(COORDS DEMANDS ", \"vehicles\": 3}", NULL);
    round_trip(COORDS DEMANDS ", \"vehicles\": \"fewest\"}", "fewest");
    round_trip(COORDS DEMANDS ", \"max_length\": 40}", NULL);
    round_trip(COORDS DEMANDS ", \"max_duration\": 40, \"service\": 3}", NULL);
    round_trip(COORDS DEMANDS ", \"max_duration\": 40}", "max_duration");
    round_trip(COORDS DEMANDS ", \"max_length\": 40, \"service\": [0,1,2,3]}", "max_length");
    round_trip(COORDS DEMANDS ", \"max_stops\": 2}", "max_stops");
    round_trip(COORDS DEMANDS ", \"open\": true}", "open");
    round_trip(COORDS DEMANDS ", \"freeze\": [[2,1],[3]]}", "freeze");
    round_trip(COORDS DEMANDS ", \"speed\": 2.5, \"max_duration\": 90}", "speed");
    round_trip(COORDS DEMANDS ", \"metric\": \"dimacs\", \"service\": 5,"
                              " \"time_windows\": [[0,90],[5,20],[null,null],[0.5,60]]}",
               NULL);
    round_trip(COORDS DEMANDS ", \"metric\": \"euc_2d\", \"time_windows\": [[0,90],[5,20],[0,80],[0.5,60]]}",
               "windows");
    round_trip(COORDS ", \"labels\": [\"a\",\"b \\\"q\\\"\",\"c\",\"d\\u00e4\"], \"time_windows\":"
                      " [[\"8:00\",\"17:00\"],[\"9:00\",null],[null,null],[null,null]]}",
               NULL);
    round_trip(COORDS ", \"metric\": \"haversine\", \"speed\": 30, \"vehicles\": 2}", "speed");
}

/* A table's columns and dialect, for lists of stops. */
static void tables_are_written(void **state)
{
    (void)state;
    static const char csv[] = "\xef\xbb\xbfsep=;\r\nid;x;y;demand;qty;capacity;note;note\r\n"
                              "D;0;0;0;7;9;\"a \"\"b\"\"\";\r\nE;1,5;2;3;8;;;c\\d\r\n";
    invit_instance *p = read_text(csv, sizeof csv - 1);
    char *text, *again;
    invit_error err;
    assert_int_equal(invit_instance_table(p, &text, NULL, &err), INVIT_OK);
    assert_string_equal(text, "{\"dialect\": \"semicolon decimal-comma bom sep-line crlf\",\n"
                              "  \"columns\": [\"demand\", \"qty\", \"capacity\", \"note\", \"note\"],\n"
                              "  \"rows\": [[\"0\", \"7\", \"9\", \"a \\\"b\\\"\", \"\"],\n"
                              "   [\"3\", \"8\", \"\", \"\", \"c\\\\d\"]]}");
    inv_use use[5];
    memcpy(use, p->table->use, sizeof use);
    assert_int_equal(invit_instance_set(p, "table", text, &err), INVIT_OK);
    assert_memory_equal(use, p->table->use, sizeof use); /* of two that are called demands, one counts */
    assert_int_equal(invit_instance_table(p, &again, NULL, &err), INVIT_OK);
    assert_string_equal(again, text);
    free(again);
    static const char *const wrong[][2] = {
        {"{\"columns\": [\"a\"], \"rows\": [[\"x\"]]}", "2 rows"},
        {"{\"columns\": [\"a\"], \"rows\": [[\"x\"], []]}", "row 1 must be a list of 1 texts"},
        {"{\"columns\": [\"a\"], \"rows\": [[\"x\"], [[]]]}", "row 1 must be a list of texts"},
        {"{\"columns\": [1], \"rows\": []}", "\"columns\"[0] must be a text"},
        {"{\"rows\": []}", "expected \"columns\""},
        {"{\"dialect\": \"colon\"}", "'colon' is not known"},
        {"{\"colums\": []}", "\"colums\" is not known"},
        {"[]", "must be an object"},
        {"{", "JSON, line 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(invit_instance_set(p, "table", wrong[i][0], &err), INVIT_ERR_INPUT);
        if (!strstr(err.message, wrong[i][1])) fail_msg("%s", err.message);
    }
    assert_int_equal(invit_instance_table(p, &again, NULL, &err), INVIT_OK); /* as it was */
    assert_string_equal(again, text);
    free(again);
    free(text);
    assert_int_equal(
        invit_instance_set(p, "table", "{\"columns\": [\"a\"], \"rows\": [[1.5], [null]]}", &err), INVIT_OK);
    assert_string_equal(inv_stop_table_row(p->table, 0), "1.5");
    assert_int_equal(invit_instance_set(p, "table", "none", &err), INVIT_OK);
    assert_null(p->table);
    invit_instance_destroy(p);
    round_trip(
        COORDS DEMANDS
        ", \"vehicles\": 3, \"table\": {\"columns\": [\"a\"], \"rows\": [[\"x\"],[\"\"],[3],[\"\\u00e4\"]],"
        " \"dialect\": \"tab\"}}",
        NULL);
}

static void matrices_are_written(void **state)
{
    (void)state;
    round_trip("{\"name\": \"m\", \"distances\": [[0,1,2],[3,0,4.5],[5,6,0]]}", NULL);
    round_trip("{\"name\": \"m\", \"distances\": [[0,1,2],[1,0,4],[2,4,0]], \"coords\": [[0,0],[1,0],[2,0]]}",
               NULL);
    round_trip("{\"name\": \"m\", \"distances\": [[0,1,2],[3,0,4],[5,6,0]], \"start_node\": 1}",
               "start_node");
    round_trip("{\"name\": \"m\", \"distances\": [[0,1,2],[3,0,4],[5,6,0]], \"end_node\": 1}", "end_node");
    round_trip("{\"name\": \"m\", \"distances\": [[0,1,2],[3,0,4],[5,6,0]], \"freeze\": [1,0]}", "freeze");
    round_trip("{\"name\": \"m\", \"distances\": [[0,1,2],[3,0,4],[5,6,0]], \"durations\":"
               " [[0,9,8],[7,0,6],[5,4,0]], \"vehicles\": 2, \"max_duration\": \"8h\"}",
               "durations");
    round_trip(
        "{\"name\": \"m\", \"distances\": [[0,1,2],[3,0,4],[5,6,0]], \"demands\": [0,1,1], \"capacity\": 2}",
        NULL);
}

static void best_known_lengths_are_of_their_own_rule(void **state)
{
    (void)state;
    const double xy[4] = {0, 0, 1, 1};
    invit_error err = {0};
    invit_instance *p = NULL;
    double best;
    assert_int_equal(invit_instance_create_tsp(xy, 2, INVIT_EXACT, &p, &err), INVIT_OK);
    assert_int_equal(invit_instance_set_name(p, "CMT6", &err), INVIT_OK);
    assert_true(invit_instance_best_known(p, &best));
    assert_true(best == 555.43);
    assert_int_equal(invit_instance_set_metric(p, INVIT_EUC_2D, &err), INVIT_OK);
    assert_false(invit_instance_best_known(p, &best));
    assert_true(isnan(best));
    assert_int_equal(invit_instance_set_name(p, "X-n101-k25", &err), INVIT_OK);
    assert_true(invit_instance_best_known(p, &best) && best == 27591);
    invit_instance_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_routes_keep_is_written),
        cmocka_unit_test(tables_are_written),
        cmocka_unit_test(matrices_are_written),
        cmocka_unit_test(best_known_lengths_are_of_their_own_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
