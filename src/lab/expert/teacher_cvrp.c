/* Near-optimal CVRP solutions for labels: one chain of ruin and recreate, as long as the effort asks for. */
#include "search/cvrp_part.h"
#include "search/neighbours.h"
#include "lab/expert/teacher_internal.h"
#include "problem/metric.h"

#include <stdlib.h>

#define NEIGHBOURS         40
#define STEPS_PER_CUSTOMER 300
#define LEAST_STEPS        500
/* In units of the mean edge between customers. */
#define HOT  1.0
#define COLD 0.05

struct inv_teacher_cvrp {
    inv_cvrp_part part;
};

static void destroy_cvrp(struct inv_teacher_cvrp *c)
{
    inv_cvrp_part_destroy(&c->part);
    free(c);
}

static invit_status load(inv_cvrp_part *q, const double *xy, int32_t n, int32_t capacity, invit_error *err)
{
    inv_neighbours near;
    inv_neighbour_options o = {.k = NEIGHBOURS, .threads = 1, .deadline = INFINITY};
    const invit_instance p = {.problem = INVIT_TSP, .metric = INVIT_EXACT, .n = n, .xy = (double *)xy};
    INV_CHECK(inv_neighbours_create(&p, &o, &near, err));
    invit_status status = inv_cvrp_part_begin(q, INVIT_EXACT, n, near.k, capacity, err);
    for (int32_t v = 0; status == INVIT_OK && v < n; v++) {
        const int32_t *list = inv_neighbours_of(&near, v);
        int32_t *mine = q->near + (size_t)v * (size_t)q->k, count = 0;
        for (int32_t i = 0; i < near.k && list[i] >= 0; i++)
            if (list[i] != 0) mine[count++] = list[i];
        if (count < q->k) mine[count] = 0;
        q->node[v].x = xy[2 * v];
        q->node[v].y = xy[2 * v + 1];
    }
    if (status == INVIT_OK) inv_cvrp_part_measure(q);
    inv_neighbours_destroy(&near);
    return status;
}

static invit_status check(const int32_t *demand, int32_t n, int32_t capacity, int32_t open, int32_t open_load,
                          invit_error *err)
{
    if (n < 1) return inv_fail(err, INVIT_ERR_ARGUMENT, "a CVRP has at least the depot, not %d nodes", n);
    if (open >= n)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "node %d is where the vehicle stands, of %d nodes", open, n);
    if (open >= 1 && (open_load < 0 || open_load > capacity))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "%d left in a vehicle of capacity %d", open_load, capacity);
    for (int32_t v = 1; v < n; v++)
        if (v != open && (demand[v] < 0 || demand[v] > capacity))
            return inv_fail(err, INVIT_ERR_ARGUMENT,
                            "demand %d of customer %d is not in 0..%d (the capacity)", demand[v], v,
                            capacity);
    return INVIT_OK;
}

invit_status inv_teach_cvrp(inv_teacher *t, const double *xy, const int32_t *demand, int32_t n,
                            int32_t capacity, int32_t open, int32_t open_load, double effort, uint64_t seed,
                            int32_t *nodes, int32_t *start, int32_t *routes, double *length, invit_error *err)
{
    INV_CHECK(check(demand, n, capacity, open, open_load, err));
    if (!t->cvrp) {
        t->cvrp = calloc(1, sizeof *t->cvrp);
        if (!t->cvrp) return inv_no_memory(err, sizeof *t->cvrp);
        t->destroy_cvrp = destroy_cvrp;
    }
    inv_cvrp_part *q = &t->cvrp->part;
    INV_CHECK(load(q, xy, n, capacity, err));
    for (int32_t v = 0; v < n; v++)
        q->node[v].demand = v == 0 ? 0 : v == open ? capacity - open_load : demand[v];

    inv_rng rng;
    inv_rng_init(&rng, seed, 0);
    inv_cvrp_part_insert_all(q, open >= 1 ? open : 0, &rng);
    double unit = inv_cvrp_part_unit(q), steps = effort * STEPS_PER_CUSTOMER * (n - 1);
    if (n - 1 > (open >= 1)) {
        inv_cvrp_run run = {
            .hot = HOT * unit, .cold = COLD * unit, .steps = (int64_t)steps, .deadline = INFINITY};
        if (run.steps < LEAST_STEPS) run.steps = LEAST_STEPS;
        inv_cvrp_part_run(q, &run, &rng);
    }
    /* Route 0 is the vehicle's: the pinned customer was linked first. */
    *routes = inv_cvrp_part_routes(q, true, nodes, start);
    const double *depot = xy;
    double total = 0;
    for (int32_t r = 0; r < *routes; r++) {
        const double *at = depot;
        for (int32_t i = start[r]; i < start[r + 1]; i++) {
            const double *to = xy + 2 * (size_t)nodes[i];
            if (nodes[i] != open) total += inv_metric_distance(INVIT_EXACT, at, to);
            at = to;
        }
        total += inv_metric_distance(INVIT_EXACT, at, depot);
    }
    *length = total;
    return INVIT_OK;
}
