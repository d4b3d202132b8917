/* Savings on neighbour lists that exist already. */
#ifndef INVIT_IMPROVE_CVRP_SAVINGS_H
#define INVIT_IMPROVE_CVRP_SAVINGS_H

#include "improve/neighbours.h"

invit_status inv_savings(const invit_instance *p, const inv_neighbours *near, invit_solution **out,
                         invit_error *err);

#endif
