/* The INViT policy: states in, log-probabilities of the candidates out, and the gradient back.
 *
 * A policy object belongs to one thread. It reads the model's parameters through a prepared form (folded and
 * packed), made by inv_policy_prepare and to be refreshed when the parameters change; one prepared form
 * serves many policies. Each state's numbers are the same whatever batch it is in.
 */
#ifndef INVIT_POLICY_POLICY_H
#define INVIT_POLICY_POLICY_H

#include "base/rng.h"
#include "policy/model.h"
#include "view/state.h"

typedef struct inv_prepared inv_prepared; /* folded, packed weights; read-only once prepared           */
typedef struct inv_policy inv_policy;     /* one thread's activations                                  */

/* What weights are for: forward only, or backward too; in single precision, or with the encoders' large
 * products in bf16 (AVX-512 BF16) or, forward only, in int8 (AVX-512 VNNI), where the CPU has them. */
typedef enum inv_purpose {
    INV_EXACT = 0,
    INV_TRAINING = 1,
    INV_PURPOSE_BF16 = 2,
    INV_BF16_TRAINING = INV_PURPOSE_BF16 | INV_TRAINING,
    INV_PURPOSE_INT8 = 4,
} inv_purpose;
invit_status inv_prepared_create(const struct invit_model *m, inv_purpose purpose, inv_prepared **out,
                                 invit_error *err);
/* Again after the parameters of the same model changed; no allocation. */
void inv_prepared_refresh(inv_prepared *w, const struct invit_model *m);
void inv_prepared_destroy(inv_prepared *w);

/* Room for `batch` states at a time; grows by itself if a state has more tokens than the views' k say (global
 * view). With `training`, forward keeps what backward needs. */
invit_status inv_policy_create(const inv_prepared *w, int32_t batch, bool training, inv_policy **out,
                               invit_error *err);
void inv_policy_destroy(inv_policy *p);

/* Candidates per state: k_a for TSP, k_a + 1 for CVRP (the depot last). */
int32_t inv_candidates(const inv_config *c);

/* logp[i * inv_candidates + j] = log-probability of candidate j of state i; -INFINITY where there is none. */
invit_status inv_policy_forward(inv_policy *p, const inv_state *states, int32_t count, float *logp,
                                invit_error *err);

/* The likeliest candidate; one by its chance, at a temperature above 0; and the node that a candidate stands
 * for. */
int32_t inv_likeliest(const float *logp, int32_t candidates);
int32_t inv_sample(const float *logp, int32_t candidates, double temperature, inv_rng *rng);
/* What to say when the chosen candidate's log-probability is not a number. */
invit_status inv_not_a_number(invit_error *err);
int32_t inv_candidate_node(const inv_config *c, const inv_state *s, int32_t candidate);

/* After forward on the same states: dlogit[i * candidates + j] is the loss's derivative with respect to the
 * logit (before softmax) of candidate j, 0 where there is none; adds d loss / d parameter to grad (laid out
 * like param). Some of the sums are held in folded form by the policy until inv_policy_flush_gradient adds
 * them too. */
void inv_policy_backward(inv_policy *p, const inv_state *states, int32_t count, const float *dlogit,
                         float *grad);
void inv_policy_flush_gradient(inv_policy *p, const struct invit_model *m, float *grad);

#endif
