/* invit plot: pictures of instances, solutions, anytime curves and training runs. */
#include "base/cancel.h"
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct values {
    const char *output, *title, *model;
    int64_t index, views, capacity;
    double best_known, width, scale;
    bool linear;
    cli_list trace;
    cli_common common;
} values;

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_STRING,
     .offset = offsetof(values, output),
     .metavar = "FILE",
     .help = "the picture; its ending .svg, .png or .pdf says what kind"},
    {.name = "index",
     .letter = 'i',
     .type = CLI_INT64,
     .offset = offsetof(values, index),
     .metavar = "I",
     .min = 0,
     .max = 1e15,
     .help = "which instance of a file with many, from 0"},
    CLI_CAPACITY(values, capacity),
    {.name = "best-known",
     .type = CLI_DOUBLE,
     .offset = offsetof(values, best_known),
     .metavar = "LENGTH",
     .fallback = "the library's table, by name",
     .min = 1e-300,
     .max = 1e300,
     .help = "length to measure the gap against"},
    {.name = "trace",
     .type = CLI_LIST,
     .offset = offsetof(values, trace),
     .metavar = "FILE.csv",
     .help = "draw anytime curves (lines `seconds,length`, as `invit solve --trace` writes them); may be "
             "repeated, and "
             "further arguments are traces too"},
    {.name = "views",
     .type = CLI_INT64,
     .offset = offsetof(values, views),
     .metavar = "STEP",
     .min = 0,
     .max = 1e9,
     .fallback = "",
     .help = "draw that decision of a greedy rollout, from 0: partial tour, nested views, probabilities"},
    {.name = "model",
     .letter = 'm',
     .type = CLI_STRING,
     .offset = offsetof(values, model),
     .metavar = "FILE",
     .fallback = "the bundled one",
     .help = "--views: the model to watch"},
    {.name = "linear",
     .type = CLI_BOOL,
     .offset = offsetof(values, linear),
     .help = "traces: linear time axis instead of a logarithmic one"},
    {.name = "title",
     .type = CLI_STRING,
     .offset = offsetof(values, title),
     .metavar = "TEXT",
     .fallback = "the instance's name",
     .help = "text on top"},
    {.name = "width",
     .type = CLI_DOUBLE,
     .offset = offsetof(values, width),
     .metavar = "POINTS",
     .min = 100,
     .max = 10000,
     .help = "width of the page"},
    {.name = "scale",
     .type = CLI_DOUBLE,
     .offset = offsetof(values, scale),
     .metavar = "PIXELS",
     .min = 0,
     .max = 20,
     .fallback = "2, or 4 above 20,000 nodes",
     .help = "PNG: pixels per point"},
    CLI_SEED(values, common),
    CLI_QUIET(values, common),
    CLI_END,
};

static const cli_spec spec = {
    .command = "plot",
    .usage = "INSTANCE [SOLUTION] -o FILE\nINSTANCE --views STEP -o FILE\nRUN_DIR... -o FILE\n--trace "
             "FILE.csv... -o FILE",
    .about = "Draws an instance and a solution, the curves of a training run, or length over time. Title and "
             "gap come "
             "from the independent checker and the table of best known lengths.",
    .options = options,
    .min_args = 0,
    .max_args = -1,
    .more = "Examples:\n"
            "  invit plot berlin52.tsp berlin52.tour -o berlin52.svg\n"
            "  invit plot berlin52.tsp --views 20 -o decision.png\n"
            "  invit plot runs/tsp -o training.png\n"
            "  invit plot --trace a.csv --trace b.csv -o anytime.pdf",
};

static bool is_run(const char *path)
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    return (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) ||
           strcmp(slash ? slash + 1 : path, "log.jsonl") == 0;
}

static invit_status read_instance(const char *path, const values *v, invit_instance **out, invit_error *err)
{
    invit_reader *reader = NULL;
    if (!v->capacity) return invit_instance_read(path, v->index, out, err);
    invit_status status = invit_reader_open(path, &reader, err); /* a table: one instance */
    if (status == INVIT_OK) {
        invit_reader_set_capacity(reader, v->capacity);
        status = invit_reader_next(reader, out, err);
    }
    invit_reader_close(reader);
    return status;
}

static int draw_instance(const values *v, const cli_args *args, invit_plot_options *o)
{
    invit_error err;
    invit_instance *instance = NULL;
    invit_solution *solution = NULL;
    int code = CLI_OK;
    if (read_instance(args->item[0], v, &instance, &err) != INVIT_OK) goto failed;
    if (args->count > 1 &&
        invit_solution_read(args->item[1], instance, v->index, &solution, NULL, &err) != INVIT_OK)
        goto failed;
    invit_check_result checked;
    if (solution && invit_check(instance, solution, &checked, &err) == INVIT_OK && !checked.feasible)
        cli_warn("%s is not feasible: %s", args->item[1], checked.message);
    if (invit_plot(instance, solution, v->output, o, &err) != INVIT_OK) goto failed;
    goto done;
failed:
    code = cli_report(&err);
done:
    invit_solution_destroy(solution);
    invit_instance_destroy(instance);
    return code;
}

/* Waits for its step of the rollout, draws it, and asks the solver to stop. */
typedef struct watcher {
    const values *v;
    const invit_plot_options *o;
    const invit_instance *instance;
    invit_model_summary model;
    bool drawn;
    int64_t seen;
    volatile int stop;
    invit_status status;
    invit_error err;
} watcher;

static void on_step(void *user, const invit_step *step)
{
    watcher *w = user;
    w->seen = step->step;
    if (w->drawn || step->step != w->v->views) return;
    w->status =
        invit_plot_step(w->instance, step, w->model.view, w->model.views, w->v->output, w->o, &w->err);
    w->drawn = true;
    inv_set_flag(&w->stop);
}

static int draw_views(const values *v, const cli_args *args, const invit_plot_options *o)
{
    invit_error err = {.message = "out of memory"};
    invit_instance *instance = NULL;
    invit_model *model = NULL;
    invit_solution *solution = NULL;
    invit_options *how = NULL;
    int code = CLI_OK;
    if (read_instance(args->item[0], v, &instance, &err) != INVIT_OK) goto failed;
    invit_status loaded = v->model ? invit_model_load(v->model, &model, &err)
                                   : invit_model_load_default(invit_instance_problem(instance), &model, &err);
    if (loaded != INVIT_OK) goto failed;

    watcher w = {.v = v, .o = o, .instance = instance, .model = invit_model_describe(model), .seen = -1};
    invit_control control = {.cancel = &w.stop};
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)v->common.seed);
    how = invit_options_create();
    if (!how || invit_options_set(how, "rollouts", "1", &err) != INVIT_OK ||
        invit_options_set(how, "time", "0", &err) != INVIT_OK ||
        invit_options_set(how, "seed", seed, &err) != INVIT_OK)
        goto failed;
    invit_options_set_control(how, &control);
    invit_options_set_step(how, on_step, &w);
    invit_status solved = invit_solve(instance, model, how, &solution, &err);
    if (w.drawn && w.status != INVIT_OK)
        code = cli_report(&w.err);
    else if (!w.drawn && solved != INVIT_OK)
        goto failed;
    else if (w.seen < 0)
        code = cli_fail("%s: there is nothing to decide in it, so no decision to draw", args->item[0]);
    else if (!w.drawn)
        code = cli_fail("the rollout has no decision %lld; its last is %lld", (long long)v->views,
                        (long long)w.seen);
    goto done;
failed:
    code = cli_report(&err);
done:
    invit_options_destroy(how);
    invit_solution_destroy(solution);
    invit_model_destroy(model);
    invit_instance_destroy(instance);
    return code;
}

static int draw_traces(const values *v, const cli_args *args, const invit_plot_options *o)
{
    enum { MOST = 32 };
    const char *paths[MOST];
    int count = 0;
    if (v->trace.count + args->count > MOST)
        return cli_bad_usage("at most %d traces fit in one picture", MOST);
    for (int i = 0; i < v->trace.count; i++) paths[count++] = v->trace.item[i];
    for (int i = 0; i < args->count; i++) paths[count++] = args->item[i];
    invit_error err;
    return invit_plot_traces(paths, count, v->output, o, &err) == INVIT_OK ? CLI_OK : cli_report(&err);
}

static int draw_runs(const values *v, const cli_args *args, const invit_plot_options *o)
{
    invit_error err;
    return invit_plot_runs(args->item, args->count, v->output, o, &err) == INVIT_OK ? CLI_OK
                                                                                    : cli_report(&err);
}

static int draw(const values *v, const cli_args *args)
{
    invit_plot_options o = invit_plot_defaults();
    o.width = v->width;
    o.scale = v->scale;
    o.title = v->title;
    o.linear_time = v->linear;
    if (cli_given(args, "best-known")) o.best_known = v->best_known;
    if (!v->output) return cli_bad_usage("plot: say where the picture goes: -o FILE.svg, .png or .pdf");
    if (v->trace.count > 0) return draw_traces(v, args, &o);
    if (args->count == 0)
        return cli_bad_usage("plot: expected an instance, a run directory or --trace; see --help");
    if (is_run(args->item[0])) return draw_runs(v, args, &o);
    if (v->capacity && v->index)
        return cli_bad_usage("plot: --capacity is for a table, which holds one instance: leave --index out");
    if (cli_given(args, "views")) {
        if (args->count > 1)
            return cli_bad_usage("plot: --views takes an instance alone, not '%s'", args->item[1]);
        return draw_views(v, args, &o);
    }
    if (args->count > 2) return cli_bad_usage("plot: unexpected argument '%s'", args->item[2]);
    return draw_instance(v, args, &o);
}

int cmd_plot(int argc, char **argv)
{
    values v = {.width = invit_plot_defaults().width, .common.seed = 1};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;
    code = draw(&v, &args);
    cli_args_free(&args);
    return code;
}
