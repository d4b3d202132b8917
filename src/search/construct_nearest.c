/* Nearest neighbour: a walk that always takes the first candidate. */
#include "search/improve.h"

#include "base/rng.h"
#include "search/curve.h"
#include "view/walk.h"

#include <stdlib.h>

enum { LOOK_AT_CLOCK = 64 }; /* steps: where distances underflow, a step looks at every node */

/* Nodes at one place, as rings in the order of their numbers: the nearest nodes are known there without a search, which
 * would look at all of them every time. */
static invit_status list_twins(const invit_instance *p, int32_t *twin, invit_error *err)
{
    size_t n = (size_t)p->n;
    int32_t *order = malloc(n * sizeof *order);
    if (!order) return inv_no_memory(err, n * sizeof *order);
    invit_status status = inv_curve_order(p->xy, p->n, 1, order, err); /* one place: one run of the curve */
    for (size_t i = 0; status == INVIT_OK && i < n;) {
        size_t first = i;
        const double *at = p->xy + 2 * (size_t)order[i];
        for (i++; i < n && p->xy[2 * (size_t)order[i]] == at[0] && p->xy[2 * (size_t)order[i] + 1] == at[1];
             i++)
            twin[order[i - 1]] = order[i];
        twin[order[i - 1]] = order[first];
    }
    free(order);
    return status;
}

/* The next node at the place of the last one that is not visited and fits, or -1. */
static int32_t next_twin(const invit_instance *p, const inv_walk *walk, const int32_t *twin,
                         const uint8_t *visited)
{
    int32_t last = inv_walk_last(walk), next = twin[last];
    bool cvrp = p->problem == INVIT_CVRP;
    if (next == last || visited[next] || (cvrp && (last == 0 || next == 0))) return -1;
    return cvrp && p->demand[next] > inv_walk_load(walk) ? -1 : next;
}

invit_status inv_construct_nearest(const invit_instance *p, uint64_t seed, const inv_limits *limits,
                                   invit_solution **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t n = (size_t)p->n;
    inv_index *index = NULL;
    inv_walk *walk = NULL;
    inv_rng rng;
    inv_frame frame;
    int32_t *twin = malloc(n * sizeof *twin);
    uint8_t *visited = calloc(n, 1);
    inv_rng_init(&rng, seed, 0);
    *out = NULL;
    if (!twin || !visited) INV_TRY(inv_no_memory(err, n * sizeof *twin));
    INV_TRY(list_twins(p, twin, err));
    INV_TRY(inv_index_create_within(p, limits, &index, err));
    INV_TRY(inv_walk_create(p, index, 1, 1, &walk, err));
    inv_frame_for_copy(p, 0, &rng, &frame);
    inv_walk_start(walk, p->problem == INVIT_TSP ? (int32_t)inv_rng_below(&rng, (uint32_t)p->n) : 0, &frame);
    for (uint32_t step = 0; !inv_walk_done(walk); step++) {
        if (step % LOOK_AT_CLOCK == 0 && inv_limits_reached(limits))
            INV_TRY(inv_fail(err, INVIT_ERR_CANCELLED, "stopped while going to the nearest node"));
        visited[inv_walk_last(walk)] = 1;
        int32_t next = next_twin(p, walk, twin, visited);
        if (next < 0) {
            inv_state state;
            inv_walk_view(walk, &state);
            next = state.action > 0 ? state.node[0] : 0; /* no customer fits any more: back to the depot */
        }
        inv_walk_visit(walk, next);
    }
    INV_TRY(inv_walk_solution(walk, out, err));
done:
    inv_walk_destroy(walk);
    inv_index_destroy(index);
    free(twin);
    free(visited);
    return status;
}
