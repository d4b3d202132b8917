/* A mentor: another model, whose chances are learned instead of the teacher's choices.
 *
 * Tours begin in random rotations, and the mentor is asked about every decision as it sees it there. A
 * learner that turns its views sees no rotation, so what it learns is the mean of the mentor's opinions over
 * all of them. Half of the tours (1 - rollin) are the mentor's own, the others the learner's, so that it is
 * advised where it gets to by itself.
 */
#include "lab/train/trainer.h"

#include <math.h>

typedef struct advice {
    inv_trainer *t;
    inv_worker *w;
    inv_lane *lane;
    bool own; /* the learner makes the tour, and the mentor has not been asked yet */
} advice;

static invit_status keep(void *context, int32_t i, const inv_state *s, const float *logp, invit_error *err)
{
    (void)i;
    advice *a = context;
    inv_worker *w = a->w;
    int32_t candidates = inv_candidates(&a->t->config);
    if (inv_rng_double(&a->lane->rng) >= a->t->o->share) return INVIT_OK;
    if (a->own) {
        INV_CHECK(inv_policy_forward(w->mentor, s, 1, w->logp, err));
        logp = w->logp;
    }
    for (int32_t j = 0; j < candidates; j++) w->advice[j] = expf(logp[j]);
    return inv_pool_add(&a->lane->pool, s, inv_likeliest(logp, candidates), w->advice, err);
}

invit_status inv_ask_mentor(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t count, invit_error *err)
{
    for (int32_t i = 0; i < count; i++) inv_worker_start(w, i, &lane->rng);
    int64_t decisions = 0;
    advice a = {t, w, lane, inv_rng_double(&lane->rng) < t->o->rollin};
    inv_watcher watcher = {keep, &a};
    INV_CHECK(inv_roll(&w->roller, a.own ? w->roll : w->mentor, &t->config, w->walk, count, NULL, NULL,
                       &watcher, &decisions, err));
    lane->tally.decisions += (double)decisions;
    return INVIT_OK;
}
