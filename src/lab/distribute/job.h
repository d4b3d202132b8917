/* What ranks send each other: a job (an instance, perhaps with a solution to improve) and its result. Ranks run
 * the same program, so numbers travel as they are in memory. */
#ifndef INVIT_LAB_DISTRIBUTE_JOB_H
#define INVIT_LAB_DISTRIBUTE_JOB_H

#include "lab/comm/comm.h"
#include "problem/problem.h"
#include "solve/options.h"

typedef enum inv_job_kind {
    INV_JOB_END = 0, /* there is nothing more to do                                       */
    INV_JOB_NOTHING, /* in this round                                                     */
    INV_JOB_SOLVE,   /* construct, unless there is a solution, and improve                */
    INV_JOB_IMPROVE  /* improve the solution only, and keep the fixed edges               */
} inv_job_kind;

typedef struct inv_job {
    int kind;
    double seconds;     /* from the moment it arrives; INFINITY: no limit */
    int64_t iterations; /* < 0: no limit                                  */
    uint64_t seed;
    int construct;         /* an invit_construct                        */
    invit_instance *p;     /* NULL: nothing to do                       */
    bool borrowed;         /* p is not the job's                        */
    bool refine;           /* start is a search's, as in inv_improve_options */
    invit_solution *start; /* NULL: none                                */
    int32_t *fixed;        /* [n] as in inv_improve_options, or NULL     */
} inv_job;

typedef struct inv_job_result {
    invit_status status;
    double length; /* by the instance's rule */
    int64_t iterations;
    int construct; /* of a solve: an invit_construct, and the length before improvement */
    double constructed;
    invit_solution *solution; /* NULL when it failed */
} inv_job_result;

/* Frees what the job owns. */
void inv_job_clear(inv_job *job);

/* The bytes that were sent are added to *bytes, which may be NULL. */
invit_status inv_job_send(inv_comm *c, int to, const inv_job *job, int64_t *bytes, invit_error *err);
/* Waits for one, without using the processor. */
invit_status inv_job_receive(inv_comm *c, int from, inv_job *job, invit_error *err);
invit_status inv_job_answer(inv_comm *c, const inv_job_result *result, invit_error *err);
invit_status inv_job_take(inv_comm *c, int from, inv_job_result *result, int64_t *bytes, invit_error *err);

/* Does the job with these threads; stops when the flag is set, and then with the best so far. */
void inv_job_do(const inv_job *job, int threads, const invit_model *model, const invit_control *control,
                inv_job_result *result);

#endif
