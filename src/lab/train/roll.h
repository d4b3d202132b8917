/* Rollouts of a policy on several walks at once: for roll-ins, for REINFORCE and for validation. */
#ifndef INVIT_LAB_TRAIN_ROLL_H
#define INVIT_LAB_TRAIN_ROLL_H

#include "base/rng.h"
#include "policy/policy.h"
#include "view/walk.h"

typedef struct inv_roller {
    int32_t room, candidates;
    inv_state *state; /* [room] */
    int32_t *active;  /* [room] walks with a decision to make */
    float *logp;      /* [room][candidates] */
} inv_roller;

invit_status inv_roller_init(inv_roller *r, int32_t room, const inv_config *c, invit_error *err);
void inv_roller_destroy(inv_roller *r);

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
    double least; /* candidates that are less likely are not taken, except the likeliest */
} inv_sampling;

/* Lets the policy move each of the started walks for at most limit[i] steps (NULL: to the end). Takes the
 * likeliest candidate, or samples. `sampling` and `watcher` may be NULL. *decisions grows by the number of
 * moves. */
invit_status inv_roll(inv_roller *r, inv_policy *policy, const inv_config *c, inv_walk **walk, int32_t count,
                      const int32_t *limit, const inv_sampling *sampling, const inv_watcher *watcher,
                      int64_t *decisions, invit_error *err);
/* Leaves only `keep` and the candidates that are not less likely than `least`, with their chances among
 * these.
 */
void inv_narrow(float *logp, int32_t candidates, double least, int32_t keep);
/* Whether there is more than one. What is not a number counts as a choice, so that it comes to light. */
bool inv_open(const float *logp, int32_t candidates);
/* Lengths in the instance's coordinates, unrounded: between two nodes, of an order up to its last node, and
 * of the closed tour or routes. */
double inv_straight(const invit_instance *p, int32_t a, int32_t b);
double inv_length_so_far(const invit_instance *p, const int32_t *order, int32_t count);
double inv_order_length(const invit_instance *p, const int32_t *order, int32_t count);

#endif
