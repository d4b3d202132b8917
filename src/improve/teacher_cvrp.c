/* Near-optimal CVRP solutions for labels: one chain of ruin and recreate, as long as the effort asks for. */
#include "improve/cvrp_part.h"
#include "improve/teacher_internal.h"
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

/* All pairs: at a thousand customers this is a few milliseconds beside seconds of search. */
static void nearest(inv_cvrp_part *q)
{
    for (int32_t v = 1; v < q->n; v++) {
        int32_t *near = q->near + (size_t)v * (size_t)q->k, count = 0;
        double *d = q->key;
        for (int32_t u = 1; u < q->n; u++) {
            if (u == v) continue;
            double dx = q->node[u].x - q->node[v].x, dy = q->node[u].y - q->node[v].y,
                   far = dx * dx + dy * dy;
            if (count == q->k && far >= d[count - 1]) continue;
            int32_t i = count < q->k ? count++ : count - 1;
            for (; i > 0 && d[i - 1] > far; i--) {
                d[i] = d[i - 1];
                near[i] = near[i - 1];
            }
            d[i] = far;
            near[i] = u;
        }
        if (count < q->k) near[count] = 0;
    }
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
    int32_t k = n - 2 < NEIGHBOURS ? n - 2 : NEIGHBOURS;
    INV_CHECK(inv_cvrp_part_begin(q, INVIT_EXACT, n, k < 1 ? 1 : k, capacity, err));
    for (int32_t v = 0; v < n; v++) {
        q->node[v].x = xy[2 * v];
        q->node[v].y = xy[2 * v + 1];
        q->node[v].demand = v == 0 ? 0 : v == open ? capacity - open_load : demand[v];
    }
    nearest(q);

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
            if (nodes[i] != open) total += inv_distance(INVIT_EXACT, at, to);
            at = to;
        }
        total += inv_distance(INVIT_EXACT, at, depot);
    }
    *length = total;
    return INVIT_OK;
}
