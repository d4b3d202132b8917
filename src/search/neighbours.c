/* Neighbour lists by the k-d tree. Queries are made in tree order, so that one query's vertices are still in cache
 * for the next. */
#include "search/neighbours.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "problem/metric.h"
#include "view/kd_tree.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, MAX_K = 64, LEAF = 10 };

typedef struct query {
    const inv_kd_tree *tree;
    double at[2];
    int32_t self;
    int32_t home; /* the leaf with the point itself */
    int quadrant; /* -1: all round */
    int count, want;
    inv_near best[MAX_K + 1];
} query;

static inline bool nearer(inv_near a, inv_near b)
{
    return a.d < b.d || (a.d == b.d && a.node < b.node);
}

/* Quadrants are half-open, so that every other point is in exactly one of them. */
static inline int quadrant_of(double dx, double dy)
{
    if (dx > 0) return dy > 0 ? 0 : 3;
    return dy > 0 ? 1 : 2;
}

static bool time_is_up(const inv_neighbour_options *o)
{
    return inv_flag_set(o->cancel) || inv_now() >= o->deadline;
}

/* ---- by the tree ----------------------------------------------------------------------------------------- */

static inline bool box_in_quadrant(const inv_box *b, const double *at, int quadrant)
{
    bool right = quadrant == 0 || quadrant == 3, up = quadrant < 2;
    return (right ? b->high[0] > at[0] : b->low[0] <= at[0]) &&
           (up ? b->high[1] > at[1] : b->low[1] <= at[1]);
}

static inline void offer(query *q, inv_near f)
{
    if (q->count == q->want && !nearer(f, q->best[q->count - 1])) return;
    int at = q->count < q->want ? q->count++ : q->count - 1;
    for (; at > 0 && nearer(f, q->best[at - 1]); at--) q->best[at] = q->best[at - 1];
    q->best[at] = f;
}

static void offer_leaf(query *q, int32_t leaf)
{
    const inv_kd_tree *t = q->tree;
    int32_t end = inv_leaf_begin(t, leaf + 1);
    for (int32_t i = inv_leaf_begin(t, leaf); i < end; i++) {
        double dx = t->xy[i][0] - q->at[0], dy = t->xy[i][1] - q->at[1];
        if (t->node[i] == q->self || (q->quadrant >= 0 && quadrant_of(dx, dy) != q->quadrant)) continue;
        offer(q, (inv_near){.d = dx * dx + dy * dy, .node = t->node[i], .position = i});
    }
}

/* Vertex v, `height` levels above the leaves, whose box is at that squared distance. */
static void descend(query *q, int32_t v, int height, double distance)
{
    const inv_kd_tree *t = q->tree;
    if (q->count == q->want && distance >= q->best[q->count - 1].d) return;
    if (q->quadrant >= 0 && !box_in_quadrant(&t->box[v], q->at, q->quadrant)) return;
    if (height == 0) {
        offer_leaf(q, v - ((int32_t)1 << t->levels));
        return;
    }
    int32_t near = 2 * v, far = 2 * v + 1;
    double left = inv_box_distance(&t->box[near], q->at), right = inv_box_distance(&t->box[far], q->at);
    /* Among points at one place each finds those beside it in the tree, not all of them the same few. */
    bool left_first = left == right ? q->home >> (height - 1) <= near : left < right;
    if (left_first) {
        descend(q, near, height - 1, left);
        descend(q, far, height - 1, right);
    } else {
        descend(q, far, height - 1, right);
        descend(q, near, height - 1, left);
    }
}

static void search_tree(query *q, int quadrant, int want)
{
    q->quadrant = quadrant;
    q->count = 0;
    q->want = want;
    descend(q, 1, q->tree->levels, 0);
}

/* Makes room for quadrant neighbours by dropping the farthest of the others. */
static void add_quadrants(query *q, int per_quadrant)
{
    query nearest = *q;
    int have[4] = {0}, side[MAX_K];
    for (int i = 0; i < nearest.count; i++) {
        const double *b = q->tree->xy[nearest.best[i].position];
        side[i] = quadrant_of(b[0] - q->at[0], b[1] - q->at[1]);
        have[side[i]]++;
    }
    for (int s = 0; s < 4; s++) {
        if (have[s] >= per_quadrant) continue;
        search_tree(q, s, per_quadrant);
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
    const inv_kd_tree *tree;
    int32_t *out;
    atomic_int next, stopped;
} fill_job;

static void fill_list(const fill_job *job, int32_t position)
{
    const inv_kd_tree *t = job->tree;
    int k = job->o->k;
    query q = {.tree = t, .self = t->node[position]};
    memcpy(q.at, t->xy[position], sizeof q.at);
    q.home = ((int32_t)1 << t->levels) + inv_leaf_of(t, position);
    search_tree(&q, -1, k);
    if (job->o->per_quadrant > 0 && q.count == k) add_quadrants(&q, job->o->per_quadrant);

    int32_t *list = job->out + (size_t)q.self * (size_t)k;
    query sorted = {.want = k};
    for (int j = 0; j < q.count; j++)
        offer(&sorted, (inv_near){.d = inv_edge(job->p, q.self, q.best[j].node), .node = q.best[j].node});
    for (int j = 0; j < k; j++) list[j] = j < sorted.count ? sorted.best[j].node : -1;
}

static void fill_lists(void *context, int member)
{
    fill_job *job = context;
    int32_t n = job->p->n;
    (void)member;
    for (;;) {
        int32_t from = atomic_fetch_add(&job->next, 1) * BLOCK;
        if (from >= n || atomic_load(&job->stopped)) return;
        if (time_is_up(job->o)) {
            atomic_store(&job->stopped, 1);
            return;
        }
        int32_t to = n - from < BLOCK ? n : from + BLOCK;
        for (int32_t i = from; i < to; i++) fill_list(job, i);
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
            if (j != i) offer(&q, (inv_near){.d = inv_distance(p, i, j), .node = j});
        for (int j = 0; j < job->o->k; j++)
            job->out[(size_t)i * (size_t)job->o->k + (size_t)j] = j < q.count ? q.best[j].node : -1;
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
    size_t bytes = (size_t)p->n * (size_t)o->k * sizeof *out->node;
    *out = (inv_neighbours){.n = p->n, .k = o->k};
    if (o->k < 1 || o->k > MAX_K || 4 * o->per_quadrant > o->k)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "neighbour lists of %d with %d per quadrant: expected 1 to %d, at most a "
                        "quarter per quadrant",
                        (int)o->k, (int)o->per_quadrant, MAX_K);
    if (p->rules && p->rules->distance) return by_matrix(p, o, out, err);

    /* In the plane, also on the globe: only the choice of candidates depends on this, never a length. */
    inv_kd_tree tree;
    inv_limits limits = {.threads = o->threads, .deadline = o->deadline, .cancel = o->cancel};
    INV_CHECK(inv_kd_create_leaves(&tree, p, 0, LEAF, &limits, err));
    fill_job job = {.p = p, .o = o, .tree = &tree};
    job.out = out->node = malloc(bytes);
    if (!out->node) INV_TRY(inv_no_memory(err, bytes));
    inv_parallel(p->n < 4 * BLOCK ? 1 : o->threads, fill_lists, &job);
    if (atomic_load(&job.stopped))
        status = inv_fail(err, INVIT_ERR_CANCELLED, "stopped while listing neighbours");
done:
    inv_kd_destroy(&tree);
    if (status != INVIT_OK) inv_neighbours_destroy(out);
    return status;
}

void inv_neighbours_destroy(inv_neighbours *nb)
{
    free(nb->node);
    nb->node = NULL;
}
