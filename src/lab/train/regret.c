/* Regrets: the policy makes whole tours, greedily, and where it is in doubt the teacher says what each likely
 * choice would cost, followed by the best completion it can find. Imitation counts all wrong choices alike;
 * prices tell a choice that costs a detour from one that costs nothing, on the states the policy's own tours
 * lead to, and without REINFORCE's noise: there a choice's price drowns in that of all the others.
 */
#include "lab/train/trainer.h"

#include <math.h>

enum { MOST = 4 };                 /* choices that are priced in a state                                    */
static const float least = 0.02f;  /* the probability below which a choice is not worth a price             */
static const float highest = 8.0f; /* mean edges: dearer than this is all the same */

typedef struct pricing {
    inv_trainer *t;
    inv_worker *w;
    inv_lane *lane;
} pricing;

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

static invit_status price(void *context, int32_t i, const inv_state *s, const float *logp, invit_error *err)
{
    pricing *c = context;
    inv_trainer *t = c->t;
    inv_worker *w = c->w;
    int32_t list[MOST], candidates = inv_candidates(&t->config), count = likely(logp, candidates, list),
                        best = 0;
    if (count < 2 || expf(logp[list[1]]) < (float)t->o->doubt) return INVIT_OK;

    double cost[MOST];
    uint64_t seed = inv_rng_u64(&c->lane->rng);
    for (int32_t k = 0; k < count; k++) {
        int32_t node = inv_candidate_node(&t->config, s, list[k]);
        INV_CHECK(inv_lesson_price(&w->lesson, w->teacher, w->instance[i], w->walk[i], node, t->o->effort,
                                   seed, &cost[k], err));
        if (cost[k] < cost[best]) best = k;
    }
    const invit_instance *p = w->instance[i];
    int32_t entries;
    const int32_t *order = inv_walk_order(w->walk[i], &entries);
    double edge = (inv_length_so_far(p, order, entries) + cost[best]) / p->n;
    for (int32_t j = 0; j < candidates; j++) w->advice[j] = NAN;
    for (int32_t k = 0; k < count; k++)
        w->advice[list[k]] = edge > 0 ? fminf(highest, (float)((cost[k] - cost[best]) / edge)) : 0;
    return inv_pool_add(&c->lane->pool, s, list[best], w->advice, err);
}

invit_status inv_price_tours(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t count, invit_error *err)
{
    for (int32_t i = 0; i < count; i++) inv_worker_start(w, i, &lane->rng);
    pricing c = {t, w, lane};
    inv_watcher watcher = {price, &c};
    int64_t decisions = 0;
    INV_CHECK(
        inv_roll(&w->roller, w->roll, &t->config, w->walk, count, NULL, NULL, &watcher, &decisions, err));
    lane->tally.decisions += (double)decisions;
    return INVIT_OK;
}
