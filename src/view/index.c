/* Building the k-d tree: split at the median of the longer side of the box, down to leaves of a few points.
 */
#include "view/index.h"

#include <math.h>
#include <stdlib.h>

typedef struct point {
    double xy[2];
    int32_t node;
} point;

static inv_box bounds(const point *a, int32_t lo, int32_t hi)
{
    inv_box b = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (int32_t i = lo; i < hi; i++)
        for (int c = 0; c < 2; c++) {
            if (a[i].xy[c] < b.low[c]) b.low[c] = a[i].xy[c];
            if (a[i].xy[c] > b.high[c]) b.high[c] = a[i].xy[c];
        }
    return b;
}

/* Quickselect: afterwards a[lo..mid-1] <= a[mid..hi-1] along the axis. Equal keys are split evenly, so many
 * equal points do no harm; random pivots, so no order of the input does. */
static void split_at(point *a, int32_t lo, int32_t hi, int32_t mid, int axis, inv_rng *rng)
{
    hi--;
    while (lo < hi) {
        double pivot = a[lo + (int32_t)inv_rng_below(rng, (uint32_t)(hi - lo + 1))].xy[axis];
        int32_t i = lo, j = hi;
        while (i <= j) {
            while (a[i].xy[axis] < pivot) i++;
            while (a[j].xy[axis] > pivot) j--;
            if (i <= j) {
                point t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        }
        if (mid <= j)
            hi = j;
        else if (mid >= i)
            lo = i;
        else
            return;
    }
}

static void build(inv_index *x, point *a, int32_t v, int depth, inv_rng *rng)
{
    int64_t j = v - ((int64_t)1 << depth);
    int32_t lo = (int32_t)((j * x->n) >> depth), hi = (int32_t)(((j + 1) * x->n) >> depth);
    x->box[v] = bounds(a, lo, hi);
    if (depth == x->levels) return;
    const inv_box *b = &x->box[v];
    int axis = b->high[0] - b->low[0] >= b->high[1] - b->low[1] ? 0 : 1;
    split_at(a, lo, hi, (int32_t)(((2 * j + 1) * x->n) >> (depth + 1)), axis, rng);
    build(x, a, 2 * v, depth + 1, rng);
    build(x, a, 2 * v + 1, depth + 1, rng);
}

static void fill_least(inv_index *x)
{
    int32_t leaves = (int32_t)1 << x->levels;
    for (int32_t leaf = 0; leaf < leaves; leaf++) {
        int32_t least = INT32_MAX;
        for (int32_t i = inv_leaf_begin(x, leaf); i < inv_leaf_begin(x, leaf + 1); i++)
            if (x->demand[i] < least) least = x->demand[i];
        x->least[leaves + leaf] = least;
    }
    for (int32_t v = leaves - 1; v > 0; v--) {
        int32_t a = x->least[2 * v], b = x->least[2 * v + 1];
        x->least[v] = a < b ? a : b;
    }
}

invit_status inv_index_create(const invit_instance *p, inv_index **out, invit_error *err)
{
    *out = NULL;
    invit_status status = INVIT_OK;
    int32_t first = p->problem == INVIT_CVRP ? 1 : 0;
    point *a = NULL;
    inv_index *x = calloc(1, sizeof *x);
    if (!x) INV_TRY(inv_no_memory(err, sizeof *x));
    x->nodes = p->n;
    x->n = p->n - first;
    while (x->n > (int64_t)INV_LEAF_POINTS << x->levels) x->levels++;
    size_t n = (size_t)(x->n > 0 ? x->n : 1), vertices = (size_t)2 << x->levels;
    a = malloc(n * sizeof *a);
    x->xy = malloc(n * sizeof *x->xy);
    x->node = malloc(n * sizeof *x->node);
    x->position = malloc((size_t)p->n * sizeof *x->position);
    x->box = calloc(vertices, sizeof *x->box);
    if (first) {
        x->demand = malloc(n * sizeof *x->demand);
        x->least = malloc(vertices * sizeof *x->least);
    }
    if (!a || !x->xy || !x->node || !x->position || !x->box || (first && (!x->demand || !x->least)))
        INV_TRY(inv_no_memory(err, n * 60));

    inv_plane_scale(p, x->scale);
    for (int32_t i = 0; i < x->n; i++) {
        const double *xy = p->xy + 2 * (size_t)(i + first);
        a[i] = (point){.xy = {xy[0] * x->scale[0], xy[1] * x->scale[1]}, .node = i + first};
    }
    inv_rng rng;
    inv_rng_init(&rng, 1, 0);
    build(x, a, 1, 0, &rng);
    if (first) x->position[0] = -1;
    for (int32_t i = 0; i < x->n; i++) {
        x->xy[i][0] = a[i].xy[0];
        x->xy[i][1] = a[i].xy[1];
        x->node[i] = a[i].node;
        x->position[a[i].node] = i;
        if (first) x->demand[i] = p->demand[a[i].node];
    }
    if (first) fill_least(x);
    *out = x;
    x = NULL;
done:
    inv_index_destroy(x);
    free(a);
    return status;
}

size_t inv_index_bytes(const inv_index *x)
{
    size_t vertices = (size_t)2 << x->levels, n = (size_t)x->n;
    size_t tsp = n * (sizeof *x->xy + sizeof *x->node) + (size_t)x->nodes * sizeof *x->position +
                 vertices * sizeof *x->box;
    return sizeof *x + tsp + (x->least ? n * sizeof *x->demand + vertices * sizeof *x->least : 0);
}

void inv_index_destroy(inv_index *x)
{
    if (!x) return;
    free(x->xy);
    free(x->node);
    free(x->position);
    free(x->box);
    free(x->demand);
    free(x->least);
    free(x);
}
