#include "serve/jobs.h"
#include "serve/jobs_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

typedef struct waiter {
    void (*wake)(void *);
    void *user;
    size_t index;
} waiter;

struct job_pool {
    const serve_options *options;
    pthread_mutex_t lock; /* guards everything below and the changing parts of every job */
    pthread_cond_t work;
    bool stopping;
    job *jobs; /* all known ones, newest first   */
    int workers;
    pthread_t *thread;
    job_counts counts;
    solve_context *solver;
};

struct job {
    job_pool *pool;
    job *next;
    char id[33];
    int references;
    job_request request;
    job_state state;
    volatile int cancel;
    bool late;
    struct timespec started;
    invit_error error;
    json_t *result;
    invit_solution *solution;
    char **event;
    size_t *event_length, events, event_room, event_bytes;
    waiter *waiters;
    size_t waiting, waiter_room;
};

/* ---- one job ------------------------------------------------------------------------------------------- */

static void job_free(job *j)
{
    invit_instance_destroy(j->request.instance);
    invit_solution_destroy(j->solution);
    if (j->result) json_decref(j->result);
    for (size_t i = 0; i < j->events; i++) free(j->event[i]);
    free(j->event);
    free(j->event_length);
    free(j->waiters);
    free(j);
}

static void release_locked(job *j)
{
    if (--j->references == 0) job_free(j);
}

void job_release(job *j)
{
    if (!j) return;
    pthread_mutex_t *lock = &j->pool->lock;
    pthread_mutex_lock(lock);
    release_locked(j);
    pthread_mutex_unlock(lock);
}

static bool ended(const job *j)
{
    return j->state != JOB_QUEUED && j->state != JOB_RUNNING;
}

/* Wakes everyone who waits for what is there now. Called with the lock held; wake functions must not take it.
 */
static void wake_waiters(job *j)
{
    size_t kept = 0;
    for (size_t i = 0; i < j->waiting; i++) {
        if (j->waiters[i].index < j->events || ended(j))
            j->waiters[i].wake(j->waiters[i].user);
        else
            j->waiters[kept++] = j->waiters[i];
    }
    j->waiting = kept;
}

/* Takes the JSON over. An event that finds no memory is dropped: a viewer misses a frame, the solution is
 * unharmed. */
static void add_event_locked(job *j, const char *name, json_t *data)
{
    /* Decisions are many, and only drawn; lengths are the same here as in every other answer. */
    size_t digits = strcmp(name, "steps") == 0 ? 9 : 17;
    char *body = data ? json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(digits)) : NULL;
    if (data) json_decref(data);
    if (!body) return;
    size_t room = strlen(name) + strlen(body) + 32;
    char *text = malloc(room);
    if (text && j->events == j->event_room) {
        size_t more = j->event_room ? 2 * j->event_room : 64;
        char **event = realloc(j->event, more * sizeof *event);
        if (event) j->event = event;
        size_t *length = event ? realloc(j->event_length, more * sizeof *length) : NULL;
        if (length) {
            j->event_length = length;
            j->event_room = more;
        } else {
            free(text);
            text = NULL;
        }
    }
    if (text) {
        int length = snprintf(text, room, "event: %s\ndata: %s\n\n", name, body);
        j->event[j->events] = text;
        j->event_length[j->events++] = (size_t)length;
        j->event_bytes += (size_t)length;
        wake_waiters(j);
    }
    free(body);
}

void job_add_event(job *j, const char *name, json_t *data)
{
    pthread_mutex_lock(&j->pool->lock);
    add_event_locked(j, name, data);
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

json_t *job_json(job *j)
{
    static const char *const names[] = {"queued", "running", "done", "failed", "cancelled"};
    pthread_mutex_lock(&j->pool->lock);
    json_t *o = json_pack("{s:s, s:s}", "id", j->id, "state", names[j->state]);
    if (o && j->result) json_object_set(o, "solution", j->result);
    if (o && ended(j) && !j->result)
        json_object_set_new(o, "error", json_pack("{s:s}", "message", j->error.message));
    pthread_mutex_unlock(&j->pool->lock);
    return o;
}

const char *job_event(job *j, size_t index, size_t *length, bool *last)
{
    pthread_mutex_lock(&j->pool->lock);
    const char *text = index < j->events ? j->event[index] : NULL;
    if (text) *length = j->event_length[index];
    *last = ended(j) && index + 1 >= j->events;
    pthread_mutex_unlock(&j->pool->lock);
    return text;
}

bool job_wait(job *j, size_t index, void (*wake)(void *), void *user)
{
    bool waits = false;
    pthread_mutex_lock(&j->pool->lock);
    if (index >= j->events && !ended(j)) {
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

void job_unwait(job *j, void *user)
{
    pthread_mutex_lock(&j->pool->lock);
    for (size_t i = 0; i < j->waiting; i++)
        if (j->waiters[i].user == user) j->waiters[i--] = j->waiters[--j->waiting];
    pthread_mutex_unlock(&j->pool->lock);
}

/* Ends a job: its state, its last event, and everyone who waits. */
static void finish_locked(job *j, job_state state)
{
    job_counts *c = &j->pool->counts;
    j->state = state;
    *(state == JOB_DONE ? &c->finished : state == JOB_FAILED ? &c->failed : &c->cancelled) += 1;
    if (j->result)
        add_event_locked(j, "done", json_incref(j->result));
    else
        add_event_locked(j, "failed", json_pack("{s:s}", "message", j->error.message));
    wake_waiters(j);
}

static void cancel_queued_locked(job *j, const char *why)
{
    j->pool->counts.queued--;
    snprintf(j->error.message, sizeof j->error.message, "cancelled while it waited in the queue: %s", why);
    finish_locked(j, JOB_CANCELLED);
}

void job_cancel(job *j)
{
    pthread_mutex_lock(&j->pool->lock);
    if (!ended(j)) j->cancel = 1;
    if (j->state == JOB_QUEUED) cancel_queued_locked(j, "the client asked for it");
    pthread_mutex_unlock(&j->pool->lock);
}

void job_pool_stop_late(job_pool *pool)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_mutex_lock(&pool->lock);
    for (job *j = pool->jobs; j; j = j->next) {
        double ran =
            (double)(now.tv_sec - j->started.tv_sec) + 1e-9 * (double)(now.tv_nsec - j->started.tv_nsec);
        if (j->state != JOB_RUNNING || j->cancel || ran <= j->request.limit) continue;
        j->late = true;
        j->cancel = 1;
    }
    pthread_mutex_unlock(&pool->lock);
}

/* ---- the pool ------------------------------------------------------------------------------------------ */

/* Jobs that ended long ago go, the oldest first, when there are more than are to be kept. */
static void forget_old_locked(job_pool *pool)
{
    int kept = 0;
    for (job **at = &pool->jobs; *at;) {
        job *j = *at;
        if (ended(j) && ++kept > pool->options->keep) {
            *at = j->next;
            release_locked(j);
        } else {
            at = &j->next;
        }
    }
}

static job *oldest_queued_locked(job_pool *pool)
{
    job *oldest = NULL;
    for (job *j = pool->jobs; j; j = j->next)
        if (j->state == JOB_QUEUED) oldest = j;
    return oldest;
}

static void *work(void *p)
{
    job_pool *pool = p;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        job *j = NULL;
        while (!pool->stopping && !(j = oldest_queued_locked(pool)))
            pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->stopping) break;
        j->state = JOB_RUNNING;
        clock_gettime(CLOCK_MONOTONIC, &j->started);
        j->references++;
        pool->counts.queued--;
        pool->counts.running++;
        pthread_mutex_unlock(&pool->lock);

        solve_outcome outcome = solve_job(pool->solver, j);

        pthread_mutex_lock(&pool->lock);
        pool->counts.running--;
        pool->counts.busy_seconds += outcome.seconds;
        j->result = outcome.result;
        j->solution = outcome.solution;
        j->error = outcome.error;
        if (j->late && !j->result)
            snprintf(j->error.message, sizeof j->error.message,
                     "there was no solution within the %g s this server allows", j->request.limit);
        finish_locked(j, j->cancel && !j->late ? JOB_CANCELLED : j->result ? JOB_DONE : JOB_FAILED);
        release_locked(j);
        forget_old_locked(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* A solve runs on the worker itself and wants more stack than some C libraries give a thread (see
 * inv_thread_start in base/parallel.h, which is the library's own). */
static int start_worker(job_pool *pool, pthread_t *thread)
{
    enum { LEAST_STACK = 1 << 20 };
    pthread_attr_t attributes;
    size_t stack;
    int failed = pthread_attr_init(&attributes);
    if (failed) return failed;
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < LEAST_STACK)
        pthread_attr_setstacksize(&attributes, LEAST_STACK);
    failed = pthread_create(thread, &attributes, work, pool);
    pthread_attr_destroy(&attributes);
    return failed;
}

invit_status job_pool_create(const serve_options *o, job_pool **out, invit_error *err)
{
    job_pool *pool = calloc(1, sizeof *pool);
    *out = NULL;
    if (!pool) return INVIT_ERR_MEMORY;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pool->options = o;
    pool->thread = calloc((size_t)o->workers, sizeof *pool->thread);
    invit_status status = solve_context_create(o, &pool->solver, err);
    while (status == INVIT_OK && pool->thread && pool->workers < o->workers) {
        if (start_worker(pool, &pool->thread[pool->workers]) != 0) break;
        pool->workers++;
    }
    if (status == INVIT_OK && pool->workers < o->workers) {
        status = INVIT_ERR_IO;
        if (err) snprintf(err->message, sizeof err->message, "cannot start %d worker threads", o->workers);
    }
    if (status != INVIT_OK)
        job_pool_destroy(pool);
    else
        *out = pool;
    return status;
}

static void cancel_all_locked(job_pool *pool, const char *why)
{
    for (job *j = pool->jobs; j; j = j->next) {
        j->cancel = 1;
        if (j->state == JOB_QUEUED) cancel_queued_locked(j, why);
    }
}

void job_pool_cancel(job_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    cancel_all_locked(pool, "all were cancelled");
    pthread_mutex_unlock(&pool->lock);
}

void job_pool_stop(job_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    cancel_all_locked(pool, "the server stopped");
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->workers; i++) pthread_join(pool->thread[i], NULL);
    pool->workers = 0;
}

void job_pool_destroy(job_pool *pool)
{
    if (!pool) return;
    job_pool_stop(pool);
    while (pool->jobs) {
        job *j = pool->jobs;
        pool->jobs = j->next;
        job_release(j);
    }
    solve_context_destroy(pool->solver);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool->thread);
    free(pool);
}

invit_status job_submit(job_pool *pool, job_request *request, job **out, invit_error *err)
{
    *out = NULL;
    job *j = calloc(1, sizeof *j);
    if (!j) return INVIT_ERR_MEMORY;
    unsigned char bytes[16]; /* ids cannot be guessed: knowing one is the right to read the job */
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
        free(j);
        if (err) snprintf(err->message, sizeof err->message, "the system gave no random numbers");
        return INVIT_ERR_IO;
    }
    for (int i = 0; i < 16; i++) snprintf(j->id + 2 * i, 3, "%02x", bytes[i]);
    j->pool = pool;
    j->references = 2; /* the pool's and the caller's */

    pthread_mutex_lock(&pool->lock);
    bool full = pool->counts.queued >= pool->options->queue || pool->stopping;
    if (full) {
        pool->counts.refused++;
    } else {
        j->request = *request;
        request->instance = NULL;
        j->next = pool->jobs;
        pool->jobs = j;
        pool->counts.queued++;
        pool->counts.submitted++;
        pool->counts.nodes += invit_instance_nodes(j->request.instance);
        pthread_cond_signal(&pool->work);
        forget_old_locked(pool); /* those cancelled while they waited */
    }
    pthread_mutex_unlock(&pool->lock);
    if (full) {
        free(j);
        if (err)
            snprintf(err->message, sizeof err->message, "the queue is full (%d jobs wait); try again later",
                     pool->options->queue);
        return INVIT_ERR_UNSUPPORTED;
    }
    *out = j;
    return INVIT_OK;
}

job *job_find(job_pool *pool, const char *id)
{
    pthread_mutex_lock(&pool->lock);
    job *j = pool->jobs;
    while (j && strcmp(j->id, id) != 0) j = j->next;
    if (j) j->references++;
    pthread_mutex_unlock(&pool->lock);
    return j;
}

void job_pool_counts(job_pool *pool, job_counts *out)
{
    pthread_mutex_lock(&pool->lock);
    *out = pool->counts;
    pthread_mutex_unlock(&pool->lock);
}
