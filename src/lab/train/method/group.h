/* Walks that a thread moves together, each on its own instance, with a policy's rollouts over them. */
#ifndef INVIT_LAB_TRAIN_METHOD_GROUP_H
#define INVIT_LAB_TRAIN_METHOD_GROUP_H

#include "lab/train/method/rollout.h"

#define INV_GROUP 16 /* walks that roll in or are validated together */

typedef struct inv_group {
    int32_t room;
    const inv_config *config;
    inv_walk **walk;           /* [room], made when first bound          */
    invit_instance **instance; /* [room], owned, or NULL                 */
    inv_index **index;         /* [room], owned, or NULL                 */
    inv_frame *frame;          /* [room]                                 */
    inv_roller roller;
} inv_group;

invit_status inv_group_init(inv_group *g, int32_t room, const inv_config *config, invit_error *err);
void inv_group_destroy(inv_group *g);
/* Frees instances and indexes; the walks stay for the next ones. */
void inv_group_clear(inv_group *g);
/* Binds walk i to an instance and its index. */
invit_status inv_group_bind(inv_group *g, int32_t i, const invit_instance *p, const inv_index *x,
                            invit_error *err);
/* Starts walk i on its own instance i in a random frame, on a TSP at a random node. */
void inv_group_start(inv_group *g, int32_t i, inv_rng *rng);

#endif
