#include "search/tsp_pieces.h"

#include "base/parallel.h"
#include "problem/metric.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* TRIED: of a large cycle so many nodes are tried for the place where it is joined to another. MOST_PARTS: what
 * is cut by all threads at once. */
enum { TRIED = 2000, MOST_PARTS = 64 };
/* Where a cell is split: so that the borders are elsewhere in the next round. */
#define OFF_THE_MIDDLE 0.125

/* ---- memory -------------------------------------------------------------------------------------------- */

/* A cell is split when it has more than 1.3 times the size wanted, off the middle by at most a quarter, so no
 * cell has fewer than 0.4 times that. */
static int32_t most_pieces(int32_t n, int32_t size)
{
    return (int32_t)(2.5 * n / size) + 2;
}

invit_status inv_pieces_create(const invit_instance *p, const inv_neighbours *nb, int threads, int32_t least,
                               inv_pieces *q, invit_error *err)
{
    size_t n = (size_t)p->n, pieces = (size_t)most_pieces(p->n, least) + 2 * MOST_PARTS;
    *q = (inv_pieces){.p = p, .nb = nb, .threads = threads};
    q->link = malloc(n * sizeof *q->link);
    q->member = malloc(n * sizeof *q->member);
    q->slot = malloc(n * sizeof *q->slot);
    q->look = malloc(n);
    q->begin = malloc((pieces + 1) * sizeof *q->begin);
    q->kept = malloc(pieces * sizeof *q->kept);
    q->length = malloc(pieces * sizeof *q->length);
    if (!q->link || !q->member || !q->slot || !q->look || !q->begin || !q->kept || !q->length) {
        inv_pieces_destroy(q);
        return inv_no_memory(err, n * (sizeof *q->link + sizeof *q->member + sizeof *q->slot + 1));
    }
    memset(q->look, 1, n);
    return INVIT_OK;
}

void inv_pieces_destroy(inv_pieces *q)
{
    free(q->link);
    free(q->member);
    free(q->slot);
    free(q->look);
    free(q->begin);
    free(q->kept);
    free(q->length);
    *q = (inv_pieces){0};
}

void inv_pieces_link(inv_pieces *q, const int32_t *order)
{
    int32_t n = q->p->n;
    for (int32_t i = 0; i < n; i++) {
        q->link[order[i]][0] = order[i == 0 ? n - 1 : i - 1];
        q->link[order[i]][1] = order[i + 1 == n ? 0 : i + 1];
    }
}

/* ---- cutting ------------------------------------------------------------------------------------------- */

typedef struct range {
    int32_t from, to;
} range;

typedef struct cut_job {
    inv_pieces *q;
    const int32_t *order;
    int32_t size;  /* of a piece                      */
    int32_t start; /* where the first stretch begins */
    uint64_t seed;
    range *part;     /* [parts] what threads cut, each as a whole */
    int32_t *middle; /* [parts] where split_parts splits them; -1: not at all */
    int parts;
    int32_t *begin; /* [parts][pieces + 1] where the pieces of each part begin */
    atomic_int next;
} cut_job;

/* Afterwards the nodes of [from, mid) are not above those of [mid, to) on the axis. */
static void select_nodes(const double *xy, int32_t *member, int32_t from, int32_t to, int32_t mid)
{
    while (to - from > 1) {
        double a = xy[2 * (size_t)member[from]], b = xy[2 * (size_t)member[from + (to - from) / 2]];
        double c = xy[2 * (size_t)member[to - 1]];
        double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c)); /* the one in the middle */
        int32_t i = from, j = to - 1;
        while (i <= j) {
            while (xy[2 * (size_t)member[i]] < pivot) i++;
            while (xy[2 * (size_t)member[j]] > pivot) j--;
            if (i > j) break;
            int32_t v = member[i];
            member[i++] = member[j];
            member[j--] = v;
        }
        if (mid <= j)
            to = j + 1;
        else if (mid >= i)
            from = i;
        else
            return;
    }
}

/* Splits a range of nodes across its longer side, so that about `share` of them are on the lower one, more or
 * less by at most `slack`; returns where. */
static int32_t split(const cut_job *job, range r, double share, double slack)
{
    const double *xy = job->q->p->xy;
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    for (int32_t i = r.from; i < r.to; i++)
        for (size_t c = 0; c < 2; c++) {
            double v = xy[2 * (size_t)job->q->member[i] + c];
            if (v < lo[c]) lo[c] = v;
            if (v > hi[c]) hi[c] = v;
        }
    inv_rng rng;
    inv_rng_init(&rng, job->seed, (uint64_t)r.from << 32 | (uint32_t)r.to);
    share += slack * (2 * inv_rng_double(&rng) - 1);
    int32_t mid = r.from + (int32_t)(share * (r.to - r.from));
    select_nodes(xy + (hi[0] - lo[0] >= hi[1] - lo[1] ? 0 : 1), job->q->member, r.from, r.to, mid);
    return mid;
}

static bool is_piece(const cut_job *job, range r)
{
    return r.to - r.from <= 1.3 * job->size;
}

static int32_t *cut_range(const cut_job *job, range r, int32_t *begin)
{
    if (is_piece(job, r)) {
        *begin++ = r.from;
        return begin;
    }
    int32_t mid = split(job, r, 0.5, OFF_THE_MIDDLE);
    begin = cut_range(job, (range){r.from, mid}, begin);
    return cut_range(job, (range){mid, r.to}, begin);
}

static void split_parts(void *context, int member)
{
    cut_job *job = context;
    (void)member;
    for (int i; (i = atomic_fetch_add(&job->next, 1)) < job->parts;)
        job->middle[i] = is_piece(job, job->part[i]) ? -1 : split(job, job->part[i], 0.5, OFF_THE_MIDDLE);
}

/* Splits the parts, level by level, until every thread has some; in the order of `member`. */
static void make_parts(cut_job *job)
{
    int threads = job->q->threads;
    for (bool more = threads > 1; more && 2 * job->parts <= MOST_PARTS && job->parts < 4 * threads;) {
        range old[MOST_PARTS];
        int olds = job->parts;
        memcpy(old, job->part, (size_t)olds * sizeof *old);
        atomic_store(&job->next, 0);
        inv_parallel(threads < olds ? threads : olds, split_parts, job);
        job->parts = 0;
        more = false;
        for (int i = 0; i < olds; i++) {
            int32_t mid = job->middle[i];
            job->part[job->parts++] = (range){old[i].from, mid < 0 ? old[i].to : mid};
            if (mid >= 0) job->part[job->parts++] = (range){mid, old[i].to};
            more |= mid >= 0;
        }
    }
    atomic_store(&job->next, 0);
}

static void cut_parts(void *context, int member)
{
    cut_job *job = context;
    (void)member;
    for (;;) {
        int i = atomic_fetch_add(&job->next, 1);
        if (i >= job->parts) return;
        range r = job->part[i];
        /* A part of m nodes has at most most_pieces(m) pieces; r.from leaves room for those before. */
        int32_t *begin = job->begin + (size_t)(2.5 * r.from / job->size) + 2 * (size_t)i;
        *cut_range(job, r, begin) = -1;
    }
}

static int by_place(const void *x, const void *y)
{
    const int32_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

static inline bool linked(const inv_pieces *q, int32_t a, int32_t b)
{
    return q->link[a][0] == b || q->link[a][1] == b;
}

/* Is the edge between two nodes that follow each other on the tour one that has to stay? */
static inline bool is_fixed(const inv_pieces *q, int32_t a, int32_t b)
{
    return q->fixed && q->fixed[a] == b;
}

/* Brings the nodes of piece i into the order of the tour. Nodes without an edge that may change are left out:
 * they are part of the paths outside. Expects places in the tour in `slot`. */
static void arrange(const cut_job *job, int32_t i)
{
    inv_pieces *q = job->q;
    int32_t *own = q->member + q->begin[i], count = q->begin[i + 1] - q->begin[i], n = q->p->n, kept = 0;
    for (int32_t j = 0; j < count; j++) own[j] = q->slot[own[j]];
    qsort(own, (size_t)count, sizeof *own, by_place);
    int32_t first = own[0], before = own[count - 1]; /* places: own[] is overwritten as we go */
    double length = 0;
    bool joined_before =
        (before + 1 == n ? 0 : before + 1) == first && !is_fixed(q, job->order[first], job->order[before]);
    for (int32_t j = 0; j < count; j++) {
        int32_t at = own[j], after = j + 1 < count ? own[j + 1] : first, v = job->order[at];
        bool joined_after = (at + 1 == n ? 0 : at + 1) == after && !is_fixed(q, v, job->order[after]);
        bool joined = joined_before || joined_after;
        if (joined_after) length += inv_distance(q->p, v, job->order[after]);
        joined_before = joined_after;
        if (joined && count >= INV_PIECE_LEAST) {
            q->slot[v] = q->begin[i] + kept;
            own[kept++] = v;
        } else {
            q->slot[v] = -1;
        }
    }
    if (kept < INV_PIECE_LEAST) {
        for (int32_t j = 0; j < kept; j++) q->slot[own[j]] = -1;
        kept = 0;
        length = 0;
    }
    q->kept[i] = kept;
    q->length[i] = length;
}

static void arrange_pieces(void *context, int member)
{
    cut_job *job = context;
    (void)member;
    for (int32_t i; (i = atomic_fetch_add(&job->next, 1)) < job->q->count;) arrange(job, i);
}

/* Nodes by their numbers, and where each is on the tour. */
static void list_nodes(void *context, size_t from, size_t to)
{
    cut_job *job = context;
    for (size_t i = from; i < to; i++) {
        job->q->member[i] = (int32_t)i;
        job->q->slot[job->order[i]] = (int32_t)i;
    }
}

void inv_pieces_cut(inv_pieces *q, const int32_t *order, int32_t size, uint64_t seed)
{
    int32_t n = q->p->n, middle[MOST_PARTS];
    range part[MOST_PARTS] = {{0, n}};
    cut_job job = {.q = q,
                   .order = order,
                   .size = size,
                   .seed = seed,
                   .part = part,
                   .middle = middle,
                   .parts = 1,
                   .begin = q->kept};
    inv_parallel_blocks(q->threads, (size_t)n, list_nodes, &job);
    make_parts(&job);
    inv_parallel(q->threads, cut_parts, &job);
    q->count = 0;
    for (int i = 0; i < job.parts; i++)
        for (int32_t *b = q->kept + (size_t)(2.5 * part[i].from / size) + 2 * (size_t)i; *b >= 0; b++)
            q->begin[q->count++] = *b;
    q->begin[q->count] = n;
    atomic_store(&job.next, 0);
    inv_parallel(q->count < 4 ? 1 : q->threads, arrange_pieces, &job);
}

/* Nodes in the order of the tour, from a place on it on. */
static void list_along(void *context, size_t from, size_t to)
{
    cut_job *job = context;
    size_t n = (size_t)job->q->p->n;
    for (size_t i = from; i < to; i++) {
        size_t at = i + (size_t)job->start;
        if (at >= n) at -= n;
        job->q->member[i] = job->order[at];
        job->q->slot[job->order[at]] = (int32_t)at;
    }
}

void inv_pieces_cut_along(inv_pieces *q, const int32_t *order, int32_t size, uint64_t seed)
{
    int32_t n = q->p->n, count = n / size > 0 ? n / size : 1;
    inv_rng rng;
    inv_rng_init(&rng, seed, 0);
    cut_job job = {.q = q, .order = order, .start = (int32_t)inv_rng_below(&rng, (uint32_t)n)};
    inv_parallel_blocks(q->threads, (size_t)n, list_along, &job);
    for (int32_t i = 0; i <= count; i++) q->begin[i] = (int32_t)((int64_t)n * i / count);
    q->count = count;
    inv_parallel(count < 4 ? 1 : q->threads, arrange_pieces, &job);
}

static int32_t *cut_evenly(const cut_job *job, range r, int32_t count, int32_t *begin)
{
    if (count == 1) {
        *begin++ = r.from;
        return begin;
    }
    int32_t few = count / 2, mid = split(job, r, (double)few / count, 0.1 / count);
    begin = cut_evenly(job, (range){r.from, mid}, few, begin);
    return cut_evenly(job, (range){mid, r.to}, count - few, begin);
}

void inv_pieces_cells(inv_pieces *q, int32_t count, uint64_t seed)
{
    int32_t n = q->p->n;
    cut_job job = {.q = q, .seed = seed};
    for (int32_t i = 0; i < n; i++) q->member[i] = i;
    cut_evenly(&job, (range){0, n}, count, q->begin);
    q->count = count;
    q->begin[count] = n;
}

void inv_pieces_cut_into(inv_pieces *q, const int32_t *order, int32_t count, uint64_t seed)
{
    cut_job job = {.q = q, .order = order};
    inv_pieces_cells(q, count, seed);
    for (int32_t i = 0; i < q->p->n; i++) q->slot[order[i]] = i;
    inv_parallel(count < 4 ? 1 : q->threads, arrange_pieces, &job);
}

/* ---- one piece ----------------------------------------------------------------------------------------- */

void inv_piece_destroy(inv_piece *w)
{
    inv_lk_destroy(&w->lk);
    free(w->node);
    free(w->outside);
    *w = (inv_piece){0};
}

static invit_status reserve(inv_piece *w, int32_t count, int32_t k, invit_error *err)
{
    if (count <= w->room) return INVIT_OK;
    inv_piece_destroy(w);
    INV_CHECK(inv_lk_reserve(&w->lk, count, k, err));
    w->node = malloc((size_t)count * sizeof *w->node);
    w->outside = malloc((size_t)count * sizeof *w->outside);
    if (!w->node || !w->outside) return inv_no_memory(err, (size_t)count * sizeof *w->node);
    w->room = count;
    return INVIT_OK;
}

void inv_pieces_tie(const inv_pieces *q, int32_t i, int32_t *mate, int32_t *outside)
{
    const int32_t *node = q->member + q->begin[i], count = q->kept[i];
    for (int32_t j = 0; j < count; j++) mate[j] = -1;
    for (int32_t j = 0; j < count; j++) {
        int32_t next = j + 1 == count ? 0 : j + 1, v = node[j], u = node[next];
        if (linked(q, v, u) && !is_fixed(q, v, u)) continue;
        mate[j] = next;
        mate[next] = j;
        int32_t before = node[j == 0 ? count - 1 : j - 1];
        int32_t after = node[next + 1 == count ? 0 : next + 1];
        outside[j] = q->link[v][0] == before ? q->link[v][1] : q->link[v][0];
        outside[next] = q->link[u][0] == after ? q->link[u][1] : q->link[u][0];
    }
}

void inv_pieces_put(inv_pieces *q, const int32_t *node, const int32_t *mate, const int32_t *outside,
                    const int32_t *order, int32_t count)
{
    int32_t before = order[count - 1];
    for (int32_t i = 0; i < count; i++) {
        int32_t j = order[i], after = order[i + 1 == count ? 0 : i + 1];
        q->link[node[j]][0] = before == mate[j] ? outside[j] : node[before];
        q->link[node[j]][1] = after == mate[j] ? outside[j] : node[after];
        before = j;
    }
}

invit_status inv_piece_load(inv_pieces *q, int32_t i, inv_piece *w, invit_error *err)
{
    int32_t count = q->kept[i], from = q->begin[i], k = q->nb->k;
    inv_lk *lk = &w->lk;
    lk->n = 0;
    if (count == 0) return INVIT_OK;
    INV_CHECK(reserve(w, count, k, err));
    lk->n = count;
    inv_lk_measure(lk, q->p);
    for (int32_t j = 0; j < count; j++) {
        int32_t v = q->member[from + j], kept = 0;
        w->node[j] = v;
        inv_lk_place(lk, j, q->p, v);
        const int32_t *list = inv_neighbours_of(q->nb, v);
        int32_t *own = lk->neighbour + (size_t)j * (size_t)k;
        for (int32_t l = 0; l < k && list[l] >= 0; l++) {
            int32_t at = q->slot[list[l]] - from; /* below 0 for nodes left out, beyond for other pieces */
            if (at >= 0 && at < count) own[kept++] = at;
        }
        while (kept < k) own[kept++] = -1;
    }
    inv_pieces_tie(q, i, lk->mate, w->outside);
    inv_lk_begin(lk);
    for (int32_t j = 0; j < count; j++) {
        if (q->look[w->node[j]]) inv_lk_push(lk, j);
        /* A node that does not see all its neighbours now is to be looked at again when it does. */
        q->look[w->node[j]] = lk->neighbour[((size_t)j + 1) * (size_t)k - 1] < 0;
    }
    return INVIT_OK;
}

void inv_piece_unload(inv_pieces *q, inv_piece *w)
{
    inv_lk *lk = &w->lk;
    int32_t n = lk->n;
    inv_pieces_put(q, w->node, lk->mate, w->outside, lk->tour.order, n);
    for (; lk->waiting > 0; lk->waiting--) {
        q->look[w->node[lk->queue[lk->head]]] = 1;
        lk->head = lk->head + 1 == n ? 0 : lk->head + 1;
    }
}

/* ---- joining cycles ------------------------------------------------------------------------------------ */

typedef struct cycles {
    inv_pieces *q;
    int32_t *of;     /* [n] the cycle each node was found on            */
    int32_t *parent; /* [count] union-find: cycles that have been joined */
    int32_t *start;  /* [count] a node of each                          */
    int32_t *size;   /* [count]                                         */
    int32_t count, room;
} cycles;

static inline int32_t follow(const inv_pieces *q, int32_t before, int32_t v)
{
    return q->link[v][0] == before ? q->link[v][1] : q->link[v][0];
}

static int32_t root(cycles *c, int32_t i)
{
    while (c->parent[i] != i) i = c->parent[i] = c->parent[c->parent[i]];
    return i;
}

static invit_status find_cycles(cycles *c, invit_error *err)
{
    int32_t n = c->q->p->n;
    memset(c->of, -1, (size_t)n * sizeof *c->of);
    for (int32_t i = 0; i < n; i++) {
        if (c->of[i] >= 0) continue;
        if (c->count == c->room) {
            size_t room = c->room ? 2 * (size_t)c->room : 64;
            int32_t *parent = realloc(c->parent, room * sizeof *parent);
            if (parent) c->parent = parent;
            int32_t *start = realloc(c->start, room * sizeof *start);
            if (start) c->start = start;
            int32_t *size = realloc(c->size, room * sizeof *size);
            if (size) c->size = size;
            if (!parent || !start || !size) return inv_no_memory(err, room * sizeof *parent);
            c->room = (int32_t)room;
        }
        int32_t v = i, before = c->q->link[i][0], size = 0;
        do {
            c->of[v] = c->count;
            int32_t next = follow(c->q, before, v);
            before = v;
            v = next;
            size++;
        } while (v != i);
        c->parent[c->count] = c->count;
        c->start[c->count] = i;
        c->size[c->count++] = size;
    }
    return INVIT_OK;
}

typedef struct exchange { /* takes out a-b and c-d, puts in a-c and b-d */
    double cost;
    int32_t a, b, c, d;
} exchange;

static void consider(const inv_pieces *q, int32_t a, int32_t c, exchange *best)
{
    for (int i = 0; i < 4; i++) {
        int32_t b = q->link[a][i & 1], d = q->link[c][i >> 1];
        if (is_fixed(q, a, b) || is_fixed(q, c, d)) continue;
        double cost = inv_distance(q->p, a, c) + inv_distance(q->p, b, d) - inv_distance(q->p, a, b) -
                      inv_distance(q->p, c, d);
        if (cost < best->cost) *best = (exchange){cost, a, b, c, d};
    }
}

/* One that takes out no fixed edge: each node has at most one of those. */
static exchange any_exchange(const inv_pieces *q, int32_t a, int32_t c)
{
    int32_t b = q->link[a][is_fixed(q, a, q->link[a][0])], d = q->link[c][is_fixed(q, c, q->link[c][0])];
    return (exchange){0, a, b, c, d};
}

static void replace(inv_pieces *q, int32_t v, int32_t old, int32_t new)
{
    q->link[v][q->link[v][0] == old ? 0 : 1] = new;
    q->look[v] = 1;
}

/* Joins the cycle through `start` to the one that is cheapest to join. */
static void join_cycle(cycles *c, int32_t start)
{
    inv_pieces *q = c->q;
    exchange best = {.cost = INFINITY};
    double walked = 0;
    int32_t own = root(c, c->of[start]), v = start, before = q->link[start][0], tried = 0;
    do {
        const int32_t *list = inv_neighbours_of(q->nb, v);
        for (int32_t j = 0; j < q->nb->k && list[j] >= 0; j++)
            if (root(c, c->of[list[j]]) != own) consider(q, v, list[j], &best);
        int32_t next = follow(q, before, v);
        walked += inv_distance(q->p, v, next);
        before = v;
        v = next;
        /* Not content with a place that costs more than an edge: lists reach far where a quadrant is empty. */
    } while (v != start && (++tried < TRIED || best.cost > walked / tried));
    if (best.cost == INFINITY) { /* nobody lists a node of another: the next one along the curve will do */
        int32_t other = start;
        do other = other + 1 == q->p->n ? 0 : other + 1;
        while (root(c, c->of[other]) == own);
        consider(q, start, other, &best);
        if (best.cost == INFINITY) best = any_exchange(q, start, other);
    }
    replace(q, best.a, best.b, best.c);
    replace(q, best.b, best.a, best.d);
    replace(q, best.c, best.d, best.a);
    replace(q, best.d, best.c, best.b);
    c->parent[own] = root(c, c->of[best.c]);
}

invit_status inv_pieces_join(inv_pieces *q, int32_t *order, int32_t *count, invit_error *err)
{
    invit_status status = INVIT_OK;
    cycles c = {.q = q, .of = q->slot};
    INV_TRY(find_cycles(&c, err));
    *count = c.count;
    int32_t largest = 0;
    for (int32_t i = 1; i < c.count; i++)
        if (c.size[i] > c.size[largest]) largest = i;
    for (int32_t i = 0; i < c.count; i++)
        while (root(&c, i) != root(&c, largest)) join_cycle(&c, c.start[i]);
    int32_t v = 0, before = q->link[0][0];
    for (int32_t i = 0; i < q->p->n; i++) {
        order[i] = v;
        int32_t next = follow(q, before, v);
        before = v;
        v = next;
    }
done:
    free(c.parent);
    free(c.start);
    free(c.size);
    return status;
}
