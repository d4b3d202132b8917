/* Rollouts of a policy over a group of walks that begin together, each to its end or to a limit: for roll-ins, for
 * REINFORCE, for validation and for measuring. A step is that of policy/roller.h. */
#ifndef INVIT_LAB_TRAIN_METHOD_ROLLOUT_H
#define INVIT_LAB_TRAIN_METHOD_ROLLOUT_H

#include "base/rng.h"
#include "policy/roller.h"

/* Someone who looks at each decision before it is made: the walk's number, what it sees, and what the policy
 * thinks of the candidates that could be taken. */
typedef struct inv_watcher {
    invit_status (*look)(void *context, int32_t walk, const inv_state *s, const float *logp,
                         invit_error *err);
    void *context;
} inv_watcher;

/* How decisions are sampled. */
typedef struct inv_sampling {
    inv_rng *rng;
    double min_p; /* candidates that are less likely are not taken, except the likeliest */
} inv_sampling;

/* The policy moves each of the started walks for at most limit[i] steps (NULL: to the end), greedily or, with
 * `sampling`, at random. `sampling` and `watcher` may be NULL. */
typedef struct inv_roll_options {
    inv_policy *policy;
    inv_walk **walk;
    int32_t count;
    const int32_t *limit;
    const inv_sampling *sampling;
    const inv_watcher *watcher;
} inv_roll_options;
/* *decisions grows by the number of moves. */
invit_status inv_roll(inv_roller *r, const inv_roll_options *o, int64_t *decisions, invit_error *err);
/* One step of it, in parts, for those who measure: inv_roll_look makes forced moves, lets the other walks wait and returns
 * how many walks are still under way; then the policy is asked about these r->asked walks, and inv_roll_move moves. */
int32_t inv_roll_look(inv_roller *r, const inv_roll_options *o, int32_t step);
invit_status inv_roll_move(inv_roller *r, const inv_roll_options *o, invit_error *err);
/* Leaves only `keep` and the candidates that are not less likely than `min_p`, with their chances among
 * these.
 */
void inv_narrow(float *logp, int32_t candidates, double min_p, int32_t keep);
/* Whether there is more than one. What is not a number counts as a choice, so that it comes to light. */
bool inv_open(const float *logp, int32_t candidates);

#endif
