/* invit bench improve: how short solutions get in a given time, and how many steps per second that takes. */
#include "base/options.h"
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct values {
    int problem, construct;
    int metric; /* 0: the file's, else 1 + invit_metric */
    int64_t iterations;
    cli_list sizes;
    cli_common common;
} values;

static const cli_option options[] = {
    {.name = "problem",
     .type = CLI_CHOICE,
     .offset = offsetof(values, problem),
     .choices = "both|tsp|cvrp",
     .help = "which generated instances, when no file is given"},
    {.name = "sizes",
     .letter = 'n',
     .type = CLI_LIST,
     .offset = offsetof(values, sizes),
     .metavar = "N,N",
     .fallback = "1000",
     .help = "nodes (TSP) or customers (CVRP: capacity 50, demand 1 to 10) of the generated instances"},
    {.name = "construct",
     .type = CLI_CHOICE,
     .offset = offsetof(values, construct),
     .choices = "greedy|nearest|space-filling",
     .help = "where the search begins; greedy: greedy edges (TSP), savings (CVRP)"},
    {.name = "metric",
     .type = CLI_CHOICE,
     .offset = offsetof(values, metric),
     .choices = "file|exact|euc_2d|ceil_2d|att|geo|haversine|dimacs",
     .help = "measure by this rule instead of the files' own"},
    {.name = "iterations",
     .type = CLI_INT64,
     .offset = offsetof(values, iterations),
     .metavar = "N",
     .fallback = "no limit",
     .min = 1,
     .max = 1e15,
     .help = "steps instead of a time: the same result on a busy machine"},
    CLI_TIME(values, common, "for each instance, reading and construction included"),
    CLI_SEED(values, common),
    CLI_THREADS(values, common),
    CLI_JSON(values, common),
    CLI_END,
};

static const cli_spec spec = {
    .command = "bench improve",
    .usage = "[FILE...] [OPTION...]",
    .about =
        "Improves each instance for a time and prints the length, the gap to the best known length where the "
        "library has one, and the steps per second. 'alone' counts processor time instead of wall time: what "
        "the same "
        "machine would do with nothing else running.",
    .options = options,
    .max_args = -1,
    .more = "Examples:\n"
            "  invit bench improve --problem cvrp --sizes 1000,5000 --time 10\n"
            "  invit bench improve X-n*.vrp --time 30\n"
            "  invit bench improve CMT*.vrp --metric exact --time 30\n"};

typedef struct tally {
    double gap;
    int known;
} tally;

static double processor_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static const char *begin_with(const values *v, invit_problem problem)
{
    if (v->construct == 1) return "nearest";
    if (v->construct == 2) return "space-filling";
    return problem == INVIT_TSP ? "greedy" : "savings";
}

static double get(const invit_solution *solution, const char *name)
{
    return invit_solution_get(solution, name);
}

static void print_row(const values *v, const invit_instance *p, const invit_solution *s, double best_known,
                      double alone)
{
    const char *name = invit_instance_name(p);
    double length = get(s, "length"), constructed = get(s, "constructed"), steps = get(s, "iterations");
    double seconds = get(s, "seconds_total");
    int routes = (int)get(s, "routes");
    long long nodes = (long long)invit_instance_nodes(p);
    if (v->common.json) {
        inv_json j = inv_json_to_file(stdout);
        inv_json_open(&j, NULL, '{');
        inv_json_string(&j, "instance", name);
        inv_json_int(&j, "nodes", nodes);
        inv_json_number(&j, "constructed", constructed);
        inv_json_number(&j, "length", length);
        inv_json_int(&j, "routes", routes);
        if (best_known > 0) inv_json_number(&j, "gap", length / best_known - 1);
        inv_json_int(&j, "steps", (int64_t)steps);
        inv_json_number(&j, "seconds", seconds);
        inv_json_number(&j, "processor_seconds", alone);
        inv_json_close(&j);
        printf("\n");
    } else {
        printf("%-20s %8lld %14.10g %14.10g %6d ", name, nodes, constructed, length, routes);
        if (best_known > 0)
            printf("%7.3f%%", 100 * (length / best_known - 1));
        else
            printf("%8s", "");
        printf(" %12.0f %12.0f %9.2f\n", steps / seconds, steps / alone, seconds);
    }
    fflush(stdout);
}

static invit_status set_number(invit_options *o, const char *name, double value, invit_error *err)
{
    char text[32];
    return invit_options_set(o, name, inv_number_text(value, text), err);
}

static invit_status measure(const values *v, const invit_instance *p, tally *sum, invit_error *err)
{
    invit_solution *s = NULL;
    invit_control control = {.cancel = cli_cancel_flag()};
    invit_options *o = invit_options_create();
    invit_status status = o ? INVIT_OK : INVIT_ERR_MEMORY;
    if (o) invit_options_set_control(o, &control);
    if (status == INVIT_OK)
        status = invit_options_set(o, "construct", begin_with(v, invit_instance_problem(p)), err);
    if (status == INVIT_OK)
        status = v->iterations > 0 ? set_number(o, "iterations", (double)v->iterations, err)
                                   : set_number(o, "time", v->common.time, err);
    if (status == INVIT_OK) status = set_number(o, "threads", v->common.threads, err);
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)v->common.seed);
    if (status == INVIT_OK) status = invit_options_set(o, "seed", seed, err);
    double before = processor_seconds(), best_known = 0;
    if (status == INVIT_OK) status = invit_solve(p, NULL, o, &s, err);
    if (status == INVIT_OK) {
        if (invit_instance_best_known(p, &best_known)) {
            sum->gap += get(s, "length") / best_known - 1;
            sum->known++;
        }
        print_row(v, p, s, best_known, processor_seconds() - before);
    }
    invit_options_destroy(o);
    invit_solution_destroy(s);
    return status;
}

static invit_status measure_generated(const values *v, invit_problem problem, int64_t size, tally *sum,
                                      invit_error *err)
{
    invit_instance *p = NULL;
    char name[64];
    snprintf(name, sizeof name, "%s-%lld", problem == INVIT_TSP ? "uniform-tsp" : "uniform-cvrp",
             (long long)size);
    invit_status status = invit_generate(problem, INVIT_UNIFORM, size, v->common.seed, 0, &p, err);
    if (status == INVIT_OK) status = invit_instance_set_name(p, name, err);
    if (status == INVIT_OK) status = measure(v, p, sum, err);
    invit_instance_destroy(p);
    return status;
}

static invit_status measure_file(const values *v, const char *path, tally *sum, invit_error *err)
{
    invit_instance *p = NULL;
    invit_status status = invit_instance_read(path, 0, &p, err);
    if (status == INVIT_OK && v->metric)
        status = invit_instance_set_metric(p, (invit_metric)(v->metric - 1), err);
    if (status == INVIT_OK) status = measure(v, p, sum, err);
    invit_instance_destroy(p);
    return status;
}

int bench_improve(int argc, char **argv)
{
    values v = {.iterations = 0, .common = {.time = 2, .seed = 1}};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;
    invit_status status = INVIT_OK;
    invit_error err = {0};
    tally sum = {0};
    int sizes = v.sizes.count ? v.sizes.count : 1;
    if (!v.common.json)
        printf("%-20s %8s %14s %14s %6s %8s %12s %12s %9s\n", "instance", "nodes", "constructed", "length",
               "routes", "gap", "steps/s", "alone", "seconds");
    for (int i = 0; i < args.count && status == INVIT_OK && !cli_cancelled(); i++)
        status = measure_file(&v, args.item[i], &sum, &err);
    for (int i = 0; args.count == 0 && i < 2 * sizes && status == INVIT_OK && !cli_cancelled(); i++) {
        int64_t size = 1000;
        invit_problem problem = i < sizes ? INVIT_TSP : INVIT_CVRP;
        if (v.sizes.count && (!cli_integer(v.sizes.item[i % sizes], &size) || size < 1 || size > 100000000)) {
            code = cli_bad_usage("--sizes: '%s' is not a number of nodes", v.sizes.item[i % sizes]);
            cli_args_free(&args);
            return code;
        }
        if (v.problem != 0 && (v.problem == 1) != (problem == INVIT_TSP)) continue;
        status = measure_generated(&v, problem, size, &sum, &err);
    }
    code = status == INVIT_OK ? CLI_OK : cli_report(&err);
    if (code == CLI_OK && !v.common.json && sum.known > 1)
        printf("mean gap of %d: %.3f %%\n", sum.known, 100 * sum.gap / sum.known);
    cli_args_free(&args);
    return code;
}
