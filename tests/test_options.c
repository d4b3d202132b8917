/* The command line's parts: option tables, configuration files, help, JSON numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/options.h"
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct values {
    const char *output;
    int64_t size;
    int dist, count;
    double ratio;
    bool fancy;
    cli_list list;
    cli_common common;
} values;

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_STRING,
     .offset = offsetof(values, output),
     .metavar = "FILE",
     .help = "where to write"},
    {.name = "size",
     .letter = 'n',
     .type = CLI_INT64,
     .offset = offsetof(values, size),
     .metavar = "N",
     .min = 1,
     .max = 1e7,
     .help = "nodes"},
    {.name = "dist",
     .type = CLI_CHOICE,
     .offset = offsetof(values, dist),
     .choices = "uniform|clustered|explosion",
     .help = "distribution"},
    {.name = "count", .type = CLI_INT, .offset = offsetof(values, count), .metavar = "M", .help = "how many"},
    {.name = "ratio",
     .type = CLI_DOUBLE,
     .offset = offsetof(values, ratio),
     .metavar = "R",
     .help = "a ratio"},
    {.name = "fancy", .type = CLI_BOOL, .offset = offsetof(values, fancy), .help = "nicer"},
    {.name = "list", .type = CLI_LIST, .offset = offsetof(values, list), .metavar = "A,B", .help = "several"},
    CLI_THREADS(values, common),
    CLI_SEED(values, common),
    CLI_TIME(values, common, "time to use"),
    CLI_QUIET(values, common),
    CLI_JSON(values, common),
    CLI_END,
};
static const cli_spec spec = {.command = "probe",
                              .usage = "[FILE...]",
                              .about = "A probe.",
                              .options = options,
                              .min_args = 0,
                              .max_args = 2};

#define PARSE(v, args, ...)                                                                                  \
    cli_parse(&spec, (v), (int)(sizeof((char *[]){"probe", __VA_ARGS__}) / sizeof(char *)),                  \
              (char *[]){"probe", __VA_ARGS__, NULL}, (args))

static void flags_reach_the_struct(void **state)
{
    (void)state;
    values v = {.size = 5};
    cli_args args;
    assert_int_equal(PARSE(&v, &args, "a.tsp", "--size", "1e6", "-oout", "--dist=clustered", "-qj3",
                           "--fancy", "--time", "2m", "--seed", "18446744073709551615", "--list", "x,y",
                           "--list", "z", "--", "--b"),
                     CLI_GO);
    assert_int_equal(v.size, 1000000);
    assert_string_equal(v.output, "out");
    assert_int_equal(v.dist, 1);
    assert_true(v.common.quiet);
    assert_int_equal(v.common.threads, 3);
    assert_true(v.fancy);
    assert_true(v.common.time == 120);
    assert_true(v.common.seed == UINT64_MAX);
    assert_int_equal(v.list.count, 3);
    assert_string_equal(v.list.item[2], "z");
    assert_int_equal(args.count, 2);
    assert_string_equal(args.item[1], "--b");
    assert_true(cli_given(&args, "size"));
    assert_false(cli_given(&args, "ratio"));
    cli_args_free(&args);
    assert_int_equal(PARSE(&v, &args, "--no-fancy", "-n", "7"), CLI_GO);
    assert_false(v.fancy);
    assert_int_equal(v.size, 7);
    cli_args_free(&args);
}

static void mistakes_are_usage_errors(void **state)
{
    (void)state;
    values v = {.size = 5};
    cli_args args;
    assert_int_equal(PARSE(&v, &args, "--szie", "3"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--size"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--size", "0"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--size", "20000000"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--size", "1.5"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--size", "12x"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--size", "99999999999999999999"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--count", "3000000000"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--ratio", "nan"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--seed", "-1"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--time", "3 weeks"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--dist", "uni"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--fancy=perhaps"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "-z"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "a", "b", "c"), CLI_USAGE);
    assert_int_equal(PARSE(&v, &args, "--config", "/nonexistent"), CLI_FAILED);
}

static int parse_config(const char *text, values *v, cli_args *args)
{
    char path[] = "/tmp/invit-options-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
    close(fd);
    int code = PARSE(v, args, "--size", "9", "--config", path);
    unlink(path);
    return code;
}

static void a_configuration_file_fills_in_but_flags_win(void **state)
{
    (void)state;
    values v = {0};
    cli_args args;
    assert_int_equal(
        parse_config("# a comment\n size = 4\nratio=0.25\r\n\nfancy = yes\nlist = a,b\noutput = \"x y\"", &v,
                     &args),
        CLI_GO);
    assert_int_equal(v.size, 9);
    assert_true(v.ratio == 0.25);
    assert_true(v.fancy);
    assert_int_equal(v.list.count, 2);
    assert_string_equal(v.output, "x y");
    assert_true(cli_given(&args, "ratio"));
    cli_args_free(&args);
    assert_int_equal(parse_config("\xef\xbb\xbfratio = 0.5\r\n", &v, &args), CLI_GO); /* a byte order mark */
    assert_true(v.ratio == 0.5);
    cli_args_free(&args);
    assert_int_equal(parse_config("\xff\xfer", &v, &args), CLI_FAILED); /* UTF-16 */
    assert_int_equal(parse_config("sise = 4\n", &v, &args), CLI_USAGE);
    assert_int_equal(parse_config("size 4\n", &v, &args), CLI_USAGE);
    assert_int_equal(parse_config("ratio = many\n", &v, &args), CLI_USAGE);
    assert_int_equal(parse_config("config = other\n", &v, &args), CLI_USAGE);
}

static void near_names_are_suggested(void **state)
{
    (void)state;
    const char *names[] = {"threads", "seed", "time"};
    assert_string_equal(cli_nearest("--thread", names, 3), "threads");
    assert_string_equal(cli_nearest("sede", names, 3), "seed");
    assert_null(cli_nearest("zebra", names, 3));
}

static void json_numbers_read_back(void **state)
{
    (void)state;
    char text[32];
    double hard[] = {0.1, 1.0 / 3, 1e300, 5e-324, 7542, -0.0, 3.1415926535897931, 123456789012345678.0};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        assert_true(strtod(inv_number_text(hard[i], text), NULL) == hard[i]);
    assert_string_equal(inv_number_text(0.1, text), "0.1");

    char *buffer = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&buffer, &size);
    inv_json j = inv_json_to_file(out);
    inv_json_open(&j, NULL, '{');
    inv_json_string(&j, "name", "a\"b\\\n\x01 \xc3\xa9 \xff");
    inv_json_number(&j, "gap", NAN);
    inv_json_open(&j, "tour", '[');
    inv_json_int(&j, NULL, 1);
    inv_json_int(&j, NULL, -2);
    inv_json_close(&j);
    inv_json_bool(&j, "ok", true);
    inv_json_close(&j);
    fclose(out);
    assert_string_equal(buffer, "{\"name\": \"a\\\"b\\\\\\n\\u0001 \xc3\xa9 \\ufffd\", \"gap\": null, "
                                "\"tour\": [1, -2], \"ok\": true}\n");
    free(buffer);
}

int main(void)
{
    if (!freopen("/dev/null", "w", stderr)) return 1; /* the messages are meant for people */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_reach_the_struct),
        cmocka_unit_test(mistakes_are_usage_errors),
        cmocka_unit_test(a_configuration_file_fills_in_but_flags_win),
        cmocka_unit_test(near_names_are_suggested),
        cmocka_unit_test(json_numbers_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
