/* invit solve: read, construct, improve, print a checked solution. */
#include "base/clock.h"
#include "base/names.h"
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
    int rollouts;
    cli_method method;
    cli_rules rules;
    double target;
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
    {.name = "time",
     .letter = 't',
     .type = CLI_SECONDS,
     .offset = AT(common.time),
     .metavar = "SECONDS",
     .fallback = "by size: 2 s for 100 nodes, 7 s for 1,000, 52 s for 10,000, 300 s for a million",
     .min = 0,
     .max = 1e9,
     .help = "for everything, reading included; 0: construct only"},
    {.name = "rollouts",
     .letter = 'n',
     .type = CLI_INT,
     .offset = AT(rollouts),
     .metavar = "N",
     .fallback = "64 up to 200 nodes, 32 to 1,000, 16 to 5,000, 8 to 10,000, then fewer",
     .min = 1,
     .max = 1 << 20,
     .help = "solutions the policy constructs; the shortest is kept"},
    {.name = "model",
     .letter = 'm',
     .type = CLI_STRING,
     .offset = AT(model),
     .metavar = "FILE",
     .fallback = "the bundled one",
     .help = "weights of the policy: a file, or a bundled model's name, like tsp-3v"},
    CLI_METHOD(solve_values, method),
    {.name = "start",
     .type = CLI_STRING,
     .offset = AT(start),
     .metavar = "FILE",
     .fallback = "",
     .help = "begin with the solution in FILE (.tour, .sol)"},
    {.name = "target",
     .type = CLI_DOUBLE,
     .offset = AT(target),
     .metavar = "LENGTH",
     .fallback = "none",
     .min = 0,
     .max = 1e300,
     .help = "stop when a solution is this short"},
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
    CLI_SEED(solve_values, common),
    CLI_THREADS(solve_values, common),
    CLI_JSON(solve_values, common),
    CLI_QUIET(solve_values, common),
    CLI_END};

static const cli_spec spec = {.command = "solve",
                              .usage = "FILE [OPTION...]",
                              .about = "Reads a TSP or CVRP instance, constructs routes with the INViT "
                                       "policy, improves them by local search while "
                                       "there is time, and prints a solution that an independent checker has "
                                       "passed. Ctrl-C gives the best so far. "
                                       "Files with many instances are solved one by one. '-' reads standard "
                                       "input. With a time limit the policy gets "
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

/* The policy's weights: the file the user names, or the bundled ones. Without either, a run that did not ask
 * for the policy goes on without it. */
static invit_status find_model(session *s, invit_problem problem, invit_solve_options *o, invit_error *err)
{
    bool neural = o->improve != INVIT_IMPROVE_SEARCH;
    bool asked = cli_given(s->args, "construct") || neural;
    if (!neural && (o->construct != INVIT_CONSTRUCT_INVIT || o->start)) return INVIT_OK;
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
    if (status == INVIT_OK) return INVIT_OK;
    if (asked) return status;
    if (!s->looked[problem] && !s->v->common.quiet)
        cli_warn("no bundled model for %s, so the routes begin without the policy",
                 inv_problem_title(problem));
    s->looked[problem] = true;
    o->construct = problem == INVIT_TSP ? INVIT_CONSTRUCT_GREEDY : INVIT_CONSTRUCT_SAVINGS;
    return INVIT_OK;
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

static void on_better(void *user, double seconds, double length)
{
    session *s = user;
    (void)seconds; /* counted from the call; the user's clock began with reading */
    char line[64];
    snprintf(line, sizeof line, "%.4f,%.10g\n", inv_now() - s->began, length);
    write_trace(s, line);
}

/* ---- after solving ------------------------------------------------------------------------------------- */

/* hh:mm where the instance's times were given so. */
static const char *time_text(const invit_instance *p, double time, char text[32])
{
    if (invit_instance_get(p, "clock") == 0) return cli_number_text(round(1e6 * time) / 1e6, text);
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
    if (invit_instance_metric(p) != INVIT_HAVERSINE) return cli_number_text(length, text);
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

static void print_json(const session *s, const invit_instance *p, const invit_solution *solution,
                       const invit_solve_result *r, double read, double total)
{
    bool tsp = invit_instance_problem(p) == INVIT_TSP;
    double best;
    cli_json j = cli_json_to(stdout);
    cli_json_open(&j, NULL, '{');
    cli_json_string(&j, "problem", tsp ? "tsp" : "cvrp");
    cli_json_string(&j, "name", invit_instance_name(p));
    cli_json_int(&j, "nodes", invit_instance_nodes(p));
    cli_json_number(&j, "length", r->length);
    cli_json_number(&j, "length_exact", r->length_exact);
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
    cli_json_string(&j, "construct", inv_construct_name(r->construct));
    cli_json_number(&j, "constructed", r->constructed);
    cli_json_int(&j, "rollouts", r->rollouts);
    cli_json_int(&j, "decisions", r->decisions);
    cli_json_int(&j, "iterations", r->iterations);
    cli_json_open(&j, "seconds", '{');
    cli_json_number(&j, "read", read);
    cli_json_number(&j, "construct", r->seconds_construct);
    cli_json_number(&j, "improve", r->seconds_improve);
    cli_json_number(&j, "total", total);
    cli_json_close(&j);
    cli_json_string(&j, "model", s->model ? invit_model_path(s->model) : NULL);
    cli_json_int(&j, "seed", (int64_t)s->v->common.seed);
    cli_json_bool(&j, "stopped", s->stopped);
    cli_json_close(&j);
}

static void print_text(const invit_instance *p, const invit_solution *solution, const invit_solve_result *r,
                       double total)
{
    char number[32];
    double best;
    bool tsp = invit_instance_problem(p) == INVIT_TSP;
    printf("%s: %s of %lld %s, length %s", invit_instance_name(p), tsp ? "tour" : "routes",
           (long long)invit_instance_nodes(p) - (tsp ? 0 : 1), tsp ? "nodes" : "customers",
           length_text(p, r->length, number));
    if (r->length != r->length_exact) printf(" (unrounded %.4f)", r->length_exact);
    if (!tsp) printf(", %d routes", r->routes);
    if (invit_best_known(invit_instance_name(p), &best))
        printf(", %.2f %% above the best known", 100 * (r->length / best - 1));
    printf("\n  %.2f s: constructed (%s", total, inv_construct_name(r->construct));
    if (r->rollouts > 0) printf(", %d rollouts, %lld decisions", r->rollouts, (long long)r->decisions);
    printf(") in %.2f s", r->seconds_construct);
    if (r->iterations > 0 || r->length < r->constructed)
        printf(", improved from %s in %.2f s", length_text(p, r->constructed, number), r->seconds_improve);
    if (r->iterations > 0) printf(" (%lld steps)", (long long)r->iterations);
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
                              const invit_solve_result *r, invit_solution_format format, double read,
                              invit_error *err)
{
    const solve_values *v = s->v;
    double total = inv_now() - s->began;
    cli_progress_clear(&s->progress);
    if (v->common.json)
        print_json(s, p, solution, r, read, total);
    else if (!v->output || strcmp(v->output, "-") != 0)
        print_text(p, solution, r, total);
    fflush(stdout);
    if (!v->output) return INVIT_OK;
    if (cli_is_picture(v->output)) return invit_plot(p, solution, v->output, NULL, err);
    invit_solution_info info = {.length = r->length, .seconds = total};
    return invit_writer_solution(s->writer, p, solution, format, &info, err);
}

static void remark(const session *s, const invit_solve_options *asked, const invit_solve_result *r)
{
    bool policy = asked->construct == INVIT_CONSTRUCT_INVIT && !asked->start;
    if (s->v->common.quiet || !policy || r->construct == INVIT_CONSTRUCT_INVIT) return;
    if (r->construct == INVIT_CONSTRUCT_INSERTION || r->construct == INVIT_CONSTRUCT_NEAREST)
        return; /* rules or matrices, for which the policy is not asked */
    cli_warn("the policy could not finish a rollout %s; began with %s instead",
             s->stopped ? "before it was stopped" : "in its share of the time",
             inv_construct_name(r->construct));
}

/* ---- one instance, all instances ----------------------------------------------------------------------- */

/* Whoever stops before there is a solution would rather have a poor one than none. */
static invit_status solve_at_once(const invit_instance *p, const invit_solve_options *asked,
                                  invit_solution **solution, invit_solve_result *result, invit_error *err)
{
    enum { SMALL = 100000 }; /* nodes, for which greedy edges take some tenths of a second */
    invit_solve_options o = *asked;
    bool greedy = invit_instance_problem(p) == INVIT_TSP && invit_instance_nodes(p) <= SMALL;
    o.construct = greedy ? INVIT_CONSTRUCT_GREEDY : INVIT_CONSTRUCT_SPACE_FILLING;
    o.seconds = 0;
    o.control = NULL;
    return invit_solve(p, NULL, &o, solution, result, err);
}

static invit_status solve_one(session *s, const invit_instance *p, invit_format format, invit_error *err)
{
    const solve_values *v = s->v;
    invit_solution *start = NULL, *solution = NULL;
    invit_solve_result result;
    invit_solve_options o = invit_solve_defaults();
    invit_control control = cli_control(&s->progress, v->common.quiet);
    control.progress = on_progress;
    control.user = s;
    cli_method_fill(&v->method, s->args, &o);
    o.rollouts = v->rollouts;
    o.target = v->target;
    o.threads = v->common.threads;
    o.seed = v->common.seed;
    o.control = &control;
    o.better = s->trace ? on_better : NULL;
    o.better_user = s;

    invit_solution_format written;
    invit_status status = choose_output(s, p, format, &written, err);
    if (status == INVIT_OK && v->output && !s->writer && !cli_is_picture(v->output))
        status = invit_writer_open(v->output, &s->writer, err); /* now, not after a minute of solving */
    if (status == INVIT_OK && v->start) status = invit_solution_read(v->start, p, 0, &start, NULL, err);
    o.start = start;
    bool plain = invit_instance_get(p, "plain") != 0; /* the policy knows no rules */
    if (status == INVIT_OK && plain) status = find_model(s, invit_instance_problem(p), &o, err);
    double read = inv_now() - s->began;
    double limit = v->common.time >= 0         ? v->common.time
                   : v->method.iterations >= 0 ? -1
                                               : invit_default_seconds(invit_instance_nodes(p));
    s->deadline = limit > 0 ? s->began + limit : INFINITY;
    o.seconds = limit > 0 ? fmax(1e-3, limit - read) : limit;
    if (status == INVIT_OK) status = invit_solve(p, plain ? s->model : NULL, &o, &solution, &result, err);
    s->stopped = cli_cancelled();
    if (status == INVIT_ERR_CANCELLED && s->solved == 0)
        status = solve_at_once(p, &o, &solution, &result, err);
    cli_progress_clear(&s->progress);
    if (status == INVIT_OK) {
        remark(s, &o, &result);
        status = hand_over(s, p, solution, &result, written, read, err);
        s->solved++;
    }
    invit_solution_destroy(start);
    invit_solution_destroy(solution);
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

int cmd_solve(int argc, char **argv)
{
    invit_solve_options d = invit_solve_defaults();
    solve_values v = {.method = cli_method_defaults(), .common = {.time = -1, .seed = d.seed}};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;
    invit_error err = {0};
    session s = {.v = &v, .args = &args, .path = args.item[0]};
    code = check_outputs(&s);
    if (code == CLI_GO) code = solve_all(&s, &err) == INVIT_OK ? CLI_OK : cli_report(&err);
    if (s.writer && (code == CLI_OK || s.solved > 0)) {
        if (invit_writer_close(s.writer, &err) != INVIT_OK) code = cli_report(&err);
    } else {
        invit_writer_abandon(s.writer);
    }
    int traced = close_trace(&s);
    if (code == CLI_OK) code = traced;
    invit_model_destroy(s.model);
    cli_args_free(&args);
    return code;
}
