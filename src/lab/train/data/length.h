/* Lengths in an instance's own coordinates, unrounded: what training compares tours by. */
#ifndef INVIT_LAB_TRAIN_DATA_LENGTH_H
#define INVIT_LAB_TRAIN_DATA_LENGTH_H

#include "problem/problem.h"

/* Between two nodes, of an order up to its last node, and of the closed tour or routes. */
double inv_straight(const invit_instance *p, int32_t a, int32_t b);
double inv_length_so_far(const invit_instance *p, const int32_t *order, int32_t count);
double inv_order_length(const invit_instance *p, const int32_t *order, int32_t count);

#endif
