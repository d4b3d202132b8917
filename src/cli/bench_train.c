/* invit bench train: labelled states and REINFORCE decisions per second, relative to the machine's peak. */
#include "base/json_writer.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

typedef struct values {
    int problem;
    const char *views;
    double seconds;
    cli_common common;
} values;

static const cli_option options[] = {{.name = "problem",
                                      .type = CLI_CHOICE,
                                      .offset = offsetof(values, problem),
                                      .choices = "tsp|cvrp",
                                      .help = "which model"},
                                     {.name = "views",
                                      .type = CLI_STRING,
                                      .offset = offsetof(values, views),
                                      .metavar = "K,K,..",
                                      .help = "sizes of the action view and the state views"},
                                     {.name = "seconds",
                                      .type = CLI_SECONDS,
                                      .offset = offsetof(values, seconds),
                                      .metavar = "S",
                                      .min = 0.1,
                                      .max = 600,
                                      .help = "time for each measurement"},
                                     CLI_THREADS(values, common),
                                     CLI_JSON(values, common),
                                     CLI_END};

static void print_json(const invit_train_speed *s)
{
    inv_json j = inv_json_to_file(stdout);
    inv_json_open(&j, NULL, '{');
    inv_json_number(&j, "peak_gflops", s->peak_gflops);
    inv_json_number(&j, "imitate_states_per_second", s->imitate_rate);
    inv_json_number(&j, "imitate_per_gflops", s->imitate_rate / s->peak_gflops);
    inv_json_number(&j, "reinforce_decisions_per_second", s->reinforce_rate);
    inv_json_number(&j, "reinforce_learned_per_second", s->reinforce_learned);
    inv_json_number(&j, "expert_instances_per_second", s->expert_rate);
    inv_json_number(&j, "expert_gap", s->expert_gap);
    inv_json_number(&j, "reduce_ms", 1e3 * s->reduce_seconds);
    inv_json_number(&j, "peak_megabytes", s->peak_bytes / 1e6);
    inv_json_close(&j);
}

int bench_train(int argc, char **argv)
{
    static const cli_spec spec = {.command = "bench train",
                                  .usage = "[OPTION...]",
                                  .about =
                                      "Measures imitation with labels ready, REINFORCE and the expert on "
                                      "instances of 100 nodes, beside the multiply-add peak of the same run.",
                                  .options = options};
    values v = {.views = "15,35", .seconds = 10};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;
    invit_train_options o;
    invit_error err = {0};
    invit_train_speed s;
    invit_train_defaults(v.problem == 0 ? INVIT_TSP : INVIT_CVRP, INVIT_IMITATE, &o);
    o.threads = v.common.threads;
    o.rollin = 0;
    if (invit_train_set(&o, "views", v.views, &err) != INVIT_OK ||
        invit_train_set(&o, "data", "uniform:100", &err) != INVIT_OK ||
        invit_train_measure(&o, v.seconds, &s, &err) != INVIT_OK) {
        cli_args_free(&args);
        return cli_report(&err);
    }
    if (s.rank == 0 && v.common.json)
        print_json(&s);
    else if (s.rank == 0)
        printf("peak                %8.1f GFLOPS (FP32 multiply-add, this run)\n"
               "imitate             %8.0f states/s with labels %s: %.2f per GFLOPS\n"
               "reinforce           %8.0f decisions/s, sampled and baseline, end to end\n"
               "  learned from      %8.0f decisions/s\n"
               "expert              %8.1f instances/s of a core, %.2f %% above twenty times the effort\n"
               "sum over ranks      %8.1f ms a gradient\n"
               "memory              %8.0f MB\n",
               s.peak_gflops, s.imitate_rate, s.labels_were_ready ? "ready" : "made on the way",
               s.imitate_rate / s.peak_gflops, s.reinforce_rate, s.reinforce_learned, s.expert_rate,
               100 * s.expert_gap, 1e3 * s.reduce_seconds, s.peak_bytes / 1e6);
    cli_args_free(&args);
    return CLI_OK;
}
