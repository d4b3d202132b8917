/* A k-d tree over the points of an instance; it never changes once it is built.
 *
 * The tree is a heap without pointers. Vertex 1 is the root, 2v and 2v+1 are the children of v, and the
 * vertices of depth `levels` are the leaves. Vertex j of depth d (heap number 2^d + j) holds the points at
 * positions j n >> d .. (j+1) n >> d - 1, so halves nest and no split values are stored; every vertex has the
 * tight box of its points.
 */
#ifndef INVIT_VIEW_KD_TREE_H
#define INVIT_VIEW_KD_TREE_H

#include "base/limits.h"
#include "problem/problem.h"

enum { INV_LEAF_POINTS = 8 }; /* at most so many points per leaf: one byte of marks */

typedef struct inv_box {
    double low[2], high[2];
} inv_box;

typedef struct inv_kd_tree {
    int32_t n;       /* points                                                            */
    int levels;      /* depth of the leaves                                               */
    double scale[2]; /* instance coordinates times scale = plane coordinates              */
    double (*xy)[2]; /* [n] plane coordinates by position                                 */
    int32_t *node;   /* [n] node at a position                                            */
    inv_box *box;    /* [2^(levels+1)] by vertex                                          */
} inv_kd_tree;

typedef struct inv_near {
    double d; /* squared distance */
    int32_t node, position;
} inv_near;

/* Over the nodes `first` .. n - 1 of the instance, in O(n log n) also where points coincide; the same for any number
 * of threads. INVIT_ERR_CANCELLED when the limits (NULL: none, one thread) come first. */
invit_status inv_kd_create(inv_kd_tree *t, const invit_instance *p, int32_t first, const inv_limits *limits,
                           invit_error *err);
/* The same with at most `leaf` points per leaf: fewer boxes, for trees without marks. */
invit_status inv_kd_create_leaves(inv_kd_tree *t, const invit_instance *p, int32_t first, int leaf,
                                  const inv_limits *limits, invit_error *err);
void inv_kd_destroy(inv_kd_tree *t);
size_t inv_kd_bytes(const inv_kd_tree *t);

static inline size_t inv_kd_vertices(const inv_kd_tree *t)
{
    return (size_t)2 << t->levels;
}

static inline int32_t inv_leaf_begin(const inv_kd_tree *t, int32_t leaf)
{
    return (int32_t)(((int64_t)leaf * t->n) >> t->levels);
}

static inline int32_t inv_leaf_of(const inv_kd_tree *t, int32_t position)
{
    return (int32_t)(((((int64_t)position + 1) << t->levels) - 1) / t->n);
}

/* Squared, 0 inside. */
static inline double inv_box_distance(const inv_box *b, const double at[2])
{
    double dx = at[0] < b->low[0] ? b->low[0] - at[0] : 0;
    double dy = at[1] < b->low[1] ? b->low[1] - at[1] : 0;
    if (at[0] > b->high[0]) dx = at[0] - b->high[0];
    if (at[1] > b->high[1]) dy = at[1] - b->high[1];
    return dx * dx + dy * dy;
}

#endif
