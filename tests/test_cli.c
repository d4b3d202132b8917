/* The program as a user meets it: exit codes, messages, pipes, and the same options everywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shell.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char said[65536]; /* what the last command wrote */

/* Runs `invit ARGUMENTS` in a shell (arguments may hold redirections) and returns its exit code. */
static int invit(const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "{ '%s' %s; } 2>&1", TEST_BINARY, arguments);
    return shell(command, said, sizeof said);
}

static bool says(const char *text)
{
    return strstr(said, text) != NULL;
}

static void help_and_version(void **state)
{
    (void)state;
    assert_int_equal(invit("--version"), 0);
    assert_true(strncmp(said, "invit ", 6) == 0);
    assert_int_equal(invit("--help"), 0);
    assert_true(says("plot") && says("gen") && says("check"));
    assert_int_equal(invit(""), 2);
    assert_int_equal(invit("help plot"), 0);
    assert_true(says("usage: invit plot"));
    assert_int_equal(invit("help nonsense"), 2);
    assert_int_equal(invit("help --help"), 0);
    assert_true(says("usage: invit COMMAND"));
}

/* Every command in --help answers --help with options, and refuses an unknown one with exit code 2. */
static void every_command_has_the_same_manners(void **state)
{
    (void)state;
    char list[16][16];
    int count = 0;
    invit("--help");
    for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n"))
        if (strncmp(line, "  ", 2) == 0 && count < 16) sscanf(line, " %15s", list[count++]);
    assert_true(count >= 5);
    for (int i = 0; i < count; i++) {
        char arguments[320];
        snprintf(arguments, sizeof arguments, "%s --help", list[i]);
        assert_int_equal(invit(arguments), 0);
        assert_true(says("usage: invit "));
        snprintf(arguments, sizeof arguments, "%s --no-such-option", list[i]);
        assert_int_equal(invit(arguments), 2);
        assert_true(strncmp(said, "invit: ", 7) == 0);
    }
}

static void mistakes_are_met_with_help(void **state)
{
    (void)state;
    assert_int_equal(invit("plto"), 2);
    assert_true(says("did you mean 'plot'"));
    assert_int_equal(invit("gen tsp --siez 5"), 2);
    assert_true(says("did you mean '--size'"));
    assert_int_equal(invit("gen tsp --size many"), 2);
    assert_true(says("--size: expected a whole number"));
    assert_int_equal(invit("gen cvrp --library --capacity 30"), 2);
    assert_true(says("--library draws what --capacity would set"));
    assert_int_equal(invit("plot /nonexistent.csv --capacity 9 --index 1 -o /tmp/x.svg"), 2);
    assert_true(says("leave --index out"));
    assert_int_not_equal(invit("train tsp --gae-lambda 0.5 --steps 1 --run /dev/null/run"), 0);
    assert_true(says("--gae-lambda 0.5 changes nothing in this run; it is for --method reinforce"));
    assert_int_equal(invit("train tsp cvrp --steps 1 --run /dev/null/run"), 2);
    assert_true(says("unexpected argument 'cvrp'"));
    assert_int_equal(invit("plot /nonexistent.tsp -o /tmp/x.svg"), 1);
    assert_true(says("/nonexistent.tsp"));
    assert_int_equal(invit("plot / -o /tmp/x.svg"), 1);
    assert_true(says("/: this folder holds no training run"));
}

/* Runs gen into a pipe that nobody reads: a message, and exit code 1. */
static void write_to_nobody(const char *before)
{
    char command[512], file_name[64];
    snprintf(file_name, sizeof file_name, "/tmp/invit-cli-%d", (int)getpid());
    snprintf(command, sizeof command,
             "( %s sleep 0.2; '%s' gen tsp --size 100000 2>%s; echo $? >> %s ) | true", before, TEST_BINARY,
             file_name, file_name);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(file_name, "r");
    assert_non_null(file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    fclose(file);
    unlink(file_name);
    assert_true(says("invit: "));
    assert_true(says("\n1\n"));
}

static void a_full_disk_and_a_closed_pipe_are_errors(void **state)
{
    (void)state;
    assert_int_equal(invit("--help > /dev/full"), 1);
    assert_true(says("cannot write"));
    assert_int_equal(invit("gen tsp --size 100000 > /dev/full"), 1);
    assert_true(says("invit: "));
    /* the reader is gone before the first byte, whatever the caller does about SIGPIPE */
    write_to_nobody("");
    write_to_nobody("trap '' PIPE;");
}

/* A short form means the same wherever it is shown. */
static void a_letter_has_one_meaning(void **state)
{
    (void)state;
    static const char *const commands[] = {
        "solve", "gen",   "check",       "plot",     "eval",   "stats",        "train",
        "info",  "serve", "bench train", "bench io", "import", "bench policy", "bench improve"};
    char meaning[128][32] = {{0}};
    int shown = 0;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "%s --help", commands[i]);
        assert_int_equal(invit(arguments), 0);
        for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
            char letter, name[32];
            if (strncmp(line, "      --", 8) == 0 && sscanf(line + 8, "%31[a-z-]", name) == 1 &&
                (strcmp(name, "seed") == 0 || strcmp(name, "threads") == 0))
                fail_msg("%s: --%s has no short form here", commands[i], name);
            if (sscanf(line, " -%c, --%31[a-z-]", &letter, name) != 2) continue;
            if (strcmp(name, "sizes") == 0) strcpy(name, "size");    /* one or several */
            if (strcmp(name, "figure") == 0) strcpy(name, "output"); /* the file that is written */
            char *known = meaning[(unsigned char)letter & 127];
            if (!*known) strcpy(known, name);
            if (strcmp(known, name) != 0)
                fail_msg("%s: -%c is --%s, elsewhere --%s", commands[i], letter, name, known);
            shown++;
        }
    }
    assert_true(shown > 40);
    assert_string_equal(meaning['n'], "size");
    assert_string_equal(meaning['r'], "rollouts");
    assert_string_equal(meaning['s'], "seed");
    assert_string_equal(meaning['j'], "threads");
    assert_int_equal(invit("train tsp -s 5 -j 1 --steps 1 --run /dev/null/run"), 1);
    assert_true(says("/dev/null/run"));
    assert_int_equal(invit("gen tsp -n 5 -c 2 --format msvdrp | wc -l"), 0); /* of version 0.1 */
    assert_true(strtol(said, NULL, 10) == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_version),
        cmocka_unit_test(every_command_has_the_same_manners),
        cmocka_unit_test(mistakes_are_met_with_help),
        cmocka_unit_test(a_letter_has_one_meaning),
        cmocka_unit_test(a_full_disk_and_a_closed_pipe_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
