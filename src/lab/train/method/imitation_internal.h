/* What imitation, Q-regret and distillation share: one thread's scratch. Only these three include it. */
#ifndef INVIT_LAB_TRAIN_METHOD_IMITATION_INTERNAL_H
#define INVIT_LAB_TRAIN_METHOD_IMITATION_INTERNAL_H

#include "lab/train/data/demonstration.h"
#include "lab/train/method/group.h"
#include "lab/train/method/imitation.h"
#include "lab/train/method/learner.h"

struct inv_imitation {
    const inv_train_task *task;
    inv_group group;
    inv_learner learner;
    inv_policy *roll, *teacher; /* the model, forward only; the teacher model, or NULL */
    inv_expert *expert;
    inv_demonstration demonstration;
    int32_t *limit;  /* [group] moves of the policy before the expert's     */
    int64_t *record; /* [group] of the label file                           */
    float *target;   /* [candidates] of the state at hand                   */
    float *opinion;  /* [candidates] the teacher model's log-probabilities  */
};

/* Starts walks 0..count-1; then `policy` makes the whole tours, watched at every decision. */
void inv_start_tours(inv_imitation *m, inv_lane *lane, int32_t count);
invit_status inv_roll_tours(inv_imitation *m, inv_lane *lane, int32_t count, inv_policy *policy,
                            const inv_watcher *watcher, invit_error *err);
/* The policy makes the tours of walks 0..count-1 itself, and the expert compares its open choices. */
invit_status inv_q_regret_tours(inv_imitation *m, inv_lane *lane, int32_t count, invit_error *err);
/* Tours of walks 0..count-1 by the teacher model or the policy; the teacher's probabilities go to the buffer. */
invit_status inv_distill_tours(inv_imitation *m, inv_lane *lane, int32_t count, invit_error *err);

#endif
