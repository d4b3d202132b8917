/* invit eval msvdrp: the paper's two main tables. */
#include "base/names.h"
#include "invit_lab.h"
#include "lab/eval/eval.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "nn/kernels.h"
#include "lab/eval/baselines.h"
#include "lab/eval/eval_rules.h"
#include "lab/eval/eval_work.h"
#include "lab/eval/statistics.h"
#include "solve/construct.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What is kept of a set when its instances are gone. */
typedef struct set_result {
    bool done;
    char name[64], remark[160];
    int32_t count, finished, failures;
    double *gap, *other; /* [count], NaN where there is no result; other: of the run compared with */
    double seconds;
    int64_t decisions;
    inv_rule_result rule[INV_RULES];
} set_result;

/* How far the evaluation is: the number of the set under way. */
typedef struct set_progress {
    const invit_control *control; /* the caller's */
    int number, sets;
} set_progress;

typedef struct msvdrp_run {
    const invit_eval_options *o;
    set_progress progress;
    inv_comm *comm;
    inv_journal *journal, *against, *references; /* files on rank 0 only */
    set_result result[INVIT_EVAL_SETS][4];
    double peak;  /* GFLOPS, 0: not measured */
    bool stopped; /* the results are not all of them */
} msvdrp_run;

invit_eval_options invit_eval_defaults(void)
{
    invit_eval_options o = {.dir = "msvdrp", .data_seed = 1, .reference_effort = 1};
    for (int i = 0; i < INVIT_EVAL_SETS; i++) o.set[i] = true;
    for (int i = 0; i < 4; i++) o.distribution[i] = true;
    return o;
}

/* ---- running ------------------------------------------------------------------------------------ */

/* One task per instance, named by its number in the set. By the run's own method, or with `rule` by the simple
 * constructions. */
static invit_status solve_set(msvdrp_run *run, const inv_set *set, inv_rule_result *rule, invit_error *err)
{
    typedef char short_name[INV_INSTANCE_NAME];
    invit_status status;
    inv_task *task = malloc((size_t)set->count * sizeof *task);
    short_name *name = malloc((size_t)set->count * sizeof *name);
    if (!task || !name) {
        status = inv_no_memory(err, (size_t)set->count * sizeof *task);
        goto done;
    }
    for (int32_t i = 0; i < set->count; i++) {
        inv_instance_name(i, name[i]);
        task[i] = (inv_task){set->instance[i], set->name, name[i], set->reference[i]};
    }
    status = rule ? inv_rules_run(run->o, run->comm, task, set->count, rule, err)
                  : inv_eval_tasks(run->o, run->comm, run->journal, task, set->count, err);
done:
    free(task);
    free(name);
    return status;
}

static invit_status take_results(msvdrp_run *run, const inv_set *set, set_result *r, invit_error *err)
{
    r->gap = malloc((size_t)set->count * sizeof *r->gap);
    r->other = malloc((size_t)set->count * sizeof *r->other);
    if (!r->gap || !r->other) return inv_no_memory(err, (size_t)set->count * sizeof *r->gap);
    r->count = set->count;
    memcpy(r->name, set->name, sizeof r->name);
    memcpy(r->remark, set->remark, sizeof r->remark);
    for (int32_t i = 0; i < set->count; i++) {
        char name[INV_INSTANCE_NAME];
        inv_instance_name(i, name);
        const inv_outcome *x = inv_journal_find(run->journal, set->name, name);
        const inv_outcome *y = run->against ? inv_journal_find(run->against, set->name, name) : NULL;
        r->gap[i] = r->other[i] = NAN;
        if (!x) continue; /* stopped before it */
        if (!(fabs(x->reference - set->reference[i]) <= 1e-9 * set->reference[i]))
            return inv_fail(
                err, INVIT_ERR_INPUT,
                "%s: the result of %s %s was measured against another reference (%.9g, now %.9g); "
                "remove it or name another file",
                run->o->results, set->name, name, x->reference, set->reference[i]);
        r->gap[i] = x->gap;
        if (y) r->other[i] = inv_gap_percent(y->length, set->reference[i]);
        r->seconds += x->seconds;
        r->decisions += x->decisions;
        r->failures += x->error[0] != 0;
        r->finished++;
    }
    r->done = r->finished > 0;
    return INVIT_OK;
}

static invit_status run_set(msvdrp_run *run, int k, int d, invit_error *err)
{
    inv_set set = {0};
    invit_status status, solved;
    INV_TRY(inv_comm_agree(run->comm, inv_set_open(run->o, &inv_size_classes[k], d, &set, err), err));
    INV_TRY(inv_references(run->o, run->comm, run->journal, run->references, &set, err));
    if (run->o->references_only) goto done;
    solved = solve_set(run, &set, NULL, err);
    if (solved != INVIT_ERR_CANCELLED) INV_TRY(solved); /* what is finished counts */
    status = inv_comm_rank(run->comm) == 0 ? take_results(run, &set, &run->result[k][d], err) : INVIT_OK;
    INV_TRY(inv_comm_agree(run->comm, status, err));
    if (run->o->rules && solved == INVIT_OK) solved = solve_set(run, &set, run->result[k][d].rule, err);
    status = solved;
done:
    inv_set_close(&set);
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------- */

static bool has_results(const msvdrp_run *run, invit_problem problem)
{
    for (int k = 0; k < INVIT_EVAL_SETS; k++)
        for (int d = 0; d < 4; d++)
            if (run->result[k][d].done && inv_size_classes[k].problem == problem) return true;
    return false;
}

static void published_row(const msvdrp_run *run, inv_table *t, invit_problem problem,
                          const char *distribution, int method)
{
    inv_table_row(t);
    inv_table_text(t, "%s", distribution);
    inv_table_text(t, "%s", inv_published_method[method]);
    for (int k = 0; k < INVIT_EVAL_SETS; k++) {
        if (!run->o->set[k] || inv_size_classes[k].problem != problem) continue;
        const inv_published_set *s = inv_published_set_find(problem, distribution, inv_size_classes[k].size);
        inv_table_number(t, s->gap[method], 2);
        inv_table_seconds(t, inv_published_seconds(s->time[method]));
    }
}

/* Rules that are for the problem: gaps and times in the columns of the table. */
static void rule_rows(const msvdrp_run *run, inv_table *t, invit_problem problem, int d)
{
    for (int i = 0; i < INV_RULES; i++) {
        bool any = false;
        for (int k = 0; k < INVIT_EVAL_SETS; k++)
            any |= inv_size_classes[k].problem == problem && run->result[k][d].rule[i].count > 0;
        if (!any) continue;
        inv_table_row(t);
        inv_table_text(t, "%s", inv_distribution_name(d));
        inv_table_text(t, "%s", inv_rule_name(i));
        for (int k = 0; k < INVIT_EVAL_SETS; k++) {
            if (!run->o->set[k] || inv_size_classes[k].problem != problem) continue;
            const inv_rule_result *r = &run->result[k][d].rule[i];
            inv_table_number(t, r->count > 0 ? r->gap : NAN, 2);
            inv_table_seconds(t, r->count > 0 ? r->seconds : NAN);
        }
    }
}

/* Method by size, one block a distribution: the layout of the paper's tables 1 and 2. */
static void main_table(const msvdrp_run *run, invit_report *report, invit_problem problem)
{
    char label[96], name[48];
    inv_eval_label(run->o, problem, label, sizeof label);
    inv_table *t =
        inv_report_table(report, problem == INVIT_TSP ? "TSP: mean gap in percent and total time by set"
                                                      : "CVRP: mean gap in percent and total time by set");
    inv_table_column(t, "distribution", false);
    inv_table_column(t, "method", false);
    for (int k = 0; k < INVIT_EVAL_SETS; k++) {
        if (!run->o->set[k] || inv_size_classes[k].problem != problem) continue;
        snprintf(name, sizeof name, "%s", inv_size_classes[k].title);
        inv_table_column(t, name, true);
        snprintf(name, sizeof name, "time %d", inv_size_classes[k].size);
        inv_table_column(t, name, true);
    }
    for (int d = 0; d < 4; d++) {
        if (!run->o->distribution[d]) continue;
        inv_table_rule(t);
        for (int m = 0; run->o->baselines && m < INV_PUBLISHED_METHODS; m++)
            if (problem == INVIT_TSP || strcmp(inv_published_method[m], "PointerFormer") != 0)
                published_row(run, t, problem, inv_distribution_name(d), m);
        inv_table_row(t);
        inv_table_text(t, "%s", inv_distribution_name(d));
        inv_table_text(t, "%s", label);
        for (int k = 0; k < INVIT_EVAL_SETS; k++) {
            if (!run->o->set[k] || inv_size_classes[k].problem != problem) continue;
            const set_result *r = &run->result[k][d];
            inv_table_number(t, inv_summarise(r->gap, r->count).mean, 2);
            inv_table_seconds(t, r->done ? r->seconds : NAN);
        }
        rule_rows(run, t, problem, d);
    }
    bool some = run->o->limit > 0 || run->stopped; /* of the set's instances only */
    const char *source = run->o->baselines ? inv_published_source : "";
    const char *space = run->o->baselines && some ? " " : "";
    const char *extent =
        some ? "Ours: the first instances of each set, as many as the table by set says." : "";
    if (run->o->baselines || some) inv_table_note(t, "%s%s%s", source, space, extent);
}

/* The notes below the table by set. */
static void add_remarks(const msvdrp_run *run, inv_table *t, const char *peak, const char *compared_with)
{
    char cheap[4096] = "";
    for (int k = 0; k < INVIT_EVAL_SETS; k++)
        for (int d = 0; d < 4; d++) {
            const char *remark = run->result[k][d].remark;
            size_t n = strlen(cheap);
            if (remark[0] && n + 200 < sizeof cheap)
                snprintf(cheap + n, sizeof cheap - n, "%s%s",
                         n ? ", " : "References made with less effort than asked for: ", remark);
        }
    if (cheap[0]) strcat(cheap, ".");
    if (run->references) {
        size_t n = strlen(cheap);
        snprintf(cheap + n, sizeof cheap - n, "%sReferences that were not at hand are those of %.300s.",
                 n ? " " : "", run->o->references);
    }
    if (peak[0] || compared_with[0] || cheap[0])
        inv_table_note(t, "%s%s%s%s", peak, compared_with,
                       (peak[0] || compared_with[0]) && cheap[0] ? " " : "", cheap);
}

static bool compared_any(const msvdrp_run *run)
{
    for (int k = 0; k < INVIT_EVAL_SETS; k++)
        for (int d = 0; d < 4; d++)
            for (int32_t i = 0; i < run->result[k][d].count; i++)
                if (!isnan(run->result[k][d].other[i])) return true;
    return false;
}

/* Clustered instances are of two kinds in turn: three centres within 10 of 100 wide, or seven within 50. Later papers
 * report only the former. */
static void cluster_table(const msvdrp_run *run, invit_report *report)
{
    static const char *const kind[2] = {"N=3, L=10", "N=7, L=50"};
    inv_table *t = NULL;
    for (int k = 0; k < INVIT_EVAL_SETS; k++) {
        const set_result *r = &run->result[k][INVIT_CLUSTERED];
        if (!r->done || r->count < 2) continue;
        if (!t) {
            t = inv_report_table(report, "Clustered sets by kind: mean gap in percent");
            inv_table_column(t, "set", false);
            for (int i = 0; i < 2; i++) inv_table_column(t, kind[i], true);
        }
        inv_table_row(t);
        inv_table_text(t, "%s", r->name);
        for (int i = 0; i < 2; i++) {
            double sum = 0;
            int32_t count = 0;
            for (int32_t j = i; j < r->count; j += 2) {
                if (isnan(r->gap[j])) continue;
                sum += r->gap[j];
                count++;
            }
            inv_table_number(t, count > 0 ? sum / count : NAN, 2);
        }
    }
    if (t)
        inv_table_note(t, "N centres, clusters of side L in a square of 100; the kinds alternate in a set.");
}

static invit_status detail_table(const msvdrp_run *run, invit_report *report, invit_error *err)
{
    static const char *const names[] = {"set", "instances", "failed", "gap %",        "std",
                                        "min", "max",       "time",   "per instance", "decisions/s"};
    static const char *const compared[] = {"other gap %", "wins", "ties", "losses", "p"};
    inv_table *t = inv_report_table(report, "By set");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) inv_table_column(t, names[i], i > 0);
    if (run->peak > 0) inv_table_column(t, "per GFLOPS", true);
    for (size_t i = 0; run->against && i < sizeof compared / sizeof *compared; i++)
        inv_table_column(t, compared[i], true);
    for (int k = 0; k < INVIT_EVAL_SETS; k++)
        for (int d = 0; d < 4; d++) {
            const set_result *r = &run->result[k][d];
            if (!r->done) continue;
            inv_summary s = inv_summarise(r->gap, r->count);
            inv_table_row(t);
            inv_table_text(t, "%s", r->name);
            inv_table_number(t, r->finished, 0);
            inv_table_number(t, r->failures, 0);
            inv_table_number(t, s.mean, 3);
            inv_table_number(t, s.deviation, 3);
            inv_table_number(t, s.smallest, 3);
            inv_table_number(t, s.largest, 3);
            inv_table_seconds(t, r->seconds);
            inv_table_seconds(t, r->seconds / r->finished);
            double rate = r->decisions && r->seconds > 0 ? (double)r->decisions / r->seconds : NAN;
            inv_table_number(t, rate, 0);
            if (run->peak > 0) inv_table_number(t, rate / run->peak, 1);
            if (!run->against) continue;
            inv_comparison c;
            INV_CHECK(inv_compare(r->gap, r->other, r->count, 1e-6, &c, err));
            inv_table_number(t, inv_summarise(r->other, r->count).mean, 3);
            inv_table_number(t, c.wins, 0);
            inv_table_number(t, c.ties, 0);
            inv_table_number(t, c.losses, 0);
            inv_table_number(t, c.wins + c.losses ? c.p : NAN, 4);
        }
    char peak[96] = "", compared_with[512] = "";
    if (run->peak > 0)
        snprintf(peak, sizeof peak, "FP32 peak of this machine: %.0f GFLOPS.%s", run->peak,
                 run->against ? " " : "");
    if (run->against && !compared_any(run))
        snprintf(compared_with, sizeof compared_with, "%.300s has no instance in common with this run.",
                 run->o->against);
    else if (run->against)
        snprintf(compared_with, sizeof compared_with,
                 "Wins, ties and losses against %.300s, instance by instance; p: Wilcoxon's "
                 "signed-rank test, two-sided (exact up to 50 pairs).",
                 run->o->against);
    add_remarks(run, t, peak, compared_with);
    return INVIT_OK;
}

static void instance_table(const msvdrp_run *run, invit_report *report)
{
    static const char *const names[] = {"set",       "instance", "nodes",   "length",
                                        "reference", "gap %",    "seconds", "error"};
    inv_table *t = inv_report_table(report, "By instance");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) inv_table_column(t, names[i], i > 0 && i < 7);
    for (int k = 0; k < INVIT_EVAL_SETS; k++)
        for (int d = 0; d < 4; d++)
            for (int32_t i = 0; i < run->result[k][d].count; i++) {
                char name[INV_INSTANCE_NAME];
                inv_instance_name(i, name);
                const inv_outcome *x = inv_journal_find(run->journal, run->result[k][d].name, name);
                if (!x) continue;
                inv_table_row(t);
                inv_table_text(t, "%s", x->set);
                inv_table_text(t, "%s", x->name);
                inv_table_number(t, x->nodes, 0);
                inv_table_number(t, x->length, 6);
                inv_table_number(t, x->reference, 6);
                inv_table_number(t, x->gap, 3);
                inv_table_number(t, x->seconds, 3);
                inv_table_text(t, "%s", x->error);
            }
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static invit_status check_options(const invit_eval_options *o, invit_error *err)
{
    int construct = inv_eval_solve(o).construct;
    for (int k = 0; k < INVIT_EVAL_SETS; k++) {
        invit_problem p = inv_size_classes[k].problem;
        if (!o->set[k] || o->references_only) continue;
        if (construct == INVIT_CONSTRUCT_INVIT && !o->model[p])
            return inv_fail(err, INVIT_ERR_ARGUMENT, "no model for %s, which %s needs", inv_problem_title(p),
                            inv_size_classes[k].name);
        if (o->model[p] && invit_model_problem(o->model[p]) != p)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "%s is not a model for %s",
                            invit_model_path(o->model[p]), inv_size_classes[k].name);
        INV_CHECK(inv_construct_check((invit_construct)construct, p, err));
    }
    if (o->paper_length)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "the paper's rounding is for libraries: these sets are not rounded");
    for (int m = 1; o->against && m < INV_PUBLISHED_METHODS; m++)
        if (strcasecmp(o->against, inv_published_method[m]) == 0)
            return inv_fail(
                err, INVIT_ERR_ARGUMENT,
                "%s is a published column, known by instance for libraries only; expected a results "
                "file of another run",
                o->against);
    if (o->limit < 0 || o->reference_seconds < 0 || !(o->reference_effort > 0))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "limit, reference time and effort must be positive");
    return INVIT_OK;
}

/* After an interrupt: how many instances there are results of, and how many were asked for. */
static invit_status say_stopped(msvdrp_run *run, invit_error *err)
{
    const invit_eval_options *o = run->o;
    int32_t finished = 0, asked = 0;
    run->stopped = true;
    if (o->references_only) return INVIT_ERR_CANCELLED; /* the message tells of the references */
    for (int k = 0; k < INVIT_EVAL_SETS; k++)
        for (int d = 0; d < 4; d++) {
            if (!o->set[k] || !o->distribution[d]) continue;
            int32_t all = inv_size_classes[k].count, count = run->result[k][d].count;
            finished += run->result[k][d].finished;
            if (o->limit > 0 && o->limit < all) all = o->limit;
            asked += count ? count : all;
        }
    return inv_comm_agree(run->comm, inv_stopped(finished, asked, err), err); /* rank 0 knows */
}

static invit_status run_all(msvdrp_run *run, int32_t *failures, invit_error *err)
{
    const invit_eval_options *o = run->o;
    char key[512], what[48];
    invit_status status;
    bool first = inv_comm_rank(run->comm) == 0;
    *failures = 0;
    INV_CHECK(check_options(o, err));
    snprintf(what, sizeof what, "msvdrp data-seed=%llu", (unsigned long long)o->data_seed);
    INV_CHECK(inv_eval_key(o, what, key, sizeof key, err));
    if (o->peak) run->peak = inv_measure_peak(inv_threads(o->threads), 0.5);
    status = o->against && first ? inv_journal_read(o->against, &run->against, err) : INVIT_OK;
    if (status == INVIT_OK && o->references && first) status = inv_references_read(o, &run->references, err);
    if (status == INVIT_OK)
        status = inv_journal_open(o->references_only || !first ? NULL : o->results, key, o->resume,
                                  &run->journal, err);
    INV_CHECK(inv_comm_agree(run->comm, status, err));
    for (int k = 0; k < INVIT_EVAL_SETS; k++)
        for (int d = 0; d < 4; d++)
            if (o->set[k] && o->distribution[d]) {
                run->progress.number++;
                status = run_set(run, k, d, err);
                *failures += run->result[k][d].failures;
                if (status == INVIT_ERR_CANCELLED) return say_stopped(run, err);
                INV_CHECK(status);
            }
    return INVIT_OK;
}

static void run_destroy(msvdrp_run *run)
{
    for (int k = 0; k < INVIT_EVAL_SETS; k++)
        for (int d = 0; d < 4; d++) {
            free(run->result[k][d].gap);
            free(run->result[k][d].other);
        }
    inv_journal_close(run->journal);
    inv_journal_close(run->against);
    inv_journal_close(run->references);
}

/* Which set it is and how much of it is done is part of the message; the percentage is that of all sets. */
static void on_progress(void *user, const invit_progress *p)
{
    set_progress *s = user;
    invit_progress all = *p;
    char message[256];
    const char *of = p->message ? " of " : "";
    const char *what = p->message ? p->message : "";
    snprintf(message, sizeof message, "set %d of %d: %.0f %%%s%s", s->number, s->sets,
             100 * fmax(0, p->fraction), of, what);
    all.message = message;
    if (p->fraction >= 0) all.fraction = (s->number - 1 + p->fraction) / s->sets;
    s->control->progress(s->control->user, &all);
}

invit_status invit_eval_msvdrp(const invit_eval_options *options, invit_report **out, int32_t *failures,
                               invit_error *err)
{
    invit_eval_options mine = *options, *o = &mine;
    msvdrp_run run = {.o = o, .progress = {.control = options->control}};
    invit_control control = {.progress = on_progress, .user = &run.progress};
    for (int i = 0; i < 4 * INVIT_EVAL_SETS; i++)
        run.progress.sets += o->set[i / 4] && o->distribution[i % 4];
    if (options->control && options->control->progress) {
        control.cancel = options->control->cancel;
        o->control = &control;
    }
    invit_report *report = NULL;
    invit_status status, ran;
    *out = NULL;
    INV_CHECK(inv_comm_create(&run.comm, err));
    status = ran = run_all(&run, failures, err);
    if (!run.stopped) INV_TRY(ran);
    if (inv_comm_rank(run.comm) > 0) goto done;
    if (run.stopped && !has_results(&run, INVIT_TSP) && !has_results(&run, INVIT_CVRP)) goto done;
    INV_TRY(inv_report_create(&report, err));
    if (!o->references_only) {
        for (int p = 0; p < 2; p++)
            if (has_results(&run, p)) main_table(&run, report, p);
        cluster_table(&run, report);
        INV_TRY(detail_table(&run, report, err));
        if (o->instances) instance_table(&run, report);
    }
    if (run.stopped) inv_report_partial(report, err);
    status = ran;
done:
    run_destroy(&run);
    inv_comm_destroy(run.comm);
    if (status == INVIT_OK || status == INVIT_ERR_CANCELLED)
        *out = report;
    else
        invit_report_destroy(report);
    return status;
}

invit_status inv_msvdrp_means(const invit_eval_options *o, inv_comm *comm, double *mean, int32_t *failures,
                              invit_error *err)
{
    msvdrp_run run = {.o = o, .comm = comm};
    invit_status status = run_all(&run, failures, err);
    for (int k = 0; k < INVIT_EVAL_SETS; k++) {
        double sum = 0;
        int count = 0;
        for (int d = 0; d < 4; d++)
            if (run.result[k][d].done) {
                sum += inv_summarise(run.result[k][d].gap, run.result[k][d].count).mean;
                count++;
            }
        mean[k] = count ? sum / count : NAN;
    }
    run_destroy(&run);
    return status;
}
