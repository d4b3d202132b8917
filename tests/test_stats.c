/* The paper's three findings: counts add up, known cases come out as known, figures are drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"
#include "policy/model.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *rows_of(invit_report *report)
{
    char *text;
    assert_int_equal(invit_report_render(report, INVIT_TABLE_JSON, &text, NULL), INVIT_OK);
    json_t *all = json_loads(text, 0, NULL), *rows = json_object_get(json_array_get(all, 0), "rows");
    free(text);
    json_incref(rows);
    json_decref(all);
    return rows;
}

static double number(json_t *rows, size_t row, const char *column)
{
    json_t *v = json_object_get(json_array_get(rows, row), column);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static invit_stats_options quick(const int32_t *sizes, int32_t count)
{
    invit_stats_options o = invit_stats_defaults();
    o.sizes = sizes;
    o.size_count = count;
    o.count = 2;
    o.effort = 0.05;
    o.distribution[INVIT_EXPLOSION] = o.distribution[INVIT_IMPLOSION] = false;
    return o;
}

static void ranks_add_up(void **state)
{
    (void)state;
    static const int32_t sizes[] = {60};
    invit_stats_options o = quick(sizes, 1);
    invit_report *summary, *data;
    invit_error err;
    if (invit_stats_rank(&o, NULL, &summary, &data, &err) != INVIT_OK) fail_msg("%s", err.message);
    json_t *s = rows_of(summary), *d = rows_of(data);
    assert_int_equal(json_array_size(s), 4); /* two problems, two distributions */
    assert_int_equal(json_array_size(d), 4 * 50);
    for (size_t i = 0; i < 4; i++) {
        /* every step of two TSP tours, every customer of two CVRP solutions */
        assert_true(number(s, i, "steps") == (i < 2 ? 2 * 59 : 2 * 60));
        double sum = 0;
        for (size_t r = 0; r < 50; r++) {
            sum += number(d, 50 * i + r, "share %");
            assert_true(fabs(sum - number(d, 50 * i + r, "cumulative %")) < 1e-6);
        }
        assert_true(sum > 97 && sum < 100 + 1e-9);
        assert_true(number(s, i, "<=1 %") > 25 &&
                    number(s, i, "<=8 %") > 80); /* near-optimal tours are local */
    }
    json_decref(s);
    json_decref(d);
    invit_report_destroy(summary);
    invit_report_destroy(data);
}

static void nothing_added_changes_little(void **state)
{
    (void)state;
    static const int32_t sizes[] = {30, 60};
    invit_stats_options o = quick(sizes, 2);
    o.effort = 0.2;
    invit_report *summary, *data;
    invit_error err;
    if (invit_stats_edges(&o, NULL, &summary, &data, &err) != INVIT_OK) fail_msg("%s", err.message);
    json_t *s = rows_of(summary);
    assert_int_equal(json_array_size(s), 8);
    for (size_t i = 0; i < 8; i++) {
        double kept = number(s, i, "edges kept %");
        assert_true(kept >= 0 && kept <= 100);
        if (i % 2 == 0)
            assert_true(kept > (i < 4 ? 95 : 60)); /* TSP-30 is solved to the optimum either time */
        else
            assert_true(kept < 100);
    }
    json_decref(s);
    char path[] = "/tmp/invit-stats-XXXXXX.svg";
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    if (invit_report_figure(data, path, &err) != INVIT_OK) fail_msg("%s", err.message);
    FILE *f = fopen(path, "r");
    char head[512] = "";
    assert_true(fread(head, 1, sizeof head - 1, f) > 100);
    assert_non_null(strstr(head, "<svg"));
    fclose(f);
    unlink(path);
    assert_int_equal(invit_report_figure(summary, path, &err), INVIT_ERR_ARGUMENT);
    invit_report_destroy(summary);
    invit_report_destroy(data);

    static const int32_t falling[] = {60, 30};
    o.sizes = falling;
    assert_int_equal(invit_stats_edges(&o, NULL, &summary, &data, &err), INVIT_ERR_ARGUMENT);
    static const int32_t tiny[] = {0};
    o.sizes = tiny;
    o.size_count = 1;
    assert_int_equal(invit_stats_rank(&o, NULL, &summary, &data, &err), INVIT_ERR_ARGUMENT);
}

static struct invit_model *small_model(invit_problem problem, bool zero_queries)
{
    inv_config c;
    struct invit_model *m;
    inv_config_defaults(&c, problem);
    c.dim = 16;
    c.ff = 32;
    c.heads = 2;
    assert_int_equal(inv_model_create(&c, &m, NULL), INVIT_OK);
    inv_model_randomise(m, 5);
    for (int l = 0; zero_queries && l < 2; l++) {
        char name[96];
        snprintf(name, sizeof name, "state_encoders.0.encoder.MHA_layers.%d.w_qs.weight", l);
        const inv_tensor *t = inv_model_find(m, name);
        memset(m->param + t->offset, 0, t->count * sizeof *m->param);
    }
    return m;
}

/* Without queries attention is even: what lies beyond 100 of n nodes is n - 100 parts of it, in both layers.
 */
static void even_attention_is_counted_exactly(void **state)
{
    (void)state;
    static const int32_t sizes[] = {150, 300};
    invit_stats_options o = quick(sizes, 2);
    invit_report *summary, *data;
    invit_error err;
    for (int problem = 0; problem < 2; problem++) {
        struct invit_model *m = small_model(problem, true);
        if (invit_stats_attention(m, &o, NULL, &summary, &data, &err) != INVIT_OK)
            fail_msg("%s", err.message);
        json_t *s = rows_of(summary), *d = rows_of(data);
        assert_int_equal(json_array_size(s), 4);
        for (size_t i = 0; i < 4; i++) {
            /* tokens: TSP n - 1 nodes, CVRP n customers, and last and first; those two share a place, hence
             * the slack */
            double tokens = sizes[i / 2] + (problem ? 2 : 1), expected = 100 * (tokens - 101) / tokens;
            assert_true(fabs(number(s, i, "mean %") - expected) < 100 / tokens);
            assert_true(number(s, i, "max %") - number(s, i, "min %") < 100 / tokens + 1e-4);
            double sum = 0;
            for (size_t b = 0; b < 20; b++) sum += number(d, 20 * i + b, "share of nodes");
            assert_true(fabs(sum - 1) < 1e-9);
        }
        json_decref(s);
        json_decref(d);
        invit_report_destroy(summary);
        invit_report_destroy(data);
        invit_model_destroy(m);
    }
}

/* Cancels after the first instance. */
static void stop_at_once(void *user, const invit_progress *p)
{
    (void)p;
    *(volatile int *)user = 1;
}

static void what_is_finished_is_reported(void **state)
{
    (void)state;
    static const int32_t sizes[] = {120, 150};
    invit_stats_options o = quick(sizes, 2);
    o.threads = 1;
    struct invit_model *m = small_model(INVIT_TSP, false);
    for (int kind = 0; kind < 3; kind++) {
        invit_report *summary, *data;
        invit_error err;
        volatile int cancel = 0;
        invit_control control = {.progress = stop_at_once, .user = (void *)&cancel, .cancel = &cancel};
        invit_status status = kind == 0   ? invit_stats_rank(&o, &control, &summary, &data, &err)
                              : kind == 1 ? invit_stats_edges(&o, &control, &summary, &data, &err)
                                          : invit_stats_attention(m, &o, &control, &summary, &data, &err);
        assert_int_equal(status, INVIT_ERR_CANCELLED);
        static const char *const said[] = {"stopped after 1 of 16 instances",
                                           "stopped after 1 of 8 instances",
                                           "stopped after 1 of 4 instances"};
        assert_string_equal(err.message, said[kind]);
        json_t *s = rows_of(summary), *d = rows_of(data);
        assert_int_equal(json_array_size(s), kind == 0 ? 1 : 2);
        if (kind > 0) assert_true(number(s, 0, "instances") == 1);
        assert_int_equal(json_array_size(d), kind == 0 ? 50 : kind == 1 ? 2 : 40);
        json_decref(s);
        json_decref(d);
        char *text;
        assert_int_equal(invit_report_render(data, INVIT_TABLE_CSV, &text, NULL), INVIT_OK);
        assert_true(text[0] == '#' && strstr(text, said[kind]) != NULL);
        free(text);
        invit_report_destroy(summary);
        invit_report_destroy(data);
        /* cancelled before anything: nothing to report */
        assert_int_equal(invit_stats_rank(&o, &control, &summary, &data, &err), INVIT_ERR_CANCELLED);
        assert_true(!summary && !data);
    }
    invit_model_destroy(m);
}

/* Attention of one decision: of every view, layer and head it adds up to 1, without queries it is even; the candidates'
 * probabilities add up to 1 too. */
static void check_decision(const invit_model *m, const invit_instance *p, int64_t step)
{
    invit_report *summary = NULL, *data = NULL;
    invit_error err;
    if (invit_stats_decision(m, p, step, NULL, &summary, &data, &err) != INVIT_OK)
        fail_msg("%s", err.message);
    json_t *rows = rows_of(data), *seen = rows_of(summary); /* the first table: the action view */
    double sum = 0, chosen = 0;
    size_t groups = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) sum += number(rows, i, "attention");
    for (size_t i = 0; i < json_array_size(rows); i++) groups += number(rows, i, "rank") == 1;
    assert_true(groups > 0 && fabs(sum - (double)groups) < 1e-3 * (double)groups);
    for (size_t i = 0; i < json_array_size(seen); i++) {
        double x = number(seen, i, "probability");
        if (!isnan(x)) chosen += x;
    }
    assert_true(fabs(chosen - 100) < 1);
    json_decref(rows);
    json_decref(seen);
    invit_report_destroy(summary);
    invit_report_destroy(data);
}

static void a_decision_shows_its_attention(void **state)
{
    (void)state;
    static const char *const models[] = {"tsp-tiny", "cvrp-tiny"};
    for (int problem = 0; problem < 2; problem++) {
        invit_model *m = NULL;
        invit_instance *p = NULL;
        invit_report *summary = NULL, *data = NULL;
        invit_error err;
        char path[512];
        snprintf(path, sizeof path, TEST_DATA "/golden/%s.weights.safetensors", models[problem]);
        if (invit_model_load(path, &m, &err) != INVIT_OK) fail_msg("%s", err.message);
        assert_int_equal(invit_generate((invit_problem)problem, INVIT_UNIFORM, 60, 1, 0, &p, &err), INVIT_OK);
        check_decision(m, p, 7);
        for (int64_t step = 50; step < 58; step++) check_decision(m, p, step); /* fewer candidates than k_a */
        assert_int_equal(invit_stats_decision(m, p, 1000, NULL, &summary, &data, &err), INVIT_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "there is no 1000"));
        assert_null(summary);
        invit_instance_destroy(p);
        invit_model_destroy(m);
    }
}

static void attention_wants_a_view_and_more_than_100_nodes(void **state)
{
    (void)state;
    static const int32_t sizes[] = {100};
    invit_stats_options o = quick(sizes, 1);
    invit_report *summary, *data;
    invit_error err;
    struct invit_model *m = small_model(INVIT_TSP, false);
    assert_int_equal(invit_stats_attention(m, &o, NULL, &summary, &data, &err), INVIT_ERR_ARGUMENT);
    invit_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_add_up),
        cmocka_unit_test(nothing_added_changes_little),
        cmocka_unit_test(even_attention_is_counted_exactly),
        cmocka_unit_test(what_is_finished_is_reported),
        cmocka_unit_test(a_decision_shows_its_attention),
        cmocka_unit_test(attention_wants_a_view_and_more_than_100_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
