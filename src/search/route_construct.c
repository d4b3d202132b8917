/* Insertion construction: customers one after the other at their cheapest place, in several orders; the best
 * result counts. Vehicles that are too many are saved afterwards. */
#include "base/cancel.h"
#include "search/route.h"

#include "base/clock.h"
#include "search/route_near.h"
#include "search/route_part.h"

#include <math.h>
#include <stdlib.h>

#define SEVERAL      50000 /* nodes up to which all orders are tried */
#define SAVING_STEPS 2000  /* per customer, without a clock          */
#define WARM         0.3   /* in units of the mean edge              */

static invit_status load(inv_route_part *q, const invit_instance *p, const inv_neighbours *near,
                         invit_error *err)
{
    INV_CHECK(inv_route_part_begin(q, p, p->n, near->k, err));
    for (int32_t v = 0; v < p->n; v++) {
        inv_route_part_fill(q, v, v);
        const int32_t *all = inv_neighbours_of(near, v);
        int32_t *own = q->near + (size_t)v * (size_t)q->k, count = 0;
        while (count < q->k && all[count] > 0) own[count] = all[count], count++;
        if (count < q->k) own[count] = 0;
    }
    inv_route_part_measure(q);
    return INVIT_OK;
}

static invit_status refuse(const invit_instance *p, int32_t who, invit_error *err)
{
    char node[INV_NODE_TEXT];
    return inv_fail(err, INVIT_ERR_INPUT,
                    "%s cannot be served even by a vehicle of its own: demand, time window or limit",
                    inv_node_text(p, who, node));
}

/* True when the first is to be preferred: within the vehicles, then shorter. */
static bool preferred(int32_t routes, double length, int32_t other, double other_length, int32_t vehicles)
{
    int32_t over = routes > vehicles ? routes - vehicles : 0,
            other_over = other > vehicles ? other - vehicles : 0;
    return over != other_over ? over < other_over : length < other_length;
}

static invit_status insert(inv_route_part *q, const inv_route_options *o, int32_t vehicles, invit_error *err)
{
    static const inv_route_order orders[] = {INV_ROUTE_FAR,    INV_ROUTE_OPENS,  INV_ROUTE_RANDOM,
                                             INV_ROUTE_NARROW, INV_ROUTE_CLOSES, INV_ROUTE_DEMAND};
    int count = q->windows ? 5 : 3, best = -1;
    if (q->n > SEVERAL) count = 1;
    double best_length = INFINITY;
    int32_t best_routes = 0, who = 0;
    for (int i = 0; i <= count; i++) { /* the best one once more at the end */
        inv_rng rng;
        int which = i < count ? i : best;
        inv_rng_init(&rng, o->seed, (uint64_t)which);
        if (i == count && best == count - 1) break;
        if (!inv_route_part_insert_all(q, o->given, orders[which], &rng, &who))
            return refuse(q->p, q->node[who].id, err);
        if (i < count && (best < 0 || preferred(q->routes, q->length, best_routes, best_length, vehicles))) {
            best = i;
            best_length = q->length;
            best_routes = q->routes;
        }
        if (i < count && inv_now() >= o->deadline) break;
        if (inv_cancelled(o->control)) break;
    }
    return INVIT_OK;
}

static invit_status save(inv_route_part *q, const inv_route_options *o, int32_t vehicles, invit_error *err)
{
    inv_route_run run = {.cold = WARM * inv_route_part_unit(q),
                         .from = inv_now(),
                         .deadline = o->deadline,
                         .steps = o->deadline < INFINITY ? INT64_MAX : (int64_t)SAVING_STEPS * q->n,
                         .cancel = inv_cancel_flag(o->control)};
    inv_rng rng;
    inv_rng_init(&rng, o->seed, 1000);
    inv_route_part_save(q, vehicles, &run, &rng);
    if (q->routes <= vehicles) return INVIT_OK;
    if (inv_flag_set(run.cancel))
        return inv_fail(err, INVIT_ERR_CANCELLED, "stopped before there were as few routes as vehicles");
    return inv_fail(err, INVIT_ERR_INPUT, "%d vehicles: needs at least %d vehicles as far as found",
                    (int)vehicles, (int)q->routes);
}

invit_status inv_construct_routes(const invit_instance *p, const inv_route_options *o, invit_solution **out,
                                  invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_neighbours near = {0};
    inv_route_part q = {0};
    int32_t vehicles = p->rules && p->rules->vehicles > 0 ? p->rules->vehicles : p->n;
    inv_neighbour_options lists = {.k = inv_route_near_length(p),
                                   .threads = o->threads,
                                   .deadline = INFINITY,
                                   .cancel = inv_cancel_flag(o->control)};
    *out = NULL;
    INV_TRY(inv_route_near_create(p, &lists, &near, err));
    INV_TRY(load(&q, p, &near, err));
    INV_TRY(insert(&q, o, vehicles, err));
    if (q.routes > vehicles) INV_TRY(save(&q, o, vehicles, err));
    INV_TRY(inv_solution_alloc(p->n, p->n > 1 ? p->n - 1 : 1, out, err));
    (*out)->routes = inv_route_part_routes(&q, false, (*out)->nodes, (*out)->start);
done:
    inv_route_part_destroy(&q);
    inv_neighbours_destroy(&near);
    return status;
}
