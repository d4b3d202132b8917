#include "lab/train/run/evaluation.h"

#include "lab/train/data/length.h"
#include "lab/train/method/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct inv_evaluator {
    const inv_train_task *task;
    inv_group group;
    inv_policy *policy[INV_EVALUATED];
};

/* All copies of an instance are rolled out together. */
static int32_t walks_at_once(const inv_train_task *task)
{
    int32_t copies = (int32_t)task->o->augment;
    return task->o->method == INVIT_REINFORCE && copies > INV_GROUP ? copies : INV_GROUP;
}

invit_status inv_evaluator_create(const inv_train_task *task, const inv_prepared *judged, inv_evaluator **out,
                                  invit_error *err)
{
    invit_status status = INVIT_OK;
    const inv_prepared *prepared[INV_EVALUATED] = {task->roll, task->baseline, judged};
    *out = NULL;
    inv_evaluator *e = calloc(1, sizeof *e);
    if (!e) return inv_no_memory(err, sizeof *e);
    e->task = task;
    INV_TRY(inv_group_init(&e->group, walks_at_once(task), &task->config, err));
    for (int i = 0; i < INV_EVALUATED; i++)
        if (prepared[i]) INV_TRY(inv_policy_create(prepared[i], e->group.room, false, &e->policy[i], err));
    *out = e;
    e = NULL;
done:
    inv_evaluator_destroy(e);
    return status;
}

void inv_evaluator_destroy(inv_evaluator *e)
{
    if (!e) return;
    inv_group_destroy(&e->group);
    for (int i = 0; i < INV_EVALUATED; i++) inv_policy_destroy(e->policy[i]);
    free(e);
}

invit_status inv_evaluation_create(int32_t count, inv_evaluation **out, invit_error *err)
{
    inv_evaluation *e = calloc(1, sizeof *e);
    size_t n = count > 0 ? (size_t)count : 1;
    *out = NULL;
    if (!e) return inv_no_memory(err, sizeof *e);
    e->count = count;
    e->instance = calloc(n, sizeof *e->instance);
    e->single = calloc(n, sizeof *e->single);
    e->best = calloc(n, sizeof *e->best);
    if (!e->instance || !e->single || !e->best) {
        inv_evaluation_destroy(e);
        return inv_no_memory(err, n * 3 * sizeof *e->best);
    }
    *out = e;
    return INVIT_OK;
}

void inv_evaluation_destroy(inv_evaluation *e)
{
    if (!e) return;
    for (int32_t i = 0; e->instance && i < e->count; i++) invit_instance_destroy(e->instance[i]);
    free(e->instance);
    free(e->single);
    free(e->best);
    free(e);
}

/* Walks 0.. for the copies of instances from..to-1. */
static invit_status start_copies(inv_evaluator *v, const inv_evaluation *e, int32_t from, int32_t to,
                                 int32_t *count, invit_error *err)
{
    inv_group *g = &v->group;
    *count = 0;
    for (int32_t i = from; i < to; i++) {
        const invit_instance *p = e->instance[i];
        inv_rng rng;
        inv_rng_init(&rng, e->seed, (uint64_t)i);
        INV_CHECK(inv_index_create(p, &g->index[i - from], err));
        for (int32_t c = 0; c < e->copies; c++, ++*count) {
            inv_frame f;
            INV_CHECK(inv_group_bind(g, *count, p, g->index[i - from], err));
            inv_frame_for_copy(p, c, &rng, &f);
            int32_t start = p->problem == INVIT_TSP ? (int32_t)inv_rng_below(&rng, (uint32_t)p->n) : 0;
            inv_walk_start(g->walk[*count], start, &f);
        }
    }
    return INVIT_OK;
}

/* Instances from..to-1, all their copies at once. */
static invit_status evaluate(inv_evaluator *v, inv_evaluation *e, int32_t from, int32_t to, invit_error *err)
{
    const inv_train_task *task = v->task;
    int32_t count;
    int64_t decisions = 0;
    invit_status status = INVIT_OK;
    INV_TRY(start_copies(v, e, from, to, &count, err));
    /* copies that differ in rotation only are all the same to a model with canonical frames */
    bool alike = task->config.canonical_frame && task->config.problem == INVIT_CVRP && e->copies > 1;
    inv_rng choice;
    inv_rng_init(&choice, e->seed, UINT64_MAX - (uint64_t)from);
    inv_sampling sampling = {&choice, task->o->min_p};
    inv_roll_options o = {.policy = v->policy[e->of],
                          .walk = v->group.walk,
                          .count = count,
                          .sampling = alike ? &sampling : NULL};
    INV_TRY(inv_roll(&v->group.roller, &o, &decisions, err));
    for (int32_t i = from, at = 0; i < to; i++) {
        e->best[i] = INFINITY;
        for (int32_t c = 0; c < e->copies; c++, at++) {
            int32_t entries;
            const int32_t *order = inv_walk_order(v->group.walk[at], &entries);
            double length = inv_order_length(e->instance[i], order, entries);
            if (c == 0) e->single[i] = length;
            e->best[i] = fmin(e->best[i], length);
        }
    }
done:
    inv_group_clear(&v->group);
    return status;
}

static void evaluate_item(void *context, int member, int item)
{
    inv_evaluation *e = context;
    inv_trainer *t = e->t;
    inv_worker *w = &t->worker[member];
    if (w->status != INVIT_OK || item % inv_comm_size(t->comm) != inv_comm_rank(t->comm)) return;
    if (e->of == INV_OF_JUDGED && inv_train_cancelled(t)) return; /* validation, which can be made again */
    int32_t from = item * e->at_once, to = from + e->at_once < e->count ? from + e->at_once : e->count;
    w->status = evaluate(w->evaluator, e, from, to, &w->error);
}

invit_status inv_evaluation_run(inv_trainer *t, inv_evaluation *e, inv_evaluated of, int32_t copies,
                                uint64_t seed, invit_error *err)
{
    e->t = t;
    e->of = of;
    e->copies = copies;
    e->seed = seed;
    e->at_once = INV_GROUP / copies > 0 ? INV_GROUP / copies : 1;
    memset(e->single, 0, (size_t)e->count * sizeof *e->single);
    memset(e->best, 0, (size_t)e->count * sizeof *e->best);
    INV_CHECK(inv_trainer_run(t, (e->count + e->at_once - 1) / e->at_once, evaluate_item, e, err));
    inv_comm_sum_doubles(t->comm, e->single, (size_t)e->count);
    inv_comm_sum_doubles(t->comm, e->best, (size_t)e->count);
    return INVIT_OK;
}
