/* The bounded queue, whose turn it is, and the workers that solve. */
#include "base/cancel.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/parallel.h"
#include "serve/jobs.h"
#include "serve/jobs_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum {
    PATIENCE = 5,   /* seconds after which a job that all have left makes room    */
    PER_NODE = 160, /* bytes of an instance and its result, about                 */
};

static void forget_locked(job **at)
{
    job *j = *at;
    *at = j->next;
    job_release_locked(j);
}

/* Jobs that ended long ago go, and the oldest ones when there are more than are to be kept. */
static void forget_old_locked(job_pool *pool)
{
    int kept = 0;
    double since = inv_now() - pool->options->keep_time;
    for (job **at = &pool->jobs; *at;) {
        if (job_ended_locked(*at) && ((*at)->ended < since || ++kept > pool->options->keep))
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
        if (job_ended_locked(*at) && (!oldest || (*at)->ended < (*oldest)->ended)) oldest = at;
    if (oldest) forget_locked(oldest);
    pthread_mutex_unlock(&pool->lock);
    return oldest != NULL;
}

/* ---- whose turn it is ---------------------------------------------------------------------------------- */

/* A job that somebody waits for, of the client whose last turn is longest ago, the oldest of these. */
static job *next_locked(job_pool *pool)
{
    job *best = NULL;
    for (job *j = pool->jobs; j; j = j->next) { /* newest first: of equals the last one found is the oldest */
        if (j->state != JOB_QUEUED) continue;
        if (best && j->abandoned && !best->abandoned) continue;
        if (!best || (best->abandoned && !j->abandoned) ||
            turns_last(&pool->turns, j->request.client) <= turns_last(&pool->turns, best->request.client))
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
        if (j->state != JOB_RUNNING || inv_flag_set(&j->cancel)) continue;
        j->late = t - j->started > j->request.limit;
        if (j->late || (waited_for && j->abandoned && t - j->left > PATIENCE)) job_set_cancel(j);
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
        turns_take(&pool->turns, j->request.client);
        pool->counts.queued--;
        pool->counts.running++;
        pthread_mutex_unlock(&pool->lock);

        solve_outcome outcome = solve_job(pool->solver, j);
        char *result =
            outcome.result ? inv_json_text(outcome.result, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
        if (outcome.result && !result)
            outcome.error = (invit_error){.code = INVIT_ERR_MEMORY, .message = "out of memory"};
        json_decref(outcome.result);

        pthread_mutex_lock(&pool->lock);
        pool->counts.running--;
        pool->counts.busy_seconds += outcome.seconds;
        j->solution = outcome.solution;
        j->error = outcome.error;
        if (j->late && !result)
            snprintf(j->error.message, sizeof j->error.message,
                     "there was no solution within the %g s this server allows", j->request.limit);
        job_finish_locked(j,
                          inv_flag_set(&j->cancel) && !j->late ? JOB_CANCELLED
                          : result                             ? JOB_DONE
                                                               : JOB_FAILED,
                          result);
        free(result);
        job_release_locked(j);
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
    for (job *j = pool->jobs; j; j = j->next) job_cancel_locked(j, why);
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

/* Of a job that waits, runs or is kept. */
static int64_t bytes_of(const invit_instance *p)
{
    int64_t n = invit_instance_nodes(p), matrices = 0;
    matrices += invit_instance_array(p, "distances") != NULL;
    matrices += invit_instance_array(p, "durations") != NULL;
    return n * (PER_NODE + matrices * n * (int64_t)sizeof(double)) +
           (int64_t)invit_instance_get(p, "text_bytes");
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
    int64_t bytes = bytes_of(request->instance);
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
        *request = (job_request){0};
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
