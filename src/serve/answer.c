/* Answers: made by a call on any thread, sent by the polling one. */
#include "serve/assets.h"
#include "base/json_text.h"
#include "serve/calls.h"
#include "serve/memory.h"
#include "serve/wire.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 4096 }; /* answers up to this are not counted: a refusal must always be possible */

/* What is freed when an answer has gone. */
typedef struct parcel {
    budget *budget;
    int64_t bytes;
    char *body;
    job *job;
} parcel;

static void open_parcel(void *p)
{
    parcel *gone = p;
    budget_give(gone->budget, gone->bytes);
    free(gone->body);
    job_release(gone->job);
    free(gone);
}

static void keep_answer(request *r, unsigned status, const char *type, int64_t bytes,
                        struct MHD_Response *response)
{
    if (r->answer) MHD_destroy_response(r->answer);
    r->answer = response;
    r->status = status;
    r->answer_bytes = bytes;
    if (response) MHD_add_response_header(response, "Content-Type", type);
}

void serve_constant(request *r, unsigned status, const char *type, const void *body, size_t length)
{
    keep_answer(r, status, type, (int64_t)length,
                MHD_create_response_from_buffer(length, (void *)(uintptr_t)body, MHD_RESPMEM_PERSISTENT));
}

static void send_parcel(request *r, unsigned status, const char *type, const char *body, size_t length,
                        parcel contents)
{
    parcel *p = malloc(sizeof *p);
    if (p) *p = contents;
    struct MHD_Response *response = p ? MHD_create_response_from_buffer_with_free_callback_cls(
                                            length, (void *)(uintptr_t)body, open_parcel, p)
                                      : NULL;
    if (!response) {
        budget_give(contents.budget, contents.bytes);
        free(contents.body);
        job_release(contents.job);
        free(p);
    }
    keep_answer(r, status, type, (int64_t)length, response);
}

void serve_answer(request *r, unsigned status, const char *type, char *body, size_t length)
{
    int64_t counted = length > SMALL ? (int64_t)length : 0;
    if (!body) {
        serve_constant(r, status, type, "", 0);
        return;
    }
    if (counted && !serve_take(r->server, counted)) {
        free(body);
        serve_error(r, 503, "the server's memory is taken by other answers; try again later");
        return;
    }
    send_parcel(r, status, type, body, length,
                (parcel){.budget = &r->server->budget, .bytes = counted, .body = body});
}

void serve_kept(request *r, unsigned status, const char *type, const char *body, size_t length, job *j)
{
    send_parcel(r, status, type, body, length, (parcel){.budget = &r->server->budget, .job = j});
}

void serve_stream(request *r, const char *type, struct MHD_Response *response)
{
    keep_answer(r, 200, type, -1, response);
}

void serve_json(request *r, unsigned status, json_t *object)
{
    char *text = object ? inv_json_text(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (object) json_decref(object);
    if (!text || memory_failed()) {
        free(text);
        serve_out_of_memory(r);
    } else {
        serve_answer(r, status, "application/json", text, strlen(text));
    }
}

void serve_out_of_memory(request *r)
{
    static const char body[] = "{\"error\":{\"status\":503,\"message\":\"out of memory; try again later\"}}";
    serve_constant(r, 503, "application/json", body, sizeof body - 1);
}

void serve_error(request *r, unsigned status, const char *message)
{
    serve_json(r, status,
               json_pack("{s:{s:i, s:o}}", "error", "status", (int)status, "message", wire_text(message)));
}

void serve_page(request *r, const char *name)
{
    for (const serve_asset *a = serve_assets; a->name; a++)
        if (strcmp(a->name, name) == 0) {
            serve_constant(r, 200, a->type, a->bytes, a->length);
            return;
        }
    serve_error(r, 404,
                "there is nothing here; the page is at / and the API is described at /v1/openapi.json");
}

enum MHD_Result serve_send(request *r)
{
    const char *cors = r->server->options->cors;
    struct MHD_Response *response = r->answer;
    unsigned status = r->status;
    if (!response) return MHD_NO;
    r->answer = NULL;
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Content-Security-Policy", r->server->policy);
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (cors) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", cors);
        MHD_add_response_header(response, "Access-Control-Allow-Headers", "Authorization, Content-Type");
        MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST, DELETE");
    }
    if (r->file && status == 200) MHD_add_response_header(response, "Content-Disposition", "attachment");
    if (status == 401) MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (status == 405) MHD_add_response_header(response, "Allow", r->allow);
    if (status == 503) MHD_add_response_header(response, "Retry-After", "5");
    bool unread = r->received > r->kept; /* once is enough of a body that is not wanted */
    if (r->server->stopping || unread) MHD_add_response_header(response, "Connection", "close");
    r->server->answers[status / 100 % 6]++;
    connection_enter(&r->server->connections, r->from, CONNECTION_ANSWER, r->answer_bytes);
    enum MHD_Result result = MHD_queue_response(r->connection, status, response);
    MHD_destroy_response(response);
    return result;
}
