/* The interface that programs compile against: options by name, results by name, output to memory, and its size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void every_option_has_a_row_that_sets_its_own_default(void **state)
{
    (void)state;
    invit_options *o = invit_options_create();
    invit_option row;
    invit_error err;
    int rows = 0;
    for (; invit_options_row(NULL, rows, &row, sizeof row); rows++) {
        assert_non_null(row.name);
        assert_non_null(row.help);
        assert_true(row.choices || strcmp(row.type, "choice") != 0);
        if (!row.value[0]) continue; /* by size */
        assert_int_equal(invit_options_set(o, row.name, row.value, &err), INVIT_OK);
        if (row.fallback && row.min + 1 != row.max && strpbrk(row.fallback, " ") == NULL &&
            strcmp(row.fallback, "none") != 0)
            assert_string_equal(row.fallback, row.value);
    }
    assert_true(rows >= 12);
    assert_false(invit_options_row(NULL, -1, &row, sizeof row));
    invit_options_destroy(o);
}

static void values_are_checked_and_kept(void **state)
{
    (void)state;
    static const char *const good[][3] = {{"time", "1m", "60"},
                                          {"seed", "18446744073709551615", "18446744073709551615"},
                                          {"construct", "savings", "savings"},
                                          {"rollouts", "1e3", "1000"},
                                          {"target", "0.1", "0.1"}};
    static const char *const bad[][2] = {{"time", "-1"},        {"time", "nan"},  {"rollouts", "0"},
                                         {"rollouts", "2.5"},   {"seed", "-1"},   {"construct", "start"},
                                         {"construct", ""},     {"beam", "4097"}, {"threads", "many"},
                                         {"no such thing", "1"}};
    invit_options *o = invit_options_create();
    invit_error err;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        invit_option row = {0};
        assert_int_equal(invit_options_set(o, good[i][0], good[i][1], &err), INVIT_OK);
        for (int r = 0; invit_options_row(o, r, &row, sizeof row); r++)
            if (strcmp(row.name, good[i][0]) == 0) assert_string_equal(row.value, good[i][2]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(invit_options_set(o, bad[i][0], bad[i][1], &err), INVIT_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, bad[i][0]));
    }
    invit_options_destroy(o);
}

/* A program compiled before a field was added passes a smaller size: nothing behind it is touched. */
static void a_smaller_row_is_filled_as_far_as_it_goes(void **state)
{
    (void)state;
    invit_option row;
    memset(&row, 0x55, sizeof row);
    assert_true(invit_options_row(NULL, 0, &row, offsetof(invit_option, help)));
    assert_non_null(row.name);
    for (size_t i = offsetof(invit_option, help); i < sizeof row; i++)
        assert_int_equal(((unsigned char *)&row)[i], 0x55);
}

static void a_solution_tells_how_it_was_made(void **state)
{
    (void)state;
    const double xy[] = {0, 0, 3, 0, 3, 4, 0, 4};
    const int32_t tour[] = {0, 1, 2, 3}, start[] = {0, 4};
    invit_options *o = invit_options_create();
    invit_instance *p;
    invit_solution *s, *foreign;
    assert_int_equal(invit_instance_create_tsp(xy, 4, INVIT_EXACT, &p, NULL), INVIT_OK);
    assert_int_equal(invit_options_set(o, "construct", "nearest", NULL), INVIT_OK);
    assert_int_equal(invit_options_set(o, "iterations", "0", NULL), INVIT_OK);
    assert_int_equal(invit_solve(p, NULL, o, &s, NULL), INVIT_OK);
    assert_true(invit_solution_get(s, "length") == 14);
    assert_true(invit_solution_get(s, "routes") == 1);
    assert_true(invit_solution_get(s, "construct") == INVIT_CONSTRUCT_NEAREST);
    assert_true(isnan(invit_solution_get(s, "colour")));
    assert_int_equal(invit_solution_create(tour, start, 1, &foreign, NULL), INVIT_OK);
    assert_true(isnan(invit_solution_get(foreign, "length")));
    invit_solution_destroy(foreign);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
    invit_options_destroy(o);
}

/* Who cancels at once still gets a solution, with the policy asked for too. */
static void an_early_cancel_gives_a_quick_solution(void **state)
{
    (void)state;
    volatile int cancel = 1;
    const invit_control control = {.cancel = &cancel};
    for (int problem = 0; problem < 2; problem++) {
        invit_options *o = invit_options_create();
        invit_model *m;
        invit_instance *p;
        invit_solution *s;
        invit_check_result found;
        assert_int_equal(invit_model_random((invit_problem)problem, 2, 1, &m, NULL), INVIT_OK);
        assert_int_equal(invit_generate((invit_problem)problem, INVIT_UNIFORM, 300, 1, 0, &p, NULL),
                         INVIT_OK);
        invit_options_set_control(o, &control);
        assert_int_equal(invit_solve(p, m, o, &s, NULL), INVIT_OK);
        assert_int_equal(invit_check(p, s, &found, NULL), INVIT_OK);
        assert_true(found.feasible);
        assert_true(invit_solution_get(s, "construct") != INVIT_CONSTRUCT_INVIT);
        invit_solution_destroy(s);
        invit_instance_destroy(p);
        invit_model_destroy(m);
        invit_options_destroy(o);
    }
}

static void output_goes_to_memory_as_to_files(void **state)
{
    (void)state;
    const double xy[] = {0, 0, 3, 0, 3, 4, 0, 4};
    const int32_t tour[] = {0, 1, 2, 3}, start[] = {0, 4};
    invit_instance *p;
    invit_solution *s;
    invit_writer *w;
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(invit_instance_create_tsp(xy, 4, INVIT_EXACT, &p, NULL), INVIT_OK);
    assert_int_equal(invit_solution_create(tour, start, 1, &s, NULL), INVIT_OK);
    assert_int_equal(invit_writer_open_memory(&text, &size, &w, NULL), INVIT_OK);
    assert_int_equal(invit_writer_solution(w, p, s, INVIT_SOLUTION_TOUR, NULL, NULL), INVIT_OK);
    assert_int_equal(invit_writer_close(w, NULL), INVIT_OK);
    assert_int_equal(strlen(text), size);
    assert_non_null(strstr(text, "TOUR_SECTION\n1\n2\n3\n4\n"));
    free(text);
    assert_int_equal(invit_writer_open_memory(&text, NULL, &w, NULL), INVIT_OK);
    for (int i = 0; i < 20000; i++) /* more than one buffer */
        assert_int_equal(invit_writer_instance(w, p, INVIT_FORMAT_MSVDRP, NULL), INVIT_OK);
    assert_int_equal(invit_writer_close(w, NULL), INVIT_OK);
    assert_int_equal(strlen(text) % 20000, 0);
    free(text);
    assert_int_equal(invit_writer_open_memory(&text, &size, &w, NULL), INVIT_OK);
    invit_writer_abandon(w);
    assert_null(text);
    assert_int_equal(invit_plot_memory(p, s, ".svg", NULL, &text, &size, NULL), INVIT_OK);
    assert_non_null(strstr(text, "</svg>"));
    free(text);
    assert_int_equal(invit_plot_memory(p, s, ".gif", NULL, &text, &size, NULL), INVIT_ERR_ARGUMENT);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

/* What callers make keeps its size for ever: new fields take the place of reserved ones. What the library leaves in those is 0. */
static void structs_of_callers_keep_their_size(void **state)
{
    (void)state;
    enum { POINTER = sizeof(void *) };
    assert_int_equal(sizeof(invit_error), 4 + 1024);
    assert_int_equal(sizeof(invit_control), 7 * POINTER);
    assert_int_equal(sizeof(invit_generate_options), 8 + 4 + 4 + 8 + 8 + 64);
    assert_int_equal(sizeof(invit_solution_info), 64);
    assert_int_equal(sizeof(invit_check_result), 8 + 16 + 4 + 256 + 4 + 64);
    assert_int_equal(sizeof(invit_stop), 8 + 6 * 8 + 24);

    const double xy[] = {0, 0, 3, 0, 3, 4, 0, 4};
    const int32_t tour[] = {0, 1, 2, 3}, start[] = {0, 4};
    invit_instance *p;
    invit_solution *s;
    invit_check_result found;
    invit_stop stops[6];
    memset(&found, 0x55, sizeof found);
    memset(stops, 0x55, sizeof stops);
    assert_int_equal(invit_instance_create_tsp(xy, 4, INVIT_EXACT, &p, NULL), INVIT_OK);
    assert_int_equal(invit_solution_create(tour, start, 1, &s, NULL), INVIT_OK);
    assert_int_equal(invit_check(p, s, &found, NULL), INVIT_OK);
    for (int i = 0; i < 8; i++) assert_true(found.reserved[i] == 0);
    int32_t count = invit_schedule(p, s, 0, stops);
    for (int32_t i = 0; i < count; i++)
        for (int j = 0; j < 3; j++) assert_true(stops[i].reserved[j] == 0);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
}

/* The solver's header stays small: what is for experiments belongs into invit_lab.h. */
static void the_header_has_at_most_sixty_functions(void **state)
{
    (void)state;
    FILE *f = fopen(TEST_DATA "/../../include/invit.h", "r");
    char line[1024];
    int functions = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) functions += strncmp(line, "INVIT_API ", 10) == 0;
    fclose(f);
    assert_true(functions > 40 && functions <= 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_has_a_row_that_sets_its_own_default),
        cmocka_unit_test(values_are_checked_and_kept),
        cmocka_unit_test(a_smaller_row_is_filled_as_far_as_it_goes),
        cmocka_unit_test(a_solution_tells_how_it_was_made),
        cmocka_unit_test(an_early_cancel_gives_a_quick_solution),
        cmocka_unit_test(output_goes_to_memory_as_to_files),
        cmocka_unit_test(structs_of_callers_keep_their_size),
        cmocka_unit_test(the_header_has_at_most_sixty_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
