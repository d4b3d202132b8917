/* invit eval ablation: the paper's variants, trained from nothing at equal compute. */
#include "invit_lab.h"
#include "base/json_memory.h"
#include "base/names.h"
#include "base/lines.h"
#include "lab/eval/eval.h"

#include "policy/model.h"
#include "lab/eval/baselines.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a variant changes; the rest is the trainer's default. The order is that of inv_published_variants. */
typedef struct variant {
    const char *views;
    int heads, copies, size; /* copies: augmented copies of each training instance */
    bool invariant;
} variant;

static const variant variants[INVIT_EVAL_VARIANTS] = {
    {"15,115", 8, 8, 100, true},      /* 2v-global: all that is left of 100 nodes */
    {"15,35", 8, 8, 100, false},      /* 2v-noinv  */
    {"15,35", 4, 8, 100, true},       /* 2v-heads4 */
    {"15,35", 8, 4, 100, true},       /* 2v-aug4   */
    {"15,35", 8, 1, 100, true},       /* 2v-noaug  */
    {"15,35,50", 8, 1, 100, true},    /* 3v-noaug  */
    {"15,35", 8, 8, 50, true},        /* 2v-50     */
    {"15,35,50", 8, 8, 50, true},     /* 3v-50     */
    {"15", 8, 8, 100, true},          /* 1v        */
    {"15,35,50,75", 8, 8, 100, true}, /* 4v        */
    {"15,35", 8, 8, 100, true},       /* 2v        */
    {"15,35,50", 8, 8, 100, true},    /* 3v        */
};
_Static_assert((int)INVIT_EVAL_VARIANTS == (int)INV_VARIANTS, "one row for each published variant");

/* The four columns of the table, as indices into inv_size_classes. */
static const int columns[4] = {1, 3, 5, 6};
/* A view over all remaining nodes costs n^2 per decision: beyond this it is not measured. */
enum { GLOBAL = 0, GLOBAL_UP_TO = 1000 };

const char *invit_eval_variant_name(int i)
{
    return i >= 0 && i < INVIT_EVAL_VARIANTS ? inv_published_variants[i].name : NULL;
}

invit_ablation_options invit_ablation_defaults(void)
{
    invit_ablation_options o = {.problem = {true, true},
                                .minutes = 10,
                                .method = INVIT_IMITATE,
                                .runs = "ablation",
                                .eval = invit_eval_defaults()};
    for (int i = 0; i < INVIT_EVAL_VARIANTS; i++) o.variant[i] = true;
    for (int k = 0; k < INVIT_EVAL_SETS; k++) o.eval.set[k] = false;
    for (int c = 0; c < 4; c++) o.eval.set[columns[c]] = true;
    return o;
}

static invit_status train_options(const invit_ablation_options *o, int v, invit_problem problem,
                                  const char *run, invit_train_options *t, invit_error *err)
{
    const variant *x = &variants[v];
    invit_train_defaults(problem, o->method, t);
    t->minutes = o->minutes;
    t->seed = (int64_t)inv_eval_solve(&o->eval).seed;
    t->threads = o->eval.threads;
    t->validate_small = t->validate_large =
        0; /* all the time goes into training, and the last weights count */
    t->heads = x->heads;
    t->invariant = x->invariant;
    t->canonical_frame = false; /* the paper's variants */
    if (o->method == INVIT_IMITATE)
        t->walks = x->copies;
    else
        t->augment = x->copies;
    snprintf(t->views, sizeof t->views, "%s", x->views);
    snprintf(t->data, sizeof t->data, "uniform:%d", x->size);
    snprintf(t->command, sizeof t->command, "invit eval ablation (%s)", inv_published_variants[v].name);
    if ((size_t)snprintf(t->run, sizeof t->run, "%s", run) >= sizeof t->run)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "%s: name too long", run);
    return INVIT_OK;
}

/* The states a finished run learned from, as its log says last; 0 when it does not. */
static int64_t logged_states(const char *run)
{
    char path[1100], *line = NULL;
    size_t room = 0;
    int64_t states = 0;
    snprintf(path, sizeof path, "%s/log.jsonl", run);
    FILE *f = fopen(path, "r");
    while (f && inv_getline(&line, &room, f) >= 0) {
        json_t *o = inv_json_load(line, strlen(line), 0, NULL);
        json_t *count = json_object_get(o, "states");
        if (count) states = json_integer_value(count);
        json_decref(o);
    }
    free(line);
    if (f) fclose(f);
    return states;
}

/* Trains unless it is done already; a run that was stopped goes on. A finished one is known by its last
 * weights, and its checkpoint, which another version may have written, is not asked. */
static invit_status train_variant(const invit_ablation_options *o, int v, invit_problem problem,
                                  const char *run, invit_train_result *result, invit_error *err)
{
    invit_train_options t, saved;
    char config[1100], last[1100];
    INV_CHECK(train_options(o, v, problem, run, &t, err));
    snprintf(config, sizeof config, "%s/config", run);
    snprintf(last, sizeof last, "%s/last.safetensors", run);
    bool begun = access(config, F_OK) == 0;
    if (begun) {
        INV_CHECK(invit_train_load(run, &saved, err));
        if (saved.minutes != t.minutes || saved.method != t.method || strcmp(saved.views, t.views) != 0)
            return inv_fail(
                err, INVIT_ERR_ARGUMENT,
                "%s holds a run of another kind (%g minutes, views %s); name another folder for the runs",
                run, saved.minutes, saved.views);
    }
    if (begun && access(last, F_OK) == 0) {
        *result = (invit_train_result){.finished = true, .states = logged_states(run)};
        return INVIT_OK;
    }
    INV_CHECK(invit_train(&t, begun, o->eval.control, result, err));
    if (!result->finished)
        return inv_fail(err, INVIT_ERR_CANCELLED, "stopped while training %s; run again to go on", run);
    return INVIT_OK;
}

static invit_status measure_variant(const invit_ablation_options *o, inv_comm *comm, int v,
                                    invit_problem problem, const char *run, double *mean, int32_t *failures,
                                    invit_error *err)
{
    char path[1100], results[1100];
    invit_eval_options e = o->eval;
    invit_model *model = NULL;
    double sets[INVIT_EVAL_SETS];
    int32_t failed;
    invit_status status;
    snprintf(path, sizeof path, "%s/best.safetensors", run);
    /* one file for each way of measuring, so that one table does not stand in the way of another */
    inv_solve_options how = inv_eval_solve(&e);
    snprintf(results, sizeof results, "%s/results-%dx%d-%gs.csv", run, how.rollouts, how.decode, how.seconds);
    INV_TRY(invit_model_load(path, &model, err));
    e.model[problem] = model;
    e.results = results;
    e.resume = true;
    bool global = v == GLOBAL;
    if (global)
        model->config.state_k[0] =
            GLOBAL_UP_TO + model->config.action_k; /* what saw all of 100 sees all of more */
    for (int k = 0; k < INVIT_EVAL_SETS; k++)
        e.set[k] = o->eval.set[k] && inv_size_classes[k].problem == problem &&
                   (!global || inv_size_classes[k].size <= GLOBAL_UP_TO);
    INV_TRY(inv_msvdrp_means(&e, comm, sets, &failed, err));
    *failures += failed;
    for (int c = 0; c < 4; c++)
        if (inv_size_classes[columns[c]].problem == problem) mean[c] = sets[columns[c]];
done:
    invit_model_destroy(model);
    return status;
}

static bool has_column(const invit_ablation_options *o, invit_problem problem)
{
    for (int c = 0; c < 4; c++)
        if (o->eval.set[columns[c]] && inv_size_classes[columns[c]].problem == problem) return true;
    return false;
}

static invit_status check_options(const invit_ablation_options *o, invit_error *err)
{
    if (!(o->minutes > 0)) return inv_fail(err, INVIT_ERR_ARGUMENT, "the training time must be positive");
    for (int k = 0; k < INVIT_EVAL_SETS; k++) {
        bool column = false;
        for (int c = 0; c < 4; c++) column = column || columns[c] == k;
        if (o->eval.set[k] && !column)
            return inv_fail(err, INVIT_ERR_ARGUMENT,
                            "%s is not in this table; expected tsp-1000, tsp-10000, cvrp-500 or cvrp-5000",
                            inv_size_classes[k].name);
    }
    for (int p = 0; p < 2; p++)
        if (o->problem[p] && has_column(o, p)) return INVIT_OK;
    return inv_fail(err, INVIT_ERR_ARGUMENT, "none of the sets is of the problems asked for");
}

/* Trains and measures a variant on each problem asked for. */
static invit_status run_variant(const invit_ablation_options *o, inv_comm *comm, int v, double *mean,
                                int64_t *states, int32_t *failures, invit_error *err)
{
    for (int p = 0; p < 2; p++) {
        char run[900];
        invit_train_result result = {0};
        if (!o->problem[p] || !has_column(o, p)) continue;
        if ((size_t)snprintf(run, sizeof run, "%s/%s-%s", o->runs, inv_problem_name((invit_problem)p),
                             inv_published_variants[v].name) >= sizeof run)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "%s: name too long", o->runs);
        INV_CHECK(train_variant(o, v, p, run, &result, err));
        INV_CHECK(measure_variant(o, comm, v, p, run, mean, failures, err));
        *states += result.states;
    }
    return INVIT_OK;
}

static void add_row(const invit_ablation_options *o, inv_table *t, int v, const double *mean, int64_t states)
{
    inv_table_row(t);
    inv_table_text(t, "%s", inv_published_variants[v].title);
    for (int c = 0; c < 4; c++) {
        inv_table_number(t, mean[c], 2);
        if (o->eval.baselines) inv_table_number(t, inv_published_variants[v].gap[c], 2);
    }
    inv_table_number(t, (double)states, 0);
}

/* A row for each variant. When the caller cancels, those that are finished stay, and one that was measured on
 * its first problem. */
static invit_status add_rows(const invit_ablation_options *o, inv_comm *comm, inv_table *t, int32_t *failures,
                             invit_error *err)
{
    int finished = 0, asked = 0;
    for (int v = 0; v < INVIT_EVAL_VARIANTS; v++) asked += o->variant[v];
    for (int v = 0; v < INVIT_EVAL_VARIANTS; v++) {
        double mean[4] = {NAN, NAN, NAN, NAN};
        int64_t states = 0;
        if (!o->variant[v]) continue;
        invit_status status = run_variant(o, comm, v, mean, &states, failures, err);
        if (status == INVIT_OK || (status == INVIT_ERR_CANCELLED && states > 0))
            add_row(o, t, v, mean, states);
        if (status == INVIT_ERR_CANCELLED)
            return inv_fail(err, status, "stopped after %d of %d variants; run again to go on", finished,
                            asked);
        INV_CHECK(status);
        finished++;
    }
    return INVIT_OK;
}

invit_status invit_eval_ablation(const invit_ablation_options *o, invit_report **out, int32_t *failures,
                                 invit_error *err)
{
    invit_report *report = NULL;
    inv_comm *comm = NULL; /* held for the whole table: the trainer and the evaluation join it */
    invit_status status;
    *failures = 0;
    *out = NULL;
    INV_CHECK(check_options(o, err));
    if (mkdir(o->runs, 0777) != 0 && errno != EEXIST)
        return inv_fail(err, INVIT_ERR_IO, "%s: %s", o->runs, strerror(errno));
    INV_CHECK(inv_comm_create(&comm, err));
    INV_TRY(inv_report_create(&report, err));
    inv_table *t = inv_report_table(report, "Ablation: mean gap in percent over the distributions");
    inv_table_column(t, "variant", false);
    for (int c = 0; c < 4; c++) {
        char name[32];
        inv_table_column(t, inv_size_classes[columns[c]].title, true);
        snprintf(name, sizeof name, "published %s", inv_size_classes[columns[c]].name);
        if (o->eval.baselines) inv_table_column(t, name, true);
    }
    inv_table_column(t, "states", true);
    status = add_rows(o, comm, t, failures, err);
    if (status == INVIT_ERR_CANCELLED)
        inv_report_partial(report, err);
    else
        INV_TRY(status);
    const char *source = o->eval.baselines ? inv_published_source : "";
    const char *space = o->eval.baselines ? " " : "";
    inv_table_note(
        t,
        "Each variant trained from nothing for %g minutes per problem (%s); states: decisions learned from, "
        "both problems "
        "together. 1V: action view of 15 alone. The global view is not measured above %d nodes.%s%s",
        o->minutes,
        o->method == INVIT_IMITATE ? "imitation; augmentations: walks of each labelled solution"
                                   : "REINFORCE",
        GLOBAL_UP_TO, space, source);
    if (inv_comm_rank(comm) == 0 && (status == INVIT_OK || (t && t->rows > 0))) {
        *out = report;
        report = NULL;
    }
done:
    invit_report_destroy(report);
    inv_comm_destroy(comm);
    return status;
}
