#include "lab/train/trainer.h"

#include "invit_lab.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

invit_status inv_worker_bind(inv_trainer *t, inv_worker *w, int32_t i, const invit_instance *p,
                             const inv_index *x, invit_error *err)
{
    if (w->walk[i]) return inv_walk_rebind(w->walk[i], p, x, err);
    return inv_walk_create(p, x, t->config.action_k, inv_largest_view(&t->config), &w->walk[i], err);
}

void inv_worker_start(inv_worker *w, int32_t i, inv_rng *rng)
{
    const invit_instance *p = w->instance[i];
    inv_frame_for_copy(p, 1 + (int)inv_rng_below(rng, 2), rng, &w->frame[i]);
    int32_t start = p->problem == INVIT_TSP ? (int32_t)inv_rng_below(rng, (uint32_t)p->n) : 0;
    inv_walk_start(w->walk[i], start, &w->frame[i]);
}

static int32_t largest_instance(const inv_trainer *t)
{
    int32_t n = t->mix.largest;
    if (t->labels && inv_labelfile_largest(t->labels) > n) n = inv_labelfile_largest(t->labels);
    return n > 1001 ? n : 1001; /* validation goes up to 1000 nodes */
}

static invit_status create_orders(inv_trainer *t, inv_worker *w, invit_error *err)
{
    size_t n = 2 * (size_t)t->mix.largest + 2; /* CVRP: at most as many returns as customers */
    w->order = calloc((size_t)w->walks, sizeof *w->order);
    w->orders = calloc((size_t)w->walks, sizeof *w->orders);
    w->doubtful = calloc((size_t)w->walks, sizeof *w->doubtful);
    w->credit = calloc((size_t)w->walks, sizeof *w->credit);
    if (!w->order || !w->orders || !w->doubtful || !w->credit)
        return inv_no_memory(err, (size_t)w->walks * sizeof *w->order);
    for (int32_t i = 0; i < w->walks; i++) {
        w->order[i] = malloc(n * sizeof **w->order);
        w->doubtful[i] = malloc(n * sizeof **w->doubtful);
        w->credit[i] = malloc(n * sizeof **w->credit);
        if (!w->order[i] || !w->doubtful[i] || !w->credit[i])
            return inv_no_memory(err, n * sizeof **w->credit);
    }
    return INVIT_OK;
}

static invit_status create_worker(inv_trainer *t, inv_worker *w, invit_error *err)
{
    bool reinforce = t->o->method == INVIT_REINFORCE;
    int32_t walks = INV_GROUP, share = (int32_t)(t->o->batch / t->o->lanes),
            candidates = inv_candidates(&t->config);
    if (reinforce && share > walks) walks = share;
    if (reinforce && t->o->augment > walks) walks = (int32_t)t->o->augment;
    size_t n = (size_t)walks;
    w->walks = walks;
    w->walk = calloc(n, sizeof *w->walk);
    w->instance = calloc(n, sizeof *w->instance);
    w->index = calloc(n, sizeof *w->index);
    w->frame = calloc(n, sizeof *w->frame);
    w->limit = calloc(n, sizeof *w->limit);
    w->begin = calloc(n, sizeof *w->begin);
    w->length = calloc(n, sizeof *w->length);
    w->advantage = calloc(n, sizeof *w->advantage);
    w->logp = calloc((size_t)INV_CHUNK * (size_t)candidates, sizeof *w->logp);
    w->dlogit = calloc((size_t)INV_CHUNK * (size_t)candidates, sizeof *w->dlogit);
    w->advice = calloc((size_t)candidates, sizeof *w->advice);
    if (!w->walk || !w->instance || !w->index || !w->frame || !w->limit || !w->begin || !w->length ||
        !w->advantage || !w->logp || !w->dlogit || !w->advice)
        return inv_no_memory(err, n * 64);
    INV_CHECK(inv_teacher_create(&w->teacher, err));
    INV_CHECK(inv_lesson_init(&w->lesson, largest_instance(t), err));
    INV_CHECK(inv_roller_init(&w->roller, walks, &t->config, err));
    INV_CHECK(inv_policy_create(t->prepared, INV_CHUNK, true, &w->train, err));
    INV_CHECK(inv_policy_create(t->prepared_roll, walks, false, &w->roll, err));
    INV_CHECK(inv_policy_create(t->prepared_judge, walks, false, &w->judge, err));
    if (t->mentor) INV_CHECK(inv_policy_create(t->prepared_mentor, walks, false, &w->mentor, err));
    if (!reinforce) return INVIT_OK;
    INV_CHECK(inv_policy_create(t->prepared_frozen, walks, false, &w->frozen, err));
    return create_orders(t, w, err);
}

static void destroy_worker(inv_worker *w)
{
    for (int32_t i = 0; i < w->walks; i++) {
        if (w->walk) inv_walk_destroy(w->walk[i]);
        if (w->order) free(w->order[i]);
        if (w->doubtful) free(w->doubtful[i]);
        if (w->credit) free(w->credit[i]);
    }
    inv_teacher_destroy(w->teacher);
    inv_lesson_destroy(&w->lesson);
    inv_roller_destroy(&w->roller);
    inv_policy_destroy(w->train);
    inv_policy_destroy(w->roll);
    inv_policy_destroy(w->judge);
    inv_policy_destroy(w->frozen);
    inv_policy_destroy(w->mentor);
    free(w->walk);
    free(w->instance);
    free(w->index);
    free(w->frame);
    free(w->limit);
    free(w->begin);
    free(w->length);
    free(w->advantage);
    free(w->logp);
    free(w->dlogit);
    free(w->advice);
    free(w->order);
    free(w->orders);
    free(w->doubtful);
    free(w->credit);
}

static invit_status create_lanes(inv_trainer *t, invit_error *err)
{
    int size = inv_comm_size(t->comm);
    if (t->o->lanes % size != 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "lanes: %lld cannot be shared by %d ranks",
                        (long long)t->o->lanes, size);
    t->lanes = (int32_t)t->o->lanes / size;
    t->first_lane = t->lanes * inv_comm_rank(t->comm);
    t->lane = calloc((size_t)t->lanes, sizeof *t->lane);
    t->queue = calloc((size_t)t->lanes, sizeof *t->queue);
    if (!t->lane || !t->queue) return inv_no_memory(err, (size_t)t->lanes * sizeof *t->lane);
    for (int32_t i = 0; i < t->lanes; i++) {
        inv_lane *lane = &t->lane[i];
        inv_rng_init(&lane->rng, (uint64_t)t->o->seed, (uint64_t)(t->first_lane + i + 1));
        lane->grad = malloc(t->model->params * sizeof *lane->grad);
        if (!lane->grad) return inv_no_memory(err, t->model->params * sizeof *lane->grad);
        bool imitate = t->o->method == INVIT_IMITATE;
        int32_t room = imitate ? (int32_t)(t->o->pool / t->o->lanes) + 4096 : 1024;
        INV_CHECK(inv_pool_init(&lane->pool, room, &t->config, largest_instance(t),
                                imitate && (t->o->regret > 0 || t->mentor), err));
    }
    return INVIT_OK;
}

static invit_status init_weights(inv_trainer *t, invit_error *err)
{
    if (!t->o->init[0]) {
        inv_model_randomise(t->model, (uint64_t)t->o->seed);
        return INVIT_OK;
    }
    invit_model *m;
    INV_CHECK(invit_model_load(t->o->init, &m, err));
    invit_status status = INVIT_OK;
    const inv_config *a = &m->config, *b = &t->config;
    if (a->turned != b->turned)
        status = inv_fail(
            err, INVIT_ERR_INPUT, "%s %s; go on with --turned %s, or learn from it with --mentor", t->o->init,
            a->turned ? "turns its views" : "does not turn its views", a->turned ? "yes" : "no");
    else if (!inv_model_grow(m, t->model, (uint64_t)t->o->seed))
        status = inv_fail(
            err, INVIT_ERR_INPUT,
            "%s holds another model: %s, width %d, %d state view(s), k %d, layers %d, %d and %d; this run "
            "has "
            "%s, width %d, %d state view(s), k %d, layers %d, %d and %d (action, state, decoder)",
            t->o->init, a->problem == INVIT_TSP ? "tsp" : "cvrp", a->dim, a->state_views, a->action_k,
            a->action_layers, a->state_layers, a->decoder_layers, b->problem == INVIT_TSP ? "tsp" : "cvrp",
            b->dim, b->state_views, b->action_k, b->action_layers, b->state_layers, b->decoder_layers);
    invit_model_destroy(m);
    return status;
}

/* It must choose among the same candidates and see no more than the learner's walks show. */
static invit_status load_mentor(inv_trainer *t, invit_error *err)
{
    INV_CHECK(invit_model_load(t->o->mentor, &t->mentor, err));
    const inv_config *a = &t->mentor->config, *b = &t->config;
    if (a->problem != b->problem || a->action_k != b->action_k || inv_largest_view(a) > inv_largest_view(b))
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s cannot be the mentor: a %s model with views of %d to %d nodes; this run has %s, "
                        "%d to %d",
                        t->o->mentor, a->problem == INVIT_TSP ? "tsp" : "cvrp", a->action_k,
                        inv_largest_view(a), b->problem == INVIT_TSP ? "tsp" : "cvrp", b->action_k,
                        inv_largest_view(b));
    return inv_prepared_create(t->mentor, INV_EXACT, &t->prepared_mentor, err);
}

static invit_status create_models(inv_trainer *t, invit_error *err)
{
    INV_CHECK(inv_model_create(&t->config, &t->model, err));
    INV_CHECK(init_weights(t, err));
    if (t->o->mentor[0]) INV_CHECK(load_mentor(t, err));
    INV_CHECK(inv_model_copy(t->model, &t->judged, err));
    if (t->o->ema > 0) INV_CHECK(inv_model_copy(t->model, &t->average, err));
    inv_purpose walk = t->o->exact ? INV_EXACT : INV_BRIEF;
    INV_CHECK(inv_prepared_create(t->model, walk | INV_TRAINING, &t->prepared, err));
    INV_CHECK(inv_prepared_create(t->model, walk, &t->prepared_roll, err));
    INV_CHECK(inv_prepared_create(t->judged, walk, &t->prepared_judge, err));
    if (t->o->method == INVIT_REINFORCE) {
        INV_CHECK(inv_model_copy(t->model, &t->frozen, err));
        INV_CHECK(inv_prepared_create(t->frozen, walk, &t->prepared_frozen, err));
    }
    size_t n = t->model->params;
    t->moment1 = calloc(n, sizeof *t->moment1);
    t->moment2 = calloc(n, sizeof *t->moment2);
    t->slice_norm = calloc(n / INV_SLICE + 1, sizeof *t->slice_norm);
    if (!t->moment1 || !t->moment2 || !t->slice_norm) return inv_no_memory(err, 2 * n * sizeof *t->moment1);
    return INVIT_OK;
}

static invit_status fill_trainer(inv_trainer *t, invit_error *err)
{
    INV_CHECK(inv_options_check(t->o, err));
    INV_CHECK(inv_options_model(t->o, &t->config, err));
    INV_CHECK(inv_config_check(&t->config, err));
    INV_CHECK(inv_mix_parse(&t->mix, t->o, err));
    if (t->o->labels[0]) INV_CHECK(inv_labelfile_open(t->o->labels, t->config.problem, &t->labels, err));
    INV_CHECK(create_models(t, err));
    INV_CHECK(create_lanes(t, err));
    INV_CHECK(inv_team_create(inv_threads((int)t->o->threads), &t->team, err));
    t->worker = calloc((size_t)inv_team_size(t->team), sizeof *t->worker);
    if (!t->worker) return inv_no_memory(err, sizeof *t->worker);
    for (int i = 0; i < inv_team_size(t->team); i++) INV_CHECK(create_worker(t, &t->worker[i], err));
    t->s = (inv_run_state){
        .best = INFINITY, .small_gap = NAN, .large_gap = NAN, .small_best = NAN, .large_best = NAN};
    return INVIT_OK;
}

invit_status inv_trainer_create(const invit_train_options *o, const invit_control *control, inv_comm *comm,
                                inv_trainer **out, invit_error *err)
{
    *out = NULL;
    inv_trainer *t = calloc(1, sizeof *t);
    if (!t) return inv_no_memory(err, sizeof *t);
    t->o = o;
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
    for (int i = 0; t->worker && i < inv_team_size(t->team); i++) destroy_worker(&t->worker[i]);
    free(t->worker);
    inv_team_destroy(t->team);
    for (int32_t i = 0; t->lane && i < t->lanes; i++) {
        free(t->lane[i].grad);
        free(t->lane[i].chance);
        inv_pool_destroy(&t->lane[i].pool);
    }
    free(t->lane);
    free(t->queue);
    free(t->slice_norm);
    free(t->moment1);
    free(t->moment2);
    free(t->validation);
    inv_prepared_destroy(t->prepared);
    inv_prepared_destroy(t->prepared_roll);
    inv_prepared_destroy(t->prepared_frozen);
    inv_prepared_destroy(t->prepared_judge);
    inv_prepared_destroy(t->prepared_mentor);
    invit_model_destroy(t->model);
    invit_model_destroy(t->average);
    invit_model_destroy(t->frozen);
    invit_model_destroy(t->judged);
    invit_model_destroy(t->mentor);
    inv_labelfile_close(t->labels);
    free(t);
}

bool inv_train_cancelled(const inv_trainer *t)
{
    return inv_comm_size(t->comm) == 1 && t->control && t->control->cancel && *t->control->cancel;
}

invit_status inv_trainer_run(inv_trainer *t, int items, void (*fn)(void *, int, int), invit_error *err)
{
    for (int i = 0; i < inv_team_size(t->team); i++) t->worker[i].status = INVIT_OK;
    inv_team_run(t->team, items, fn, t);
    invit_status status = INVIT_OK;
    for (int i = 0; i < inv_team_size(t->team) && status == INVIT_OK; i++) {
        status = t->worker[i].status;
        if (status != INVIT_OK && err) *err = t->worker[i].error;
    }
    return inv_comm_agree(t->comm, status, err);
}
