/* Two paths through the same nodes put together: a stretch of one takes the place of a stretch of the other where both
 * pass through the same nodes between the same two. (Partition crossover of Whitley, Hains and Howe, GECCO 2009, where
 * each part is entered and left once.)
 */
#ifndef INVIT_SOLVE_PATH_MERGE_H
#define INVIT_SOLVE_PATH_MERGE_H

#include "problem/problem.h"

/* Bytes of scratch for paths of n nodes. */
size_t inv_path_merge_room(int32_t n);
/* path[0..n-1] is one path. order[0..n-1] is another one through the same nodes, by their places in path; it begins with
 * 0 and ends with n - 1. Puts the stretches of the other into path that make it shorter, all of them where the whole
 * is; returns by how much. O(n^2) steps of a nanosecond. */
double inv_path_merge(const invit_instance *p, int32_t *path, const int32_t *order, int32_t n, void *scratch);

#endif
