/* Vehicle routing with rules (time windows, limits on routes, a number of vehicles, open ends, matrices)
 * under slack induction by string removals (Christiaens, Vanden Berghe 2020): one whole instance, or a few
 * neighbouring routes cut out of one. Whether a customer fits between two others is known in constant time,
 * from what every node holds about the route before and behind it. Memory O(n k). */
#ifndef INVIT_SEARCH_ROUTE_PART_H
#define INVIT_SEARCH_ROUTE_PART_H

#include "base/rng.h"
#include "problem/problem.h"

/* Ids: 1..n-1 are customers, n + r is the depot as both ends of route r, 0 is not used (it ends neighbour
 * lists). Routes are rings: depot end, customers, and back to the same depot end. One cache line. */
typedef struct inv_route_node {
    int32_t next, prev;
    int32_t route; /* n: in none                                                                       */
    int32_t demand;
    double out;   /* length of the edge to next                                                       */
    double leave; /* earliest end of service, after all that comes before; at the depot: earliest departure */
    double due;   /* latest start of service, before all that comes after; at the depot: latest return */
    double x, y;
    int32_t id;    /* in the instance; 0 is the depot                                                     */
    int32_t fixed; /* 1: it and the edge before it stay                                                */
} inv_route_node;

/* What is looked at when a node is inserted or its route is timed anew. */
typedef struct inv_route_stop {
    double service, earliest, latest;
    double time_out; /* travel time to next */
} inv_route_stop;

/* A piece of a route as its duration sees it: how long it takes at least, and when it may begin for that. */
typedef struct inv_route_span {
    double duration, earliest, latest;
} inv_route_span;

/* One link or unlink, as it is undone. */
typedef struct inv_route_change {
    int32_t node, prev;
    bool linked;                                 /* false: node was taken out from behind prev */
    double before, after, across;                /* lengths prev-node, node-next, prev-next    */
    double time_before, time_after, time_across; /* and travel times                           */
} inv_route_change;

typedef struct inv_route_part {
    const invit_instance *p;
    int32_t n, k; /* nodes with the depot; neighbours kept per customer */
    int32_t capacity, max_stops;
    int32_t max_routes; /* no route is opened beyond these                                             */
    bool fewest;        /* fewer routes are better than shorter ones                                   */
    bool open;          /* the way back is free                                                        */
    bool windows;       /* leave and due are kept                                                      */
    bool same_time;     /* travel times are distances                                                  */
    bool sums;          /* limits that add up along a route: length, duration without windows          */
    bool spans;         /* duration with windows, where waiting depends on the departure               */
    bool symmetric;     /* lengths and travel times are                                                */
    bool turns;         /* a path may be turned round: symmetric, closed, neither windows nor frozen   */
    bool frozen;        /* some customers are fixed                                                    */
    bool triangle;      /* no detour is shorter: a route that loses a stop keeps its limits            */
    invit_metric metric;
    const double *distance, *duration; /* [all][all] of the instance, or NULL                          */
    size_t all;
    double speed;
    double max_length, max_duration;
    double slack; /* by which a limit may be exceeded: rounding                                       */

    inv_route_node *node; /* [2 n] */
    inv_route_stop *stop; /* [2 n] */
    inv_route_span *head; /* [2 n] from the depot to the node, with it; only for spans                 */
    inv_route_span *tail; /* [2 n] from the node to the depot                                          */
    int32_t *near;        /* [n][k] customers by distance, ended by 0                                  */
    float *near_length;   /* [n][k] distances to them, the shorter way, rounded down                   */
    int32_t *fits;        /* [k] neighbours beside which there is room                                 */
    int32_t *room;        /* [n + 1] capacity left, per route; [n]: -1                                 */
    int32_t *size;        /* [n + 1] customers, per route                                              */
    double *route_length; /* [n] only for sums                                                         */
    double *route_time;   /* [n] travel and service, only for sums                                     */
    int32_t routes;       /* that have a customer                                                      */
    double length;
    double best_length; /* the best solution seen: fewest routes if that counts, then shortest          */
    int32_t best_routes;
    int32_t *best_next; /* [2 n] */

    int32_t *absent; /* [n] customers in no route, while routes are being saved                        */
    int32_t absents;
    int32_t *absent_before; /* [n] */
    int64_t *missed;        /* [n] steps after which a customer was absent                             */

    int32_t reserved_n, reserved_k;
    size_t reserved_near;
    uint32_t *stamp; /* [n] ruin in which a route was last touched                                     */
    uint32_t stamp_now;
    int32_t *touched; /* [n] routes changed in this step                                               */
    bool *is_touched; /* [n + 1]                                                                       */
    int32_t touches;
    int32_t *empty; /* [n] routes that may be empty                                                    */
    bool *in_empty; /* [n] */
    int32_t empties;
    int32_t *removed; /* [n] */
    double *key;      /* [n] sort keys of the removed                                                  */
    int32_t removals;
    bool broken;    /* by the ruin: a route does not keep its limits any more                            */
    int32_t *dirty; /* [2 n] ids whose next differs from best_next                                     */
    bool *is_dirty; /* [2 n] */
    int32_t dirties;
    inv_route_change *change; /* [2 n] the step's journal                                              */
    size_t changes;
    int64_t blink_in; /* positions until the next one is overlooked                                    */
} inv_route_part;

/* Zero-initialise a part before its first use; destroy frees what it owns. */
void inv_route_part_destroy(inv_route_part *q);
/* Room for n nodes and k neighbours each, and the instance's rules. Afterwards fill with
 * inv_route_part_fill and near[], then call inv_route_part_measure. */
invit_status inv_route_part_begin(inv_route_part *q, const invit_instance *p, int32_t n, int32_t k,
                                  invit_error *err);
/* Node v (0: the depot) is this one of the instance. */
void inv_route_part_fill(inv_route_part *q, int32_t v, int32_t id);
void inv_route_part_measure(inv_route_part *q);
/* Starts from these routes, which keep all rules but perhaps max_routes. */
void inv_route_part_set(inv_route_part *q, const int32_t *nodes, const int32_t *start, int32_t routes);

typedef enum inv_route_order {
    INV_ROUTE_RANDOM,
    INV_ROUTE_DEMAND, /* largest first   */
    INV_ROUTE_FAR,
    INV_ROUTE_CLOSE,
    INV_ROUTE_NARROW, /* narrowest window first   */
    INV_ROUTE_OPENS,  /* window that opens first  */
    INV_ROUTE_CLOSES, /* window that closes last  */
    INV_ROUTE_ORDERS
} inv_route_order;

/* Starts from the given routes (of nodes of this part; NULL: none) and inserts all other customers in this
 * order, in as many routes as it takes. False when a customer cannot be served at all, even alone (*who). */
bool inv_route_part_insert_all(inv_route_part *q, const invit_solution *given, inv_route_order order,
                               inv_rng *rng, int32_t *who);

typedef struct inv_route_run {
    double hot, cold;      /* temperature at the start and at the end                                      */
    int64_t steps;         /* where the run ends and by which it cools; INT64_MAX: by the clock alone      */
    double from, deadline; /* inv_now() at the start and where the run ends; deadline INFINITY: no clock   */
    const volatile int *cancel;
} inv_route_run;

/* Ruin and recreate; returns the number of steps made. */
int64_t inv_route_part_run(inv_route_part *q, const inv_route_run *run, inv_rng *rng);
/* Saves routes, one after the other, until there are `wanted` or the run ends; the temperature is run->cold.
 * The solution is then the best one, which has the fewest routes. */
int64_t inv_route_part_save(inv_route_part *q, int32_t wanted, const inv_route_run *run, inv_rng *rng);

/* Makes the current solution of q that of another part of the same problem; each keeps its own best. */
void inv_route_part_take(inv_route_part *q, const inv_route_part *from);
/* Makes the best solution the current one. */
void inv_route_part_return(inv_route_part *q);
/* True when the solution (routes, length) is better than the other one. */
static inline bool inv_route_better(const inv_route_part *q, int32_t routes, double length,
                                    int32_t other_routes, double other_length)
{
    if (q->fewest && routes != other_routes) return routes < other_routes;
    return length < other_length;
}

/* Mean length of the edges between customers, the unit temperatures are given in; positive. */
double inv_route_part_unit(const inv_route_part *q);
/* The best (or the current) routes: nodes has n-1 entries, start n+1. Returns the number of routes. */
int32_t inv_route_part_routes(const inv_route_part *q, bool best, int32_t *nodes, int32_t *start);

/* ---- for the files of the search itself ---- */
void inv_route_clear(inv_route_part *q);
void inv_route_settle(inv_route_part *q);
int32_t inv_route_empty(inv_route_part *q);
void inv_route_link(inv_route_part *q, int32_t v, int32_t prev);
void inv_route_ruin(inv_route_part *q, int32_t seed, inv_rng *rng);
/* Inserts all that was removed; those that fit nowhere become absent. */
void inv_route_recreate(inv_route_part *q, inv_rng *rng);
/* 2-opt and 2-opt* around what the step has inserted, where q->turns; returns the number of moves. */
int32_t inv_route_local_search(inv_route_part *q);
void inv_route_undo(inv_route_part *q);
void inv_route_keep(inv_route_part *q);
void inv_route_remember_best(inv_route_part *q);
void inv_route_unlink(inv_route_part *q, int32_t v);
/* After unlinking: what the nodes of the routes touched know about what comes before and after. */
void inv_route_refresh(inv_route_part *q, int32_t route);
void inv_route_draw_blink(inv_route_part *q, inv_rng *rng);

#endif
