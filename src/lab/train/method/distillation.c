/* Distillation: a teacher model's probabilities are learned instead of the expert's choices.
 *
 * Tours begin in random rotations, and the teacher model is asked about every decision as it sees it there. A model
 * with canonical frames sees no rotation, so what it learns is the mean of the teacher's probabilities over all of
 * them. A share 1 - rollin of the tours are the teacher's own, the others the learner's, so that it is advised where
 * it gets to by itself.
 */
#include "lab/train/method/imitation_internal.h"

#include <math.h>

typedef struct distillation {
    inv_imitation *m;
    inv_lane *lane;
    bool own; /* the learner makes the tour, and the teacher has not been asked yet */
} distillation;

static invit_status keep(void *context, int32_t i, const inv_state *s, const float *logp, invit_error *err)
{
    (void)i;
    distillation *a = context;
    inv_imitation *m = a->m;
    int32_t candidates = inv_candidates(&m->task->config);
    if (inv_rng_double(&a->lane->rng) >= m->task->o->share) return INVIT_OK;
    if (a->own) {
        INV_CHECK(inv_policy_forward(m->teacher, s, 1, m->opinion, err));
        logp = m->opinion;
    }
    for (int32_t j = 0; j < candidates; j++) m->target[j] = expf(logp[j]);
    return inv_buffer_add(&a->lane->buffer, s, inv_likeliest(logp, candidates), m->target, err);
}

invit_status inv_distill_tours(inv_imitation *m, inv_lane *lane, int32_t count, invit_error *err)
{
    inv_start_tours(m, lane, count);
    distillation a = {m, lane, inv_rng_double(&lane->rng) < m->task->o->rollin};
    inv_watcher watcher = {keep, &a};
    return inv_roll_tours(m, lane, count, a.own ? m->roll : m->teacher, &watcher, err);
}
