/* What a training run holds in memory. Only the files of this folder and the measuring of speed look into it; the
 * methods see a task and a lane (method/lane.h). Threads are workers that take lanes as they become free; ranks (MPI)
 * hold a contiguous part of the lanes each.
 */
#ifndef INVIT_LAB_TRAIN_RUN_TRAINER_H
#define INVIT_LAB_TRAIN_RUN_TRAINER_H

#include "base/thread_pool.h"
#include "lab/comm/comm.h"
#include "lab/train/method/imitation.h"
#include "lab/train/method/reinforce.h"
#include "lab/train/run/options.h"

#define INV_SLICE 8192 /* parameters that are reduced and updated together; fixed, so sums are */

/* One thread. */
typedef struct inv_worker {
    inv_imitation *imitation; /* one of the two */
    inv_reinforce *reinforce;
    struct inv_evaluator *evaluator; /* greedy rollouts: validation, comparison with the baseline */
    invit_status status;
    invit_error error;
} inv_worker;

/* Everything of a run that changes and is not a big array: saved whole in checkpoints. */
typedef struct inv_run_state {
    int64_t step, states;
    double seconds;    /* spent so far, all sessions                                    */
    double progress;   /* 0..1 along the schedule                                       */
    double steps_left; /* planned; revised at checkpoints when minutes bound the run    */
    double validated;  /* progress at the last validation; -1: none yet, 2: the run has ended */
    double best;       /* lowest score of a validation                                  */
    double small_gap, large_gap, small_best, large_best; /* last validation, greedy and best of 16 */
    double loss, accuracy;                               /* of the last line of the log            */
    int64_t bad;          /* steps dropped in a row                                        */
    int64_t dropped;      /* steps dropped in all                                          */
    int64_t updates;      /* AdamW's count                                                 */
    int64_t epoch, swaps; /* reinforce                                                    */
    int64_t log_bytes;
    inv_tally tally; /* since the last line of the log                                */
    int64_t tally_steps, tally_updates;
    double tally_norm, tally_seconds;
} inv_run_state;

typedef struct inv_trainer {
    inv_train_task task;
    const invit_control *control;
    inv_comm *comm;
    inv_label_file *labels;
    struct invit_model *model, *average, *baseline, *judged, *teacher;
    inv_prepared *train, *roll; /* of the model: to learn with, to make tours with */
    inv_prepared *prepared_baseline, *prepared_judged, *prepared_teacher;
    float *moment1, *moment2;
    int32_t first_lane, lanes; /* of this rank */
    inv_lane *lane;
    int32_t *queue; /* lanes in the order in which workers take them */
    bool refill;    /* imitate: some lane's buffer runs low          */
    double *slice_norm;
    inv_thread_pool *pool;
    inv_worker *worker; /* [inv_thread_pool_size] */
    inv_run_state s;
    double *expert_length; /* validation instances: small, then large */
    double session;        /* inv_now() when this session began less the seconds of earlier ones */
    double lr, scale;      /* of the current step */
} inv_trainer;

invit_status inv_trainer_create(const invit_train_options *o, const invit_control *control, inv_comm *comm,
                                inv_trainer **out, invit_error *err);
void inv_trainer_destroy(inv_trainer *t);

/* The caller wants to stop. Several ranks stop together, between steps, and not here. */
bool inv_train_cancelled(const inv_trainer *t);

/* Runs fn over items on the thread pool; the first error of any worker comes back. */
invit_status inv_trainer_run(inv_trainer *t, int items, void (*fn)(void *context, int member, int item),
                             void *context, invit_error *err);

/* A step: batch, gradient, update (step.c). */
invit_status inv_step(inv_trainer *t, invit_error *err);

/* The expert's lengths of the fixed validation instances, from `path` when it is there, else made and saved; then
 * greedy and best-of-16 gaps of the judged weights into t->s (validation.c). */
invit_status inv_validation_prepare(inv_trainer *t, const char *path, invit_error *err);
invit_status inv_validate(inv_trainer *t, invit_error *err);

/* After an epoch of REINFORCE with a frozen baseline: mean lengths of the model's and of its greedy tours, the best of
 * an instance's copies, on fresh instances. The model takes over when its tours are shorter (baseline.c). */
typedef struct inv_epoch {
    double model, baseline; /* NAN where nothing is frozen */
} inv_epoch;
invit_status inv_end_epoch(inv_trainer *t, inv_epoch *mean, invit_error *err);

/* checkpoint.c. Reading takes any bytes: what does not belong to this run is an error. */
invit_status inv_checkpoint_write(inv_trainer *t, const char *path, invit_error *err);
invit_status inv_checkpoint_read(inv_trainer *t, const char *path, invit_error *err);
invit_status inv_checkpoint_parse(inv_trainer *t, const char *bytes, size_t size, const char *name,
                                  invit_error *err);
/* Where a checkpoint's first bytes, which name the run, end; and the checksum of its last eight. */
size_t inv_checkpoint_head(const inv_trainer *t, char *bytes, size_t room);
uint64_t inv_checkpoint_sum(const char *bytes, size_t size);

#endif
