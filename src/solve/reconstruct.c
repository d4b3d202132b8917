#include "solve/reconstruct.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "search/show.h"
#include "problem/metric.h"
#include "solve/rollout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TELL_EVERY 0.1 /* seconds between two better lengths that are told */

enum { PART_NODES = 100, PART_ROLLOUTS = 8 };

/* A part taken out: an instance of its own, and what its nodes are called outside. */
typedef struct part {
    invit_instance *p;
    int32_t *node;  /* [n] outside numbers       */
    int32_t *route; /* CVRP: routes it is made of */
    int32_t routes;
} part;

typedef struct work {
    const invit_instance *p;
    const inv_config *config;
    const inv_prepared *weights;
    const inv_improve_options *o;
    inv_rng rng;
    part part;
} work;

static void part_reset(part *a)
{
    invit_instance_destroy(a->p);
    a->p = NULL;
    a->routes = 0;
}

/* Copies the nodes in part.node[0..n-1] into an instance. */
static invit_status part_instance(work *w, int32_t n, invit_error *err)
{
    part *a = &w->part;
    INV_CHECK(inv_instance_alloc(w->p->problem, n, &a->p, err));
    a->p->metric = w->p->metric;
    a->p->capacity = w->p->capacity;
    for (int32_t i = 0; i < n; i++) {
        memcpy(a->p->xy + 2 * (size_t)i, w->p->xy + 2 * (size_t)a->node[i], 2 * sizeof(double));
        if (a->p->demand) a->p->demand[i] = w->p->demand[a->node[i]];
    }
    return INVIT_OK;
}

static invit_status rebuild(work *w, invit_solution **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_index *index = NULL;
    inv_rollout_stats stats;
    inv_rollout_options o = {.rollouts = PART_ROLLOUTS,
                             .path = w->p->problem == INVIT_TSP,
                             .seed = inv_rng_u64(&w->rng),
                             .threads = w->o->threads,
                             .deadline = w->o->deadline};
    invit_control quiet = {.cancel = inv_cancel_flag(w->o->control)};
    o.control = &quiet;
    inv_choose_decoding(w->part.p, w->config, &o);
    INV_TRY(inv_index_create(w->part.p, &index, err));
    INV_TRY(inv_rollout(w->part.p, index, w->config, w->weights, &o, out, &stats, err));
done:
    inv_index_destroy(index);
    return status;
}

/* ---- TSP: a piece of the tour -------------------------------------------------------------------------- */

static invit_status rebuild_piece(work *w, invit_solution *tour, double *length, invit_error *err)
{
    part *a = &w->part;
    invit_solution *piece = NULL;
    int32_t n = w->p->n, most = n < PART_NODES ? n : PART_NODES;
    int32_t size = 4 + (int32_t)inv_rng_below(&w->rng, (uint32_t)(most - 3));
    int32_t begin = (int32_t)inv_rng_below(&w->rng, (uint32_t)n);
    bool backwards = inv_rng_u64(&w->rng) >> 63;
    double before = 0, after = 0;
    for (int32_t i = 0; i < size; i++) {
        int32_t at = (int32_t)(((int64_t)begin + (backwards ? size - 1 - i : i)) % n);
        a->node[i] = tour->nodes[at];
        if (i > 0) before += inv_edge(w->p, a->node[i - 1], a->node[i]);
    }
    INV_CHECK(part_instance(w, size, err));
    INV_CHECK(rebuild(w, &piece, err));
    if (!piece) return INVIT_OK; /* out of time, or cancelled */
    for (int32_t i = 1; i < size; i++)
        after += inv_edge(w->p, a->node[piece->nodes[i - 1]], a->node[piece->nodes[i]]);
    if (after < before) {
        for (int32_t i = 0; i < size; i++) {
            int32_t at = (int32_t)(((int64_t)begin + (backwards ? size - 1 - i : i)) % n);
            tour->nodes[at] = a->node[piece->nodes[i]];
        }
        *length += after - before;
    }
    invit_solution_destroy(piece);
    return INVIT_OK;
}

/* ---- CVRP: a few neighbouring routes ------------------------------------------------------------------- */

typedef struct ranked {
    double d;
    int32_t route;
} ranked;

static int by_distance(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    if (p->d != q->d) return p->d < q->d ? -1 : 1;
    return p->route - q->route;
}

/* The routes that pass nearest to a random customer, until they have enough customers. O(n). */
static invit_status choose_routes(work *w, const invit_solution *s, int32_t *customers, invit_error *err)
{
    part *a = &w->part;
    int32_t total = s->start[s->routes], seed = s->nodes[inv_rng_below(&w->rng, (uint32_t)total)];
    const double *at = w->p->xy + 2 * (size_t)seed;
    ranked *rank = malloc((size_t)s->routes * sizeof *rank);
    if (!rank) return inv_no_memory(err, (size_t)s->routes * sizeof *rank);
    for (int32_t r = 0; r < s->routes; r++) {
        rank[r] = (ranked){INFINITY, r};
        for (int32_t i = s->start[r]; i < s->start[r + 1]; i++) {
            const double *xy = w->p->xy + 2 * (size_t)s->nodes[i];
            double dx = xy[0] - at[0], dy = xy[1] - at[1];
            rank[r].d = fmin(rank[r].d, dx * dx + dy * dy);
        }
    }
    qsort(rank, (size_t)s->routes, sizeof *rank, by_distance);
    *customers = 0;
    for (int32_t i = 0; i < s->routes; i++) {
        int32_t count = s->start[rank[i].route + 1] - s->start[rank[i].route];
        if (i > 0 && *customers + count > PART_NODES) break;
        if (count == 0) continue;
        a->route[a->routes++] = rank[i].route;
        *customers += count;
    }
    free(rank);
    return INVIT_OK;
}

static double routes_length(const invit_instance *p, const invit_solution *s, int32_t r)
{
    double length = 0;
    int32_t last = 0;
    for (int32_t i = s->start[r]; i < s->start[r + 1]; i++) {
        length += inv_edge(p, last, s->nodes[i]);
        last = s->nodes[i];
    }
    return length + inv_edge(p, last, 0);
}

/* The solution with the part's routes replaced. */
static invit_status replace_routes(work *w, invit_solution **solution, const invit_solution *rebuilt,
                                   invit_error *err)
{
    const part *a = &w->part;
    const invit_solution *s = *solution;
    invit_solution *merged;
    INV_CHECK(inv_solution_alloc(s->routes - a->routes + rebuilt->routes, s->start[s->routes], &merged, err));
    int32_t r = 0, filled = 0;
    for (int32_t i = 0; i < s->routes; i++) {
        bool taken = false;
        for (int32_t j = 0; j < a->routes; j++) taken = taken || a->route[j] == i;
        if (taken) continue;
        merged->start[r++] = filled;
        for (int32_t j = s->start[i]; j < s->start[i + 1]; j++) merged->nodes[filled++] = s->nodes[j];
    }
    for (int32_t i = 0; i < rebuilt->routes; i++) {
        merged->start[r++] = filled;
        for (int32_t j = rebuilt->start[i]; j < rebuilt->start[i + 1]; j++)
            merged->nodes[filled++] = a->node[rebuilt->nodes[j]];
    }
    merged->start[r] = filled;
    invit_solution_destroy(*solution);
    *solution = merged;
    return INVIT_OK;
}

static invit_status rebuild_routes(work *w, invit_solution **solution, double *length, invit_error *err)
{
    part *a = &w->part;
    invit_status status = INVIT_OK;
    invit_solution *rebuilt = NULL;
    int32_t customers = 0, filled = 1;
    double before = 0;
    INV_CHECK(choose_routes(w, *solution, &customers, err));
    int32_t *node = realloc(a->node, ((size_t)customers + 1) * sizeof *node);
    if (!node) return inv_no_memory(err, (size_t)customers * sizeof *node);
    a->node = node;
    a->node[0] = 0;
    for (int32_t i = 0; i < a->routes; i++) {
        int32_t r = a->route[i];
        before += routes_length(w->p, *solution, r);
        for (int32_t j = (*solution)->start[r]; j < (*solution)->start[r + 1]; j++)
            a->node[filled++] = (*solution)->nodes[j];
    }
    INV_TRY(part_instance(w, filled, err));
    INV_TRY(rebuild(w, &rebuilt, err));
    double after = rebuilt ? inv_length(a->p, rebuilt) : INFINITY;
    if (after < before - 1e-9 * before) {
        INV_TRY(replace_routes(w, solution, rebuilt, err));
        *length += after - before;
    }
done:
    invit_solution_destroy(rebuilt);
    return status;
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

static bool over(const work *w, int64_t iteration, double length)
{
    const inv_improve_options *o = w->o;
    if (o->iterations >= 0 && iteration >= o->iterations) return true;
    if (o->target > 0 && length <= o->target) return true;
    if (inv_cancelled(o->control)) return true;
    return inv_now() >= o->deadline;
}

invit_status inv_reconstruct(const invit_instance *p, const inv_config *config, const inv_prepared *weights,
                             invit_solution **solution, const inv_improve_options *o,
                             inv_improve_stats *stats, invit_error *err)
{
    invit_status status = INVIT_OK;
    bool tsp = p->problem == INVIT_TSP;
    work w = {.p = p, .config = config, .weights = weights, .o = o};
    double began = inv_now(), length = inv_length(p, *solution), told = 0;
    inv_shown shown = {-INFINITY, length};
    int64_t i = 0;
    inv_rng_init(&w.rng, o->seed, 0x7265626cu);
    w.part.node = malloc((PART_NODES + 1) * sizeof *w.part.node);
    w.part.route = malloc(((size_t)p->n + 1) * sizeof *w.part.route);
    if (!w.part.node || !w.part.route) INV_TRY(inv_no_memory(err, (size_t)p->n * sizeof *w.part.route));
    for (; p->n >= 4 && !over(&w, i, length); i++) {
        double before = length;
        INV_TRY(tsp ? rebuild_piece(&w, *solution, &length, err)
                    : rebuild_routes(&w, solution, &length, err));
        part_reset(&w.part);
        double elapsed = inv_now() - began;
        if (length < before && o->on_better && elapsed - told > TELL_EVERY)
            o->on_better(o->on_better_user, told = elapsed, length);
        inv_show(o, &shown, length, *solution);
        if (o->control && o->control->progress) {
            invit_progress progress = {
                .stage = "rebuild", .elapsed = elapsed, .fraction = -1, .best = length, .count = i + 1};
            o->control->progress(o->control->user, &progress);
        }
    }
    *stats = (inv_improve_stats){
        .iterations = i, .length = inv_length(p, *solution), .seconds = inv_now() - began};
done:
    part_reset(&w.part);
    free(w.part.node);
    free(w.part.route);
    return status;
}
