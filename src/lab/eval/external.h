/* Another program as a solver: run on an instance by a command line, its solution read back and checked by our checker. */
#ifndef INVIT_LAB_EVAL_EXTERNAL_H
#define INVIT_LAB_EVAL_EXTERNAL_H

#include "problem/problem.h"

/* "NAME=COMMAND": the shell runs COMMAND with these replaced, each quoted for the shell:
 *     {instance}      a TSPLIB or CVRPLIB file            {solution}  where it writes its .tour or .sol
 *     {seconds}       the time limit                      {core_seconds}  the time limit times the threads
 *     {threads}       {seed} */
typedef struct inv_external {
    char name[48];
    const char *command; /* inside the text that was parsed */
} inv_external;

invit_status inv_external_parse(const char *text, inv_external *x, invit_error *err);

typedef struct inv_external_run {
    const char *file; /* the instance's own file; NULL: it is written for the run */
    double seconds;
    int threads;
    uint64_t seed;
    const invit_control *control; /* its cancel flag ends the program */
} inv_external_run;

typedef struct inv_external_result {
    double length;       /* by our checker, by the instance's rule */
    double length_exact; /* without rounding                       */
    double wall, cpu;    /* seconds; cpu: the program and its children */
} inv_external_result;

/* INVIT_ERR_INPUT with the program's last words when it fails, takes far longer than it was given, or gives no feasible
 * solution; INVIT_ERR_CANCELLED when the caller stops it. */
invit_status inv_external_solve(const inv_external *x, const invit_instance *p, const inv_external_run *run,
                                inv_external_result *result, invit_error *err);

#endif
