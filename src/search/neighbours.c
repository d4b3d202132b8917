/* The k-d tree is implicit: node t covers a range of the permuted points, its children the two halves.
 * Queries are made in tree order, so that one query's nodes are still in cache for the next. */
#include "search/neighbours.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "problem/metric.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 8, BLOCK = 512, MOST_SUBTREES = 64, MAX_K = 64, LOOK_AT_CLOCK = 20000 };

typedef struct box {
    double lo[2], hi[2];
} box;

typedef struct kd_tree {
    int32_t n;
    int32_t *id; /* [n] node numbers in tree order */
    double *xy;  /* [n][2] in tree order           */
    box *bounds; /* per tree node                  */
} kd_tree;

typedef struct found {
    double d;
    int32_t id;
} found;

typedef struct query {
    const kd_tree *tree;
    double at[2];
    int32_t self;
    int32_t place; /* of the point in tree order */
    int quadrant;  /* -1: all round */
    int count, want;
    found best[MAX_K + 1];
} query;

static inline bool nearer(found a, found b)
{
    return a.d < b.d || (a.d == b.d && a.id < b.id);
}

/* Quadrants are half-open, so that every other point is in exactly one of them. */
static inline int quadrant_of(double dx, double dy)
{
    if (dx > 0) return dy > 0 ? 0 : 3;
    return dy > 0 ? 1 : 2;
}

/* ---- building ------------------------------------------------------------------------------------------ */

static void swap_points(kd_tree *t, int32_t a, int32_t b)
{
    int32_t id = t->id[a];
    t->id[a] = t->id[b];
    t->id[b] = id;
    for (int c = 0; c < 2; c++) {
        double v = t->xy[2 * (size_t)a + (size_t)c];
        t->xy[2 * (size_t)a + (size_t)c] = t->xy[2 * (size_t)b + (size_t)c];
        t->xy[2 * (size_t)b + (size_t)c] = v;
    }
}

/* Quickselect: afterwards [lo, mid) <= [mid, hi) on the axis. */
static void select_median(kd_tree *t, int32_t lo, int32_t hi, int32_t mid, size_t axis)
{
    while (hi - lo > 1) {
        int32_t probe = lo + (hi - lo) / 2;
        double a = t->xy[2 * (size_t)lo + axis], b = t->xy[2 * (size_t)probe + axis];
        double c = t->xy[2 * (size_t)(hi - 1) + axis];
        double pivot = a < b ? (b < c ? b : (a < c ? c : a)) : (a < c ? a : (b < c ? c : b));
        int32_t i = lo, j = hi - 1;
        while (i <= j) {
            while (t->xy[2 * (size_t)i + axis] < pivot) i++;
            while (t->xy[2 * (size_t)j + axis] > pivot) j--;
            if (i <= j) swap_points(t, i++, j--);
        }
        if (mid <= j)
            hi = j + 1;
        else if (mid >= i)
            lo = i;
        else
            return;
    }
}

static bool time_is_up(const inv_neighbour_options *o)
{
    return inv_flag_set(o->cancel) || inv_now() >= o->deadline;
}

/* What is left to build below a tree node. */
typedef struct subtree {
    size_t node;
    int32_t lo, hi;
} subtree;

typedef struct build_job {
    kd_tree *tree;
    const inv_neighbour_options *o;
    subtree below[MOST_SUBTREES];
    int count, depth; /* subtrees from this depth on are left for later; 0: none */
    atomic_int next, stopped;
} build_job;

static void build(build_job *job, size_t node, int32_t lo, int32_t hi, int depth)
{
    kd_tree *t = job->tree;
    if (depth == job->depth && depth > 0) {
        job->below[job->count++] = (subtree){node, lo, hi};
        return;
    }
    if (hi - lo > LOOK_AT_CLOCK) {
        if (atomic_load(&job->stopped)) return;
        if (time_is_up(job->o)) {
            atomic_store(&job->stopped, 1);
            return;
        }
    }
    box b = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (int32_t i = lo; i < hi; i++)
        for (size_t c = 0; c < 2; c++) {
            double v = t->xy[2 * (size_t)i + c];
            if (v < b.lo[c]) b.lo[c] = v;
            if (v > b.hi[c]) b.hi[c] = v;
        }
    t->bounds[node] = b;
    if (hi - lo <= LEAF) return;
    int32_t mid = lo + (hi - lo) / 2;
    select_median(t, lo, hi, mid, b.hi[0] - b.lo[0] >= b.hi[1] - b.lo[1] ? 0 : 1);
    build(job, 2 * node + 1, lo, mid, depth + 1);
    build(job, 2 * node + 2, mid, hi, depth + 1);
}

static void build_below(void *context, int member)
{
    build_job *job = context;
    (void)member;
    for (int i; (i = atomic_fetch_add(&job->next, 1)) < job->count;)
        build(job, job->below[i].node, job->below[i].lo, job->below[i].hi, INT_MIN);
}

/* The top of the tree first, then all threads at what is below. False when the time was up before. */
static bool build_tree(kd_tree *t, const inv_neighbour_options *o)
{
    build_job job = {.tree = t, .o = o};
    int threads = t->n < 4 * BLOCK ? 1 : o->threads;
    if (threads > 1)
        for (int subtrees = 1; subtrees < 4 * threads && 2 * subtrees <= MOST_SUBTREES; subtrees *= 2)
            job.depth++;
    build(&job, 0, 0, t->n, 0);
    inv_parallel(threads, build_below, &job);
    return !atomic_load(&job.stopped);
}

/* ---- asking -------------------------------------------------------------------------------------------- */

static inline double box_distance(const box *b, const double *at)
{
    double dx = at[0] < b->lo[0] ? b->lo[0] - at[0] : (at[0] > b->hi[0] ? at[0] - b->hi[0] : 0);
    double dy = at[1] < b->lo[1] ? b->lo[1] - at[1] : (at[1] > b->hi[1] ? at[1] - b->hi[1] : 0);
    return dx * dx + dy * dy;
}

static inline bool box_in_quadrant(const box *b, const double *at, int quadrant)
{
    bool right = quadrant == 0 || quadrant == 3, up = quadrant < 2;
    return (right ? b->hi[0] > at[0] : b->lo[0] <= at[0]) && (up ? b->hi[1] > at[1] : b->lo[1] <= at[1]);
}

static inline void offer(query *q, found f)
{
    if (q->count == q->want && !nearer(f, q->best[q->count - 1])) return;
    int at = q->count < q->want ? q->count++ : q->count - 1;
    for (; at > 0 && nearer(f, q->best[at - 1]); at--) q->best[at] = q->best[at - 1];
    q->best[at] = f;
}

static void descend(query *q, size_t node, int32_t lo, int32_t hi, double distance)
{
    const kd_tree *t = q->tree;
    if (q->count == q->want && distance >= q->best[q->count - 1].d) return;
    if (q->quadrant >= 0 && !box_in_quadrant(&t->bounds[node], q->at, q->quadrant)) return;
    if (hi - lo <= LEAF) {
        for (int32_t i = lo; i < hi; i++) {
            double dx = t->xy[2 * (size_t)i] - q->at[0], dy = t->xy[2 * (size_t)i + 1] - q->at[1];
            if (t->id[i] == q->self || (q->quadrant >= 0 && quadrant_of(dx, dy) != q->quadrant)) continue;
            offer(q, (found){dx * dx + dy * dy, t->id[i]});
        }
        return;
    }
    int32_t mid = lo + (hi - lo) / 2;
    double left = box_distance(&t->bounds[2 * node + 1], q->at),
           right = box_distance(&t->bounds[2 * node + 2], q->at);
    /* Among points at one place each finds those beside it in the tree, not all of them the same few. */
    bool left_first = left == right ? q->place < mid : left < right;
    if (left_first) {
        descend(q, 2 * node + 1, lo, mid, left);
        descend(q, 2 * node + 2, mid, hi, right);
    } else {
        descend(q, 2 * node + 2, mid, hi, right);
        descend(q, 2 * node + 1, lo, mid, left);
    }
}

/* Makes room for quadrant neighbours by dropping the farthest of the others. */
static void add_quadrants(query *q, const double *xy, int per_quadrant)
{
    query nearest = *q;
    int have[4] = {0}, side[MAX_K];
    for (int i = 0; i < nearest.count; i++) {
        const double *b = xy + 2 * (size_t)nearest.best[i].id;
        side[i] = quadrant_of(b[0] - q->at[0], b[1] - q->at[1]);
        have[side[i]]++;
    }
    for (int s = 0; s < 4; s++) {
        if (have[s] >= per_quadrant) continue;
        q->quadrant = s;
        q->count = 0;
        q->want = per_quadrant;
        descend(q, 0, 0, q->tree->n, 0);
        for (int i = have[s]; i < q->count; i++) {
            int drop = nearest.count - 1;
            while (drop >= 0 && have[side[drop]] <= per_quadrant) drop--;
            if (drop < 0) break;
            have[side[drop]]--;
            nearest.best[drop] = q->best[i];
            side[drop] = s;
            have[s]++;
        }
    }
    *q = nearest;
}

typedef struct fill_job {
    const invit_instance *p;
    const inv_neighbour_options *o;
    const kd_tree *tree;
    const double *flat; /* [n][2] in node order */
    int32_t *out;
    atomic_int next, stopped;
} fill_job;

static void fill_lists(void *context, int member)
{
    fill_job *job = context;
    const invit_instance *p = job->p;
    int k = job->o->k;
    (void)member;
    for (;;) {
        int32_t from = atomic_fetch_add(&job->next, 1) * BLOCK;
        if (from >= p->n || atomic_load(&job->stopped)) return;
        if (time_is_up(job->o)) {
            atomic_store(&job->stopped, 1);
            return;
        }
        int32_t to = p->n - from < BLOCK ? p->n : from + BLOCK;
        for (int32_t i = from; i < to; i++) {
            query q = {.tree = job->tree, .self = job->tree->id[i], .place = i, .quadrant = -1, .want = k};
            memcpy(q.at, job->tree->xy + 2 * (size_t)i, sizeof q.at);
            descend(&q, 0, 0, p->n, 0);
            if (job->o->per_quadrant > 0 && q.count == k) add_quadrants(&q, job->flat, job->o->per_quadrant);

            int32_t *list = job->out + (size_t)q.self * (size_t)k;
            query sorted = {.want = k};
            for (int j = 0; j < q.count; j++)
                offer(&sorted, (found){inv_edge(p, q.self, q.best[j].id), q.best[j].id});
            for (int j = 0; j < k; j++) list[j] = j < sorted.count ? sorted.best[j].id : -1;
        }
    }
}

/* ---- matrices ------------------------------------------------------------------------------------------ */

static void fill_by_matrix(void *context, int member)
{
    fill_job *job = context;
    const invit_instance *p = job->p;
    (void)member;
    for (int32_t i; (i = atomic_fetch_add(&job->next, 1)) < p->n && !atomic_load(&job->stopped);) {
        if (i % 64 == 0 && time_is_up(job->o)) atomic_store(&job->stopped, 1);
        query q = {.want = job->o->k};
        for (int32_t j = 0; j < p->n; j++)
            if (j != i) offer(&q, (found){inv_distance(p, i, j), j});
        for (int j = 0; j < job->o->k; j++)
            job->out[(size_t)i * (size_t)job->o->k + (size_t)j] = j < q.count ? q.best[j].id : -1;
    }
}

/* Without coordinates all pairs are looked at, and there are no quadrants. */
static invit_status by_matrix(const invit_instance *p, const inv_neighbour_options *o, inv_neighbours *out,
                              invit_error *err)
{
    out->node = malloc((size_t)p->n * (size_t)o->k * sizeof *out->node);
    if (!out->node) return inv_no_memory(err, (size_t)p->n * (size_t)o->k * sizeof *out->node);
    fill_job job = {.p = p, .o = o, .out = out->node};
    inv_parallel(p->n < BLOCK ? 1 : o->threads, fill_by_matrix, &job);
    if (!atomic_load(&job.stopped)) return INVIT_OK;
    inv_neighbours_destroy(out);
    return inv_fail(err, INVIT_ERR_CANCELLED, "stopped while listing neighbours");
}

invit_status inv_neighbours_create(const invit_instance *p, const inv_neighbour_options *o,
                                   inv_neighbours *out, invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t n = (size_t)p->n, nodes = 1;
    while (nodes * LEAF < n) nodes *= 2;
    *out = (inv_neighbours){.n = p->n, .k = o->k};
    if (o->k < 1 || o->k > MAX_K || 4 * o->per_quadrant > o->k)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "neighbour lists of %d with %d per quadrant: expected 1 to %d, at most a "
                        "quarter per quadrant",
                        (int)o->k, (int)o->per_quadrant, MAX_K);
    if (p->rules && p->rules->distance) return by_matrix(p, o, out, err);

    kd_tree t = {.n = p->n};
    double scale[2];
    inv_plane_scale(p, scale);
    /* Coordinates measured alike on both axes, also on the globe; only the choice of candidates depends on
     * this, never a length. In node order: the instance's own where nothing is scaled. */
    double *scaled = scale[0] == 1 && scale[1] == 1 ? NULL : malloc(2 * n * sizeof *scaled);
    const double *flat = scaled ? scaled : p->xy;
    t.id = malloc(n * sizeof *t.id);
    t.xy = malloc(2 * n * sizeof *t.xy);
    t.bounds = malloc(2 * nodes * sizeof *t.bounds);
    out->node = malloc(n * (size_t)o->k * sizeof *out->node);
    if ((!scaled && (scale[0] != 1 || scale[1] != 1)) || !t.id || !t.xy || !t.bounds || !out->node) {
        status = inv_no_memory(err, n * (size_t)o->k * sizeof *out->node);
        goto done;
    }
    for (size_t i = 0; scaled && i < 2 * n; i++) scaled[i] = p->xy[i] * scale[i % 2];
    memcpy(t.xy, flat, 2 * n * sizeof *flat);
    for (int32_t i = 0; i < p->n; i++) t.id[i] = i;
    bool built = build_tree(&t, o);

    fill_job job = {.p = p, .o = o, .tree = &t, .flat = flat, .out = out->node};
    atomic_store(&job.stopped, !built);
    inv_parallel(p->n < 4 * BLOCK ? 1 : o->threads, fill_lists, &job);
    if (atomic_load(&job.stopped))
        status = inv_fail(err, INVIT_ERR_CANCELLED, "stopped while listing neighbours");
done:
    free(scaled);
    free(t.id);
    free(t.xy);
    free(t.bounds);
    if (status != INVIT_OK) inv_neighbours_destroy(out);
    return status;
}

void inv_neighbours_destroy(inv_neighbours *nb)
{
    free(nb->node);
    nb->node = NULL;
}
