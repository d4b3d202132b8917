/* Texts from outside: nothing that a terminal obeys, nothing that a spreadsheet computes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/formula.h"
#include "files.h"
#include "folder.h"
#include "program.h"

static void says_nothing_else(void)
{
    for (const char *at = output; *at; at++)
        if (((unsigned char)*at < 32 && *at != '\n') || ((unsigned char)*at == 0x9b && at[-1] == '\xc2'))
            fail_msg("byte %zu of '%s'", (size_t)(at - output), output);
}

static void messages_name_arguments_and_files_without_escapes(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "solve x --wrong$E",     "wrong$E",
        "solve none$E.tsp",      "solve x.tsp -o none$E/x.tour",
        "plot x.tsp -o x$E.pcx", "solve x.tsp --time 1$E",
    };
    write_text("x.tsp", "0 0\n1 0\n1 1\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_true(run("E=$(printf '\\033[31m\\302\\233'); invit %s", wrong[i]) > 0);
        says("invit: ");
        says("?[31m??");
        says_nothing_else();
    }
}

/* Metadata is JSON, where an escape is written with harmless characters. */
static void write_model(const char *path, const char *metadata)
{
    size_t size, more = strlen(metadata);
    char *bytes = read_file(TEST_DATA "/golden/tsp-tiny.weights.safetensors", &size),
         *larger = malloc(size + more);
    static const char before[] = "{\"__metadata__\":{";
    size_t at = 8 + sizeof before - 1;
    uint64_t header;
    assert_memory_equal(bytes + 8, before, sizeof before - 1);
    memcpy(larger, bytes, at);
    memcpy(larger + at, metadata, more);
    memcpy(larger + at + more, bytes + at, size - at);
    memcpy(&header, larger, sizeof header);
    header += more;
    memcpy(larger, &header, sizeof header);
    write_file(path, larger, size + more);
    free(bytes);
    free(larger);
}

static void models_are_described_without_escapes(void **state)
{
    (void)state;
    write_model("a.safetensors", "\"other\":\"\\u009b31m\",");
    must(run("invit info a.safetensors"));
    says("metadata");
    says("??31m");
    says_nothing_else();
    write_model(
        "b.safetensors",
        "\"run\":\"r\\u001b\",\"version\":\"v\\u009b\",\"steps\":\"1\\u001b\",\"command\":\"c\\u001b\",");
    must(run("invit info b.safetensors"));
    says("run r?, 1? steps, invit v??");
    says_nothing_else();
    must(run("invit info --json b.safetensors"));
    says_nothing_else();
}

static void formulas_are_told_from_numbers(void **state)
{
    (void)state;
    static const char *const formula[] = {"=1",           "@x", "+x", "-x()", " =1", "\t=1", "\357\274\2351",
                                          "\357\274\240x"},
                             *const other[] = {"",    "-",   "-1.5", "+49 (0)89/123-456", "a=1", "'=1",
                                               "- 3", "1e5", "x@y"};
    for (size_t i = 0; i < sizeof formula / sizeof *formula; i++)
        if (!inv_is_formula(formula[i])) fail_msg("%s", formula[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (inv_is_formula(other[i])) fail_msg("%s", other[i]);
    assert_true(inv_is_quoted_formula("''=1"));
}

/* Names in the tables and the results of an evaluation; and a run that goes on finds them again. */
static void evaluations_have_no_formulas(void **state)
{
    (void)state;
    static const char *const name[] = {"=1+cmd()", "'=2", "a"};
    char file[8], text[200];
    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%d.tsp", i);
        snprintf(text, sizeof text,
                 "NAME : %s\nTYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"
                 "1 0 0\n2 9 0\n3 9 9\nEOF\n",
                 name[i]);
        write_text(file, text);
    }
    must(run("invit eval [0-2].tsp -c greedy -q -f csv -o t.csv --results r.csv && cat t.csv r.csv"));
    says("\n'=1+cmd(),");
    says("\ntsplib,'=1+cmd(),");
    says("\ntsplib,''=2,");
    must(run("cp r.csv again.csv && invit eval [0-2].tsp -c greedy -q -f csv -o t.csv --results r.csv "
             "--resume && cmp r.csv again.csv"));
}

/* A file's name may hold what it likes: its failure is one line of the results, and no escape in the table. */
static void failures_stay_on_their_line(void **state)
{
    (void)state;
    must(
        run("N=$(printf 'a\\nb\\033[31m.tsp'); echo nonsense >\"$N\"; printf '0 0\\n1 0\\n1 1\\n' >good.txt; "
            "invit gen tsp -n 5 -o 5.tsp; invit eval \"$N\" 5.tsp -c greedy -q --results r.csv; "
            "invit eval 5.tsp -c greedy -q --results r.csv --resume -f csv -o t.csv"));
    run("N=$(printf 'a\\nb\\033[31m.tsp'); invit eval \"$N\" 5.tsp -c greedy -q");
    says("?[31m");
    says_nothing_else();
}

#define IN_DIRECTORY(f) cmocka_unit_test_setup_teardown(f, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(messages_name_arguments_and_files_without_escapes),
        IN_DIRECTORY(models_are_described_without_escapes),
        cmocka_unit_test(formulas_are_told_from_numbers),
        IN_DIRECTORY(evaluations_have_no_formulas),
        IN_DIRECTORY(failures_stay_on_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
