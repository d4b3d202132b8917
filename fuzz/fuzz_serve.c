/* The HTTP and JSON surface of "invit serve": the real handlers behind a real connection, without a network
 * and without workers. The first byte chooses: a call with the rest as its body, or the rest as it comes over
 * the wire. */
#include "serve/calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>
#include <stdio.h>

enum { ROOM = 1 << 16 };

static const char *const calls[] = {
    "POST /v1/solve", "POST /v1/jobs",  "POST /v1/generate",
    "POST /v1/parse", "GET /v1/health", "GET /v1/metrics",
};

/* The request as a client would write it. */
static size_t compose(const uint8_t *data, size_t size, char *out)
{
    size_t n = 0;
    unsigned which = data[0] % 8u;
    data++, size--;
    if (which < sizeof calls / sizeof *calls)
        n = (size_t)snprintf(out, ROOM,
                             "%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                             "Content-Length: %zu\r\n\r\n",
                             calls[which], size);
    if (size > ROOM - n) size = ROOM - n;
    memcpy(out + n, data, size);
    return n + size;
}

static void poll_once(struct MHD_Daemon *daemon)
{
    fd_set in, out, odd;
    MHD_socket highest = 0;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_ZERO(&odd);
    if (MHD_get_fdset(daemon, &in, &out, &odd, &highest) != MHD_YES) abort();
    struct timeval none = {0};
    select((int)highest + 1, &in, &out, &odd, &none);
    MHD_run_from_select(daemon, &in, &out, &odd);
}

/* Every answer is a whole one: a status we know. */
static void look_at(const char *answer, ssize_t length)
{
    if (length <= 0) return;
    int status = 0;
    if (sscanf(answer, "HTTP/1.1 %d", &status) != 1 && sscanf(answer, "HTTP/1.0 %d", &status) != 1) abort();
    if (status < 100 || status > 505 || status == 500) abort();
}

/* Every job has the same id, which requests of the corpus know. */
ssize_t getrandom(void *bytes, size_t count, unsigned flags)
{
    static const unsigned char half[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    (void)flags;
    for (size_t i = 0; i < count; i++) ((unsigned char *)bytes)[i] = half[i % sizeof half];
    return (ssize_t)count;
}

/* The server and its daemon, made once. */
static struct MHD_Daemon *start(server *s)
{
    static serve_options o;
    invit_error err;
    serve_options_init(&o);
    o.workers = 0; /* nobody solves: jobs wait until they are cancelled */
    o.keep = 1;
    o.max_body = ROOM / 2;
    o.max_nodes = 50;
    if (server_init(s, &o, &err) != INVIT_OK) abort();
    struct MHD_Daemon *daemon =
        MHD_start_daemon(MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, serve_handle, s,
                         MHD_OPTION_NOTIFY_COMPLETED, serve_completed, NULL, MHD_OPTION_END);
    if (!daemon) abort();
    return daemon;
}

static unsigned open_connections(struct MHD_Daemon *daemon)
{
    return MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
}

/* The most polls that a request takes to be read and answered, to notice that its job has ended, and to be closed. */
enum { ANSWERED = 12, WOKEN = 4, CLOSED = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[ROOM + 1];
    static server s;
    static struct MHD_Daemon *daemon;
    if (size < 1) return 0;
    if (!daemon) daemon = start(&s);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) abort();
    struct sockaddr_in from = {.sin_family = AF_INET};
    size_t length = compose(data, size, text);
    if (send(pair[0], text, length, MSG_NOSIGNAL) < 0) abort();
    shutdown(pair[0], SHUT_WR);
    if (MHD_add_connection(daemon, pair[1], (struct sockaddr *)&from, sizeof from) != MHD_YES) abort();
    for (int i = 0; i < ANSWERED && open_connections(daemon) > 0; i++) poll_once(daemon);
    job_pool_cancel(s.pool); /* wakes whoever waits for a job */
    for (int i = 0; i < WOKEN && open_connections(daemon) > 0; i++) poll_once(daemon);
    ssize_t got = recv(pair[0], text, ROOM, MSG_DONTWAIT);
    text[got > 0 ? got : 0] = 0;
    look_at(text, got);
    close(pair[0]);
    for (int i = 0; i < CLOSED && open_connections(daemon) > 0; i++) {
        job_pool_cancel(s.pool); /* of requests that followed in the same text */
        poll_once(daemon);
    }
    while (job_pool_forget_oldest(s.pool)) continue;
    if (open_connections(daemon) > 0 || s.requests != 0 || s.budget.used != 0) abort();
    return 0;
}
