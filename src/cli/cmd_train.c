/* invit train: learn a model, by imitation or REINFORCE. The options are the library's table, so that flags,
 * the keys of a configuration file and the run's saved configuration are the same names. */
#include "base/names.h"
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 96 };

typedef struct values {
    const char *text[MOST]; /* one per library option, NULL when not given */
    const char *resume, *output;
    int64_t count;
    bool quiet;
} values;

typedef struct table {
    cli_option option[MOST + 8];
    char fallback[MOST][600];
    int library; /* rows that are the library's */
} table;

/* The letters of CLI_THREADS and CLI_SEED. */
static char letter_of(const char *key)
{
    if (strcmp(key, "threads") == 0) return 'j';
    return strcmp(key, "seed") == 0 ? 's' : 0;
}

static void fill_table(table *t, const invit_train_options *defaults)
{
    invit_option_info info;
    int n = 0;
    for (; n < MOST && invit_train_option(n, &info); n++) {
        invit_train_get(defaults, info.key, t->fallback[n], sizeof t->fallback[n], NULL);
        t->option[n] = (cli_option){.name = info.key,
                                    .letter = letter_of(info.key),
                                    .type = CLI_STRING,
                                    .offset = offsetof(values, text) + (size_t)n * sizeof(const char *),
                                    .metavar = info.value,
                                    .fallback = t->fallback[n],
                                    .help = info.help,
                                    .group = info.group,
                                    .hidden = info.hidden};
    }
    t->library = n;
    t->option[n++] =
        (cli_option){.name = "resume",
                     .type = CLI_STRING,
                     .offset = offsetof(values, resume),
                     .metavar = "DIR",
                     .fallback = "",
                     .group = "More",
                     .help = "go on with the run in DIR; minutes, steps and threads may be given anew"};
    t->option[n++] = (cli_option){.name = "output",
                                  .letter = 'o',
                                  .type = CLI_STRING,
                                  .offset = offsetof(values, output),
                                  .metavar = "FILE",
                                  .fallback = "",
                                  .help = "label: the file to write"};
    t->option[n++] = (cli_option){.name = "count",
                                  .old_letter = 'n',
                                  .type = CLI_INT64,
                                  .offset = offsetof(values, count),
                                  .metavar = "N",
                                  .min = 1,
                                  .max = 1e9,
                                  .help = "label: instances to solve"};
    t->option[n++] = (cli_option){.name = "quiet",
                                  .letter = 'q',
                                  .type = CLI_BOOL,
                                  .offset = offsetof(values, quiet),
                                  .help = "no progress line"};
    t->option[n] = (cli_option)CLI_END;
}

static const char *const about =
    "Trains a model from nothing or from --init. `imitate` learns from "
    "near-optimal tours that the expert, a search, makes on the "
    "fly; `reinforce` optimises the tours themselves. A run lives in a "
    "directory and can be resumed bit for bit after "
    "any interruption. `invit train label` writes a file of labels for "
    "--labels. Under mpirun the ranks share each batch. The defaults shown are "
    "those of the problem and method named (`invit train cvrp --method reinforce --help`), "
    "else of `train tsp` by imitation. examples/paper.config is REINFORCE as published.";

static const char *const more =
    "Examples:\n"
    "  invit train tsp --run runs/tsp --minutes 20\n"
    "  invit train cvrp --data uniform:100,clustered:200:0.5 --run runs/cvrp --minutes 60\n"
    "  invit train tsp --method reinforce --init runs/tsp/best.safetensors --run runs/fine --minutes 30\n"
    "  invit train tsp --config examples/paper.config --run runs/paper\n"
    "  invit train --resume runs/tsp\n"
    "  invit train label tsp --data uniform:100 --count 20000 -o labels.bin";

/* For the help: the defaults of what the command line names, wherever it does. */
static void defaults_of(int argc, char **argv, invit_train_options *o)
{
    invit_problem problem = INVIT_TSP;
    invit_train_method method = INVIT_IMITATE;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "cvrp") == 0) problem = INVIT_CVRP;
        if (strcmp(argv[i], "reinforce") == 0 || strcmp(argv[i], "--method=reinforce") == 0)
            method = INVIT_REINFORCE;
    }
    invit_train_defaults(problem, method, o);
}

/* One argument as a shell would read it again. */
static size_t quote(const char *argument, char *out, size_t size)
{
    size_t at = 0;
    bool plain = *argument && !strpbrk(argument, " '\"$&;|<>*?#()[]{}!`\\~\n\t");
    if (plain) return (size_t)snprintf(out, size, "%s", argument);
    if (at + 1 < size) out[at++] = '\'';
    for (const char *c = argument; *c && at + 5 < size; c++) {
        if (*c == '\'')
            at += (size_t)snprintf(out + at, size - at, "'\\''");
        else
            out[at++] = *c == '\n' ? ' ' : *c; /* it stands in a comment line */
    }
    if (at + 1 < size) out[at++] = '\'';
    out[at < size ? at : size - 1] = 0;
    return at;
}

static void join_command(int argc, char **argv, char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, "invit");
    for (int i = 0; i < argc && at + 2 < size; i++) {
        out[at++] = ' ';
        at += quote(argv[i], out + at, size - at);
    }
}

/* Sets one option, with a remark when it changes something that this run will not look at. */
static int set_option(int i, const char *text, bool quiet, invit_train_options *o, invit_error *err)
{
    invit_option_info option;
    invit_train_option(i, &option);
    char before[600] = "", after[600] = "";
    invit_train_get(o, option.key, before, sizeof before, NULL);
    if (invit_train_set(o, option.key, text, err) != INVIT_OK) return cli_bad_usage("%s", err->message);
    invit_train_get(o, option.key, after, sizeof after, NULL);
    if (!quiet && !invit_train_option_counts(o, option.key) && strcmp(before, after) != 0)
        cli_warn("--%s %s changes nothing in this run; it is for %s", option.key, text, option.only_for);
    return CLI_GO;
}

/* Whether it stands on the command line, and not only in a configuration file. */
static bool is_flag(int argc, char **argv, const char *name)
{
    size_t n = strlen(name);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--", 2) == 0 && strncmp(argv[i] + 2, name, n) == 0 &&
            (argv[i][2 + n] == 0 || argv[i][2 + n] == '='))
            return true;
    return false;
}

/* The run's own options; a problem that is named all the same must be the run's. */
static int load_run(const char *directory, const char *problem, invit_train_options *o, invit_error *err)
{
    if (invit_train_load(directory, o, err) != INVIT_OK) return cli_report(err);
    invit_train_options named = *o;
    if (problem && invit_train_set(&named, "problem", problem, err) != INVIT_OK)
        return cli_bad_usage("%s", err->message);
    if (named.problem == o->problem) return CLI_GO;
    return cli_bad_usage(
        "%s is a run for %s and cannot go on with %s; leave the problem out, or begin a new run", directory,
        inv_problem_name(o->problem), problem);
}

/* First the problem and the method, since they choose the defaults, then everything that was given. */
static int gather(const values *v, const table *t, const char *problem, int argc, char **argv,
                  invit_train_options *o, invit_error *err)
{
    const char *method = "imitate";
    for (int i = 0; i < t->library; i++) {
        if (!v->text[i]) continue;
        if (strcmp(t->option[i].name, "method") == 0) method = v->text[i];
        if (strcmp(t->option[i].name, "problem") == 0 && !problem && !v->resume) problem = v->text[i];
    }
    if (v->resume) {
        int code = load_run(v->resume, problem, o, err);
        if (code != CLI_GO) return code;
    } else {
        if (!problem) return cli_bad_usage("train: name the problem, tsp or cvrp");
        invit_train_options probe;
        invit_train_defaults(INVIT_TSP, INVIT_IMITATE, &probe);
        if (invit_train_set(&probe, "problem", problem, err) != INVIT_OK ||
            invit_train_set(&probe, "method", method, err) != INVIT_OK)
            return cli_bad_usage("%s", err->message);
        invit_train_defaults(probe.problem, probe.method, o);
    }
    for (int i = 0; i < t->library; i++) {
        const char *name = t->option[i].name;
        if (!v->text[i]) continue;
        bool bound = strcmp(name, "minutes") == 0 || strcmp(name, "steps") == 0;
        if (v->resume && !bound && strcmp(name, "threads") != 0)
            return cli_bad_usage("--%s cannot change in a resumed run (minutes, steps and threads can)",
                                 name);
        if (strcmp(name, "problem") == 0) continue;
        int code = set_option(i, v->text[i], v->quiet, o, err);
        if (code != CLI_GO) return code;
    }
    bool minutes = is_flag(argc, argv, "minutes"), steps = is_flag(argc, argv, "steps");
    if (minutes && !steps) o->steps = 0;
    if (minutes && steps && o->steps > 0 && !v->quiet)
        cli_warn("--minutes changes nothing: the run ends after --steps %lld", (long long)o->steps);
    return CLI_GO;
}

static int run_label(const values *v, const invit_train_options *o)
{
    invit_error err = {0};
    cli_progress progress = {0};
    invit_control control = cli_control(&progress, v->quiet);
    if (!v->output) return cli_bad_usage("train label: where to write? (-o FILE)");
    invit_status status = invit_train_label(o, v->count, v->output, &control, &err);
    cli_progress_clear(&progress);
    return status == INVIT_OK ? CLI_OK : cli_report(&err);
}

static int run_train(const values *v, const invit_train_options *o)
{
    invit_error err = {0};
    cli_progress progress = {0};
    invit_control control = cli_control(&progress, v->quiet);
    invit_train_result result;
    invit_status status = invit_train(o, v->resume != NULL, &control, &result, &err);
    cli_progress_clear(&progress);
    if (status != INVIT_OK) return cli_report(&err);
    if (!v->quiet && result.rank == 0) {
        printf("%s: %lld steps, %lld states, %.1f min", o->run, (long long)result.steps,
               (long long)result.states, result.seconds / 60);
        if (!isnan(result.small_gap)) printf(", gap %.2f %% (100 nodes)", 100 * result.small_gap);
        if (!isnan(result.large_gap))
            printf(", %.2f %% (%d)", 100 * result.large_gap, o->problem == INVIT_TSP ? 1000 : 500);
        printf("%s\n", result.finished ? "" : "; stopped, --resume goes on");
    }
    return result.finished ? CLI_OK : CLI_INTERRUPTED;
}

int cmd_train(int argc, char **argv)
{
    invit_train_options defaults, o;
    defaults_of(argc, argv, &defaults);
    table *t = calloc(1, sizeof *t);
    if (!t) return cli_fail("out of memory");
    fill_table(t, &defaults);
    cli_spec spec = {.command = "train",
                     .usage = "tsp|cvrp --run DIR [OPTION...]\n--resume DIR [OPTION...]\n"
                              "label tsp|cvrp -o FILE [OPTION...]",
                     .about = about,
                     .options = t->option,
                     .min_args = 0,
                     .max_args = 2,
                     .more = more};
    values v = {.count = 10000};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) {
        free(t);
        return code;
    }
    bool label = args.count > 0 && strcmp(args.item[0], "label") == 0;
    const char *problem = args.count > label ? args.item[label] : NULL;
    invit_error err = {0};
    code = args.count > label + 1 ? cli_bad_usage("train: unexpected argument '%s'", args.item[label + 1])
                                  : gather(&v, t, problem, argc, argv, &o, &err);
    if (code == CLI_GO) {
        join_command(argc, argv, o.command, sizeof o.command);
        code = label ? run_label(&v, &o) : run_train(&v, &o);
    }
    cli_args_free(&args);
    free(t);
    return code;
}
