#include "lab/train/run/trainer.h"

#include "base/cancel.h"
#include "base/names.h"
#include "base/parallel.h"
#include "lab/train/run/evaluation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Room of a lane's buffer, which grows: what a step takes, and beside the replay buffer what a demonstration adds. */
enum { STEP_STATES = 1024, DEMONSTRATION_STATES = 4096 };

static int32_t largest_instance(const inv_trainer *t)
{
    int32_t n = t->task.mix.largest;
    if (t->labels && inv_label_file_largest(t->labels) > n) n = inv_label_file_largest(t->labels);
    return n;
}

static invit_status create_lanes(inv_trainer *t, invit_error *err)
{
    int size = inv_comm_size(t->comm);
    if (t->task.o->lanes % size != 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "--lanes %lld cannot be shared by %d ranks",
                        (long long)t->task.o->lanes, size);
    t->lanes = (int32_t)t->task.o->lanes / size;
    t->first_lane = t->lanes * inv_comm_rank(t->comm);
    t->lane = calloc((size_t)t->lanes, sizeof *t->lane);
    t->queue = calloc((size_t)t->lanes, sizeof *t->queue);
    if (!t->lane || !t->queue) return inv_no_memory(err, (size_t)t->lanes * sizeof *t->lane);
    for (int32_t i = 0; i < t->lanes; i++) {
        inv_lane *lane = &t->lane[i];
        inv_rng_init(&lane->rng, t->task.o->seed, (uint64_t)(t->first_lane + i + 1));
        lane->grad = malloc(t->model->params * sizeof *lane->grad);
        if (!lane->grad) return inv_no_memory(err, t->model->params * sizeof *lane->grad);
        bool imitate = t->task.o->method == INVIT_IMITATE;
        int32_t room = STEP_STATES;
        if (imitate) room = (int32_t)(t->task.o->replay_buffer / t->task.o->lanes) + DEMONSTRATION_STATES;
        INV_CHECK(inv_buffer_init(&lane->buffer, room, &t->task.config, t->task.largest,
                                  imitate && (t->task.o->q_regret > 0 || t->teacher), err));
    }
    return INVIT_OK;
}

static invit_status init_weights(inv_trainer *t, invit_error *err)
{
    if (!t->task.o->init[0]) {
        inv_model_randomise(t->model, t->task.o->seed);
        return INVIT_OK;
    }
    invit_model *m;
    INV_CHECK(invit_model_load(t->task.o->init, &m, err));
    invit_status status = INVIT_OK;
    const inv_config *a = &m->config, *b = &t->task.config;
    const char *has = a->canonical_frame ? "has" : "has no";
    const char *value = a->canonical_frame ? "yes" : "no";
    if (a->canonical_frame != b->canonical_frame)
        status = inv_fail(
            err, INVIT_ERR_INPUT,
            "%s %s canonical frames; go on with --canonical-frame %s, or learn from it with --distill",
            t->task.o->init, has, value);
    else if (!inv_model_grow(m, t->model, t->task.o->seed))
        status = inv_fail(
            err, INVIT_ERR_INPUT,
            "%s holds another model: %s, width %d, %d state view(s), k %d, layers %d, %d and %d; this run "
            "has "
            "%s, width %d, %d state view(s), k %d, layers %d, %d and %d (action, state, decoder)",
            t->task.o->init, inv_problem_name((invit_problem)a->problem), a->dim, a->state_views, a->action_k,
            a->action_layers, a->state_layers, a->decoder_layers, inv_problem_name((invit_problem)b->problem),
            b->dim, b->state_views, b->action_k, b->action_layers, b->state_layers, b->decoder_layers);
    invit_model_destroy(m);
    return status;
}

/* It must choose among the same candidates and see no more than the learner's walks show. */
static invit_status load_teacher(inv_trainer *t, invit_error *err)
{
    const char *path = t->task.o->distill;
    INV_CHECK(invit_model_load(path, &t->teacher, err));
    const inv_config *a = &t->teacher->config, *b = &t->task.config;
    if (a->problem != b->problem || a->action_k != b->action_k || inv_largest_view(a) > inv_largest_view(b))
        return inv_fail(err, INVIT_ERR_INPUT,
                        "--distill %s: a %s model with views of %d to %d nodes; this run has %s, %d to %d",
                        path, inv_problem_name((invit_problem)a->problem), a->action_k, inv_largest_view(a),
                        inv_problem_name((invit_problem)b->problem), b->action_k, inv_largest_view(b));
    return inv_prepared_create(t->teacher, INV_EXACT, &t->prepared_teacher, err);
}

static invit_status create_models(inv_trainer *t, invit_error *err)
{
    const invit_train_options *o = t->task.o;
    INV_CHECK(inv_model_create(&t->task.config, &t->model, err));
    INV_CHECK(init_weights(t, err));
    if (o->distill[0]) INV_CHECK(load_teacher(t, err));
    INV_CHECK(inv_model_copy(t->model, &t->judged, err));
    if (o->ema > 0) INV_CHECK(inv_model_copy(t->model, &t->average, err));
    inv_purpose walk = o->exact ? INV_EXACT : INV_PURPOSE_BF16;
    INV_CHECK(inv_prepared_create(t->model, walk | INV_TRAINING, &t->train, err));
    INV_CHECK(inv_prepared_create(t->model, walk, &t->roll, err));
    INV_CHECK(inv_prepared_create(t->judged, walk, &t->prepared_judged, err));
    if (o->method == INVIT_REINFORCE) {
        INV_CHECK(inv_model_copy(t->model, &t->baseline, err));
        INV_CHECK(inv_prepared_create(t->baseline, walk, &t->prepared_baseline, err));
    }
    size_t n = t->model->params;
    t->moment1 = calloc(n, sizeof *t->moment1);
    t->moment2 = calloc(n, sizeof *t->moment2);
    t->slice_norm = calloc(n / INV_SLICE + 1, sizeof *t->slice_norm);
    if (!t->moment1 || !t->moment2 || !t->slice_norm) return inv_no_memory(err, 2 * n * sizeof *t->moment1);
    t->task.model = t->model;
    t->task.train = t->train;
    t->task.roll = t->roll;
    t->task.baseline = t->prepared_baseline;
    t->task.teacher = t->prepared_teacher;
    return INVIT_OK;
}

static invit_status create_worker(inv_trainer *t, inv_worker *w, invit_error *err)
{
    const inv_train_task *task = &t->task;
    if (task->o->method == INVIT_REINFORCE)
        INV_CHECK(inv_reinforce_create(task, &w->reinforce, err));
    else
        INV_CHECK(inv_imitation_create(task, &w->imitation, err));
    return inv_evaluator_create(task, t->prepared_judged, &w->evaluator, err);
}

static void destroy_worker(inv_worker *w)
{
    inv_reinforce_destroy(w->reinforce);
    inv_imitation_destroy(w->imitation);
    inv_evaluator_destroy(w->evaluator);
}

static invit_status fill_trainer(inv_trainer *t, invit_error *err)
{
    const invit_train_options *o = t->task.o;
    INV_CHECK(inv_options_check(o, err));
    INV_CHECK(inv_options_model(o, &t->task.config, err));
    INV_CHECK(inv_config_check(&t->task.config, err));
    INV_CHECK(inv_mix_parse(&t->task.mix, o, err));
    if (o->labels[0]) INV_CHECK(inv_label_file_open(o->labels, o->problem, &t->labels, err));
    t->task.labels = t->labels;
    t->task.largest = largest_instance(t);
    INV_CHECK(create_models(t, err));
    INV_CHECK(create_lanes(t, err));
    INV_CHECK(inv_thread_pool_create(inv_threads((int)o->threads), &t->pool, err));
    t->worker = calloc((size_t)inv_thread_pool_size(t->pool), sizeof *t->worker);
    if (!t->worker) return inv_no_memory(err, sizeof *t->worker);
    for (int i = 0; i < inv_thread_pool_size(t->pool); i++) INV_CHECK(create_worker(t, &t->worker[i], err));
    t->s = (inv_run_state){.validated = -1, /* the first validation is at the start */
                           .best = INFINITY,
                           .small_gap = NAN,
                           .large_gap = NAN,
                           .small_best = NAN,
                           .large_best = NAN,
                           .loss = NAN,
                           .accuracy = NAN};
    return INVIT_OK;
}

invit_status inv_trainer_create(const invit_train_options *o, const invit_control *control, inv_comm *comm,
                                inv_trainer **out, invit_error *err)
{
    *out = NULL;
    inv_trainer *t = calloc(1, sizeof *t);
    if (!t) return inv_no_memory(err, sizeof *t);
    t->task.o = o;
    t->control = control;
    t->comm = comm;
    invit_status status = fill_trainer(t, err);
    if (status != INVIT_OK)
        inv_trainer_destroy(t);
    else
        *out = t;
    return status;
}

void inv_trainer_destroy(inv_trainer *t)
{
    if (!t) return;
    for (int i = 0; t->worker && i < inv_thread_pool_size(t->pool); i++) destroy_worker(&t->worker[i]);
    free(t->worker);
    inv_thread_pool_destroy(t->pool);
    for (int32_t i = 0; t->lane && i < t->lanes; i++) {
        free(t->lane[i].grad);
        free(t->lane[i].weight);
        free(t->lane[i].sampled);
        inv_buffer_destroy(&t->lane[i].buffer);
    }
    free(t->lane);
    free(t->queue);
    free(t->slice_norm);
    free(t->moment1);
    free(t->moment2);
    free(t->expert_length);
    inv_prepared_destroy(t->train);
    inv_prepared_destroy(t->roll);
    inv_prepared_destroy(t->prepared_baseline);
    inv_prepared_destroy(t->prepared_judged);
    inv_prepared_destroy(t->prepared_teacher);
    invit_model_destroy(t->model);
    invit_model_destroy(t->average);
    invit_model_destroy(t->baseline);
    invit_model_destroy(t->judged);
    invit_model_destroy(t->teacher);
    inv_label_file_close(t->labels);
    free(t);
}

bool inv_train_cancelled(const inv_trainer *t)
{
    return inv_comm_size(t->comm) == 1 && inv_cancelled(t->control);
}

invit_status inv_trainer_run(inv_trainer *t, int items, void (*fn)(void *, int, int), void *context,
                             invit_error *err)
{
    for (int i = 0; i < inv_thread_pool_size(t->pool); i++) t->worker[i].status = INVIT_OK;
    inv_thread_pool_run(t->pool, items, fn, context);
    invit_status status = INVIT_OK;
    for (int i = 0; i < inv_thread_pool_size(t->pool) && status == INVIT_OK; i++) {
        status = t->worker[i].status;
        if (status != INVIT_OK && err) *err = t->worker[i].error;
    }
    return inv_comm_agree(t->comm, status, err);
}
