/* Jobs: one instance to solve, its progress as a list of ready-made events, and its checked result. */
#ifndef INVIT_SERVE_JOBS_H
#define INVIT_SERVE_JOBS_H

#include "serve/budget.h"
#include "serve/requests.h"
#include "serve/serve.h"

#include <jansson.h>

typedef enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED } job_state;

typedef struct job job;
typedef struct job_pool job_pool;

typedef struct job_counts {
    int64_t submitted, refused, finished, failed, cancelled, nodes;
    int queued, running;
    double busy_seconds;
} job_counts;

invit_status job_pool_create(const serve_options *o, budget *b, job_pool **out, invit_error *err);
/* Cancels every job and goes on; the fuzzer ends an input with it. */
void job_pool_cancel(job_pool *pool);
/* Takes no more jobs and cancels those there are; they end with what they have. */
void job_pool_stop_taking(job_pool *pool);
void job_pool_destroy(job_pool *pool); /* waits until every job has ended */

/* Puts a job into the queue, with one reference for the caller; INVIT_ERR_UNSUPPORTED when the queue is full, for
 * all or for this client, or the budget has no room for the job. */
invit_status job_submit(job_pool *pool, job_request *request, job **out, invit_error *err);
/* The job of that id with one more reference, or NULL. */
job *job_find(job_pool *pool, const char *id);
void job_hold(job *j); /* one more reference */
void job_release(job *j);
void job_cancel(job *j, const char *why);
/* Someone follows the job's events, or does so no more. A job that all have left comes after those that somebody
 * waits for, and makes room for them. */
void job_follow(job *j);
void job_unfollow(job *j);

const char *job_id(const job *j);
job_state job_get_state(job *j);
bool job_ended(job *j);
/* The whole status as JSON: id, state, and when done the solution or the error. *kept: it belongs to the job and lives
 * as long as the reference; otherwise to be freed. NULL: no memory. */
char *job_status_text(job *j, size_t *length, bool *kept);
/* The solution as JSON, NULL when there is none; lives as long as the reference. */
const char *job_solution_text(job *j, size_t *length);
invit_error job_error(job *j);
/* The finished solution and its instance, NULL before; valid as long as the reference. */
const invit_instance *job_instance(const job *j);
const invit_solution *job_solution(job *j);

/* Events: text in the form of server-sent events. Returns event number `index` (owned by the job) or NULL if
 * it does not exist yet; *last tells whether no event will follow it. */
const char *job_event(job *j, size_t index, size_t *length, bool *last);
/* wake(user) is called, once, when there is an event `index` or the job has ended; false if that is so
 * already. */
bool job_wait(job *j, size_t index, void (*wake)(void *user), void *user);
bool job_unwait(job *j, void *user); /* false: it did not wait, or has been woken */

/* Stops jobs that have run for longer than they may or that all have left, and forgets old ones; to be called a few
 * times a second. */
void job_pool_look_after(job_pool *pool);
/* Forgets the finished job that ended first; false when there is none. */
bool job_pool_forget_oldest(job_pool *pool);
void job_pool_counts(job_pool *pool, job_counts *out);

#endif
