/* One request, and the calls of the API that answer it. */
#ifndef INVIT_SERVE_CALLS_H
#define INVIT_SERVE_CALLS_H

#include "serve/jobs.h"

#include <microhttpd.h>
#include <time.h>

typedef struct server {
    const serve_options *options;
    const char *token; /* NULL: nobody is asked for one */
    job_pool *pool;
    struct MHD_Daemon *daemon;
    time_t started;
    int64_t answers[6]; /* by hundreds of the status; only the polling thread writes */
} server;

typedef struct request request;

struct request {
    server *server;
    struct MHD_Connection *connection;
    const char *url, *method;
    enum MHD_Result (*call)(request *r); /* what answers it; NULL: it is refused */
    unsigned refused;                    /* the status then, and the message             */
    const char *why;
    char allow[32]; /* the methods its path has, as far as they were looked at */
    char id[33];
    bool takes_body; /* otherwise a body is not kept */
    char *body;
    size_t length, room;
    job *job; /* a synchronous call that waits for it */
};

/* What libmicrohttpd calls for every piece of a request, and at its end; the context is the server. */
enum MHD_Result serve_handle(void *context, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload, size_t *upload_size,
                             void **slot);
void serve_completed(void *context, struct MHD_Connection *connection, void **slot,
                     enum MHD_RequestTerminationCode code);

enum MHD_Result serve_answer(request *r, unsigned status, const char *type, char *body,
                             size_t length);                             /* frees body */
enum MHD_Result serve_json(request *r, unsigned status, json_t *object); /* takes object */
json_t *serve_readable(const char *message); /* as a JSON text, whatever its bytes are */
enum MHD_Result serve_error(request *r, unsigned status, const char *message);
enum MHD_Result serve_queue(request *r, unsigned status, const char *type,
                            struct MHD_Response *response); /* takes it */

enum MHD_Result serve_page(request *r, const char *name); /* an embedded file of web/ */

enum MHD_Result call_health(request *r);
enum MHD_Result call_metrics(request *r);
enum MHD_Result call_openapi(request *r);
enum MHD_Result call_generate(request *r);
enum MHD_Result call_parse(request *r);
enum MHD_Result call_solve(request *r);
enum MHD_Result call_submit(request *r);
enum MHD_Result call_job(request *r);
enum MHD_Result call_cancel(request *r);
enum MHD_Result call_events(request *r);
enum MHD_Result call_download(request *r);

#endif
