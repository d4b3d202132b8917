/* Q-regret: the policy makes whole tours, greedily, and where more than one choice is likely the expert completes the
 * tour after each of them. A choice's Q-regret is its cost-to-go difference to the best of them. Cross-entropy counts
 * all wrong choices alike; Q-regret tells a choice that costs a detour from one that costs nothing, on the states the
 * policy's own tours lead to, and without REINFORCE's variance.
 */
#include "lab/train/data/length.h"
#include "lab/train/method/imitation_internal.h"

#include <math.h>

enum { MOST = 4 };                 /* choices that are compared in a state          */
static const float least = 0.02f;  /* below this probability a choice is not compared */
static const float highest = 8.0f; /* mean edges: larger regrets count as this      */

typedef struct comparison {
    inv_imitation *m;
    inv_lane *lane;
} comparison;

/* The likeliest candidates, likeliest first. */
static int32_t likely(const float *logp, int32_t candidates, int32_t *list)
{
    int32_t count = 0;
    for (int32_t j = 0; j < candidates; j++) {
        if (!(expf(logp[j]) >= least)) continue;
        int32_t at = count < MOST ? count++ : MOST;
        for (; at > 0 && logp[list[at - 1]] < logp[j]; at--)
            if (at < MOST) list[at] = list[at - 1];
        if (at < MOST) list[at] = j;
    }
    return count;
}

static invit_status compare(void *context, int32_t i, const inv_state *s, const float *logp, invit_error *err)
{
    comparison *c = context;
    inv_imitation *m = c->m;
    const inv_train_task *task = m->task;
    const invit_instance *p = m->group.instance[i];
    int32_t list[MOST], candidates = inv_candidates(&task->config), count = likely(logp, candidates, list),
                        best = 0;
    if (count < 2 || expf(logp[list[1]]) < (float)task->o->min_p) return INVIT_OK;

    double cost[MOST];
    uint64_t seed = inv_rng_u64(&c->lane->rng);
    for (int32_t k = 0; k < count; k++) {
        int32_t node = inv_candidate_node(&task->config, s, list[k]);
        INV_CHECK(inv_cost_after(&m->demonstration, m->expert, p, m->group.walk[i], node, task->o->effort,
                                 seed, &cost[k], err));
        if (cost[k] < cost[best]) best = k;
    }
    int32_t entries;
    const int32_t *order = inv_walk_order(m->group.walk[i], &entries);
    double edge = (inv_length_so_far(p, order, entries) + cost[best]) / p->n;
    for (int32_t j = 0; j < candidates; j++) m->target[j] = NAN;
    for (int32_t k = 0; k < count; k++)
        m->target[list[k]] = edge > 0 ? fminf(highest, (float)((cost[k] - cost[best]) / edge)) : 0;
    return inv_buffer_add(&c->lane->buffer, s, list[best], m->target, err);
}

invit_status inv_q_regret_tours(inv_imitation *m, inv_lane *lane, int32_t count, invit_error *err)
{
    inv_start_tours(m, lane, count);
    comparison c = {m, lane};
    inv_watcher watcher = {compare, &c};
    return inv_roll_tours(m, lane, count, m->roll, &watcher, err);
}
