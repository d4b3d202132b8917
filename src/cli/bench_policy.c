/* invit bench policy: decisions per second against the machine's own peak, and where the time goes. */
#include "cli/cli.h"

#include <stdio.h>

typedef struct values {
    double seconds;
    bool large;
    cli_common common;
} values;

static const cli_option options[] = {{.name = "seconds",
                                      .type = CLI_SECONDS,
                                      .offset = offsetof(values, seconds),
                                      .metavar = "SECONDS",
                                      .min = 0.05,
                                      .max = 3600,
                                      .help = "for each measurement"},
                                     {.name = "large",
                                      .type = CLI_BOOL,
                                      .offset = offsetof(values, large),
                                      .help = "measure 10,000 and 1,000,000 nodes too (--no-large: skip)"},
                                     CLI_THREADS(values, common),
                                     CLI_JSON(values, common),
                                     CLI_END};

static const cli_spec spec = {.command = "bench policy",
                              .usage = "[OPTION...]",
                              .about = "Measures the machine's FP32 multiply-add peak and the policy's "
                                       "decisions per second, and prints both and their "
                                       "ratio. 'alone' counts processor time instead of wall time: what the "
                                       "same machine would do with nothing else "
                                       "running. Random weights; speed does not depend on them.",
                              .options = options};

/* One line of the table. */
typedef struct row {
    const char *what;
    invit_problem problem;
    int64_t nodes;
    int32_t views, rollouts;
    int threads; /* 0: all */
    double from;
    invit_policy_speed speed;
    bool measured;
} row;

enum {
    TSP_2V,
    TSP_3V,
    CVRP_2V,
    ONE_CORE,
    ONE_ROLLOUT,
    SMALL,
    LARGE,
    LARGE_MIDDLE,
    LARGE_END,
    CVRP_LARGE_END,
    ROWS
};

static invit_status measure(row *r, double seconds, int threads, invit_error *err)
{
    invit_instance *p = NULL;
    invit_model *m = NULL;
    invit_status status = invit_generate(r->problem, INVIT_UNIFORM, r->nodes, 1, 0, &p, err);
    if (status == INVIT_OK) status = invit_model_random(r->problem, r->views, 1, &m, err);
    if (status == INVIT_OK)
        status = invit_measure_policy(p, m, r->rollouts, r->threads ? r->threads : threads, r->from, seconds,
                                      &r->speed, err);
    r->measured = status == INVIT_OK;
    invit_model_destroy(m);
    invit_instance_destroy(p);
    return status;
}

static void print_rows(const row *rows, double peak_one, double peak_one_alone, double peak,
                       double peak_alone)
{
    printf("FP32 peak: %.0f GFLOPS on one core, %.0f on all (alone: %.0f, %.0f)\n\n", peak_one, peak,
           peak_one_alone, peak_alone);
    printf("%-46s %12s %12s %10s %7s\n", "", "decisions/s", "per GFLOPS", "alone", "views");
    for (int i = 0; i < ROWS; i++) {
        const row *r = &rows[i];
        if (!r->measured) continue;
        double against = r->threads == 1 ? peak_one : peak,
               against_alone = r->threads == 1 ? peak_one_alone : peak_alone;
        printf("%-46s %12.0f %12.2f %10.2f %6.1f%%\n", r->what, r->speed.per_second,
               r->speed.per_second / against, r->speed.per_cpu_second / against_alone,
               100 * r->speed.view_share);
    }
}

static void print_ratios(const row *r)
{
    printf("\n%-66s %8s %8s\n", "", "", "wanted");
    printf("%-66s %8.2f %8s\n", "CVRP against TSP (processor time)",
           r[CVRP_2V].speed.per_cpu_second / r[TSP_2V].speed.per_cpu_second, ">= 0.75");
    printf("%-66s %8.2f %8s\n", "one rollout on one core against batched on one core",
           r[ONE_ROLLOUT].speed.per_cpu_second / r[ONE_CORE].speed.per_cpu_second, ">= 0.60");
    if (!r[LARGE].measured) return;
    printf("%-66s %8.2f %8s\n", "time per decision, 1,000,000 nodes against 10,000",
           r[SMALL].speed.per_cpu_second / r[LARGE].speed.per_cpu_second, "<= 1.15");
    printf("%-66s %8.0f %8s\n", "bytes per node and rollout", r[LARGE].speed.walk_bytes, "<= 200");
    printf("%-66s %8.0f\n", "bytes per node shared by all rollouts (instance and index)",
           r[LARGE].speed.shared_bytes);
    printf("%-66s %8.1f\n", "minutes for 20 x TSP-10000, 8 rollouts, at this rate (RTX 4090: 7.7)",
           20 * 8 * 1e4 / r[SMALL].speed.per_second / 60);
}

static void print_json(const row *rows, double peak_one, double peak_one_alone, double peak,
                       double peak_alone)
{
    inv_json j = inv_json_to_file(stdout);
    inv_json_open(&j, NULL, '{');
    inv_json_number(&j, "peak_gflops_one", peak_one);
    inv_json_number(&j, "peak_gflops_one_alone", peak_one_alone);
    inv_json_number(&j, "peak_gflops", peak);
    inv_json_number(&j, "peak_gflops_alone", peak_alone);
    inv_json_open(&j, "rows", '[');
    for (int i = 0; i < ROWS; i++) {
        const row *r = &rows[i];
        if (!r->measured) continue;
        inv_json_open(&j, NULL, '{');
        inv_json_string(&j, "what", r->what);
        inv_json_int(&j, "nodes", r->nodes);
        inv_json_int(&j, "views", r->views);
        inv_json_int(&j, "rollouts", r->rollouts);
        inv_json_number(&j, "decisions_per_second", r->speed.per_second);
        inv_json_number(&j, "decisions_per_second_alone", r->speed.per_cpu_second);
        inv_json_number(&j, "view_share", r->speed.view_share);
        inv_json_number(&j, "walk_bytes", r->speed.walk_bytes);
        inv_json_number(&j, "shared_bytes", r->speed.shared_bytes);
        inv_json_close(&j);
    }
    inv_json_close(&j);
    inv_json_close(&j);
}

int bench_policy(int argc, char **argv)
{
    values v = {.seconds = 2, .large = true};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;
    row rows[ROWS] = {
        [TSP_2V] = {"INViT-2V, TSP-1000, 32 rollouts, all cores", INVIT_TSP, 1000, 2, 32, 0, 0, {0}, false},
        [TSP_3V] = {"INViT-3V, TSP-1000, 32 rollouts, all cores", INVIT_TSP, 1000, 3, 32, 0, 0, {0}, false},
        [CVRP_2V] =
            {"INViT-2V, CVRP-1000, 32 rollouts, all cores", INVIT_CVRP, 1000, 2, 32, 0, 0, {0}, false},
        [ONE_CORE] = {"INViT-2V, TSP-1000, 16 rollouts, one core", INVIT_TSP, 1000, 2, 16, 1, 0, {0}, false},
        [ONE_ROLLOUT] =
            {"INViT-2V, TSP-1000, one rollout, one core", INVIT_TSP, 1000, 2, 1, 1, 0, {0}, false},
        [SMALL] = {"INViT-2V, TSP-10000, 8 rollouts, all cores", INVIT_TSP, 10000, 2, 8, 0, 0, {0}, false},
        [LARGE] =
            {"INViT-2V, TSP-1000000, 8 rollouts, all cores", INVIT_TSP, 1000000, 2, 8, 0, 0, {0}, false},
        [LARGE_MIDDLE] =
            {"  the same, half of the nodes visited", INVIT_TSP, 1000000, 2, 2, 0, 0.5, {0}, false},
        [LARGE_END] =
            {"  the same, 99.9 % of the nodes visited", INVIT_TSP, 1000000, 2, 2, 0, 0.999, {0}, false},
        [CVRP_LARGE_END] =
            {"INViT-2V, CVRP-1000000, 99.9 % served", INVIT_CVRP, 1000000, 2, 2, 0, 0.999, {0}, false},
    };
    invit_error err = {0};
    double peak_one_alone, peak_alone;
    cli_cancel_flag();
    double peak_one = invit_measure_peak(1, v.seconds / 4, &peak_one_alone);
    double peak = invit_measure_peak(v.common.threads, v.seconds / 4, &peak_alone);
    invit_status status = INVIT_OK;
    for (int i = 0; i < (v.large ? ROWS : SMALL) && status == INVIT_OK && !cli_cancelled(); i++)
        status = measure(&rows[i], v.seconds, v.common.threads, &err);
    code = status == INVIT_OK ? CLI_OK : cli_report(&err);
    if (code == CLI_OK && v.common.json) {
        print_json(rows, peak_one, peak_one_alone, peak, peak_alone);
    } else if (code == CLI_OK) {
        print_rows(rows, peak_one, peak_one_alone, peak, peak_alone);
        if (!cli_cancelled()) print_ratios(rows);
    }
    if (code == CLI_OK && cli_cancelled()) code = cli_stopped();
    cli_args_free(&args);
    return code;
}
