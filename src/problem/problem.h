/* The problem as the library holds it: an instance, a solution, and the length of an edge. */
#ifndef INVIT_PROBLEM_PROBLEM_H
#define INVIT_PROBLEM_PROBLEM_H

#include "base/error.h"

/* Coordinates are at most this far from 0: distances, rounded or squared, then fit into every type used. */
#define INV_FARTHEST 1e18

struct invit_instance {
    invit_problem problem;
    invit_metric metric;
    int32_t n;        /* nodes; CVRP: depot (node 0) and customers (1..n-1)      */
    double *xy;       /* [n][2]                                                  */
    int32_t *demand;  /* [n], CVRP only; demand[0] = 0                           */
    int64_t capacity; /* CVRP only                                               */
    int32_t
        first_id;  /* what the file calls its lowest node; written back by solution writers of TSPLIB tours */
    char *name;    /* never NULL                                              */
    char *comment; /* NULL or the file's comment                              */
    char *labels;  /* NULL or what the file calls its nodes, one text after the other                      */
    size_t *label_at; /* [n] where in labels; NULL when labels is */
};

struct invit_solution {
    int32_t routes;
    int32_t *start; /* [routes + 1] offsets into nodes                         */
    int32_t *nodes; /* TSP: one route with all nodes; CVRP: customers only     */
};

/* Allocates the arrays (uninitialised) for n nodes; demand only for CVRP. */
invit_status inv_instance_alloc(invit_problem problem, int64_t n, invit_instance **out, invit_error *err);
invit_status inv_solution_alloc(int32_t routes, int64_t nodes, invit_solution **out, invit_error *err);
invit_status inv_solution_copy(const invit_solution *from, invit_solution **out, invit_error *err);
/* Refuses a solution that names nodes which the instance does not have: whoever looks them up asks before. */
invit_status inv_check_nodes(const invit_instance *p, const invit_solution *s, invit_error *err);

/* HAVERSINE: a longitude within -180..180; and all of an instance's, laid out without a break at the date
 * line. */
double inv_wrap_longitude(double degrees);
void inv_join_longitudes(invit_instance *p);

#endif
