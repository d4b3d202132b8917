#include "search/cvrp_local.h"

#include "search/cvrp_exchange.h"
#include "search/cvrp_moves.h"

#define MOST_NEIGHBOURS 10
#define FARTHEST        1000 /* customers a move may walk over: a route may have any number */

/* The edges (a, next of a) and (b, next of b) go; a-b and next-next come (turned), or a-next of b and b-next
 * of a (tails). */
typedef struct move {
    int32_t a, b;
    bool turned;
} move;

/* Fills in load_to for the route; false: too many customers to walk over. */
static bool know_loads(inv_cvrp_part *q, int32_t r)
{
    if (q->loads_known[r]) return true;
    if (q->size[r] > FARTHEST) return false;
    int32_t load = 0, end = q->n + r;
    q->load_to[end] = 0;
    for (int32_t v = q->node[end].next; v != end; v = q->node[v].next)
        q->load_to[v] = load += q->node[v].demand;
    q->loads_known[r] = true;
    return true;
}

/* Both sides of the ring give the same route when they are turned: the shorter one is walked. */
static bool turn_within_route(inv_cvrp_part *q, const move *m)
{
    int32_t x = q->node[m->a].next, y = q->node[m->b].next, i = x, j = y;
    for (int32_t walked = 0; walked < FARTHEST; walked++) {
        if (i == m->b) {
            inv_cvrp_reverse(q, x, m->b);
            return true;
        }
        if (j == m->a) {
            inv_cvrp_reverse(q, y, m->a);
            return true;
        }
        i = q->node[i].next;
        j = q->node[j].next;
    }
    return false;
}

static bool apply(inv_cvrp_part *q, const move *m)
{
    int32_t r = q->route[m->a], s = q->route[m->b];
    if (r == s) return turn_within_route(q, m);
    if (!know_loads(q, r) || !know_loads(q, s)) return false;
    int32_t head_a = q->load_to[m->a], tail_a = q->capacity - q->room[r] - head_a;
    int32_t head_b = q->load_to[m->b], tail_b = q->capacity - q->room[s] - head_b;
    if (!m->turned) {
        if (head_a + tail_b > q->capacity || head_b + tail_a > q->capacity) return false;
        inv_cvrp_swap_tails(q, m->a, m->b);
        return true;
    }
    if (head_a + head_b > q->capacity || tail_a + tail_b > q->capacity) return false;
    /* Route s walked backwards goes from next(b) to b: then a-b is a change of tails. */
    int32_t next_b = q->node[m->b].next, end = q->n + s;
    inv_cvrp_reverse(q, q->node[end].next, q->node[end].prev);
    inv_cvrp_swap_tails(q, m->a, next_b);
    return true;
}

/* Makes the move if it shortens the routes: edges of length `removed` for one of length `added`, which may be
 * a float's error too short, and the edge x-y. */
static inline bool consider(inv_cvrp_part *q, move m, double removed, double added, int32_t x, int32_t y)
{
    double most = removed - added - 1e-5 * q->unit;
    if (most <= 0) return false;
    if (q->metric == INVIT_EXACT || q->metric == INVIT_EUC_2D) { /* most are too long: spare the root */
        double dx = q->node[x].x - q->node[y].x, dy = q->node[x].y - q->node[y].y, round = most + 0.5;
        if (dx * dx + dy * dy >= round * round) return false;
    }
    return inv_cvrp_distance(q, x, y) < most && apply(q, &m);
}

static bool stays(const inv_cvrp_part *q, int32_t route)
{
    return route == q->n || (q->pinned && route == q->route[q->pinned]);
}

/* Improving moves that replace the edge v-next by one from v to a neighbour; then the other edge joins next
 * to what lay beside the neighbour. */
static bool leave_forwards(inv_cvrp_part *q, int32_t v, int32_t next, double out)
{
    const inv_cvrp_node *node = q->node;
    const int32_t *near = q->near + (size_t)v * (size_t)q->k;
    const float *length = q->near_length + (size_t)v * (size_t)q->k;
    int32_t most = q->k < MOST_NEIGHBOURS ? q->k : MOST_NEIGHBOURS, r = q->route[v];
    for (int32_t i = 0; i < most && near[i] != 0 && (double)length[i] < out; i++) {
        int32_t u = near[i], s = q->route[u], before = node[u].prev, behind = node[u].next;
        if (stays(q, s)) continue;
        double d = length[i];
        if (u != next && v != behind && consider(q, (move){v, u, true}, out + node[u].out, d, next, behind))
            return true;
        if (r != s && consider(q, (move){v, before, false}, out + node[before].out, d, before, next))
            return true;
    }
    return false;
}

/* The same for the edge prev-v. */
static bool leave_backwards(inv_cvrp_part *q, int32_t prev, int32_t v, double in)
{
    const inv_cvrp_node *node = q->node;
    const int32_t *near = q->near + (size_t)v * (size_t)q->k;
    const float *length = q->near_length + (size_t)v * (size_t)q->k;
    int32_t most = q->k < MOST_NEIGHBOURS ? q->k : MOST_NEIGHBOURS, r = q->route[v];
    for (int32_t i = 0; i < most && near[i] != 0 && (double)length[i] < in; i++) {
        int32_t u = near[i], s = q->route[u], before = node[u].prev, behind = node[u].next;
        if (stays(q, s)) continue;
        double d = length[i];
        if (u != prev && v != before &&
            consider(q, (move){prev, before, true}, in + node[before].out, d, prev, before))
            return true;
        if (r != s && consider(q, (move){prev, u, false}, in + node[u].out, d, prev, behind)) return true;
    }
    return false;
}

/* The first improving move that takes out the edge behind v. */
static bool improve_edge(inv_cvrp_part *q, int32_t v)
{
    int32_t next = q->node[v].next;
    double out = q->node[v].out;
    if (stays(q, q->route[v])) return false;
    return (v < q->n && leave_forwards(q, v, next, out)) || (next < q->n && leave_backwards(q, v, next, out));
}

/* A customer stands at two edges: in one state of the solution it is looked at once. */
static bool move_chains(inv_cvrp_part *q, int32_t v)
{
    if (v >= q->n || q->chains_tried[v] == q->state) return false;
    if (inv_cvrp_exchange(q, v)) return true;
    q->chains_tried[v] = q->state;
    return false;
}

/* The first improving move around the edge behind v. Fast steps do without chains: they are made too often. */
static bool improve(inv_cvrp_part *q, int32_t v)
{
    if (improve_edge(q, v)) return true;
    return !q->give_up && (move_chains(q, v) || move_chains(q, q->node[v].next));
}

static void wait(inv_cvrp_part *q, int32_t v, int32_t *waiting)
{
    if (q->queued[v] || q->route[v] == q->n) return;
    q->queued[v] = true;
    q->queue[(*waiting)++] = v;
}

/* Edges that a change has made, by the id they leave from. */
static void wait_for_change(inv_cvrp_part *q, const inv_cvrp_change *e, int32_t *waiting)
{
    wait(q, e->node, waiting);
    wait(q, e->other, waiting);
    /* Before the turned path lies an edge that leaves from neither of its ends. */
    if (e->kind == INV_CVRP_REVERSED) wait(q, q->node[e->node].prev, waiting);
}

/* Whether the edge behind v was not there when the step began: customers often come back to where they were,
 * and a pair of old edges has been looked at before. */
static bool is_new(const inv_cvrp_part *q, int32_t v)
{
    int32_t next = q->node[v].next;
    if (q->changed_in[v] != q->step || q->old_next[v] == next) return false;
    return !(q->changed_in[next] == q->step && q->old_next[next] == v);
}

/* The journal has room for INV_CVRP_LOCAL_MOVES. */
static int32_t most_moves(const inv_cvrp_part *q)
{
    if (q->local_moves > 0)
        return q->local_moves < INV_CVRP_LOCAL_MOVES ? q->local_moves : INV_CVRP_LOCAL_MOVES;
    return q->n > INV_CVRP_LONG_ROUTE * q->routes ? INV_CVRP_LOCAL_MOVES : INV_CVRP_FEW_MOVES;
}

void inv_cvrp_local_search(inv_cvrp_part *q)
{
    int32_t waiting = 0, moves = 0, most = most_moves(q);
    q->state++;
    for (size_t i = 0; i < q->changes; i++) {
        const inv_cvrp_change *e = &q->change[i];
        if (is_new(q, e->node)) wait(q, e->node, &waiting);
        if (is_new(q, e->other)) wait(q, e->other, &waiting);
    }
    while (waiting > 0) {
        int32_t v = q->queue[--waiting];
        q->queued[v] = false;
        while (moves < most) {
            size_t first = q->changes;
            if (!improve(q, v)) break;
            moves++;
            q->state++;
            for (size_t i = first; i < q->changes; i++) wait_for_change(q, &q->change[i], &waiting);
        }
    }
}
