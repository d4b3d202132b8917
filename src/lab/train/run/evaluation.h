/* Greedy rollouts on a fixed list of instances, shared by all workers and ranks: for validation, and for REINFORCE's
 * comparison of the model with its baseline. */
#ifndef INVIT_LAB_TRAIN_RUN_EVALUATION_H
#define INVIT_LAB_TRAIN_RUN_EVALUATION_H

#include "lab/train/run/trainer.h"

/* One thread's scratch. */
typedef struct inv_evaluator inv_evaluator;
invit_status inv_evaluator_create(const inv_train_task *task, const inv_prepared *judged, inv_evaluator **out,
                                  invit_error *err);
void inv_evaluator_destroy(inv_evaluator *e);

typedef enum inv_evaluated { INV_OF_MODEL, INV_OF_BASELINE, INV_OF_JUDGED, INV_EVALUATED } inv_evaluated;

typedef struct inv_evaluation {
    int32_t count;
    invit_instance **instance; /* [count], owned                                       */
    double *single;            /* [count] length of the first copy's rollout           */
    double *best;              /* [count] shortest over the copies                     */
    /* while it runs */
    inv_trainer *t;
    inv_evaluated of;
    int32_t copies, at_once; /* instances a worker takes together                    */
    uint64_t seed;
} inv_evaluation;

invit_status inv_evaluation_create(int32_t count, inv_evaluation **out, invit_error *err);
void inv_evaluation_destroy(inv_evaluation *e);
/* `copies` rollouts of each instance: copy 0 as it is, the others rotated and reflected; random start nodes.
 * Results do not depend on threads or ranks. */
invit_status inv_evaluation_run(inv_trainer *t, inv_evaluation *e, inv_evaluated of, int32_t copies,
                                uint64_t seed, invit_error *err);

#endif
