#include "search/cvrp_moves.h"

#include <string.h>

void inv_cvrp_note_empty(inv_cvrp_part *q, int32_t r)
{
    if (q->in_empty[r]) return;
    q->in_empty[r] = true;
    q->empty[q->empties++] = r;
}

int32_t inv_cvrp_empty_route(inv_cvrp_part *q)
{
    for (;;) {
        int32_t r = q->empty[q->empties - 1];
        if (q->size[r] == 0) return r;
        q->empties--;
        q->in_empty[r] = false;
    }
}

void inv_cvrp_mark_dirty(inv_cvrp_part *q, int32_t v)
{
    if (q->is_dirty[v]) return;
    q->is_dirty[v] = true;
    q->dirty[q->dirties++] = v;
}

void inv_cvrp_remember_best(inv_cvrp_part *q)
{
    while (q->dirties > 0) {
        int32_t v = q->dirty[--q->dirties];
        q->best_next[v] = q->node[v].next;
        q->is_dirty[v] = false;
    }
    q->best_length = q->length;
}

/* ---- one customer ------------------------------------------------------------------------------- */

static void put(inv_cvrp_part *q, int32_t v, int32_t prev, double before, double after)
{
    inv_cvrp_node *p = &q->node[prev], *c = &q->node[v];
    int32_t r = q->route[prev], next = p->next;
    c->prev = prev;
    c->next = next;
    q->route[v] = r;
    c->out = after;
    p->next = v;
    p->out = before;
    q->node[next].prev = v;
    q->room[r] -= c->demand;
    q->loads_known[r] = false;
    if (q->size[r]++ == 0) q->routes++;
}

static void take(inv_cvrp_part *q, int32_t v, double across)
{
    inv_cvrp_node *c = &q->node[v], *p = &q->node[c->prev];
    int32_t r = q->route[v];
    p->next = c->next;
    p->out = across;
    q->node[c->next].prev = c->prev;
    q->route[v] = q->n;
    q->room[r] += c->demand;
    q->loads_known[r] = false;
    if (--q->size[r] == 0) {
        q->routes--;
        inv_cvrp_note_empty(q, r);
    }
}

static void note_next(inv_cvrp_part *q, int32_t v)
{
    if (q->changed_in[v] == q->step) return;
    q->changed_in[v] = q->step;
    q->old_next[v] = q->node[v].next;
}

void inv_cvrp_link_after(inv_cvrp_part *q, int32_t v, int32_t prev)
{
    inv_cvrp_change *e = &q->change[q->changes++];
    const inv_cvrp_node *p = &q->node[prev];
    *e = (inv_cvrp_change){.node = v,
                           .other = prev,
                           .kind = INV_CVRP_LINKED,
                           .before = inv_cvrp_distance(q, prev, v),
                           .after = inv_cvrp_distance(q, v, p->next),
                           .across = p->out};
    q->length += e->before + e->after - e->across;
    note_next(q, prev);
    put(q, v, prev, e->before, e->after);
}

void inv_cvrp_unlink_node(inv_cvrp_part *q, int32_t v)
{
    inv_cvrp_change *e = &q->change[q->changes++];
    const inv_cvrp_node *c = &q->node[v];
    *e = (inv_cvrp_change){.node = v,
                           .other = c->prev,
                           .kind = INV_CVRP_UNLINKED,
                           .before = q->node[c->prev].out,
                           .after = c->out,
                           .across = inv_cvrp_distance(q, c->prev, c->next)};
    q->length += e->across - e->before - e->after;
    note_next(q, v);
    note_next(q, e->other);
    take(q, v, e->across);
}

/* ---- paths -------------------------------------------------------------------------------------- */

static void turn(inv_cvrp_part *q, int32_t first, int32_t last, double before, double after)
{
    inv_cvrp_node *node = q->node;
    int32_t outer_prev = node[first].prev, outer_next = node[last].next;
    double out = after;
    q->loads_known[q->route[first]] = false;
    for (int32_t v = first;;) {
        inv_cvrp_node *c = &node[v];
        int32_t next = c->next;
        double old = c->out;
        c->next = c->prev;
        c->prev = next;
        c->out = out;
        out = old;
        inv_cvrp_mark_dirty(q, v);
        if (v == last) break;
        v = next;
    }
    node[first].next = outer_next;
    node[last].prev = outer_prev;
    node[outer_prev].next = last;
    node[outer_prev].out = before;
    node[outer_next].prev = first;
    inv_cvrp_mark_dirty(q, outer_prev);
}

void inv_cvrp_reverse(inv_cvrp_part *q, int32_t first, int32_t last)
{
    inv_cvrp_change *e = &q->change[q->changes++];
    int32_t prev = q->node[first].prev, next = q->node[last].next;
    *e = (inv_cvrp_change){.node = last,
                           .other = first,
                           .kind = INV_CVRP_REVERSED,
                           .before = q->node[prev].out,
                           .after = q->node[last].out};
    double before = inv_cvrp_distance(q, prev, last), after = inv_cvrp_distance(q, first, next);
    q->length += before + after - e->before - e->after;
    turn(q, first, last, before, after);
}

/* Hands the customers from `first` up to `end`, a depot end, over to another route; returns the last one, or
 * `end` when there is none. */
static int32_t hand_over(inv_cvrp_part *q, int32_t first, int32_t end, int32_t to, int32_t *count,
                         int32_t *load)
{
    int32_t last = end;
    *count = *load = 0;
    for (int32_t v = first; v != end; v = q->node[v].next) {
        q->route[v] = to;
        *load += q->node[v].demand;
        ++*count;
        last = v;
    }
    return last;
}

static void count_route(inv_cvrp_part *q, int32_t r, int32_t size, int32_t load)
{
    if (q->size[r] == 0 && size > 0) q->routes++;
    q->size[r] += size;
    q->room[r] -= load;
    q->loads_known[r] = false;
    if (size < 0 && q->size[r] == 0) {
        q->routes--;
        inv_cvrp_note_empty(q, r);
    }
}

static void cross(inv_cvrp_part *q, int32_t a, int32_t b, double out_a, double out_b)
{
    inv_cvrp_node *node = q->node;
    int32_t r = q->route[a], s = q->route[b], end_r = q->n + r, end_s = q->n + s;
    int32_t next_a = node[a].next, next_b = node[b].next, count_a, count_b, load_a, load_b;
    int32_t last_a = hand_over(q, next_a, end_r, s, &count_a, &load_a);
    int32_t last_b = hand_over(q, next_b, end_s, r, &count_b, &load_b);
    int32_t to_a = count_b ? next_b : end_r;
    int32_t to_b = count_a ? next_a : end_s;
    node[a].next = to_a;
    node[a].out = out_a;
    node[to_a].prev = a;
    node[b].next = to_b;
    node[b].out = out_b;
    node[to_b].prev = b;
    if (count_b) {
        node[last_b].next = end_r;
        node[end_r].prev = last_b;
        inv_cvrp_mark_dirty(q, last_b);
    }
    if (count_a) {
        node[last_a].next = end_s;
        node[end_s].prev = last_a;
        inv_cvrp_mark_dirty(q, last_a);
    }
    count_route(q, r, count_b - count_a, load_b - load_a);
    count_route(q, s, count_a - count_b, load_a - load_b);
    inv_cvrp_mark_dirty(q, a);
    inv_cvrp_mark_dirty(q, b);
}

void inv_cvrp_swap_tails(inv_cvrp_part *q, int32_t a, int32_t b)
{
    inv_cvrp_change *e = &q->change[q->changes++];
    int32_t next_a = q->node[a].next, next_b = q->node[b].next; /* depot ends all lie in one place */
    *e = (inv_cvrp_change){
        .node = a, .other = b, .kind = INV_CVRP_CROSSED, .before = q->node[a].out, .after = q->node[b].out};
    double out_a = inv_cvrp_distance(q, a, next_b), out_b = inv_cvrp_distance(q, b, next_a);
    q->length += out_a + out_b - e->before - e->after;
    cross(q, a, b, out_a, out_b);
}

/* ---- the journal -------------------------------------------------------------------------------- */

/* A counter that has gone round would take old notes for new ones. */
static void next_step(inv_cvrp_part *q)
{
    if (++q->step != 0) return;
    memset(q->changed_in, 0, 2 * (size_t)q->n * sizeof *q->changed_in);
    q->step = 1;
}

void inv_cvrp_undo(inv_cvrp_part *q)
{
    next_step(q);
    while (q->changes > 0) {
        const inv_cvrp_change *e = &q->change[--q->changes];
        switch (e->kind) {
        case INV_CVRP_LINKED:
            take(q, e->node, e->across);
            break;
        case INV_CVRP_UNLINKED:
            put(q, e->node, e->other, e->before, e->after);
            break;
        case INV_CVRP_REVERSED:
            turn(q, e->node, e->other, e->before, e->after);
            break;
        case INV_CVRP_CROSSED:
            cross(q, e->node, e->other, e->before, e->after);
            break;
        }
    }
}

/* The moves of paths have marked what they changed already. */
void inv_cvrp_keep(inv_cvrp_part *q)
{
    next_step(q);
    while (q->changes > 0) {
        const inv_cvrp_change *e = &q->change[--q->changes];
        if (e->kind > INV_CVRP_UNLINKED) continue;
        inv_cvrp_mark_dirty(q, e->node);
        inv_cvrp_mark_dirty(q, e->other);
    }
}
