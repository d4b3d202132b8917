/* invit eval: the paper's tables, on generated sets, on libraries, and for variants of the model. */
#include "base/names.h"
#include "cli/cli.h"
#include "cli/method.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct eval_values {
    cli_list models, sets, dists, variants, problems, solvers, times;
    const char *figure, *dir, *references, *results, *against, *best_known, *label, *output, *runs;
    int limit, format, training;
    cli_solve solve;
    uint64_t data_seed;
    double ref_time, ref_effort, minutes;
    bool refs_only, peak, resume, baselines, rules, instances, paper_length, json;
    cli_common common;
} eval_values;

/* The kinds of evaluation. */
enum { SETS = 1, FILES = 2, ABLATION = 4 };

static const cli_option options[] = {
    {.name = "model",
     .modes = SETS | FILES,
     .letter = 'm',
     .type = CLI_LIST,
     .offset = offsetof(eval_values, models),
     .metavar = "FILE",
     .fallback = "the bundled ones",
     .help = "weights, a file or a bundled model's name, like tsp-2v; give one for TSP and one for CVRP to "
             "do both"},
    {.name = "limit",
     .old_letter = 'n',
     .type = CLI_INT,
     .offset = offsetof(eval_values, limit),
     .metavar = "N",
     .fallback = "all",
     .min = 0,
     .max = 1e9,
     .help = "at most N instances of a set, or N files"},
    CLI_SOLVE(eval_values, solve, "rollouts"),
    CLI_SOLVE(eval_values, solve, "construct"),
    CLI_SOLVE(eval_values, solve, "decode"),
    CLI_SOLVE(eval_values, solve, "temperature"),
    CLI_SOLVE(eval_values, solve, "beam"),
    CLI_SOLVE(eval_values, solve, "improve"),
    CLI_SOLVE(eval_values, solve, "iterations"),
    {.name = "time",
     .from_library = true,
     .offset = offsetof(eval_values, solve),
     .fallback = "0",
     .help = "time for each instance, improvement included; 0: construction only"},
    {.name = "sets",
     .modes = SETS | ABLATION,
     .type = CLI_LIST,
     .offset = offsetof(eval_values, sets),
     .metavar = "LIST",
     .fallback = "all seven",
     .help = "msvdrp: tsp-100, tsp-1000, tsp-5000, tsp-10000, cvrp-50, cvrp-500, cvrp-5000"},
    {.name = "dist",
     .modes = SETS | ABLATION,
     .type = CLI_LIST,
     .offset = offsetof(eval_values, dists),
     .metavar = "LIST",
     .fallback = "all four",
     .help = "msvdrp: uniform, clustered, explosion, implosion"},
    {.name = "dir",
     .modes = SETS | ABLATION,
     .old_letter = 'd',
     .type = CLI_STRING,
     .offset = offsetof(eval_values, dir),
     .metavar = "DIR",
     .help = "msvdrp: where sets (NAME.txt) are taken from and references (NAME.sol.txt) are kept"},
    {.name = "data-seed",
     .modes = SETS | ABLATION,
     .type = CLI_UINT64,
     .offset = offsetof(eval_values, data_seed),
     .metavar = "S",
     .help = "msvdrp: seed of sets that are not in the folder"},
    {.name = "ref-time",
     .modes = SETS | ABLATION,
     .type = CLI_SECONDS,
     .offset = offsetof(eval_values, ref_time),
     .metavar = "SECONDS",
     .fallback = "a number of steps by size",
     .min = 0,
     .max = 1e6,
     .help = "msvdrp: search this long for each new reference"},
    {.name = "ref-effort",
     .modes = SETS | ABLATION,
     .type = CLI_DOUBLE,
     .offset = offsetof(eval_values, ref_effort),
     .metavar = "X",
     .min = 1e-4,
     .max = 1e4,
     .help = "msvdrp: times the usual number of steps"},
    {.name = "references",
     .modes = SETS,
     .type = CLI_STRING,
     .offset = offsetof(eval_values, references),
     .metavar = "FILE.csv",
     .help = "msvdrp: take the references from this results file of an earlier run on the same sets"},
    {.name = "refs-only",
     .modes = SETS,
     .type = CLI_BOOL,
     .offset = offsetof(eval_values, refs_only),
     .help = "msvdrp: make references and stop"},
    {.name = "best-known",
     .modes = FILES,
     .type = CLI_STRING,
     .offset = offsetof(eval_values, best_known),
     .metavar = "FILE.csv",
     .help = "libraries: best-known lengths, lines instance,length"},
    {.name = "paper-length",
     .modes = FILES,
     .type = CLI_BOOL,
     .offset = offsetof(eval_values, paper_length),
     .help = "libraries: measure like the paper, unrounded and then rounded up"},
    {.name = "results",
     .modes = SETS | FILES,
     .type = CLI_STRING,
     .offset = offsetof(eval_values, results),
     .metavar = "FILE.csv",
     .help = "keep every instance's result in this file as soon as it is known"},
    {.name = "resume",
     .modes = SETS | FILES,
     .type = CLI_BOOL,
     .offset = offsetof(eval_values, resume),
     .help = "skip what the results file holds"},
    {.name = "rules",
     .modes = SETS | FILES,
     .type = CLI_BOOL,
     .offset = offsetof(eval_values, rules),
     .help =
         "rows for nearest neighbour, space-filling curve, greedy edges and savings on the same instances, "
         "with their time; --no-rules leaves them out"},
    {.name = "baselines",
     .type = CLI_BOOL,
     .offset = offsetof(eval_values, baselines),
     .help = "show the paper's columns too"},
    {.name = "against",
     .modes = SETS | FILES,
     .type = CLI_STRING,
     .offset = offsetof(eval_values, against),
     .metavar = "COLUMN|FILE",
     .help = "win/tie/loss and significance against a published column (libraries) or another results file"},
    {.name = "peak",
     .modes = SETS,
     .type = CLI_BOOL,
     .offset = offsetof(eval_values, peak),
     .help = "msvdrp: measure the machine's FP32 peak first and relate decisions/s to it"},
    {.name = "instances",
     .modes = SETS,
     .type = CLI_BOOL,
     .offset = offsetof(eval_values, instances),
     .help = "msvdrp: list every instance"},
    {.name = "solver",
     .modes = FILES,
     .type = CLI_TEXTS,
     .offset = offsetof(eval_values, solvers),
     .metavar = "NAME=COMMAND",
     .help = "files: run another program beside; the shell gets COMMAND with {instance} {solution} {seconds} "
             "{core_seconds} {threads} {seed} filled in; may be repeated"},
    {.name = "times",
     .modes = FILES,
     .type = CLI_LIST,
     .offset = offsetof(eval_values, times),
     .metavar = "LIST",
     .fallback = "--time alone",
     .help = "files: several time limits in seconds, each a run of its own, for the anytime picture"},
    {.name = "figure",
     .modes = FILES,
     .type = CLI_STRING,
     .offset = offsetof(eval_values, figure),
     .metavar = "FILE",
     .help = "with --solver or --times: draw mean gaps over processor seconds (.svg, .png, .pdf)"},
    {.name = "label",
     .modes = SETS | FILES,
     .type = CLI_STRING,
     .offset = offsetof(eval_values, label),
     .metavar = "NAME",
     .fallback = "the model's file name",
     .help = "what to call this run in the tables"},
    {.name = "minutes",
     .modes = ABLATION,
     .type = CLI_DOUBLE,
     .offset = offsetof(eval_values, minutes),
     .metavar = "M",
     .min = 1e-3,
     .max = 1e6,
     .help = "ablation: training of each variant and problem"},
    {.name = "variants",
     .modes = ABLATION,
     .type = CLI_LIST,
     .offset = offsetof(eval_values, variants),
     .metavar = "LIST",
     .fallback = "all twelve",
     .help = "ablation: 1v, 2v, 3v, 4v, 2v-global, 2v-noinv, 2v-heads4, 2v-aug4, 2v-noaug, 3v-noaug, 2v-50, "
             "3v-50"},
    {.name = "problem",
     .modes = ABLATION,
     .type = CLI_LIST,
     .offset = offsetof(eval_values, problems),
     .metavar = "LIST",
     .fallback = "tsp,cvrp",
     .help = "ablation: which problems"},
    {.name = "method",
     .modes = ABLATION,
     .type = CLI_CHOICE,
     .offset = offsetof(eval_values, training),
     .choices = "imitate|reinforce",
     .help = "ablation: how the variants are trained"},
    {.name = "runs",
     .modes = ABLATION,
     .type = CLI_STRING,
     .offset = offsetof(eval_values, runs),
     .metavar = "DIR",
     .help = "ablation: folder of the training runs; what is finished there is not trained again"},
    {.name = "format",
     .letter = 'f',
     .type = CLI_CHOICE,
     .offset = offsetof(eval_values, format),
     .choices = "text|markdown|csv|json",
     .help = "of the tables"},
    {.name = "json",
     .type = CLI_BOOL,
     .offset = offsetof(eval_values, json),
     .help = "the same as --format json"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_STRING,
     .offset = offsetof(eval_values, output),
     .metavar = "FILE",
     .fallback = "standard output",
     .help = "where the tables go"},
    CLI_SOLVE(eval_values, solve, "seed"),
    CLI_THREADS(eval_values, common),
    CLI_QUIET(eval_values, common),
    CLI_END};

static const cli_spec spec = {
    .command = "eval",
    .usage = "msvdrp [OPTION...]\nFILE|DIR... [OPTION...]\nablation --minutes M [OPTION...]",
    .about =
        "Measures a model or a solver: gap to near-optimal references and total time. `msvdrp` runs the "
        "paper's 28\n"
        "generated sets and makes the references once, which takes hours for all of them (--sets, --dist "
        "and\n"
        "--limit choose some); files and folders are TSPLIB and CVRPLIB "
        "instances with\n"
        "built-in best-known values. An instance without one is measured against the solution beside it: "
        "NAME.opt.tour\n"
        "or NAME.tour for a TSP, NAME.sol for a CVRP. Ctrl-C gives the tables over what is finished.",
    .options = options,
    .min_args = 1,
    .max_args = -1,
    .more = "Examples:\n"
            "  invit eval msvdrp --sets tsp-100,tsp-1000 --dist uniform --limit 10 --baselines\n"
            "  invit eval msvdrp --results run.csv --resume -f markdown\n"
            "  invit eval tsplib/ cvrplib/ --baselines --against INViT-3V\n"
            "  invit eval tsplib/ --time 10s\n"
            "  invit eval cvrplib/ --times 5,15,60 --figure anytime.svg \\\n"
            "      --solver 'other=other-solver {instance} {solution} -t {core_seconds} -seed {seed}'\n"};

/* What an evaluation comes to. */
typedef struct outcome {
    invit_report *report; /* also of a run that was stopped; under mpirun only the first process has one */
    int32_t failures;
    invit_status status;
    invit_error err;
} outcome;

static const char *distribution_name(int i)
{
    return inv_distribution_name((invit_distribution)i);
}

static const char *problem_name(int i)
{
    return inv_problem_name((invit_problem)i);
}

static int choose(const cli_list *list, const char *(*name)(int), int count, bool *chosen, const char *what)
{
    const char *names[16];
    for (int i = 0; i < count; i++) names[i] = name(i);
    return cli_choose(list, names, count, chosen, what);
}

/* The models of the run, by problem: those given, or the bundled ones where none is given. */
static int load_models(const cli_list *given, const bool *needed, invit_model **model)
{
    invit_error err;
    for (int i = 0; i < given->count; i++) {
        invit_model *m = NULL;
        if (invit_model_load(given->item[i], &m, &err) != INVIT_OK) return cli_report(&err);
        invit_problem p = invit_model_problem(m);
        if (model[p]) {
            int code = cli_bad_usage("%s and %s are both models for %s", invit_model_path(model[p]),
                                     given->item[i], inv_problem_title(p));
            invit_model_destroy(m);
            return code;
        }
        model[p] = m;
    }
    for (int p = 0; p < 2 && given->count == 0; p++)
        if (needed[p] && invit_model_load_default((invit_problem)p, &model[p], &err) != INVIT_OK)
            return cli_report(&err);
    return CLI_GO;
}

/* What the three kinds of evaluation share. */
static void fill_options(const eval_values *v, const invit_options *how, invit_eval_options *o)
{
    o->solve = how;
    o->dir = v->dir;
    o->limit = v->limit;
    o->data_seed = v->data_seed;
    o->reference_seconds = v->ref_time;
    o->reference_effort = v->ref_effort;
    o->references_only = v->refs_only;
    o->references = v->references;
    o->best_known = v->best_known;
    o->paper_length = v->paper_length;
    o->results = v->results;
    o->resume = v->resume;
    o->baselines = v->baselines;
    o->rules = v->rules;
    o->peak = v->peak;
    o->instances = v->instances;
    o->against = v->against;
    o->label = v->label;
    o->solvers = v->solvers.item;
    o->solver_count = v->solvers.count;
    o->threads = v->common.threads;
}

/* The time limits of --times; their memory is the caller's to free. */
static int fill_times(const cli_list *list, double **times)
{
    *times = malloc((size_t)(list->count + 1) * sizeof **times);
    if (!*times) return cli_fail("out of memory");
    for (int i = 0; i < list->count; i++)
        if (!cli_number(list->item[i], &(*times)[i]) || !((*times)[i] > 0))
            return cli_bad_usage("--times: expected seconds above 0, got '%s'", list->item[i]);
    return CLI_GO;
}

/* The sets of MSVDRP and their references are inputs that no argument names. */
static int check_sets(const char *output, const char *dir)
{
    static const char *const ends[] = {".txt", ".sol.txt", ".sol.json"};
    for (int i = 0; i < INVIT_EVAL_SETS * 4 * 3; i++) {
        char path[4096];
        const char *name = invit_eval_set_name(i / 12), *dash = strchr(name, '-');
        snprintf(path, sizeof path, "%s/%.*s%s-%s%s", dir, (int)(dash - name), name, dash + 1,
                 distribution_name(i / 3 % 4), ends[i % 3]);
        int code = cli_check_differs(output, path, i % 3 ? "a file of references" : "a set");
        if (code != CLI_GO) return code;
    }
    return CLI_GO;
}

/* What is written must not take the place of what is measured, or of a solution that a later run would take
 * for a reference. */
static int check_written(const eval_values *v, const cli_args *args, const char *output)
{
    static const char *const inputs[] = {".tsp", ".vrp", ".tour", ".sol"};
    int code = CLI_GO;
    if (!output) return code;
    for (int i = 0; i < args->count && code == CLI_GO; i++)
        code = cli_check_differs(output, args->item[i], "the instance");
    for (int i = 0; i < v->models.count && code == CLI_GO; i++)
        code = cli_check_differs(output, v->models.item[i], "the model");
    if (code == CLI_GO) code = cli_check_differs(output, v->best_known, "the table of best-known lengths");
    if (code == CLI_GO) code = check_sets(output, v->dir);
    const char *dot = strrchr(output, '.');
    for (size_t i = 0; dot && i < sizeof inputs / sizeof *inputs && code == CLI_GO; i++)
        if (strcasecmp(dot, inputs[i]) == 0)
            code = cli_fail("%s: a %s holds an instance or a solution; name another file for what is written",
                            output, inputs[i]);
    return code;
}

static int check_outputs(const eval_values *v, const cli_args *args)
{
    int code = check_written(v, args, v->output);
    if (code == CLI_GO) code = check_written(v, args, v->results);
    if (code == CLI_GO) code = cli_check_differs(v->output, v->results, "the results file");
    if (code == CLI_GO) code = cli_check_differs(v->output, v->against, "the results file compared with");
    if (code == CLI_GO) code = cli_check_differs(v->output, v->references, "the references");
    if (code == CLI_GO) code = cli_check_differs(v->results, v->references, "the references");
    if (code == CLI_GO && v->figure) code = cli_check_picture(v->figure);
    return code == CLI_GO ? cli_check_output(v->output) : code;
}

/* Runs what the first argument names; CLI_GO and an outcome, or an exit code. */
static int evaluate(const eval_values *v, const invit_options *how, const cli_args *args,
                    const invit_control *control, const double *times, outcome *result, invit_model **model)
{
    int code;
    bool sets = strcmp(args->item[0], "msvdrp") == 0, ablation = strcmp(args->item[0], "ablation") == 0;
    bool needed[2] = {!sets && !ablation, !sets && !ablation};
    invit_ablation_options a = invit_ablation_defaults();
    invit_eval_options o = ablation ? a.eval : invit_eval_defaults();
    if ((sets || ablation) && args->count > 1)
        return cli_bad_usage("%s stands alone, found '%s' after it", args->item[0], args->item[1]);
    code = sets       ? cli_check_mode(args, SETS, "msvdrp")
           : ablation ? cli_check_mode(args, ABLATION, "ablation")
                      : cli_check_mode(args, FILES, "files and folders");
    if (code != CLI_GO) return code;
    if (v->resume && !v->results) return cli_bad_usage("--resume needs the --results FILE to go on with");
    if ((code = choose(&v->sets, invit_eval_set_name, INVIT_EVAL_SETS, o.set, "set")) != CLI_GO) return code;
    if ((code = choose(&v->dists, distribution_name, 4, o.distribution, "distribution")) != CLI_GO)
        return code;
    fill_options(v, how, &o);
    o.control = control;
    if (v->figure && v->solvers.count + v->times.count == 0)
        return cli_bad_usage("--figure needs --solver or --times: it draws gaps over processor seconds");
    o.times = times;
    o.time_count = v->times.count;
    if (ablation) {
        if ((code = choose(&v->variants, invit_eval_variant_name, INVIT_EVAL_VARIANTS, a.variant,
                           "variant")) != CLI_GO)
            return code;
        if ((code = choose(&v->problems, problem_name, 2, a.problem, "problem")) != CLI_GO) return code;
        a.minutes = v->minutes;
        a.method = v->training ? INVIT_REINFORCE : INVIT_IMITATE;
        a.runs = v->runs;
        a.eval = o;
        result->status = invit_eval_ablation(&a, &result->report, &result->failures, &result->err);
        return CLI_GO;
    }
    for (int i = 0; sets && i < INVIT_EVAL_SETS; i++)
        if (o.set[i]) needed[strncmp(invit_eval_set_name(i), "cvrp", 4) == 0] = true;
    const char *construct = cli_solve_text(&v->solve, "construct"),
               *improve = cli_solve_text(&v->solve, "improve");
    bool policy =
        !construct || strcmp(construct, "invit") == 0 || (improve && strcmp(improve, "search") != 0);
    if (policy && !v->refs_only && (code = load_models(&v->models, needed, model)) != CLI_GO) return code;
    for (int p = 0; p < 2; p++) o.model[p] = model[p];
    /* A model for one problem, no word on sets: that problem's sets. */
    for (int i = 0; sets && v->models.count > 0 && v->sets.count == 0 && i < INVIT_EVAL_SETS; i++)
        o.set[i] = model[strncmp(invit_eval_set_name(i), "cvrp", 4) == 0] != NULL;
    if (sets && v->sets.count + v->dists.count + v->limit == 0 && !v->common.quiet)
        cli_warn(
            "all 28 sets take hours, their references more when they are made for the first time; --limit 10 "
            "is a first look, --results FILE --resume keeps what is done");
    result->status = sets ? invit_eval_msvdrp(&o, &result->report, &result->failures, &result->err)
                          : invit_eval_files(&o, args->item, args->count, &result->report, &result->failures,
                                             &result->err);
    return CLI_GO;
}

/* The tables, then what went wrong. */
static int hand_over(const eval_values *v, const outcome *x)
{
    invit_table_format format = (invit_table_format)v->format;
    int code = x->report ? cli_write_report(x->report, format, v->output) : CLI_OK;
    if (code != CLI_OK && v->output) cli_write_report(x->report, format, NULL); /* hours may be in it */
    invit_error err;
    if (v->figure && x->report && invit_report_figure(x->report, v->figure, &err) != INVIT_OK)
        code = cli_report(&err);
    if (x->status != INVIT_OK) return cli_report(&x->err);
    if (code == CLI_OK && x->failures > 0)
        code = cli_fail("%d instance%s failed", x->failures, x->failures == 1 ? "" : "s");
    return code;
}

int cmd_eval(int argc, char **argv)
{
    eval_values v = {
        .dir = "msvdrp", .runs = "ablation", .data_seed = 1, .ref_effort = 1, .minutes = 10, .rules = true};
    cli_args args;
    cli_option rows[sizeof options / sizeof *options];
    memcpy(rows, options, sizeof options);
    cli_solve_rows(rows);
    cli_spec mine = spec;
    mine.options = rows;
    int code = cli_parse(&mine, &v, argc, argv, &args);
    if (code != CLI_GO) return code;

    outcome result = {0};
    invit_model *model[2] = {NULL, NULL};
    cli_progress progress = {0};
    invit_control control = cli_control(&progress, v.common.quiet);
    if (v.json) v.format = INVIT_TABLE_JSON;
    double *times = NULL;
    code = check_outputs(&v, &args);
    if (code == CLI_GO) code = fill_times(&v.times, &times);
    invit_options *how = cli_solve_options(&v.solve);
    if (code == CLI_GO && !how) code = CLI_USAGE;
    /* construction alone, unless there is a limit of time or of steps */
    if (how && !cli_given(&args, "time") && !cli_given(&args, "iterations"))
        invit_options_set(how, "time", "0", NULL);
    if (code == CLI_GO) code = evaluate(&v, how, &args, &control, times, &result, model);
    invit_options_destroy(how);
    cli_progress_clear(&progress);
    if (code == CLI_GO) code = hand_over(&v, &result);
    invit_report_destroy(result.report);
    free(times);
    for (int p = 0; p < 2; p++) invit_model_destroy(model[p]);
    cli_args_free(&args);
    return code;
}
