/* From log-probabilities to a decision. */
#include "policy/policy.h"

#include <math.h>

int32_t inv_likeliest(const float *logp, int32_t candidates)
{
    int32_t best = 0;
    for (int32_t j = 1; j < candidates; j++)
        if (logp[j] > logp[best]) best = j;
    return best;
}

int32_t inv_sample(const float *logp, int32_t candidates, double temperature, inv_rng *rng)
{
    int32_t chosen = inv_likeliest(logp, candidates);
    double top = logp[chosen], sum = 0;
    for (int32_t j = 0; j < candidates; j++) sum += exp((logp[j] - top) / temperature);
    double left = inv_rng_double(rng) * sum;
    for (int32_t j = 0; j < candidates; j++) {
        double weight = exp((logp[j] - top) / temperature);
        if (!(weight > 0)) continue; /* nor what is not a number */
        chosen = j;
        left -= weight;
        if (left < 0) break;
    }
    return chosen;
}

int32_t inv_candidate_node(const inv_config *c, const inv_state *s, int32_t candidate)
{
    return c->problem == INVIT_CVRP && candidate == c->action_k ? 0 : s->node[candidate];
}

invit_status inv_not_a_number(invit_error *err)
{
    return inv_fail(err, INVIT_ERR_INPUT,
                    "the model's probabilities are not numbers: its weights are too large for this instance");
}
