/* What a training run holds in memory.
 *
 * A step's batch is shared by lanes: each lane has its own random stream, its own pool of labelled states and
 * its own gradient, and the lanes' gradients are added in a fixed order. So a result depends on the seed and
 * the number of lanes, not on threads, and a checkpoint is the sum of the lanes' states. Threads are workers
 * that take lanes as they become free; ranks (MPI) hold a contiguous part of the lanes each.
 */
#ifndef INVIT_LAB_TRAIN_TRAINER_H
#define INVIT_LAB_TRAIN_TRAINER_H

#include "invit_lab.h"
#include "lab/comm/comm.h"
#include "lab/train/labelfile.h"
#include "lab/train/lesson.h"
#include "lab/train/mix.h"
#include "lab/train/options.h"
#include "lab/train/roll.h"
#include "lab/train/team.h"
#include "policy/policy.h"

#define INV_CHUNK 16   /* states that go through forward and backward together              */
#define INV_GROUP 16   /* walks that roll in or are validated together                      */
#define INV_SLICE 8192 /* parameters that are reduced and updated together; fixed, so sums are */

/* Sums over states or rollouts since the last line of the log; all doubles, so that ranks can add them up. */
typedef struct inv_tally {
    double states, loss, right;        /* right: the label was the likeliest candidate      */
    double seen, skipped;              /* labels met in replays; outside the candidates     */
    double priced, regret;             /* states with prices; what the policy's choices there cost too much */
    double rollouts, length, baseline; /* reinforce                                        */
    double decisions;                  /* of roll-ins and rollouts                          */
    double spread, credit, credits;    /* squares of tours' advantages and of decisions'; how many of these */
    double again, clipped;             /* decisions learned from once more; that had moved far enough       */
} inv_tally;

/* What reinforce knows of a sampled decision besides its state. */
typedef struct inv_chance {
    float weight; /* advantage / batch                               */
    float logp;   /* of the choice, with the weights that sampled it */
} inv_chance;

typedef struct inv_lane {
    inv_rng rng;
    inv_pool pool;      /* imitate: between steps too; reinforce: the step's decisions */
    inv_chance *chance; /* reinforce: [chances >= pool.count]                          */
    int32_t chances;
    float *grad;     /* [params] */
    inv_tally tally; /* of this step */
} inv_lane;

typedef struct inv_worker {
    inv_teacher *teacher;
    inv_policy *train;  /* the model, with backward           */
    inv_policy *roll;   /* the model, forward only            */
    inv_policy *frozen; /* reinforce: the baseline            */
    inv_policy *judge;  /* what validation looks at           */
    inv_policy *mentor; /* imitate: another model to learn from, or NULL */
    inv_roller roller;
    int32_t walks; /* room of the arrays below           */
    inv_walk **walk;
    invit_instance **instance;
    inv_index **index;
    inv_frame *frame;
    int32_t *limit, *begin; /* steps to roll; start nodes   */
    double *length, *advantage;
    inv_lesson lesson;
    int32_t **order, *orders; /* reinforce: sampled orders and their number of entries */
    bool **doubtful;          /* reinforce: [walk][entry] decisions to learn from      */
    double **credit;          /* reinforce: [walk][entry] their advantages             */
    float *logp, *dlogit;     /* [chunk][candidates]                   */
    float *advice;            /* [candidates] on the choice at hand    */
    invit_status status;
    invit_error error;
} inv_worker;

/* Everything of a run that changes and is not a big array: saved whole in checkpoints. */
typedef struct inv_run_state {
    int64_t step, states;
    double seconds;    /* spent so far, all sessions                                    */
    double progress;   /* 0..1 along the schedule                                       */
    double steps_left; /* planned; revised at checkpoints when minutes bound the run    */
    double validated;  /* progress at the last validation; 2 when the run has ended     */
    double best;       /* lowest score of a validation                                  */
    double small_gap, large_gap, small_best, large_best; /* last validation, greedy and best of 16 */
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
    const invit_train_options *o;
    const invit_control *control;
    inv_comm *comm;
    inv_config config;
    inv_mix mix;
    inv_labelfile *labels;
    struct invit_model *model, *average, *frozen, *judged, *mentor;
    inv_prepared *prepared, *prepared_roll; /* of the model: to learn with, to make tours with */
    inv_prepared *prepared_frozen, *prepared_judge, *prepared_mentor;
    float *moment1, *moment2;
    int32_t first_lane, lanes; /* of this rank */
    inv_lane *lane;
    int32_t *queue; /* lanes in the order in which workers take them */
    bool teaching;  /* imitate: some lane's pool runs low            */
    double *slice_norm;
    inv_team *team;
    inv_worker *worker; /* [inv_team_size] */
    inv_run_state s;
    double *validation; /* teacher's lengths: small, then large instances */
    double session;     /* inv_now() when this session began less the seconds of earlier ones */
    double lr, scale;   /* of the current step */
    /* scratch of rollouts over many instances (validation, epochs' comparison) */
    struct inv_exam *exam;
} inv_trainer;

invit_status inv_trainer_create(const invit_train_options *o, const invit_control *control, inv_comm *comm,
                                inv_trainer **out, invit_error *err);
void inv_trainer_destroy(inv_trainer *t);

/* The caller wants to stop. Several ranks stop together, between steps, and not here. */
bool inv_train_cancelled(const inv_trainer *t);

/* Runs fn over items on the team; the first error of any worker comes back. */
invit_status inv_trainer_run(inv_trainer *t, int items, void (*fn)(void *trainer, int member, int item),
                             invit_error *err);

/* One lane's part of a step: fills lane->grad and lane->tally. */
invit_status inv_imitate_lane(inv_trainer *t, inv_worker *w, inv_lane *lane, invit_error *err);
/* The policy makes the tours of walks 0..count-1 itself, and the teacher prices its doubtful choices. */
invit_status inv_price_tours(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t count, invit_error *err);
/* Tours of walks 0..count-1 by the mentor or the policy; what the mentor thinks of their decisions goes to
 * the pool. */
invit_status inv_ask_mentor(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t count, invit_error *err);
/* A lane's pool runs low; and, when any does, the lanes that have lessons in this step: all that are not well
 * stocked, so that every thread teaches at the same time instead of one while the others wait. */
bool inv_imitate_runs_low(const inv_trainer *t, const inv_lane *lane);
bool inv_imitate_teaches(const inv_trainer *t, const inv_lane *lane);
invit_status inv_reinforce_lane(inv_trainer *t, inv_worker *w, inv_lane *lane, invit_error *err);
/* The gradient over the lane's sampled decisions; `again`: after an update, from the same ones. */
invit_status inv_reinforce_learn(inv_trainer *t, inv_worker *w, inv_lane *lane, bool again, invit_error *err);
/* After an epoch with a frozen baseline: mean lengths of the model's and of its greedy tours, the best of an
 * instance's copies, on fresh instances. */
typedef struct inv_comparison {
    double model, baseline; /* NAN where nothing is frozen */
} inv_comparison;
/* The model takes over from the baseline when its tours are shorter. */
invit_status inv_reinforce_epoch(inv_trainer *t, inv_comparison *mean, invit_error *err);

/* Binds walk i of the worker to an instance, with an index of its own or a shared one. */
invit_status inv_worker_bind(inv_trainer *t, inv_worker *w, int32_t i, const invit_instance *p,
                             const inv_index *x, invit_error *err);

/* Starts walk i in a random frame, on a TSP at a random node. */
void inv_worker_start(inv_worker *w, int32_t i, inv_rng *rng);

/* Lengths by the teacher for the fixed validation instances, from `path` when it is there, else made and
 * saved. */
invit_status inv_validation_prepare(inv_trainer *t, const char *path, invit_error *err);
/* Greedy and best-of-16 gaps of the judged weights into t->s. */
invit_status inv_validate(inv_trainer *t, invit_error *err);

/* A step: batch, gradient, update. */
invit_status inv_step(inv_trainer *t, invit_error *err);

invit_status inv_checkpoint_write(inv_trainer *t, const char *path, invit_error *err);
invit_status inv_checkpoint_read(inv_trainer *t, const char *path, invit_error *err);

#endif
