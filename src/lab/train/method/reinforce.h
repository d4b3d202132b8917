/* REINFORCE as published: sampled rollouts of the model against greedy rollouts of a frozen one (or the mean of its
 * own) on the same augmented instances; loss = mean of advantage * log p(tour). */
#ifndef INVIT_LAB_TRAIN_METHOD_REINFORCE_H
#define INVIT_LAB_TRAIN_METHOD_REINFORCE_H

#include "lab/train/method/lane.h"

typedef struct inv_reinforce inv_reinforce; /* one thread's scratch */

invit_status inv_reinforce_create(const inv_train_task *task, inv_reinforce **out, invit_error *err);
void inv_reinforce_destroy(inv_reinforce *m);
/* One lane's part of a step: rollouts, then the gradient over the decisions sampled in them. */
invit_status inv_reinforce_step(inv_reinforce *m, inv_lane *lane, invit_error *err);
/* The gradient from the same decisions once more, after an update. */
invit_status inv_reinforce_again(inv_reinforce *m, inv_lane *lane, invit_error *err);

#endif
