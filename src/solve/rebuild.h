/* Many parts of a solution rebuilt by the policy at once, each as an instance of its own: paths between two fixed ends
 * (TSP), or groups of routes (CVRP). Each thread holds some walks, each over its own part, and asks the policy about all
 * of them in one batch.
 */
#ifndef INVIT_SOLVE_REBUILD_H
#define INVIT_SOLVE_REBUILD_H

#include "policy/policy.h"
#include "search/improve.h"

/* One walk over one part. */
typedef struct inv_rebuild_job {
    const int32_t
        *node; /* [n] the part's nodes. TSP: the path's ends come first and last. CVRP: the depot first */
    int32_t n;
    double
        temperature; /* 0: greedy                                                                          */
    int32_t *order;  /* [TSP: n, CVRP: 2n] the walk, as places in `node`; CVRP: 0 between two routes        */
    int32_t count;   /* of order; 0: not complete                                                          */
} inv_rebuild_job;

typedef struct inv_rebuilder inv_rebuilder; /* the threads' policies and walks, kept from round to round */

invit_status inv_rebuilder_create(const invit_instance *p, const inv_config *config,
                                  const inv_prepared *weights, int threads, inv_rebuilder **out,
                                  invit_error *err);
void inv_rebuilder_destroy(inv_rebuilder *r);

/* Does the jobs. What a job gives depends on the seed and its number only. At the deadline, a cancel or an error the
 * walks under way are dropped; deadline, control and seed of `o` count. */
invit_status inv_rebuild(inv_rebuilder *r, inv_rebuild_job *jobs, int32_t count, const inv_improve_options *o,
                         uint64_t seed, invit_error *err);

#endif
