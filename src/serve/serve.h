/* invit serve: the page and the JSON API over HTTP. Uses the public interface of the libraries, and base.
 *
 *   server.c       starting, listening, stopping
 *   http.c         requests in, answers out: routing, limits, the shared secret
 *   connections.c  who is connected, for how long they may take, and who has hung up
 *   body.c         bodies and their JSON, within the budget (budget.h)
 *   answer.c       answers, made on any thread and sent by the polling one
 *   tasks.c        threads for what would hold up the polling one
 *   turns.c        whose turn it is, at these threads and at the workers
 *   calls.c        what each call of the API does; download.c solutions as files
 *   requests.c     what the calls ask for, without HTTP; shared with the page that has no server (src/web)
 *   job.c          one job: its events and how it ends
 *   jobs.c         the bounded queue and the workers that solve
 *   solve.c        one job: solving, and telling what happens
 *   wire.c         instances and solutions as JSON
 *   stream.c       a job's events as server-sent events
 *   assets         the page itself, embedded by the build from web/
 */
#ifndef INVIT_SERVE_SERVE_H
#define INVIT_SERVE_SERVE_H

#include "invit_lab.h"

typedef struct serve_options {
    const char *host;         /* address to listen on                                         127.0.0.1 */
    int port;                 /* 0: any free port                                                  8080 */
    const char *token_file;   /* shared secret; needed to listen beyond this machine                     */
    const char *model;        /* model file, NULL: the bundled ones                                      */
    int threads;              /* threads for solving in all; 0: one per core                           0 */
    int workers;              /* jobs solved at the same time; the threads are divided among them      1 */
    int queue;                /* jobs that may wait                                                   16 */
    int keep;                 /* finished jobs kept for fetching                                      64 */
    int connections;          /* open connections                                                    256 */
    int64_t max_body;         /* bytes of a request                                             64 << 20 */
    int64_t max_nodes;        /* nodes of an instance                                            1000000 */
    int64_t sync_nodes;       /* nodes of an instance for the synchronous call                      2000 */
    double max_time;          /* seconds a job may ask for                                           300 */
    double sync_time;         /* seconds a synchronous call may ask for                               10 */
    double idle_timeout;      /* seconds after which a silent client is dropped                       30 */
    int per_address;          /* open connections from one address; 0: three quarters of them          0 */
    double header_time;       /* seconds for a whole head                                            10 */
    double body_time;         /* seconds for a body, and one more for every 8 KB that came           10 */
    double keep_time;         /* seconds a finished job is kept                                    3600 */
    double drain;             /* seconds for those who wait when the server stops                     5 */
    int64_t memory;           /* bytes for everything in flight and kept                        1 << 30 */
    const char *log;          /* access log, "-": standard error; NULL: none                             */
    const char *tiles;        /* URL of map tiles with {z}, {x} and {y}; NULL: none                      */
    const char *tiles_credit; /* whom to name under the map                                            */
    const char *cors;         /* Access-Control-Allow-Origin, NULL: none                                 */
} serve_options;

void serve_options_init(serve_options *o);

/* Runs until *stop is non-zero (set by a signal handler or an atomic store). `ready` is told the port once it listens. */
invit_status serve_run(const serve_options *o, const volatile int *stop, void (*ready)(void *user, int port),
                       void *user, invit_error *err);

#endif
