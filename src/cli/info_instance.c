/* invit info FILE: what was understood of an instance, and the instance in another format. */
#include "cli/info_instance.h"

#include "base/names.h"
#include "cli/cli.h"
#include "cli/result.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const formats[] = {"TSPLIB", "MSVDRP",  "list", "NumPy",
                                      "table",  "Solomon", "JSON", "matrix"};
static const char *const limits[] = {"vehicles", "max_length", "max_duration", "max_stops",
                                     "speed",    "start_node", "end_node"};

/* ---- another format ------------------------------------------------------------------------------------ */

/* By its ending; -1: none that instances are written in. */
static int format_for(const char *path)
{
    static const struct {
        const char *ending;
        invit_format format;
    } known[] = {{".json", INVIT_FORMAT_JSON},
                 {".tsp", INVIT_FORMAT_TSPLIB},
                 {".atsp", INVIT_FORMAT_TSPLIB},
                 {".vrp", INVIT_FORMAT_TSPLIB},
                 {".txt", INVIT_FORMAT_MSVDRP}};
    const char *dot = strrchr(path, '.');
    if (strcmp(path, "-") == 0) return INVIT_FORMAT_JSON;
    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        if (strcasecmp(dot, known[i].ending) == 0) return (int)known[i].format;
    return -1;
}

static invit_status write_to(const char *path, const invit_instance *p, invit_error *err)
{
    invit_writer *w = NULL;
    invit_status status = invit_writer_open(path, &w, err);
    if (status == INVIT_OK) status = invit_writer_instance(w, p, (invit_format)format_for(path), err);
    if (status == INVIT_OK) return invit_writer_close(w, err);
    invit_writer_abandon(w);
    return status;
}

/* ---- what was understood ------------------------------------------------------------------------------- */

/* Stops with a window of their own. */
static int64_t count_windows(const invit_instance *p)
{
    const double *early = invit_instance_array(p, "earliest"), *late = invit_instance_array(p, "latest");
    int64_t count = 0;
    for (int64_t i = 1; early && i < invit_instance_nodes(p); i++) count += early[i] > 0 || isfinite(late[i]);
    return count;
}

static double sum_demands(const invit_instance *p)
{
    const int32_t *demand = invit_instance_demands(p);
    double sum = 0;
    for (int64_t i = 1; demand && i < invit_instance_nodes(p); i++) sum += demand[i];
    return sum / invit_instance_get(p, "demand_scale");
}

static const char *measured(const invit_instance *p)
{
    static const char *const words[] = {
        "Euclidean, unrounded",         "Euclidean, rounded (EUC_2D)", "Euclidean, rounded up (CEIL_2D)",
        "pseudo-Euclidean (ATT)",       "geographical, in km (GEO)",   "great circles, in metres",
        "Euclidean, cut to one decimal"};
    if (!invit_instance_array(p, "distances")) return words[invit_instance_metric(p)];
    return invit_instance_get(p, "symmetric") == 1 ? "a matrix, symmetric" : "a matrix, not symmetric";
}

static void print_rules(const invit_instance *p)
{
    const char *between = "  rules       ";
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        double value = invit_instance_get(p, limits[i]);
        if (isnan(value)) continue;
        printf("%s%s %.10g", between, limits[i], value);
        between = ", ";
    }
    if (invit_instance_get(p, "fewest") == 1) printf("%sfewest vehicles", between), between = ", ";
    if (invit_instance_get(p, "open") == 1) printf("%sopen", between), between = ", ";
    if (count_windows(p)) printf("%s%lld time windows", between, (long long)count_windows(p)), between = ", ";
    if (invit_instance_array(p, "service")) printf("%sservice times", between), between = ", ";
    if (invit_instance_array(p, "durations")) printf("%sdurations", between), between = ", ";
    if (invit_instance_array(p, "freeze")) printf("%sfrozen beginnings", between), between = ", ";
    if (between[0] == ',') putchar('\n');
}

/* The names of the columns that come through to lists; NULL where there are none. */
static json_t *columns_of(const invit_instance *p)
{
    char *text = NULL;
    json_t *table = NULL, *columns = NULL;
    if (invit_instance_table(p, &text, NULL, NULL) == INVIT_OK && text) table = json_loads(text, 0, NULL);
    columns = json_incref(json_object_get(table, "columns"));
    json_decref(table);
    free(text);
    return columns;
}

static void print_text(const invit_instance *p, const char *path, invit_format format, const char *output)
{
    bool cvrp = invit_instance_problem(p) == INVIT_CVRP;
    long long n = (long long)invit_instance_nodes(p);
    double load = sum_demands(p), capacity = invit_instance_get(p, "capacity");
    json_t *columns = columns_of(p), *name;
    size_t i;
    cli_print_text(path);
    printf("\n  problem     %s '%s', ", inv_problem_title(invit_instance_problem(p)), invit_instance_name(p));
    if (cvrp)
        printf("%lld customers and a depot", n - 1);
    else
        printf("%lld nodes", n);
    printf(" (%s)\n  distances   %s\n", formats[format], measured(p));
    if (load > 0)
        printf("  demands     %.10g in all, capacity %.10g: at least %.0f vehicles\n", load, capacity,
               ceil(load / capacity - 1e-9));
    print_rules(p);
    json_array_foreach(columns, i, name) printf("%s%s", i ? ", " : "  columns     ", json_string_value(name));
    if (json_array_size(columns)) putchar('\n');
    if (output && strcmp(output, "-") != 0) printf("  written to  %s\n", output);
    json_decref(columns);
}

static void print_json(const invit_instance *p, const char *path, invit_format format)
{
    inv_json j = inv_json_to_file(stdout);
    json_t *columns = columns_of(p), *name;
    size_t i;
    inv_json_open(&j, NULL, '{');
    inv_json_string(&j, "file", path);
    inv_json_string(&j, "format", formats[format]);
    inv_json_string(&j, "name", invit_instance_name(p));
    inv_json_string(&j, "problem", inv_problem_name(invit_instance_problem(p)));
    inv_json_int(&j, "nodes", invit_instance_nodes(p));
    inv_json_string(&j, "distances", measured(p));
    if (sum_demands(p) > 0) {
        inv_json_number(&j, "demand", sum_demands(p));
        inv_json_number(&j, "capacity", invit_instance_get(p, "capacity"));
    }
    for (i = 0; i < sizeof limits / sizeof *limits; i++)
        if (!isnan(invit_instance_get(p, limits[i])))
            inv_json_number(&j, limits[i], invit_instance_get(p, limits[i]));
    if (invit_instance_get(p, "open") == 1) inv_json_bool(&j, "open", true);
    if (count_windows(p)) inv_json_int(&j, "time_windows", count_windows(p));
    inv_json_open(&j, "columns", '[');
    json_array_foreach(columns, i, name) inv_json_string(&j, NULL, json_string_value(name));
    inv_json_close(&j);
    inv_json_close(&j);
    json_decref(columns);
}

static invit_status read_instance(const info_values *v, invit_reader *reader, const char *path,
                                  invit_instance **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    if (v->capacity) invit_reader_set_capacity(reader, v->capacity);
    for (int64_t i = 0; status == INVIT_OK && i <= v->index; i++) {
        invit_instance_destroy(*out);
        *out = NULL;
        status = invit_reader_next(reader, out, err);
        if (status == INVIT_OK && !*out) {
            snprintf(err->message, sizeof err->message, "%s: there is no instance %lld in it", path,
                     (long long)v->index);
            return err->code = INVIT_ERR_INPUT;
        }
    }
    if (status == INVIT_OK) status = cli_rules_apply(&v->rules, *out, err);
    return status;
}

int info_instance(const info_values *v, const char *path)
{
    invit_error err = {0};
    invit_reader *reader = NULL;
    invit_instance *p = NULL;
    if (v->output && format_for(v->output) < 0)
        return cli_bad_usage("--output '%s': expected a name that ends in .json, .tsp, .atsp, .vrp or .txt",
                             v->output);
    int code = cli_check_differs(v->output, path, "the instance");
    if (code != CLI_GO) return code;
    invit_status status = invit_reader_open(path, &reader, &err);
    if (status == INVIT_OK) status = read_instance(v, reader, path, &p, &err);
    if (status == INVIT_OK && v->output) status = write_to(v->output, p, &err);
    if (status == INVIT_OK) {
        cli_say_notes(path, invit_reader_note(reader));
        if (v->common.json)
            print_json(p, path, invit_reader_format(reader));
        else if (!v->output || strcmp(v->output, "-") != 0)
            print_text(p, path, invit_reader_format(reader), v->output);
        if (invit_instance_validate(p, &err) != INVIT_OK) cli_warn("%s", err.message); /* said, not refused */
    }
    invit_instance_destroy(p);
    invit_reader_close(reader);
    return status == INVIT_OK ? CLI_OK : cli_report(&err);
}
