#define _GNU_SOURCE /* POLLRDHUP */
#include "base/clock.h"
#include "serve/connections.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static const double A_MOMENT = 0.3;

enum {
    LEAST_RATE = 8192,    /* bytes a second that a body and an answer must make after their first seconds */
    PLACES_TO_REFUSE = 32 /* beyond the limit of an address, for telling so                               */
};

struct connection {
    connection *next, *previous;
    int socket;
    struct sockaddr_storage address;
    char text[INET6_ADDRSTRLEN];
    uint64_t client;
    connection_phase phase;
    double since, deadline;
    bool cut;
    void (*leave)(void *);
    void *user;
};

void connections_init(connections *all, const serve_options *o)
{
    *all = (connections){.options = o};
    pthread_mutex_init(&all->lock, NULL);
}

void connections_destroy(connections *all)
{
    pthread_mutex_destroy(&all->lock);
}

/* ---- addresses ----------------------------------------------------------------------------------------- */

/* An IPv6 client owns at least a /64, so that is what counts as one. */
static uint64_t number_of(const struct sockaddr *a)
{
    uint64_t number = 0;
    if (a->sa_family == AF_INET) return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr);
    if (a->sa_family == AF_INET6)
        memcpy(&number, ((const struct sockaddr_in6 *)(const void *)a)->sin6_addr.s6_addr, 8);
    return number ^ 0x8000000000000000u;
}

static int limit_of_an_address(const serve_options *o)
{
    return o->per_address ? o->per_address : o->connections - o->connections / 4;
}

/* Of those who have sent a whole head; the others are few in any case (keep_places_locked). */
static int count_of(const connections *all, uint64_t client)
{
    int count = 0;
    for (const connection *c = all->first; c; c = c->next)
        count += c->client == client && c->phase != CONNECTION_NEW;
    return count;
}

enum MHD_Result connections_accept(void *context, const struct sockaddr *address, socklen_t length)
{
    connections *all = context;
    (void)length;
    pthread_mutex_lock(&all->lock);
    bool room = count_of(all, number_of(address)) < limit_of_an_address(all->options) + PLACES_TO_REFUSE;
    if (!room) all->cut++;
    pthread_mutex_unlock(&all->lock);
    return room ? MHD_YES : MHD_NO;
}

uint64_t connection_client(const connection *c)
{
    return c ? c->client : 0;
}

const char *connection_address(const connection *c)
{
    return c ? c->text : "-";
}

/* ---- coming and going ---------------------------------------------------------------------------------- */

/* The polling thread notices that nothing more will come, and closes it. */
static void cut_locked(connections *all, connection *c)
{
    shutdown(c->socket, SHUT_RDWR);
    c->cut = true; /* once is enough */
    all->cut++;
}

/* Half of the places are for those who have sent a whole head: the oldest of the others make room, once they had a
 * moment to send one. */
static void keep_places_locked(connections *all)
{
    int spare = all->fresh - all->options->connections / 2;
    connection *c = all->first;
    while (spare > 0 && c && c->next) c = c->next;
    for (; spare > 0 && c; c = c->previous) {
        if (c->phase != CONNECTION_NEW) continue;
        if (inv_now() - c->since > A_MOMENT && !c->cut) cut_locked(all, c);
        spare--; /* it is cut now, or was before, or is still young, as all that follow are */
    }
}

static connection *add_locked(connections *all, struct MHD_Connection *m)
{
    const union MHD_ConnectionInfo *address = MHD_get_connection_info(m, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(m, MHD_CONNECTION_INFO_CONNECTION_FD);
    connection *c = calloc(1, sizeof *c);
    if (!c || !address || !fd) {
        free(c);
        return NULL;
    }
    const struct sockaddr *a = address->client_addr;
    c->socket = fd->connect_fd;
    c->client = number_of(a);
    if (a->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)a)->sin_addr, c->text, sizeof c->text);
    else if (a->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, c->text,
                  sizeof c->text);
    c->phase = CONNECTION_NEW;
    c->since = inv_now();
    c->deadline = c->since + all->options->header_time;
    c->next = all->first;
    if (c->next) c->next->previous = c;
    all->first = c;
    all->count++;
    all->fresh++;
    return c;
}

static void remove_locked(connections *all, connection *c)
{
    *(c->previous ? &c->previous->next : &all->first) = c->next;
    if (c->next) c->next->previous = c->previous;
    all->count--;
    all->fresh -= c->phase == CONNECTION_NEW;
    free(c);
}

void connections_notify(void *context, struct MHD_Connection *m, void **slot,
                        enum MHD_ConnectionNotificationCode code)
{
    connections *all = context;
    pthread_mutex_lock(&all->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *slot = add_locked(all, m);
        keep_places_locked(all);
    } else if (*slot) {
        remove_locked(all, *slot);
        *slot = NULL;
    }
    pthread_mutex_unlock(&all->lock);
}

connection *connections_of(struct MHD_Connection *m)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(m, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

bool connections_too_many(connections *all, const connection *c)
{
    pthread_mutex_lock(&all->lock);
    int own = c && c->phase == CONNECTION_NEW; /* it has sent its head now */
    bool many = all->count - all->fresh + own > all->options->connections ||
                (c && count_of(all, c->client) + own > limit_of_an_address(all->options));
    pthread_mutex_unlock(&all->lock);
    return many;
}

/* ---- phases -------------------------------------------------------------------------------------------- */

static void enter_locked(connections *all, connection *c, connection_phase phase, int64_t bytes)
{
    const serve_options *o = all->options;
    if (phase != c->phase) c->since = inv_now();
    all->fresh -= c->phase == CONNECTION_NEW && phase != CONNECTION_NEW;
    c->phase = phase;
    c->leave = NULL;
    if (phase == CONNECTION_BODY)
        c->deadline = c->since + o->body_time + (double)bytes / LEAST_RATE;
    else if (phase == CONNECTION_ANSWER && bytes >= 0)
        c->deadline = c->since + o->idle_timeout + (double)bytes / LEAST_RATE;
    else if (phase == CONNECTION_IDLE)
        c->deadline = c->since + o->idle_timeout;
    else /* while work is done, and for a stream of events */
        c->deadline = 1e300;
}

void connection_enter(connections *all, connection *c, connection_phase phase, int64_t bytes)
{
    if (!c) return;
    pthread_mutex_lock(&all->lock);
    enter_locked(all, c, phase, bytes);
    pthread_mutex_unlock(&all->lock);
}

void connection_wait(connections *all, connection *c, void (*leave)(void *), void *user)
{
    if (!c) return;
    pthread_mutex_lock(&all->lock);
    enter_locked(all, c, CONNECTION_WAITING, 0);
    c->leave = leave;
    c->user = user;
    pthread_mutex_unlock(&all->lock);
}

static void leave_locked(connections *all, connection *c)
{
    void (*leave)(void *) = c->leave;
    c->leave = NULL;
    all->left++;
    leave(c->user);
}

/* A client that closes its sending side while it waits counts as gone, as it does for other servers; also one that has
 * sent more before, which nobody reads while it waits. */
static bool hung_up(const connection *c)
{
    struct pollfd p = {.fd = c->socket, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0;
}

void connections_look_after(connections *all)
{
    pthread_mutex_lock(&all->lock);
    double t = inv_now();
    for (connection *c = all->first; c; c = c->next) {
        if (c->phase == CONNECTION_WAITING && c->leave && hung_up(c))
            leave_locked(all, c);
        else if (t > c->deadline && !c->cut)
            cut_locked(all, c);
    }
    keep_places_locked(all);
    pthread_mutex_unlock(&all->lock);
}

void connections_leave_all(connections *all)
{
    pthread_mutex_lock(&all->lock);
    for (connection *c = all->first; c; c = c->next)
        if (c->phase == CONNECTION_WAITING && c->leave) leave_locked(all, c);
    pthread_mutex_unlock(&all->lock);
}
