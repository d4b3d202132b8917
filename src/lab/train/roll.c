#include "lab/train/roll.h"

#include "lab/train/lesson.h"
#include "problem/metric.h"

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

void inv_narrow(float *logp, int32_t candidates, double least, int32_t keep)
{
    double all = 0;
    if (!(least > 0)) return;
    for (int32_t j = 0; j < candidates; j++) {
        if (j != keep && exp((double)logp[j]) < least) logp[j] = -INFINITY; /* what is not a number stays */
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

/* The only move there is, or -1 when the policy has to choose. */
static int32_t forced(const inv_state *s)
{
    if (inv_choices(s) != 1) return -1;
    return s->action == 1 ? s->node[0] : 0;
}

invit_status inv_roll(inv_roller *r, inv_policy *policy, const inv_config *c, inv_walk **walk, int32_t count,
                      const int32_t *limit, const inv_sampling *sampling, const inv_watcher *watcher,
                      int64_t *decisions, invit_error *err)
{
    for (int32_t step = 0;; step++) {
        int32_t active = 0, moved = 0;
        for (int32_t i = 0; i < count; i++) {
            if (inv_walk_done(walk[i]) || (limit && step >= limit[i])) continue;
            inv_state *s = &r->state[active];
            inv_walk_view(walk[i], s);
            moved++;
            int32_t only = forced(s);
            if (only >= 0)
                inv_walk_visit(walk[i], only);
            else
                r->active[active++] = i;
        }
        if (moved == 0) return INVIT_OK;
        *decisions += moved;
        if (active == 0) continue;
        INV_CHECK(inv_policy_forward(policy, r->state, active, r->logp, err));
        for (int32_t a = 0; a < active; a++) {
            float *logp = r->logp + (size_t)a * (size_t)r->candidates;
            if (sampling)
                inv_narrow(logp, r->candidates, sampling->least, inv_likeliest(logp, r->candidates));
            if (watcher) INV_CHECK(watcher->look(watcher->context, r->active[a], &r->state[a], logp, err));
            int32_t pick = sampling ? inv_sample(logp, r->candidates, 1, sampling->rng)
                                    : inv_likeliest(logp, r->candidates);
            inv_walk_visit(walk[r->active[a]], inv_candidate_node(c, &r->state[a], pick));
        }
    }
}

double inv_straight(const invit_instance *p, int32_t a, int32_t b)
{
    return inv_metric_distance(INVIT_EXACT, p->xy + 2 * (size_t)a, p->xy + 2 * (size_t)b);
}

double inv_length_so_far(const invit_instance *p, const int32_t *order, int32_t count)
{
    int32_t at = p->problem == INVIT_CVRP ? 0 : order[0];
    double length = 0;
    for (int32_t i = 0; i < count; i++) {
        length += inv_straight(p, at, order[i]);
        at = order[i];
    }
    return length;
}

double inv_order_length(const invit_instance *p, const int32_t *order, int32_t count)
{
    int32_t home = p->problem == INVIT_CVRP ? 0 : order[0], last = count > 0 ? order[count - 1] : home;
    return inv_length_so_far(p, order, count) + inv_straight(p, last, home);
}
