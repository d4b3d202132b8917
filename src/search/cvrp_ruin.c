#include "search/cvrp_ruin.h"

#include "search/cvrp_moves.h"

/* The paper's constants. */
#define REMOVED_ON_AVERAGE 10.0
#define LONGEST_STRING     10.0
#define SPLIT_STRING       0.5
#define SPLIT_GROWS        0.01

static void remove_customer(inv_cvrp_part *q, int32_t v)
{
    inv_cvrp_unlink_node(q, v);
    q->removed[q->removals++] = v;
    if (!q->near_first) return;
    /* Recreate will look at the list's beginning: two lines of the cache, as rows are not aligned. */
    size_t row = (size_t)v * (size_t)q->k, sixteenth = row + (size_t)(q->k < 16 ? q->k - 1 : 15);
    __builtin_prefetch(&q->near[row]);
    __builtin_prefetch(&q->near[sixteenth]);
    __builtin_prefetch(&q->near_length[row]);
    __builtin_prefetch(&q->near_length[sixteenth]);
}

/* Takes a string of `length` customers that has c in it out of c's route; a split string leaves some in its
 * middle. */
static void remove_string(inv_cvrp_part *q, int32_t c, int32_t length, inv_rng *rng)
{
    int32_t r = q->route[c], size = q->size[r] - (q->pinned && q->route[q->pinned] == r);
    int32_t left = 0;
    if (length > 1 && length < size && inv_rng_double(rng) < SPLIT_STRING) {
        left = 1;
        while (length + left < size && inv_rng_double(rng) < SPLIT_GROWS) left++;
    }
    int32_t span = length + left, back = 0, ahead = 0, first = c;
    for (int32_t v = q->node[c].next; v < q->n && ahead < span - 1; v = q->node[v].next) ahead++;
    for (int32_t v = q->node[c].prev; v < q->n && v != q->pinned && back < span - 1; v = q->node[v].prev)
        back++;
    int32_t least = span - 1 - ahead;
    back = least + (int32_t)inv_rng_below(rng, (uint32_t)(back - least + 1));
    while (back-- > 0) first = q->node[first].prev;

    int32_t head = left ? 1 + (int32_t)inv_rng_below(rng, (uint32_t)(length - 1)) : length;
    for (int32_t i = 0, v = first; i < span; i++) {
        int32_t next = q->node[v].next;
        if (i < head || i >= head + left) remove_customer(q, v);
        v = next;
    }
}

void inv_cvrp_ruin(inv_cvrp_part *q, int32_t seed, inv_rng *rng)
{
    double mean = (double)(q->n - 1) / q->routes;
    double longest = mean < LONGEST_STRING ? mean : LONGEST_STRING;
    double most = 4 * REMOVED_ON_AVERAGE / (1 + longest) - 1;
    int32_t strings = (int32_t)(1 + inv_rng_double(rng) * most);
    const int32_t *near = q->near + (size_t)seed * (size_t)q->k;

    q->removals = 0;
    q->stamp_now++;
    for (int32_t i = -1; i < q->k && strings > 0; i++) {
        int32_t c = i < 0 ? seed : near[i];
        if (c == 0) break;
        int32_t r = q->route[c];
        if (r == q->n || c == q->pinned || q->stamp[r] == q->stamp_now) continue;
        q->stamp[r] = q->stamp_now;
        int32_t size = q->size[r] - (q->pinned && q->route[q->pinned] == r);
        double most_here = size < longest ? size : longest;
        remove_string(q, c, (int32_t)(1 + inv_rng_double(rng) * most_here), rng);
        strings--;
    }
}

/* Of eleven draws four are for a random order, four for large demands first, two for far customers first, one for near
 * ones: the paper's weights. */
static double sort_key(const inv_cvrp_part *q, int32_t v, uint32_t draw, inv_rng *rng)
{
    if (draw < 4) return inv_rng_double(rng);
    if (draw < 8) return -(double)q->node[v].demand;
    double home = inv_cvrp_distance(q, q->n, v);
    return draw < 10 ? -home : home;
}

void inv_cvrp_sort_removed(inv_cvrp_part *q, inv_rng *rng)
{
    uint32_t draw = inv_rng_below(rng, 11);
    for (int32_t i = 0; i < q->removals; i++) q->key[i] = sort_key(q, q->removed[i], draw, rng);
    for (int32_t i = 1; i < q->removals; i++) {
        int32_t v = q->removed[i], j = i;
        double key = q->key[i];
        for (; j > 0 && q->key[j - 1] > key; j--) {
            q->key[j] = q->key[j - 1];
            q->removed[j] = q->removed[j - 1];
        }
        q->key[j] = key;
        q->removed[j] = v;
    }
}
