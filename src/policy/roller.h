/* One step of a rollout, for several walks at once: look at each walk, ask the policy about all that have a choice in one
 * batch, move them. Solving (solve/rollout.c), training and validation (lab/train/method/rollout.c), measuring and the
 * statistics of attention all step with this; what differs is which walks there are, how a candidate is chosen, and when
 * to stop.
 */
#ifndef INVIT_POLICY_ROLLER_H
#define INVIT_POLICY_ROLLER_H

#include "policy/policy.h"
#include "view/walk.h"

typedef struct inv_roller {
    const inv_config *config;
    int32_t candidates;
    int32_t asked;    /* walks that wait for a decision                              */
    inv_walk **walk;  /* [room] these                                                */
    int32_t *number;  /* [room] what the caller calls them                           */
    inv_state *state; /* [room] what they see                                        */
    float *logp;      /* [room][candidates] what the policy answers                  */
} inv_roller;

/* Room for so many walks. inv_roller_destroy works on whatever this leaves behind. */
invit_status inv_roller_init(inv_roller *r, int32_t room, const inv_config *c, invit_error *err);
void inv_roller_destroy(inv_roller *r);
/* A walk that shows as much as the model sees. */
invit_status inv_roller_walk(const inv_config *c, const invit_instance *p, const inv_index *x, inv_walk **out,
                             invit_error *err);

/* A step begins: no walk waits. */
static inline void inv_roller_begin(inv_roller *r)
{
    r->asked = 0;
}
/* Looks at a walk that is not done. Where there is only one way to go (the last node of a tour, a vehicle that no customer
 * fits), moves the walk and returns false; else, or with `all`, the walk waits for the policy, and it returns true. */
bool inv_roller_look(inv_roller *r, inv_walk *walk, int32_t number, bool all);
/* Asks the policy about `count` of the waiting walks, from number `from`; at most as many as it was created for. */
invit_status inv_roller_ask(inv_roller *r, inv_policy *policy, int32_t from, int32_t count, invit_error *err);
/* The answer for waiting walk a: log-probabilities of the candidates. */
static inline float *inv_roller_logp(const inv_roller *r, int32_t a)
{
    return r->logp + (size_t)a * (size_t)r->candidates;
}
/* The node that a candidate of waiting walk a stands for. */
static inline int32_t inv_roller_node(const inv_roller *r, int32_t a, int32_t candidate)
{
    return inv_candidate_node(r->config, &r->state[a], candidate);
}
/* Moves waiting walk a to a candidate. */
void inv_roller_move(inv_roller *r, int32_t a, int32_t candidate);

#endif
