#include "policy/roller.h"

#include <stdlib.h>

invit_status inv_roller_init(inv_roller *r, int32_t room, const inv_config *c, invit_error *err)
{
    *r = (inv_roller){.config = c, .candidates = inv_candidates(c)};
    size_t n = (size_t)room, answers = n * (size_t)r->candidates;
    r->walk = calloc(n, sizeof *r->walk);
    r->number = calloc(n, sizeof *r->number);
    r->state = calloc(n, sizeof *r->state);
    r->logp = calloc(answers, sizeof *r->logp);
    if (!r->walk || !r->number || !r->state || !r->logp)
        return inv_no_memory(err, n * sizeof *r->state + answers * sizeof *r->logp);
    return INVIT_OK;
}

void inv_roller_destroy(inv_roller *r)
{
    free(r->walk);
    free(r->number);
    free(r->state);
    free(r->logp);
    *r = (inv_roller){0};
}

invit_status inv_roller_walk(const inv_config *c, const invit_instance *p, const inv_index *x, inv_walk **out,
                             invit_error *err)
{
    return inv_walk_create(p, x, c->action_k, inv_largest_view(c), out, err);
}

bool inv_roller_look(inv_roller *r, inv_walk *walk, int32_t number, bool all)
{
    inv_state *state = &r->state[r->asked];
    inv_walk_view(walk, state);
    int32_t only = all ? -1 : inv_forced_move(state);
    if (only >= 0) {
        inv_walk_visit(walk, only);
        return false;
    }
    r->walk[r->asked] = walk;
    r->number[r->asked] = number;
    r->asked++;
    return true;
}

invit_status inv_roller_ask(inv_roller *r, inv_policy *policy, int32_t from, int32_t count, invit_error *err)
{
    return inv_policy_forward(policy, r->state + from, count, inv_roller_logp(r, from), err);
}

void inv_roller_move(inv_roller *r, int32_t a, int32_t candidate)
{
    inv_walk_visit(r->walk[a], inv_roller_node(r, a, candidate));
}
