/* The run itself: solve, compare with the reference, write it down, go on. */
#include "base/names.h"
#include "base/hash.h"
#include "base/cancel.h"
#include "invit_lab.h"
#include "lab/eval/eval.h"

#include "base/clock.h"
#include "policy/model.h"
#include "problem/metric.h"
#include "lab/eval/eval_work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

inv_solve_options inv_eval_solve(const invit_eval_options *o)
{
    if (o->solve) return o->solve->o;
    inv_solve_options alone = inv_solve_defaults();
    alone.seconds = 0;
    return alone;
}

invit_status inv_eval_key(const invit_eval_options *o, const char *what, char *key, size_t size,
                          invit_error *err)
{
    static const char *const constructs[] = {"invit",   "nearest", "greedy",   "space-filling",
                                             "savings", "start",   "insertion"};
    static const char *const decodes[] = {"greedy", "sample", "beam", "auto"}, *const improves[] = {"search",
                                                                                                    "neural",
                                                                                                    "both"};
    const inv_solve_options how = inv_eval_solve(o), *s = &how;
    char models[64] = "";
    if (s->construct == INVIT_CONSTRUCT_INVIT || s->improve != INV_IMPROVE_SEARCH)
        for (int p = 0; p < 2; p++)
            if (o->model[p])
                snprintf(models + strlen(models), sizeof models - strlen(models), " %s-model=%016llx",
                         inv_problem_name((invit_problem)p),
                         (unsigned long long)inv_hash_bytes(INV_HASH_START, o->model[p]->param,
                                                            o->model[p]->params * sizeof(float)));
    int n =
        snprintf(key, size,
                 "%s construct=%s%s rollouts=%d decode=%s temperature=%g beam=%d seconds=%g iterations=%lld "
                 "improve=%s seed=%llu length=%s",
                 what, constructs[s->construct], models, s->rollouts, decodes[s->decode], s->temperature,
                 s->beam, s->seconds, (long long)s->iterations, improves[s->improve],
                 (unsigned long long)s->seed, o->paper_length ? "exact, rounded up" : "rule");
    if (n < 0 || (size_t)n >= size)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "the description of the run is too long");
    return INVIT_OK;
}

/* The file's name without its ending; of the best weights of a training run, RUN/best.safetensors, the run's. */
static const char *model_name(const char *path, int *length)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    *length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    bool generic =
        (*length == 4 && strncmp(name, "best", 4) == 0) || (*length == 4 && strncmp(name, "last", 4) == 0);
    if (!generic || !slash) return name;
    const char *folder = slash;
    while (folder > path && folder[-1] != '/') folder--;
    if (folder == slash || folder[0] == '.') return name;
    *length = (int)(slash - folder);
    return folder;
}

void inv_eval_label(const invit_eval_options *o, invit_problem problem, char *label, size_t size)
{
    static const char *const constructs[] = {
        "", "nearest neighbour", "greedy edges", "space-filling curve", "savings", "", "insertion"};
    const invit_model *m = o->model[problem];
    inv_solve_options how = inv_eval_solve(o);
    const char *name = constructs[how.construct];
    int n = (int)strlen(name);
    if (o->label) {
        name = o->label;
        n = (int)strlen(name);
    } else if (how.construct == INVIT_CONSTRUCT_INVIT) {
        name = model_name(m && m->path ? m->path : "model", &n);
    }
    static const char *const by[] = {"", " with reconstruction", " with search and reconstruction"};
    if (how.seconds > 0)
        snprintf(label, size, "%.*s + %gs%s", n, name, how.seconds, by[how.improve]);
    else if (how.seconds != 0 && how.iterations > 0)
        snprintf(label, size, "%.*s + %lld steps%s", n, name, (long long)how.iterations, by[how.improve]);
    else
        snprintf(label, size, "%.*s", n, name);
}

/* ---- solving ------------------------------------------------------------------------------------ */

typedef struct eval_progress {
    double start, sum; /* sum of the gaps */
    int32_t done, gaps, count;
} eval_progress;

static void report_progress(const invit_eval_options *o, eval_progress *e, const inv_outcome *x)
{
    const invit_control *c = o->control;
    char message[160];
    e->done++;
    if (!isnan(x->gap)) {
        e->sum += x->gap;
        e->gaps++;
    }
    if (!c || !c->progress) return;
    snprintf(message, sizeof message, "%s, mean gap %.2f %%", x->set, e->gaps ? e->sum / e->gaps : NAN);
    invit_progress p = {.stage = "evaluate",
                        .elapsed = inv_now() - e->start,
                        .fraction = (double)e->done / e->count,
                        .best = NAN,
                        .count = e->done,
                        .message = message};
    c->progress(c->user, &p);
}

static invit_status solve_task(const invit_eval_options *o, const inv_task *task, inv_outcome *r,
                               invit_error *err)
{
    const invit_instance *p = task->instance;
    *r = (inv_outcome){
        .nodes = p->n - (p->problem == INVIT_CVRP), .length = NAN, .reference = task->reference, .gap = NAN};
    snprintf(r->set, sizeof r->set, "%s", task->set);
    snprintf(r->name, sizeof r->name, "%s", task->name);
    invit_control quiet = {.cancel = inv_cancel_flag(o->control)};
    inv_solve_options s = inv_eval_solve(o);
    inv_solved result = {0};
    invit_solution *solution = NULL;
    invit_error why = {0};
    s.control = &quiet;
    s.threads = o->threads;
    double start = inv_now();
    invit_status status = inv_solve(p, o->model[p->problem], &s, &solution, &result, &why);
    r->seconds = inv_now() - start;
    invit_solution_destroy(solution);
    if (inv_cancelled(o->control)) return inv_fail(err, INVIT_ERR_CANCELLED, "stopped");
    if (status == INVIT_OK) {
        bool whole = inv_whole_lengths(p); /* lengths in whole numbers */
        r->length = o->paper_length && whole ? ceil(result.length_exact - 1e-9) : result.length;
        r->gap = inv_gap_percent(r->length, task->reference);
        r->decisions = result.decisions;
    } else {
        snprintf(r->error, sizeof r->error, "%.200s", why.message);
        for (char *c = r->error; *c; c++)
            if (*c == '\n' || *c == '\r') *c = ' '; /* a record is a line */
    }
    return INVIT_OK;
}

/* What the other ranks found goes into rank 0's journal. */
static invit_status gather(inv_comm *comm, inv_journal *j, const inv_outcome *mine, int32_t count,
                           invit_error *err)
{
    if (inv_comm_rank(comm) > 0) {
        inv_comm_send(comm, mine, (size_t)count * sizeof *mine);
        return INVIT_OK;
    }
    invit_status status = INVIT_OK;
    for (int from = 1; from < inv_comm_size(comm); from++) {
        size_t bytes = inv_comm_receive_size(comm, from);
        inv_outcome *theirs = malloc(bytes + 1);
        if (!theirs) return inv_no_memory(err, bytes);
        inv_comm_receive(comm, from, theirs, bytes);
        for (size_t i = 0; i < bytes / sizeof *theirs && status == INVIT_OK; i++)
            status = inv_journal_add(j, &theirs[i], err);
        free(theirs);
    }
    return status;
}

invit_status inv_eval_tasks(const invit_eval_options *o, inv_comm *comm, inv_journal *j, const inv_task *task,
                            int32_t count, invit_error *err)
{
    enum { ROUND = 16 }; /* instances a rank solves before it reports */
    invit_status status = INVIT_OK;
    inv_outcome mine[ROUND];
    int rank = inv_comm_rank(comm), size = inv_comm_size(comm);
    eval_progress progress = {.start = inv_now(), .count = (count + size - 1) / size};
    uint8_t *done = calloc((size_t)count + 1, 1); /* only rank 0 reads the journal's file */
    if (!done) return inv_no_memory(err, (size_t)count);
    for (int32_t i = 0; i < count; i++) {
        const inv_outcome *x = rank == 0 ? inv_journal_find(j, task[i].set, task[i].name) : NULL;
        done[i] = x != NULL;
        if (x) report_progress(o, &progress, x);
    }
    inv_comm_broadcast(comm, done, (size_t)count);
    for (int32_t at = 0; at < count; at += ROUND * size) {
        int32_t found = 0;
        for (int32_t i = at + rank; i < count && i < at + ROUND * size && status == INVIT_OK; i += size) {
            if (done[i]) continue;
            status = solve_task(o, &task[i], &mine[found], err);
            if (status != INVIT_OK) break;
            report_progress(o, &progress, &mine[found]);
            if (rank == 0) status = inv_journal_add(j, &mine[found], err);
            found++;
        }
        invit_status solved = inv_comm_agree(comm, status, err);
        if (solved != INVIT_ERR_CANCELLED) INV_TRY(solved); /* what is finished is kept */
        status = size > 1 ? gather(comm, j, mine, found, err) : INVIT_OK;
        INV_TRY(inv_comm_agree(comm, status, err));
        INV_TRY(solved);
    }
done:
    free(done);
    return status;
}
