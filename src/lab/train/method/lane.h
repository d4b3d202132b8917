/* What every method works on: the task, which only the run changes and only between steps, and a lane.
 *
 * A step's batch is shared by lanes: each lane has its own random stream, its own replay buffer and its own gradient,
 * and the lanes' gradients are added in a fixed order. So a result depends on the seed and the number of lanes, not
 * on threads, and a checkpoint is the sum of the lanes' states.
 */
#ifndef INVIT_LAB_TRAIN_METHOD_LANE_H
#define INVIT_LAB_TRAIN_METHOD_LANE_H

#include "lab/train/data/label_file.h"
#include "lab/train/data/mix.h"
#include "lab/train/data/replay_buffer.h"
#include "policy/policy.h"

typedef struct inv_train_task {
    const invit_train_options *o;
    inv_config config;
    inv_mix mix;
    const inv_label_file *labels;    /* NULL: fresh instances                                  */
    const struct invit_model *model; /* that is trained                                        */
    const inv_prepared *train;       /* its weights to learn with, and to make tours with      */
    const inv_prepared *roll;
    const inv_prepared *baseline; /* REINFORCE: the frozen policy                              */
    const inv_prepared *teacher;  /* distillation: the teacher model, or NULL                  */
    int32_t largest;              /* nodes of the largest instance, depot included             */
} inv_train_task;

/* Sums over states or rollouts since the last line of the log; all doubles, so that ranks can add them up. */
typedef struct inv_tally {
    double states, loss, right;        /* right: the label was the likeliest candidate                  */
    double seen, skipped;              /* labels met in replays; outside the candidates                 */
    double q_states, q_regret;         /* states with Q-regrets; regret of the policy's choices there   */
    double rollouts, length, baseline; /* reinforce                                                     */
    double decisions;                  /* of roll-ins and rollouts                                      */
    double spread, credit, credits;    /* squares of tours' advantages and of decisions'; how many of these */
    double again, clipped;             /* decisions learned from once more; that had moved far enough   */
} inv_tally;

typedef struct inv_lane {
    inv_rng rng;
    inv_buffer buffer; /* imitate: between steps too; reinforce: the step's decisions    */
    float *weight;     /* reinforce: [weights >= buffer.count] advantage / batch         */
    float *sampled;    /* reinforce: likewise, log-probability when it was sampled       */
    int32_t weights;
    float *grad;     /* [params] */
    inv_tally tally; /* of this step */
} inv_lane;

#endif
