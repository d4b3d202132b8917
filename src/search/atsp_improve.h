/* Tours with rules: matrices that are not symmetric, paths with fixed or free ends. */
#ifndef INVIT_SEARCH_ATSP_IMPROVE_H
#define INVIT_SEARCH_ATSP_IMPROVE_H

#include "search/improve.h"

/* A tour (or path) to begin with: nearest neighbour, O(n^2); greedy edges on large instances without a
 * matrix. */
invit_status inv_construct_tour(const invit_instance *p, invit_solution **out, invit_error *err);

/* The tour (or path) `given`, from which nodes are missing, with each of these at its cheapest place next to one
 * of its neighbours; behind what is frozen, and between the ends that the rules want. */
invit_status inv_complete_tour(const invit_instance *p, const invit_solution *given, invit_solution **out,
                               invit_error *err);

/* As inv_improve_tsp, for any TSP. A path becomes a tour by one more node between its ends. An asymmetric tour
 * becomes a symmetric one of twice as many nodes: each node has an entry and an exit, joined by an edge that
 * every good tour has (Jonker, Volgenant 1983). Needs O(n^2) memory for these; paths of many nodes without a
 * matrix are searched as closed tours and opened. Of a tour with a frozen beginning, the path behind it is
 * searched. */
invit_status inv_improve_tour(const invit_instance *p, invit_solution **solution,
                              const inv_improve_options *o, inv_improve_stats *stats, invit_error *err);

#endif
