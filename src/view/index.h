/* The spatial index: a k-d tree over the nodes that can be visited (TSP: all, CVRP: the customers).
 *
 * The tree is a heap without pointers. Vertex 1 is the root, 2v and 2v+1 are the children of v, and the
 * vertices of depth `levels` are the leaves. Vertex j of depth d (heap number 2^d + j) holds the points at
 * positions j n >> d .. (j+1) n >> d - 1, so halves nest and no split values are stored; every vertex has the
 * tight box of its points. The tree never changes. What a walk has visited is in its own inv_marks.
 */
#ifndef INVIT_VIEW_INDEX_H
#define INVIT_VIEW_INDEX_H

#include "problem/problem.h"
#include "view/walk.h"

enum { INV_LEAF_POINTS = 8 }; /* at most so many points a leaf: one byte of marks */

typedef struct inv_box {
    double low[2], high[2];
} inv_box;

struct inv_index {
    int32_t n;         /* points                                                        */
    int32_t nodes;     /* of the instance                                               */
    int levels;        /* depth of the leaves                                           */
    double scale[2];   /* instance coordinates times scale = plane coordinates          */
    double (*xy)[2];   /* [n] plane coordinates by position                             */
    int32_t *node;     /* [n] node at a position                                        */
    int32_t *position; /* [nodes] position of a node, -1 for the depot                  */
    inv_box *box;      /* [2^(levels+1)] by vertex                                      */
    int32_t *demand;   /* [n] by position; NULL for TSP                                 */
    int32_t *least;    /* [2^(levels+1)] smallest demand below a vertex; NULL for TSP   */
};

static inline int32_t inv_leaf_begin(const inv_index *x, int32_t leaf)
{
    return (int32_t)(((int64_t)leaf * x->n) >> x->levels);
}

static inline int32_t inv_leaf_of(const inv_index *x, int32_t position)
{
    return (int32_t)(((((int64_t)position + 1) << x->levels) - 1) / x->n);
}

/* What one walk has left: a bit a point, and for each vertex the deepest vertex below it that still holds all
 * of its remaining points (0 when none remain). A search that jumps along `down` meets only vertices where it
 * has to choose, so it costs O(log n + k) on the sparse remains of a tour too. About 2 bytes a node, CVRP 4.
 */
typedef struct inv_marks {
    const inv_index *index;
    uint8_t *alive; /* [2^levels]                                                   */
    int32_t *down;  /* [2^(levels+1)]                                               */
    int32_t *least; /* [2^(levels+1)] smallest remaining demand; NULL for TSP       */
    size_t room;    /* vertices the arrays have room for                            */
} inv_marks;

typedef struct inv_near {
    double d; /* squared distance */
    int32_t node, position;
} inv_near;

invit_status inv_marks_init(inv_marks *m, const inv_index *x, invit_error *err);
invit_status inv_marks_rebind(inv_marks *m, const inv_index *x, invit_error *err);
void inv_marks_destroy(inv_marks *m);
void inv_marks_reset(inv_marks *m); /* everything remains */
void inv_marks_copy(inv_marks *to, const inv_marks *from);
void inv_marks_remove(inv_marks *m, int32_t position);
bool inv_marks_has(const inv_marks *m, int32_t position);
/* The k points nearest to `at` (plane coordinates) among those that remain and whose demand is at most
 * `limit` (TSP: any), nearest first, ties by node number. Returns how many there are; `near` has room for k.
 */
int32_t inv_marks_nearest(const inv_marks *m, const double at[2], int32_t k, int32_t limit, inv_near *near);

#endif
