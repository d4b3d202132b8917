#include "base/clock.h"
#include "base/parallel.h"
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

/* When a client last got a worker, by the pool's count of starts. */
typedef struct turn {
    uint64_t client;
    int64_t last;
} turn;

enum {
    CLIENTS = 64,   /* whose turns are remembered                                 */
    PATIENCE = 5,   /* seconds after which a job that all have left makes room    */
    PER_NODE = 160, /* bytes of an instance and its result, about                 */
};

struct job_pool {
    const serve_options *options;
    budget *budget;
    pthread_mutex_t lock; /* guards everything below and the changing parts of every job */
    pthread_cond_t work;
    bool stopping;
    job *jobs; /* all known ones, newest first   */
    int workers;
    pthread_t *thread;
    job_counts counts;
    solve_context *solver;
    turn turns[CLIENTS];
    int64_t starts;
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
    int followers;
    bool abandoned; /* it was followed, and all have left */
    double started, left, ended;
    int64_t bytes; /* taken of the budget */
    invit_error error;
    char *status; /* the answer about a job that has ended, and the solution within it */
    size_t status_length, result, result_length;
    invit_solution *solution;
    char **event;
    size_t *event_length, events, event_room, event_bytes;
    waiter *waiters;
    size_t waiting, waiter_room;
};

/* ---- one job ------------------------------------------------------------------------------------------- */

static void job_free(job *j)
{
    budget_give(j->pool->budget, j->bytes);
    invit_instance_destroy(j->request.instance);
    plan_destroy(&j->request.plan);
    invit_solution_destroy(j->solution);
    free(j->status);
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
    char *body = data ? json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(digits)) : NULL;
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

/* Ends a job: its state, its status as JSON, its last event, and everyone who waits. `result` is the solution as
 * JSON, NULL when there is none; then j->error says why. */
static void finish_locked(job *j, job_state state, const char *result)
{
    job_counts *c = &j->pool->counts;
    json_t *failure = result ? NULL : json_pack("{s:s}", "message", j->error.message);
    char *reason = failure ? json_dumps(failure, JSON_COMPACT) : NULL;
    const char *detail = result ? result : reason ? reason : "{\"message\":\"out of memory\"}";
    size_t room = strlen(detail) + 128, length = 0;
    j->state = state;
    j->ended = inv_now();
    *(state == JOB_DONE ? &c->finished : state == JOB_FAILED ? &c->failed : &c->cancelled) += 1;
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
    finish_locked(j, JOB_CANCELLED, NULL);
}

void job_cancel(job *j, const char *why)
{
    pthread_mutex_lock(&j->pool->lock);
    if (!ended(j)) j->cancel = 1;
    if (j->state == JOB_QUEUED) cancel_queued_locked(j, why);
    pthread_mutex_unlock(&j->pool->lock);
}

/* ---- the pool ------------------------------------------------------------------------------------------ */

static void forget_locked(job **at)
{
    job *j = *at;
    *at = j->next;
    release_locked(j);
}

/* Jobs that ended long ago go, and the oldest ones when there are more than are to be kept. */
static void forget_old_locked(job_pool *pool)
{
    int kept = 0;
    double since = inv_now() - pool->options->keep_time;
    for (job **at = &pool->jobs; *at;) {
        if (ended(*at) && ((*at)->ended < since || ++kept > pool->options->keep))
            forget_locked(at);
        else
            at = &(*at)->next;
    }
}

bool job_pool_forget_oldest(job_pool *pool)
{
    job **oldest = NULL;
    pthread_mutex_lock(&pool->lock);
    for (job **at = &pool->jobs; *at; at = &(*at)->next)
        if (ended(*at) && (!oldest || (*at)->ended < (*oldest)->ended)) oldest = at;
    if (oldest) forget_locked(oldest);
    pthread_mutex_unlock(&pool->lock);
    return oldest != NULL;
}

/* ---- whose turn it is ---------------------------------------------------------------------------------- */

static turn *turn_of(job_pool *pool, uint64_t client)
{
    turn *oldest = &pool->turns[0];
    for (int i = 0; i < CLIENTS; i++) {
        if (pool->turns[i].last && pool->turns[i].client == client) return &pool->turns[i];
        if (pool->turns[i].last < oldest->last) oldest = &pool->turns[i];
    }
    *oldest = (turn){.client = client};
    return oldest;
}

/* A job that somebody waits for, of the client whose last turn is longest ago, the oldest of these. */
static job *next_locked(job_pool *pool)
{
    job *best = NULL;
    for (job *j = pool->jobs; j; j = j->next) { /* newest first: of equals the last one found is the oldest */
        if (j->state != JOB_QUEUED) continue;
        if (best && j->abandoned && !best->abandoned) continue;
        if (!best || (best->abandoned && !j->abandoned) ||
            turn_of(pool, j->request.client)->last <= turn_of(pool, best->request.client)->last)
            best = j;
    }
    return best;
}

static bool somebody_waits_locked(const job_pool *pool)
{
    for (const job *j = pool->jobs; j; j = j->next)
        if (j->state == JOB_QUEUED && !j->abandoned) return true;
    return false;
}

void job_pool_look_after(job_pool *pool)
{
    double t = inv_now();
    pthread_mutex_lock(&pool->lock);
    bool waited_for = somebody_waits_locked(pool);
    for (job *j = pool->jobs; j; j = j->next) {
        if (j->state != JOB_RUNNING || j->cancel) continue;
        j->late = t - j->started > j->request.limit;
        if (j->late || (waited_for && j->abandoned && t - j->left > PATIENCE)) j->cancel = 1;
    }
    forget_old_locked(pool);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- workers ------------------------------------------------------------------------------------------- */

static void *work(void *p)
{
    job_pool *pool = p;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        job *j = NULL;
        while (!(j = next_locked(pool)) && !pool->stopping) pthread_cond_wait(&pool->work, &pool->lock);
        if (!j) break;
        j->state = JOB_RUNNING;
        j->started = inv_now();
        j->references++;
        turn_of(pool, j->request.client)->last = ++pool->starts;
        pool->counts.queued--;
        pool->counts.running++;
        pthread_mutex_unlock(&pool->lock);

        solve_outcome outcome = solve_job(pool->solver, j);
        char *result =
            outcome.result ? json_dumps(outcome.result, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
        json_decref(outcome.result);

        pthread_mutex_lock(&pool->lock);
        pool->counts.running--;
        pool->counts.busy_seconds += outcome.seconds;
        j->solution = outcome.solution;
        j->error = outcome.error;
        if (j->late && !result)
            snprintf(j->error.message, sizeof j->error.message,
                     "there was no solution within the %g s this server allows", j->request.limit);
        finish_locked(j, j->cancel && !j->late ? JOB_CANCELLED : result ? JOB_DONE : JOB_FAILED, result);
        free(result);
        release_locked(j);
        forget_old_locked(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

invit_status job_pool_create(const serve_options *o, budget *b, job_pool **out, invit_error *err)
{
    job_pool *pool = calloc(1, sizeof *pool);
    *out = NULL;
    if (!pool) return INVIT_ERR_MEMORY;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pool->options = o;
    pool->budget = b;
    pool->thread = calloc((size_t)o->workers, sizeof *pool->thread);
    invit_status status = solve_context_create(o, &pool->solver, err);
    while (status == INVIT_OK && pool->thread && pool->workers < o->workers) {
        if (inv_thread_start(&pool->thread[pool->workers], work, pool) != 0) break;
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

void job_pool_stop_taking(job_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    cancel_all_locked(pool, "the server stopped");
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

void job_pool_destroy(job_pool *pool)
{
    if (!pool) return;
    job_pool_stop_taking(pool);
    for (int i = 0; i < pool->workers; i++) pthread_join(pool->thread[i], NULL);
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

static bool make_id(char id[33])
{
    unsigned char bytes[16]; /* cannot be guessed: knowing one is the right to read the job */
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return false;
    for (int i = 0; i < 16; i++) snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* NULL, or why the queue takes no job of this client. One client may have three quarters of it. */
static const char *full_locked(const job_pool *pool, uint64_t client)
{
    int share = (3 * pool->options->queue + 3) / 4, own = 0;
    if (pool->stopping) return "the server is stopping";
    if (pool->counts.queued >= pool->options->queue) return "the queue is full; try again later";
    for (const job *j = pool->jobs; j; j = j->next)
        own += j->state == JOB_QUEUED && j->request.client == client;
    return own < share ? NULL : "your share of the queue is full; try again later";
}

invit_status job_submit(job_pool *pool, job_request *request, job **out, invit_error *err)
{
    *out = NULL;
    job *j = calloc(1, sizeof *j);
    if (!j) return INVIT_ERR_MEMORY;
    if (!make_id(j->id)) {
        free(j);
        if (err) snprintf(err->message, sizeof err->message, "the system gave no random numbers");
        return INVIT_ERR_IO;
    }
    int64_t bytes = PER_NODE * invit_instance_nodes(request->instance);
    bool room = budget_take(pool->budget, bytes);
    while (!room && job_pool_forget_oldest(pool)) room = budget_take(pool->budget, bytes);
    j->pool = pool;
    j->references = 2; /* the pool's and the caller's */

    pthread_mutex_lock(&pool->lock);
    const char *full = room ? full_locked(pool, request->client)
                            : "the server's memory is taken by other jobs; try again later";
    if (full) {
        pool->counts.refused++;
    } else {
        j->bytes = bytes;
        j->request = *request;
        request->instance = NULL;
        request->plan = (plan){0};
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
        if (room) budget_give(pool->budget, bytes);
        free(j);
        if (err) snprintf(err->message, sizeof err->message, "%s", full);
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
