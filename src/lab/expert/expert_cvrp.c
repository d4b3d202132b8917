/* Near-optimal CVRP solutions for labels: one chain of ruin and recreate, as long as the effort asks for. */
#include "search/cvrp_local.h"
#include "search/cvrp_part.h"
#include "search/improve.h"
#include "search/neighbours.h"
#include "lab/expert/expert_internal.h"
#include "problem/metric.h"

#include <stdlib.h>

#define NEIGHBOURS         40
#define STEPS_PER_CUSTOMER 80
#define LEAST_STEPS        500
/* In units of the mean edge between customers. Hot steps need a local search that makes all the moves it finds: then few
 * steps from 2 end shorter than as many from 0.7. */
#define HOT           2.0
#define COLD          0.1
#define WORTH_MENDING 3.5

struct inv_expert_cvrp_part {
    inv_cvrp_part part;
};

static void destroy_cvrp(struct inv_expert_cvrp_part *c)
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

static invit_status check(const inv_cvrp_request *q, invit_error *err)
{
    if (q->n < 1)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "a CVRP has at least the depot, not %d nodes", q->n);
    if (q->open >= q->n)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "node %d is where the vehicle stands, of %d nodes", q->open,
                        q->n);
    if (q->open >= 1 && (q->open_load < 0 || q->open_load > q->capacity))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "%d left in a vehicle of capacity %d", q->open_load,
                        q->capacity);
    for (int32_t v = 1; v < q->n; v++)
        if (v != q->open && (q->demand[v] < 0 || q->demand[v] > q->capacity))
            return inv_fail(err, INVIT_ERR_ARGUMENT,
                            "demand %d of customer %d is not in 0..%d (the capacity)", q->demand[v], v,
                            q->capacity);
    return INVIT_OK;
}

/* The edge from the depot to where the vehicle stands costs nothing. */
static double routes_length(const inv_cvrp_request *q, const inv_cvrp_answer *a)
{
    const double *depot = q->xy;
    double total = 0;
    for (int32_t r = 0; r < a->routes; r++) {
        const double *at = depot;
        for (int32_t i = a->start[r]; i < a->start[r + 1]; i++) {
            const double *to = q->xy + 2 * (size_t)a->nodes[i];
            if (a->nodes[i] != q->open) total += inv_metric_distance(INVIT_EXACT, at, to);
            at = to;
        }
        total += inv_metric_distance(INVIT_EXACT, at, depot);
    }
    return total;
}

static int32_t demand_of(const inv_cvrp_request *q, int32_t v)
{
    if (v == 0) return 0;
    return v == q->open ? q->capacity - q->open_load : q->demand[v];
}

/* Few steps do not make good what a random insertion begins with. */
static invit_status begin_with_savings(inv_cvrp_part *part, const inv_cvrp_request *q, invit_error *err)
{
    const invit_instance p = {.problem = INVIT_CVRP,
                              .metric = INVIT_EXACT,
                              .n = q->n,
                              .xy = (double *)q->xy,
                              .demand = (int32_t *)q->demand,
                              .capacity = q->capacity};
    invit_solution *start = NULL;
    INV_CHECK(inv_construct_savings(&p, NULL, &start, err));
    inv_cvrp_part_set(part, start->nodes, start->start, start->routes);
    invit_solution_destroy(start);
    return INVIT_OK;
}

invit_status inv_expert_cvrp(inv_expert *e, const inv_cvrp_request *q, inv_cvrp_answer *answer,
                             invit_error *err)
{
    INV_CHECK(check(q, err));
    if (!e->cvrp) {
        e->cvrp = calloc(1, sizeof *e->cvrp);
        if (!e->cvrp) return inv_no_memory(err, sizeof *e->cvrp);
        e->destroy_cvrp = destroy_cvrp;
    }
    inv_cvrp_part *part = &e->cvrp->part;
    INV_CHECK(load(part, q->xy, q->n, q->capacity, err));
    for (int32_t v = 0; v < q->n; v++) part->node[v].demand = demand_of(q, v);

    inv_rng rng;
    inv_rng_init(&rng, q->seed, 0);
    bool open = q->open >= 1;
    if (open)
        inv_cvrp_part_insert_all(part, q->open, &rng);
    else
        INV_CHECK(begin_with_savings(part, q, err));
    double unit = inv_cvrp_part_unit(part), steps = q->effort * STEPS_PER_CUSTOMER * (q->n - 1);
    if (q->n - 1 > open) {
        inv_cvrp_run run = {.hot = HOT * unit,
                            .cold = COLD * unit,
                            .steps = (int64_t)steps,
                            .deadline = INFINITY,
                            .near_first = true,
                            .local_moves = INV_CVRP_LOCAL_MOVES,
                            .worth_mending = WORTH_MENDING};
        if (run.steps < LEAST_STEPS) run.steps = LEAST_STEPS;
        inv_cvrp_part_run(part, &run, &rng);
    }
    /* Route 0 is the vehicle's: the pinned customer was linked first. */
    answer->routes = inv_cvrp_part_routes(part, true, answer->nodes, answer->start);
    answer->length = routes_length(q, answer);
    return INVIT_OK;
}
