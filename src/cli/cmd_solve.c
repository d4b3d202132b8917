/* invit solve: read, construct, improve, print a checked solution. */
#include "base/clock.h"
#include "base/names.h"
#include "base/options.h"
#include "cli/cli.h"
#include "cli/method.h"
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
    const char *model, *output, *start, *trace;
    cli_common common;
} solve_values;

#define AT(field) offsetof(solve_values, field)
static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_STRING,
     .offset = AT(output),
     .metavar = "FILE",
     .fallback = "",
     .help = "write the solution (.tour, .sol, .txt, .csv, .geojson) or draw it (.svg, .png, .pdf)"},
    CLI_SOLVE(solve_values, solve, "time"),
    {.name = "rollouts", .from_library = true, .offset = AT(solve), .old_letter = 'n'},
    {.name = "model",
     .letter = 'm',
     .type = CLI_STRING,
     .offset = AT(model),
     .metavar = "FILE",
     .fallback = "the bundled one",
     .help = "weights of the policy: a file, or a bundled model's name, like tsp-3v"},
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
     .help = "begin with the solution in FILE (.tour, .sol)"},
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
    CLI_RULES(solve_values, rules),
    {.name = "trace",
     .type = CLI_STRING,
     .offset = AT(trace),
     .metavar = "FILE.csv",
     .fallback = "",
     .help = "write (seconds, length) whenever a better solution is known"},
    CLI_SOLVE(solve_values, solve, "seed"),
    CLI_SOLVE(solve_values, solve, "threads"),
    CLI_JSON(solve_values, common),
    CLI_QUIET(solve_values, common),
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
             "a tenth of it, or half when --rollouts is given; if it cannot finish "
             "a rollout, a quick construction is "
             "taken.",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .more = "Examples:\n"
            "  invit solve berlin52.tsp\n"
            "  invit solve X-n101-k25.vrp --time 30 -o routes.sol\n"
            "  invit solve cities.csv --time 0 --rollouts 16 --json\n"
            "  invit solve customers.csv --capacity 40 -o stops.csv\n"
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
    invit_writer *writer;
    FILE *trace;
    int trace_error; /* errno of the first write that failed */
    cli_progress progress;
    double began, deadline; /* of the instance under way */
    char stage[32];         /* of it, and when that began */
    double stage_began;
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
    int code = cli_check_differs(v->output, s->path, "the instance");
    if (code == CLI_GO) code = cli_check_differs(v->trace, s->path, "the instance");
    if (code == CLI_GO) code = cli_check_differs(v->output, v->trace, "the trace");
    if (code == CLI_GO && v->output && cli_is_picture(v->output)) code = cli_check_output(v->output);
    if (code != CLI_GO || !v->trace) return code;
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
    char best[48] = "", left[48] = "";
    double seconds = s->deadline - inv_now();
    if (strcmp(s->stage, p->stage) != 0) {
        snprintf(s->stage, sizeof s->stage, "%s", p->stage);
        s->stage_began = inv_now();
    }
    if (!isnan(p->best)) snprintf(best, sizeof best, "  best %.10g", p->best);
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

/* hh:mm where the instance's times were given so. */
static const char *time_text(const invit_instance *p, double time, char text[32])
{
    if (invit_instance_get(p, "clock") == 0) return inv_number_text(round(1e6 * time) / 1e6, text);
    long long minutes = llround(time);
    snprintf(text, 32, "%02lld:%02lld", minutes / 60, minutes % 60);
    return text;
}

static void json_time(cli_json *j, const char *key, const invit_instance *p, double time)
{
    char text[32];
    if (invit_instance_get(p, "clock") != 0)
        cli_json_string(j, key, time_text(p, time, text));
    else
        cli_json_number(j, key, round(1e6 * time) / 1e6);
}

/* When each vehicle is where, and what a route adds up to. */
static void json_schedule(cli_json *j, const invit_instance *p, const invit_solution *solution)
{
    invit_stop *stops = malloc(((size_t)invit_instance_nodes(p) + 2) * sizeof *stops);
    bool timed = invit_instance_get(p, "timed") != 0, cvrp = invit_instance_problem(p) == INVIT_CVRP;
    cli_json_open(j, "schedule", '[');
    for (int32_t r = 0; stops && r < invit_solution_routes(solution); r++) {
        int32_t count = invit_schedule(p, solution, r, stops);
        if (count == 0) continue;
        const invit_stop *first = &stops[0], *last = &stops[count - 1];
        cli_json_open(j, NULL, '{');
        cli_json_number(j, "length", last->distance);
        if (cvrp) cli_json_number(j, "load", last->load);
        if (timed) {
            json_time(j, "departure", p, first->departure);
            json_time(j, "arrival", p, last->arrival);
            json_time(j, "duration", p, last->departure - first->departure);
        }
        cli_json_open(j, "stops", '[');
        for (int32_t i = 0; i < count; i++) {
            cli_json_open(j, NULL, '{');
            cli_json_int(j, "node", stops[i].node);
            if (invit_instance_label(p, stops[i].node))
                cli_json_string(j, "id", invit_instance_label(p, stops[i].node));
            cli_json_number(j, "distance", stops[i].distance);
            if (cvrp) cli_json_number(j, "load", stops[i].load);
            if (timed) {
                json_time(j, "arrival", p, stops[i].arrival);
                json_time(j, "waiting", p, stops[i].waiting);
                json_time(j, "departure", p, stops[i].departure);
            }
            cli_json_close(j);
        }
        cli_json_close(j);
        cli_json_close(j);
    }
    cli_json_close(j);
    free(stops);
}

/* Metres to a tenth, or the number as it is. */
static const char *length_text(const invit_instance *p, double length, char text[32])
{
    if (invit_instance_metric(p) != INVIT_HAVERSINE) return inv_number_text(length, text);
    snprintf(text, 32, "%.1f m", length);
    return text;
}

/* A line for each route of an instance with times, if they are few enough to be read. */
static void print_routes(const invit_instance *p, const invit_solution *solution)
{
    enum { MOST = 40 };
    invit_stop *stops = malloc(((size_t)invit_instance_nodes(p) + 2) * sizeof *stops);
    int32_t number = 0;
    for (int32_t r = 0;
         stops && invit_solution_routes(solution) <= MOST && r < invit_solution_routes(solution); r++) {
        int32_t count = invit_schedule(p, solution, r, stops), visited;
        char from[32], to[32], way[32];
        if (count == 0) continue;
        invit_solution_route(solution, r, &visited);
        printf("  route %d: leaves %s, %s %s, %d stops, length %s\n", ++number,
               time_text(p, stops[0].departure, from), invit_instance_get(p, "open") != 0 ? "ends" : "back",
               time_text(p, stops[count - 1].departure, to), visited,
               length_text(p, stops[count - 1].distance, way));
    }
    free(stops);
}

static double get(const invit_solution *solution, const char *name)
{
    return invit_solution_get(solution, name);
}

/* How much went between the ranks. */
static void json_ranks(cli_json *j, const invit_ranks *ranks)
{
    int32_t rounds;
    int64_t bytes = invit_ranks_bytes(ranks, &rounds);
    cli_json_open(j, "ranks", '{');
    cli_json_int(j, "count", invit_ranks_size(ranks));
    cli_json_int(j, "rounds", rounds);
    cli_json_int(j, "bytes", bytes);
    cli_json_close(j);
}

static void print_json(const session *s, const invit_instance *p, const invit_solution *solution,
                       const invit_options *o, double read, double total)
{
    bool tsp = invit_instance_problem(p) == INVIT_TSP;
    double best;
    char seed[64];
    cli_json j = cli_json_to(stdout);
    cli_json_open(&j, NULL, '{');
    cli_json_string(&j, "problem", tsp ? "tsp" : "cvrp");
    cli_json_string(&j, "name", invit_instance_name(p));
    cli_json_int(&j, "nodes", invit_instance_nodes(p));
    cli_json_number(&j, "length", get(solution, "length"));
    cli_json_number(&j, "length_exact", get(solution, "length_exact"));
    if (invit_best_known(invit_instance_name(p), &best)) cli_json_number(&j, "best_known", best);
    cli_json_open(&j, tsp ? "tour" : "routes", '[');
    for (int32_t i = 0; i < invit_solution_routes(solution); i++) {
        int32_t count;
        const int32_t *route = invit_solution_route(solution, i, &count);
        if (!tsp) cli_json_open(&j, NULL, '[');
        for (int32_t k = 0; k < count; k++) cli_json_int(&j, NULL, route[k] + (tsp ? 1 : 0));
        if (!tsp) cli_json_close(&j);
    }
    cli_json_close(&j);
    if (invit_instance_get(p, "plain") == 0) json_schedule(&j, p, solution);
    cli_json_string(&j, "construct", inv_construct_name((invit_construct)get(solution, "construct")));
    cli_json_number(&j, "constructed", get(solution, "constructed"));
    cli_json_int(&j, "rollouts", (int64_t)get(solution, "rollouts"));
    cli_json_int(&j, "decisions", (int64_t)get(solution, "decisions"));
    cli_json_int(&j, "iterations", (int64_t)get(solution, "iterations"));
    cli_json_open(&j, "seconds", '{');
    cli_json_number(&j, "read", read);
    cli_json_number(&j, "construct", get(solution, "seconds_construct"));
    cli_json_number(&j, "improve", get(solution, "seconds_improve"));
    cli_json_number(&j, "total", total);
    cli_json_close(&j);
    cli_json_string(&j, "model", s->model ? invit_model_path(s->model) : NULL);
    cli_json_uint(&j, "seed", strtoull(cli_option_value(o, "seed", seed), NULL, 10));
    cli_json_bool(&j, "stopped", s->stopped);
    if (invit_ranks_size(s->ranks) > 1) json_ranks(&j, s->ranks);
    cli_json_close(&j);
}

static void print_text(const invit_instance *p, const invit_solution *solution, double total)
{
    double length = get(solution, "length"), exact = get(solution, "length_exact");
    double constructed = get(solution, "constructed"), steps = get(solution, "iterations");
    int rollouts = (int)get(solution, "rollouts");
    char number[32];
    double best;
    bool tsp = invit_instance_problem(p) == INVIT_TSP;
    printf("%s: %s of %lld %s, length %s", invit_instance_name(p), tsp ? "tour" : "routes",
           (long long)invit_instance_nodes(p) - (tsp ? 0 : 1), tsp ? "nodes" : "customers",
           length_text(p, length, number));
    if (length != exact) printf(" (unrounded %.4f)", exact);
    if (!tsp) printf(", %d routes", (int)get(solution, "routes"));
    if (invit_best_known(invit_instance_name(p), &best))
        printf(", %.2f %% above the best known", 100 * (length / best - 1));
    printf("\n  %.2f s: constructed (%s", total,
           inv_construct_name((invit_construct)get(solution, "construct")));
    if (rollouts > 0)
        printf(", %d rollouts, %lld decisions", rollouts, (long long)get(solution, "decisions"));
    printf(") in %.2f s", get(solution, "seconds_construct"));
    if (steps > 0 || length < constructed)
        printf(", improved from %s in %.2f s", length_text(p, constructed, number),
               get(solution, "seconds_improve"));
    if (steps > 0) printf(" (%lld steps)", (long long)steps);
    printf("; checked\n");
    if (!tsp && invit_instance_get(p, "timed") != 0) print_routes(p, solution);
}

/* How the solution will be written, by the file's name. Says before solving what would not be possible after.
 */
static invit_status choose_output(const session *s, const invit_instance *p, invit_format format,
                                  invit_solution_format *out, invit_error *err)
{
    static const char *const pictures[] = {".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".eps"};
    static const char *const others[] = {".tsp", ".vrp", ".xls", ".xlsx", ".ods", ".kml",  ".kmz",
                                         ".gpx", ".shp", ".htm", ".html", ".doc", ".docx", ".npy"};
    const char *path = s->v->output, *dot = path ? strrchr(path, '.') : NULL;
    bool cvrp = invit_instance_problem(p) == INVIT_CVRP, lines = false;
    bool many = format == INVIT_FORMAT_MSVDRP || format == INVIT_FORMAT_NPY;
    *out = invit_solution_format_for(path ? path : "", invit_instance_problem(p));
    if (dot && cvrp && *out == INVIT_SOLUTION_TOUR)
        return fail(err, INVIT_ERR_ARGUMENT, "%s: a .tour is for TSPs; routes go to %s", path, "a .sol");
    for (size_t i = 0; dot && i < sizeof pictures / sizeof *pictures; i++)
        if (strcasecmp(dot, pictures[i]) == 0)
            return fail(err, INVIT_ERR_ARGUMENT, "%s: a picture's name must end in %s", path,
                        ".svg, .png or .pdf");
    for (size_t i = 0; dot && i < sizeof others / sizeof *others; i++)
        if (strcasecmp(dot, others[i]) == 0)
            return fail(err, INVIT_ERR_ARGUMENT, "%s: cannot write such a file; routes go to %s", path,
                        "a .csv (a table of stops), .geojson (a map), .tour, .sol or .txt");
    if (many && *out != INVIT_SOLUTION_GEOJSON && *out != INVIT_SOLUTION_STOPS)
        lines = !dot || (strcasecmp(dot, ".tour") != 0 && strcasecmp(dot, ".sol") != 0);
    if (lines) *out = INVIT_SOLUTION_MSVDRP; /* many instances, a line each */
    return INVIT_OK;
}

static invit_status hand_over(session *s, const invit_instance *p, const invit_solution *solution,
                              const invit_options *o, invit_solution_format format, double read,
                              invit_error *err)
{
    const solve_values *v = s->v;
    double total = inv_now() - s->began;
    cli_progress_clear(&s->progress);
    if (v->common.json)
        print_json(s, p, solution, o, read, total);
    else if (!v->output || strcmp(v->output, "-") != 0)
        print_text(p, solution, total);
    fflush(stdout);
    if (!v->output) return INVIT_OK;
    if (cli_is_picture(v->output)) return invit_plot(p, solution, v->output, NULL, err);
    invit_solution_info info = {.length = get(solution, "length"), .seconds = total};
    return invit_writer_solution(s->writer, p, solution, format, &info, err);
}

static void remark(const session *s, const invit_options *asked, const invit_solution *solution)
{
    char construct[64];
    bool policy = strcmp(cli_option_value(asked, "construct", construct), "invit") == 0 && !s->v->start;
    invit_construct done = (invit_construct)get(solution, "construct");
    if (get(solution, "short_of_memory") == 1) cli_warn("not enough memory to improve it to the end");
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
    invit_control control = cli_control(&s->progress, s->v->common.quiet);
    control.progress = on_progress;
    control.user = s;
    invit_options_set_control(o, &control);
    invit_options_set_start(o, start);
    if (s->trace) invit_options_set_better(o, on_better, s, false);
    bool plain = invit_instance_get(p, "plain") != 0; /* the policy knows no rules */
    invit_status status = plain ? find_model(s, invit_instance_problem(p), o, err) : INVIT_OK;
    s->deadline = deadline_of(s, o);
    snprintf(read, sizeof read, "%.6f", inv_now() - s->began);
    return status == INVIT_OK ? invit_options_set(o, "elapsed", read, err) : status;
}

static invit_status solve_one(session *s, const invit_instance *p, invit_format format, invit_error *err)
{
    const solve_values *v = s->v;
    invit_solution *start = NULL, *solution = NULL;
    invit_solution_format written;
    invit_options *o = cli_solve_options(&v->solve);
    if (!o) return fail(err, INVIT_ERR_MEMORY, "%s%s", "out of memory", "");
    invit_status status = choose_output(s, p, format, &written, err);
    if (status == INVIT_OK && v->output && !s->writer && !cli_is_picture(v->output))
        status = invit_writer_open(v->output, &s->writer, err); /* now, not after a minute of solving */
    if (status == INVIT_OK && v->start) status = invit_solution_read(v->start, p, 0, &start, NULL, err);
    bool plain = invit_instance_get(p, "plain") != 0; /* the policy knows no rules */
    if (status == INVIT_OK) status = prepare(s, p, o, start, err);
    double read = inv_now() - s->began;
    if (status == INVIT_OK)
        status = invit_ranks_solve(s->ranks, p, plain ? s->model : NULL, o, &solution, err);
    s->stopped = cli_cancelled();
    cli_progress_clear(&s->progress);
    if (status == INVIT_OK) {
        remark(s, o, solution);
        status = hand_over(s, p, solution, o, written, read, err);
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
    const solve_values *v = s->v;
    const char *dot = v->output ? strrchr(v->output, '.') : NULL;
    invit_solution_format f = invit_solution_format_for(v->output ? v->output : "", INVIT_TSP);
    return s->trace                                 ? "--trace"
           : v->start                               ? "--start"
           : v->output && cli_is_picture(v->output) ? "a picture"
           : v->output && (f == INVIT_SOLUTION_GEOJSON || f == INVIT_SOLUTION_STOPS)
               ? "a map or a list of stops"
           : dot && (strcasecmp(dot, ".tour") == 0 || strcasecmp(dot, ".sol") == 0)
               ? "a .tour or .sol, or write a .txt with a line for each"
               : NULL;
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

static invit_status solve_all(session *s, invit_error *err)
{
    const solve_values *v = s->v;
    invit_reader *reader = NULL;
    bool one = cli_given(s->args, "index");
    s->began = inv_now();
    invit_status status = invit_reader_open(s->path, &reader, err);
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
        if (status == INVIT_OK && i == 0 && !v->common.quiet)
            cli_say_notes(s->path, invit_reader_note(reader));
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
    if (s->writer && (code == CLI_OK || s->solved > 0)) {
        if (invit_writer_close(s->writer, &err) != INVIT_OK) code = cli_report(&err);
    } else {
        invit_writer_abandon(s->writer);
    }
    int traced = close_trace(s);
    return code == CLI_OK ? traced : code;
}

/* The others: do what the first one asks for. */
static int solve_as_other(const session *s)
{
    invit_error err = {0};
    char threads[64];
    invit_control control = {.cancel = cli_cancel_flag()};
    invit_options *o = cli_solve_options(&s->v->solve);
    int count = o ? (int)strtol(cli_option_value(o, "threads", threads), NULL, 10) : 0;
    invit_options_destroy(o);
    return invit_ranks_serve(s->ranks, count, &control, &err) == INVIT_OK ? CLI_OK : cli_report(&err);
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
