/* Parts of a CVRP solution for the policy to rebuild: groups of neighbouring routes, no route in two of them. */
#ifndef INVIT_SOLVE_ROUTE_GROUPS_H
#define INVIT_SOLVE_ROUTE_GROUPS_H

#include "base/rng.h"
#include "solve/rebuild.h"
#include "view/index.h"

typedef struct inv_route_groups {
    const invit_instance *p;
    inv_index *index;
    inv_marks marks; /* the customers whose routes are in no group                             */
    inv_near *near;  /* [n]                                                                    */
    int32_t window;  /* customers whose routes are taken in a round, about                     */
    int32_t *seed;   /* [n] customers, those up to `drawn` in random order                     */
    int32_t drawn;
    int32_t *route;       /* [n] of each customer                                                   */
    int32_t *group;       /* [routes] of each route; -1: none                                       */
    int32_t room;         /* routes that group, root and gain have room for                         */
    int32_t *root;        /* [routes] of the tree of routes that share customers, old and new        */
    double *gain;         /* [routes] of a root: how much shorter the new routes of its tree are     */
    int32_t *node;        /* [2 n] the jobs' nodes                                                  */
    int32_t *order;       /* [4 n] the jobs' orders                                                 */
    int32_t *fresh;       /* [2 n] new routes that are kept, each with a 0 behind it                */
    inv_rebuild_job *job; /* [n] one for each group                                            */
    int32_t count;
} inv_route_groups;

/* A round takes groups of all routes, or of about `window` customers, another round those around others.
 * INVIT_ERR_CANCELLED when the limits come first. */
invit_status inv_route_groups_create(const invit_instance *p, int32_t window, const inv_limits *limits,
                                     inv_route_groups *g, invit_error *err);
void inv_route_groups_destroy(inv_route_groups *g); /* whatever a failed creation left, too */

/* Chooses groups of at most `size` customers each, or of one route that is longer. */
invit_status inv_route_groups_cut(inv_route_groups *g, const invit_solution *s, int32_t size, inv_rng *rng,
                                  invit_error *err);
/* After the jobs: the new routes of a group replace the old ones where they are shorter; those that serve the same
 * customers as some old ones do so by themselves. *shorter is by how much. O(n). */
invit_status inv_route_groups_keep(inv_route_groups *g, invit_solution **s, double *shorter,
                                   invit_error *err);

#endif
