#include "search/cvrp_fleet.h"

#include "search/cvrp_insert.h"
#include "search/cvrp_moves.h"
#include "search/cvrp_ruin.h"

#include "base/cancel.h"
#include "base/clock.h"

#include <math.h>

#define STEPS_PER_CLOCK 64
#define FIRST_ABSENCES  10 /* of a customer with the mean demand */
#define CONTESTANTS     2  /* routes drawn, of which the one with the smallest load goes */

bool inv_cvrp_may_save_route(const inv_cvrp_part *q)
{
    int64_t demand = 0;
    for (int32_t v = 1; v < q->n; v++) demand += q->node[v].demand;
    return q->routes > 1 && demand <= (int64_t)q->capacity * (q->routes - 1);
}

/* ---- the customers that are left out ------------------------------------------------------------ */

static void leave_out(inv_cvrp_part *q, int32_t v)
{
    q->left_at[v] = q->left_out;
    q->left[q->left_out++] = v;
}

static void let_in(inv_cvrp_part *q, int32_t v)
{
    int32_t last = q->left[--q->left_out];
    q->left[q->left_at[v]] = last;
    q->left_at[last] = q->left_at[v];
    q->left_at[v] = -1;
}

static void give_up_route(inv_cvrp_part *q, inv_rng *rng)
{
    int32_t smallest = -1;
    for (int i = 0; i < CONTESTANTS; i++) {
        int32_t r = q->route[1 + (int32_t)inv_rng_below(rng, (uint32_t)(q->n - 1))];
        if (smallest < 0 || q->room[r] > q->room[smallest]) smallest = r;
    }
    for (int32_t end = q->n + smallest; q->node[end].next != end;) {
        int32_t v = q->node[end].next;
        inv_cvrp_unlink_node(q, v);
        leave_out(q, v);
    }
    inv_cvrp_keep(q);
}

/* ---- a step -------------------------------------------------------------------------------------- */

/* Those left out near v, and v, are tried again together with what is removed. */
static void remove_around(inv_cvrp_part *q, int32_t v, inv_rng *rng)
{
    const int32_t *near = q->near + (size_t)v * (size_t)q->k;
    inv_cvrp_ruin(q, v, rng);
    q->removed[q->removals++] = v;
    for (int32_t i = 0; i < q->k && near[i] != 0; i++)
        if (q->left_at[near[i]] >= 0) q->removed[q->removals++] = near[i];
}

/* Routes are not opened: per_route is infinite. */
static void insert_removed(inv_cvrp_part *q, inv_rng *rng)
{
    inv_cvrp_sort_removed(q, rng);
    for (int32_t i = 0; i < q->removals; i++) {
        inv_cvrp_place_found found = inv_cvrp_place_anywhere(q, q->removed[i], rng);
        if (found.added < INFINITY) inv_cvrp_link_after(q, q->removed[i], found.place);
    }
}

/* Which customers are left out changes for the better if these were left out less often. Every attempt to place one
 * that fails counts. */
static int64_t change_of_absences(inv_cvrp_part *q)
{
    int64_t change = 0;
    for (int32_t i = 0; i < q->removals; i++) {
        int32_t v = q->removed[i];
        bool was = q->left_at[v] >= 0, is = q->route[v] == q->n;
        if (is != was) change += is ? q->absences[v] : -q->absences[v];
        q->absences[v] += is;
    }
    return change;
}

static void step(inv_cvrp_part *q, double temperature, inv_rng *rng)
{
    double before = q->length;
    remove_around(q, q->left[inv_rng_below(rng, (uint32_t)q->left_out)], rng);
    insert_removed(q, rng);
    int64_t change = change_of_absences(q);
    if (change > 0 || (change == 0 && q->length >= before + temperature * inv_rng_exponential(rng))) {
        inv_cvrp_undo(q);
        q->length = before;
        return;
    }
    inv_cvrp_keep(q);
    for (int32_t i = 0; i < q->removals; i++) {
        int32_t v = q->removed[i];
        bool was = q->left_at[v] >= 0, is = q->route[v] == q->n;
        if (is && !was) leave_out(q, v);
        if (was && !is) let_in(q, v);
    }
}

/* Customers with large demands are hard to place, so leaving one out counts more from the beginning. */
static void begin(inv_cvrp_part *q)
{
    double sum = 0;
    for (int32_t v = 1; v < q->n; v++) sum += q->node[v].demand;
    double per_demand = sum > 0 ? FIRST_ABSENCES * (q->n - 1) / sum : 0;
    q->left_out = 0;
    q->near_first = false;
    q->per_route = INFINITY;
    for (int32_t v = 1; v < q->n; v++) {
        q->left_at[v] = -1;
        q->absences[v] = 1 + (int32_t)(per_demand * q->node[v].demand);
    }
}

int64_t inv_cvrp_save_route(inv_cvrp_part *q, const inv_cvrp_run *run, int64_t steps, inv_rng *rng,
                            bool *saved)
{
    int64_t made = 0;
    begin(q);
    give_up_route(q, rng);
    for (; made < steps && q->left_out > 0; made++) {
        if (made % STEPS_PER_CLOCK == 0 && (inv_flag_set(run->cancel) || inv_now() >= run->deadline)) break;
        step(q, run->hot, rng);
    }
    *saved = q->left_out == 0;
    if (*saved && q->length < q->best_length) inv_cvrp_remember_best(q);
    q->per_route = 0;
    return made;
}
