#include "serve/requests.h"

#include "base/names.h"
#include "base/options.h"
#include "serve/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void job_request_destroy(job_request *q)
{
    invit_instance_destroy(q->instance);
    invit_options_destroy(q->options);
    plan_destroy(&q->plan);
    *q = (job_request){0};
}

static invit_status refuse(invit_error *err, const char *message)
{
    snprintf(err->message, sizeof err->message, "%s", message);
    return err->code = INVIT_ERR_INPUT;
}

/* ---- solving ------------------------------------------------------------------------------------------- */

enum { MOST_ROLLOUTS = 1024 }; /* of a request: each has memory of its own               */
#define USUAL_SECONDS 2.0      /* of a request that says neither "time" nor "iterations" */
#define MEMBERS       "instance watch start locked"

/* The rows of the solver's table that a request may set. Name, type, range and default are the table's; a server that
 * allows less says so here. */
typedef struct offered {
    const char *name;
    double most; /* INFINITY: as the table says, and as far as JSON integers go */
} offered;

/* Finds the row after *i that is offered: what it is called in JSON, where words are joined by _, and the most that is
 * allowed. */
static bool next_row(int *i, double longest, invit_option *row, char key[32], double *most)
{
    const offered rows[] = {{"time", longest},           {"iterations", INFINITY},  {"stop-after", longest},
                            {"rollouts", MOST_ROLLOUTS}, {"temperature", INFINITY}, {"seed", INFINITY}};
    while (invit_options_row(NULL, ++*i, row, sizeof *row))
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            if (strcmp(row->name, rows[k].name) != 0) continue;
            snprintf(key, 32, "%s", row->name);
            for (char *c = key; *c; c++)
                if (*c == '-') *c = '_';
            *most = row->max > row->min ? fmin(row->max, rows[k].most) : rows[k].most;
            return true;
        }
    return false;
}

/* The member as text that invit_options_set reads; "" when there is none. */
static invit_status option_text(const json_t *o, const char *key, const invit_option *row, double most,
                                char text[32], invit_error *err)
{
    bool whole = strcmp(row->type, "int") == 0 || strcmp(row->type, "uint64") == 0;
    double number = 0;
    int64_t integer = 0, largest = most < (double)INT64_MAX ? (int64_t)most : INT64_MAX;
    *text = 0;
    if (!json_object_get(o, key)) return INVIT_OK;
    invit_status status = whole ? wire_integer(o, key, (int64_t)row->min, largest, 0, &integer, err)
                                : wire_number(o, key, row->min, most, 0, &number, err);
    if (status == INVIT_OK && whole) snprintf(text, 32, "%lld", (long long)integer);
    if (status == INVIT_OK && !whole) inv_number_text(number, text);
    return status;
}

static invit_status read_options(const json_t *o, double longest, invit_options *options, invit_error *err)
{
    invit_status status = INVIT_OK;
    invit_option row;
    char key[32], text[32], names[256] = MEMBERS;
    double most;
    for (int i = -1; next_row(&i, longest, &row, key, &most);) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s", key);
    }
    status = wire_only(o, names, err);
    for (int i = -1; status == INVIT_OK && next_row(&i, longest, &row, key, &most);) {
        status = option_text(o, key, &row, most, text, err);
        if (status == INVIT_OK && *text) status = invit_options_set(options, row.name, text, err);
    }
    if (status == INVIT_OK && !json_object_get(o, "time") && !json_object_get(o, "iterations"))
        status = invit_options_set(options, "time", inv_number_text(fmin(USUAL_SECONDS, longest), text), err);
    return status;
}

uint64_t request_seed(const job_request *q)
{
    invit_option row = {0};
    for (int i = 0; invit_options_row(q->options, i, &row, sizeof row) && strcmp(row.name, "seed") != 0;) i++;
    return strtoull(row.value, NULL, 10);
}

invit_status request_solve(const json_t *o, int64_t max_nodes, double longest, job_request *out,
                           invit_error *err)
{
    out->options = invit_options_create();
    if (!out->options) return err->code = INVIT_ERR_MEMORY;
    invit_status status = read_options(o, longest, out->options, err);
    if (status == INVIT_OK)
        status = wire_read_instance(json_object_get(o, "instance"), max_nodes, &out->instance, err);
    if (status == INVIT_OK) status = plan_read(o, out->instance, max_nodes, &out->plan, err);
    if (status != INVIT_OK) return status;
    out->limit = longest + 1; /* the solver keeps its time; this is for construction without one */
    out->watch = json_is_true(json_object_get(o, "watch"));
    return INVIT_OK;
}

/* ---- instances and files ------------------------------------------------------------------------------- */

invit_status request_generate(const json_t *o, int64_t max_nodes, invit_instance **out, invit_error *err)
{
    const char *problem = json_string_value(json_object_get(o, "problem"));
    const char *wanted = json_string_value(json_object_get(o, "distribution"));
    invit_generate_options options = invit_generate_defaults();
    int64_t size, seed;
    int distribution = -1;
    for (int d = INVIT_UNIFORM; d <= INVIT_IMPLOSION; d++)
        if (strcmp(wanted ? wanted : "uniform", inv_distribution_name((invit_distribution)d)) == 0)
            distribution = d;
    *out = NULL;
    invit_status status = wire_only(o, "problem distribution size seed capacity", err);
    if (status == INVIT_OK) status = wire_integer(o, "size", 1, max_nodes - 1, 100, &size, err);
    if (status == INVIT_OK) status = wire_integer(o, "seed", 0, INT64_MAX, 1, &seed, err);
    if (status == INVIT_OK)
        status = wire_integer(o, "capacity", options.demand_max, INT32_MAX, options.capacity,
                              &options.capacity, err);
    if (status != INVIT_OK) return status;
    bool cvrp = problem && strcmp(problem, "cvrp") == 0;
    if (json_object_get(o, "problem") && !cvrp && (!problem || strcmp(problem, "tsp") != 0))
        return refuse(err, "\"problem\" must be tsp or cvrp");
    if (distribution < 0)
        return refuse(err, "\"distribution\" must be uniform, clustered, explosion or implosion");
    return invit_generate_with(cvrp ? INVIT_CVRP : INVIT_TSP, (invit_distribution)distribution, size,
                               (uint64_t)seed, 0, &options, out, err);
}

static invit_status parse(const char *text, size_t length, const char *name, int64_t capacity,
                          invit_instance **out, json_t *remarks, invit_error *err)
{
    invit_reader *reader = NULL;
    invit_status status = invit_reader_open_memory(text, length, name, &reader, err);
    if (status == INVIT_OK && capacity > 0 && invit_reader_format(reader) == INVIT_FORMAT_CSV)
        invit_reader_set_capacity(reader, capacity);
    if (status == INVIT_OK) status = invit_reader_next(reader, out, err);
    for (const char *note = status == INVIT_OK ? invit_reader_note(reader) : ""; *note;) {
        size_t n = strcspn(note, "\n");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)n, note);
        json_array_append_new(remarks, wire_text(line));
        note += n + (note[n] != 0);
    }
    invit_reader_close(reader);
    return status;
}

bool request_is_json(const char *text, size_t length)
{
    invit_reader *reader = NULL;
    if (!length || invit_reader_open_memory(text, length, "body", &reader, NULL) != INVIT_OK) return false;
    bool json = invit_reader_format(reader) == INVIT_FORMAT_JSON;
    invit_reader_close(reader);
    return json;
}

/* The reader's message for a table with demands and no capacity names the option that gives one. */
bool request_needs_capacity(const invit_error *err)
{
    return strstr(err->message, "(--capacity)") != NULL;
}

/* What the file says goes before the capacity that is given. */
invit_status request_parse(const char *text, size_t length, const char *name, int64_t capacity,
                           int64_t max_nodes, invit_instance **out, json_t *remarks, invit_error *err)
{
    *out = NULL;
    if (!length) return refuse(err, "the body is empty; send the text of an instance file");
    invit_status status = parse(text, length, name, 0, out, remarks, err);
    if (status == INVIT_ERR_INPUT && request_needs_capacity(err) && capacity > 0 && capacity <= INT32_MAX)
        status = parse(text, length, name, capacity, out, remarks, err);
    if (status != INVIT_OK) return status;
    if (!*out) return refuse(err, "the body holds no instance");
    if (invit_instance_nodes(*out) <= max_nodes) return INVIT_OK;
    invit_instance_destroy(*out);
    *out = NULL;
    return refuse(err, "the instance has more nodes than are taken here");
}

invit_status request_write(const invit_instance *p, const invit_solution *s, const char *ending, int route,
                           char **text, size_t *length, invit_error *err)
{
    char name[32];
    bool summary = strcmp(ending, "summary") == 0;
    invit_check_result found;
    invit_writer *w;
    snprintf(name, sizeof name, ".%s", ending);
    if (!s) return refuse(err, "there are no routes to write: expected \"start\"");
    invit_status status = invit_check(p, s, &found, err);
    if (status == INVIT_OK) status = invit_writer_open_memory(text, length, &w, err);
    if (status != INVIT_OK) return status;
    status = invit_writer_solution(
        w, p, s,
        summary ? INVIT_SOLUTION_SUMMARY : invit_solution_format_for(name, invit_instance_problem(p)),
        &(invit_solution_info){.length = found.length, .seconds = NAN, .route = route}, err);
    if (status == INVIT_OK) return invit_writer_close(w, err);
    invit_writer_abandon(w);
    return status;
}
