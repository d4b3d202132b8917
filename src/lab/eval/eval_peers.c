/* Side by side: this solver and other programs on the same instances, with the same limits, in one run. */
#include "lab/eval/eval_peers.h"

#include "base/names.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "lab/eval/eval_work.h"
#include "lab/eval/external.h"
#include "problem/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MOST_SOLVERS = 12, MOST_TIMES = 32 };

typedef struct peers {
    inv_library *lib;
    const invit_eval_options *o;
    inv_external external[MOST_SOLVERS]; /* the others; this solver is number 0 of the tables */
    int solvers;                         /* this one included */
    double time[MOST_TIMES];             /* rising */
    int times, threads;
    char own[2][96]; /* what this solver is called, by problem */
    double begun;
    int32_t done, runs;
} peers;

bool inv_peers_wanted(const invit_eval_options *o)
{
    return o->solver_count > 0 || o->time_count > 0;
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static invit_status prepare(peers *s, inv_library *lib, invit_error *err)
{
    const invit_eval_options *o = lib->o;
    *s = (peers){.lib = lib, .o = o, .threads = inv_threads(o->threads), .begun = inv_now()};
    if (o->solver_count >= MOST_SOLVERS)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "at most %d other solvers, not %d", MOST_SOLVERS - 1,
                        o->solver_count);
    if (o->time_count > MOST_TIMES)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "at most %d time limits, not %d", MOST_TIMES, o->time_count);
    for (int i = 0; i < o->solver_count; i++) {
        INV_CHECK(inv_external_parse(o->solvers[i], &s->external[i], err));
        for (int k = 0; k < i; k++)
            if (strcmp(s->external[k].name, s->external[i].name) == 0)
                return inv_fail(err, INVIT_ERR_ARGUMENT, "two solvers are called %s", s->external[i].name);
    }
    s->solvers = o->solver_count + 1;
    s->times = o->time_count ? o->time_count : 1;
    s->time[0] = inv_eval_solve(o).seconds;
    for (int i = 0; i < o->time_count; i++) s->time[i] = o->times[i];
    qsort(s->time, (size_t)s->times, sizeof *s->time, rising);
    if (!(s->time[0] > 0))
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "other solvers need a time limit: --time SECONDS or --times LIST");
    for (int p = 0; p < 2; p++) {
        invit_eval_options plain = *o;
        invit_options without = {.o = inv_eval_solve(o)};
        without.o.seconds = 0; /* the label without the limit, which is a column */
        plain.solve = &without;
        inv_eval_label(&plain, p, s->own[p], sizeof s->own[p]);
        if (!o->label) snprintf(s->own[p], sizeof s->own[p], "invit");
    }
    for (int32_t i = 0; i < lib->count; i++) s->runs += lib->item[i].instance != NULL;
    s->runs *= s->solvers * s->times;
    return INVIT_OK;
}

static const char *solver_name(const peers *s, int solver, const inv_library_item *x)
{
    if (solver > 0) return s->external[solver - 1].name;
    return s->own[x->instance->problem];
}

/* What the journal calls the set of these runs: the solver and its limit are part of it. */
static void run_set(const peers *s, const inv_library_item *x, int solver, int time, char set[64])
{
    snprintf(set, 64, "%s %.40s@%g", inv_library_set(x), solver ? s->external[solver - 1].name : "invit",
             s->time[time]);
}

static const inv_outcome *find(const peers *s, const inv_library_item *x, int solver, int time)
{
    char set[64];
    run_set(s, x, solver, time, set);
    return inv_journal_find(s->lib->journal, set, x->key);
}

/* ---- running ------------------------------------------------------------------------------------ */

static double processor_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static invit_status run_own(const peers *s, const inv_library_item *x, double seconds, inv_external_result *r,
                            invit_error *err)
{
    invit_control quiet = {.cancel = inv_cancel_flag(s->o->control)};
    inv_solve_options solve = inv_eval_solve(s->o);
    inv_solved result = {0};
    invit_solution *solution = NULL;
    double begun = inv_now(), cpu = processor_seconds();
    solve.control = &quiet;
    solve.threads = s->o->threads;
    solve.seconds = seconds;
    invit_status status =
        inv_solve(x->instance, s->o->model[x->instance->problem], &solve, &solution, &result, err);
    invit_solution_destroy(solution);
    *r = (inv_external_result){result.length, result.length_exact, inv_now() - begun,
                               processor_seconds() - cpu};
    return status;
}

static invit_status run_one(const peers *s, const inv_library_item *x, int solver, int time,
                            inv_external_result *r, invit_error *err)
{
    if (solver == 0) return run_own(s, x, s->time[time], r, err);
    bool own_file = x->format == INVIT_FORMAT_TSPLIB && x->index == 0;
    inv_external_run run = {.file = own_file ? x->path : NULL,
                            .seconds = s->time[time],
                            .threads = s->threads,
                            .seed = inv_eval_solve(s->o).seed,
                            .control = s->o->control};
    return inv_external_solve(&s->external[solver - 1], x->instance, &run, r, err);
}

static void tell(peers *s, const inv_library_item *x, int solver, int time)
{
    const invit_control *c = s->o->control;
    s->done++;
    if (!c || !c->progress) return;
    char message[200];
    snprintf(message, sizeof message, "%.80s, %.40s, %g s", x->instance->name, solver_name(s, solver, x),
             s->time[time]);
    invit_progress p = {.stage = "evaluate",
                        .elapsed = inv_now() - s->begun,
                        .fraction = (double)s->done / s->runs,
                        .best = NAN,
                        .count = s->done,
                        .message = message};
    c->progress(c->user, &p);
}

static invit_status run_and_record(peers *s, const inv_library_item *x, int solver, int time,
                                   invit_error *err)
{
    inv_outcome y = {.nodes = inv_library_size(x), .length = NAN, .reference = x->reference, .gap = NAN};
    inv_external_result r = {.length = NAN};
    invit_error why = {0};
    run_set(s, x, solver, time, y.set);
    snprintf(y.name, sizeof y.name, "%s", x->key);
    invit_status ran = run_one(s, x, solver, time, &r, &why);
    if (inv_cancelled(s->o->control)) return inv_fail(err, INVIT_ERR_CANCELLED, "stopped");
    if (ran == INVIT_OK) {
        y.length =
            s->o->paper_length && inv_whole_lengths(x->instance) ? ceil(r.length_exact - 1e-9) : r.length;
        y.gap = inv_gap_percent(y.length, x->reference);
    } else {
        snprintf(y.error, sizeof y.error, "%.250s", why.message);
        for (char *c = y.error; *c; c++)
            if (*c == '\n' || *c == '\r') *c = ' '; /* a record is one line */
    }
    y.seconds = r.cpu; /* processor seconds: what the solvers are compared at */
    return inv_journal_add(s->lib->journal, &y, err);
}

/* Instance by instance, so that what is finished when the run is stopped compares all solvers. */
static invit_status run_all(peers *s, invit_error *err)
{
    for (int32_t i = 0; i < s->lib->count; i++) {
        const inv_library_item *x = &s->lib->item[i];
        if (!x->instance) continue;
        for (int time = 0; time < s->times; time++)
            for (int solver = 0; solver < s->solvers; solver++) {
                if (inv_cancelled(s->o->control)) return inv_fail(err, INVIT_ERR_CANCELLED, "stopped");
                if (!find(s, x, solver, time)) INV_CHECK(run_and_record(s, x, solver, time, err));
                tell(s, x, solver, time);
            }
    }
    return INVIT_OK;
}

/* ---- tables ------------------------------------------------------------------------------------- */

static bool finished(const peers *s, const inv_library_item *x)
{
    for (int time = 0; x->instance && time < s->times; time++)
        for (int solver = 0; solver < s->solvers; solver++)
            if (!find(s, x, solver, time)) return false;
    return x->instance != NULL;
}

/* The longest limit, one row per instance, a gap and the processor seconds for each solver. */
static void instance_table(const peers *s, invit_report *report, invit_problem problem)
{
    char title[96], name[96];
    snprintf(title, sizeof title, "%s side by side, limit %g s: gap in percent", inv_problem_title(problem),
             s->time[s->times - 1]);
    inv_table *t = inv_report_table(report, title);
    inv_table_column(t, "instance", false);
    inv_table_column(t, "nodes", true);
    inv_table_column(t, "reference", true);
    for (int k = 0; k < s->solvers; k++) {
        const char *solver = k ? s->external[k - 1].name : s->own[problem];
        inv_table_column(t, solver, true);
        snprintf(name, sizeof name, "%.80s core s", solver);
        inv_table_column(t, name, true);
    }
    for (int32_t i = 0; i < s->lib->count; i++) {
        const inv_library_item *x = &s->lib->item[i];
        if (!finished(s, x) || x->instance->problem != problem) continue;
        inv_table_row(t);
        inv_table_text(t, "%s", x->instance->name);
        inv_table_number(t, inv_library_size(x), 0);
        inv_table_number(t, x->reference, inv_whole_lengths(x->instance) ? 0 : 3);
        for (int k = 0; k < s->solvers; k++) {
            const inv_outcome *y = find(s, x, k, s->times - 1);
            inv_table_number(t, inv_gap_percent(y->length, x->reference), 3);
            inv_table_number(t, y->seconds, 1);
        }
    }
    inv_table_note(t,
                   "Core s: processor seconds the run took, of all its threads. Every solution was checked.");
}

static void limit_row(const peers *s, inv_table *t, invit_problem problem, int solver, int time)
{
    double gap = 0, cpu = 0;
    int32_t count = 0, failed = 0;
    for (int32_t i = 0; i < s->lib->count; i++) {
        const inv_library_item *x = &s->lib->item[i];
        if (!finished(s, x) || x->instance->problem != problem) continue;
        const inv_outcome *y = find(s, x, solver, time);
        double g = inv_gap_percent(y->length, x->reference);
        failed += y->error[0] != 0;
        if (isnan(g)) continue;
        gap += g;
        cpu += y->seconds;
        count++;
    }
    inv_table_row(t);
    inv_table_text(t, "%s", inv_problem_title(problem));
    inv_table_text(t, "%s", solver ? s->external[solver - 1].name : s->own[problem]);
    inv_table_number(t, count ? cpu / count : NAN, 1);
    inv_table_number(t, count ? gap / count : NAN, 3);
    inv_table_number(t, s->time[time], s->time[time] < 1 ? 2 : 0);
    inv_table_number(t, count, 0);
    inv_table_number(t, failed, 0);
}

/* One row per problem, solver and limit; drawn as mean gap over processor seconds. */
static void limit_table(const peers *s, invit_report *report, const bool has[2])
{
    static const char *const names[] = {"problem", "solver",    "core s", "gap %",
                                        "limit s", "instances", "failed"};
    inv_table *t = inv_report_table(report, "Mean gap in percent by time limit");
    for (int i = 0; i < 7; i++) inv_table_column(t, names[i], i > 1);
    for (int p = 0; p < 2; p++)
        for (int k = 0; has[p] && k < s->solvers; k++)
            for (int time = 0; time < s->times; time++) limit_row(s, t, p, k, time);
    inv_table_chart(t, (inv_table_drawing){.x = 2,
                                           .y = 3,
                                           .line = 1,
                                           .x_label = "processor seconds (logarithmic)",
                                           .y_label = "mean gap",
                                           .y_unit = " %",
                                           .log_x = true});
    inv_table_note(t,
                   "Means over the solved instances that have a reference. Every limit is a run of its own.");
}

static int32_t failure_table(const peers *s, invit_report *report)
{
    inv_table *t = NULL;
    int32_t failures = 0;
    for (int32_t i = 0; i < s->lib->count; i++) {
        const inv_library_item *x = &s->lib->item[i];
        const char *unread = x->instance ? "" : x->outcome.error;
        for (int k = 0; k < s->solvers; k++)
            for (int time = 0; time < s->times; time++) {
                const inv_outcome *y = x->instance ? find(s, x, k, time) : NULL;
                const char *why = k + time == 0 ? unread : "";
                if (y) why = y->error;
                if (!why[0]) continue;
                if (failures++ == 0) {
                    t = inv_report_table(report, "Failed");
                    inv_table_column(t, "file", false);
                    inv_table_column(t, "solver", false);
                    inv_table_column(t, "why", false);
                }
                inv_table_row(t);
                inv_table_text(t, "%s", x->path);
                inv_table_text(t, "%s", x->instance ? solver_name(s, k, x) : "-");
                inv_table_text(t, "%s", why);
            }
    }
    return failures;
}

invit_status inv_peers_report(inv_library *lib, invit_report **out, int32_t *failures, invit_error *err)
{
    peers s;
    int32_t whole = 0, asked = 0;
    INV_CHECK(prepare(&s, lib, err));
    invit_status ran = run_all(&s, err);
    if (ran != INVIT_OK && ran != INVIT_ERR_CANCELLED) return ran;
    bool has[2] = {false, false};
    for (int32_t i = 0; i < lib->count; i++) {
        asked += lib->item[i].instance != NULL;
        if (!finished(&s, &lib->item[i])) continue;
        whole++;
        has[lib->item[i].instance->problem] = true;
    }
    if (ran == INVIT_ERR_CANCELLED) inv_stopped(whole, asked, err);
    if (ran != INVIT_OK && whole == 0) return ran;
    INV_CHECK(inv_report_create(out, err));
    for (int p = 0; p < 2; p++)
        if (has[p]) instance_table(&s, *out, p);
    limit_table(&s, *out, has);
    *failures = failure_table(&s, *out);
    return ran;
}
