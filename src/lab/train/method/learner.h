/* Forward and backward over states of a replay buffer: what all methods share. */
#ifndef INVIT_LAB_TRAIN_METHOD_LEARNER_H
#define INVIT_LAB_TRAIN_METHOD_LEARNER_H

#include "lab/train/method/lane.h"

/* One thread's activations. */
typedef struct inv_learner {
    inv_policy *policy;
    float *logp, *dlogit; /* [chunk][candidates] */
} inv_learner;

invit_status inv_learner_init(inv_learner *l, const inv_train_task *task, invit_error *err);
void inv_learner_destroy(inv_learner *l);

/* The method's loss: from the log-probabilities of an entry of the buffer (which it may change) to the derivative
 * with respect to the logits, and to the tally. */
typedef void inv_loss(void *context, int32_t entry, float *logp, float *dlogit);

/* The gradient over entries from..from+count-1 of the lane's buffer, into lane->grad. */
invit_status inv_learn(inv_learner *l, const inv_train_task *task, inv_lane *lane, int32_t from,
                       int32_t count, inv_loss *loss, void *context, invit_error *err);

#endif
