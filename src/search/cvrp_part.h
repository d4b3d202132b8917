/* One CVRP (a whole instance, or a few neighbouring routes cut out of one) under slack induction by string
 * removals (Christiaens, Vanden Berghe 2020). Memory O(n k); a step touches a few routes only, whatever n. */
#ifndef INVIT_SEARCH_CVRP_PART_H
#define INVIT_SEARCH_CVRP_PART_H

#include "base/rng.h"
#include "problem/problem.h"

/* Ids: 1..n-1 are customers, n + r is the depot as the end of route r, 0 is not used (it ends neighbour
 * lists). Routes are rings: depot end, customers, and back to the same depot end. */
typedef struct inv_cvrp_node {
    int32_t next, prev;
    int32_t demand;
    double out; /* length of the edge to next                           */
    double x, y;
} inv_cvrp_node;

/* One change, as it is undone. */
typedef struct inv_cvrp_change {
    int32_t node, other; /* linked, unlinked: behind `other`; reversed: the path's ends; crossed: the heads */
    enum { INV_CVRP_LINKED, INV_CVRP_UNLINKED, INV_CVRP_REVERSED, INV_CVRP_CROSSED } kind;
    double before, after; /* linked, unlinked: other-node and node-next; else the edges there were */
    double across;        /* linked, unlinked: other-next */
} inv_cvrp_change;

typedef struct inv_cvrp_part {
    invit_metric metric;
    int32_t n, k; /* nodes with the depot; neighbours kept per customer */
    int32_t capacity;
    bool give_up;          /* as the run says */
    bool near_first;       /* likewise        */
    double per_route;      /* what a route counts beside its length when a step is judged */
    int32_t longest_chain; /* customers in a chain that the local search moves, at most */
    int32_t local_moves;   /* moves it makes at most; 0: as suits the routes */
    int32_t pinned;        /* a customer that stays first in its route; 0: none  */
    inv_cvrp_node *node;   /* [2 n]                                              */
    int32_t *near;         /* [n][k] customers by distance, ended by 0           */
    float *near_length;    /* [n][k] distances to them, rounded down */
    int32_t *route;        /* [2 n] an id's route; n: removed, a route without room */
    int32_t *fits;         /* [k] neighbours beside which there is room */
    int32_t *room;         /* [n + 1] capacity left, per route                       */
    int32_t *size;         /* [n] customers, per route                           */
    int32_t routes;        /* that have a customer                               */
    double length;
    double best_length;
    int32_t *best_next; /* [2 n] the shortest solution seen                   */

    int32_t reserved_n;
    size_t reserved_near;
    int32_t reserved_k;
    uint32_t *stamp; /* [n] ruin in which a route was last touched         */
    uint32_t stamp_now;
    int32_t *empty; /* [n] routes that may be empty                       */
    bool *in_empty; /* [n]                                                */
    int32_t empties;
    int32_t *removed; /* [n + INV_CVRP_MOST_EJECTIONS]                      */
    double *key;      /* [n] sort keys of the removed                       */
    int32_t removals;
    int32_t *dirty; /* [2 n] ids whose next differs from best_next        */
    bool *is_dirty; /* [2 n]                                              */
    int32_t dirties;
    inv_cvrp_change *change; /* the step's journal                                 */
    int32_t *old_next;       /* [2 n] what followed an id when the step began, if changed_in says so */
    uint32_t *changed_in;    /* [2 n] the last step in which next was changed           */
    uint32_t step;           /* never 0                                            */
    int32_t *load_to;        /* [2 n] load of the route up to an id, where loads_known  */
    bool *loads_known;       /* [n] per route                                      */
    int32_t *queue;          /* [2 n] ids whose edge to next is to be looked at     */
    bool *queued;            /* [2 n]                                              */
    uint64_t *chains_tried;  /* [n] the state in which no move of a chain from a customer was found */
    uint64_t state;          /* counts what the local search changes and begins with */
    double unit;             /* inv_cvrp_part_unit when the run began              */
    int32_t *left;           /* [n] customers that are left out while a route is to be saved */
    int32_t *left_at;        /* [n] where in `left` a customer is; -1: it is not       */
    int32_t *absences;       /* [n] how often no place was found for a customer        */
    int32_t left_out;
    size_t changes;
    int64_t blink_in; /* positions until the next one is overlooked         */
} inv_cvrp_part;

/* Zero-initialise a part before its first use; destroy frees what it owns. */
void inv_cvrp_part_destroy(inv_cvrp_part *q);
/* Room for n nodes and k neighbours each; afterwards fill node[].{x, y, demand} for 0..n-1 and near[], then
 * call inv_cvrp_part_measure. */
invit_status inv_cvrp_part_begin(inv_cvrp_part *q, invit_metric metric, int32_t n, int32_t k,
                                 int32_t capacity, invit_error *err);
void inv_cvrp_part_measure(inv_cvrp_part *q);
/* Starts from these routes. Call after filling. */
void inv_cvrp_part_set(inv_cvrp_part *q, const int32_t *nodes, const int32_t *start, int32_t routes);
void inv_cvrp_part_insert_all(inv_cvrp_part *q, int32_t pinned, inv_rng *rng);

typedef struct inv_cvrp_run {
    double hot, cold;      /* temperature at the start and at the end                                       */
    int64_t steps;         /* where the run ends and by which it cools; INT64_MAX: by the clock alone       */
    double from, deadline; /* inv_now() at the start and where the run ends; deadline INFINITY: no clock */
    /* Many fast steps, for many customers in short routes: a step ends as soon as it is too long, large customers may
     * eject others, and fewer routes are aimed at. */
    bool give_up;
    /* Places for customers are looked for nearby, and farther away only if that is dear: quicker steps, which CVRPs of a
     * hundred customers and many customers in short routes gain by. */
    bool near_first;
    /* Moves of a step's local search at most; 0: as many as suit the length of the routes. */
    int32_t local_moves;
    /* In mean edges, how far above the threshold a step may be for a local search; 0: 6. */
    double worth_mending;
    const volatile int *cancel;
} inv_cvrp_run;

/* Ruin and recreate; returns the number of steps made. */
int64_t inv_cvrp_part_run(inv_cvrp_part *q, const inv_cvrp_run *run, inv_rng *rng);

/* Makes the current solution of q that of another part of the same problem; each keeps its own best. */
void inv_cvrp_part_take(inv_cvrp_part *q, const inv_cvrp_part *from);

/* Mean length of the edges between customers, the unit temperatures are given in; positive. */
double inv_cvrp_part_unit(const inv_cvrp_part *q);

/* The best (or the current) routes: nodes has n-1 entries, start n+1. Returns the number of routes. */
int32_t inv_cvrp_part_routes(const inv_cvrp_part *q, bool best, int32_t *nodes, int32_t *start);

#endif
