/* invit bench: speed, area by area. An area is a file bench_NAME.c with `int bench_NAME(int argc, char
 * **argv)`, which parses its own options; `invit bench all` runs every area with its defaults. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#define AREAS(X)                                                                                             \
    X(io, "reading, writing and generating a million nodes")                                                 \
    X(policy, "decisions per second of the network, and where the time goes")                                \
    X(improve, "local search: moves per second, length after a time")                                        \
    X(train, "labelled states per second, forward and backward")

#define DECLARE(name, summary) __attribute__((weak)) int bench_##name(int argc, char **argv);
AREAS(DECLARE)

typedef struct area {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} area;

#define ROW(name, summary) {#name, summary, bench_##name},
static const area areas[] = {AREAS(ROW)};
enum { AREA_COUNT = sizeof areas / sizeof *areas };

static void print_help(void)
{
    printf("usage: invit bench AREA [OPTION...]\n\nMeasures speed on this machine.\n\nAreas:\n");
    for (int i = 0; i < AREA_COUNT; i++)
        if (areas[i].run) printf("  %-8s %s\n", areas[i].name, areas[i].summary);
    printf("  %-8s %s\n", "all", "all of them, with their defaults");
    printf("\n`invit bench AREA --help` shows an area's options.\n");
}

static int run_all(void)
{
    int code = CLI_OK;
    for (int i = 0; i < AREA_COUNT && !cli_cancelled(); i++) {
        if (!areas[i].run) continue;
        char title[32];
        snprintf(title, sizeof title, "bench %s", areas[i].name);
        char *argv[] = {title, NULL};
        printf("== %s\n", areas[i].name);
        int result = areas[i].run(1, argv);
        if (code == CLI_OK) code = result;
        printf("\n");
    }
    return code;
}

int cmd_bench(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    bool all = strcmp(word, "all") == 0;
    if (cli_asks_for_help(word) || (all && argc > 2 && cli_asks_for_help(argv[2]))) {
        print_help();
        return argc > 1 ? CLI_OK : CLI_USAGE;
    }
    if (all && argc > 2) return cli_bad_usage("bench all takes no options, found '%s'", argv[2]);
    if (all) return run_all();
    const char *names[AREA_COUNT];
    int count = 0;
    for (int i = 0; i < AREA_COUNT; i++) {
        if (!areas[i].run) continue;
        if (strcmp(areas[i].name, word) == 0) return areas[i].run(argc - 1, argv + 1);
        names[count++] = areas[i].name;
    }
    const char *near = cli_nearest(word, names, count);
    if (near) return cli_bad_usage("unknown area '%s'; did you mean '%s'?", word, near);
    return cli_bad_usage("unknown area '%s'; `invit bench --help` lists them", word);
}
