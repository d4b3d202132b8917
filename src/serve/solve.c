/* Solving one job, and telling those who watch it about decisions and better solutions. */
#include "base/longitude.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/names.h"
#include "base/parallel.h"
#include "serve/memory.h"
#include "serve/solve.h"
#include "serve/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    WATCHED_NODES = 20000, /* decisions of larger instances are not recorded          */
    TOLD_NODES = 20000,    /* stops of larger ones are not told one by one            */
    STEPS_PER_EVENT = 50,
    EVENT_BYTES = 48 << 20 /* a job's events may take this much; then only the end is told */
};

struct solve_context {
    const serve_options *options;
    invit_model *model[2]; /* by problem; NULL when there is none */
    invit_model *given;    /* the one of them that --model names  */
};

/* Without bundled weights the server still works, with the plain constructions. */
invit_status solve_context_create(const serve_options *o, solve_context **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    solve_context *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return INVIT_ERR_MEMORY;
    c->options = o;
    if (o->model) {
        invit_model *m = NULL;
        status = invit_model_load(o->model, &m, err);
        if (m) c->given = c->model[invit_model_describe(m).problem] = m;
    }
    for (int p = 0; status == INVIT_OK && p < 2; p++) {
        if (c->model[p]) continue;
        status = invit_model_load_default((invit_problem)p, &c->model[p], err);
        if (status == INVIT_ERR_IO) status = INVIT_OK; /* there is none; a damaged one is an error */
    }
    if (status != INVIT_OK)
        solve_context_destroy(c);
    else
        *out = c;
    return status;
}

void solve_context_destroy(solve_context *c)
{
    if (!c) return;
    invit_model_destroy(c->model[0]);
    invit_model_destroy(c->model[1]);
    free(c);
}

/* ---- what a viewer sees -------------------------------------------------------------------------------- */

typedef struct watcher {
    job *job;
    const invit_instance *instance;
    const plan *plan;
    json_t *steps;
    int32_t views, view[9];
    double narrow;
    double began, last_progress, shown, shown_at; /* length and time of the last solution told */
} watcher;

/* A node as the whole instance numbers it. */
static int32_t whole(const watcher *w, int32_t node)
{
    return w->plan->part ? w->plan->whole[node] : node;
}

/* On the map as the page draws it: degrees of longitude shrink with the latitude. */
static double distance(const watcher *w, const double *xy, int32_t a, int32_t b)
{
    return hypot(w->narrow * (xy[2 * a] - xy[2 * b]), xy[2 * a + 1] - xy[2 * b + 1]);
}

static double narrowing(const invit_instance *p)
{
    const double *xy = invit_instance_coords(p);
    double low = INFINITY, high = -INFINITY;
    if (invit_instance_metric(p) != INVIT_HAVERSINE) return 1;
    for (int64_t i = 0; i < invit_instance_nodes(p); i++) {
        low = fmin(low, xy[2 * i + 1]);
        high = fmax(high, xy[2 * i + 1]);
    }
    return inv_longitude_scale(low, high);
}

static void flush_steps(watcher *w)
{
    if (w->steps && json_array_size(w->steps) && job_event_bytes(w->job) < EVENT_BYTES)
        job_add_event(w->job, "steps", json_pack("{s:O}", "steps", w->steps));
    if (w->steps) json_array_clear(w->steps);
}

/* [node, [candidate], [probability], [radius of each view]]; the radius is that of the view's farthest
 * neighbour. */
static void record_step(void *user, const invit_step *s)
{
    watcher *w = user;
    const double *xy = invit_instance_coords(w->instance);
    json_t *candidates = json_array(), *probabilities = json_array(), *radii = json_array();
    if (s->step == 0) json_array_append_new(w->steps, json_pack("[i,[],[],[]]", (int)whole(w, s->last)));
    for (int32_t i = 0; i < s->action; i++) {
        json_array_append_new(candidates, json_integer(whole(w, s->neighbour[i])));
        json_array_append_new(probabilities, json_real(round(1e4 * (double)s->probability[i]) / 1e4));
    }
    double radius = 0;
    for (int32_t v = 0, i = 0; v < w->views; v++) {
        int32_t behind = v == 0 ? 0 : w->view[v] - w->view[0];
        int32_t end = s->action + (behind < s->further ? behind : s->further);
        for (; i < end; i++) radius = fmax(radius, distance(w, xy, s->last, s->neighbour[i]));
        json_array_append_new(radii, json_real(radius));
    }
    json_array_append_new(w->steps,
                          json_pack("[i,o,o,o]", (int)whole(w, s->chosen), candidates, probabilities, radii));
    if (json_array_size(w->steps) >= STEPS_PER_EVENT) flush_steps(w);
}

/* The first is the constructed one; the policy's last decisions come before it. */
static void show_solution(void *user, double seconds, double length, const invit_solution *s)
{
    watcher *w = user;
    const char *stage = isfinite(w->shown) ? "improve" : "construct";
    double apart = 2e-5 * (double)invit_instance_nodes(w->instance); /* large ones are long to tell */
    if (isfinite(w->shown) && seconds - w->shown_at < apart) return;
    w->shown_at = seconds;
    flush_steps(w);
    w->shown = length;
    if (job_event_bytes(w->job) >= EVENT_BYTES) return;
    invit_solution *merged = NULL;
    invit_check_result checked;
    if (w->plan->part) { /* the length is that of all routes, as in the end */
        if (plan_merge(w->plan, s, &merged, NULL) != INVIT_OK) return;
        if (invit_check(job_instance(w->job), merged, &checked, NULL) == INVIT_OK) length = checked.length;
    }
    job_add_event(w->job, "solution",
                  json_pack("{s:s, s:f, s:f, s:o}", "stage", stage, "elapsed", seconds, "length", length,
                            "routes", wire_write_routes(merged ? merged : s)));
    invit_solution_destroy(merged);
}

#define PROGRESS_SECONDS 0.25 /* between two events of one job: a page that draws each of them keeps up */

static void report_progress(void *user, const invit_progress *p)
{
    watcher *w = user;
    if (inv_now() - w->last_progress < PROGRESS_SECONDS) return;
    w->last_progress = inv_now();
    memory_begin();
    json_t *o = json_pack("{s:s, s:f, s:I}", "stage", p->stage, "elapsed", inv_now() - w->began, "count",
                          (json_int_t)p->count);
    if (isfinite(p->best)) json_object_set_new(o, "best", json_real(p->best));
    job_add_event(w->job, "progress", o);
}

/* ---- the solution as it is told ------------------------------------------------------------------------ */

/* What invit_solve says of its solution, and of the whole when a part of it was solved. */
typedef struct solve_figures {
    double length, length_exact, seconds_construct, seconds_improve, seconds_total;
    int64_t routes, rollouts, decisions;
} solve_figures;

static solve_figures figures_of(const invit_solution *s)
{
    return (solve_figures){.length = invit_solution_get(s, "length"),
                           .length_exact = invit_solution_get(s, "length_exact"),
                           .seconds_construct = invit_solution_get(s, "seconds_construct"),
                           .seconds_improve = invit_solution_get(s, "seconds_improve"),
                           .seconds_total = invit_solution_get(s, "seconds_total"),
                           .routes = (int64_t)invit_solution_get(s, "routes"),
                           .rollouts = (int64_t)invit_solution_get(s, "rollouts"),
                           .decisions = (int64_t)invit_solution_get(s, "decisions")};
}

static json_t *describe(const job *j, const invit_solution *s, const solve_figures *found, const char *model)
{
    const job_request *q = job_get_request(j);
    invit_problem problem = invit_instance_problem(q->instance);
    json_t *o = json_pack("{s:s, s:s, s:s, s:I, s:f, s:f}", "id", job_id(j), "problem",
                          inv_problem_name(problem), "name", invit_instance_name(q->instance), "nodes",
                          (json_int_t)invit_instance_nodes(q->instance), "length", found->length,
                          "length_exact", found->length_exact);
    json_t *routes = wire_write_routes(s);
    if (problem == INVIT_TSP) { /* node numbers from 1, as TSPLIB counts */
        json_t *tour = json_array(), *node;
        size_t i;
        json_array_foreach(json_array_get(routes, 0), i, node)
            json_array_append_new(tour, json_integer(json_integer_value(node) + 1));
        json_object_set_new(o, "tour", tour);
        json_decref(routes);
    } else {
        json_object_set_new(o, "routes", routes);
    }
    if (invit_instance_nodes(q->instance) <= TOLD_NODES &&
        json_object_set_new(o, "stops", wire_write_stops(q->instance, s)) != 0) {
        json_decref(o);
        return NULL;
    }
    json_object_set_new(o, "rollouts", json_integer(found->rollouts));
    json_object_set_new(o, "decisions", json_integer(found->decisions));
    json_object_set_new(o, "seconds",
                        json_pack("{s:f, s:f, s:f}", "construct", found->seconds_construct, "improve",
                                  found->seconds_improve, "total", found->seconds_total));
    json_object_set_new(o, "model", model ? json_string(model) : json_null());
    json_object_set_new(o, "seed", json_integer((json_int_t)request_seed(q)));
    json_object_set_new(o, "cancelled", json_boolean(inv_flag_set(job_cancel_flag(j))));
    return o;
}

/* ---- solving ------------------------------------------------------------------------------------------- */

/* The workers share the cores. */
static int threads_of_a_job(const serve_options *o)
{
    if (o->workers == 1) return o->threads;
    int cores = o->threads > 0 ? o->threads : inv_threads(0);
    return cores > o->workers ? cores / o->workers : 1;
}

/* The solution of a part, with the locked routes, as one of the whole: checked again. */
static invit_status complete(const plan *p, const invit_instance *instance, solve_outcome *out,
                             solve_figures *found)
{
    invit_solution *merged = NULL;
    invit_check_result checked = {0};
    invit_status status = plan_merge(p, out->solution, &merged, &out->error);
    if (status == INVIT_OK) status = invit_check(instance, merged, &checked, &out->error);
    if (status == INVIT_OK && !checked.feasible) {
        snprintf(out->error.message, sizeof out->error.message, "with the locked routes: %s",
                 checked.message);
        status = INVIT_ERR_INPUT;
    }
    invit_solution_destroy(out->solution);
    out->solution = NULL;
    if (status == INVIT_OK) {
        out->solution = merged;
        found->length = checked.length;
        found->length_exact = checked.length_exact;
        found->routes = checked.routes;
    } else {
        invit_solution_destroy(merged);
    }
    return status;
}

/* What the server decides, beside what the request says. */
static invit_status set_options(const solve_context *c, const job_request *q, const invit_model *model,
                                invit_problem problem, invit_error *err)
{
    char threads[32];
    snprintf(threads, sizeof threads, "%d", threads_of_a_job(c->options));
    invit_status status = invit_options_set(q->options, "threads", threads, err);
    if (status == INVIT_OK && q->plan.fixed) status = invit_options_set(q->options, "time", "0", err);
    if (status == INVIT_OK && !model)
        status =
            invit_options_set(q->options, "construct", problem == INVIT_CVRP ? "savings" : "greedy", err);
    invit_options_set_start(q->options, q->plan.start);
    return status;
}

solve_outcome solve_job(const solve_context *c, job *j)
{
    solve_outcome out = {.error = {.message = "out of memory"}};
    const job_request *q = job_get_request(j);
    const invit_instance *p = q->plan.part ? q->plan.part : q->instance; /* what is solved */
    invit_problem problem = invit_instance_problem(p);
    const invit_model *model = c->model[problem];
    watcher w = {.job = j,
                 .instance = p,
                 .plan = &q->plan,
                 .began = inv_now(),
                 .shown = INFINITY,
                 .steps = json_array()};
    invit_control control = {.progress = report_progress, .user = &w, .cancel = job_cancel_flag(j)};
    solve_figures found = {0};
    invit_options *o = q->options;
    invit_status status = set_options(c, q, model, problem, &out.error);
    invit_options_set_control(o, &control);
    if (model && q->watch && invit_instance_nodes(p) <= WATCHED_NODES) {
        invit_model_summary m = invit_model_describe(model);
        w.views = m.views;
        w.narrow = narrowing(p);
        for (int32_t i = 0; i < m.views; i++) w.view[i] = m.view[i];
        invit_options_set_step(o, record_step, &w);
    }
    if (q->watch) invit_options_set_better(o, show_solution, &w, true);
    if (status == INVIT_OK) status = invit_solve(p, model, o, &out.solution, &out.error);
    if (status == INVIT_OK) found = figures_of(out.solution);
    invit_options_set_control(o, NULL); /* the request outlives the watcher */
    invit_options_set_step(o, NULL, NULL);
    invit_options_set_better(o, NULL, NULL, false);
    flush_steps(&w);
    w.shown_at = -INFINITY; /* the last one is told in any case */
    if (status == INVIT_OK && q->watch && found.length < w.shown)
        show_solution(&w, found.seconds_total, found.length, out.solution);
    json_decref(w.steps);
    if (status == INVIT_OK && q->plan.part) status = complete(&q->plan, q->instance, &out, &found);
    out.seconds = inv_now() - w.began;
    memory_begin();
    if (status == INVIT_OK)
        out.result = describe(j, out.solution, &found,
                              !model              ? NULL
                              : c->given == model ? c->options->model
                                                  : "bundled");
    if (memory_failed() || (status == INVIT_OK && !out.result)) { /* something may be missing in it */
        json_decref(out.result);
        out.result = NULL;
        out.error = (invit_error){.code = INVIT_ERR_MEMORY, .message = "out of memory"};
    }
    return out;
}
