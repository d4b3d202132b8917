#include "lab/train/exam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

invit_status inv_exam_create(int32_t count, inv_exam **out, invit_error *err)
{
    inv_exam *e = calloc(1, sizeof *e);
    size_t n = count > 0 ? (size_t)count : 1;
    *out = NULL;
    if (!e) return inv_no_memory(err, sizeof *e);
    e->count = count;
    e->instance = calloc(n, sizeof *e->instance);
    e->single = calloc(n, sizeof *e->single);
    e->best = calloc(n, sizeof *e->best);
    if (!e->instance || !e->single || !e->best) {
        inv_exam_destroy(e);
        return inv_no_memory(err, n * 3 * sizeof *e->best);
    }
    *out = e;
    return INVIT_OK;
}

void inv_exam_destroy(inv_exam *e)
{
    if (!e) return;
    for (int32_t i = 0; e->instance && i < e->count; i++) invit_instance_destroy(e->instance[i]);
    free(e->instance);
    free(e->single);
    free(e->best);
    free(e);
}

/* Instances from..to-1, all their copies at once. */
static invit_status examine(inv_trainer *t, inv_worker *w, inv_exam *e, int32_t from, int32_t to,
                            invit_error *err)
{
    inv_policy *policy = e->by == INV_BY_MODEL ? w->roll : e->by == INV_BY_FROZEN ? w->frozen : w->judge;
    int32_t count = 0;
    int64_t decisions = 0;
    invit_status status = INVIT_OK;
    for (int32_t i = from; i < to; i++) {
        const invit_instance *p = e->instance[i];
        inv_rng rng;
        inv_rng_init(&rng, e->seed, (uint64_t)i);
        INV_TRY(inv_index_create(p, &w->index[i - from], err));
        for (int32_t c = 0; c < e->copies; c++, count++) {
            inv_frame f;
            INV_TRY(inv_worker_bind(t, w, count, p, w->index[i - from], err));
            inv_frame_for_copy(p, c, &rng, &f);
            int32_t start = p->problem == INVIT_TSP ? (int32_t)inv_rng_below(&rng, (uint32_t)p->n) : 0;
            inv_walk_start(w->walk[count], start, &f);
        }
    }
    /* copies that differ in rotation only are all the same to a model that turns its views */
    bool alike = t->config.turned && t->config.problem == INVIT_CVRP && e->copies > 1;
    inv_rng choice;
    inv_rng_init(&choice, e->seed, UINT64_MAX - (uint64_t)from);
    inv_sampling sampling = {&choice, t->o->doubt};
    INV_TRY(inv_roll(&w->roller, policy, &t->config, w->walk, count, NULL, alike ? &sampling : NULL, NULL,
                     &decisions, err));
    for (int32_t i = from, at = 0; i < to; i++) {
        e->best[i] = INFINITY;
        for (int32_t c = 0; c < e->copies; c++, at++) {
            int32_t entries;
            const int32_t *order = inv_walk_order(w->walk[at], &entries);
            double length = inv_order_length(e->instance[i], order, entries);
            if (c == 0) e->single[i] = length;
            e->best[i] = fmin(e->best[i], length);
        }
    }
done:
    for (int32_t i = from; i < to; i++) {
        inv_index_destroy(w->index[i - from]);
        w->index[i - from] = NULL;
    }
    return status;
}

static void examine_item(void *context, int member, int item)
{
    inv_trainer *t = context;
    inv_exam *e = t->exam;
    inv_worker *w = &t->worker[member];
    if (w->status != INVIT_OK || item % inv_comm_size(t->comm) != inv_comm_rank(t->comm)) return;
    if (e->by == INV_BY_JUDGED && inv_train_cancelled(t)) return; /* validation, which can be made again */
    int32_t from = item * e->at_once, to = from + e->at_once < e->count ? from + e->at_once : e->count;
    w->status = examine(t, w, e, from, to, &w->error);
}

invit_status inv_exam_take(inv_trainer *t, inv_exam *e, inv_examinee by, int32_t copies, uint64_t seed,
                           invit_error *err)
{
    e->by = by;
    e->copies = copies;
    e->seed = seed;
    e->at_once =
        t->worker[0].walks / copies < INV_GROUP / copies ? t->worker[0].walks / copies : INV_GROUP / copies;
    if (e->at_once < 1) e->at_once = 1;
    memset(e->single, 0, (size_t)e->count * sizeof *e->single);
    memset(e->best, 0, (size_t)e->count * sizeof *e->best);
    t->exam = e;
    invit_status status = inv_trainer_run(t, (e->count + e->at_once - 1) / e->at_once, examine_item, err);
    t->exam = NULL;
    INV_CHECK(status);
    inv_comm_sum_doubles(t->comm, e->single, (size_t)e->count);
    inv_comm_sum_doubles(t->comm, e->best, (size_t)e->count);
    return INVIT_OK;
}
