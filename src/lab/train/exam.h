/* An exam: greedy rollouts on a fixed list of instances, shared by all workers and ranks. */
#ifndef INVIT_LAB_TRAIN_EXAM_H
#define INVIT_LAB_TRAIN_EXAM_H

#include "lab/train/trainer.h"

typedef enum inv_examinee { INV_BY_MODEL, INV_BY_FROZEN, INV_BY_JUDGED } inv_examinee;

typedef struct inv_exam {
    int32_t count;
    invit_instance **instance; /* [count], owned                                       */
    double *single;            /* [count] length of the first copy's rollout           */
    double *best;              /* [count] shortest over the copies                     */
    /* while it is taken */
    inv_examinee by;
    int32_t copies, at_once; /* instances a worker takes together                    */
    uint64_t seed;
} inv_exam;

invit_status inv_exam_create(int32_t count, inv_exam **out, invit_error *err);
void inv_exam_destroy(inv_exam *e);
/* `copies` rollouts of each instance: copy 0 as it is, the others rotated and reflected; random start nodes.
 * Results do not depend on threads or ranks. */
invit_status inv_exam_take(inv_trainer *t, inv_exam *e, inv_examinee by, int32_t copies, uint64_t seed,
                           invit_error *err);

#endif
