/* The pipeline: construct, improve while there is time, check, measure. */
#include "base/cancel.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/parallel.h"
#include "search/atsp_improve.h"
#include "search/improve.h"
#include "search/route.h"
#include "problem/check.h"
#include "problem/freeze.h"
#include "problem/metric.h"
#include "solve/construct.h"
#include "solve/reconstruct.h"
#include "solve/options.h"
#include "solve/rollout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROLLOUTS = 1 << 20, MAX_BEAM = 4096 };
/* Of the time for rollouts: local search makes more of a second than another rollout does, so it gets most, unless the caller
 * said how many rollouts there are to be, or there are few of them because reconstruction follows. */
#define ROLLOUT_SHARE     0.1
#define ROLLOUT_SHARE_SET 0.5
#define ROLLOUT_GRACE                                                                                        \
    0.5 /* a rollout that is nearly through may take so much longer, as a share of its time */
#define FASTEST_DECISION                                                                                     \
    5e-6 /* seconds: nobody decides faster, so on a huge instance rollouts do not even begin  */
/* Checking and handing over take time too: seconds, and passes over the solution. */
#define HANDING_OVER_SECONDS 0.002
#define HANDING_OVER_PASSES  6
/* Of the time, at most, for getting along with the vehicles there are. */
#define SAVING_SHARE 0.6

/* After a cancellation without a solution so far, a construction that takes about this long is still made. */
static const double CANCEL_GRACE = 0.5;

/* One call of invit_solve. */
typedef struct run {
    const invit_instance *p;
    const invit_model *model;
    inv_solve_options o;
    double began, deadline; /* deadline is INFINITY without a time limit       */
    double pass_seconds;    /* how long one pass over the solution takes       */
    invit_control control;  /* the caller's, with time counted from the beginning of the call */
    volatile int stop; /* what the stages look at: set by the caller's cancel, or when nothing was better */
    double best, best_at; /* for stop_after: the best length in improvement, and since when */
    invit_solution *solution;
    inv_solved result;
} run;

static bool cancelled(const run *r)
{
    return inv_flag_set(r->control.cancel);
}

static void pass_on_progress(void *user, const invit_progress *p)
{
    run *r = user;
    invit_progress progress = *p;
    double now = inv_now();
    progress.elapsed = now - r->began; /* the stages' own clocks began later */
    if (r->o.control && r->o.control->progress) r->o.control->progress(r->o.control->user, &progress);
    if (!(r->o.stop_after > 0)) return;
    if (inv_cancelled(r->o.control)) r->stop = 1;
    bool improves = strcmp(p->stage, "improve") == 0 || strcmp(p->stage, "rebuild") == 0;
    if (!improves || p->best < r->best || r->best_at == 0) {
        r->best_at = now;
        r->best = improves ? p->best : INFINITY;
    } else if (now - r->best_at > r->o.stop_after) {
        r->stop = 1;
    }
}

static void take_control(run *r)
{
    if (r->o.control) r->control = *r->o.control;
    if (r->control.progress || r->o.stop_after > 0)
        r->control.progress = pass_on_progress, r->control.user = r;
    if (r->o.stop_after > 0) r->control.cancel = &r->stop; /* progress is told ten times a second */
}

static bool construct_only(const run *r)
{
    return r->o.seconds == 0 || r->o.iterations == 0;
}

static invit_status check_options(const run *r, invit_error *err)
{
    const inv_solve_options *o = &r->o;
    if (o->rollouts < 0 || o->rollouts > MAX_ROLLOUTS)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "rollouts must be 0 (by size) to %d, not %d", MAX_ROLLOUTS,
                        o->rollouts);
    if (o->decode == INV_DECODE_SAMPLE && !(o->temperature > 0 && isfinite(o->temperature)))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "the temperature must be positive, not %g", o->temperature);
    if (o->decode == INV_DECODE_BEAM && (o->beam < 1 || o->beam > MAX_BEAM))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "the beam's width must be 1 to %d, not %d", MAX_BEAM,
                        o->beam);
    if (!(o->stop_after >= 0))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "stop_after must be 0 (never) or a number of seconds");
    if (isnan(o->seconds)) return inv_fail(err, INVIT_ERR_ARGUMENT, "the time limit is not a number");
    if (!inv_is_plain(r->p) && !r->model) return INVIT_OK; /* insertion will do */
    if (!inv_policy_suits(r->p)) return INVIT_OK;
    bool policy = (o->construct == INVIT_CONSTRUCT_INVIT && !o->start) ||
                  (o->improve != INV_IMPROVE_SEARCH && !construct_only(r));
    if (!policy) return INVIT_OK;
    if (!r->model) return inv_fail(err, INVIT_ERR_ARGUMENT, "the policy needs a model, and none was given");
    if (r->model->config.problem != r->p->problem)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "the model is for %s, the instance is a %s",
                        inv_problem_title(r->model->config.problem), inv_problem_title(r->p->problem));
    return INVIT_OK;
}

/* ---- construct ----------------------------------------------------------------------------------------- */

/* Rollouts of the policy. Leaves no solution when there was no time for one. */
static invit_status construct_invit(run *r, invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_index *index = NULL;
    inv_prepared *weights = NULL;
    int64_t stops = r->p->n - (r->p->problem == INVIT_CVRP ? 1 : 0);
    bool rebuilt = r->o.improve == INV_IMPROVE_NEURAL && !construct_only(r);
    int32_t rollouts = rebuilt ? inv_rollouts_to_rebuild(r->p->problem, stops) : inv_default_rollouts(stops);
    double part = r->o.rollouts > 0 || rebuilt ? ROLLOUT_SHARE_SET : ROLLOUT_SHARE;
    double now = inv_now(), share = (r->deadline - now) * part;
    if (share < FASTEST_DECISION * (double)r->p->n) return INVIT_OK;
    inv_limits limits = {now + share, r->control.cancel, r->o.threads};
    status = inv_index_create_within(r->p, &limits, &index, err);
    if (status != INVIT_OK) return status == INVIT_ERR_CANCELLED ? INVIT_OK : status;
    INV_TRY(inv_prepared_create(r->model, INV_PURPOSE_INT8, &weights, err));
    inv_rollout_options o = {.rollouts = r->o.rollouts ? r->o.rollouts : rollouts,
                             .decode = r->o.decode,
                             .temperature = r->o.temperature,
                             .beam = r->o.beam,
                             .seed = r->o.seed,
                             .threads = r->o.threads,
                             .deadline = now + share,
                             .grace = ROLLOUT_GRACE,
                             .control = &r->control,
                             .step = r->o.step,
                             .step_user = r->o.step_user};
    if (o.decode == INV_DECODE_AUTO) inv_choose_decoding(r->p, &r->model->config, &o);
    inv_rollout_stats stats;
    INV_TRY(inv_rollout(r->p, index, &r->model->config, weights, &o, &r->solution, &stats, err));
    r->result.rollouts = stats.rollouts;
    r->result.decisions = stats.decisions;
done:
    inv_prepared_destroy(weights);
    inv_index_destroy(index);
    return status;
}

/* Insertion, or nearest neighbour for a TSP. Saving vehicles may take a while: search gets the rest. */
static invit_status construct_with_rules(run *r, const invit_solution *given, invit_error *err)
{
    bool tsp = r->p->problem == INVIT_TSP;
    double now = inv_now();
    inv_route_options o = {.seed = r->o.seed,
                           .threads = r->o.threads,
                           .deadline =
                               r->deadline < INFINITY ? now + SAVING_SHARE * (r->deadline - now) : INFINITY,
                           .control = &r->control,
                           .given = given};
    r->result.construct = tsp ? INVIT_CONSTRUCT_NEAREST : INVIT_CONSTRUCT_INSERTION;
    if (!tsp) return inv_construct_routes(r->p, &o, &r->solution, err);
    return given ? inv_complete_tour(r->p, given, &r->solution, err)
                 : inv_construct_tour(r->p, &r->solution, err);
}

/* From the caller's solution, without its empty routes; what is missing from it is inserted. */
static invit_status begin_with_start(run *r, invit_error *err)
{
    invit_solution *given = NULL;
    invit_check_result found;
    INV_CHECK(inv_with_frozen(r->p, r->o.start, &given, err));
    invit_status status = inv_check_part(r->p, given, &found, err);
    bool complete = given->start[given->routes] == r->p->n - (r->p->problem == INVIT_CVRP);
    if (status == INVIT_OK && found.feasible && complete) status = invit_check(r->p, given, &found, err);
    if (status == INVIT_OK && !found.feasible)
        status = inv_fail(err, INVIT_ERR_INPUT, "the solution to start from does not fit the instance: %s",
                          found.message);
    if (status == INVIT_OK && complete) {
        r->solution = given;
        given = NULL;
    } else if (status == INVIT_OK) {
        status = construct_with_rules(r, given, err);
    }
    invit_solution_destroy(given);
    r->result.construct = INVIT_CONSTRUCT_START;
    return status;
}

/* What is frozen, with all else inserted. */
static invit_status construct_frozen(run *r, invit_error *err)
{
    invit_solution *driven = NULL;
    if (r->p->problem == INVIT_TSP) return construct_with_rules(r, NULL, err);
    INV_CHECK(inv_with_frozen(r->p, NULL, &driven, err));
    invit_status status = construct_with_rules(r, driven, err);
    invit_solution_destroy(driven);
    return status;
}

/* The policy, with what does not fit masked; insertion when it does not finish. If it takes too many vehicles, routes
 * are saved as from any other solution. */
static invit_status construct_by_masking(run *r, invit_error *err)
{
    INV_CHECK(construct_invit(r, err));
    if (!r->solution) return construct_with_rules(r, NULL, err);
    int32_t vehicles = r->p->rules->vehicles;
    if (vehicles && r->solution->routes > vehicles) {
        invit_solution *many = r->solution;
        r->solution = NULL;
        invit_status status = construct_with_rules(r, many, err);
        invit_solution_destroy(many);
        INV_CHECK(status);
    }
    r->result.construct = INVIT_CONSTRUCT_INVIT;
    return INVIT_OK;
}

static invit_status construct(run *r, invit_error *err)
{
    if (r->o.start) return begin_with_start(r, err);
    if (r->p->rules && r->p->rules->freeze) return construct_frozen(r, err);
    if (!inv_is_plain(r->p) && r->model && inv_policy_suits(r->p) && r->o.construct == INVIT_CONSTRUCT_INVIT)
        return construct_by_masking(r, err);
    if (!inv_is_plain(r->p)) return construct_with_rules(r, NULL, err);
    r->result.construct = r->o.construct;
    if (r->o.construct == INVIT_CONSTRUCT_INVIT) {
        INV_CHECK(construct_invit(r, err));
        if (r->solution) return INVIT_OK;
        /* Whoever stops before there is a solution would rather have a poor one than none. */
        inv_limits limits = {r->deadline, r->control.cancel, r->o.threads};
        if (cancelled(r)) limits = (inv_limits){inv_now() + CANCEL_GRACE, NULL, r->o.threads};
        return inv_construct_in_time(r->p, &limits, r->o.seed, &r->solution, &r->result.construct, err);
    }
    inv_limits limits = {r->deadline, r->control.cancel, r->o.threads};
    return inv_construct_within(r->p, r->o.seed, &limits, &r->solution, &r->result.construct, err);
}

/* ---- improve ------------------------------------------------------------------------------------------- */

static void pass_on_better(void *user, double elapsed, double length)
{
    (void)elapsed; /* of the improver; the caller's clock began earlier */
    const run *r = user;
    r->o.better(r->o.better_user, inv_now() - r->began, length, NULL);
}

static void pass_on_solution(void *user, double length, const invit_solution *solution)
{
    const run *r = user;
    r->o.better(r->o.better_user, inv_now() - r->began, length, solution);
}

static invit_status search(run *r, const inv_improve_options *o, invit_error *err)
{
    inv_improve_stats stats = {0};
    bool plain = inv_is_plain(r->p), tsp = r->p->problem == INVIT_TSP;
    if (tsp && plain)
        INV_CHECK(inv_improve_tsp(r->p, &r->solution, o, &stats, err));
    else if (tsp)
        INV_CHECK(inv_improve_tour(r->p, &r->solution, o, &stats, err));
    else if (plain)
        INV_CHECK(inv_improve_cvrp(r->p, &r->solution, o, &stats, err));
    else
        INV_CHECK(inv_improve_routes(r->p, &r->solution, o, &stats, err));
    r->result.iterations += stats.iterations;
    return INVIT_OK;
}

static invit_status rebuild(run *r, const inv_improve_options *o, invit_error *err)
{
    inv_improve_stats stats = {0};
    inv_prepared *weights = NULL;
    INV_CHECK(inv_prepared_create(r->model, INV_PURPOSE_INT8, &weights, err));
    invit_status status = inv_reconstruct(r->p, &r->model->config, weights, &r->solution, o, &stats, err);
    inv_prepared_destroy(weights);
    r->result.iterations += stats.iterations;
    return status;
}

static invit_status improve(run *r, invit_error *err)
{
    inv_improve_options o = {.deadline = r->deadline,
                             .iterations = r->o.iterations,
                             .threads = r->o.threads,
                             .seed = r->o.seed,
                             .target = r->o.target,
                             .refine = r->o.start != NULL,
                             .control = &r->control,
                             .on_better = r->o.better && !r->o.with_solution ? pass_on_better : NULL,
                             .on_better_user = r,
                             .on_solution = r->o.better && r->o.with_solution ? pass_on_solution : NULL,
                             .on_solution_user = r};
    o.deadline -= HANDING_OVER_SECONDS + HANDING_OVER_PASSES * r->pass_seconds;
    if (r->o.improve == INV_IMPROVE_SEARCH || !inv_is_plain(r->p)) return search(r, &o, err);
    if (r->o.improve == INV_IMPROVE_NEURAL) return rebuild(r, &o, err);
    /* Both in turn: a round of search, then parts of what it found are rebuilt, and search gets the last
     * word. */
    enum { TURNS = 8 };
    double began = inv_now(), whole = o.deadline - began;
    int64_t iterations = o.iterations;
    for (int turn = 0; turn <= TURNS && !cancelled(r); turn++) {
        inv_improve_options part = o;
        part.seed = o.seed + (uint64_t)turn;
        part.refine = o.refine || turn > 0;
        part.deadline = began + whole * (turn + 1) / (TURNS + 1);
        if (iterations >= 0)
            part.iterations = iterations * (turn + 1) / (TURNS + 1) - iterations * turn / (TURNS + 1);
        INV_CHECK(turn % 2 == 0 ? search(r, &part, err) : rebuild(r, &part, err));
    }
    return INVIT_OK;
}

/* A solution is not lost because there was no memory to improve it. */
static invit_status improve_if_it_fits(run *r, invit_error *err)
{
    invit_status status = improve(r, err);
    if (status != INVIT_ERR_MEMORY) return status;
    r->result.short_of_memory = true;
    return INVIT_OK;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static void reverse(int32_t *nodes, int32_t from, int32_t to)
{
    for (to--; from < to; from++, to--) {
        int32_t node = nodes[from];
        nodes[from] = nodes[to];
        nodes[to] = node;
    }
}

/* A tour is the same from everywhere; people expect it to begin with the first place they named. */
static void begin_at_the_first(const run *r)
{
    int32_t n = r->p->n, at = 0, *nodes = r->solution->nodes;
    if (r->p->problem != INVIT_TSP || inv_is_path(r->p) || (r->p->rules && r->p->rules->freeze) ||
        r->solution->routes != 1 || r->solution->start[1] != n)
        return;
    while (at < n && nodes[at] != 0) at++;
    if (at == 0 || at == n) return;
    reverse(nodes, 0, at);
    reverse(nodes, at, n);
    reverse(nodes, 0, n);
}

/* The checker shares nothing with the solver: is it a solution at all, and how long? */
static invit_status check_and_measure(run *r, invit_error *err)
{
    invit_check_result found;
    INV_CHECK(invit_check(r->p, r->solution, &found, err));
    if (!found.feasible)
        return inv_fail(err, INVIT_ERR_INTERNAL, "the solver's own result did not pass the check: %s",
                        found.message);
    r->result.length = found.length;
    r->result.length_exact = found.length_exact;
    r->result.routes = found.routes;
    return INVIT_OK;
}

/* Measured at the peak, the instance itself not counted: TSPs of ten million nodes, CVRPs of a million. */
#define TSP_BYTES_PER_NODE  90
#define CVRP_BYTES_PER_NODE 260

/* What will not fit is refused now, not after minutes. Matrices are there already, and larger than all else. */
static invit_status check_memory(const run *r, invit_error *err)
{
    char what[64];
    if (r->p->rules && r->p->rules->distance) return INVIT_OK;
    int64_t each = r->p->problem == INVIT_TSP ? TSP_BYTES_PER_NODE : CVRP_BYTES_PER_NODE;
    snprintf(what, sizeof what, "solving %d nodes", (int)r->p->n);
    return inv_memory_expect(each * r->p->n, what, err);
}

static bool worth_improving(const run *r)
{
    int32_t most = inv_is_plain(r->p) ? 3 : 1; /* nodes of a tour that cannot be longer than another */
    if (r->p->problem == INVIT_CVRP) most = 2;
    bool trivial = r->p->n <= most;
    return !construct_only(r) && !trivial && !cancelled(r);
}

invit_status inv_solve(const invit_instance *instance, const invit_model *model,
                       const inv_solve_options *options, invit_solution **solution, inv_solved *result,
                       invit_error *err)
{
    invit_status status = INVIT_OK;
    run r = {
        .p = instance, .model = model, .o = options ? *options : inv_solve_defaults(), .began = inv_now()};
    *solution = NULL;
    take_control(&r);
    INV_TRY(check_options(&r, err));
    INV_TRY(invit_instance_validate(instance, err));
    INV_TRY(check_memory(&r, err));
    r.o.threads = inv_threads(r.o.threads);
    /* A number of iterations alone is meant to be reproducible: no clock then. */
    if (r.o.seconds < 0) r.o.seconds = r.o.iterations >= 0 ? INFINITY : inv_default_seconds(instance->n);
    r.deadline = construct_only(&r) ? INFINITY : r.began + fmax(1e-3, r.o.seconds - r.o.elapsed);
    INV_TRY(construct(&r, err));
    double built = inv_now();
    r.result.seconds_construct = built - r.began;
    r.result.constructed = inv_length(instance, r.solution);
    r.pass_seconds = inv_now() - built;
    if (r.o.better)
        r.o.better(r.o.better_user, built - r.began, r.result.constructed,
                   r.o.with_solution ? r.solution : NULL);
    if (worth_improving(&r)) INV_TRY(improve_if_it_fits(&r, err));
    r.result.seconds_improve = inv_now() - built;
    begin_at_the_first(&r);
    INV_TRY(check_and_measure(&r, err));
    r.result.seconds_total = inv_now() - r.began;
    if (result) *result = r.result;
    r.solution->is_solved = true;
    r.solution->solved = r.result;
    *solution = r.solution;
    r.solution = NULL;
done:
    invit_solution_destroy(r.solution);
    return status;
}

invit_status invit_solve(const invit_instance *instance, const invit_model *model,
                         const invit_options *options, invit_solution **solution, invit_error *err)
{
    return inv_solve(instance, model, options ? &options->o : NULL, solution, NULL, err);
}

double invit_solution_get(const invit_solution *solution, const char *name)
{
    const inv_solved *s = &solution->solved;
    const struct {
        const char *name;
        double value;
    } told[] = {{"length", s->length},
                {"length_exact", s->length_exact},
                {"routes", s->routes},
                {"construct", s->construct},
                {"rollouts", s->rollouts},
                {"decisions", (double)s->decisions},
                {"constructed", s->constructed},
                {"iterations", (double)s->iterations},
                {"short_of_memory", s->short_of_memory},
                {"seconds_construct", s->seconds_construct},
                {"seconds_improve", s->seconds_improve},
                {"seconds_total", s->seconds_total}};
    for (size_t i = 0; solution->is_solved && i < sizeof told / sizeof *told; i++)
        if (strcmp(told[i].name, name) == 0) return told[i].value;
    return NAN;
}
