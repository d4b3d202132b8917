/* Requests in, answers out. One polling thread (libmicrohttpd's) does all of this; whoever must wait for a
 * job is suspended, so no client stalls another. */
#include "serve/assets.h"
#include "serve/calls.h"
#include "serve/jobs.h"

#include <arpa/inet.h>
#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

void serve_options_init(serve_options *o)
{
    *o = (serve_options){.host = "127.0.0.1",
                         .port = 8080,
                         .workers = 1,
                         .queue = 16,
                         .keep = 64,
                         .connections = 256,
                         .max_body = 64 << 20,
                         .max_nodes = 1000000,
                         .sync_nodes = 2000,
                         .max_time = 300,
                         .sync_time = 10,
                         .idle_timeout = 30};
}

/* ---- answers ------------------------------------------------------------------------------------------- */

enum MHD_Result serve_answer(request *r, unsigned status, const char *type, char *body, size_t length)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(length, body ? body : "", MHD_RESPMEM_MUST_COPY);
    free(body);
    if (!response) return MHD_NO;
    return serve_queue(r, status, type, response);
}

enum MHD_Result serve_queue(request *r, unsigned status, const char *type, struct MHD_Response *response)
{
    const char *cors = r->server->options->cors;
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Content-Security-Policy",
                            "default-src 'self'; img-src 'self' data: blob:");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (cors) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", cors);
        MHD_add_response_header(response, "Access-Control-Allow-Headers", "Authorization, Content-Type");
        MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST, DELETE");
    }
    if (status == 401) MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (status == 405) MHD_add_response_header(response, "Allow", r->allow);
    if (status == 503) MHD_add_response_header(response, "Retry-After", "5");
    r->server->answers[status / 100 % 6]++;
    enum MHD_Result result = MHD_queue_response(r->connection, status, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result serve_json(request *r, unsigned status, json_t *object)
{
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (object) json_decref(object);
    if (!text) return MHD_NO;
    return serve_answer(r, status, "application/json", text, strlen(text));
}

/* Messages quote what they were given, which need not be UTF-8, or may be cut within a character. */
json_t *serve_readable(const char *message)
{
    json_t *text = json_string(message);
    if (text) return text;
    char plain[sizeof((invit_error *)0)->message];
    snprintf(plain, sizeof plain, "%s", message);
    for (char *at = plain; *at; at++)
        if ((unsigned char)*at >= 0x80) *at = '?';
    return json_string(plain);
}

enum MHD_Result serve_error(request *r, unsigned status, const char *message)
{
    return serve_json(
        r, status,
        json_pack("{s:{s:i, s:o}}", "error", "status", (int)status, "message", serve_readable(message)));
}

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
    return given && strncmp(given, "Bearer ", 7) == 0 && same_secret(token, given + 7);
}

/* Without a secret only this machine may ask, and only under its own names: a page elsewhere that points a
 * name of its own at 127.0.0.1 does not get in. */
static bool host_is_local(const request *r)
{
    const char *host = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Host");
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    if (r->server->token || !host) return true;
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(host, names[i], n) == 0 && (host[n] == 0 || host[n] == ':')) return true;
    }
    return false;
}

/* ---- routing ------------------------------------------------------------------------------------------- */

enum MHD_Result serve_page(request *r, const char *name)
{
    for (const serve_asset *a = serve_assets; a->name; a++)
        if (strcmp(a->name, name) == 0)
            return serve_queue(r, 200, a->type,
                               MHD_create_response_from_buffer(a->length, (void *)(uintptr_t)a->bytes,
                                                               MHD_RESPMEM_PERSISTENT));
    return serve_error(
        r, 404, "there is nothing here; the page is at / and the API is described at /v1/openapi.json");
}

typedef struct route {
    const char *method, *path; /* "*" stands for one path segment, a job's id */
    bool open;                 /* needs no secret                             */
    enum MHD_Result (*call)(request *r);
} route;

static const route routes[] = {
    {"GET", "/v1/health", true, call_health},
    {"GET", "/v1/metrics", false, call_metrics},
    {"GET", "/v1/openapi.json", true, call_openapi},
    {"POST", "/v1/generate", false, call_generate},
    {"POST", "/v1/parse", false, call_parse},
    {"POST", "/v1/solve", false, call_solve},
    {"POST", "/v1/jobs", false, call_submit},
    {"GET", "/v1/jobs/*", false, call_job},
    {"DELETE", "/v1/jobs/*", false, call_cancel},
    {"GET", "/v1/jobs/*/events", false, call_events},
    {"GET", "/v1/jobs/*/solution", false, call_download},
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

/* Beyond the limit there are some places more, for saying so. */
enum { PLACES_TO_REFUSE = 32 };

static bool too_many(const request *r)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(r->server->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info && info->num_connections > (unsigned)r->server->options->connections;
}

static void turn_away(request *r, unsigned status, const char *why)
{
    r->call = NULL;
    r->refused = status;
    r->why = why;
}

static enum MHD_Result fetch_page(request *r)
{
    return serve_page(r, strcmp(r->url, "/") == 0 ? "index.html" : r->url + 1);
}

static enum MHD_Result agree(request *r)
{
    return serve_answer(r, 204, "text/plain", NULL, 0);
}

static void add_allowed(request *r, const char *method)
{
    size_t n = strlen(r->allow);
    snprintf(r->allow + n, sizeof r->allow - n, "%s%s", n ? ", " : "", method);
}

static void choose_page(request *r)
{
    r->call = fetch_page;
    if (strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0) return;
    add_allowed(r, "GET");
    add_allowed(r, "HEAD");
    turn_away(r, 405, "pages can only be fetched");
}

static void choose_call(request *r)
{
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (!match(routes[i].path, r->url, r->id)) continue;
        add_allowed(r, routes[i].method);
        if (strcmp(routes[i].method, r->method) != 0) continue;
        r->call = routes[i].call;
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

static bool announces_too_much(const request *r)
{
    const char *length = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Content-Length");
    return length && strtoull(length, NULL, 10) > (unsigned long long)r->server->options->max_body;
}

/* Once, and from the head of the request alone: a body that will be refused must not fill the memory first,
 * and a solve that has waited for its job must not be refused after all. */
static void decide(request *r)
{
    if (too_many(r))
        turn_away(r, 503, "too many connections are open; try again later");
    else if (!host_is_local(r))
        turn_away(r, 403, "this server answers only to localhost");
    else if (announces_too_much(r))
        turn_away(r, 413, too_large);
    else if (strncmp(r->url, "/v1/", 4) != 0)
        choose_page(r);
    else
        choose_call(r);
}

static enum MHD_Result answer(request *r)
{
    return r->call ? r->call(r) : serve_error(r, r->refused, r->why);
}

/* ---- requests ------------------------------------------------------------------------------------------ */

/* Keeps a piece of the body if the call reads it; anything else is swallowed, and answered at its end. */
static bool take(request *r, const char *bytes, size_t count)
{
    if (!r->call || !r->takes_body) return true;
    if ((int64_t)(r->length + count) > r->server->options->max_body) {
        turn_away(r, 413, too_large);
        free(r->body);
        r->body = NULL;
        r->length = r->room = 0;
        return true;
    }
    if (r->length + count + 1 > r->room) {
        size_t room = r->room ? r->room : 4096;
        while (room < r->length + count + 1) room *= 2;
        char *grown = realloc(r->body, room);
        if (!grown) return false;
        r->body = grown;
        r->room = room;
    }
    memcpy(r->body + r->length, bytes, count);
    r->length += count;
    r->body[r->length] = 0;
    return true;
}

/* A client that asks before it sends its body can be refused at once. With the others the body is waited for:
 * hanging up on someone who is sending may cost them the answer. */
static bool asks_first(const request *r)
{
    const char *expects = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Expect");
    return expects && strcasecmp(expects, "100-continue") == 0;
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
        *slot = r;
        decide(r);
        return !r->call && asks_first(r) ? answer(r) : MHD_YES;
    }
    if (*upload_size) {
        if (!take(r, upload, *upload_size)) return MHD_NO;
        *upload_size = 0;
        return MHD_YES;
    }
    return answer(r);
}

void serve_completed(void *context, struct MHD_Connection *connection, void **slot,
                     enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection, (void)code;
    request *r = *slot;
    if (!r) return;
    if (r->job) {
        job_unwait(r->job, r);
        job_release(r->job);
    }
    free(r->body);
    free(r);
    *slot = NULL;
}

/* ---- the server ---------------------------------------------------------------------------------------- */

static invit_status refuse(invit_error *err, invit_status code, const char *format, const char *a,
                           const char *b)
{
    if (err) {
        err->code = code;
        snprintf(err->message, sizeof err->message, format, a, b);
    }
    return code;
}

/* The secret is the file's first line; a short one is refused, since it could be guessed. */
static invit_status read_token(const char *path, char *token, size_t room, invit_error *err)
{
    FILE *f = fopen(path, "r");
    if (!f) return refuse(err, INVIT_ERR_IO, "%s: cannot read the token: %s", path, strerror(errno));
    bool some = fgets(token, (int)room, f) != NULL;
    fclose(f);
    bool whole = some && (strlen(token) + 1 < room || strchr(token, '\n'));
    if (some) token[strcspn(token, "\r\n")] = 0;
    if (!whole || strlen(token) < 16)
        return refuse(err, INVIT_ERR_INPUT, "%s: the first line must be a token of 16 to 250 characters%s",
                      path, "");
    return INVIT_OK;
}

static invit_status resolve(const serve_options *o, struct sockaddr_storage *address, bool *loopback,
                            invit_error *err)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
    const char *host = strcmp(o->host, "localhost") == 0 ? "127.0.0.1" : o->host;
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)o->port);
        *loopback = (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
    } else if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)o->port);
        *loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    } else {
        return refuse(err, INVIT_ERR_ARGUMENT,
                      "\"%s\" is not an IPv4 or IPv6 address, for example 127.0.0.1 or 0.0.0.0%s", o->host,
                      "");
    }
    return INVIT_OK;
}

invit_status serve_run(const serve_options *o, const volatile int *stop, void (*ready)(void *, int),
                       void *user, invit_error *err)
{
    char token[256];
    bool loopback;
    struct sockaddr_storage address;
    server s = {.options = o, .started = time(NULL)};
#ifdef __GLIBC__
    /* Every job makes large blocks and leaves small ones behind. Large ones from the system, always, or the
     * small ones that are kept pin a hole of some megabytes each. */
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
    invit_status status = resolve(o, &address, &loopback, err);
    if (status != INVIT_OK) return status;
    if (o->token_file) {
        status = read_token(o->token_file, token, sizeof token, err);
        if (status != INVIT_OK) return status;
        s.token = token;
    } else if (!loopback) {
        return refuse(err, INVIT_ERR_ARGUMENT,
                      "listening on %s lets other machines in; give them a secret with --token-file FILE%s",
                      o->host, "");
    }
    status = job_pool_create(o, &s.pool, err);
    if (status != INVIT_OK) return status;

    /* poll, not epoll: with epoll libmicrohttpd 0.9.75 loses a request now and then while others are
     * suspended */
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (address.ss_family == AF_INET6) flags |= MHD_USE_IPv6;
    s.daemon = MHD_start_daemon(flags, (uint16_t)o->port, NULL, NULL, serve_handle, &s, MHD_OPTION_SOCK_ADDR,
                                &address, MHD_OPTION_NOTIFY_COMPLETED, serve_completed, NULL,
                                MHD_OPTION_CONNECTION_LIMIT, (unsigned)o->connections + PLACES_TO_REFUSE,
                                MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)ceil(o->idle_timeout),
                                MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536, MHD_OPTION_END);
    if (!s.daemon) {
        char port[16];
        snprintf(port, sizeof port, "%d", o->port);
        job_pool_destroy(s.pool);
        return refuse(err, INVIT_ERR_IO, "cannot listen on %s port %s; is something else using it?", o->host,
                      port);
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s.daemon, MHD_DAEMON_INFO_BIND_PORT);
    if (ready) ready(user, info ? info->port : o->port);
    while (!*stop) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        job_pool_stop_late(s.pool);
    }
    job_pool_stop(s.pool); /* wakes everyone who is suspended: the daemon may not stop before that */
    MHD_stop_daemon(s.daemon);
    job_pool_destroy(s.pool);
    return INVIT_OK;
}
