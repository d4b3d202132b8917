/* Solving one job. What it needs of the job are the functions below: the server's jobs (job.c) and the browser's
 * (src/web/web.c) each have their own. */
#ifndef INVIT_SERVE_SOLVE_H
#define INVIT_SERVE_SOLVE_H

#include "serve/requests.h"
#include "serve/serve.h"

typedef struct job job;
typedef struct solve_context solve_context; /* models, loaded once */

typedef struct solve_outcome {
    json_t *result; /* NULL when there is no solution; then `error` says why */
    invit_solution *solution;
    invit_error error;
    double seconds;
} solve_outcome;

invit_status solve_context_create(const serve_options *o, solve_context **out, invit_error *err);
void solve_context_destroy(solve_context *c);
solve_outcome solve_job(const solve_context *c, job *j);

/* ---- the job ---- */

const char *job_id(const job *j);
const job_request *job_get_request(const job *j);
const invit_instance *job_instance(const job *j);
const volatile int *job_cancel_flag(const job *j);
/* Appends an event; takes `data` over. */
void job_add_event(job *j, const char *name, json_t *data);
size_t job_event_bytes(job *j);

#endif
