#include "solve/reconstruct.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "problem/metric.h"
#include "search/show.h"
#include "solve/rebuild.h"
#include "solve/route_groups.h"
#include "solve/tour_parts.h"

#include <math.h>

/* WINDOW nodes are rebuilt, about, before what is shorter is kept; an instance of fewer nodes than LEAST has nothing to
 * rebuild. */
enum { WINDOW = 10000, LEAST = 4 };
/* Of the time that seems to be left, so that walks end: those that do not are lost. */
#define SHARE_OF_TIME 0.9
#define FIRST_SHARE   0.2
#define FIRST_GUESS   3e-4 /* seconds of a thread per node, until it is known */
/* Every second part is sampled; a walk that is always greedy would find the same again. */
#define TSP_TEMPERATURE      1
#define CVRP_TEMPERATURE(n)  fmin(1.5, 10 / sqrt((double)(n)))
#define BOUNDING_TEMPERATURE 0.7 /* of models without canonical frames */

/* One call of inv_reconstruct. */
typedef struct work {
    const invit_instance *p;
    const inv_config *config;
    const inv_improve_options *o;
    invit_solution **solution;
    inv_rebuilder *rebuilder;
    inv_tour_parts tour;     /* TSP: the round's parts  */
    inv_route_groups groups; /* CVRP: these             */
    inv_rng rng;
    double began, length;
    int64_t iterations;
    double nodes, seconds; /* of the parts rebuilt so far           */
    double told;           /* when a better length was told         */
    inv_shown shown;
} work;

static bool over(const work *w)
{
    const inv_improve_options *o = w->o;
    if (o->iterations >= 0 && w->iterations >= o->iterations) return true;
    if (o->target > 0 && w->length <= o->target) return true;
    return inv_cancelled(o->control) || inv_now() >= o->deadline;
}

/* Nodes of a part, by how often the solution was rebuilt so far. Long segments correct what was left behind early and
 * visited late; when they gain no more, short ones still do. Groups of routes gain most when they are small. */
static int32_t choose_size(work *w)
{
    double rounds = w->nodes / w->p->n, low = 30, high = 100;
    if (w->p->problem == INVIT_TSP) {
        low = 50 + 250 * exp(-rounds / 3);
        high = 300 + 700 * exp(-rounds / 3);
        high = fmin(high, fmax(low, w->p->n / 2));
    }
    return (int32_t)(low * pow(high / low, inv_rng_double(&w->rng)));
}

/* So many nodes can be rebuilt in the time that is left. The first round is to say how fast this is: it takes less. */
static double affordable(const work *w)
{
    double left = fmax(0, w->o->deadline - inv_now());
    if (w->nodes == 0) return FIRST_SHARE * left * w->o->threads / FIRST_GUESS;
    return SHARE_OF_TIME * left * w->nodes / w->seconds;
}

static invit_status cut(work *w, inv_rebuild_job **jobs, int32_t *count, invit_error *err)
{
    double most = affordable(w);
    bool tsp = w->p->problem == INVIT_TSP;
    int32_t size = choose_size(w);
    if (size > most / w->o->threads) size = (int32_t)fmax(LEAST, most / w->o->threads);
    if (tsp)
        inv_tour_parts_cut(&w->tour, (*w->solution)->nodes, size, &w->rng);
    else
        INV_CHECK(inv_route_groups_cut(&w->groups, *w->solution, size, &w->rng, err));
    *jobs = tsp ? w->tour.job : w->groups.job;
    *count = tsp ? w->tour.count : w->groups.count;
    if (w->o->iterations >= 0 && *count > w->o->iterations - w->iterations)
        *count = (int32_t)(w->o->iterations - w->iterations);
    for (int32_t i = 0; i < *count; i++) {
        inv_rebuild_job *job = &(*jobs)[i];
        double warm = tsp ? TSP_TEMPERATURE : CVRP_TEMPERATURE(job->n);
        if (!w->config->canonical_frame) warm = BOUNDING_TEMPERATURE;
        job->temperature = inv_rng_below(&w->rng, 2) ? warm : 0;
        most -= job->n;
        if (most < 0 && i > 0) *count = i;
    }
    return INVIT_OK;
}

static invit_status keep(work *w, double *shorter, invit_error *err)
{
    if (w->p->problem != INVIT_TSP) return inv_route_groups_keep(&w->groups, w->solution, shorter, err);
    *shorter = inv_tour_parts_keep(&w->tour, (*w->solution)->nodes);
    return INVIT_OK;
}

static void tell(work *w, double shorter)
{
    const inv_improve_options *o = w->o;
    double elapsed = inv_now() - w->began;
    if (shorter > 0 && o->on_better && elapsed - w->told > INV_SHOW_SECONDS)
        o->on_better(o->on_better_user, w->told = elapsed, w->length);
    inv_show(o, &w->shown, w->length, *w->solution);
    if (!o->control || !o->control->progress) return;
    invit_progress progress = {
        .stage = "rebuild", .elapsed = elapsed, .fraction = -1, .best = w->length, .count = w->iterations};
    o->control->progress(o->control->user, &progress);
}

/* Some parts are taken out, rebuilt, and put back where they are shorter. */
static invit_status one_round(work *w, invit_error *err)
{
    inv_rebuild_job *jobs;
    int32_t count;
    double shorter, began = inv_now();
    INV_CHECK(cut(w, &jobs, &count, err));
    INV_CHECK(inv_rebuild(w->rebuilder, jobs, count, w->o, inv_rng_u64(&w->rng), err));
    INV_CHECK(keep(w, &shorter, err));
    for (int32_t i = 0; i < count; i++) {
        w->iterations += jobs[i].count > 0;
        w->nodes += jobs[i].n;
    }
    w->seconds += inv_now() - began;
    w->length -= shorter;
    tell(w, shorter);
    return INVIT_OK;
}

static invit_status prepare(work *w, invit_error *err)
{
    inv_limits limits = {w->o->deadline, inv_cancel_flag(w->o->control), w->o->threads};
    if (w->p->problem == INVIT_TSP) return inv_tour_parts_create(w->p, WINDOW, &w->tour, err);
    invit_status status = inv_route_groups_create(w->p, WINDOW, &limits, &w->groups, err);
    return status == INVIT_ERR_CANCELLED ? INVIT_OK : status; /* the time is over then */
}

invit_status inv_reconstruct(const invit_instance *p, const inv_config *config, const inv_prepared *weights,
                             invit_solution **solution, const inv_improve_options *o,
                             inv_improve_stats *stats, invit_error *err)
{
    invit_status status = INVIT_OK;
    work w = {.p = p, .config = config, .o = o, .solution = solution, .began = inv_now()};
    w.length = inv_length(p, *solution);
    w.shown = (inv_shown){-INFINITY, w.length};
    inv_rng_init(&w.rng, o->seed, 0x7265626cu);
    INV_TRY(inv_rebuilder_create(p, config, weights, o->threads, &w.rebuilder, err));
    INV_TRY(prepare(&w, err));
    while (p->n >= LEAST && !over(&w)) INV_TRY(one_round(&w, err));
    *stats = (inv_improve_stats){
        .iterations = w.iterations, .length = inv_length(p, *solution), .seconds = inv_now() - w.began};
done:
    inv_tour_parts_destroy(&w.tour);
    inv_route_groups_destroy(&w.groups);
    inv_rebuilder_destroy(w.rebuilder);
    return status;
}
