#include "solve/construct.h"

#include "base/clock.h"
#include "search/improve.h"

#include <stdlib.h>
#include <string.h>

/* CVRP: the tour along a space-filling curve through all nodes, entered at the depot and cut wherever the
 * next customer does not fit. Poor, but it is there in no time at any size. */
static invit_status cut_curve(const invit_instance *p, invit_solution **out, invit_error *err)
{
    *out = NULL;
    invit_status status = INVIT_OK;
    invit_instance *tsp = NULL;
    invit_solution *tour = NULL;
    int32_t *start = malloc(((size_t)p->n + 1) * sizeof *start),
            *nodes = malloc((size_t)p->n * sizeof *nodes);
    if (!start || !nodes) INV_TRY(inv_no_memory(err, (size_t)p->n * 8));
    INV_TRY(invit_instance_create_tsp(p->xy, p->n, p->metric, &tsp, err));
    INV_TRY(inv_construct_space_filling(tsp, &tour, err));
    int32_t depot = 0, routes = 0;
    while (tour->nodes[depot] != 0) depot++;
    int64_t load = 0;
    for (int32_t i = 0; i < p->n - 1; i++) {
        int32_t node = tour->nodes[(int32_t)(((int64_t)depot + 1 + i) % p->n)];
        if (i == 0 || load + p->demand[node] > p->capacity) {
            start[routes++] = i;
            load = 0;
        }
        load += p->demand[node];
        nodes[i] = node;
    }
    start[routes] = p->n - 1;
    status = invit_solution_create(nodes, start, routes, out, err);
done:
    free(start);
    free(nodes);
    invit_solution_destroy(tour);
    invit_instance_destroy(tsp);
    return status;
}

invit_status inv_construct_check(invit_construct how, invit_problem problem, invit_error *err)
{
    if (how == INVIT_CONSTRUCT_GREEDY && problem == INVIT_CVRP)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "greedy construction is for TSP; for CVRP there are invit, nearest, "
                        "space-filling and savings");
    if (how == INVIT_CONSTRUCT_SAVINGS && problem == INVIT_TSP)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "savings construction is for CVRP; for TSP there are invit, nearest, "
                        "greedy and space-filling");
    return INVIT_OK;
}

invit_status inv_construct(const invit_instance *p, invit_construct how, uint64_t seed,
                           const inv_limits *limits, invit_solution **out, invit_error *err)
{
    bool tsp = p->problem == INVIT_TSP;
    INV_CHECK(inv_construct_check(how, p->problem, err));
    switch (how) {
    case INVIT_CONSTRUCT_NEAREST:
        return inv_construct_nearest(p, seed, limits, out, err);
    case INVIT_CONSTRUCT_GREEDY:
        return inv_construct_greedy(p, limits, out, err);
    case INVIT_CONSTRUCT_SPACE_FILLING:
        return tsp ? inv_construct_space_filling(p, out, err) : cut_curve(p, out, err);
    case INVIT_CONSTRUCT_SAVINGS:
        return inv_construct_savings(p, limits, out, err);
    case INVIT_CONSTRUCT_INVIT:
    case INVIT_CONSTRUCT_START:
    case INVIT_CONSTRUCT_INSERTION:
        break;
    }
    return inv_fail(err, INVIT_ERR_ARGUMENT, "no such construction: %d", (int)how);
}

/* What the curve takes per node, generously: kept free for it. */
#define CURVE_SECONDS 4e-7

invit_status inv_construct_within(const invit_instance *p, uint64_t seed, const inv_limits *limits,
                                  invit_solution **out, invit_construct *how, invit_error *err)
{
    inv_limits kept = {limits->deadline - CURVE_SECONDS * p->n, limits->cancel, limits->threads};
    invit_status status = inv_construct(p, *how, seed, &kept, out, err);
    if (status != INVIT_ERR_CANCELLED) return status;
    *how = INVIT_CONSTRUCT_SPACE_FILLING;
    return inv_construct(p, *how, seed, NULL, out, err);
}

enum { SMALL = 2000 }; /* nodes for which the better construction takes some milliseconds */

/* On larger instances the curve comes first: it is there in no time, and how long it took says how fast this
 * machine is right now. */
invit_status inv_construct_in_time(const invit_instance *p, const inv_limits *limits, uint64_t seed,
                                   invit_solution **out, invit_construct *how, invit_error *err)
{
    bool tsp = p->problem == INVIT_TSP;
    double times_longer = tsp ? 10 : 60; /* measured on 300,000 to 1,000,000 nodes */
    double began = inv_now();
    invit_solution *curve = NULL;
    if (p->n > SMALL) {
        *how = INVIT_CONSTRUCT_SPACE_FILLING;
        INV_CHECK(inv_construct(p, *how, seed, NULL, &curve, err));
        double now = inv_now();
        if ((now - began) * times_longer > (limits->deadline - now) / 2) {
            *out = curve;
            return INVIT_OK;
        }
    }
    *how = tsp ? INVIT_CONSTRUCT_GREEDY : INVIT_CONSTRUCT_SAVINGS;
    invit_status status = inv_construct(p, *how, seed, curve ? limits : NULL, out, err);
    if (status == INVIT_ERR_CANCELLED) {
        *how = INVIT_CONSTRUCT_SPACE_FILLING;
        *out = curve;
        return INVIT_OK;
    }
    invit_solution_destroy(curve);
    return status;
}
