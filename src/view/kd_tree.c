/* Building the k-d tree: split at the median of the longer side of the box, down to leaves of a few points.
 * The top of the tree level by level, then all threads at what is below. */
#include "view/kd_tree.h"

#include "base/parallel.h"
#include "base/rng.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    LOOK_AT_CLOCK = 20000,  /* points: splitting so many takes about a millisecond                     */
    SHARED_POINTS = 2048,   /* fewer are not worth a second thread                                     */
    SUBTREES_A_THREAD = 4,  /* so that threads end together                                            */
    RANDOM_PIVOT_FROM = 64, /* points: below, a bad pivot costs less than a random number              */
};

typedef struct build_job {
    inv_kd_tree *tree;
    const inv_limits *limits;
    int top, last; /* threads share the subtrees with their root at depth `top`, down to depth `last` */
    atomic_int next, stopped;
} build_job;

static inv_box bounds(double (*xy)[2], int32_t lo, int32_t hi)
{
    inv_box b = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (int32_t i = lo; i < hi; i++)
        for (int c = 0; c < 2; c++) {
            if (xy[i][c] < b.low[c]) b.low[c] = xy[i][c];
            if (xy[i][c] > b.high[c]) b.high[c] = xy[i][c];
        }
    return b;
}

static void swap_points(inv_kd_tree *t, int32_t i, int32_t j)
{
    double x = t->xy[i][0], y = t->xy[i][1];
    int32_t node = t->node[i];
    t->xy[i][0] = t->xy[j][0];
    t->xy[i][1] = t->xy[j][1];
    t->node[i] = t->node[j];
    t->xy[j][0] = x;
    t->xy[j][1] = y;
    t->node[j] = node;
}

static double median_of_three(double a, double b, double c)
{
    double low = a < b ? a : b;
    double high = a < b ? b : a;
    if (c <= low) return low;
    return c < high ? c : high;
}

/* Between lo and hi, both included. */
static double choose_pivot(const inv_kd_tree *t, int32_t lo, int32_t hi, int axis, inv_rng *rng)
{
    uint32_t count = (uint32_t)(hi - lo + 1);
    if (count < RANDOM_PIVOT_FROM) return t->xy[lo + (hi - lo) / 2][axis];
    double a = t->xy[lo + (int32_t)inv_rng_below(rng, count)][axis];
    double b = t->xy[lo + (int32_t)inv_rng_below(rng, count)][axis];
    double c = t->xy[lo + (int32_t)inv_rng_below(rng, count)][axis];
    return median_of_three(a, b, c);
}

/* Quickselect: afterwards [lo, mid) <= [mid, hi) along the axis. Equal keys are split evenly, so many equal
 * points do no harm; random pivots, so no order of the input does. */
static void split_at(inv_kd_tree *t, int32_t lo, int32_t hi, int32_t mid, int axis, inv_rng *rng)
{
    hi--;
    while (lo < hi) {
        double pivot = choose_pivot(t, lo, hi, axis, rng);
        int32_t i = lo, j = hi;
        while (i <= j) {
            while (t->xy[i][axis] < pivot) i++;
            while (t->xy[j][axis] > pivot) j--;
            if (i <= j) swap_points(t, i++, j--);
        }
        if (mid <= j)
            hi = j;
        else if (mid >= i)
            lo = i;
        else
            return;
    }
}

static bool stopped(build_job *job)
{
    if (inv_limits_reached(job->limits)) atomic_store(&job->stopped, 1);
    return atomic_load(&job->stopped);
}

/* The vertices below v, v included, down to the depth `last`. */
static void build(build_job *job, int32_t v, int depth, int last)
{
    inv_kd_tree *t = job->tree;
    if (depth > last) return;
    int64_t j = v - ((int64_t)1 << depth);
    int32_t lo = (int32_t)((j * t->n) >> depth), hi = (int32_t)(((j + 1) * t->n) >> depth);
    if (hi - lo > LOOK_AT_CLOCK && stopped(job)) return;
    inv_box b = bounds(t->xy, lo, hi);
    t->box[v] = b;
    if (depth == t->levels) return;
    inv_rng rng;
    inv_rng_init(&rng, 1, (uint64_t)v); /* by vertex: the same tree for any number of threads */
    int axis = b.high[0] - b.low[0] >= b.high[1] - b.low[1] ? 0 : 1;
    split_at(t, lo, hi, (int32_t)(((2 * j + 1) * t->n) >> (depth + 1)), axis, &rng);
    build(job, 2 * v, depth + 1, last);
    build(job, 2 * v + 1, depth + 1, last);
}

static void build_below(void *context, int member)
{
    build_job *job = context;
    int32_t first = (int32_t)1 << job->top;
    (void)member;
    for (int32_t i; (i = atomic_fetch_add(&job->next, 1)) < first;)
        build(job, first + i, job->top, job->last);
}

static bool build_tree(inv_kd_tree *t, const inv_limits *limits)
{
    build_job job = {.tree = t, .limits = limits};
    int threads = limits && limits->threads > 1 && t->n >= SHARED_POINTS ? limits->threads : 1;
    /* Level by level, until there are enough subtrees. */
    for (; threads > 1 && job.top < t->levels && (1 << job.top) < SUBTREES_A_THREAD * threads; job.top++) {
        job.last = job.top;
        inv_parallel(threads < 1 << job.top ? threads : 1 << job.top, build_below, &job);
        atomic_store(&job.next, 0);
    }
    job.last = t->levels;
    inv_parallel(threads, build_below, &job);
    return !atomic_load(&job.stopped);
}

invit_status inv_kd_create(inv_kd_tree *t, const invit_instance *p, int32_t first, const inv_limits *limits,
                           invit_error *err)
{
    return inv_kd_create_leaves(t, p, first, INV_LEAF_POINTS, limits, err);
}

invit_status inv_kd_create_leaves(inv_kd_tree *t, const invit_instance *p, int32_t first, int leaf,
                                  const inv_limits *limits, invit_error *err)
{
    *t = (inv_kd_tree){.n = p->n - first};
    while (t->n > (int64_t)leaf << t->levels) t->levels++;
    size_t n = (size_t)(t->n > 0 ? t->n : 1);
    t->xy = malloc(n * sizeof *t->xy);
    t->node = malloc(n * sizeof *t->node);
    t->box = calloc(inv_kd_vertices(t), sizeof *t->box);
    if (!t->xy || !t->node || !t->box) {
        inv_kd_destroy(t);
        return inv_no_memory(err,
                             n * (sizeof *t->xy + sizeof *t->node) + inv_kd_vertices(t) * sizeof *t->box);
    }
    inv_plane_scale(p, t->scale);
    for (int32_t i = 0; i < t->n; i++) {
        const double *xy = p->xy + 2 * (size_t)(i + first);
        t->xy[i][0] = xy[0] * t->scale[0];
        t->xy[i][1] = xy[1] * t->scale[1];
        t->node[i] = i + first;
    }
    if (build_tree(t, limits)) return INVIT_OK;
    inv_kd_destroy(t);
    return inv_fail(err, INVIT_ERR_CANCELLED, "stopped while building the k-d tree");
}

size_t inv_kd_bytes(const inv_kd_tree *t)
{
    return (size_t)t->n * (sizeof *t->xy + sizeof *t->node) + inv_kd_vertices(t) * sizeof *t->box;
}

void inv_kd_destroy(inv_kd_tree *t)
{
    free(t->xy);
    free(t->node);
    free(t->box);
    *t = (inv_kd_tree){0};
}
