#include "lab/train/data/replay_buffer.h"

#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is kept of a state besides its neighbours. */
typedef struct packed {
    int32_t action, rest, label, depot_open;
    float load, last[2], first[2];
} packed;

static void point_states(inv_buffer *p)
{
    for (int32_t i = 0; i < p->room; i++) {
        p->state[i].node = NULL;
        p->state[i].xy = p->xy + (size_t)i * p->k_max * 2;
        p->state[i].demand = p->demands ? p->demand + (size_t)i * p->k_max : NULL;
    }
}

static invit_status reserve(inv_buffer *p, int32_t room, invit_error *err)
{
    size_t cells = (size_t)room * (size_t)p->k_max;
    inv_state *state = realloc(p->state, (size_t)room * sizeof *state);
    if (state) p->state = state;
    int32_t *label = realloc(p->label, (size_t)room * sizeof *label);
    if (label) p->label = label;
    float *xy = realloc(p->xy, cells * 2 * sizeof *xy);
    if (xy) p->xy = xy;
    float *demand = p->demands ? realloc(p->demand, cells * sizeof *demand) : NULL;
    if (demand) p->demand = demand;
    float *target =
        p->targets ? realloc(p->target, (size_t)room * (size_t)p->targets * sizeof *target) : NULL;
    if (target) p->target = target;
    if (!state || !label || !xy || (p->demands && !demand) || (p->targets && !target))
        return inv_no_memory(err, cells * 3 * sizeof *xy);
    memset(xy + (size_t)p->room * p->k_max * 2, 0, (cells - (size_t)p->room * p->k_max) * 2 * sizeof *xy);
    if (demand)
        memset(demand + (size_t)p->room * p->k_max, 0, (cells - (size_t)p->room * p->k_max) * sizeof *demand);
    p->room = room;
    point_states(p);
    return INVIT_OK;
}

invit_status inv_buffer_init(inv_buffer *p, int32_t room, const inv_config *c, int32_t largest,
                             bool with_targets, invit_error *err)
{
    *p = (inv_buffer){.k_max = inv_largest_view(c),
                      .action_k = c->action_k,
                      .targets = with_targets ? inv_candidates(c) : 0,
                      .demands = c->problem == INVIT_CVRP};
    if (p->k_max > largest) p->k_max = largest;
    invit_status status = reserve(p, room, err);
    if (status != INVIT_OK) inv_buffer_destroy(p);
    return status;
}

void inv_buffer_destroy(inv_buffer *p)
{
    free(p->state);
    free(p->label);
    free(p->xy);
    free(p->demand);
    free(p->target);
    *p = (inv_buffer){0};
}

static float *target_row(const inv_buffer *p, int32_t entry)
{
    return p->target + (size_t)entry * (size_t)p->targets;
}

static void copy_state(inv_buffer *p, int32_t to, const inv_state *s, int32_t label, const float *target)
{
    inv_state *d = &p->state[to];
    size_t k = (size_t)(s->action + s->rest);
    float *xy = d->xy, *demand = d->demand;
    *d = *s;
    d->node = NULL;
    d->xy = xy;
    d->demand = demand;
    memcpy(xy, s->xy, 2 * k * sizeof *xy);
    if (demand) memcpy(demand, s->demand, k * sizeof *demand);
    p->label[to] = label;
    for (int32_t j = 0; j < p->targets; j++) target_row(p, to)[j] = target ? target[j] : NAN;
}

const float *inv_buffer_target(const inv_buffer *p, int32_t entry)
{
    if (p->targets == 0) return NULL;
    const float *row = target_row(p, entry);
    return isnan(row[p->label[entry]]) ? NULL : row;
}

invit_status inv_buffer_add(inv_buffer *p, const inv_state *s, int32_t label, const float *target,
                            invit_error *err)
{
    if (p->count == p->room) INV_CHECK(reserve(p, p->room + p->room / 2 + 16, err));
    copy_state(p, p->count++, s, label, target);
    return INVIT_OK;
}

static void swap_floats(float *a, float *b, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        float x = a[i];
        a[i] = b[i];
        b[i] = x;
    }
}

static void swap_entries(inv_buffer *p, int32_t a, int32_t b)
{
    inv_state *s = &p->state[a], *t = &p->state[b], old = *s;
    swap_floats(s->xy, t->xy, 2 * p->k_max);
    if (p->demands) swap_floats(s->demand, t->demand, p->k_max);
    if (p->targets) swap_floats(target_row(p, a), target_row(p, b), p->targets);
    *s = *t;
    s->xy = old.xy; /* each entry keeps its own place in the block */
    s->demand = old.demand;
    old.xy = t->xy;
    old.demand = t->demand;
    *t = old;
    int32_t label = p->label[a];
    p->label[a] = p->label[b];
    p->label[b] = label;
}

int32_t inv_buffer_take(inv_buffer *p, int32_t count, inv_rng *rng)
{
    for (int32_t i = 0; i < count; i++) {
        int32_t pick = (int32_t)inv_rng_below(rng, (uint32_t)p->count);
        if (pick != --p->count) swap_entries(p, pick, p->count);
    }
    return p->count;
}

/* An entry as bytes: head, places, demands, target. */
static size_t demand_at(const inv_buffer *p)
{
    return sizeof(packed) + (size_t)p->k_max * 2 * sizeof(float);
}

static size_t target_at(const inv_buffer *p)
{
    return demand_at(p) + (p->demands ? (size_t)p->k_max * sizeof(float) : 0);
}

static size_t entry_bytes(const inv_buffer *p)
{
    return target_at(p) + (size_t)p->targets * sizeof(float);
}

size_t inv_buffer_bytes(const inv_buffer *p)
{
    return (size_t)p->count * entry_bytes(p);
}

void inv_buffer_write(const inv_buffer *p, char *bytes)
{
    memset(bytes, 0, inv_buffer_bytes(p));
    for (int32_t i = 0; i < p->count; i++, bytes += entry_bytes(p)) {
        const inv_state *s = &p->state[i];
        packed head = {s->action,
                       s->rest,
                       p->label[i],
                       s->depot_open,
                       s->load,
                       {s->last[0], s->last[1]},
                       {s->first[0], s->first[1]}};
        size_t k = (size_t)(s->action + s->rest);
        memcpy(bytes, &head, sizeof head);
        memcpy(bytes + sizeof head, s->xy, 2 * k * sizeof(float));
        if (p->demands) memcpy(bytes + demand_at(p), s->demand, k * sizeof(float));
        if (p->targets) memcpy(bytes + target_at(p), target_row(p, i), (size_t)p->targets * sizeof(float));
    }
}

static bool all_finite(const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

/* A checkpoint is a file like any other: every number that is an index or a length is looked at. */
static bool head_is_sound(const inv_buffer *p, const packed *h)
{
    if (h->action < 0 || h->action > p->action_k || h->action > p->k_max) return false;
    if (h->rest < 0 || h->rest > p->k_max - h->action) return false;
    bool depot = p->demands && h->depot_open != 0 && h->label == p->action_k;
    if (!depot && (h->label < 0 || h->label >= h->action)) return false;
    return isfinite(h->load) && all_finite(h->last, 2) && all_finite(h->first, 2);
}

invit_status inv_buffer_read(inv_buffer *p, const char *bytes, size_t size, invit_error *err)
{
    if (size % entry_bytes(p) != 0)
        return inv_fail(err, INVIT_ERR_INPUT, "%zu bytes of states, expected a multiple of %zu", size,
                        entry_bytes(p));
    if (size / entry_bytes(p) > INT32_MAX / 2)
        return inv_fail(err, INVIT_ERR_INPUT, "%zu bytes of states are too many", size);
    int32_t count = (int32_t)(size / entry_bytes(p));
    if (count > p->room) INV_CHECK(reserve(p, count, err));
    p->count = 0;
    for (int32_t i = 0; i < count; i++, bytes += entry_bytes(p)) {
        packed head;
        memcpy(&head, bytes, sizeof head);
        inv_state *s = &p->state[i];
        if (!head_is_sound(p, &head))
            return inv_fail(err, INVIT_ERR_INPUT,
                            "state %d has %d + %d neighbours and label %d, expected at most %d, %d of them "
                            "candidates",
                            i, head.action, head.rest, head.label, p->k_max, p->action_k);
        s->action = head.action;
        s->rest = head.rest;
        s->depot_open = head.depot_open != 0;
        s->load = head.load;
        memcpy(s->last, head.last, sizeof s->last);
        memcpy(s->first, head.first, sizeof s->first);
        size_t k = (size_t)(s->action + s->rest);
        memcpy(s->xy, bytes + sizeof head, 2 * k * sizeof(float));
        if (p->demands) memcpy(s->demand, bytes + demand_at(p), k * sizeof(float));
        if (p->targets) memcpy(target_row(p, i), bytes + target_at(p), (size_t)p->targets * sizeof(float));
        if (!all_finite(s->xy, 2 * k) || (p->demands && !all_finite(s->demand, k)))
            return inv_fail(err, INVIT_ERR_INPUT, "state %d holds a number that is not finite", i);
        p->label[i] = head.label;
    }
    p->count = count;
    return INVIT_OK;
}
