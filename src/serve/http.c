/* Requests in, answers out. One polling thread (libmicrohttpd's) does all of this; whoever must wait for a
 * job, or for work that takes long, is suspended, so no client stalls another. */
#include "base/clock.h"
#include "serve/calls.h"
#include "serve/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- who may ask --------------------------------------------------------------------------------------- */

static bool same_secret(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned char differ = n != m;
    for (size_t i = 0; i < n; i++) differ |= (unsigned char)(a[i] ^ b[m ? i % m : 0]);
    return !differ;
}

static bool may_ask(const request *r)
{
    const char *token = r->server->token;
    if (!token) return true;
    const char *given = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Authorization");
    return given && strncasecmp(given, "Bearer ", 7) == 0 && same_secret(token, given + 7);
}

/* Without a secret only this machine may ask, and only under its own names: a page elsewhere that points a
 * name of its own at 127.0.0.1 does not get in. */
static bool host_is_local(const request *r)
{
    const char *host = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Host");
    const char *const names[] = {"localhost", "127.0.0.1", "[::1]", r->server->options->host};
    if (r->server->token || !host) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncasecmp(host, names[i], n) == 0 && (host[n] == 0 || host[n] == ':')) return true;
    }
    return false;
}

/* Browsers say which page asks. Text may be posted from any of them without a question before; the answer could
 * not be read there, but the work would be done. */
static bool origin_is_ours(const request *r)
{
    const char *origin = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Origin");
    const char *host = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Host");
    const char *cors = r->server->options->cors;
    if (!origin || (cors && (strcmp(cors, "*") == 0 || strcasecmp(cors, origin) == 0))) return true;
    const char *name = strstr(origin, "://");
    return name && host && strcasecmp(name + 3, host) == 0;
}

/* ---- routing ------------------------------------------------------------------------------------------- */

typedef struct route {
    const char *method, *path; /* "*" stands for one path segment, a job's id */
    bool open;                 /* needs no secret                             */
    bool heavy;                /* not for the polling thread                  */
    serve_call call;
} route;

static const route routes[] = {
    {"GET", "/v1/health", true, false, call_health},
    {"GET", "/v1/config", true, false, call_config},
    {"GET", "/v1/metrics", false, false, call_metrics},
    {"GET", "/v1/openapi.json", true, false, call_openapi},
    {"POST", "/v1/generate", false, true, call_generate},
    {"POST", "/v1/parse", false, true, call_parse},
    {"POST", "/v1/solve", false, true, call_solve},
    {"POST", "/v1/jobs", false, true, call_submit},
    {"GET", "/v1/jobs/*", false, false, call_job},
    {"DELETE", "/v1/jobs/*", false, false, call_cancel},
    {"GET", "/v1/jobs/*/instance", false, true, call_instance},
    {"GET", "/v1/jobs/*/events", false, false, call_events},
    {"GET", "/v1/jobs/*/solution", false, true, call_download},
};

/* Matches a path and copies what stands at the "*" into id. */
static bool match(const char *pattern, const char *url, char id[33])
{
    while (*pattern && *url) {
        if (*pattern == '*') {
            size_t n = strcspn(url, "/");
            if (n != 32) return false;
            memcpy(id, url, n);
            id[n] = 0;
            url += n;
            pattern++;
        } else if (*pattern++ != *url++) {
            return false;
        }
    }
    return !*pattern && !*url;
}

static void turn_away(request *r, unsigned status, const char *why)
{
    r->call = NULL;
    r->refused = status;
    r->why = why;
}

static void fetch_page(request *r)
{
    serve_page(r, strcmp(r->url, "/") == 0 ? "index.html" : r->url + 1);
}

static void agree(request *r)
{
    serve_answer(r, 204, "text/plain", NULL, 0);
}

static void add_allowed(request *r, const char *method)
{
    size_t n = strlen(r->allow);
    snprintf(r->allow + n, sizeof r->allow - n, "%s%s", n ? ", " : "", method);
}

/* HEAD is GET without the body, which libmicrohttpd leaves out. */
static const char *method_of(const request *r)
{
    return strcmp(r->method, "HEAD") == 0 ? "GET" : r->method;
}

static void choose_page(request *r)
{
    r->call = fetch_page;
    if (strcmp(method_of(r), "GET") == 0) return;
    add_allowed(r, "GET");
    add_allowed(r, "HEAD");
    turn_away(r, 405, "pages can only be fetched");
}

static void choose_call(request *r)
{
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (!match(routes[i].path, r->url, r->id)) continue;
        add_allowed(r, routes[i].method);
        if (strcmp(routes[i].method, "GET") == 0) add_allowed(r, "HEAD");
        if (strcmp(routes[i].method, method_of(r)) != 0) continue;
        r->call = routes[i].call;
        r->heavy = routes[i].heavy;
        r->takes_body = strcmp(r->method, "POST") == 0;
        if (!routes[i].open && !may_ask(r)) turn_away(r, 401, "this call needs the server's token");
        return;
    }
    if (!r->allow[0])
        turn_away(r, 404, "there is no such call; see /v1/openapi.json");
    else if (strcmp(r->method, "OPTIONS") == 0 && r->server->options->cors)
        r->call = agree;
    else
        turn_away(r, 405, "that path exists, but not with this method");
}

static const char too_large[] = "the request is larger than this server takes";

/* Bytes of the body as the head announces them; -1 when it does not say. */
static int64_t announced(const request *r)
{
    const char *length = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Content-Length");
    if (length) return strlen(length) < 19 ? strtoll(length, NULL, 10) : INT64_MAX;
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Transfer-Encoding") ? -1 : 0;
}

/* Once, and from the head of the request alone: a body that will be refused must not fill the memory first,
 * and a solve that has waited for its job must not be refused after all. */
static void decide(request *r)
{
    bool reads = strcmp(method_of(r), "GET") == 0 || strcmp(r->method, "OPTIONS") == 0;
    if (r->server->stopping)
        turn_away(r, 503, "the server is stopping");
    else if (connections_too_many(&r->server->connections, r->from))
        turn_away(r, 503, "too many connections are open; try again later");
    else if (!host_is_local(r))
        turn_away(r, 403, "this server answers only to localhost");
    else if (!reads && !origin_is_ours(r))
        turn_away(r, 403, "this page may not call the server; see --cors");
    else if (announced(r) > r->server->options->max_body)
        turn_away(r, 413, too_large);
    else if (strncmp(r->url, "/v1/", 4) != 0)
        choose_page(r);
    else
        choose_call(r);
}

/* ---- answering ----------------------------------------------------------------------------------------- */

/* libmicrohttpd (0.9.75) forgets that a connection is to go on when it finds no memory for its list of sockets, until
 * something else happens or a time is up. So that time is short meanwhile. */
void serve_suspend(struct MHD_Connection *c)
{
    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, 1u);
    MHD_suspend_connection(c);
}

void serve_suspended(struct MHD_Connection *c, const serve_options *o)
{
    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)ceil(o->idle_timeout));
}

static void wake(void *user)
{
    MHD_resume_connection(((request *)user)->connection);
}

/* The client of a synchronous call has hung up: nobody else can fetch its solution. */
static void leave(void *user)
{
    request *r = user;
    job_cancel(r->job, "the client hung up");
    if (!job_unwait(r->job, r)) return; /* its end has resumed the connection */
    r->left = true;
    MHD_resume_connection(r->connection);
}

/* The client hung up before its work was begun. */
static void leave_queue(void *user)
{
    request *r = user;
    if (!task_pool_drop(r->server->tasks, &r->task)) return;
    r->left = true;
    MHD_resume_connection(r->connection);
}

static void work(void *user)
{
    request *r = user;
    memory_begin();
    r->call(r);
    if (!r->answer && r->job) {
        connection_wait(&r->server->connections, r->from, leave, r);
        if (job_wait(r->job, SIZE_MAX, wake, r)) return;
    }
    MHD_resume_connection(r->connection);
}

/* The solution of a synchronous call. */
static void answer_job(request *r)
{
    size_t length;
    const char *solution = job_solution_text(r->job, &length);
    if (solution) {
        job_hold(r->job);
        serve_kept(r, 200, "application/json", solution, length, r->job);
        return;
    }
    invit_error err = job_error(r->job);
    if (!job_ended(r->job)) job_cancel(r->job, "there was no memory to wait for it");
    if (err.code == INVIT_ERR_MEMORY ||
        !err.message[0]) { /* a result that could not be kept has no message */
        serve_out_of_memory(r);
        return;
    }
    bool theirs =
        err.code == INVIT_ERR_INPUT || err.code == INVIT_ERR_ARGUMENT || err.code == INVIT_ERR_UNSUPPORTED;
    int code = theirs ? 422 : 500;
    if (job_get_state(r->job) == JOB_CANCELLED) code = 503;
    serve_error(r, code, err.message);
}

/* Called again when a suspended connection goes on: the work is done then, or the job has ended. */
static enum MHD_Result answer(request *r)
{
    if (r->left) return MHD_NO;
    memory_begin();
    if (r->called) serve_suspended(r->connection, r->server->options);
    if (!r->answer && r->job)
        answer_job(r);
    else if (!r->answer && !r->call)
        serve_error(r, r->refused, r->why);
    if (r->answer) return serve_send(r);
    if (r->called || !r->call) return MHD_NO; /* there was no memory for the answer; the body is gone */
    r->called = true;
    if (r->heavy) {
        serve_suspend(r->connection);
        r->task = (task){.run = work, .user = r, .client = connection_client(r->from)};
        if (!r->server->tasks) {
            connection_wait(&r->server->connections, r->from, NULL, NULL);
            work(r);
            return MHD_YES;
        }
        connection_wait(&r->server->connections, r->from, leave_queue, r);
        if (task_pool_add(r->server->tasks, &r->task)) return MHD_YES;
        serve_error(r, 503, "the server is stopping");
        MHD_resume_connection(r->connection);
        return MHD_YES;
    }
    r->call(r);
    return serve_send(r);
}

/* ---- requests ------------------------------------------------------------------------------------------ */

/* A body that nothing reads is swallowed up to this, since hanging up on someone who is sending may cost them the
 * answer. Beyond it the connection is closed. */
enum { UNWANTED_BODY = 64 << 10 };

static bool wants_body(const request *r)
{
    return r->call && r->takes_body;
}

static bool take(request *r, const char *bytes, size_t count)
{
    r->received += (int64_t)count;
    connection_enter(&r->server->connections, r->from, CONNECTION_BODY, r->received);
    if (!wants_body(r)) return r->received <= r->kept + UNWANTED_BODY;
    if (r->received > r->server->options->max_body)
        turn_away(r, 413, too_large);
    else if (!body_take(r, bytes, count))
        turn_away(r, 503, "the server's memory is taken by other requests; try again later");
    if (!r->call) body_drop(r);
    r->kept = r->received;
    return true;
}

/* A client that asks before it sends its body, or has much of what is not wanted, is answered at once. */
static bool answers_at_once(const request *r)
{
    const char *expects = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Expect");
    if (wants_body(r)) return false;
    return announced(r) < 0 || announced(r) > UNWANTED_BODY ||
           (!r->call && expects && strcasecmp(expects, "100-continue") == 0);
}

enum MHD_Result serve_handle(void *context, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload, size_t *upload_size,
                             void **slot)
{
    (void)version;
    request *r = *slot;
    if (!r) {
        r = calloc(1, sizeof *r);
        if (!r) return MHD_NO;
        *r = (request){.server = context, .connection = connection, .url = url, .method = method};
        r->from = connections_of(connection);
        r->began = inv_now();
        r->server->requests++;
        *slot = r;
        decide(r);
        connection_enter(&r->server->connections, r->from, CONNECTION_BODY, 0);
        return answers_at_once(r) ? answer(r) : MHD_YES;
    }
    if (*upload_size) {
        if (!take(r, upload, *upload_size)) return MHD_NO;
        *upload_size = 0;
        return MHD_YES;
    }
    return answer(r);
}

static void hide_odd(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= 0x20 || (unsigned char)*text >= 0x7f) *text = '?';
}

/* One line per request: when, who, what, how it went. A job's id is a secret, so only its beginning is told. */
static void write_log(const request *r, enum MHD_RequestTerminationCode code)
{
    char when[32], method[17], url[200];
    time_t t = time(NULL);
    struct tm parts;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &parts));
    snprintf(url, sizeof url, "%s", r->url);
    char *id = r->id[0] ? strstr(url, r->id) : NULL;
    if (id) memset(id + 8, '.', 24);
    snprintf(method, sizeof method, "%s", r->method);
    hide_odd(method);
    hide_odd(url);
    fprintf(r->server->log, "%s %s %s %s %u %lld %.1f ms%s\n", when, connection_address(r->from), method, url,
            r->status, (long long)(r->answer_bytes < 0 ? 0 : r->answer_bytes), 1e3 * (inv_now() - r->began),
            code == MHD_REQUEST_TERMINATED_COMPLETED_OK ? "" : " broken off");
    fflush(r->server->log);
}

void serve_completed(void *context, struct MHD_Connection *connection, void **slot,
                     enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection;
    request *r = *slot;
    if (!r) return;
    connection_enter(&r->server->connections, r->from, CONNECTION_IDLE, 0);
    if (r->server->log) write_log(r, code);
    if (r->stream) stream_end(r->stream);
    if (r->job) {
        job_unwait(r->job, r);
        job_release(r->job);
    }
    if (r->answer) MHD_destroy_response(r->answer);
    body_drop(r);
    r->server->requests--;
    free(r);
    *slot = NULL;
}
