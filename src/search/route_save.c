/* Fewer routes: a route is dissolved, and its customers wait outside until the others have taken them in.
 * Customers that wait often come first (the paper's absence counters). */
#include "base/cancel.h"
#include "search/route_part.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

#define STEPS_PER_CLOCK 16

static int64_t sum_missed(const inv_route_part *q, const int32_t *who, int32_t count)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < count; i++) sum += q->missed[who[i]];
    return sum;
}

/* The route whose customers have been absent least is taken out; they are absent now. False when all are driven
 * already. */
static bool dissolve(inv_route_part *q)
{
    int32_t chosen = -1;
    int64_t least = INT64_MAX;
    for (int32_t r = 0; r < q->n; r++) {
        if (q->size[r] == 0 || q->node[q->node[q->n + r].next].fixed) continue;
        int64_t sum = 0;
        for (int32_t v = q->node[q->n + r].next; v < q->n; v = q->node[v].next) sum += q->missed[v];
        if (sum < least) {
            least = sum;
            chosen = r;
        }
    }
    if (chosen < 0) return false;
    for (int32_t v = q->node[q->n + chosen].next; v < q->n; v = q->node[q->n + chosen].next) {
        inv_route_unlink(q, v);
        q->absent[q->absents++] = v;
    }
    inv_route_refresh(q, chosen);
    inv_route_keep(q);
    return true;
}

/* Half of the ruins are made around an absent customer. */
static int32_t seed_of(const inv_route_part *q, inv_rng *rng)
{
    if (q->absents > 0 && inv_rng_below(rng, 2) == 0)
        return q->absent[inv_rng_below(rng, (uint32_t)q->absents)];
    return 1 + (int32_t)inv_rng_below(rng, (uint32_t)(q->n - 1));
}

static void step_once(inv_route_part *q, double temperature, inv_rng *rng)
{
    double before = q->length;
    int32_t waited = q->absents;
    inv_route_ruin(q, seed_of(q, rng), rng);
    if (q->broken) {
        inv_route_undo(q);
        q->length = before;
        return;
    }
    memcpy(q->absent_before, q->absent, (size_t)waited * sizeof *q->absent);
    memcpy(q->removed + q->removals, q->absent, (size_t)waited * sizeof *q->absent);
    q->removals += waited;
    inv_route_recreate(q, rng);

    int64_t was = sum_missed(q, q->absent_before, waited), is = sum_missed(q, q->absent, q->absents);
    bool accepted = is < was || (is == was && q->length < before + temperature * inv_rng_exponential(rng));
    for (int32_t i = 0; i < q->absents; i++) q->missed[q->absent[i]]++;
    if (accepted) {
        inv_route_keep(q);
        return;
    }
    inv_route_undo(q);
    q->length = before;
    q->absents = waited;
    memcpy(q->absent, q->absent_before, (size_t)waited * sizeof *q->absent);
}

int64_t inv_route_part_save(inv_route_part *q, int32_t wanted, const inv_route_run *run, inv_rng *rng)
{
    int64_t step = 0;
    int32_t most = q->max_routes;
    inv_route_draw_blink(q, rng);
    q->absents = 0;
    for (; step < run->steps; step++) {
        if (step % STEPS_PER_CLOCK == 0 && (inv_flag_set(run->cancel) || inv_now() >= run->deadline)) break;
        if (q->absents == 0) {
            if (step == 0 || q->routes < q->best_routes) inv_route_remember_best(q);
            if (q->routes <= wanted || !dissolve(q)) break;
            q->max_routes = q->routes;
        }
        step_once(q, run->cold, rng);
    }
    q->max_routes = most;
    if (q->absents == 0 && q->routes < q->best_routes) inv_route_remember_best(q);
    inv_route_part_return(q);
    return step;
}
