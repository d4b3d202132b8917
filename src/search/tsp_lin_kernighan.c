/* The step is LKH's, with less breadth: from t1 alternately take an edge out and put a shorter one in,
 * keeping the sum gained positive, up to a given depth; nothing is moved until closing the chain gives a
 * shorter tour. Chains may pass through states that do not close (several cycles) on the first levels, which
 * finds Or-opt and the other pure 3-opt moves too. */
#include "search/tsp_lin_kernighan.h"

#include "problem/metric.h"

#include <stdlib.h>
#include <string.h>

enum { OPEN_DEPTH = 3, KICK_SPAN = 30, JOURNAL = 1 << 15 };

/* How many continuations are followed after the i-th edge is out, and how many edges go at most; lean or not. */
static const int breadth[2][INV_MAX_OPT] = {{3, 2, 1, 1, 1, 1, 1, 1}, {3, 1, 1, 1, 1, 1, 1, 1}};
static const int depth[2] = {6, 8};

static inline double edge(const inv_lk *lk, int32_t a, int32_t b)
{
    if (lk->matrix)
        return lk->matrix[(size_t)lk->xy[2 * (size_t)a] * lk->stride + (size_t)lk->xy[2 * (size_t)b]];
    const double *u = lk->xy + 2 * (size_t)a, *v = lk->xy + 2 * (size_t)b;
    double dx = u[0] - v[0], dy = u[1] - v[1];
    if (lk->metric == INVIT_EXACT) return sqrt(dx * dx + dy * dy);
    /* Without floor(), a function call where the compiler may not assume SSE 4.1. */
    if (lk->metric == INVIT_EUC_2D) return inv_round_half_up(sqrt(dx * dx + dy * dy));
    return inv_metric_distance(lk->metric, u, v);
}

/* The length of the tour's edge a-b. */
static inline double tour_edge(const inv_lk *lk, int32_t a, int32_t b)
{
    const inv_link *l = lk->link + a;
    return l->to[0] == b ? l->length[0] : l->length[1];
}

/* What remains of a gain when a-b is put in; where that is nothing, most often without a square root. */
static inline double gain_after(const inv_lk *lk, double gain, int32_t a, int32_t b)
{
    if (lk->slack >= 0) {
        const double *u = lk->xy + 2 * (size_t)a, *v = lk->xy + 2 * (size_t)b;
        double dx = u[0] - v[0], dy = u[1] - v[1], most = gain + lk->slack;
        if (dx * dx + dy * dy >= most * most) return 0;
    }
    return gain - edge(lk, a, b);
}

static inline bool is_fixed(const inv_lk *lk, int32_t a, int32_t b)
{
    return lk->mate[a] == b;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

invit_status inv_lk_reserve(inv_lk *lk, int32_t capacity, int32_t k, invit_error *err)
{
    if (capacity <= lk->capacity && k == lk->k) return INVIT_OK;
    inv_lk_destroy(lk);
    size_t n = (size_t)capacity;
    lk->xy = malloc(2 * n * sizeof *lk->xy);
    lk->neighbour = malloc(n * (size_t)k * sizeof *lk->neighbour);
    lk->distance = malloc(n * (size_t)k * sizeof *lk->distance);
    lk->link = malloc(n * sizeof *lk->link);
    lk->mate = malloc(n * sizeof *lk->mate);
    lk->tour.order = malloc(n * sizeof *lk->tour.order);
    lk->tour.pos = malloc(n * sizeof *lk->tour.pos);
    lk->tour.scratch = malloc(n * sizeof *lk->tour.scratch);
    lk->queue = malloc(n * sizeof *lk->queue);
    lk->queued = malloc(n);
    lk->journal = malloc(JOURNAL * sizeof *lk->journal);
    if (!lk->xy || !lk->neighbour || !lk->distance || !lk->link || !lk->mate || !lk->tour.order ||
        !lk->tour.pos || !lk->tour.scratch || !lk->queue || !lk->queued || !lk->journal) {
        inv_lk_destroy(lk);
        return inv_no_memory(err, n * (68 + 12 * (size_t)k));
    }
    lk->capacity = capacity;
    lk->k = k;
    return INVIT_OK;
}

void inv_lk_destroy(inv_lk *lk)
{
    free(lk->xy);
    free(lk->neighbour);
    free(lk->distance);
    free(lk->link);
    free(lk->mate);
    free(lk->tour.order);
    free(lk->tour.pos);
    free(lk->tour.scratch);
    free(lk->queue);
    free(lk->queued);
    free(lk->journal);
    *lk = (inv_lk){0};
}

/* Positions, links and the length, from the order; returns the longest edge. */
static double take_over(inv_lk *lk)
{
    double largest = 0;
    lk->length = 0;
    for (int32_t i = 0; i < lk->n; i++) {
        int32_t v = lk->tour.order[i], next = lk->tour.order[i + 1 == lk->n ? 0 : i + 1];
        double d = edge(lk, v, next);
        lk->tour.pos[v] = i;
        lk->link[v].to[1] = next;
        lk->link[next].to[0] = v;
        lk->link[v].length[1] = lk->link[next].length[0] = d;
        lk->length += d;
        if (d > largest) largest = d;
    }
    return largest;
}

void inv_lk_restore(inv_lk *lk)
{
    take_over(lk);
}

void inv_lk_begin(inv_lk *lk)
{
    lk->tour.n = lk->n;
    lk->head = lk->waiting = 0;
    lk->journal_size = 0;
    lk->journalling = false;
    memset(lk->queued, 0, (size_t)lk->n);
    lk->slack = -1;
    if (!lk->matrix && lk->metric == INVIT_EUC_2D) lk->slack = 0.5;
    if (!lk->matrix && lk->metric == INVIT_EXACT) lk->slack = 0;
    for (int32_t i = 0; i < lk->n; i++) {
        lk->tour.order[i] = i;
        for (int32_t j = 0; j < lk->k; j++) {
            size_t at = (size_t)i * (size_t)lk->k + (size_t)j;
            if (lk->neighbour[at] < 0) break;
            lk->distance[at] = edge(lk, i, lk->neighbour[at]);
        }
    }
    double largest = take_over(lk);
    lk->epsilon = 1e-11 * (largest + lk->length / lk->n);
}

/* ---- the step ------------------------------------------------------------------------------------------ */

void inv_lk_push(inv_lk *lk, int32_t v)
{
    if (lk->queued[v]) return;
    lk->queued[v] = 1;
    int32_t at = lk->head + lk->waiting++;
    lk->queue[at >= lk->n ? at - lk->n : at] = v;
}

static void relink(inv_lk *lk, int32_t v, int32_t old, int32_t new, double length)
{
    inv_link *l = lk->link + v;
    int i = l->to[0] == old ? 0 : 1;
    l->to[i] = new;
    l->length[i] = length;
}

/* Brings the links up to date with a move. A node may be the end of two edges: the old ones go first. */
static void relink_all(inv_lk *lk, const inv_kopt *m, inv_join join)
{
    int ends = 2 * m->k;
    for (int i = 0; i < ends; i++) relink(lk, m->t[i], m->t[i ^ 1], -1, 0);
    for (int i = 0; i < ends; i++) {
        int j = inv_kopt_joined(i, m->k, join);
        if (j < i) continue;
        double d = edge(lk, m->t[i], m->t[j]);
        relink(lk, m->t[i], -1, m->t[j], d);
        relink(lk, m->t[j], -1, m->t[i], d);
    }
}

/* Makes the move on the tour, notes it, and has its ends looked at. */
static bool make(inv_lk *lk, inv_join join, double gain)
{
    const inv_kopt *m = &lk->move;
    int size = 2 * m->k;
    if (lk->journalling && lk->journal_size + size + 1 > JOURNAL) return false;
    if (!inv_kopt_apply(m, join, &lk->tour, lk->n)) return false;
    relink_all(lk, m, join);
    lk->length -= gain;
    lk->moves++;
    if (lk->journalling) {
        memcpy(lk->journal + lk->journal_size, m->t, (size_t)size * sizeof *m->t);
        lk->journal_size += size;
        lk->journal[lk->journal_size++] = join == INV_BRIDGE ? -m->k : m->k;
    }
    for (int i = 0; i < size; i++) inv_lk_push(lk, m->t[i]);
    return true;
}

typedef struct step {
    double gain;
    int32_t from, to; /* the edge to take out: joined at `from`, open at `to` */
} step;

static inline bool already_out(const inv_kopt *m, int32_t cut)
{
    for (int i = 0; i < m->k; i++)
        if (m->cut[i] == cut) return true;
    return false;
}

static inline bool already_in(const inv_kopt *m, int32_t a, int32_t b)
{
    for (int i = 1; i < m->k; i++) {
        int32_t u = m->t[2 * i - 1], v = m->t[2 * i];
        if ((u == a && v == b) || (u == b && v == a)) return true;
    }
    return false;
}

/* `gain`: lengths taken out minus lengths put in so far. True when an improving move was made. */
static bool extend(inv_lk *lk, double gain)
{
    inv_kopt *m = &lk->move;
    const inv_tour *tour = &lk->tour;
    int k = m->k, count = 0, width = k + 1 < depth[lk->lean] ? breadth[lk->lean][k - 1] : 0;
    int32_t open = m->t[2 * k - 1], begin = m->t[0];
    const int32_t *list = lk->neighbour + (size_t)open * (size_t)lk->k;
    const double *distance = lk->distance + (size_t)open * (size_t)lk->k;
    const inv_link *link = lk->link + open;
    double epsilon = lk->epsilon, least = -INFINITY; /* a continuation has to gain more than that */
    step best[8];
    inv_path path;
    bool known = false;

    for (int j = 0; j < lk->k && list[j] >= 0; j++) {
        double g = gain - distance[j];
        if (g <= epsilon) break;
        int32_t c = list[j];
        if (c == link->to[0] || c == link->to[1] || already_in(m, open, c)) continue;
        if (!known) {
            inv_kopt_path(m, &path);
            known = true;
        }
        int32_t p = tour->pos[c];
        int32_t before = p == 0 ? lk->n - 1 : p - 1;
        int32_t after = p + 1 == lk->n ? 0 : p + 1;
        int role = path.role[inv_kopt_before(m, p)];
        for (int side = 0; side < 2; side++) {
            bool closes = inv_path_goes_on(&path, role, side == 1);
            if (!closes && k + 1 > OPEN_DEPTH) continue;
            int32_t cut = side == 0 ? p : before;
            int32_t d = tour->order[side == 0 ? after : before];
            if (already_out(m, cut) || is_fixed(lk, c, d)) continue;
            double open_gain = g + tour_edge(lk, c, d);
            if (closes) {
                double closed_gain = gain_after(lk, open_gain, d, begin);
                if (closed_gain > epsilon) {
                    inv_kopt_cut(m, tour, c, d);
                    if (make(lk, INV_SEQUENTIAL, closed_gain)) return true;
                    inv_kopt_uncut(m);
                }
            }
            if (open_gain <= least || width == 0) continue;
            int at = count < width ? count++ : count - 1;
            for (; at > 0 && best[at - 1].gain < open_gain; at--) best[at] = best[at - 1];
            best[at] = (step){open_gain, c, d};
            if (count == width) least = best[count - 1].gain;
        }
    }
    for (int i = 0; i < count; i++) {
        inv_kopt_cut(m, tour, best[i].from, best[i].to);
        if (extend(lk, best[i].gain)) return true;
        inv_kopt_uncut(m);
    }
    return false;
}

static bool improve_at(inv_lk *lk, int32_t v)
{
    for (int side = 0; side < 2; side++) {
        int32_t w = side == 0 ? inv_tour_next(&lk->tour, v) : inv_tour_prev(&lk->tour, v);
        if (is_fixed(lk, v, w)) continue;
        lk->move.k = 0;
        inv_kopt_cut(&lk->move, &lk->tour, v, w);
        if (extend(lk, tour_edge(lk, v, w))) return true;
    }
    return false;
}

bool inv_lk_optimise(inv_lk *lk, int64_t budget)
{
    for (; lk->waiting > 0 && budget > 0; budget--) {
        int32_t v = lk->queue[lk->head];
        lk->head = lk->head + 1 == lk->n ? 0 : lk->head + 1;
        lk->waiting--;
        lk->queued[v] = 0;
        while (improve_at(lk, v)) {
        }
    }
    return lk->waiting == 0;
}

/* ---- kicks --------------------------------------------------------------------------------------------- */

/* A double bridge whose four edges lie within a short stretch of the tour: cheap at any size. */
static bool bridge_near(inv_lk *lk, int32_t v, inv_rng *rng)
{
    int32_t n = lk->n, span = n / 4 < KICK_SPAN ? n / 4 : KICK_SPAN, p = lk->tour.pos[v];
    double gain = 0;
    lk->move.k = 0;
    for (int i = 0; i < 4; i++) {
        int32_t a = lk->tour.order[p], b = lk->tour.order[p + 1 == n ? 0 : p + 1];
        if (lk->matrix && edge(lk, a, b) == 0) { /* nothing to win, or an edge that has to stay */
            p = p + 1 == n ? 0 : p + 1;
            a = b;
            b = lk->tour.order[p + 1 == n ? 0 : p + 1];
        }
        if (is_fixed(lk, a, b)) return false;
        inv_kopt_cut(&lk->move, &lk->tour, a, b);
        gain += edge(lk, a, b);
        p += 1 + (int32_t)inv_rng_below(rng, (uint32_t)span);
        if (p >= n) p -= n;
    }
    const int32_t *t = lk->move.t;
    gain -= edge(lk, t[0], t[5]) + edge(lk, t[6], t[3]) + edge(lk, t[4], t[1]) + edge(lk, t[2], t[7]);
    return make(lk, INV_BRIDGE, gain);
}

static void take_back(inv_lk *lk)
{
    inv_kopt back;
    while (lk->journal_size > 0) {
        int32_t k = lk->journal[--lk->journal_size];
        inv_join join = k < 0 ? INV_BRIDGE : INV_SEQUENTIAL;
        k = k < 0 ? -k : k;
        lk->journal_size -= 2 * k;
        inv_kopt_inverse(lk->journal + lk->journal_size, k, join, &lk->tour, &back);
        inv_kopt_apply(&back, join, &lk->tour, lk->n);
        relink_all(lk, &back, join);
    }
}

void inv_lk_kick(inv_lk *lk, int32_t v, inv_rng *rng)
{
    double before = lk->length;
    lk->journalling = true;
    lk->journal_size = 0;
    if (bridge_near(lk, v, rng)) {
        inv_lk_optimise(lk, INT64_MAX);
        if (lk->length > before) {
            take_back(lk);
            lk->length = before;
        }
    }
    lk->journalling = false;
}
