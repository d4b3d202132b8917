/* The policy once more, for tests: double precision, one state at a time, nothing folded or skipped, written
 * straight from the model's definition. Also views by brute force over all nodes. */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include "policy/policy.h"
#include "problem/problem.h"

/* logp[inv_candidates] of one state with parameters `param` (laid out like m->param). */
void reference_forward(const struct invit_model *m, const double *param, const inv_state *s, double *logp);

/* Room for a state's arrays; free with reference_state_free. */
void reference_state_init(inv_state *s, int32_t nodes);
void reference_state_free(inv_state *s);
/* The views of a decision: sorts all unvisited nodes by distance to `last`, ties by number. Coordinates are
 * used as they are. CVRP: node 0 is the depot, `load` the remaining load. */
void reference_view(const invit_instance *p, const inv_config *c, const bool *visited, int32_t last,
                    int32_t first, int64_t load, inv_state *s);

#endif
