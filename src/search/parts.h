/* A solution in parts of whole neighbouring routes, which threads improve apart: cut, handed out, joined again. Both
 * searches for routes work so (cvrp_improve.c, route_improve.c). */
#ifndef INVIT_SEARCH_PARTS_H
#define INVIT_SEARCH_PARTS_H

#include "base/rng.h"
#include "problem/problem.h"
#include "search/cvrp_partition.h"
#include "search/neighbours.h"

/* The routes of all parts: those of part i from nodes[offset[i]] and start[offset[i] + i] on. */
typedef struct inv_parts_routes {
    int32_t *nodes;  /* [n]         */
    int32_t *start;  /* [n + parts] */
    int32_t *routes; /* [parts]     */
    double *length;  /* [parts]     */
} inv_parts_routes;

typedef struct inv_parts {
    const invit_instance *p;
    int32_t count;                  /* parts the solution is cut into; at most as many as there is room for */
    inv_cvrp_place *place;          /* [n] routes, in the parts' order                                      */
    int32_t *first;                 /* [parts + 1] into place                                               */
    int32_t *offset;                /* [parts + 1] customers before part i                                  */
    int32_t *part_of;               /* [n] a customer's part, and its number there (from 1)                 */
    int32_t *local;                 /* [n]                                                                  */
    int32_t *global;                /* [n] customers by part and number                                     */
    inv_parts_routes current, best; /* what the parts come to, and their best                      */
} inv_parts;

/* Room for `parts` parts, and count = parts. inv_parts_destroy works on whatever this leaves behind. */
invit_status inv_parts_init(inv_parts *q, const invit_instance *p, int32_t parts, invit_error *err);
void inv_parts_destroy(inv_parts *q);

/* Cuts into `count` parts, other ones with another rng; returns the customers of the largest. */
int32_t inv_parts_cut(inv_parts *q, const invit_solution *s, inv_rng *rng);

/* Nodes of part i, the depot included, which has number 0. */
static inline int32_t inv_parts_nodes(const inv_parts *q, int32_t i)
{
    return q->offset[i + 1] - q->offset[i] + 1;
}

/* The instance's number of node v of part i. */
static inline int32_t inv_parts_node(const inv_parts *q, int32_t i, int32_t v)
{
    return v == 0 ? 0 : q->global[q->offset[i] + v - 1];
}

/* Of a customer's neighbours those in its part i, ended by 0 where there are fewer than k. */
void inv_parts_neighbours(const inv_parts *q, int32_t i, const inv_neighbours *all, int32_t customer,
                          int32_t *near);
/* The routes with which part i begins, in its own numbers; they stand in q->current. Returns how many they are. */
int32_t inv_parts_begin(const inv_parts *q, int32_t i, const int32_t **nodes, const int32_t **start);
/* Where the routes of part i are to be written, in its own numbers: then inv_parts_set makes them the instance's. */
int32_t *inv_parts_nodes_of(const inv_parts *q, const inv_parts_routes *r, int32_t i);
int32_t *inv_parts_start_of(const inv_parts *q, const inv_parts_routes *r, int32_t i);
void inv_parts_set(const inv_parts *q, const inv_parts_routes *r, int32_t i, int32_t routes, double length);
/* Puts the parts' routes together; returns the length. */
double inv_parts_join(const inv_parts *q, const inv_parts_routes *from, invit_solution *to);
/* Steps of a round that fall to part i, by its customers; the parts' shares add up. INT64_MAX, which is no number, stays. */
int64_t inv_parts_share(const inv_parts *q, int32_t i, int64_t steps);

/* Without empty routes, which a caller may give. */
void inv_copy_routes(const invit_solution *from, invit_solution *to);
/* Mean length of the edges between customers, the unit of temperatures; positive. `length`: of the solution. */
double inv_mean_edge(const invit_instance *p, const invit_solution *s, double length);

#endif
