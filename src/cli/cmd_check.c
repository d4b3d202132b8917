/* invit check: is a solution feasible, and how long is it? */
#include "base/options.h"
#include "cli/cli.h"
#include "cli/rules.h"

#include <math.h>
#include <stdio.h>

typedef struct values {
    int64_t index, capacity;
    int metric; /* 0: the file's, else 1 + invit_metric */
    cli_rules rules;
    cli_common common;
} values;

static const cli_option options[] = {
    {.name = "index",
     .letter = 'i',
     .type = CLI_INT64,
     .offset = offsetof(values, index),
     .metavar = "I",
     .fallback = "all",
     .min = 0,
     .max = 1e15,
     .help = "check instance I of a file with many, counted from 0"},
    {.name = "metric",
     .type = CLI_CHOICE,
     .offset = offsetof(values, metric),
     .choices = "file|exact|euc_2d|ceil_2d|att|geo|haversine|dimacs",
     .help = "measure by this rule instead of the file's own"},
    CLI_CAPACITY(values, capacity),
    CLI_JSON(values, common),
    CLI_RULES(values, rules),
    CLI_END,
};
static const cli_spec spec = {
    .command = "check",
    .usage = "INSTANCE SOLUTION [OPTION...]",
    .about =
        "Checks that a solution visits every node once and keeps the capacity and all other rules, and "
        "measures it, by the "
        "instance's "
        "own rounding rule and without rounding. Shares no code with the solver. Files with many instances "
        "are "
        "checked line by line. The exit code is 1 when a solution is infeasible. '-' reads standard input.",
    .options = options,
    .min_args = 2,
    .max_args = 2,
    .more = "Example:\n  invit check berlin52.tsp berlin52.tour\n",
};

static void print_text(const invit_instance *p, const invit_check_result *r, const invit_solution_info *claim)
{
    char number[32];
    double best;
    if (!r->feasible) {
        printf("%s: infeasible: %s\n", invit_instance_name(p), r->message);
        return;
    }
    printf("%s: feasible, length %s", invit_instance_name(p), inv_number_text(r->length, number));
    if (r->length != r->length_exact) printf(" (unrounded %.4f)", r->length_exact);
    if (invit_instance_problem(p) == INVIT_CVRP) printf(", %d routes", r->routes);
    if (invit_instance_best_known(p, &best))
        printf(", %.3f %% above the best known %s", 100 * (r->length / best - 1),
               inv_number_text(best, number));
    printf("\n");
    if (isfinite(claim->length) && fabs(claim->length - r->length) > 1e-6 * fmax(1, r->length) &&
        fabs(claim->length - r->length_exact) > 1e-6 * fmax(1, r->length))
        printf("%s: note: the file claims a length of %s\n", invit_instance_name(p),
               inv_number_text(claim->length, number));
}

static void print_json(const invit_instance *p, const invit_check_result *r, const invit_solution_info *claim)
{
    double best = NAN;
    inv_json j = inv_json_to_file(stdout);
    invit_instance_best_known(p, &best);
    inv_json_open(&j, NULL, '{');
    inv_json_string(&j, "name", invit_instance_name(p));
    inv_json_bool(&j, "feasible", r->feasible);
    inv_json_string(&j, "reason", r->feasible ? NULL : r->message);
    inv_json_number(&j, "length", r->length);
    inv_json_number(&j, "length_exact", r->length_exact);
    inv_json_int(&j, "routes", r->routes);
    inv_json_number(&j, "claimed", claim->length);
    inv_json_number(&j, "best_known", best);
    inv_json_number(&j, "gap_percent", 100 * (r->length / best - 1));
    inv_json_close(&j);
}

static invit_status check_one(const values *v, const invit_instance *p, const invit_solution *s,
                              const invit_solution_info *claim, bool *all_feasible, invit_error *err)
{
    invit_check_result result;
    invit_status status = invit_check(p, s, &result, err);
    if (status != INVIT_OK) return status;
    *all_feasible = *all_feasible && result.feasible;
    (v->common.json ? print_json : print_text)(p, &result, claim);
    return INVIT_OK;
}

/* The next instance, measured as the options say. */
static invit_status next_instance(const values *v, invit_reader *reader, invit_instance **p, invit_error *err)
{
    invit_status status = invit_reader_next(reader, p, err);
    if (status != INVIT_OK || !*p) return status;
    if (v->metric) status = invit_instance_set_metric(*p, (invit_metric)(v->metric - 1), err);
    if (status == INVIT_OK) status = cli_rules_apply(&v->rules, *p, err);
    if (status != INVIT_OK) {
        invit_instance_destroy(*p);
        *p = NULL;
    }
    return status;
}

/* A solution that no instance is left for is an error, whether or not it suits the last one. */
static invit_status refuse_more(invit_solution_reader *answers, const char *solutions,
                                const invit_instance *last, int64_t instances, invit_error *err)
{
    invit_solution *s = NULL;
    invit_status status = invit_solution_reader_next(answers, last, &s, NULL, err);
    bool none = status == INVIT_OK && !s;
    invit_solution_destroy(s);
    if (none || status == INVIT_ERR_IO || status == INVIT_ERR_MEMORY) return status;
    snprintf(err->message, sizeof err->message,
             "%s: expected %lld solution%s, as many as instances, found more", solutions,
             (long long)instances, instances == 1 ? "" : "s");
    return err->code = INVIT_ERR_INPUT;
}

/* Instances and solutions side by side, as many of the one as of the other. */
static invit_status check_all(const values *v, invit_reader *reader, const char *solutions,
                              bool *all_feasible, invit_error *err)
{
    invit_solution_reader *answers = NULL;
    invit_instance *last = NULL;
    invit_status status = invit_solution_reader_open(solutions, &answers, err);
    for (int64_t i = 0; status == INVIT_OK; i++) {
        invit_instance *p = NULL;
        invit_solution *s = NULL;
        invit_solution_info claim;
        status = next_instance(v, reader, &p, err);
        if (status == INVIT_OK && !p && last) status = refuse_more(answers, solutions, last, i, err);
        if (status != INVIT_OK || !p) break;
        status = invit_solution_reader_next(answers, p, &s, &claim, err);
        if (status == INVIT_OK && !s) {
            snprintf(err->message, sizeof err->message,
                     "%s: expected a solution of instance %lld (%s), found no more", solutions, (long long)i,
                     invit_instance_name(p));
            status = err->code = INVIT_ERR_INPUT;
        }
        if (status == INVIT_OK) status = check_one(v, p, s, &claim, all_feasible, err);
        invit_solution_destroy(s);
        invit_instance_destroy(last);
        last = p;
    }
    invit_instance_destroy(last);
    invit_solution_reader_close(answers);
    return status;
}

static invit_status check_index(const values *v, invit_reader *reader, const char *solutions,
                                bool *all_feasible, invit_error *err)
{
    invit_instance *p = NULL;
    invit_solution *s = NULL;
    invit_solution_info claim;
    invit_status status = INVIT_OK;
    for (int64_t i = 0; i <= v->index; i++) {
        invit_instance_destroy(p);
        p = NULL;
        status = next_instance(v, reader, &p, err);
        if (status != INVIT_OK) return status;
        if (!p) {
            snprintf(err->message, sizeof err->message, "no instance %lld: the file holds %lld",
                     (long long)v->index, (long long)i);
            return err->code = INVIT_ERR_ARGUMENT;
        }
    }
    status = invit_solution_read(solutions, p, v->index, &s, &claim, err);
    if (status == INVIT_OK) status = check_one(v, p, s, &claim, all_feasible, err);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
    return status;
}

int cmd_check(int argc, char **argv)
{
    values v = {0};
    cli_args args;
    int code = cli_parse(&spec, &v, argc, argv, &args);
    if (code != CLI_GO) return code;
    invit_error err;
    bool all_feasible = true;
    invit_reader *reader = NULL;
    invit_status status = invit_reader_open(args.item[0], &reader, &err);
    if (status == INVIT_OK) {
        if (v.capacity) invit_reader_set_capacity(reader, v.capacity);
        status = (cli_given(&args, "index") ? check_index : check_all)(&v, reader, args.item[1],
                                                                       &all_feasible, &err);
    }
    invit_reader_close(reader);
    cli_args_free(&args);
    if (status != INVIT_OK) return cli_report(&err);
    return all_feasible ? CLI_OK : CLI_FAILED;
}
