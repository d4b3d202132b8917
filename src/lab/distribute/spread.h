/* One solve by all ranks. Rank 0 has the instance and the best solution; in rounds it sends every rank a job, does
 * one itself, and puts the results together. */
#ifndef INVIT_LAB_DISTRIBUTE_SPREAD_H
#define INVIT_LAB_DISTRIBUTE_SPREAD_H

#include "lab/distribute/job.h"

typedef struct inv_spread {
    inv_comm *comm;
    int ranks;
    const invit_instance *p;
    const invit_model *model;
    inv_solve_options o; /* threads already resolved                                        */
    double began, deadline;
    invit_solution *best; /* NULL before the first round of a solve without a start          */
    double length;        /* of it                                                           */
    int construct;        /* an invit_construct: how it began                                */
    double constructed, seconds_construct;
    int64_t iterations;
    int64_t bytes; /* sent and received                                                      */
    int32_t rounds;
    bool lost;             /* a rank did not answer: it is not asked again                   */
    invit_control control; /* for the own job: progress of it becomes progress of the whole  */
    double own_first;      /* what the own job's length was at first; NAN: not known yet      */
} inv_spread;

/* Fills in the job of a rank; the job owns what it points to. */
typedef invit_status (*inv_make_job)(void *context, int rank, inv_job *job, invit_error *err);

/* True when time, iterations, target or the caller say so, or a rank was lost. */
bool inv_spread_over(const inv_spread *s);
/* One round: results[rank] of all ranks. The solution of a rank that was lost is NULL. `meanwhile`, which may be
 * NULL, is called when the others have their jobs. */
invit_status inv_spread_round(inv_spread *s, inv_make_job make,
                              invit_status (*meanwhile)(void *context, invit_error *err), void *context,
                              inv_job_result *results, invit_error *err);
void inv_spread_clear(inv_job_result *results, int ranks);

/* Pieces of a tour by space, and groups of neighbouring routes, improved by the ranks and put together again. */
invit_status inv_spread_tour(inv_spread *s, invit_error *err);
invit_status inv_spread_routes(inv_spread *s, invit_error *err);
/* Every rank works on the whole, with a seed of its own; after each round those far behind go on from the best. */
invit_status inv_spread_islands(inv_spread *s, invit_error *err);

/* For round `round` of `rounds`, counted from 0: until when it lasts, and how many steps each rank makes. */
double inv_spread_until(const inv_spread *s, int round, int rounds);
int64_t inv_spread_steps(const inv_spread *s, int round, int rounds);
/* The seed of a rank's job in a round; no two jobs of a solve have the same. */
uint64_t inv_spread_seed(const inv_spread *s, int round, int rank);

#endif
