/* A job's events as server-sent events: the connection sleeps while there is nothing to tell. */
#include "serve/calls.h"

#include <stdlib.h>
#include <string.h>

typedef struct stream {
    struct MHD_Connection *connection;
    job *job;
    size_t index, offset;
} stream;

static void wake(void *user)
{
    MHD_resume_connection(((stream *)user)->connection);
}

static ssize_t read_events(void *user, uint64_t position, char *buffer, size_t room)
{
    stream *s = user;
    (void)position;
    size_t length, filled = 0;
    bool last = false;
    const char *text;
    while (filled < room && (text = job_event(s->job, s->index, &length, &last))) {
        size_t part = length - s->offset < room - filled ? length - s->offset : room - filled;
        memcpy(buffer + filled, text + s->offset, part);
        filled += part;
        s->offset += part;
        if (s->offset == length) {
            s->index++;
            s->offset = 0;
        }
    }
    if (filled) return (ssize_t)filled;
    if (last) return MHD_CONTENT_READER_END_OF_STREAM;
    MHD_suspend_connection(s->connection);
    if (!job_wait(s->job, s->index, wake, s)) MHD_resume_connection(s->connection);
    return 0;
}

static void end_stream(void *user)
{
    stream *s = user;
    job_unwait(s->job, s);
    job_release(s->job);
    free(s);
}

enum MHD_Result call_events(request *r)
{
    job *j = job_find(r->server->pool, r->id);
    if (!j) return serve_error(r, 404, "there is no such job; finished jobs are forgotten after a while");
    stream *s = calloc(1, sizeof *s);
    if (!s) {
        job_release(j);
        return MHD_NO;
    }
    *s = (stream){.connection = r->connection, .job = j};
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 32768, read_events, s, end_stream);
    if (!response) {
        end_stream(s);
        return MHD_NO;
    }
    return serve_queue(r, 200, "text/event-stream", response);
}
