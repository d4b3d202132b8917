/* invit solve: read, construct, improve, print a checked solution. */
#include "base/clock.h"
#include "base/names.h"
#include "base/options.h"
#include "base/outfile.h"
#include "cli/cli.h"
#include "cli/method.h"
#include "cli/outputs.h"
#include "cli/result.h"
#include "cli/rules.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct solve_values {
    int64_t index, capacity;
    int metric; /* 0: the file's, else 1 + invit_metric */
    cli_solve solve;
    cli_rules rules;
    cli_list output;
    const char *model, *summary, *start, *trace;
    bool verbose;
    cli_common common;
} solve_values;

#define AT(field) offsetof(solve_values, field)
static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXTS,
     .offset = AT(output),
     .metavar = "FILE",
     .fallback = "",
     .help =
         "write the solution (.tour, .sol, .txt; .csv: one stop per line; .html: sheets to print; .geojson, "
         ".gpx, .kml: maps), draw it (.svg, .png, .pdf), or, FOLDER/, write one list per route; may be "
         "repeated"},
    {.name = "summary",
     .type = CLI_STRING,
     .offset = AT(summary),
     .metavar = "FILE.csv",
     .fallback = "",
     .help = "write one line per route: stops, load, times, length"},
    CLI_SOLVE(solve_values, solve, "time"),
    {.name = "rollouts", .from_library = true, .offset = AT(solve), .old_letter = 'n'},
    {.name = "model",
     .letter = 'm',
     .type = CLI_STRING,
     .offset = AT(model),
     .metavar = "FILE",
     .fallback = "the bundled one",
     .help = "weights of the policy: a file, or a bundled model's name, like tsp-2v"},
    CLI_SOLVE(solve_values, solve, "construct"),
    CLI_SOLVE(solve_values, solve, "decode"),
    CLI_SOLVE(solve_values, solve, "temperature"),
    CLI_SOLVE(solve_values, solve, "beam"),
    CLI_SOLVE(solve_values, solve, "improve"),
    CLI_SOLVE(solve_values, solve, "iterations"),
    {.name = "start",
     .type = CLI_STRING,
     .offset = AT(start),
     .metavar = "FILE",
     .fallback = "",
     .help = "begin with the solution in FILE (.tour, .sol, .csv, a folder of lists); stops that it lacks "
             "are inserted"},
    CLI_SOLVE(solve_values, solve, "target"),
    CLI_SOLVE(solve_values, solve, "stop-after"),
    {.name = "index",
     .letter = 'i',
     .type = CLI_INT64,
     .offset = AT(index),
     .metavar = "I",
     .fallback = "all",
     .min = 0,
     .max = 1e15,
     .help = "solve instance I of a file with many, counted from 0"},
    {.name = "metric",
     .type = CLI_CHOICE,
     .offset = AT(metric),
     .choices = "file|exact|euc_2d|ceil_2d|att|geo|haversine|dimacs",
     .help = "measure by this rule instead of the file's own; haversine: x is longitude, y latitude, metres; "
             "dimacs: cut to one decimal"},
    CLI_CAPACITY(solve_values, capacity),
    {.name = "trace",
     .type = CLI_STRING,
     .offset = AT(trace),
     .metavar = "FILE.csv",
     .fallback = "",
     .help = "write (seconds, length) whenever a better solution is known"},
    CLI_SOLVE(solve_values, solve, "seed"),
    CLI_SOLVE(solve_values, solve, "threads"),
    CLI_JSON(solve_values, common),
    {.name = "verbose",
     .letter = 'v',
     .type = CLI_BOOL,
     .offset = AT(verbose),
     .help = "say how the solution was found: construction, rollouts, decisions, steps, seconds"},
    CLI_QUIET(solve_values, common),
    CLI_RULES(solve_values, rules),
    CLI_END};

static const cli_spec spec = {
    .command = "solve",
    .usage = "FILE [OPTION...]",
    .about = "Reads a TSP or CVRP instance, constructs routes with the INViT "
             "policy, improves them by local search while "
             "there is time, and prints a solution that an independent checker has "
             "passed. Ctrl-C gives the best so far. "
             "Files with many instances are solved one by one. '-' reads standard "
             "input. Under mpirun the processes share the work. With a time limit the policy gets "
             "a tenth of it, or half when --rollouts is given or with --improve neural; if it cannot finish "
             "a rollout, a fast construction is "
             "taken.",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .more = "Examples:\n"
            "  invit solve berlin52.tsp\n"
            "  invit solve X-n101-k25.vrp --time 30 -o routes.sol\n"
            "  invit solve cities.csv --time 0 --rollouts 16 --json\n"
            "  invit solve customers.csv --capacity 40 -o stops.csv -o sheets.html\n"
            "  invit solve stops.csv --vehicles 5 --max-duration 8:00 -o plan.csv\n"
            "  invit solve distances.npy\n"};

/* One run of the command. */
typedef struct session {
    const solve_values *v;
    const cli_args *args;
    const char *path;
    invit_ranks *ranks; /* of mpirun; this one is the first */
    invit_model *model;
    invit_problem model_for; /* when a default model was looked for */
    bool looked[2];
    cli_outputs outputs;
    FILE *trace;
    int trace_error; /* errno of the first write that failed */
    cli_progress progress;
    double began, deadline; /* of the instance under way */
    char stage[32];         /* of it, and when that began */
    double stage_began;
    const invit_instance *instance; /* of it */
    const char *notes;              /* of the reader */
    int64_t solved;
    bool stopped; /* by Ctrl-C */
} session;

static invit_status fail(invit_error *err, invit_status code, const char *format, const char *a,
                         const char *b)
{
    err->code = code;
    snprintf(err->message, sizeof err->message, format, a, b);
    return code;
}

/* ---- before solving ------------------------------------------------------------------------------------ */

/* At once, so that others can watch. */
static void write_trace(session *s, const char *line)
{
    if ((fputs(line, s->trace) == EOF || fflush(s->trace) != 0) && !s->trace_error) s->trace_error = errno;
}

static int close_trace(session *s)
{
    if (!s->trace) return CLI_OK;
    if (fclose(s->trace) != 0 && !s->trace_error) s->trace_error = errno;
    return s->trace_error ? cli_fail("%s: cannot write: %s", s->v->trace, strerror(s->trace_error)) : CLI_OK;
}

/* What should not be written, or, of pictures and traces, cannot. */
static int check_outputs(session *s)
{
    const solve_values *v = s->v;
    invit_error err;
    int code = cli_check_differs(v->trace, s->path, "the instance");
    if (code == CLI_GO) code = cli_outputs_begin(&s->outputs, &v->output, v->summary, s->path, v->trace);
    if (code != CLI_GO || !v->trace) return code;
    if (inv_outfile_check_link(v->trace, &err) != INVIT_OK) return cli_report(&err);
    s->trace = fopen(v->trace, "w");
    if (!s->trace) return cli_fail("%s: %s", v->trace, strerror(errno));
    write_trace(s, "seconds,length\n");
    return CLI_GO;
}

/* The policy's weights: the file the user names, or the bundled ones. Without either, a run that did not ask for the
 * policy goes on without it; but a bundled model that is there and cannot be read is an error. */
static invit_status find_model(session *s, invit_problem problem, invit_options *o, invit_error *err)
{
    char construct[64], improve[64];
    bool neural = strcmp(cli_option_value(o, "improve", improve), "search") != 0;
    bool policy = strcmp(cli_option_value(o, "construct", construct), "invit") == 0 && !s->v->start;
    bool asked = cli_given(s->args, "construct") || neural;
    if (!neural && !policy) return INVIT_OK;
    if (s->model && invit_model_problem(s->model) != problem) {
        if (s->v->model)
            return fail(err, INVIT_ERR_ARGUMENT, "the instance is a %s, but the model is for %s",
                        inv_problem_title(problem), inv_problem_title(invit_model_problem(s->model)));
        invit_model_destroy(s->model);
        s->model = NULL;
    }
    invit_status status = INVIT_OK;
    if (!s->model) {
        if (s->v->model) {
            status = invit_model_load(s->v->model, &s->model, err);
            return status == INVIT_OK ? find_model(s, problem, o, err) : status;
        }
        status = invit_model_load_default(problem, &s->model, err);
    }
    if (status == INVIT_OK || asked || status != INVIT_ERR_IO) return status;
    if (!s->looked[problem] && !s->v->common.quiet)
        cli_warn("no bundled model for %s, so the routes begin without the policy",
                 inv_problem_title(problem));
    s->looked[problem] = true;
    return invit_options_set(o, "construct", problem == INVIT_TSP ? "greedy" : "savings", err);
}

/* ---- while solving ------------------------------------------------------------------------------------- */

static void on_progress(void *user, const invit_progress *p)
{
    session *s = user;
    char best[64] = "", left[48] = "", length[CLI_LENGTH_TEXT];
    double seconds = s->deadline - inv_now();
    if (strcmp(s->stage, p->stage) != 0) {
        snprintf(s->stage, sizeof s->stage, "%s", p->stage);
        s->stage_began = inv_now();
    }
    if (!isnan(p->best))
        snprintf(best, sizeof best, "  best length %s", cli_length_text(s->instance, p->best, length));
    if (isfinite(seconds)) {
        snprintf(left, sizeof left, "  %.0f s left", fmax(0, seconds));
    } else if (p->fraction > 0.01) {
        double passed = inv_now() - s->stage_began;
        snprintf(left, sizeof left, "  %.0f s left", passed * (1 - p->fraction) / p->fraction);
    }
    cli_progress_line(&s->progress, "%-9s  %lld %s%s%s", p->stage, (long long)p->count,
                      strcmp(p->stage, "construct") == 0 ? "decisions" : "steps", best, left);
}

static void on_better(void *user, double seconds, double length, const invit_solution *solution)
{
    session *s = user;
    (void)solution;
    (void)seconds; /* counted from the call; the user's clock began with reading */
    char line[64];
    snprintf(line, sizeof line, "%.4f,%.10g\n", inv_now() - s->began, length);
    write_trace(s, line);
}

/* ---- after solving ------------------------------------------------------------------------------------- */

static invit_status hand_over(session *s, const invit_instance *p, const invit_solution *solution,
                              const invit_options *o, double read, invit_error *err)
{
    const solve_values *v = s->v;
    double total = inv_now() - s->began;
    char seed[64];
    cli_result result = {.instance = p,
                         .solution = solution,
                         .notes = s->notes,
                         .model = s->model ? invit_model_path(s->model) : NULL,
                         .seed = strtoull(cli_option_value(o, "seed", seed), NULL, 10),
                         .read = read,
                         .total = total,
                         .stopped = s->stopped,
                         .ranks = s->ranks,
                         .verbose = v->verbose};
    cli_progress_clear(&s->progress);
    if (v->common.json)
        cli_result_json(&result);
    else if (!cli_outputs_standard(&s->outputs))
        cli_result_text(&result);
    fflush(stdout);
    invit_solution_info info = {.length = invit_solution_get(solution, "length"), .seconds = total};
    return cli_outputs_write(&s->outputs, p, solution, &info, err);
}

static void remark(const session *s, const invit_options *asked, const invit_solution *solution)
{
    char construct[64];
    bool policy = strcmp(cli_option_value(asked, "construct", construct), "invit") == 0 && !s->v->start;
    invit_construct done = (invit_construct)invit_solution_get(solution, "construct");
    if (invit_solution_get(solution, "short_of_memory") == 1)
        cli_warn("not enough memory to improve it to the end");
    if (s->v->common.quiet) return;
    if (!policy && !s->v->start && strcmp(construct, inv_construct_name(done)) != 0 &&
        done == INVIT_CONSTRUCT_SPACE_FILLING)
        cli_warn("%s could not finish %s; began with %s instead", construct,
                 s->stopped ? "before it was stopped" : "in time", inv_construct_name(done));
    if (!policy || done == INVIT_CONSTRUCT_INVIT) return;
    if (done == INVIT_CONSTRUCT_INSERTION || done == INVIT_CONSTRUCT_NEAREST)
        return; /* rules or matrices, for which the policy is not asked */
    cli_warn("the policy could not finish a rollout %s; began with %s instead",
             s->stopped ? "before it was stopped" : "in its share of the time", inv_construct_name(done));
}

/* ---- one instance, all instances ----------------------------------------------------------------------- */

/* Seconds until the time limit, for the progress line: the one given, or the library's own by size. */
static double deadline_of(const session *s, const invit_options *o)
{
    char limit[64];
    cli_option_value(o, "time", limit);
    double seconds = limit[0] ? strtod(limit, NULL) : 0;
    return seconds > 0 ? s->began + seconds : INFINITY;
}

/* What is asked of the library for one instance; reading counts as part of the time. */
static invit_status prepare(session *s, const invit_instance *p, invit_options *o,
                            const invit_solution *start, invit_error *err)
{
    char read[32];
    s->instance = p;
    invit_control control = cli_control(&s->progress, s->v->common.quiet);
    control.progress = on_progress;
    control.user = s;
    invit_options_set_control(o, &control);
    invit_options_set_start(o, start);
    if (s->trace) invit_options_set_better(o, on_better, s, false);
    bool suits = invit_instance_get(p, "policy") != 0;
    invit_status status = suits ? find_model(s, invit_instance_problem(p), o, err) : INVIT_OK;
    s->deadline = deadline_of(s, o);
    snprintf(read, sizeof read, "%.6f", inv_now() - s->began);
    return status == INVIT_OK ? invit_options_set(o, "elapsed", read, err) : status;
}

static invit_status solve_one(session *s, const invit_instance *p, invit_format format, invit_error *err)
{
    const solve_values *v = s->v;
    invit_solution *start = NULL, *solution = NULL;
    bool many = format == INVIT_FORMAT_MSVDRP || format == INVIT_FORMAT_NPY;
    invit_options *o = cli_solve_options(&v->solve);
    if (!o) return fail(err, INVIT_ERR_MEMORY, "%s%s", "out of memory", "");
    invit_status status = cli_outputs_open(&s->outputs, p, many, err);
    if (status == INVIT_OK && v->start) status = invit_solution_read(v->start, p, 0, &start, NULL, err);
    bool suits = invit_instance_get(p, "policy") != 0;
    if (status == INVIT_OK) status = prepare(s, p, o, start, err);
    double read = inv_now() - s->began;
    if (status == INVIT_OK)
        status = invit_ranks_solve(s->ranks, p, suits ? s->model : NULL, o, &solution, err);
    s->stopped = cli_cancelled();
    cli_progress_clear(&s->progress);
    if (status == INVIT_OK) {
        remark(s, o, solution);
        status = hand_over(s, p, solution, o, read, err);
        s->solved++;
    }
    invit_solution_destroy(start);
    invit_solution_destroy(solution);
    invit_options_destroy(o);
    return status;
}

/* What there can be only one of: a file of many instances needs --index for it. */
static const char *single(const session *s)
{
    if (s->trace) return "--trace";
    return s->v->start ? "--start" : cli_outputs_single(&s->outputs);
}

/* Called with the first instance read: a second one is not wanted. */
static invit_status refuse_more(const session *s, invit_reader *reader, const char *what, invit_error *err)
{
    invit_instance *more = NULL;
    invit_status status = invit_reader_next(reader, &more, err);
    if (more)
        status = fail(err, INVIT_ERR_ARGUMENT, "%s: has many instances; choose one with --index for %s",
                      s->path, what);
    invit_instance_destroy(more);
    return status;
}

/* A file of many instances was left before its end: how far it came, and an exit code that tells. */
static invit_status say_how_far(const session *s, invit_reader *reader, invit_status status, invit_error *err)
{
    invit_instance *more = NULL;
    char solved[32];
    if (status == INVIT_OK) status = invit_reader_next(reader, &more, err);
    if (more) status = INVIT_ERR_CANCELLED;
    invit_instance_destroy(more);
    if (status != INVIT_ERR_CANCELLED) return status;
    snprintf(solved, sizeof solved, "%lld", (long long)s->solved);
    return fail(err, INVIT_ERR_CANCELLED, "%s: stopped after %s of its instances", s->path, solved);
}

/* --threads; 0: all cores. */
static int threads_of(const solve_values *v)
{
    char threads[64];
    invit_options *o = cli_solve_options(&v->solve);
    int count = o ? (int)strtol(cli_option_value(o, "threads", threads), NULL, 10) : 0;
    invit_options_destroy(o);
    return count;
}

static invit_status solve_all(session *s, invit_error *err)
{
    const solve_values *v = s->v;
    invit_reader *reader = NULL;
    bool one = cli_given(s->args, "index");
    s->began = inv_now();
    invit_status status = invit_reader_open(s->path, &reader, err);
    if (status == INVIT_OK) invit_reader_set_threads(reader, threads_of(v));
    if (status == INVIT_OK && v->capacity) invit_reader_set_capacity(reader, v->capacity);
    for (int64_t i = 0; status == INVIT_OK && !s->stopped; i++) {
        invit_instance *p = NULL;
        status = invit_reader_next(reader, &p, err);
        if (status == INVIT_OK && !p) {
            if (one)
                status =
                    fail(err, INVIT_ERR_INPUT, "%s: there is no instance of that --index%s", s->path, "");
            break;
        }
        if (status == INVIT_OK && v->metric)
            status = invit_instance_set_metric(p, (invit_metric)(v->metric - 1), err);
        if (status == INVIT_OK) status = cli_rules_apply(&v->rules, p, err);
        s->notes = invit_reader_note(reader);
        if (status == INVIT_OK && i == 0 && !v->common.quiet) cli_say_notes(s->path, s->notes);
        if (status == INVIT_OK && i == 0 && !one && single(s))
            status = refuse_more(s, reader, single(s), err);
        if (status == INVIT_OK && (!one || i == v->index))
            status = solve_one(s, p, invit_reader_format(reader), err);
        invit_instance_destroy(p);
        if (one && i == v->index) break;
        if (!one) s->began = inv_now();
    }
    if (s->stopped && s->solved > 0 && !one) status = say_how_far(s, reader, status, err);
    if (status == INVIT_OK && s->solved == 0 && !one)
        status = fail(err, INVIT_ERR_INPUT, "%s: there is no instance in it%s", s->path, "");
    invit_reader_close(reader);
    return status;
}

/* The first rank: reads, solves with the others, writes. */
static int solve_as_first(session *s)
{
    invit_error err = {0};
    int code = check_outputs(s);
    if (code == CLI_GO) code = solve_all(s, &err) == INVIT_OK ? CLI_OK : cli_report(&err);
    int written = cli_outputs_end(&s->outputs, code == CLI_OK || s->solved > 0);
    if (written != CLI_OK) code = written;
    int traced = close_trace(s);
    return code == CLI_OK ? traced : code;
}

/* The others: do what the first one asks for. */
static int solve_as_other(const session *s)
{
    invit_error err = {0};
    invit_control control = {.cancel = cli_cancel_flag()};
    int threads = threads_of(s->v);
    return invit_ranks_serve(s->ranks, threads, &control, &err) == INVIT_OK ? CLI_OK : cli_report(&err);
}

int cmd_solve(int argc, char **argv)
{
    cli_option rows[sizeof options / sizeof *options];
    memcpy(rows, options, sizeof options);
    cli_solve_rows(rows);
    cli_spec mine = spec;
    mine.options = rows;
    solve_values v = {0};
    cli_args args;
    int code = cli_parse(&mine, &v, argc, argv, &args);
    if (code != CLI_GO) return code;
    invit_error err = {0};
    session s = {.v = &v, .args = &args, .path = args.item[0]};
    if (invit_ranks_join(&s.ranks, &err) != INVIT_OK) return cli_report(&err);
    code = invit_ranks_rank(s.ranks) == 0 ? solve_as_first(&s) : solve_as_other(&s);
    invit_model_destroy(s.model);
    cli_args_free(&args);
    fflush(stdout); /* leaving may not come back */
    invit_ranks_leave(s.ranks, code);
    return code;
}
