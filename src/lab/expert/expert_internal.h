/* What the experts for both problems share: one object whose parts are made when first needed. */
#ifndef INVIT_LAB_EXPERT_EXPERT_INTERNAL_H
#define INVIT_LAB_EXPERT_EXPERT_INTERNAL_H

#include "lab/expert/expert.h"

/* Each problem's buffers; the file that fills them in knows how to free them. */
struct inv_expert_tsp_part;
struct inv_expert_cvrp_part;

struct inv_expert {
    struct inv_expert_tsp_part *tsp; /* NULL until the first TSP call  */
    void (*destroy_tsp)(struct inv_expert_tsp_part *part);
    struct inv_expert_cvrp_part *cvrp; /* NULL until the first CVRP call */
    void (*destroy_cvrp)(struct inv_expert_cvrp_part *part);
};

#endif
