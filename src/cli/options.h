/* Options: one table per subcommand, from which parsing, help, range checks, did-you-mean and configuration
 * files come.
 *
 *     typedef struct { const char *output; int64_t size; int dist; cli_common common; } gen_values;
 *
 *     static const cli_option options[] = {
 *         {.name = "output", .letter = 'o', .type = CLI_STRING, .offset = offsetof(gen_values, output),
 *          .metavar = "FILE", .help = "where to write (default: standard output)"},
 *         {.name = "size", .letter = 'n', .type = CLI_INT64, .offset = offsetof(gen_values, size),
 *          .metavar = "N", .min = 1, .max = 1e7, .help = "nodes per instance"},
 *         {.name = "dist", .type = CLI_CHOICE, .offset = offsetof(gen_values, dist),
 *          .choices = "uniform|clustered|explosion|implosion", .help = "distribution of the nodes"},
 *         CLI_SEED(gen_values, common), CLI_THREADS(gen_values, common), CLI_END};
 *     static const cli_spec spec = {.command = "gen", .usage = "tsp|cvrp [OPTION...]", .about = "...",
 *                                   .options = options, .min_args = 1, .max_args = 1};
 *
 *     gen_values v = {.size = 100};                // the defaults, which the help shows
 *     cli_args args;
 *     int code = cli_parse(&spec, &v, argc, argv, &args);
 *     if (code != CLI_GO) return code;
 *     ...
 *     cli_args_free(&args);
 *
 * Every subcommand also has --help and --config FILE (lines `flag-name = value`, # comments). Flags win over
 * the file.
 */
#ifndef INVIT_CLI_OPTIONS_H
#define INVIT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cli_type {
    CLI_INT,     /* int; also 1e6                                                                      */
    CLI_INT64,   /* int64_t; also 1e6                                                                  */
    CLI_UINT64,  /* uint64_t                                                                           */
    CLI_DOUBLE,  /* double                                                                             */
    CLI_SECONDS, /* double; 10, 10s, 500ms, 2m, 1h                                                     */
    CLI_BOOL,    /* bool; --name, --no-name                                                            */
    CLI_STRING,  /* const char *                                                                       */
    CLI_CHOICE,  /* int: the position of the word in `choices`                                         */
    CLI_LIST,    /* cli_list: a,b,c and/or the flag repeated                                           */
    CLI_TEXTS    /* cli_list: the flag repeated, each value as it is                                   */
} cli_type;

typedef struct cli_list {
    int count;
    const char **item;
} cli_list;

typedef struct cli_option {
    const char *name; /* without the dashes                                                            */
    char letter;      /* the short form, 0 for none                                                    */
    cli_type type;
    size_t offset;        /* of the value in the command's struct                                      */
    const char *metavar;  /* FILE, N, SECONDS; for choices the words are shown                         */
    const char *fallback; /* text of the default for the help; NULL: shown from the struct, "": not shown */
    const char *help;     /* what it does, in a few words, lower case, no full stop                    */
    double min, max;      /* numbers: allowed range; both 0: any                                       */
    const char *choices;  /* "uniform|clustered"                                                       */
    const char *group;    /* heading in the help under which this and the following options stand, or NULL */
    bool hidden;          /* an old name: understood, not shown                                       */
    bool from_library;    /* a row of invit_options_row (cli/method.h): the value is kept as text          */
    char old_letter;      /* a short form of earlier versions, understood and not shown               */
    unsigned modes;       /* which forms of the command use it, one bit each; 0: all                  */
} cli_option;

typedef struct cli_spec {
    const char *command;
    const char *usage; /* what follows "invit COMMAND"; lines after the first are further forms    */
    const char *about; /* a sentence or two                                                         */
    const cli_option *options;
    int min_args, max_args; /* positional arguments; max_args < 0: any number                          */
    const char *more;       /* text after the options (examples), or NULL                                */
} cli_spec;

/* Flags that mean the same in every command; embed the struct and name the ones that apply in the table. */
typedef struct cli_common {
    int threads; /* 0: all cores */
    uint64_t seed;
    double time;
    bool quiet, json;
} cli_common;

#define CLI_THREADS(values, field)                                                                           \
    {                                                                                                        \
        .name = "threads", .letter = 'j', .type = CLI_INT, .offset = offsetof(values, field.threads),        \
        .metavar = "N", .fallback = "all cores", .min = 0, .max = 4096, .help = "threads to use"             \
    }
#define CLI_SEED(values, field)                                                                              \
    {                                                                                                        \
        .name = "seed", .letter = 's', .type = CLI_UINT64, .offset = offsetof(values, field.seed),           \
        .metavar = "S", .help = "seed of all random choices"                                                 \
    }
#define CLI_TIME(values, field, meaning)                                                                     \
    {                                                                                                        \
        .name = "time", .letter = 't', .type = CLI_SECONDS, .offset = offsetof(values, field.time),          \
        .metavar = "SECONDS", .min = 0, .max = 1e9, .help = meaning                                          \
    }
#define CLI_CAPACITY(values, field)                                                                          \
    {                                                                                                        \
        .name = "capacity", .type = CLI_INT64, .offset = offsetof(values, field), .metavar = "Q",            \
        .fallback = "the file's", .min = 1, .max = 2147483647,                                               \
        .help = "CSV with demands: the vehicles' capacity, instead of the table's own if it has one"         \
    }
#define CLI_QUIET(values, field)                                                                             \
    {                                                                                                        \
        .name = "quiet", .letter = 'q', .type = CLI_BOOL, .offset = offsetof(values, field.quiet),           \
        .help = "no progress line, no remarks"                                                               \
    }
#define CLI_JSON(values, field)                                                                              \
    {                                                                                                        \
        .name = "json", .type = CLI_BOOL, .offset = offsetof(values, field.json),                            \
        .help = "print JSON, one object per line"                                                            \
    }
#define CLI_END                                                                                              \
    {                                                                                                        \
        .name = NULL                                                                                         \
    }

typedef struct cli_args {
    int count; /* positional arguments                                                         */
    const char **item;
    const cli_spec *spec;
    bool *given;  /* per option: set by a flag or the configuration file                          */
    void *memory; /* what strings and lists point into                                            */
} cli_args;

/* Parses argv (argv[0] is the command's name) into *values, which holds the defaults. Returns CLI_GO to go
 * on; anything else is the exit code (0 after --help; 2 after a usage error, which has been printed). */
#define CLI_GO (-1)
int cli_parse(const cli_spec *spec, void *values, int argc, char **argv, cli_args *args);
/* After this, strings and lists parsed from a configuration file are gone too. */
void cli_args_free(cli_args *args);
/* Whether the user set that option. */
bool cli_given(const cli_args *args, const char *name);
/* Refuses options that this form of the command would ignore: those whose `modes` lack the bit. `what` names
 * the form. CLI_GO, or CLI_USAGE after the message. */
int cli_check_mode(const cli_args *args, unsigned mode, const char *what);
/* Sets chosen[i] for the names in the list and clears the others; an empty list leaves them as they are.
 * CLI_GO, or CLI_USAGE after saying which `what` is unknown. */
int cli_choose(const cli_list *list, const char *const *names, int count, bool *chosen, const char *what);
/* The help text, as --help prints it. */
void cli_print_help(const cli_spec *spec, const void *values);

/* Parse one number the way options do (for lists of numbers). False when the text is not one. */
bool cli_number(const char *text, double *out);
bool cli_integer(const char *text, int64_t *out);

#endif
