/* Imitation: cross-entropy with the expert's choices on labelled states; or, for a share of them, the expected
 * Q-regret; or cross-entropy with a teacher model's probabilities (distillation). */
#ifndef INVIT_LAB_TRAIN_METHOD_IMITATION_H
#define INVIT_LAB_TRAIN_METHOD_IMITATION_H

#include "lab/train/method/lane.h"

typedef struct inv_imitation inv_imitation; /* one thread's scratch */

invit_status inv_imitation_create(const inv_train_task *task, inv_imitation **out, invit_error *err);
void inv_imitation_destroy(inv_imitation *m);

/* A lane's buffer runs low; and, when any does, the lanes that get demonstrations in this step: all that are not
 * well stocked, so that every thread labels at the same time instead of one while the others wait. */
bool inv_imitation_runs_low(const inv_train_task *task, const inv_lane *lane);
bool inv_imitation_refills(const inv_train_task *task, const inv_lane *lane);
/* One lane's part of a step: fills lane->grad and lane->tally. `refill`: some lane runs low. */
invit_status inv_imitation_step(inv_imitation *m, inv_lane *lane, bool refill, invit_error *err);

#endif
