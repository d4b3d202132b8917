/* Open connections: who they are from, how long they may take, and whether the client is still there.
 * libmicrohttpd drops a client that is silent; one that sends a byte now and then is for us to drop. */
#ifndef INVIT_SERVE_CONNECTIONS_H
#define INVIT_SERVE_CONNECTIONS_H

#include "serve/serve.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

typedef enum connection_phase {
    CONNECTION_NEW,     /* accepted; its first head is on the way            */
    CONNECTION_IDLE,    /* answered before; the next head may be on the way   */
    CONNECTION_BODY,    /* a body is on the way                               */
    CONNECTION_WAITING, /* suspended: work is done for it                     */
    CONNECTION_ANSWER   /* the answer is on its way                           */
} connection_phase;

typedef struct connection connection;

typedef struct connections {
    const serve_options *options;
    pthread_mutex_t lock;
    connection *first; /* newest first */
    int count, fresh;  /* all of them; those that never sent a whole head */
    _Atomic int64_t cut, left;
} connections;

void connections_init(connections *all, const serve_options *o);
void connections_destroy(connections *all);

/* What libmicrohttpd calls: may this address connect, and when one came or went. The context is `all`. */
enum MHD_Result connections_accept(void *all, const struct sockaddr *address, socklen_t length);
void connections_notify(void *all, struct MHD_Connection *c, void **slot,
                        enum MHD_ConnectionNotificationCode code);
/* The one of a request; NULL when it was never announced (the fuzzer's). */
connection *connections_of(struct MHD_Connection *c);

/* What the connection does now. `bytes`: of the body so far, or of the answer; they lengthen the time it has. */
void connection_enter(connections *all, connection *c, connection_phase phase, int64_t bytes);
/* The same, with what to do when the client hangs up meanwhile; leave(user) is called at most once, with the
 * lock of `all` held. */
void connection_wait(connections *all, connection *c, void (*leave)(void *user), void *user);
/* More connections are open than the options allow, in all or from this address. */
bool connections_too_many(connections *all, const connection *c);
/* A number for the client's address, and its text. */
uint64_t connection_client(const connection *c);
const char *connection_address(const connection *c);

/* Drops who is late and notices who hung up; to be called a few times a second. */
void connections_look_after(connections *all);
/* The end: everyone who waits is told that the client has left. */
void connections_leave_all(connections *all);

#endif
