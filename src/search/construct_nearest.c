/* Nearest neighbour: a walk that always takes the first candidate. */
#include "search/improve.h"

#include "base/rng.h"
#include "view/walk.h"

invit_status inv_construct_nearest(const invit_instance *p, uint64_t seed, invit_solution **out,
                                   invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_index *index = NULL;
    inv_walk *walk = NULL;
    inv_rng rng;
    inv_frame frame;
    inv_rng_init(&rng, seed, 0);
    *out = NULL;
    INV_TRY(inv_index_create(p, &index, err));
    INV_TRY(inv_walk_create(p, index, 1, 1, &walk, err));
    inv_frame_for_copy(p, 0, &rng, &frame);
    inv_walk_start(walk, p->problem == INVIT_TSP ? (int32_t)inv_rng_below(&rng, (uint32_t)p->n) : 0, &frame);
    while (!inv_walk_done(walk)) {
        inv_state state;
        inv_walk_view(walk, &state);
        /* No customer fits any more: back to the depot. */
        inv_walk_visit(walk, state.action > 0 ? state.node[0] : 0);
    }
    INV_TRY(inv_walk_solution(walk, out, err));
done:
    inv_walk_destroy(walk);
    inv_index_destroy(index);
    return status;
}
