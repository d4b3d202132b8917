#include "serve/requests.h"

#include "base/names.h"
#include "serve/wire.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void job_request_destroy(job_request *q)
{
    invit_instance_destroy(q->instance);
    plan_destroy(&q->plan);
    *q = (job_request){0};
}

enum { MOST_ROLLOUTS = 1024 }; /* of a request: each has memory of its own */

/* The solver's own row of an option, which says its range. */
static invit_option option_row(const char *name)
{
    invit_option row = {0};
    for (int i = 0; invit_options_row(NULL, i, &row, sizeof row) && strcmp(row.name, name) != 0;) i++;
    return row;
}

invit_status request_solve(const json_t *o, int64_t max_nodes, double longest, job_request *out,
                           invit_error *err)
{
    int64_t rollouts, seed;
    invit_option steps = option_row("iterations"), several = option_row("rollouts"),
                 warmth = option_row("temperature");
    invit_status status =
        wire_only(o, "instance time iterations stop_after rollouts temperature seed watch start locked", err);
    if (status == INVIT_OK)
        status = wire_number(o, "time", 0, longest, longest < 2 ? longest : 2, &out->time, err);
    if (status == INVIT_OK)
        status =
            wire_integer(o, steps.name, (int64_t)steps.min, (int64_t)steps.max, -1, &out->iterations, err);
    if (status == INVIT_OK) status = wire_number(o, "stop_after", 0, longest, 0, &out->stop_after, err);
    if (status == INVIT_OK)
        status = wire_integer(o, several.name, (int64_t)several.min, MOST_ROLLOUTS, 0, &rollouts, err);
    if (status == INVIT_OK)
        status = wire_number(o, warmth.name, warmth.min, warmth.max, 0, &out->temperature, err);
    if (status == INVIT_OK) status = wire_integer(o, "seed", 0, INT64_MAX, 1, &seed, err);
    if (status == INVIT_OK)
        status = wire_read_instance(json_object_get(o, "instance"), max_nodes, &out->instance, err);
    if (status == INVIT_OK) status = plan_read(o, out->instance, max_nodes, &out->plan, err);
    if (status != INVIT_OK) return status;
    if (out->iterations >= 0 && !json_object_get(o, "time")) out->time = -1;
    out->rollouts = (int)rollouts;
    out->limit = longest + 1; /* the solver keeps its time; this is for construction without one */
    out->seed = (uint64_t)seed;
    out->watch = json_is_true(json_object_get(o, "watch"));
    return INVIT_OK;
}

static invit_status refuse(invit_error *err, const char *message)
{
    snprintf(err->message, sizeof err->message, "%s", message);
    return err->code = INVIT_ERR_INPUT;
}

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
