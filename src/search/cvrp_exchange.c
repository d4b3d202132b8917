#include "search/cvrp_exchange.h"

#include "search/cvrp_moves.h"

/* Most of a step's time goes into these moves, and more steps gain more than wider ones: with 10 neighbours for both, 15
 * generated instances of 250 to 4,000 customers ended 0.07 % longer on average at equal time. */
#define NEIGHBOURS 5 /* beside which a chain may go                                   */
#define PARTNERS   3 /* of them beside which the other chain of an exchange may begin */

/* Customers that follow each other, from the end that will stand beside the neighbour. */
typedef struct chain {
    int32_t node[INV_CVRP_LONGEST_CHAIN];
    int32_t count, load;
    int32_t before, behind; /* what lies beside the first and beside the last                        */
    bool backwards;         /* the route runs from the last to the first                            */
    double inside;          /* length of the two edges to `before` and `behind`                     */
} chain;

static int32_t step(const inv_cvrp_part *q, int32_t v, bool backwards)
{
    return backwards ? q->node[v].prev : q->node[v].next;
}

static double edge(const inv_cvrp_part *q, int32_t v, bool backwards)
{
    return backwards ? q->node[q->node[v].prev].out : q->node[v].out;
}

static void begin(const inv_cvrp_part *q, int32_t v, bool backwards, chain *c)
{
    *c = (chain){.node = {v},
                 .count = 1,
                 .load = q->node[v].demand,
                 .before = step(q, v, !backwards),
                 .behind = step(q, v, backwards),
                 .backwards = backwards,
                 .inside = q->node[v].out + q->node[q->node[v].prev].out};
}

/* One customer more at the far end; false: the chain is as long as it may be. */
static bool grow(const inv_cvrp_part *q, chain *c)
{
    int32_t v = c->behind;
    if (c->count == q->longest_chain || v >= q->n || v == q->pinned) return false;
    c->inside += edge(q, v, c->backwards) - edge(q, c->node[c->count - 1], c->backwards);
    c->node[c->count++] = v;
    c->load += q->node[v].demand;
    c->behind = step(q, v, c->backwards);
    return true;
}

static int32_t last(const chain *c)
{
    return c->node[c->count - 1];
}

static bool holds(const chain *c, int32_t v)
{
    for (int32_t i = 0; i < c->count; i++)
        if (c->node[i] == v) return true;
    return false;
}

static void unlink_chain(inv_cvrp_part *q, const chain *c)
{
    for (int32_t i = 0; i < c->count; i++) inv_cvrp_unlink_node(q, c->node[i]);
}

/* Links the chain between `first` and `second`, neighbours in this order, its first customer beside `first`, or
 * (turned) beside `second`. */
static void link_chain(inv_cvrp_part *q, const chain *c, int32_t first, bool turned)
{
    for (int32_t i = 0, at = first; i < c->count; i++) {
        inv_cvrp_link_after(q, c->node[i], at);
        if (!turned) at = c->node[i];
    }
}

/* Moves the chain to the edge between u and what lies beside u (t), its first customer beside u. */
static bool relocate(inv_cvrp_part *q, const chain *c, double gain, int32_t u, double d, bool backwards)
{
    int32_t t = step(q, u, backwards);
    if (holds(c, t)) return false;
    double most = gain - d + edge(q, u, backwards);
    if (most <= 0 || inv_cvrp_distance(q, last(c), t) >= most) return false;
    unlink_chain(q, c);
    link_chain(q, c, backwards ? t : u, backwards);
    return true;
}

/* Makes the exchange of c for the chain of `count` customers that begins at x, beside u. */
static void swap_chains(inv_cvrp_part *q, const chain *c, int32_t u, int32_t x, int32_t count, bool backwards,
                        bool turned)
{
    chain e;
    begin(q, x, backwards, &e);
    while (e.count < count) grow(q, &e);
    unlink_chain(q, c);
    unlink_chain(q, &e);
    link_chain(q, c, backwards ? e.behind : u, backwards);
    link_chain(q, &e, c->backwards ? c->behind : c->before, turned != c->backwards);
}

/* The chain changes places with one of another route that begins beside u. Most of those tried are refused, so they are
 * no more than a few numbers until one is not. */
static inline bool exchange(inv_cvrp_part *q, const chain *c, double slack, int32_t u, double d,
                            bool backwards)
{
    const inv_cvrp_node *node = q->node;
    int32_t x = step(q, u, backwards), end = last(c), room = q->room[q->route[c->node[0]]] + c->load;
    int32_t least = c->load - q->room[q->route[u]], load = 0;
    double inside = edge(q, u, backwards);
    for (int32_t count = 1, y = x, z; count <= q->longest_chain; count++, y = z) {
        if (y >= q->n || y == q->pinned || (load += node[y].demand) > room) return false;
        z = step(q, y, backwards);
        if (load < least) continue;
        /* a-c..w-b and u-x..y-z become u-c..w-z and a-x..y-b, or a-y..x-b */
        double removed = c->inside + inside + edge(q, y, backwards);
        double most = removed - d - slack - inv_cvrp_distance(q, end, z);
        if (most <= 0) continue;
        double straight = inv_cvrp_distance(q, c->before, x) + inv_cvrp_distance(q, y, c->behind);
        double turned =
            count == 1 ? straight : inv_cvrp_distance(q, c->before, y) + inv_cvrp_distance(q, x, c->behind);
        if (straight >= most && turned >= most) continue;
        swap_chains(q, c, u, x, count, backwards, turned < straight);
        return true;
    }
    return false;
}

/* Moves that bring the chain's first customer beside one of its neighbours. */
static bool move_chain(inv_cvrp_part *q, const chain *c)
{
    int32_t v = c->node[0], r = q->route[v], most = q->k < NEIGHBOURS ? q->k : NEIGHBOURS;
    const int32_t *near = q->near + (size_t)v * (size_t)q->k;
    const float *length = q->near_length + (size_t)v * (size_t)q->k;
    double slack = 1e-5 * q->unit; /* lengths of neighbours are rounded down to floats */
    double gain = c->inside - inv_cvrp_distance(q, c->before, c->behind) - slack;
    double farthest = gain, first = edge(q, v, !c->backwards);
    if (first > farthest) farthest = first;
    for (int32_t i = 0; i < most && near[i] != 0 && (double)length[i] < farthest; i++) {
        int32_t u = near[i], s = q->route[u];
        if (s == q->n || holds(c, u)) continue;
        double d = length[i];
        bool fits = s == r || q->room[s] >= c->load;
        if (d < gain && fits &&
            (relocate(q, c, gain, u, d, false) || (u != q->pinned && relocate(q, c, gain, u, d, true))))
            return true;
        if (i < PARTNERS && d < first && s != r &&
            (exchange(q, c, slack, u, d, false) || (u != q->pinned && exchange(q, c, slack, u, d, true))))
            return true;
    }
    return false;
}

bool inv_cvrp_exchange(inv_cvrp_part *q, int32_t v)
{
    if (v >= q->n || v == q->pinned || q->route[v] == q->n) return false;
    for (int backwards = 0; backwards <= 1; backwards++) {
        chain c;
        begin(q, v, backwards, &c);
        do {
            if (move_chain(q, &c)) return true;
        } while (grow(q, &c));
    }
    return false;
}
