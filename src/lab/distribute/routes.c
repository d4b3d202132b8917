/* A large CVRP: groups of neighbouring routes, one per rank, that are grouped anew in each round. */
#include "lab/distribute/spread.h"

#include "base/clock.h"
#include "base/rng.h"
#include "problem/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4 };

typedef struct route_place {
    double xy[2], along; /* its middle, and where that is in the direction of the cut */
    int32_t route, customers;
} route_place;

typedef struct routes_run {
    inv_spread *s;
    route_place *place; /* [routes] group after group        */
    int32_t *begin;     /* [ranks + 1] where the groups begin */
    int32_t *name;      /* [n] the customers of the groups, in the order of their instances */
    int32_t *named;     /* [ranks + 1] where those of a group begin                         */
    double until;
    int64_t steps;
    int round;
} routes_run;

static int by_along(const void *x, const void *y)
{
    const route_place *a = x, *b = y;
    if (a->along != b->along) return a->along < b->along ? -1 : 1;
    return (a->route > b->route) - (a->route < b->route);
}

/* Splits routes [from, to) into groups [group, group + groups) with about the same number of customers, across
 * random directions. */
static void group_routes(routes_run *t, int32_t from, int32_t to, int group, int groups, inv_rng *rng)
{
    if (groups == 1) {
        t->begin[group] = from;
        return;
    }
    double angle = 2 * M_PI * inv_rng_double(rng), x = cos(angle), y = sin(angle);
    int64_t all = 0, before = 0;
    for (int32_t i = from; i < to; i++) {
        t->place[i].along = x * t->place[i].xy[0] + y * t->place[i].xy[1];
        all += t->place[i].customers;
    }
    qsort(t->place + from, (size_t)(to - from), sizeof *t->place, by_along);
    int few = groups / 2;
    int32_t mid = from;
    while (mid < to && before * groups < all * few) before += t->place[mid++].customers;
    group_routes(t, from, mid, group, few, rng);
    group_routes(t, mid, to, group + few, groups - few, rng);
}

static void place_routes(routes_run *t)
{
    const invit_solution *best = t->s->best;
    const double *xy = t->s->p->xy;
    for (int32_t r = 0; r < best->routes; r++) {
        int32_t count = best->start[r + 1] - best->start[r];
        route_place *place = &t->place[r];
        *place = (route_place){.route = r, .customers = count};
        for (int32_t i = best->start[r]; i < best->start[r + 1]; i++)
            for (size_t c = 0; c < 2; c++) place->xy[c] += xy[2 * (size_t)best->nodes[i] + c] / count;
    }
}

static void name_customers(routes_run *t)
{
    const invit_solution *best = t->s->best;
    int32_t at = 0;
    for (int g = 0; g < t->s->ranks; g++) {
        t->named[g] = at;
        for (int32_t i = t->begin[g]; i < t->begin[g + 1]; i++) {
            int32_t r = t->place[i].route, count = best->start[r + 1] - best->start[r];
            memcpy(t->name + at, best->nodes + best->start[r], (size_t)count * sizeof *t->name);
            at += count;
        }
    }
    t->named[t->s->ranks] = at;
}

static invit_status make_group(void *context, int rank, inv_job *job, invit_error *err)
{
    const routes_run *t = context;
    const invit_instance *p = t->s->p;
    const int32_t *name = t->name + t->named[rank];
    int32_t customers = t->named[rank + 1] - t->named[rank], routes = t->begin[rank + 1] - t->begin[rank];
    *job = (inv_job){.kind = INV_JOB_IMPROVE,
                     .seconds = t->until - inv_now(),
                     .iterations = t->steps,
                     .refine = t->round > 0,
                     .seed = inv_spread_seed(t->s, t->round, rank)};
    if (customers < 2) {
        job->kind = INV_JOB_NOTHING;
        return INVIT_OK;
    }
    INV_CHECK(inv_instance_alloc(INVIT_CVRP, customers + 1, &job->p, err));
    job->p->metric = p->metric;
    job->p->capacity = p->capacity;
    job->p->scale = p->scale;
    memcpy(job->p->xy, p->xy, 2 * sizeof *p->xy);
    for (int32_t i = 0; i < customers; i++) {
        memcpy(job->p->xy + 2 * ((size_t)i + 1), p->xy + 2 * (size_t)name[i], 2 * sizeof *p->xy);
        job->p->demand[i + 1] = p->demand[name[i]];
    }
    INV_CHECK(inv_solution_alloc(routes, customers, &job->start, err));
    job->start->start[0] = 0;
    for (int32_t i = 0; i < routes; i++)
        job->start->start[i + 1] = job->start->start[i] + t->place[t->begin[rank] + i].customers;
    for (int32_t i = 0; i < customers; i++) job->start->nodes[i] = i + 1;
    return INVIT_OK;
}

/* The routes of all groups; those of a group without a result as they were. */
static invit_status put_together(routes_run *t, const inv_job_result *results, invit_error *err)
{
    inv_spread *s = t->s;
    int64_t routes = 0;
    for (int g = 0; g < s->ranks; g++)
        routes += results[g].solution ? results[g].solution->routes : t->begin[g + 1] - t->begin[g];
    invit_solution *all;
    INV_CHECK(inv_solution_alloc((int32_t)routes, s->p->n - 1, &all, err));
    int32_t r = 0, at = 0;
    all->start[0] = 0;
    for (int g = 0; g < s->ranks; g++) {
        const invit_solution *result = results[g].solution;
        const int32_t *name = t->name + t->named[g];
        int32_t count = result ? result->routes : t->begin[g + 1] - t->begin[g];
        for (int32_t i = 0; i < count; i++) {
            int32_t length =
                result ? result->start[i + 1] - result->start[i] : t->place[t->begin[g] + i].customers;
            for (int32_t j = 0; j < length; j++)
                all->nodes[at + j] = result ? name[result->nodes[result->start[i] + j] - 1] : name[j];
            if (!result) name += length;
            at += length;
            all->start[++r] = at;
        }
    }
    double length = inv_length(s->p, all);
    if (length > s->length) {
        invit_solution_destroy(all);
        return INVIT_OK;
    }
    invit_solution_destroy(s->best);
    s->best = all;
    s->length = length;
    if (s->o.better)
        s->o.better(s->o.better_user, inv_now() - s->began, length, s->o.with_solution ? all : NULL);
    return INVIT_OK;
}

static invit_status one_round(routes_run *t, inv_job_result *results, invit_error *err)
{
    inv_spread *s = t->s;
    inv_rng rng;
    inv_rng_init(&rng, s->o.seed, (uint64_t)t->round);
    t->place = malloc((size_t)s->best->routes * sizeof *t->place);
    if (!t->place) return inv_no_memory(err, (size_t)s->best->routes * sizeof *t->place);
    place_routes(t);
    t->begin[s->ranks] = s->best->routes;
    group_routes(t, 0, s->best->routes, 0, s->ranks, &rng);
    name_customers(t);
    invit_status status = inv_spread_round(s, make_group, NULL, t, results, err);
    if (status == INVIT_OK) status = put_together(t, results, err);
    inv_spread_clear(results, s->ranks);
    free(t->place);
    t->place = NULL;
    return status;
}

invit_status inv_spread_routes(inv_spread *s, invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t ranks = (size_t)s->ranks;
    routes_run t = {.s = s,
                    .begin = malloc((ranks + 1) * sizeof *t.begin),
                    .named = malloc((ranks + 1) * sizeof *t.named),
                    .name = malloc((size_t)s->p->n * sizeof *t.name)};
    inv_job_result *results = calloc(ranks, sizeof *results);
    if (!t.begin || !t.named || !t.name || !results)
        INV_TRY(inv_no_memory(err, (size_t)s->p->n * sizeof *t.name));
    if (!s->best) { /* one rank constructs: savings take seconds at a million customers */
        inv_solve_options o = s->o;
        inv_solved solved;
        if (o.construct == INVIT_CONSTRUCT_INVIT) o.construct = INVIT_CONSTRUCT_SAVINGS;
        s->construct = o.construct;
        o.iterations = 0;
        INV_TRY(inv_solve(s->p, s->model, &o, &s->best, &solved, err));
        s->length = s->constructed = solved.length;
        s->seconds_construct = solved.seconds_total;
    }
    for (t.round = 0; t.round < ROUNDS && !inv_spread_over(s); t.round++) {
        t.until = inv_spread_until(s, t.round, ROUNDS) - 1e-6 * (double)s->p->n;
        t.steps = inv_spread_steps(s, t.round, ROUNDS);
        INV_TRY(one_round(&t, results, err));
    }
done:
    free(t.begin);
    free(t.named);
    free(t.name);
    free(results);
    return status;
}
