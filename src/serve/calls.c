/* The calls of the JSON API, in the order of web/openapi.json. */
#include "serve/calls.h"

#include "base/json_size.h"
#include "base/lines.h"
#include "serve/requests.h"
#include "serve/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void call_health(request *r)
{
    job_counts c;
    job_pool_counts(r->server->pool, &c);
    serve_json(r, 200,
               json_pack("{s:s, s:s, s:i, s:i}", "status", "ok", "version", invit_version(), "queued",
                         c.queued, "running", c.running));
}

/* What the page needs to know about this server. */
void call_config(request *r)
{
    const serve_options *o = r->server->options;
    serve_json(r, 200,
               json_pack("{s:s?, s:s?, s:f, s:I}", "tiles", o->tiles, "tiles_credit", o->tiles_credit,
                         "max_time", o->max_time, "max_nodes", (json_int_t)o->max_nodes));
}

void call_metrics(request *r)
{
    job_counts c;
    job_pool_counts(r->server->pool, &c);
    const int64_t *a = r->server->answers;
    char *text = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&text, &length);
    if (!f) {
        serve_out_of_memory(r);
        return;
    }
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
    fprintf(f, "# HELP invit_memory_bytes Memory of requests, answers and jobs, as counted.\n# TYPE "
               "invit_memory_bytes gauge\n");
    fprintf(f, "invit_memory_bytes %lld\n", (long long)r->server->budget.used);
    fprintf(f, "# HELP invit_connections_cut_total Connections closed on clients that were too slow or too "
               "many.\n# TYPE invit_connections_cut_total counter\n");
    fprintf(f, "invit_connections_cut_total %lld\n", (long long)r->server->connections.cut);
    fprintf(f, "# HELP invit_hangups_total Clients that left while they waited.\n# TYPE invit_hangups_total "
               "counter\n");
    fprintf(f, "invit_hangups_total %lld\n", (long long)r->server->connections.left);
    if (!inv_memory_stream_close(f, &text)) {
        free(text);
        serve_out_of_memory(r);
        return;
    }
    serve_answer(r, 200, "text/plain; version=0.0.4", text, length);
}

void call_openapi(request *r)
{
    serve_page(r, "openapi.json"); /* one of the embedded files */
}

/* ---- reading what was sent ----------------------------------------------------------------------------- */

static void refuse(request *r, const invit_error *err)
{
    if (err->code == INVIT_ERR_MEMORY)
        serve_out_of_memory(r);
    else
        serve_error(r, err->code == INVIT_ERR_INTERNAL ? 500 : 422, err->message);
}

/* What is too large to be waited for may still be a job. */
static invit_status check_synchronous(const json_t *instance, const serve_options *limit, invit_error *err)
{
    const json_t *coords = json_object_get(instance, "coords");
    int64_t nodes = (int64_t)json_array_size(coords ? coords : json_object_get(instance, "distances"));
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
    invit_status status =
        synchronous ? check_synchronous(json_object_get(o, "instance"), limit, err) : INVIT_OK;
    if (status == INVIT_OK)
        status =
            request_solve(o, limit->max_nodes, synchronous ? limit->sync_time : limit->max_time, out, err);
    if (status == INVIT_OK) out->client = connection_client(r->from);
    return status;
}

/* Reads the body and puts the job into the queue. NULL with the answer made when that was not possible. */
static job *submit(request *r, bool synchronous)
{
    invit_error err = {.code = INVIT_ERR_INPUT, .message = "out of memory"};
    job_request wanted = {0};
    job *j = NULL;
    json_t *o = body_object(r);
    if (!o) return NULL;
    invit_status status = read_request(r, o, synchronous, &wanted, &err);
    bool read = status == INVIT_OK;
    body_release_object(r, o);
    body_drop(r); /* a job may wait for long */
    if (read) status = job_submit(r->server->pool, &wanted, &j, &err);
    err.code = status;
    if (status != INVIT_OK && read && status == INVIT_ERR_UNSUPPORTED) /* the queue is full */
        serve_error(r, 503, err.message);
    else if (status != INVIT_OK)
        refuse(r, &err);
    job_request_destroy(&wanted);
    return j;
}

/* ---- making and reading instances ---------------------------------------------------------------------- */

enum { PER_NODE = 320, PER_NUMBER = 56, PER_CELL = 96 }; /* bytes of JSON while it is written, about */

static int64_t bytes_as_json(const invit_instance *p)
{
    int64_t n = invit_instance_nodes(p), matrices = 0;
    matrices += invit_instance_array(p, "distances") != NULL;
    matrices += invit_instance_array(p, "durations") != NULL;
    return n * (PER_NODE + PER_NUMBER * matrices * n +
                PER_CELL * (int64_t)invit_instance_get(p, "table_columns")) +
           3 * (int64_t)invit_instance_get(p, "text_bytes");
}

static const char no_memory_now[] = "the server's memory is taken by other requests; try again later";

/* With remarks on the file, if there are any. */
static void serve_instance(request *r, const invit_instance *p, json_t *remarks)
{
    int64_t bytes = bytes_as_json(p);
    if (!serve_take(r->server, bytes)) {
        serve_error(r, 503, no_memory_now);
        return;
    }
    json_t *o = wire_write_instance(p);
    if (remarks) json_object_set(o, "remarks", remarks);
    serve_json(r, 200, o);
    budget_give(&r->server->budget, bytes);
}

void call_generate(request *r)
{
    json_t *o = body_object(r);
    if (!o) return;
    invit_error err = {.message = "out of memory"};
    invit_instance *p = NULL;
    err.code = request_generate(o, r->server->options->max_nodes, &p, &err);
    if (err.code == INVIT_OK)
        serve_instance(r, p, NULL);
    else
        refuse(r, &err);
    invit_instance_destroy(p);
    body_release_object(r, o);
}

/* What the file is called; no control characters, which messages would carry. */
static void get_file_name(const request *r, char *name, size_t room)
{
    const char *given = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "name");
    snprintf(name, room, "%s", given && *given ? given : "body");
    for (char *at = name; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = '?';
}

static void refuse_file(request *r, const invit_error *err)
{
    if (!request_needs_capacity(err))
        refuse(r, err);
    else
        serve_json(r, 422,
                   json_pack("{s:{s:i, s:o, s:s}}", "error", "status", 422, "message",
                             wire_text(err->message), "needs", "capacity"));
}

/* What reading the body takes, at most. */
static int64_t bytes_when_read(const request *r)
{
    enum { PER_BYTE = 12 }; /* of a text that is not JSON */
    if (request_is_json(r->body, r->length)) return inv_json_size_of(r->body, r->length);
    return PER_BYTE * (int64_t)r->length;
}

/* Any format the library reads. What the file says goes before ?capacity=. */
void call_parse(request *r)
{
    invit_error err = {.message = "out of memory"};
    invit_instance *p = NULL;
    const char *given = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "capacity");
    long long capacity = given ? strtoll(given, NULL, 10) : 0;
    char name[120];
    json_t *remarks = json_array();
    int64_t needs = bytes_when_read(r);
    get_file_name(r, name, sizeof name);
    if (!body_take_memory(r, needs)) {
        json_decref(remarks);
        return;
    }
    err.code =
        request_parse(r->body, r->length, name, capacity, r->server->options->max_nodes, &p, remarks, &err);
    if (err.code == INVIT_OK)
        serve_instance(r, p, json_array_size(remarks) > 0 ? remarks : NULL);
    else
        refuse_file(r, &err);
    json_decref(remarks);
    invit_instance_destroy(p);
    budget_give(&r->server->budget, needs);
}

/* ---- jobs ---------------------------------------------------------------------------------------------- */

/* The answer is made when the job has ended (http.c). */
void call_solve(request *r)
{
    r->job = submit(r, true);
}

void call_submit(request *r)
{
    job *j = submit(r, false);
    if (!j) return;
    serve_json(r, 202, json_pack("{s:s, s:s}", "id", job_id(j), "state", "queued"));
    job_release(j);
}

static void serve_status(request *r, unsigned status, job *j)
{
    size_t length;
    bool kept;
    char *text = job_status_text(j, &length, &kept);
    if (kept) {
        serve_kept(r, status, "application/json", text, length, j);
        return;
    }
    if (text)
        serve_answer(r, status, "application/json", text, length);
    else
        serve_out_of_memory(r);
    job_release(j);
}

static const char no_such_job[] = "there is no such job; finished jobs are forgotten after a while";

void call_job(request *r)
{
    job *j = job_find(r->server->pool, r->id);
    if (j)
        serve_status(r, 200, j);
    else
        serve_error(r, 404, no_such_job);
}

void call_cancel(request *r)
{
    job *j = job_find(r->server->pool, r->id);
    if (j) {
        job_cancel(j, "the client asked for it");
        serve_status(r, 202, j);
    } else {
        serve_error(r, 404, no_such_job);
    }
}

/* What was to be solved, for whoever comes back to a job by its address. */
void call_instance(request *r)
{
    job *j = job_find(r->server->pool, r->id);
    if (j)
        serve_instance(r, job_instance(j), NULL);
    else
        serve_error(r, 404, no_such_job);
    job_release(j);
}
