/* Rollouts: many solutions of one instance constructed by the policy, the shortest kept.
 *
 * Every rollout has its own start node, frame and random stream, all fixed by the seed and the rollout's
 * number; the policy's numbers for a state do not depend on the batch. So the result is the same for any
 * number of threads.
 */
#ifndef INVIT_SOLVE_ROLLOUT_H
#define INVIT_SOLVE_ROLLOUT_H

#include "policy/roller.h"
#include "solve/options.h"

typedef struct inv_rollout_options {
    int32_t rollouts;
    inv_decode decode;
    double temperature; /* sampling: log-probabilities are divided by it                           */
    int32_t greedy;     /* sampling: so many rollouts are greedy all the same, the first ones      */
    int32_t beam;       /* beam search: width                                                      */
    uint64_t seed;
    int threads;     /* resolved, >= 1                                                          */
    int32_t batch;   /* rollouts a thread advances together; <= 0: chosen                       */
    double deadline; /* inv_now() by which construction should end; INFINITY: no limit          */
    double grace;    /* a rollout nearly complete may take so much longer, as a share of its time */
    const invit_control *control; /* may be NULL                                                   */
    invit_step_fn step; /* may be NULL; called for every decision of rollout 0                     */
    void *step_user;
} inv_rollout_options;

typedef struct inv_rollout_stats {
    int32_t rollouts;    /* completed                                                              */
    int64_t decisions;   /* states the policy was asked about                                      */
    double view_seconds; /* finding neighbours, summed over threads                                */
    double length;       /* of the best, by the instance's rule                                    */
    double mean_length;  /* over the completed                                                     */
} inv_rollout_stats;

/* Sets decode, temperature and greedy to what suits the other options, the instance and the model: greedy
 * rollouts as far as they differ from one another, the others sampled. */
void inv_choose_decoding(const invit_instance *p, const inv_config *c, inv_rollout_options *o);

/* Leaves the best rollout in *out. When the deadline or a cancel comes before any rollout is complete, *out
 * is NULL and the status INVIT_OK: the caller knows what to do instead. Rollouts that cannot end by the
 * deadline at the measured pace are given up early, the last ones first. */
invit_status inv_rollout(const invit_instance *p, const inv_index *x, const inv_config *config,
                         const inv_prepared *weights, const inv_rollout_options *o, invit_solution **out,
                         inv_rollout_stats *stats, invit_error *err);

#endif
