#include "lab/train/method/rollout.h"

#include <math.h>
#include <stdlib.h>

invit_status inv_roller_init(inv_roller *r, int32_t room, const inv_config *c, invit_error *err)
{
    *r = (inv_roller){.room = room, .candidates = inv_candidates(c)};
    r->state = calloc((size_t)room, sizeof *r->state);
    r->active = calloc((size_t)room, sizeof *r->active);
    r->logp = calloc((size_t)room * (size_t)r->candidates, sizeof *r->logp);
    if (r->state && r->active && r->logp) return INVIT_OK;
    inv_roller_destroy(r);
    return inv_no_memory(err, (size_t)room * (size_t)r->candidates * sizeof *r->logp);
}

void inv_roller_destroy(inv_roller *r)
{
    free(r->state);
    free(r->active);
    free(r->logp);
    *r = (inv_roller){0};
}

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
    r->asked = 0;
    for (int32_t i = 0; i < o->count; i++) {
        if (inv_walk_done(o->walk[i]) || (o->limit && step >= o->limit[i])) continue;
        inv_state *s = &r->state[r->asked];
        inv_walk_view(o->walk[i], s);
        moved++;
        int32_t only = inv_forced_move(s);
        if (only >= 0)
            inv_walk_visit(o->walk[i], only);
        else
            r->active[r->asked++] = i;
    }
    return moved;
}

invit_status inv_roll_move(inv_roller *r, const inv_roll_options *o, invit_error *err)
{
    const inv_watcher *watcher = o->watcher;
    for (int32_t a = 0; a < r->asked; a++) {
        float *logp = r->logp + (size_t)a * (size_t)r->candidates;
        if (o->sampling)
            inv_narrow(logp, r->candidates, o->sampling->min_p, inv_likeliest(logp, r->candidates));
        if (watcher) INV_CHECK(watcher->look(watcher->context, r->active[a], &r->state[a], logp, err));
        int32_t pick = o->sampling ? inv_sample(logp, r->candidates, 1, o->sampling->rng)
                                   : inv_likeliest(logp, r->candidates);
        inv_walk_visit(o->walk[r->active[a]], inv_candidate_node(o->config, &r->state[a], pick));
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
        INV_CHECK(inv_policy_forward(o->policy, r->state, r->asked, r->logp, err));
        INV_CHECK(inv_roll_move(r, o, err));
    }
}
