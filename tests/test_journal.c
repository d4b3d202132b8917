/* The results file of an evaluation: what is written is read back, cut anywhere it resumes, other runs are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lab/eval/eval_journal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static int setup(void **state)
{
    (void)state;
    strcpy(path, "/tmp/invit-journal-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0) return -1;
    close(fd);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return unlink(path);
}

static int failing = 3; /* every third outcome is a failure; 0: none */

static inv_outcome outcome(int i)
{
    inv_outcome o = {
        .nodes = 100 + i, .length = 7.5 + i, .reference = 7.25 + i, .seconds = 0.125, .decisions = 99};
    snprintf(o.set, sizeof o.set, "tsp-100-uniform");
    snprintf(o.name, sizeof o.name, "%d", i);
    o.gap = inv_gap_percent(o.length, o.reference);
    if (failing && i % failing == 2) {
        o.length = o.gap = NAN;
        snprintf(o.error, sizeof o.error, "cannot read \"x\", line %d", i);
    }
    return o;
}

static void write_some(int count)
{
    inv_journal *j;
    assert_int_equal(inv_journal_open(path, "model=a", false, &j, NULL), INVIT_OK);
    for (int i = 0; i < count; i++) {
        inv_outcome o = outcome(i);
        assert_int_equal(inv_journal_add(j, &o, NULL), INVIT_OK);
    }
    inv_journal_close(j);
}

static void same(const inv_outcome *a, const inv_outcome *b)
{
    assert_string_equal(a->set, b->set);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->error, b->error);
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->decisions, b->decisions);
    assert_true((isnan(a->length) && isnan(b->length)) || a->length == b->length);
    assert_true((isnan(a->gap) && isnan(b->gap)) || fabs(a->gap - b->gap) < 1e-6);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    write_some(7);
    inv_journal *j;
    assert_int_equal(inv_journal_read(path, &j, NULL), INVIT_OK);
    assert_int_equal(inv_journal_count(j), 7);
    assert_string_equal(inv_journal_key(j), "model=a");
    for (int i = 6; i >= 0; i--) {
        inv_outcome o = outcome(i);
        const inv_outcome *found = inv_journal_find(j, o.set, o.name);
        assert_non_null(found);
        same(found, &o);
    }
    assert_null(inv_journal_find(j, "tsp-100-uniform", "7"));
    assert_null(inv_journal_find(j, "tsp-1000-uniform", "1"));
    inv_journal_close(j);
}

/* Whatever byte the file ends at, resuming takes the complete lines and goes on behind them. */
static void resumes_after_a_cut_anywhere(void **state)
{
    (void)state;
    failing = 0;
    write_some(5);
    FILE *f = fopen(path, "r");
    char whole[4096];
    size_t size = fread(whole, 1, sizeof whole, f);
    fclose(f);
    for (size_t cut = 0; cut <= size;
         cut += cut < size - 6 ? 7 : 1) { /* every line is cut somewhere; a sync is slow */
        assert_int_equal(truncate(path, 0), 0);
        f = fopen(path, "w");
        assert_int_equal(fwrite(whole, 1, cut, f), cut);
        fclose(f);
        inv_journal *j;
        invit_error err;
        if (inv_journal_open(path, "model=a", true, &j, &err) != INVIT_OK)
            fail_msg("cut at %zu: %s", cut, err.message);
        for (int i = inv_journal_count(j); i < 5; i++) {
            inv_outcome o = outcome(i);
            assert_int_equal(inv_journal_add(j, &o, NULL), INVIT_OK);
        }
        inv_journal_close(j);
        char again[4096];
        f = fopen(path, "r");
        size_t now = fread(again, 1, sizeof again, f);
        fclose(f);
        assert_int_equal(now, size);
        assert_memory_equal(again, whole, size);
    }
}

static void failures_are_tried_again(void **state)
{
    (void)state;
    failing = 3;
    write_some(5);
    inv_journal *j;
    assert_int_equal(inv_journal_open(path, "model=a", true, &j, NULL), INVIT_OK);
    assert_int_equal(inv_journal_count(j), 4);
    assert_null(inv_journal_find(j, "tsp-100-uniform", "2"));
    assert_non_null(inv_journal_find(j, "tsp-100-uniform", "3"));
    inv_journal_close(j);
}

static void another_run_is_refused(void **state)
{
    (void)state;
    write_some(2);
    inv_journal *j;
    invit_error err;
    assert_int_equal(inv_journal_open(path, "model=b", true, &j, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "another run"));
    FILE *f = fopen(path, "a");
    fputs("tsp-100-uniform,9,100,abc,1,1,1,1,\n", f);
    fclose(f);
    assert_int_equal(inv_journal_read(path, &j, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, ":5:"));
    f = fopen(path, "w");
    fputs("hello\n", f);
    fclose(f);
    assert_int_equal(inv_journal_open(path, "model=a", true, &j, &err), INVIT_ERR_INPUT);
    assert_int_equal(inv_journal_read("/no/such/file", &j, &err), INVIT_ERR_IO);
    assert_int_equal(inv_journal_open("/dev/full", "model=a", false, &j, &err), INVIT_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(resumes_after_a_cut_anywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(failures_are_tried_again, setup, teardown),
        cmocka_unit_test_setup_teardown(another_run_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
