/* A job's events as server-sent events: the connection sleeps while there is nothing to tell. */
#include "serve/calls.h"

#include <stdlib.h>
#include <string.h>

typedef struct stream {
    struct MHD_Connection *connection;
    job *job;
    size_t index, offset;
    connections *connections;
    connection *from;
    bool slept; /* it was suspended since it was last asked for more */
    _Atomic bool left;
} stream;

static void wake(void *user)
{
    MHD_resume_connection(((stream *)user)->connection);
}

/* The client has hung up while the connection slept. */
static void leave(void *user)
{
    stream *s = user;
    s->left = true;
    if (job_unwait(s->job, s)) MHD_resume_connection(s->connection);
}

static ssize_t read_events(void *user, uint64_t position, char *buffer, size_t room)
{
    stream *s = user;
    (void)position;
    size_t length, filled = 0;
    bool last = false;
    const char *text;
    if (s->slept) serve_suspended(s->connection, s->connections->options);
    s->slept = false;
    if (s->left) return MHD_CONTENT_READER_END_WITH_ERROR;
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
    if (filled) {
        connection_enter(s->connections, s->from, CONNECTION_ANSWER, -1);
        return (ssize_t)filled;
    }
    if (last) return MHD_CONTENT_READER_END_OF_STREAM;
    s->slept = true;
    serve_suspend(s->connection);
    if (job_wait(s->job, s->index, wake, s))
        connection_wait(s->connections, s->from, leave, s);
    else
        MHD_resume_connection(s->connection);
    return 0;
}

void stream_end(stream *s)
{
    job_unwait(s->job, s);
    job_unfollow(s->job);
    job_release(s->job);
    free(s);
}

void call_events(request *r)
{
    job *j = job_find(r->server->pool, r->id);
    if (!j) {
        serve_error(r, 404, "there is no such job; finished jobs are forgotten after a while");
        return;
    }
    stream *s = r->stream = calloc(1, sizeof *s);
    if (!s) {
        job_release(j);
        return;
    }
    *s = (stream){
        .connection = r->connection, .job = j, .connections = &r->server->connections, .from = r->from};
    job_follow(j);
    serve_stream(r, "text/event-stream",
                 MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 32768, read_events, s, NULL));
}
