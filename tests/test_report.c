/* Tables in four formats, summaries, the signed-rank test, and the paper's columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"
#include "lab/eval/baselines.h"
#include "lab/eval/statistics.h"
#include "lab/eval/tables.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static invit_report *sample_report(void)
{
    invit_report *r;
    assert_int_equal(inv_report_create(&r, NULL), INVIT_OK);
    inv_table *t = inv_report_table(r, "Gaps");
    inv_table_column(t, "set", false);
    inv_table_column(t, "gap %", true);
    inv_table_column(t, "time", true);
    inv_table_row(t);
    inv_table_text(t, "tsp-%d", 100);
    inv_table_number(t, 1.23456789, 2);
    inv_table_seconds(t, 150);
    inv_table_rule(t);
    inv_table_row(t);
    inv_table_text(t, "odd, \"quoted\"");
    inv_table_number(t, NAN, 2);
    inv_table_note(t, "note");
    return r;
}

static char *rendered(invit_report *r, invit_table_format format)
{
    char *text;
    assert_int_equal(invit_report_render(r, format, &text, NULL), INVIT_OK);
    return text;
}

static void text_is_aligned(void **state)
{
    (void)state;
    invit_report *r = sample_report();
    char *text = rendered(r, INVIT_TABLE_TEXT);
    assert_string_equal(text, "Gaps\n"
                              "--------------------------\n"
                              "set            gap %  time\n"
                              "--------------------------\n"
                              "tsp-100         1.23  2.5m\n"
                              "--------------------------\n"
                              "odd, \"quoted\"      -      \n"
                              "--------------------------\n"
                              "note\n");
    free(text);
    invit_report_destroy(r);
}

static void markdown_and_csv_carry_the_same_cells(void **state)
{
    (void)state;
    invit_report *r = sample_report();
    char *md = rendered(r, INVIT_TABLE_MARKDOWN), *csv = rendered(r, INVIT_TABLE_CSV);
    assert_non_null(strstr(md, "| tsp-100       |  1.23 | 2.5m |\n"));
    assert_non_null(strstr(md, "|:--------------|------:|-----:|\n"));
    assert_string_equal(csv, "set,gap %,time\ntsp-100,1.23456789,150\n\"odd, \"\"quoted\"\"\",,\n");
    free(md);
    free(csv);
    invit_report_destroy(r);
}

static void json_parses_and_keeps_numbers(void **state)
{
    (void)state;
    invit_report *r = sample_report();
    char *text = rendered(r, INVIT_TABLE_JSON);
    json_t *all = json_loads(text, 0, NULL);
    assert_non_null(all);
    json_t *row = json_array_get(json_object_get(json_array_get(all, 0), "rows"), 0);
    assert_true(fabs(json_number_value(json_object_get(row, "gap %")) - 1.23456789) < 1e-9);
    assert_string_equal(json_string_value(json_object_get(row, "set")), "tsp-100");
    assert_int_equal(json_array_size(json_object_get(json_array_get(all, 0), "rows")), 2);
    json_decref(all);
    free(text);
    invit_report_destroy(r);
}

static void summaries(void **state)
{
    (void)state;
    double x[] = {2, 4, NAN, 4, 4, 5, 5, 7, 9};
    inv_summary s = inv_summarise(x, 9);
    assert_int_equal(s.count, 8);
    assert_true(fabs(s.mean - 5) < 1e-12 && fabs(s.deviation - sqrt(32.0 / 7)) < 1e-12);
    assert_true(s.smallest == 2 && s.largest == 9);
    assert_true(isnan(inv_summarise(x + 2, 1).mean));
    assert_true(isnan(inv_summarise(x, 1).deviation));
}

/* Every sign pattern, one by one: the definition of the exact test. */
static double brute_force_p(const double *d, int n)
{
    double rank[16], total = 0, seen = 0;
    for (int i = 0; i < n; i++) {
        rank[i] = 0.5;
        for (int j = 0; j < n; j++)
            rank[i] += fabs(d[j]) < fabs(d[i]) ? 1 : fabs(d[j]) == fabs(d[i]) ? 0.5 : 0;
        total += rank[i];
        if (d[i] > 0) seen += rank[i];
    }
    double extreme = fmin(seen, total - seen);
    int hits = 0;
    for (int mask = 0; mask < 1 << n; mask++) {
        double w = 0;
        for (int i = 0; i < n; i++)
            if (mask >> i & 1) w += rank[i];
        hits += fmin(w, total - w) <= extreme;
    }
    return (double)hits / (1 << n);
}

static void signed_rank_matches_its_definition(void **state)
{
    (void)state;
    srand(1);
    for (int trial = 0; trial < 200; trial++) {
        int n = 1 + rand() % 10;
        double a[10], b[10], d[10];
        for (int i = 0; i < n; i++) {
            a[i] = rand() % 9 + (trial % 2 ? 0.25 : 0) + rand() % 3;
            b[i] = rand() % 9 + 0.5;
            d[i] = a[i] - b[i];
        }
        inv_comparison c;
        assert_int_equal(inv_compare(a, b, n, 0, &c, NULL), INVIT_OK);
        assert_int_equal(c.wins + c.losses + c.ties, n);
        assert_true(fabs(c.p - brute_force_p(d, n)) < 1e-12);
    }
}

static void signed_rank_known_values(void **state)
{
    (void)state;
    /* Six wins out of six: p = 2 / 2^6. */
    double a[200], b[200];
    for (int i = 0; i < 200; i++) a[i] = 1 + i, b[i] = 1.5 + 2 * i;
    inv_comparison c;
    assert_int_equal(inv_compare(a, b, 6, 0, &c, NULL), INVIT_OK);
    assert_true(c.exact && fabs(c.p - 2.0 / 64) < 1e-15 && c.wins == 6 && c.losses == 0);
    assert_int_equal(inv_compare(a, a, 6, 0, &c, NULL), INVIT_OK);
    assert_true(c.p == 1 && c.ties == 6);
    /* The normal approximation meets the exact value where it takes over. */
    for (int i = 0; i < 51; i++) b[i] = a[i] + (i % 3 ? 1 : -1) * (1 + i);
    inv_comparison exact, normal;
    assert_int_equal(inv_compare(a, b, 50, 0, &exact, NULL), INVIT_OK);
    assert_int_equal(inv_compare(a, b, 51, 0, &normal, NULL), INVIT_OK);
    assert_true(exact.exact && !normal.exact && fabs(exact.p - normal.p) < 0.02);
    /* Pairs without a result are left out. */
    b[0] = NAN;
    assert_int_equal(inv_compare(a, b, 50, 0, &exact, NULL), INVIT_OK);
    assert_int_equal(exact.wins + exact.ties + exact.losses, 49);
}

static void published_columns_are_there(void **state)
{
    (void)state;
    const inv_published_set *s = inv_published_set_find(INVIT_TSP, "clustered", 10000);
    assert_true(s && s->gap[INV_PUBLISHED_3V] == 8.79 && strcmp(s->time[INV_PUBLISHED_3V], "10.5m") == 0);
    s = inv_published_set_find(INVIT_CVRP, "implosion", 5000);
    assert_true(s && s->gap[INV_PUBLISHED_2V] == 6.12 && isnan(s->gap[2]));
    assert_null(inv_published_set_find(INVIT_CVRP, "uniform", 100));
    const inv_published_instance *p = inv_published_instance_find(INVIT_TSP, "d15112");
    assert_true(p && p->gap[INV_PUBLISHED_2V] == 7.84 && isnan(p->gap[6]));
    assert_non_null(inv_published_instance_find(INVIT_CVRP, "X-n1001-k43"));
    assert_null(inv_published_instance_find(INVIT_CVRP, "berlin52"));
    for (int i = 0; i < INV_BUCKETS; i++) assert_true(inv_buckets[i].lowest <= inv_buckets[i].highest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_aligned),
        cmocka_unit_test(markdown_and_csv_carry_the_same_cells),
        cmocka_unit_test(json_parses_and_keeps_numbers),
        cmocka_unit_test(summaries),
        cmocka_unit_test(signed_rank_matches_its_definition),
        cmocka_unit_test(signed_rank_known_values),
        cmocka_unit_test(published_columns_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
