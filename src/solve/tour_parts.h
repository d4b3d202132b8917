/* Parts of a tour for the policy to rebuild: consecutive segments, each a path between its two ends. Neighbouring segments
 * share a node, which stays where it is. */
#ifndef INVIT_SOLVE_TOUR_PARTS_H
#define INVIT_SOLVE_TOUR_PARTS_H

#include "base/rng.h"
#include "solve/rebuild.h"

typedef struct inv_tour_parts {
    const invit_instance *p;
    int32_t window;       /* nodes of the tour that a round looks at                         */
    int32_t from;         /* where the next round begins; < 0: anywhere                      */
    int32_t first;        /* where this one began                                            */
    int32_t *path;        /* [window + 1] the tour from there; around it once: that node again */
    int32_t *begin;       /* [window] where each segment begins in path                      */
    int32_t *node;        /* [2 window] the jobs' nodes                                      */
    int32_t *order;       /* [2 window] the jobs' orders                                     */
    void *scratch;        /* of inv_path_merge                                               */
    inv_rebuild_job *job; /* [window] one for each segment                                   */
    int32_t count;
} inv_tour_parts;

/* A round looks at the whole tour, or at `window` nodes, another round at the next ones. */
invit_status inv_tour_parts_create(const invit_instance *p, int32_t window, inv_tour_parts *t,
                                   invit_error *err);
void inv_tour_parts_destroy(inv_tour_parts *t); /* whatever a failed creation left, too */

/* Cuts a round's part of the tour into segments of about `size` nodes, each to be walked in a random direction. */
void inv_tour_parts_cut(inv_tour_parts *t, const int32_t *tour, int32_t size, inv_rng *rng);
/* After the jobs: what is shorter replaces what was there. Returns by how much the tour is shorter. */
double inv_tour_parts_keep(inv_tour_parts *t, int32_t *tour);

#endif
