/* The server from its start to its end. */
#include "base/cancel.h"
#include "base/clock.h"
#include "base/json_memory.h"
#include "base/outfile.h"
#include "serve/calls.h"

#include <arpa/inet.h>
#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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
                         .idle_timeout = 30,
                         .header_time = 10,
                         .body_time = 10,
                         .keep_time = 3600,
                         .drain = 5,
                         .memory = (int64_t)1 << 30};
}

/* ---- starting ------------------------------------------------------------------------------------------ */

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

/* What pages may load: themselves, and pictures of the map from the server that --tiles names. */
static void set_policy(server *s)
{
    char tiles[300] = "";
    const char *url = s->options->tiles, *name = url ? strstr(url, "://") : NULL;
    if (name) {
        size_t n = (size_t)(name - url) + 3;
        n += strcspn(url + n, "/");
        snprintf(tiles, sizeof tiles, " %.*s", (int)(n < 290 ? n : 290), url);
        for (char *at = tiles; *at; at++)
            if (*at == ';' || *at == ',' || *at == '\r' || *at == '\n') *at = 0;
    }
    snprintf(s->policy, sizeof s->policy,
             "default-src 'self'; img-src 'self' data: blob:%s; frame-ancestors 'none'; base-uri 'none'; "
             "form-action 'none'",
             tiles);
}

invit_status server_init(server *s, const serve_options *o, invit_error *err)
{
    *s = (server){.options = o, .started = time(NULL), .budget = {.limit = o->memory}};
    set_policy(s);
    connections_init(&s->connections, o);
    return job_pool_create(o, &s->budget, &s->pool, err);
}

void server_destroy(server *s)
{
    task_pool_destroy(s->tasks);
    job_pool_destroy(s->pool);
    connections_destroy(&s->connections);
    if (s->log && s->log != stderr) fclose(s->log);
}

bool serve_take(server *s, int64_t bytes)
{
    while (!budget_take(&s->budget, bytes))
        if (bytes > s->budget.limit || !job_pool_forget_oldest(s->pool)) return false;
    return true;
}

static invit_status open_log(server *s, invit_error *err)
{
    const char *path = s->options->log;
    if (!path) return INVIT_OK;
    INV_CHECK(inv_outfile_check_link(path, err));
    s->log = strcmp(path, "-") == 0 ? stderr : fopen(path, "a");
    if (!s->log) return refuse(err, INVIT_ERR_IO, "%s: cannot write the log: %s", path, strerror(errno));
    return INVIT_OK;
}

static struct MHD_Daemon *listen_on(server *s, const struct sockaddr_storage *address)
{
    const serve_options *o = s->options;
    /* poll, not epoll: with epoll libmicrohttpd 0.9.75 loses a request now and then while others are
     * suspended */
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    enum { PLACES_TO_REFUSE = 32 }; /* beyond the limit there are some places more, for saying so */
    if (address->ss_family == AF_INET6) flags |= MHD_USE_IPv6;
    return MHD_start_daemon(flags, (uint16_t)o->port, connections_accept, &s->connections, serve_handle, s,
                            MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_NOTIFY_COMPLETED, serve_completed, NULL,
                            MHD_OPTION_NOTIFY_CONNECTION, connections_notify, &s->connections,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)o->connections + PLACES_TO_REFUSE,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)ceil(o->idle_timeout),
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536, MHD_OPTION_END);
}

/* ---- running and stopping ------------------------------------------------------------------------------ */

/* Parsed JSON is many small blocks, which glibc keeps when they are freed. */
static void return_memory(server *s)
{
    enum { WORTHWHILE = 32 << 20 };
    int64_t used = s->budget.used;
    if (used > s->most_used) s->most_used = used;
    if (s->most_used - used < WORTHWHILE || inv_now() < s->returned + 1) return;
    s->most_used = used;
    s->returned = inv_now();
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

static void look_after(server *s)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    return_memory(s);
    job_pool_look_after(s->pool);
    connections_look_after(&s->connections);
}

/* Nobody new is let in, every job ends with what it has, and those who are here get their answers and last events,
 * for as long as --drain says. Then whoever is left is dropped: what waits for a thread is not begun any more. */
static void drain(server *s, struct MHD_Daemon *daemon)
{
    double until = inv_now() + s->options->drain;
    s->stopping = true;
    MHD_socket listening = MHD_quiesce_daemon(daemon);
    if (listening != MHD_INVALID_SOCKET) close(listening);
    job_pool_stop_taking(s->pool);
    while (s->requests > 0 && inv_now() < until) look_after(s);
    connections_leave_all(&s->connections);
    task_pool_stop(s->tasks); /* connections are suspended until their work has ended */
    MHD_stop_daemon(daemon);
}

invit_status serve_run(const serve_options *o, const volatile int *stop, void (*ready)(void *, int),
                       void *user, invit_error *err)
{
    char token[256];
    bool loopback;
    struct sockaddr_storage address;
    server s;
    inv_json_watch();
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
    } else if (!loopback) {
        return refuse(err, INVIT_ERR_ARGUMENT,
                      "listening on %s lets other machines in; give them a secret with --token-file FILE%s",
                      o->host, "");
    }
    status = server_init(&s, o, err);
    s.token = o->token_file ? token : NULL;
    if (status == INVIT_OK) status = open_log(&s, err);
    if (status == INVIT_OK) status = task_pool_create(2, &s.tasks, err);
    struct MHD_Daemon *daemon = status == INVIT_OK ? listen_on(&s, &address) : NULL;
    if (status == INVIT_OK && !daemon) {
        char port[16];
        snprintf(port, sizeof port, "%d", o->port);
        status = refuse(err, INVIT_ERR_IO, "cannot listen on %s port %s; is something else using it?",
                        o->host, port);
    }
    if (status == INVIT_OK) {
        const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
        if (ready) ready(user, info ? info->port : o->port);
        while (!inv_flag_set(stop)) look_after(&s);
        drain(&s, daemon);
    }
    server_destroy(&s);
    return status;
}
