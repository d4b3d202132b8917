/* What the teachers of both problems share: one object whose parts are made when first needed. */
#ifndef INVIT_LAB_EXPERT_TEACHER_INTERNAL_H
#define INVIT_LAB_EXPERT_TEACHER_INTERNAL_H

#include "lab/expert/teacher.h"

/* Each problem's buffers; the file that fills them in knows how to free them. */
struct inv_teacher_tsp;
struct inv_teacher_cvrp;

struct inv_teacher {
    struct inv_teacher_tsp *tsp; /* NULL until the first TSP call  */
    void (*destroy_tsp)(struct inv_teacher_tsp *part);
    struct inv_teacher_cvrp *cvrp; /* NULL until the first CVRP call */
    void (*destroy_cvrp)(struct inv_teacher_cvrp *part);
};

#endif
