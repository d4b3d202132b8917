#include "lab/train/method/rollout.h"

#include <math.h>

void inv_narrow(float *logp, int32_t candidates, double min_p, int32_t keep)
{
    double all = 0;
    if (!(min_p > 0)) return;
    for (int32_t j = 0; j < candidates; j++) {
        if (j != keep && exp((double)logp[j]) < min_p) logp[j] = -INFINITY; /* what is not a number stays */
        all += exp((double)logp[j]);
    }
    for (int32_t j = 0; j < candidates; j++) logp[j] -= (float)log(all);
}

bool inv_open(const float *logp, int32_t candidates)
{
    int32_t open = 0;
    for (int32_t j = 0; j < candidates; j++) {
        if (isnan(logp[j])) return true;
        open += logp[j] > -INFINITY;
    }
    return open > 1;
}

int32_t inv_roll_look(inv_roller *r, const inv_roll_options *o, int32_t step)
{
    int32_t moved = 0;
    inv_roller_begin(r);
    for (int32_t i = 0; i < o->count; i++) {
        if (inv_walk_done(o->walk[i]) || (o->limit && step >= o->limit[i])) continue;
        inv_roller_look(r, o->walk[i], i, false);
        moved++;
    }
    return moved;
}

invit_status inv_roll_move(inv_roller *r, const inv_roll_options *o, invit_error *err)
{
    const inv_watcher *watcher = o->watcher;
    for (int32_t a = 0; a < r->asked; a++) {
        float *logp = inv_roller_logp(r, a);
        if (o->sampling)
            inv_narrow(logp, r->candidates, o->sampling->min_p, inv_likeliest(logp, r->candidates));
        if (watcher) INV_CHECK(watcher->look(watcher->context, r->number[a], &r->state[a], logp, err));
        int32_t pick = o->sampling ? inv_sample(logp, r->candidates, 1, o->sampling->rng)
                                   : inv_likeliest(logp, r->candidates);
        inv_roller_move(r, a, pick);
    }
    return INVIT_OK;
}

invit_status inv_roll(inv_roller *r, const inv_roll_options *o, int64_t *decisions, invit_error *err)
{
    for (int32_t step = 0;; step++) {
        int32_t moved = inv_roll_look(r, o, step);
        if (moved == 0) return INVIT_OK;
        *decisions += moved;
        if (r->asked == 0) continue;
        INV_CHECK(inv_roller_ask(r, o->policy, 0, r->asked, err));
        INV_CHECK(inv_roll_move(r, o, err));
    }
}
