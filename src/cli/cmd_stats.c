/* invit stats: the paper's three findings, measured on generated instances. */
#include "base/names.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZES = 32 };

typedef struct stats_values {
    cli_list problems, dists, sizes;
    int count, format;
    double effort;
    const char *csv, *figure, *model, *instance;
    int64_t step;
    bool json;
    cli_common common;
} stats_values;

/* The findings, as bits. */
enum { RANK = 1, EDGES = 2, ATTENTION = 4 };

static const cli_option options[] = {
    {.name = "problem",
     .modes = RANK | EDGES,
     .type = CLI_LIST,
     .offset = offsetof(stats_values, problems),
     .metavar = "LIST",
     .fallback = "tsp,cvrp",
     .help = "which problems (rank, edges)"},
    {.name = "dist",
     .modes = RANK | EDGES,
     .type = CLI_LIST,
     .offset = offsetof(stats_values, dists),
     .metavar = "LIST",
     .fallback = "all four",
     .help = "which distributions (rank, edges)"},
    {.name = "sizes",
     .type = CLI_LIST,
     .offset = offsetof(stats_values, sizes),
     .metavar = "LIST",
     .fallback = "each finding's own",
     .help = "instance sizes; edges: the square alone first, then totals"},
    {.name = "count",
     .old_letter = 'c',
     .type = CLI_INT,
     .offset = offsetof(stats_values, count),
     .metavar = "N",
     .min = 1,
     .max = 1e6,
     .help = "instances per size and distribution (rank: fewer of its own larger sizes)"},
    {.name = "effort",
     .modes = RANK | EDGES,
     .type = CLI_DOUBLE,
     .offset = offsetof(stats_values, effort),
     .metavar = "X",
     .min = 1e-4,
     .max = 1e4,
     .help = "times the usual number of search steps for near-optimal solutions"},
    {.name = "time",
     .letter = 't',
     .type = CLI_SECONDS,
     .offset = offsetof(stats_values, common.time),
     .metavar = "SECONDS",
     .fallback = "a number of steps by size",
     .min = 1e-3,
     .max = 1e9,
     .help = "search this long for each near-optimal solution"},
    {.name = "model",
     .modes = ATTENTION,
     .letter = 'm',
     .type = CLI_STRING,
     .offset = offsetof(stats_values, model),
     .metavar = "FILE",
     .help = "attention: the model whose largest view is given the whole instance, or that decides"},
    {.name = "instance",
     .modes = ATTENTION,
     .type = CLI_STRING,
     .offset = offsetof(stats_values, instance),
     .metavar = "FILE",
     .help = "attention: of one decision on this instance, head by head and view by view"},
    {.name = "step",
     .modes = ATTENTION,
     .type = CLI_INT64,
     .offset = offsetof(stats_values, step),
     .metavar = "K",
     .min = 0,
     .max = 1e9,
     .help = "with --instance: that decision of a greedy rollout, from 0"},
    {.name = "format",
     .letter = 'f',
     .type = CLI_CHOICE,
     .offset = offsetof(stats_values, format),
     .choices = "text|markdown|csv|json",
     .help = "of the summary on standard output"},
    {.name = "json",
     .type = CLI_BOOL,
     .offset = offsetof(stats_values, json),
     .help = "the same as --format json"},
    {.name = "csv",
     .type = CLI_STRING,
     .offset = offsetof(stats_values, csv),
     .metavar = "FILE",
     .help = "write the data behind the summary"},
    {.name = "figure",
     .letter = 'o',
     .type = CLI_STRING,
     .offset = offsetof(stats_values, figure),
     .metavar = "FILE",
     .help = "draw it: .svg, .png or .pdf"},
    CLI_SEED(stats_values, common),
    CLI_THREADS(stats_values, common),
    CLI_QUIET(stats_values, common),
    CLI_END};

static const cli_spec spec = {
    .command = "stats",
    .usage = "rank|edges|attention [OPTION...]",
    .about = "The paper's three findings on generated instances. rank: of the next node among the nearest "
             "feasible ones\n"
             "along near-optimal solutions. edges: the share that survives when nodes are added outside the "
             "unit square.\n"
             "attention: the mass beyond the 100 nearest neighbours when an encoder sees the whole instance; "
             "with\n"
             "--instance the weights of one decision.\n"
             "Ctrl-C gives the tables over what is finished.",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .more = "Examples:\n"
            "  invit stats rank --sizes 100,1000 --count 10 --csv rank.csv -o rank.svg\n"
            "  invit stats edges --problem tsp -o edges.svg\n"
            "  invit stats attention --model global.safetensors\n"
            "  invit stats attention --instance berlin52.tsp --step 20 -o heads.svg\n"};

static int read_sizes(const cli_list *list, int32_t *sizes)
{
    if (list->count > MAX_SIZES) return cli_bad_usage("at most %d sizes", MAX_SIZES);
    for (int k = 0; k < list->count; k++) {
        int64_t n;
        if (!cli_integer(list->item[k], &n) || n < 1 || n > 1000000)
            return cli_bad_usage("--sizes: expected a number of nodes, found '%s'", list->item[k]);
        sizes[k] = (int32_t)n;
    }
    return CLI_GO;
}

/* The data, the figure and the summary; one that cannot be written does not keep the others back. */
static int hand_over(const stats_values *v, const invit_report *summary, const invit_report *data)
{
    invit_error err;
    int code = v->csv ? cli_write_report(data, INVIT_TABLE_CSV, v->csv) : CLI_OK;
    if (v->figure && invit_report_figure(data, v->figure, &err) != INVIT_OK) code = cli_report(&err);
    int printed = cli_write_report(summary, (invit_table_format)v->format, NULL);
    return code == CLI_OK ? printed : code;
}

/* The attention of one decision. */
static int show_decision(const stats_values *v, const invit_control *control, cli_progress *progress)
{
    invit_error err;
    invit_instance *p = NULL;
    invit_model *model = NULL;
    invit_report *summary = NULL, *data = NULL;
    invit_status status = invit_instance_read(v->instance, 0, &p, &err);
    if (status == INVIT_OK)
        status = v->model ? invit_model_load(v->model, &model, &err)
                          : invit_model_load_default(invit_instance_problem(p), &model, &err);
    if (status == INVIT_OK) status = invit_stats_decision(model, p, v->step, control, &summary, &data, &err);
    cli_progress_clear(progress);
    int code = status == INVIT_OK ? hand_over(v, summary, data) : cli_report(&err);
    invit_report_destroy(summary);
    invit_report_destroy(data);
    invit_model_destroy(model);
    invit_instance_destroy(p);
    return code;
}

int cmd_stats(int argc, char **argv)
{
    static const char *const kinds[] = {"rank", "edges", "attention"}, *const problems[] = {"tsp", "cvrp"};
    const char *dists[4];
    int32_t sizes[MAX_SIZES];
    stats_values v = {.count = 20, .effort = 1, .common = {.seed = 1}};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;

    invit_error err;
    invit_model *model = NULL;
    invit_report *summary = NULL, *data = NULL;
    cli_progress progress = {0};
    invit_control control = cli_control(&progress, v.common.quiet);
    invit_stats_options o = invit_stats_defaults();
    for (int i = 0; i < 4; i++) dists[i] = inv_distribution_name((invit_distribution)i);

    int kind = 0;
    while (kind < 3 && strcmp(args.item[0], kinds[kind]) != 0) kind++;
    if (kind == 3) {
        code = cli_bad_usage("expected rank, edges or attention, found '%s'", args.item[0]);
        goto done;
    }
    if ((code = cli_choose(&v.problems, problems, 2, o.problem, "problem")) != CLI_GO) goto done;
    if ((code = cli_choose(&v.dists, dists, 4, o.distribution, "distribution")) != CLI_GO) goto done;
    if ((code = read_sizes(&v.sizes, sizes)) != CLI_GO) goto done;
    if ((code = cli_check_mode(&args, 1u << kind, kinds[kind])) != CLI_GO) goto done;
    if (v.json) v.format = INVIT_TABLE_JSON;
    if ((code = cli_check_output(v.csv)) != CLI_GO || (code = cli_check_picture(v.figure)) != CLI_GO ||
        (code = cli_check_differs(v.csv, v.model, "the model")) != CLI_GO)
        goto done;
    if (kind == 2 && cli_given(&args, "step") && !v.instance) {
        code = cli_bad_usage("--step is a decision on an --instance");
        goto done;
    }
    if (kind == 2 && v.instance) {
        code = show_decision(&v, &control, &progress);
        goto done;
    }
    if (kind == 2 && !v.model) {
        code = cli_bad_usage("attention needs a --model, best one with a global view");
        goto done;
    }
    o.sizes = sizes;
    o.size_count = v.sizes.count;
    o.count = v.count;
    o.seconds = v.common.time;
    o.effort = v.effort;
    o.seed = v.common.seed;
    o.threads = v.common.threads;

    invit_status status = kind == 2 ? invit_model_load(v.model, &model, &err) : INVIT_OK;
    if (status == INVIT_OK) {
        if (kind == 0)
            status = invit_stats_rank(&o, &control, &summary, &data, &err);
        else if (kind == 1)
            status = invit_stats_edges(&o, &control, &summary, &data, &err);
        else
            status = invit_stats_attention(model, &o, &control, &summary, &data, &err);
    }
    cli_progress_clear(&progress);
    code = summary ? hand_over(&v, summary, data) : CLI_OK; /* partial ones too, of a run that was stopped */
    if (status != INVIT_OK) code = cli_report(&err);
done:
    invit_report_destroy(summary);
    invit_report_destroy(data);
    invit_model_destroy(model);
    cli_args_free(&args);
    return code;
}
