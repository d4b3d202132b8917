/* The spatial index: a k-d tree over the nodes that can be visited (TSP: all, CVRP: the customers), with their
 * demands. It never changes: what a walk has visited is in its own inv_marks.
 */
#ifndef INVIT_VIEW_INDEX_H
#define INVIT_VIEW_INDEX_H

#include "view/kd_tree.h"
#include "view/walk.h"

struct inv_index {
    inv_kd_tree tree;
    int32_t nodes;     /* of the instance                                               */
    int32_t *position; /* [nodes] position of a node, -1 for the depot                  */
    int32_t *demand;   /* [n] by position; NULL for TSP                                 */
    int32_t *least;    /* [2^(levels+1)] smallest demand below a vertex; NULL for TSP   */
};

/* What one walk has left: one bit per point, and for each vertex the deepest vertex below it that still holds all
 * of its remaining points (0 when none remain). A search that jumps along `down` meets only vertices where it
 * has to choose, so it costs O(log n + k) on the sparse remains of a tour too. About 2 bytes per node, CVRP 4.
 */
typedef struct inv_marks {
    const inv_index *index;
    uint8_t *alive; /* [2^levels]                                                   */
    int32_t *down;  /* [2^(levels+1)]                                               */
    int32_t *least; /* [2^(levels+1)] smallest remaining demand; NULL for TSP       */
    size_t room;    /* vertices the arrays have room for                            */
} inv_marks;

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
