#include "search/tsp_eax.h"

#include "problem/metric.h"

#include <stdlib.h>
#include <string.h>

/* Longer cycles, in edges of one parent, are not tried: they cost most and seldom pay. */
enum { LONGEST_CYCLE = 20000 };
/* So many nodes of a subtour, from where it was cut, are looked at for a place to join it to another. */
enum { LONGEST_SEARCH = 500 };

/* One end of an edge that is exchanged: at `node`, the link to `old` becomes one to `new`. */
typedef struct edit {
    int32_t node, old, new;
} edit;

typedef struct cut {
    int32_t pos;  /* position of the edge's first node in a                     */
    int32_t edge; /* which of the cycle's edges: ends 2 * edge and 2 * edge + 1  */
} cut;

struct inv_eax {
    const inv_tsp_search *s;
    const invit_instance *p;
    const inv_neighbours *nb;
    int32_t n;
    int32_t *pos;       /* [n] position in the child                                                        */
    int32_t (*link)[2]; /* [n] neighbours on the child, which begins as a                             */
    int32_t (*rest[2])[2]; /* [2][n] edges of a not in b, and of b not in a, not yet in a cycle          */
    uint8_t *degree[2];    /* [2][n] how many of these                                                   */
    int32_t *path, (*seen)[2]; /* [2n + 1], [n] the walk that finds cycles, where it has a node on even/odd */
    int32_t *cycle, *start;   /* [2n], [n + 1] the cycles' nodes; edges of a and b in turn, a's first       */
    int32_t cycles, *pick;    /* [n] cycles not tried yet                                                   */
    cut *cuts;                /* [n] the cycle's edges of a in the order of their positions                 */
    int32_t *place, *subtour; /* [n] of each edge its place in cuts; of each piece its subtour              */
    int32_t *size, *entry;    /* [n] nodes of each subtour, one of its nodes                                */
    uint8_t *forward;         /* [n] of each edge: its first end comes first on a                           */
    edit *edits, *best; /* [room]                                                                      */
    int32_t *touched, *scratch; /* [room], [n] where the child differs; a stretch of it */
    int32_t edit_count, best_count, room;
};

static inline int32_t other_link(const inv_eax *x, int32_t v, int32_t from)
{
    return x->link[v][0] == from ? x->link[v][1] : x->link[v][0];
}

invit_status inv_eax_create(const inv_tsp_search *s, inv_eax **out, invit_error *err)
{
    size_t n = (size_t)s->p->n;
    inv_eax *x = *out = calloc(1, sizeof *x);
    if (!x) return inv_no_memory(err, sizeof *x);
    x->s = s;
    x->p = s->p;
    x->nb = s->nb;
    x->n = s->p->n;
    x->room = x->n < LONGEST_CYCLE ? 6 * x->n + 8 : 6 * LONGEST_CYCLE + 8;
    bool room = true;
#define ROOM(array, count) room = room && ((array) = malloc((count) * sizeof *(array)))
    ROOM(x->pos, n);
    ROOM(x->link, n);
    for (int side = 0; side < 2; side++) {
        ROOM(x->rest[side], n);
        ROOM(x->degree[side], n);
    }
    ROOM(x->path, 2 * n + 1);
    ROOM(x->seen, n);
    ROOM(x->cycle, 2 * n);
    ROOM(x->start, n + 1);
    ROOM(x->pick, n);
    ROOM(x->cuts, n);
    ROOM(x->place, n);
    ROOM(x->subtour, n);
    ROOM(x->size, n);
    ROOM(x->entry, n);
    ROOM(x->forward, n);
    ROOM(x->scratch, n);
    ROOM(x->edits, (size_t)x->room);
    ROOM(x->best, (size_t)x->room);
    ROOM(x->touched, (size_t)x->room);
#undef ROOM
    if (room) return INVIT_OK;
    inv_eax_destroy(x);
    *out = NULL;
    return inv_no_memory(err, 250 * n);
}

void inv_eax_destroy(inv_eax *x)
{
    if (!x) return;
    free(x->pos);
    free(x->link);
    for (int side = 0; side < 2; side++) {
        free(x->rest[side]);
        free(x->degree[side]);
    }
    free(x->path);
    free(x->seen);
    free(x->cycle);
    free(x->start);
    free(x->pick);
    free(x->cuts);
    free(x->place);
    free(x->subtour);
    free(x->size);
    free(x->entry);
    free(x->forward);
    free(x->edits);
    free(x->best);
    free(x->touched);
    free(x->scratch);
    free(x);
}

/* ---- alternating cycles -------------------------------------------------------------------------------- */

static void set_links(const int32_t *order, int32_t n, int32_t (*link)[2])
{
    for (int32_t i = 0; i < n; i++) {
        link[order[i]][0] = order[i == 0 ? n - 1 : i - 1];
        link[order[i]][1] = order[i + 1 == n ? 0 : i + 1];
    }
}

static void drop(inv_eax *x, int side, int32_t v, int32_t w)
{
    int32_t *list = x->rest[side][v];
    if (list[0] == w) list[0] = list[1];
    x->degree[side][v]--;
}

/* Keeps in rest[side] only what the parents do not share. */
static void find_differences(inv_eax *x, const int32_t *a, const int32_t *b)
{
    set_links(a, x->n, x->link);
    memcpy(x->rest[0], x->link, (size_t)x->n * sizeof *x->link);
    set_links(b, x->n, x->rest[1]);
    for (int32_t v = 0; v < x->n; v++) {
        int32_t *ra = x->rest[0][v], *rb = x->rest[1][v];
        x->degree[0][v] = x->degree[1][v] = 2;
        for (int i = 0; i < 2; i++) {
            int32_t w = x->link[v][i];
            if (w != rb[0] && !(w == rb[1] && x->degree[1][v] == 2)) continue;
            if (ra[0] == w) ra[0] = ra[1];
            if (rb[0] == w) rb[0] = rb[1];
            x->degree[0][v]--;
            x->degree[1][v]--;
        }
        x->seen[v][0] = x->seen[v][1] = -1;
    }
}

/* Notes the cycle at the end of the path, from index `from`, with an edge of a first. */
static void keep_cycle(inv_eax *x, int32_t from, int32_t to)
{
    int32_t *out = x->cycle + x->start[x->cycles], count = to - from, shift = from & 1;
    for (int32_t i = 0; i < count; i++) out[i] = x->path[from + (i + shift) % count];
    x->start[x->cycles + 1] = x->start[x->cycles] + count;
    x->cycles++;
}

/* Walks along edges of a and b in turn, chosen at random where there are two, and cuts off a cycle whenever
 * the walk comes back to a node on the same foot. Even indices of the path leave by an edge of a. */
static void find_cycles(inv_eax *x, inv_rng *rng)
{
    int32_t at = 0;
    x->cycles = 0;
    x->start[0] = 0;
    for (int32_t i = 0, first = (int32_t)inv_rng_below(rng, (uint32_t)x->n); i < x->n; i++) {
        int32_t v = first + i < x->n ? first + i : first + i - x->n;
        while (x->degree[0][v] > 0) {
            x->path[at = 0] = v;
            x->seen[v][0] = 0;
            do {
                int side = at & 1;
                int32_t u = x->path[at];
                int32_t w = x->rest[side][u][x->degree[side][u] == 2 ? inv_rng_u64(rng) >> 63 : 0];
                drop(x, side, u, w);
                drop(x, side, w, u);
                x->path[++at] = w;
                int32_t back = x->seen[w][at & 1];
                if (back < 0) {
                    x->seen[w][at & 1] = at;
                    continue;
                }
                keep_cycle(x, back, at);
                for (int32_t j = back + 1; j < at; j++) x->seen[x->path[j]][j & 1] = -1;
                at = back;
            } while (at > 0);
            x->seen[v][0] = -1;
        }
    }
}

/* ---- one child ----------------------------------------------------------------------------------------- */

static void relink(inv_eax *x, int32_t node, int32_t old, int32_t new)
{
    x->link[node][x->link[node][0] == old ? 0 : 1] = new;
    x->edits[x->edit_count++] = (edit){node, old, new};
}

static void take_back(inv_eax *x)
{
    while (x->edit_count > 0) {
        edit e = x->edits[--x->edit_count];
        x->link[e.node][x->link[e.node][0] == e.new ? 0 : 1] = e.old;
    }
}

static int by_position(const void *a, const void *b)
{
    int32_t p = ((const cut *)a)->pos, q = ((const cut *)b)->pos;
    return (p > q) - (p < q);
}

static inline int32_t partner(int32_t end, int32_t ends)
{
    if (end & 1) return end + 1 == ends ? 0 : end + 1;
    return end == 0 ? ends - 1 : end - 1;
}

/* Exchanges the cycle's edges; fills cuts, and subtour, size and entry of the pieces. Returns the gain. */
static double exchange(inv_eax *x, const int32_t *child, const int32_t *t, int32_t ends, int32_t *subtours)
{
    int32_t k = ends / 2, n = x->n;
    double gain = 0;
    for (int32_t i = 0; i < k; i++) {
        int32_t u = t[2 * i], v = t[2 * i + 1], pu = x->pos[u], pv = x->pos[v];
        x->forward[i] = pu + 1 == n ? pv == 0 : pv == pu + 1;
        x->cuts[i] = (cut){x->forward[i] ? pu : pv, i};
        gain += inv_distance(x->p, u, v) - inv_distance(x->p, v, t[partner(2 * i + 1, ends)]);
    }
    for (int32_t e = 0; e < ends; e++) relink(x, t[e], t[e ^ 1], t[partner(e, ends)]);
    if (k <= 12) {
        for (int32_t i = 1; i < k; i++) {
            cut c = x->cuts[i];
            int32_t j = i;
            for (; j > 0 && x->cuts[j - 1].pos > c.pos; j--) x->cuts[j] = x->cuts[j - 1];
            x->cuts[j] = c;
        }
    } else {
        qsort(x->cuts, (size_t)k, sizeof *x->cuts, by_position);
    }
    for (int32_t r = 0; r < k; r++) {
        x->place[x->cuts[r].edge] = r;
        x->subtour[r] = -1;
    }

    /* Piece r runs from behind cut r to cut r + 1; follow pieces and new edges in turn. */
    *subtours = 0;
    for (int32_t r = 0; r < k; r++) {
        if (x->subtour[r] >= 0) continue;
        int32_t id = (*subtours)++, piece = r;
        bool back = false;
        x->size[id] = 0;
        x->entry[id] = child[x->cuts[r].pos + 1 == n ? 0 : x->cuts[r].pos + 1];
        do {
            int32_t after = piece + 1 == k ? 0 : piece + 1;
            int32_t length = x->cuts[after].pos - x->cuts[piece].pos;
            x->subtour[piece] = id;
            x->size[id] += length > 0 ? length : length + n;
            /* out at the piece's far end */
            int32_t edge = x->cuts[back ? piece : after].edge;
            int32_t end = 2 * edge + (back ? x->forward[edge] : !x->forward[edge]);
            end = partner(end, 2 * k);
            edge = end >> 1;
            back =
                (end & 1) != x->forward[edge]; /* the first end of a cut is the end of the piece before it */
            piece = x->place[edge];
            if (back) piece = piece == 0 ? k - 1 : piece - 1;
        } while (x->subtour[piece] < 0);
    }
    return gain;
}

static int32_t subtour_of(const inv_eax *x, int32_t v, int32_t k)
{
    int32_t pos = x->pos[v], lo = 0, hi = k;
    while (lo < hi) { /* the number of cuts before v */
        int32_t mid = (lo + hi) / 2;
        if (x->cuts[mid].pos < pos)
            lo = mid + 1;
        else
            hi = mid;
    }
    return x->subtour[lo == 0 ? k - 1 : lo - 1];
}

/* Is the edge between neighbours on the child one that has to stay? Both parents have it, so that only joining
 * subtours could take it out. */
static inline bool is_fixed(const inv_eax *x, int32_t a, int32_t b)
{
    return x->s->fixed && x->s->fixed[a] == b;
}

/* Joins the smallest subtour to another by the best exchange of two edges; returns its gain, -INFINITY if the
 * neighbour lists offer none. */
static double join_smallest(inv_eax *x, int32_t k, int32_t *subtours)
{
    int32_t count = *subtours, id = 0;
    for (int32_t i = 1; i < count; i++)
        if (x->size[i] < x->size[id]) id = i;
    double best = -INFINITY;
    int32_t bu = 0, bv = 0, bw = 0, bz = 0;
    int32_t u = x->entry[id], from = x->link[u][0];
    for (int32_t i = 0; i < x->size[id] && i < LONGEST_SEARCH; i++) {
        const int32_t *list = inv_neighbours_of(x->nb, u);
        double du[2] = {inv_distance(x->p, u, x->link[u][0]), inv_distance(x->p, u, x->link[u][1])};
        for (int j = 0; j < x->nb->k && list[j] >= 0; j++) {
            int32_t w = list[j];
            if (subtour_of(x, w, k) == id) continue;
            double duw = inv_distance(x->p, u, w);
            for (int s = 0; s < 2; s++) {
                int32_t z = x->link[w][s];
                if (is_fixed(x, w, z)) continue;
                double dw = inv_distance(x->p, w, z) - duw;
                for (int q = 0; q < 2; q++) {
                    double gain = du[q] + dw - inv_distance(x->p, x->link[u][q], z);
                    if (gain <= best || is_fixed(x, u, x->link[u][q])) continue;
                    best = gain;
                    bu = u, bv = x->link[u][q], bw = w, bz = z;
                }
            }
        }
        int32_t next = other_link(x, u, from);
        from = u;
        u = next;
    }
    if (best == -INFINITY) return best;
    int32_t into = subtour_of(x, bw, k);
    relink(x, bu, bv, bw);
    relink(x, bv, bu, bz);
    relink(x, bw, bz, bu);
    relink(x, bz, bw, bv);
    x->size[into] += x->size[id];
    /* The last subtour takes the number that is free now. */
    int32_t last = --*subtours;
    for (int32_t r = 0; r < k; r++) {
        if (x->subtour[r] == id) x->subtour[r] = into;
        if (x->subtour[r] == last) x->subtour[r] = id;
    }
    x->size[id] = x->size[last];
    x->entry[id] = x->entry[last];
    return best;
}

/* After other cycles were exchanged, this one may not be possible any more. */
static bool still_there(const inv_eax *x, const int32_t *t, int32_t ends)
{
    for (int32_t e = 0; e < ends; e++) {
        const int32_t *link = x->link[t[e]];
        int32_t out = t[e ^ 1], in = t[partner(e, ends)];
        if ((link[0] != out && link[1] != out) || link[0] == in || link[1] == in) return false;
    }
    return true;
}

static double try_cycle(inv_eax *x, const int32_t *child, int32_t c, double least)
{
    const int32_t *t = x->cycle + x->start[c];
    int32_t subtours, ends = x->start[c + 1] - x->start[c];
    if (ends > 2 * LONGEST_CYCLE || !still_there(x, t, ends)) return -INFINITY;
    double gain = exchange(x, child, t, ends, &subtours);
    /* Joining seldom gains anything: stop as soon as there is nothing left to win. */
    while (subtours > 1 && gain > least) gain += join_smallest(x, ends / 2, &subtours);
    return subtours == 1 ? gain : -INFINITY;
}

static int by_value(const void *a, const void *b)
{
    int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Makes the best edits for good. The longest stretch of the child without any stays where it is. */
static void keep_edits(inv_eax *x, int32_t *child)
{
    int32_t n = x->n, m = x->best_count;
    for (int32_t i = 0; i < m; i++) {
        edit e = x->best[i];
        x->link[e.node][x->link[e.node][0] == e.old ? 0 : 1] = e.new;
        x->touched[i] = x->pos[e.node];
    }
    qsort(x->touched, (size_t)m, sizeof *x->touched, by_value);
    int32_t first = x->touched[m - 1],
            length = x->touched[0] + n - first; /* the stretch around the array's end */
    for (int32_t i = 0; i + 1 < m; i++)
        if (x->touched[i + 1] - x->touched[i] > length) {
            first = x->touched[i];
            length = x->touched[i + 1] - first;
        }
    int32_t last = first + length < n ? first + length : first + length - n, count = n - length - 1;
    int32_t from = child[last == 0 ? n - 1 : last - 1], v = child[last];
    if (length == 1) { /* a stretch of two nodes that were both touched: the edge between may be gone too */
        from = x->link[v][0];
        count = n - 1;
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t next = other_link(x, v, from);
        from = v;
        x->scratch[i] = v = next;
    }
    for (int32_t i = 0, p = last; i < count; i++) {
        p = p + 1 == n ? 0 : p + 1;
        child[p] = x->scratch[i];
        x->pos[x->scratch[i]] = p;
    }
}

double inv_eax_cross(inv_eax *x, const int32_t *a, const int32_t *b, int group, int most, inv_rng *rng,
                     int32_t *child)
{
    double sum = 0, noise = 1e-11 * inv_distance(x->p, a[0], a[x->n / 2]);
    for (int32_t i = 0; i < x->n; i++) {
        x->pos[a[i]] = i;
        child[i] = a[i];
    }
    find_differences(x, a, b);
    find_cycles(x, rng);
    for (int32_t i = 0; i < x->cycles; i++) x->pick[i] = i;
    for (int32_t tried = 0; tried < x->cycles && most > 0 && !inv_tsp_over(x->s);) {
        double best = noise;
        x->best_count = 0;
        for (int i = 0; i < group && tried < x->cycles; i++, tried++) {
            int32_t j = tried + (int32_t)inv_rng_below(rng, (uint32_t)(x->cycles - tried)), c = x->pick[j];
            x->pick[j] = x->pick[tried];
            double gain = try_cycle(x, child, c, best);
            if (gain > best) {
                best = gain;
                x->best_count = x->edit_count;
                memcpy(x->best, x->edits, (size_t)x->edit_count * sizeof *x->edits);
            }
            take_back(x);
        }
        most--;
        if (x->best_count == 0) continue;
        keep_edits(x, child);
        sum += best;
    }
    return sum;
}
