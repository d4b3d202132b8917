/* One request, and the calls of the API that answer it. */
#ifndef INVIT_SERVE_CALLS_H
#define INVIT_SERVE_CALLS_H

#include "serve/budget.h"
#include "serve/connections.h"
#include "serve/jobs.h"
#include "serve/tasks.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

typedef struct server {
    const serve_options *options;
    const char *token; /* NULL: nobody is asked for one */
    char policy[600];  /* the Content-Security-Policy   */
    budget budget;
    int64_t most_used; /* of the budget, since memory was last returned to the system */
    double returned;   /* when that was                                               */
    connections connections;
    task_pool *tasks; /* NULL: the polling thread does everything itself (the fuzzer) */
    job_pool *pool;
    FILE *log; /* NULL: none */
    time_t started;
    int64_t answers[6];   /* by hundreds of the status; only the polling thread writes */
    _Atomic int requests; /* begun and not ended */
    _Atomic bool stopping;
} server;

typedef struct request request;

/* A call makes its answer (serve_answer and its kin), or takes a job that is to be waited for. Neither: there was
 * no memory, and the connection is closed. */
typedef void (*serve_call)(request *r);

struct request {
    server *server;
    struct MHD_Connection *connection;
    struct connection *from;
    const char *url, *method;
    serve_call call;  /* what answers it; NULL: it is refused                          */
    unsigned refused; /* the status then, and the message                              */
    const char *why;
    char allow[40]; /* the methods its path has, as far as they were looked at       */
    char id[33];
    bool takes_body;   /* otherwise a body is not kept                                  */
    bool heavy;        /* for the threads that work beside the polling one              */
    bool called, left; /* its call was made; the client has gone */
    int64_t received, kept;
    task task;
    char *body;
    size_t length, room;
    int64_t unfolded; /* bytes taken of the budget for its JSON */
    job *job;         /* a synchronous call that waits for it */
    bool file;        /* the answer is to be saved, not shown: it may be HTML made of what others wrote */
    struct MHD_Response *answer;
    unsigned status;
    int64_t answer_bytes; /* -1: a stream */
    double began;
    struct stream *stream;
};

/* What libmicrohttpd calls for every piece of a request, and at its end; the context is the server. */
enum MHD_Result serve_handle(void *context, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload, size_t *upload_size,
                             void **slot);
void serve_completed(void *context, struct MHD_Connection *connection, void **slot,
                     enum MHD_RequestTerminationCode code);

/* The parts of a server that do not listen; the fuzzer has only these. */
invit_status server_init(server *s, const serve_options *o, invit_error *err);
void server_destroy(server *s);
/* Takes bytes of the budget; kept jobs that have ended make room, the oldest first. */
bool serve_take(server *s, int64_t bytes);

/* ---- answers (answer.c) ---- */
void serve_answer(request *r, unsigned status, const char *type, char *body, size_t length); /* frees body */
void serve_constant(request *r, unsigned status, const char *type, const void *body, size_t length);
/* Part of what a job keeps; takes the reference over. */
void serve_kept(request *r, unsigned status, const char *type, const char *body, size_t length, job *j);
void serve_json(request *r, unsigned status, json_t *object); /* takes object */
void serve_error(request *r, unsigned status, const char *message);
/* The same without making anything: 503. */
void serve_out_of_memory(request *r);
void serve_stream(request *r, const char *type, struct MHD_Response *response);
enum MHD_Result serve_send(request *r); /* what a call has made                   */

void serve_page(request *r, const char *name); /* an embedded file of web/ */

/* Suspends a connection; to be undone when it goes on. Only the polling thread does either. */
void serve_suspend(struct MHD_Connection *c);
void serve_suspended(struct MHD_Connection *c, const serve_options *o);

void stream_end(struct stream *s);

/* ---- bodies (body.c) ---- */
bool body_take(request *r, const char *bytes, size_t count); /* false: no memory */
void body_drop(request *r);
/* Takes what reading the body needs of the budget; false with the answer made. */
bool body_take_memory(request *r, int64_t needs);
/* The body as a JSON object, or NULL with the answer made. */
json_t *body_object(request *r);
void body_release_object(request *r, json_t *object);

void call_health(request *r);
void call_config(request *r);
void call_metrics(request *r);
void call_openapi(request *r);
void call_generate(request *r);
void call_parse(request *r);
void call_solve(request *r);
void call_submit(request *r);
void call_job(request *r);
void call_cancel(request *r);
void call_instance(request *r);
void call_events(request *r);
void call_download(request *r);

#endif
