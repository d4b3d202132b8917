/* invit eval DIR: folders of TSPLIB and CVRPLIB files, by instance and by the paper's size buckets. */
#include "lab/eval/eval_peers.h"
#include "lab/eval/eval_rules.h"

#include "base/clock.h"
#include "base/names.h"
#include "lab/eval/eval_work.h"
#include "lab/eval/statistics.h"
#include "problem/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- running ------------------------------------------------------------------------------------ */

static bool can_run(const inv_library *lib, const inv_library_item *x)
{
    return x->instance &&
           (inv_eval_solve(lib->o).construct != INVIT_CONSTRUCT_INVIT || lib->o->model[x->instance->problem]);
}

static void take_outcome(const inv_library *lib, inv_library_item *x)
{
    if (can_run(lib, x)) {
        x->outcome = *inv_journal_find(lib->journal, inv_library_set(x), x->key);
    } else {
        x->outcome = (inv_outcome){.nodes = inv_library_size(x), .length = NAN};
        snprintf(x->outcome.error, sizeof x->outcome.error, "no model for %s among those given",
                 inv_problem_title(x->instance->problem));
    }
    x->outcome.reference = x->reference; /* a better one may have come since the result was written */
    x->outcome.gap = inv_gap_percent(x->outcome.length, x->reference);
    const inv_outcome *y = lib->against ? inv_journal_find(lib->against, inv_library_set(x), x->key) : NULL;
    if (y)
        x->other = inv_gap_percent(y->length, x->reference);
    else if (lib->against_method >= 0 && x->published)
        x->other = x->published->gap[lib->against_method];
}

static invit_status run_items(inv_library *lib, invit_error *err)
{
    int32_t count = 0;
    inv_task *task = malloc(((size_t)lib->count + 1) * sizeof *task);
    if (!task) return inv_no_memory(err, (size_t)lib->count * sizeof *task);
    for (int32_t i = 0; i < lib->count; i++) {
        inv_library_item *x = &lib->item[i];
        if (can_run(lib, x))
            task[count++] = (inv_task){x->instance, inv_library_set(x), x->key, x->reference};
    }
    invit_status status = inv_eval_tasks(lib->o, lib->comm, lib->journal, task, count, err);
    free(task);
    return status;
}

/* After an interrupt: what was not measured is left out, and the error says how much there is. */
static invit_status keep_finished(inv_library *lib, int32_t *finished, invit_error *err)
{
    int32_t asked = 0;
    *finished = 0;
    for (int32_t i = 0; i < lib->count; i++) {
        inv_library_item *x = &lib->item[i];
        if (!can_run(lib, x)) continue;
        asked++;
        if (inv_journal_find(lib->journal, inv_library_set(x), x->key)) {
            ++*finished;
        } else {
            invit_instance_destroy(x->instance);
            x->instance = NULL;
        }
    }
    return inv_comm_agree(lib->comm, inv_stopped(*finished, asked, err), err); /* rank 0 knows */
}

/* ---- tables ------------------------------------------------------------------------------------- */

static bool shown(invit_problem problem, int method)
{
    return method != INV_PUBLISHED_NEAR_OPTIMAL &&
           (problem == INVIT_TSP || strcmp(inv_published_method[method], "PointerFormer") != 0);
}

/* Names the files beside instances that references are from, as far as there is room: a gap to one's own
 * earlier solution should not be taken for one to the best known. */
static void note_beside(const inv_library *lib, invit_problem problem, char *note, size_t size)
{
    enum { NAMED = 8 };
    int32_t files = 0;
    note[0] = 0;
    for (int32_t i = 0; i < lib->count; i++) {
        const inv_library_item *x = &lib->item[i];
        if (!x->instance || x->instance->problem != problem || !x->beside || files++ >= NAMED) continue;
        char path[4200];
        inv_library_beside(x, x->beside, path, sizeof path);
        snprintf(
            note + strlen(note), size - strlen(note), "%s%.200s",
            files > 1 ? ", " : "References from files beside the instances, not best-known lengths: ", path);
    }
    if (files > NAMED) snprintf(note + strlen(note), size - strlen(note), " and %d more", files - NAMED);
    if (files) snprintf(note + strlen(note), size - strlen(note), ".");
}

static void instance_table(const inv_library *lib, invit_report *report, invit_problem problem,
                           const char *label)
{
    inv_table *t = inv_report_table(report, problem == INVIT_TSP ? "TSP by instance: gap in percent"
                                                                 : "CVRP by instance: gap in percent");
    inv_table_column(t, "instance", false);
    inv_table_column(t, "nodes", true);
    inv_table_column(t, "reference", true);
    inv_table_column(t, "length", true);
    inv_table_column(t, label, true);
    inv_table_column(t, "seconds", true);
    for (int m = 0; lib->o->baselines && m < INV_PUBLISHED_METHODS; m++)
        if (shown(problem, m)) inv_table_column(t, inv_published_method[m], true);
    for (int32_t i = 0; i < lib->count; i++) {
        const inv_library_item *x = &lib->item[i];
        if (!x->instance || x->instance->problem != problem) continue;
        inv_table_row(t);
        inv_table_text(t, "%s", x->instance->name);
        inv_table_number(t, x->outcome.nodes, 0);
        bool whole = inv_whole_lengths(x->instance);
        inv_table_number(t, x->reference, whole ? 0 : 3);
        inv_table_number(t, x->outcome.length, whole ? 0 : 3);
        inv_table_number(t, x->outcome.gap, 2);
        inv_table_number(t, x->outcome.seconds, 2);
        for (int m = 0; lib->o->baselines && m < INV_PUBLISHED_METHODS; m++)
            if (shown(problem, m)) inv_table_number(t, x->published ? x->published->gap[m] : NAN, 2);
    }
    char beside[2048];
    note_beside(lib, problem, beside, sizeof beside);
    const char *source = lib->o->baselines ? inv_published_source : "";
    if (source[0] || beside[0])
        inv_table_note(t, "%s%s%s", source, source[0] && beside[0] ? " " : "", beside);
}

static double published_gap(const inv_library_item *x, int method)
{
    return x->published ? x->published->gap[method] : NAN;
}

static double bucket_mean(const inv_library *lib, const inv_bucket *b, int method, int32_t *count)
{
    double sum = 0;
    *count = 0;
    for (int32_t i = 0; i < lib->count; i++) {
        const inv_library_item *x = &lib->item[i];
        if (!x->instance || x->instance->problem != b->problem || inv_library_size(x) < b->lowest ||
            inv_library_size(x) > b->highest)
            continue;
        double gap = method < 0 ? x->outcome.gap : published_gap(x, method);
        if (isnan(gap)) continue;
        sum += gap;
        ++*count;
    }
    return *count ? sum / *count : NAN;
}

/* Published columns are averaged over the very instances of this run: a fair comparison also when some are
 * missing. */
static void bucket_table(const inv_library *lib, invit_report *report, invit_problem problem,
                         const char *label)
{
    inv_table *t = inv_report_table(report, problem == INVIT_TSP
                                                ? "TSP by size: mean gap in percent on these instances"
                                                : "CVRP by size: mean gap in percent on these instances");
    inv_table_column(t, "method", false);
    for (int b = 0; b < INV_BUCKETS; b++) {
        if (inv_buckets[b].problem != problem) continue;
        inv_table_column(t, inv_buckets[b].name, true);
        char name[32];
        snprintf(name, sizeof name, "n %s", inv_buckets[b].name);
        inv_table_column(t, name, true);
    }
    for (int m = lib->o->baselines ? 1 : INV_PUBLISHED_METHODS; m <= INV_PUBLISHED_METHODS; m++) {
        bool ours = m == INV_PUBLISHED_METHODS;
        if (!ours && !shown(problem, m)) continue;
        inv_table_row(t);
        inv_table_text(t, "%s", ours ? label : inv_published_method[m]);
        for (int b = 0; b < INV_BUCKETS; b++) {
            int32_t count;
            if (inv_buckets[b].problem != problem) continue;
            inv_table_number(t, bucket_mean(lib, &inv_buckets[b], ours ? -1 : m, &count), 2);
            inv_table_number(t, count, 0);
        }
    }
    if (!lib->o->baselines) return;
    inv_table_rule(t);
    for (int m = 0; m < INV_PUBLISHED_METHODS; m++) {
        if (!shown(problem, m)) continue;
        inv_table_row(t);
        inv_table_text(t, "%s, whole library", inv_published_method[m]);
        for (int b = 0; b < INV_BUCKETS; b++) {
            if (inv_buckets[b].problem != problem) continue;
            inv_table_number(t, inv_buckets[b].gap[m], 2);
            inv_table_blank(t);
        }
    }
    inv_table_note(t,
                   "n: instances with a gap. Whole library: as published, over all instances of the size.");
}

static invit_status comparison_row(inv_table *t, const char *name, const double *ours, const double *other,
                                   int32_t n, invit_error *err)
{
    inv_comparison c;
    INV_CHECK(inv_compare(ours, other, n, 0.005, &c, err));
    if (c.wins + c.ties + c.losses == 0) return INVIT_OK;
    double mine = 0, theirs = 0;
    int32_t pairs = c.wins + c.ties + c.losses;
    for (int32_t i = 0; i < n; i++)
        if (!isnan(ours[i] - other[i])) mine += ours[i] / pairs, theirs += other[i] / pairs;
    inv_table_row(t);
    inv_table_text(t, "%s", name);
    inv_table_number(t, pairs, 0);
    inv_table_number(t, mine, 2);
    inv_table_number(t, theirs, 2);
    inv_table_number(t, c.wins, 0);
    inv_table_number(t, c.ties, 0);
    inv_table_number(t, c.losses, 0);
    inv_table_number(t, c.p, 4);
    return INVIT_OK;
}

static invit_status comparison_table(const inv_library *lib, invit_report *report, invit_problem problem,
                                     invit_error *err)
{
    static const char *const names[] = {"against", "pairs", "gap %",  "other gap %",
                                        "wins",    "ties",  "losses", "p"};
    inv_table *t = inv_report_table(report, problem == INVIT_TSP ? "TSP compared, instance by instance"
                                                                 : "CVRP compared, instance by instance");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) inv_table_column(t, names[i], i > 0);
    double *ours = malloc(2 * ((size_t)lib->count + 1) * sizeof *ours);
    if (!ours) return inv_no_memory(err, 2 * (size_t)lib->count * sizeof *ours);
    double *other = ours + lib->count;
    invit_status status = INVIT_OK;
    bool none = false;
    for (int m = lib->o->baselines ? 1 : INV_PUBLISHED_METHODS; m <= INV_PUBLISHED_METHODS; m++) {
        bool chosen = m == INV_PUBLISHED_METHODS; /* the column of --against comes last */
        if (chosen ? !lib->o->against : !shown(problem, m) || m == lib->against_method) continue;
        int32_t n = 0;
        for (int32_t i = 0; i < lib->count; i++) {
            const inv_library_item *x = &lib->item[i];
            if (!x->instance || x->instance->problem != problem) continue;
            ours[n] = x->outcome.gap;
            other[n++] = chosen ? x->other : published_gap(x, m);
        }
        int32_t rows = t->rows;
        INV_TRY(comparison_row(t, chosen ? lib->o->against : inv_published_method[m], ours, other, n, err));
        none = chosen && t->rows == rows;
    }
    inv_table_note(
        t,
        "Gaps within 0.005 are ties. p: Wilcoxon's signed-rank test, two-sided (exact up to 50 pairs).%s%s%s",
        none ? " " : "", /* all three or none */
        none ? lib->o->against : "", none ? " has no instance in common with this run." : "");
done:
    free(ours);
    return status;
}

/* Ours and the simple constructions on the same instances, those with a reference. */
static void rule_table(const inv_library *lib, invit_report *report, invit_problem problem, const char *label)
{
    static const char *const names[] = {"method", "instances", "gap %", "time"};
    inv_table *t = inv_report_table(report, problem == INVIT_TSP ? "TSP beside simple constructions"
                                                                 : "CVRP beside simple constructions");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) inv_table_column(t, names[i], i > 0);
    inv_rule_result ours = {0};
    for (int32_t i = 0; i < lib->count; i++) {
        const inv_library_item *x = &lib->item[i];
        if (!x->instance || x->instance->problem != problem) continue;
        if (!isnan(x->outcome.seconds)) ours.seconds += x->outcome.seconds;
        if (isnan(x->outcome.gap)) continue;
        ours.gap += x->outcome.gap;
        ours.count++;
    }
    ours.gap = ours.count > 0 ? ours.gap / ours.count : NAN;
    for (int i = -1; i < INV_RULES; i++) {
        const inv_rule_result *r = i < 0 ? &ours : &lib->rule[problem][i];
        if (i >= 0 && r->count == 0 && r->failed == 0) continue;
        inv_table_row(t);
        inv_table_text(t, "%s", i < 0 ? label : inv_rule_name(i));
        inv_table_number(t, r->count, 0);
        inv_table_number(t, r->gap, 2);
        inv_table_seconds(t, r->seconds);
    }
}

/* What failed, or what was skipped because it is not supported. */
static void failure_table(const inv_library *lib, invit_report *report, bool skipped)
{
    inv_table *t = inv_report_table(report, skipped ? "Skipped: not supported" : "Failed");
    inv_table_column(t, "file", false);
    inv_table_column(t, "why", false);
    for (int32_t i = 0; i < lib->count; i++) {
        if (!lib->item[i].outcome.error[0] || lib->item[i].skipped != skipped) continue;
        inv_table_row(t);
        inv_table_text(t, "%s", lib->item[i].path);
        inv_table_text(t, "%s", lib->item[i].outcome.error);
    }
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static invit_status choose_comparison(inv_library *lib, invit_error *err)
{
    lib->against_method = -1;
    if (!lib->o->against) return INVIT_OK;
    for (int m = 1; m < INV_PUBLISHED_METHODS; m++)
        if (strcasecmp(lib->o->against, inv_published_method[m]) == 0) lib->against_method = m;
    if (lib->against_method >= 0) return INVIT_OK;
    return inv_journal_read(lib->o->against, &lib->against, err);
}

/* A model for TSP and a folder of CVRPs: say so once instead of for every file. */
static invit_status check_models(const inv_library *lib, invit_error *err)
{
    const inv_library_item *without = NULL;
    for (int32_t i = 0; i < lib->count; i++) {
        if (can_run(lib, &lib->item[i])) return INVIT_OK;
        if (lib->item[i].instance) without = &lib->item[i];
    }
    if (!without) return INVIT_OK;
    bool tsp = without->instance->problem == INVIT_TSP;
    return inv_fail(err, INVIT_ERR_ARGUMENT, "no model for %s, which %s is, among those given",
                    inv_problem_title(tsp ? INVIT_TSP : INVIT_CVRP), without->path);
}

static invit_status open_journals(inv_library *lib, invit_error *err)
{
    char key[512];
    bool first = inv_comm_rank(lib->comm) == 0;
    INV_CHECK(inv_eval_key(lib->o, "library", key, sizeof key, err));
    if (first) INV_CHECK(choose_comparison(lib, err));
    return inv_journal_open(first ? lib->o->results : NULL, key, lib->o->resume, &lib->journal, err);
}

/* The simple constructions on what was read. */
static invit_status run_rules(inv_library *lib, invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_task *task = malloc(((size_t)lib->count + 1) * sizeof *task);
    if (!task) return inv_no_memory(err, (size_t)lib->count * sizeof *task);
    for (int p = 0; p < 2; p++) {
        int32_t count = 0;
        for (int32_t i = 0; i < lib->count; i++) {
            const inv_library_item *x = &lib->item[i];
            if (!x->instance || (int)x->instance->problem != p) continue;
            task[count++] = (inv_task){x->instance, inv_library_set(x), x->key, x->reference};
        }
        INV_TRY(inv_rules_run(lib->o, lib->comm, task, count, lib->rule[p], err));
    }
done:
    free(task);
    return status;
}

static invit_status library_report(inv_library *lib, invit_report **out, int32_t *failures, invit_error *err)
{
    char label[96];
    bool has[2] = {false, false}, skipped = false;
    INV_CHECK(inv_report_create(out, err));
    for (int32_t i = 0; i < lib->count; i++) {
        inv_library_item *x = &lib->item[i];
        if (x->instance) {
            take_outcome(lib, x);
            has[x->instance->problem] = true;
        }
        *failures += x->outcome.error[0] != 0 && !x->skipped;
        skipped = skipped || x->skipped;
    }
    for (int p = 0; p < 2; p++) {
        if (!has[p]) continue;
        inv_eval_label(lib->o, p, label, sizeof label);
        instance_table(lib, *out, p, label);
        bucket_table(lib, *out, p, label);
        if (lib->o->rules) rule_table(lib, *out, p, label);
        if (lib->o->against || lib->o->baselines) INV_CHECK(comparison_table(lib, *out, p, err));
    }
    if (*failures) failure_table(lib, *out, false);
    if (skipped) failure_table(lib, *out, true);
    return INVIT_OK;
}

invit_status invit_eval_files(const invit_eval_options *o, const char *const *paths, int32_t count,
                              invit_report **out, int32_t *failures, invit_error *err)
{
    inv_library lib = {.o = o};
    invit_status status, ran;
    int32_t finished = 0;
    *failures = 0;
    *out = NULL;
    for (int p = 0; p < 2; p++)
        if (o->model[p] && (int)invit_model_problem(o->model[p]) != p)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "%s is a model for the other problem",
                            invit_model_path(o->model[p]));
    INV_CHECK(inv_comm_create(&lib.comm, err));
    status = inv_library_open(&lib, paths, count, err);
    if (status == INVIT_OK) status = check_models(&lib, err);
    if (status == INVIT_OK) status = open_journals(&lib, err);
    INV_TRY(inv_comm_agree(lib.comm, status, err));
    if (inv_peers_wanted(o)) {
        status = inv_peers_report(&lib, out, failures, err);
        if (status == INVIT_ERR_CANCELLED && *out) inv_report_partial(*out, err);
        goto done;
    }
    ran = run_items(&lib, err);
    if (ran == INVIT_ERR_CANCELLED)
        ran = keep_finished(&lib, &finished, err);
    else
        INV_TRY(ran);
    if (o->rules && ran == INVIT_OK) INV_TRY(run_rules(&lib, err));
    if (inv_comm_rank(lib.comm) == 0 && (ran == INVIT_OK || finished > 0))
        INV_TRY(library_report(&lib, out, failures, err));
    if (ran != INVIT_OK && *out) inv_report_partial(*out, err);
    status = ran;
done:
    inv_library_close(&lib);
    inv_journal_close(lib.journal);
    inv_journal_close(lib.against);
    inv_comm_destroy(lib.comm);
    if (status != INVIT_OK && status != INVIT_ERR_CANCELLED) {
        invit_report_destroy(*out);
        *out = NULL;
    }
    return status;
}
