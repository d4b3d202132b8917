/* Shared by the queue (jobs.c) and one job (job.c). */
#ifndef INVIT_SERVE_JOBS_INTERNAL_H
#define INVIT_SERVE_JOBS_INTERNAL_H

#include "serve/jobs.h"
#include "serve/solve.h"
#include "serve/turns.h"

#include <pthread.h>

/* ---- the queue and its jobs, for jobs.c and job.c ---- */

typedef struct waiter {
    void (*wake)(void *);
    void *user;
    size_t index;
} waiter;

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
    turns turns; /* of clients at the workers */
};

struct job {
    job_pool *pool;
    job *next;
    char id[33];
    int references;
    job_request request;
    job_state state;
    int cancel; /* see job_set_cancel */
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

/* With the pool's lock held. */
bool job_ended_locked(const job *j);
void job_release_locked(job *j);
/* Ends a job: its state, its status as JSON, its last event, and everyone who waits. `result` is the solution as
 * JSON, NULL when there is none; then j->error says why. */
void job_finish_locked(job *j, job_state state, const char *result);
void job_cancel_locked(job *j, const char *why);

/* The solver reads the flag while it runs. */
static inline void job_set_cancel(job *j)
{
    __atomic_store_n(&j->cancel, 1, __ATOMIC_RELAXED);
}

#endif
