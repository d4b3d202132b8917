/* The calls of the JSON API, in the order of web/openapi.json. */
#include "serve/calls.h"
#include "serve/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum MHD_Result call_health(request *r)
{
    job_counts c;
    job_pool_counts(r->server->pool, &c);
    return serve_json(r, 200,
                      json_pack("{s:s, s:s, s:i, s:i}", "status", "ok", "version", invit_version(), "queued",
                                c.queued, "running", c.running));
}

enum MHD_Result call_metrics(request *r)
{
    job_counts c;
    job_pool_counts(r->server->pool, &c);
    const int64_t *a = r->server->answers;
    char *text = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&text, &length);
    if (!f) return MHD_NO;
    fprintf(f, "# HELP invit_jobs_total Jobs by how they ended.\n# TYPE invit_jobs_total counter\n");
    fprintf(f, "invit_jobs_total{result=\"done\"} %lld\n", (long long)c.finished);
    fprintf(f, "invit_jobs_total{result=\"failed\"} %lld\n", (long long)c.failed);
    fprintf(f, "invit_jobs_total{result=\"cancelled\"} %lld\n", (long long)c.cancelled);
    fprintf(f, "invit_jobs_total{result=\"refused\"} %lld\n", (long long)c.refused);
    fprintf(f, "# HELP invit_jobs Jobs now.\n# TYPE invit_jobs gauge\n");
    fprintf(f, "invit_jobs{state=\"queued\"} %d\ninvit_jobs{state=\"running\"} %d\n", c.queued, c.running);
    fprintf(f, "# HELP invit_nodes_total Nodes of all jobs taken.\n# TYPE invit_nodes_total counter\n");
    fprintf(f, "invit_nodes_total %lld\n", (long long)c.nodes);
    fprintf(f, "# HELP invit_solve_seconds_total Time workers spent on jobs.\n# TYPE "
               "invit_solve_seconds_total counter\n");
    fprintf(f, "invit_solve_seconds_total %.3f\n", c.busy_seconds);
    fprintf(f, "# HELP invit_http_answers_total Answers by class of status.\n# TYPE invit_http_answers_total "
               "counter\n");
    for (int i = 2; i < 6; i++)
        fprintf(f, "invit_http_answers_total{class=\"%dxx\"} %lld\n", i, (long long)a[i]);
    fprintf(f, "# HELP invit_uptime_seconds Time since the start.\n# TYPE invit_uptime_seconds gauge\n");
    fprintf(f, "invit_uptime_seconds %lld\n", (long long)(time(NULL) - r->server->started));
    fclose(f);
    return serve_answer(r, 200, "text/plain; version=0.0.4", text, length);
}

enum MHD_Result call_openapi(request *r)
{
    return serve_page(r, "openapi.json"); /* one of the embedded files */
}

/* ---- reading what was sent ----------------------------------------------------------------------------- */

/* The body as a JSON object, or NULL with the answer already given in *result. */
static json_t *read_object(request *r, enum MHD_Result *result)
{
    const char *type = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Content-Type");
    if (!type || strncmp(type, "application/json", 16) != 0) {
        *result = serve_error(r, 415, "send JSON, with Content-Type: application/json");
        return NULL;
    }
    json_error_t error;
    json_t *o = json_loadb(r->body ? r->body : "", r->length, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(o)) return o;
    char message[512];
    if (o)
        snprintf(message, sizeof message, "the body must be a JSON object");
    else
        snprintf(message, sizeof message, "line %d, column %d of the body: %s", error.line, error.column,
                 error.text);
    if (o) json_decref(o);
    *result = serve_error(r, 400, message);
    return NULL;
}

static enum MHD_Result refuse(request *r, const invit_error *err)
{
    bool ours = err->code == INVIT_ERR_MEMORY || err->code == INVIT_ERR_INTERNAL;
    return serve_error(r, ours ? 500 : 422, err->message);
}

/* What is too large to be waited for may still be a job. */
static invit_status check_synchronous(const json_t *instance, const serve_options *limit, invit_error *err)
{
    int64_t nodes = (int64_t)json_array_size(json_object_get(instance, "coords"));
    if (nodes <= limit->sync_nodes || nodes > limit->max_nodes) return INVIT_OK;
    snprintf(
        err->message, sizeof err->message,
        "%lld nodes: a synchronous solve takes at most %lld; submit it to /v1/jobs, which takes up to %lld",
        (long long)nodes, (long long)limit->sync_nodes, (long long)limit->max_nodes);
    return err->code = INVIT_ERR_INPUT;
}

/* Instance and options of a job; the limits of the synchronous call are narrower. */
static invit_status read_request(const request *r, const json_t *o, bool synchronous, job_request *out,
                                 invit_error *err)
{
    const serve_options *limit = r->server->options;
    int64_t rollouts, seed;
    double longest = synchronous ? limit->sync_time : limit->max_time;
    invit_status status = wire_only(o, "instance time rollouts seed watch", err);
    if (status == INVIT_OK)
        status = wire_number(o, "time", 0, longest, longest < 2 ? longest : 2, &out->time, err);
    if (status == INVIT_OK) status = wire_integer(o, "rollouts", 1, 1024, 0, &rollouts, err);
    if (status == INVIT_OK) status = wire_integer(o, "seed", 0, INT64_MAX, 1, &seed, err);
    const json_t *instance = json_object_get(o, "instance");
    if (status == INVIT_OK && synchronous) status = check_synchronous(instance, limit, err);
    if (status == INVIT_OK) status = wire_read_instance(instance, limit->max_nodes, &out->instance, err);
    if (status != INVIT_OK) return status;
    out->rollouts = (int)rollouts;
    out->limit =
        longest + 1; /* the solver keeps the time it is given; this is for construction without one */
    out->seed = (uint64_t)seed;
    out->watch = json_is_true(json_object_get(o, "watch"));
    return INVIT_OK;
}

/* Reads the body and puts the job into the queue. NULL with the answer given when that was not possible. */
static job *submit(request *r, bool synchronous, enum MHD_Result *result)
{
    invit_error err = {.code = INVIT_ERR_INPUT, .message = "out of memory"};
    job_request wanted = {0};
    job *j = NULL;
    json_t *o = read_object(r, result);
    if (!o) return NULL;
    invit_status status = read_request(r, o, synchronous, &wanted, &err);
    bool read = status == INVIT_OK;
    if (read) status = job_submit(r->server->pool, &wanted, &j, &err);
    err.code = status;
    if (status != INVIT_OK && read && status == INVIT_ERR_UNSUPPORTED) /* the queue is full */
        *result = serve_error(r, 503, err.message);
    else if (status != INVIT_OK)
        *result = refuse(r, &err);
    invit_instance_destroy(wanted.instance);
    json_decref(o);
    return j;
}

/* ---- making and reading instances ---------------------------------------------------------------------- */

enum MHD_Result call_generate(request *r)
{
    enum MHD_Result result;
    json_t *o = read_object(r, &result);
    if (!o) return result;
    invit_error err = {.message = "out of memory"};
    const char *problem = json_string_value(json_object_get(o, "problem"));
    const char *wanted = json_string_value(json_object_get(o, "distribution"));
    invit_generate_options options = invit_generate_defaults();
    int64_t size, seed, capacity;
    int distribution = -1;
    for (int d = INVIT_UNIFORM; d <= INVIT_IMPLOSION; d++)
        if (strcmp(wanted ? wanted : "uniform", invit_distribution_name((invit_distribution)d)) == 0)
            distribution = d;
    invit_status status = wire_only(o, "problem distribution size seed capacity", &err);
    if (status == INVIT_OK)
        status = wire_integer(o, "size", 1, r->server->options->max_nodes - 1, 100, &size, &err);
    if (status == INVIT_OK) status = wire_integer(o, "seed", 0, INT64_MAX, 1, &seed, &err);
    if (status == INVIT_OK)
        status =
            wire_integer(o, "capacity", options.demand_max, INT32_MAX, options.capacity, &capacity, &err);
    bool cvrp = problem && strcmp(problem, "cvrp") == 0;
    if (status == INVIT_OK && json_object_get(o, "problem") && !cvrp &&
        (!problem || strcmp(problem, "tsp") != 0)) {
        status = INVIT_ERR_INPUT;
        snprintf(err.message, sizeof err.message, "\"problem\" must be tsp or cvrp");
    }
    if (status == INVIT_OK && distribution < 0) {
        status = INVIT_ERR_INPUT;
        snprintf(err.message, sizeof err.message,
                 "\"distribution\" must be uniform, clustered, explosion or implosion");
    }
    invit_instance *p = NULL;
    if (status == INVIT_OK) {
        options.capacity = capacity;
        status = invit_generate_with(cvrp ? INVIT_CVRP : INVIT_TSP, (invit_distribution)distribution, size,
                                     (uint64_t)seed, 0, &options, &p, &err);
    }
    err.code = status;
    result = status == INVIT_OK ? serve_json(r, 200, wire_write_instance(p)) : refuse(r, &err);
    invit_instance_destroy(p);
    json_decref(o);
    return result;
}

/* The first instance of the body, called as ?name= says in messages; the capacity, if any, is for tables that
 * do not say theirs. */
static invit_status parse(const request *r, const char *name, int64_t capacity, invit_instance **out,
                          invit_error *err)
{
    invit_reader *reader = NULL;
    *out = NULL;
    invit_status status = invit_reader_open_memory(r->body, r->length, name, &reader, err);
    if (status == INVIT_OK && capacity > 0 && invit_reader_format(reader) == INVIT_FORMAT_CSV)
        invit_reader_set_capacity(reader, capacity);
    if (status == INVIT_OK) status = invit_reader_next(reader, out, err);
    invit_reader_close(reader);
    return status;
}

/* The reader's message for a table with demands and no capacity names the option that gives one. */
static bool asks_for_capacity(const invit_error *err)
{
    return strstr(err->message, "(--capacity)") != NULL;
}

/* What the file is called; no control characters, which messages would carry. */
static void get_file_name(const request *r, char *name, size_t room)
{
    const char *given = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "name");
    snprintf(name, room, "%s", given && *given ? given : "body");
    for (char *at = name; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = '?';
}

static enum MHD_Result refuse_file(request *r, const invit_error *err)
{
    if (!asks_for_capacity(err)) return refuse(r, err);
    return serve_json(r, 422,
                      json_pack("{s:{s:i, s:o, s:s}}", "error", "status", 422, "message",
                                serve_readable(err->message), "needs", "capacity"));
}

/* Any format the library reads. What the file says goes before ?capacity=. */
enum MHD_Result call_parse(request *r)
{
    invit_error err = {.message = "the body is empty; send the text of an instance file"};
    invit_instance *p = NULL;
    const char *given = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "capacity");
    long long capacity = given ? strtoll(given, NULL, 10) : 0;
    char name[120];
    get_file_name(r, name, sizeof name);
    invit_status status = r->length ? parse(r, name, 0, &p, &err) : INVIT_ERR_INPUT;
    if (status == INVIT_ERR_INPUT && asks_for_capacity(&err) && capacity > 0 && capacity <= INT32_MAX)
        status = parse(r, name, capacity, &p, &err);
    if (status == INVIT_OK && (!p || invit_instance_nodes(p) > r->server->options->max_nodes)) {
        status = INVIT_ERR_INPUT;
        snprintf(err.message, sizeof err.message,
                 p ? "the instance has more nodes than this server takes" : "the body holds no instance");
    }
    err.code = status;
    enum MHD_Result result =
        status == INVIT_OK ? serve_json(r, 200, wire_write_instance(p)) : refuse_file(r, &err);
    invit_instance_destroy(p);
    return result;
}

/* ---- jobs ---------------------------------------------------------------------------------------------- */

static void wake(void *user)
{
    MHD_resume_connection(((request *)user)->connection);
}

/* Called a second time when the job has ended: the connection slept in between. */
enum MHD_Result call_solve(request *r)
{
    if (!r->job) {
        enum MHD_Result result = MHD_NO;
        r->job = submit(r, true, &result);
        if (!r->job) return result;
    }
    if (!job_ended(r->job)) {
        MHD_suspend_connection(r->connection);
        if (!job_wait(r->job, SIZE_MAX, wake, r)) MHD_resume_connection(r->connection);
        return MHD_YES;
    }
    json_t *o = job_json(r->job), *solution = json_object_get(o, "solution");
    if (solution) {
        json_incref(solution);
        json_decref(o);
        return serve_json(r, 200, solution);
    }
    const char *message = json_string_value(json_object_get(json_object_get(o, "error"), "message"));
    enum MHD_Result result = serve_error(r, job_get_state(r->job) == JOB_CANCELLED ? 503 : 500,
                                         message ? message : "out of memory");
    json_decref(o);
    return result;
}

enum MHD_Result call_submit(request *r)
{
    enum MHD_Result result = MHD_NO;
    job *j = submit(r, false, &result);
    if (!j) return result;
    result = serve_json(r, 202, json_pack("{s:s, s:s}", "id", job_id(j), "state", "queued"));
    job_release(j);
    return result;
}

static const char no_such_job[] = "there is no such job; finished jobs are forgotten after a while";

enum MHD_Result call_job(request *r)
{
    job *j = job_find(r->server->pool, r->id);
    if (!j) return serve_error(r, 404, no_such_job);
    json_t *o = job_json(j);
    job_release(j);
    return serve_json(r, 200, o);
}

enum MHD_Result call_cancel(request *r)
{
    job *j = job_find(r->server->pool, r->id);
    if (!j) return serve_error(r, 404, no_such_job);
    job_cancel(j);
    json_t *o = job_json(j);
    job_release(j);
    return serve_json(r, 202, o);
}

/* ---- the solution as a file ---------------------------------------------------------------------------- */

static char *read_whole(const char *path, size_t *length)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    if (f && fseek(f, 0, SEEK_END) == 0) {
        long size = ftell(f);
        rewind(f);
        text = size >= 0 ? malloc((size_t)size + 1) : NULL;
        *length = text ? fread(text, 1, (size_t)size, f) : 0;
    }
    if (f) fclose(f);
    return text;
}

/* The library writes files, so a file it is, in a folder of its own, gone before the answer leaves. */
static invit_status write_solution(const job *j, const invit_solution *s, const char *format,
                                   const char *path, invit_error *err)
{
    const invit_instance *p = job_instance(j);
    if (strcmp(format, "svg") == 0) return invit_plot(p, s, path, NULL, err);
    invit_check_result found;
    invit_status status = invit_check(p, s, &found, err);
    if (status != INVIT_OK) return status;
    invit_writer *w;
    status = invit_writer_open(path, &w, err);
    if (status != INVIT_OK) return status;
    status = invit_writer_solution(w, p, s, invit_solution_format_for(path, invit_instance_problem(p)),
                                   &(invit_solution_info){.length = found.length, .seconds = NAN}, err);
    if (status == INVIT_OK) return invit_writer_close(w, err);
    invit_writer_abandon(w);
    return status;
}

enum MHD_Result call_download(request *r)
{
    static const struct {
        const char *format, *type, *ending;
    } kinds[] = {{"solution", "text/plain; charset=utf-8", NULL},
                 {"geojson", "application/geo+json", "geojson"},
                 {"csv", "text/csv; charset=utf-8", "csv"},
                 {"svg", "image/svg+xml", "svg"}};
    const char *format = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "format");
    job *j = job_find(r->server->pool, r->id);
    if (!j) return serve_error(r, 404, no_such_job);
    const invit_solution *s = job_solution(j);
    enum MHD_Result result;
    size_t kind = 0;
    while (kind < 4 && format && strcmp(format, kinds[kind].format) != 0) kind++;
    if (!s) {
        result = serve_error(r, 409, "the job has no solution (yet)");
    } else if (!format || strcmp(format, "json") == 0) {
        json_t *o = job_json(j);
        result = serve_json(r, 200, json_incref(json_object_get(o, "solution")));
        json_decref(o);
    } else if (kind == 4) {
        result = serve_error(r, 422, "\"format\" must be json, solution, geojson, csv or svg");
    } else {
        const char *ending = kinds[kind].ending                                      ? kinds[kind].ending
                             : invit_instance_problem(job_instance(j)) == INVIT_CVRP ? "sol"
                                                                                     : "tour";
        const char *base = getenv("TMPDIR");
        char folder[512], path[600];
        size_t length = 0;
        invit_error err = {.message = "no temporary folder could be made"};
        snprintf(folder, sizeof folder, "%s/invit-XXXXXX", base ? base : "/tmp");
        char *made = mkdtemp(folder), *text = NULL;
        snprintf(path, sizeof path, "%s/solution.%s", folder, ending);
        if (made && write_solution(j, s, format, path, &err) == INVIT_OK) text = read_whole(path, &length);
        if (made) {
            remove(path);
            remove(folder);
        }
        result =
            text ? serve_answer(r, 200, kinds[kind].type, text, length) : serve_error(r, 500, err.message);
    }
    job_release(j);
    return result;
}
