/* One job: its events, who waits for them, and how it ends. */
#include "base/clock.h"
#include "base/json_text.h"
#include "serve/jobs_internal.h"
#include "serve/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void job_free(job *j)
{
    budget_give(j->pool->budget, j->bytes);
    job_request_destroy(&j->request);
    invit_solution_destroy(j->solution);
    free(j->status);
    for (size_t i = 0; i < j->events; i++) free(j->event[i]);
    free(j->event);
    free(j->event_length);
    free(j->waiters);
    free(j);
}

void job_release_locked(job *j)
{
    if (--j->references == 0) job_free(j);
}

void job_hold(job *j)
{
    pthread_mutex_lock(&j->pool->lock);
    j->references++;
    pthread_mutex_unlock(&j->pool->lock);
}

void job_release(job *j)
{
    if (!j) return;
    pthread_mutex_t *lock = &j->pool->lock;
    pthread_mutex_lock(lock);
    job_release_locked(j);
    pthread_mutex_unlock(lock);
}

bool job_ended_locked(const job *j)
{
    return j->state != JOB_QUEUED && j->state != JOB_RUNNING;
}

/* Wakes everyone who waits for what is there now. Called with the lock held; wake functions must not take it.
 */
static void wake_waiters(job *j)
{
    size_t kept = 0;
    for (size_t i = 0; i < j->waiting; i++) {
        if (j->waiters[i].index < j->events || job_ended_locked(j))
            j->waiters[i].wake(j->waiters[i].user);
        else
            j->waiters[kept++] = j->waiters[i];
    }
    j->waiting = kept;
}

/* An event as it goes over the wire; NULL: no memory. */
static char *make_event(const char *name, const char *data, size_t *length)
{
    size_t room = strlen(name) + strlen(data) + 32;
    char *text = malloc(room);
    if (text) *length = (size_t)snprintf(text, room, "event: %s\ndata: %s\n\n", name, data);
    return text;
}

/* Takes the text over. An event that finds no memory is dropped: a viewer misses a frame, the solution is unharmed.
 * The last one is told in any case. */
static void add_event_locked(job *j, char *text, size_t length, bool last)
{
    if (text && j->events == j->event_room) {
        size_t more = j->event_room ? 2 * j->event_room : 64;
        char **event = realloc(j->event, more * sizeof *event);
        if (event) j->event = event;
        size_t *lengths = event ? realloc(j->event_length, more * sizeof *lengths) : NULL;
        if (lengths) {
            j->event_length = lengths;
            j->event_room = more;
        }
    }
    if (text && j->events < j->event_room && (last || budget_take(j->pool->budget, (int64_t)length))) {
        if (last) budget_force(j->pool->budget, (int64_t)length);
        j->bytes += (int64_t)length;
        j->event[j->events] = text;
        j->event_length[j->events++] = length;
        j->event_bytes += length;
        wake_waiters(j);
    } else {
        free(text);
    }
}

void job_add_event(job *j, const char *name, json_t *data)
{
    /* Decisions are many, and only drawn; lengths are the same here as in every other answer. */
    size_t digits = strcmp(name, "steps") == 0 ? 9 : 17, length = 0;
    if (data && memory_failed()) { /* something may be missing in it */
        json_decref(data);
        data = NULL;
    }
    char *body = data ? inv_json_text(data, JSON_COMPACT | JSON_REAL_PRECISION(digits)) : NULL;
    char *text = body ? make_event(name, body, &length) : NULL; /* without the lock, which others wait for */
    if (data) json_decref(data);
    free(body);
    pthread_mutex_lock(&j->pool->lock);
    add_event_locked(j, text, length, false);
    pthread_mutex_unlock(&j->pool->lock);
}

size_t job_event_bytes(job *j)
{
    pthread_mutex_lock(&j->pool->lock);
    size_t bytes = j->event_bytes;
    pthread_mutex_unlock(&j->pool->lock);
    return bytes;
}

const job_request *job_get_request(const job *j)
{
    return &j->request;
}
const volatile int *job_cancel_flag(const job *j)
{
    return &j->cancel;
}
const char *job_id(const job *j)
{
    return j->id;
}
const invit_instance *job_instance(const job *j)
{
    return j->request.instance;
}

job_state job_get_state(job *j)
{
    pthread_mutex_lock(&j->pool->lock);
    job_state state = j->state;
    pthread_mutex_unlock(&j->pool->lock);
    return state;
}

bool job_ended(job *j)
{
    job_state state = job_get_state(j);
    return state != JOB_QUEUED && state != JOB_RUNNING;
}

const invit_solution *job_solution(job *j)
{
    return job_ended(j) ? j->solution : NULL;
}

static const char *const state_names[] = {"queued", "running", "done", "failed", "cancelled"};

char *job_status_text(job *j, size_t *length, bool *kept)
{
    pthread_mutex_lock(&j->pool->lock);
    char *text = j->status;
    *length = j->status_length;
    *kept = text != NULL;
    j->abandoned = false; /* someone asks for it */
    if (!text) {
        text = malloc(128);
        if (text)
            *length =
                (size_t)snprintf(text, 128, "{\"id\":\"%s\",\"state\":\"%s\"}", j->id, state_names[j->state]);
    }
    pthread_mutex_unlock(&j->pool->lock);
    return text;
}

const char *job_solution_text(job *j, size_t *length)
{
    pthread_mutex_lock(&j->pool->lock);
    const char *text = j->result_length ? j->status + j->result : NULL;
    *length = j->result_length;
    pthread_mutex_unlock(&j->pool->lock);
    return text;
}

invit_error job_error(job *j)
{
    pthread_mutex_lock(&j->pool->lock);
    invit_error err = j->error;
    pthread_mutex_unlock(&j->pool->lock);
    return err;
}

void job_follow(job *j)
{
    pthread_mutex_lock(&j->pool->lock);
    j->followers++;
    j->abandoned = false;
    pthread_mutex_unlock(&j->pool->lock);
}

void job_unfollow(job *j)
{
    pthread_mutex_lock(&j->pool->lock);
    j->left = inv_now();
    j->abandoned = --j->followers == 0;
    pthread_mutex_unlock(&j->pool->lock);
}

const char *job_event(job *j, size_t index, size_t *length, bool *last)
{
    pthread_mutex_lock(&j->pool->lock);
    const char *text = index < j->events ? j->event[index] : NULL;
    if (text) *length = j->event_length[index];
    *last = job_ended_locked(j) && index + 1 >= j->events;
    pthread_mutex_unlock(&j->pool->lock);
    return text;
}

bool job_wait(job *j, size_t index, void (*wake)(void *), void *user)
{
    bool waits = false;
    pthread_mutex_lock(&j->pool->lock);
    if (index >= j->events && !job_ended_locked(j)) {
        if (j->waiting == j->waiter_room) {
            size_t more = j->waiter_room ? 2 * j->waiter_room : 4;
            waiter *grown = realloc(j->waiters, more * sizeof *grown);
            if (grown) {
                j->waiters = grown;
                j->waiter_room = more;
            }
        }
        if (j->waiting < j->waiter_room) {
            j->waiters[j->waiting++] = (waiter){wake, user, index};
            waits = true;
        }
    }
    pthread_mutex_unlock(&j->pool->lock);
    return waits;
}

bool job_unwait(job *j, void *user)
{
    bool waited = false;
    pthread_mutex_lock(&j->pool->lock);
    for (size_t i = 0; i < j->waiting; i++)
        if (j->waiters[i].user == user) {
            j->waiters[i--] = j->waiters[--j->waiting];
            waited = true;
        }
    pthread_mutex_unlock(&j->pool->lock);
    return waited;
}

void job_finish_locked(job *j, job_state state, const char *result)
{
    job_counts *c = &j->pool->counts;
    json_t *failure = result ? NULL : json_pack("{s:s}", "message", j->error.message);
    char *reason = failure ? inv_json_text(failure, JSON_COMPACT) : NULL;
    const char *detail = result ? result : reason;
    if (!detail) detail = "{\"message\":\"out of memory\"}";
    size_t room = strlen(detail) + 128, length = 0;
    j->state = state;
    j->ended = inv_now();
    c->finished += state == JOB_DONE;
    c->failed += state == JOB_FAILED;
    c->cancelled += state == JOB_CANCELLED;
    j->status = malloc(room);
    if (j->status) {
        j->result = (size_t)snprintf(j->status, room, "{\"id\":\"%s\",\"state\":\"%s\",\"%s\":", j->id,
                                     state_names[state], result ? "solution" : "error");
        j->status_length =
            j->result + (size_t)snprintf(j->status + j->result, room - j->result, "%s}", detail);
        j->result_length = result ? strlen(result) : 0;
        budget_force(j->pool->budget, (int64_t)j->status_length);
        j->bytes += (int64_t)j->status_length;
    }
    char *event = make_event(result ? "done" : "failed", detail, &length);
    add_event_locked(j, event, length, true);
    free(reason);
    json_decref(failure);
    wake_waiters(j);
}

static void cancel_queued_locked(job *j, const char *why)
{
    j->pool->counts.queued--;
    snprintf(j->error.message, sizeof j->error.message, "cancelled while it waited in the queue: %s", why);
    job_finish_locked(j, JOB_CANCELLED, NULL);
}

/* One that waits ends at once, one that runs when the solver notices. */
void job_cancel_locked(job *j, const char *why)
{
    if (!job_ended_locked(j)) job_set_cancel(j);
    if (j->state == JOB_QUEUED) cancel_queued_locked(j, why);
}

void job_cancel(job *j, const char *why)
{
    pthread_mutex_lock(&j->pool->lock);
    job_cancel_locked(j, why);
    pthread_mutex_unlock(&j->pool->lock);
}
