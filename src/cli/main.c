/* invit: one program, one file a subcommand (cmd_NAME.c with `int cmd_NAME(int argc, char **argv)`). */
#include "base/json_memory.h"
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the order of a first visit; the third column is the heading they stand under. */
#define COMMANDS(X)                                                                                          \
    X(solve, "construct and improve a solution of an instance", "Solve")                                     \
    X(check, "check a solution and measure it, independently of the solver", "Solve")                        \
    X(plot, "draw an instance, a solution, an anytime curve or a training run", "Solve")                     \
    X(gen, "generate instances", "Instances")                                                                \
    X(info, "describe an instance or a model; write an instance in another format", "Instances")             \
    X(import, "convert a published checkpoint", "Models")                                                    \
    X(train, "train a model", "Models")                                                                      \
    X(eval, "measure models and solvers on sets of instances", "Measure")                                    \
    X(stats, "measure what the paper found about good tours", "Measure")                                     \
    X(bench, "measure speed", "Measure")                                                                     \
    X(serve, "solve in the browser and over HTTP", "Serve")

#define DECLARE(name, summary, heading) int cmd_##name(int argc, char **argv);
COMMANDS(DECLARE)

typedef struct command {
    const char *name, *summary, *heading;
    int (*run)(int argc, char **argv);
} command;

#define ROW(name, summary, heading) {#name, summary, heading, cmd_##name},
static const command commands[] = {COMMANDS(ROW)};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const command *find(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i].name;
    const char *near = cli_nearest(name, names, COMMAND_COUNT);
    if (near) return cli_bad_usage("unknown command '%s'; did you mean '%s'?", name, near);
    return cli_bad_usage("unknown command '%s'; `invit --help` lists them", name);
}

static void print_help(void)
{
    printf("usage: invit COMMAND [ARGUMENT...]\n\n"
           "Routes for travelling salesmen and delivery vehicles: constructed by INViT, a small\n"
           "transformer over nested neighbourhood views, and improved while there is time.\n");
    const char *heading = "";
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(heading, commands[i].heading) != 0) printf("\n%s\n", commands[i].heading);
        heading = commands[i].heading;
        printf("  %-8s %s\n", commands[i].name, commands[i].summary);
    }
    printf("\n`invit help COMMAND` or `invit COMMAND --help` shows a command's options.\n");
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help();
        return CLI_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("invit %s\n", invit_version());
        return CLI_OK;
    }
    bool help = strcmp(word, "help") == 0;
    if (cli_asks_for_help(word) || (help && (argc == 2 || cli_asks_for_help(argv[2])))) {
        print_help();
        return CLI_OK;
    }
    const command *c = find(help ? argv[2] : word);
    if (!c) return unknown_command(help ? argv[2] : word);
    char *ask[] = {(char *)c->name, "--help", NULL};
    return help ? c->run(2, ask) : c->run(argc - 1, argv + 1);
}

/* A file that is opened must not take the place of a standard stream that is closed, and get its messages.
 * What stands there instead can be opened but not used, so that using it is still an error. */
static void guard_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            _exit(CLI_FAILED);
}

int main(int argc, char **argv)
{
    guard_standard_streams();
    inv_json_watch();
    setlocale(LC_CTYPE, "");  /* file names; numbers keep their decimal point */
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error with a message, not a silent death; */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file larger than `ulimit -f` */
    int code = run(argc, argv);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_OK)
        code = cli_fail("cannot write to standard output: %s", errno ? strerror(errno) : "write failed");
    return code;
}
