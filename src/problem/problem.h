/* The problem as the library holds it: an instance, a solution, and the length of an edge. */
#ifndef INVIT_PROBLEM_PROBLEM_H
#define INVIT_PROBLEM_PROBLEM_H

#include "base/error.h"

typedef struct inv_stop_table inv_stop_table; /* problem/stop_table.h */

/* Coordinates are at most this far from 0: distances, rounded or squared, then fit into every type used. */
#define INV_FARTHEST 1e18
/* Of distances and times given: sums of them stay exact enough. */
#define INV_LARGEST_COST 1e15
/* The least extent of an instance that is not a single place: its square is far from the smallest number. */
#define INV_NARROWEST 1e-140

/* What a route must keep besides capacity, and distances that coordinates do not give. Times are in the unit
 * of durations. A TSP has only matrices, ends and `open` (a path between any two nodes); all else makes it a
 * CVRP, perhaps with demands of 0. */
typedef struct inv_rules {
    double max_length;   /* of a route; INFINITY: none                                                   */
    double max_duration; /* of a route: travel, service and waiting; INFINITY: none                      */
    int32_t max_stops;   /* of a route; 0: none                                                          */
    int32_t vehicles;    /* at most so many routes; 0: any                                               */
    bool fewest;         /* fewest routes first, then length                                             */
    bool open;           /* routes end at their last stop                                                */
    int32_t start, end;  /* TSP: a path from/to these nodes; -1: free. Both -1: a closed tour            */
    double *service;     /* [n] or NULL                                                                  */
    double *earliest;    /* [n] earliest and latest start of service, or both NULL; depot: leave, be back */
    double *latest;      /* INFINITY: no end                                                             */
    double *distance;    /* [n][n] row: from, column: to; or NULL: by the metric                         */
    double *duration;    /* [n][n] or NULL: distance / speed                                             */
    double speed;        /* distance per unit of time (1)                                                */
    double *freeze;      /* [n] beginnings of routes that stay, see problem/freeze.h; or NULL             */
    bool symmetric;      /* distance (and duration) matrices are, or there are none                      */
    bool has_xy;         /* coordinates are given, or may be used for pictures and neighbours            */
    bool clock;          /* times are minutes and were given as hh:mm: they are written so               */
} inv_rules;

struct invit_instance {
    invit_problem problem;
    invit_metric metric;
    int32_t n;        /* nodes; CVRP: depot (node 0) and customers (1..n-1)      */
    double *xy;       /* [n][2]                                                  */
    int32_t *demand;  /* [n], CVRP only; demand[0] = 0                           */
    int64_t capacity; /* CVRP only                                               */
    int32_t scale;    /* demands and capacity are the given ones times 1, 10, 100, ... */
    int32_t
        first_id;  /* what the file calls its lowest node; written back by solution writers of TSPLIB tours */
    char *name;    /* never NULL                                              */
    char *comment; /* NULL or the file's comment                              */
    char *labels;  /* NULL or what the file calls its nodes, one text after the other                      */
    size_t *label_at;      /* [n] where in labels; NULL when labels is */
    inv_rules *rules;      /* NULL: a plain TSP or CVRP */
    inv_stop_table *table; /* NULL, or what else the table that it was read from says */
};

/* What the solver says of its solution; invit_solution_get tells it by these names. */
typedef struct inv_solved {
    double length;       /* by the instance's rule                                          */
    double length_exact; /* without rounding                                                */
    int32_t routes;
    invit_construct construct; /* what the construction was in the end                      */
    int32_t rollouts;          /* completed                                                 */
    int64_t decisions;         /* states the policy was asked about                         */
    double constructed;        /* length before improvement                                 */
    int64_t iterations;        /* improvement steps                                         */
    bool short_of_memory;      /* improvement ended for lack of memory                      */
    double seconds_construct, seconds_improve, seconds_total;
} inv_solved;

struct invit_solution {
    int32_t routes;
    int32_t *start; /* [routes + 1] offsets into nodes                         */
    int32_t *nodes; /* TSP: one route with all nodes; CVRP: customers only     */
    bool is_solved; /* made by invit_solve, which says:                        */
    inv_solved solved;
};

/* Bytes of its name, labels and table. */
size_t inv_text_bytes(const invit_instance *p);
/* Allocates the arrays (uninitialised) for n nodes; demand only for CVRP. */
invit_status inv_instance_alloc(invit_problem problem, int64_t n, invit_instance **out, invit_error *err);
invit_status inv_solution_alloc(int32_t routes, int64_t nodes, invit_solution **out, invit_error *err);
invit_status inv_solution_copy(const invit_solution *from, invit_solution **out, invit_error *err);
/* Refuses a solution that names nodes which the instance does not have: whoever looks them up asks before. */
invit_status inv_check_nodes(const invit_instance *p, const invit_solution *s, invit_error *err);

/* The instance's rules, made (nothing demanded) when it has none. */
invit_status inv_instance_rules(invit_instance *p, inv_rules **out, invit_error *err);
void inv_rules_destroy(inv_rules *rules);
/* Makes a TSP into a CVRP without demands and with any capacity, the first node its depot. */
invit_status inv_make_routes(invit_instance *p, invit_error *err);
/* Takes over demands [n] (NULL: as they are) and the capacity (0: as it is), which may have decimals: both are
 * then scaled, exactly. */
invit_status inv_set_demands(invit_instance *p, const double *demand, double capacity, invit_error *err);
/* Matrices [n][n] that the instance takes over, whatever comes of it; the diagonal does not count. */
invit_status inv_take_matrix(invit_instance *p, bool durations, double *matrix, invit_error *err);
/* Is time told: service, windows, durations, a speed or a limit of them? */
bool inv_is_timed(const invit_instance *p);
/* Does the policy construct for it? Plain ones, and routes with coordinates whose rules can be kept by masking what does not
 * fit: not time windows, nor frozen beginnings. */
bool inv_policy_suits(const invit_instance *p);
/* Are there demands at all, other than 0? */
bool inv_has_demands(const invit_instance *p);
/* "stop 17 'Meier'", counted as the file does: what messages call a node. At most INV_NODE_TEXT bytes. */
enum { INV_NODE_TEXT = 96, INV_TIME_TEXT = 40 };
const char *inv_node_text(const invit_instance *p, int32_t node, char text[INV_NODE_TEXT]);
/* "12:40" where the instance's times were given so, else the number. */
const char *inv_time_text(const invit_instance *p, double time, char text[INV_TIME_TEXT]);
/* Parses "8:30" (minutes; *clock is set then), "90", "90min", "1.5h"; false when it is nothing of that. */
bool inv_parse_time(const char *text, double *minutes, bool *clock);

/* HAVERSINE: an instance's longitudes, laid out without a break at the date line. */
void inv_join_longitudes(invit_instance *p);
/* Longitudes shrink away from the equator: what to multiply x and y with so that neighbours on the sphere are
 * neighbours in the plane. {1, 1} for plane metrics. */
void inv_plane_scale(const invit_instance *p, double scale[2]);

#endif
