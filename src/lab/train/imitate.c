/* Imitation: labelled states of good tours, cross-entropy over the candidates. */
#include "lab/train/trainer.h"

#include <math.h>
#include <string.h>

static int32_t pool_level(const inv_trainer *t)
{
    int32_t level = (int32_t)(t->o->pool / t->o->lanes), batch = (int32_t)(t->o->batch / t->o->lanes);
    return level > batch ? level : batch;
}

bool inv_imitate_runs_low(const inv_trainer *t, const inv_lane *lane)
{
    return lane->pool.count < pool_level(t);
}

bool inv_imitate_teaches(const inv_trainer *t, const inv_lane *lane)
{
    return t->teaching && lane->pool.count < pool_level(t) + pool_level(t) / 2;
}

/* Draws instances for one group of lessons: enough to roll in together, few enough to keep the pool mixed. */
static invit_status draw_group(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t *count,
                               invit_error *err)
{
    int32_t nodes = 0;
    *count = 0;
    while (*count < INV_GROUP && nodes < 2000) {
        int32_t i = *count;
        if (t->labels) {
            int64_t pick = (int64_t)(inv_rng_double(&lane->rng) * (double)inv_labelfile_count(t->labels));
            w->begin[i] = (int32_t)pick;
            INV_CHECK(inv_labelfile_get(t->labels, pick, &w->instance[i], &w->lesson, err));
        } else {
            INV_CHECK(inv_mix_draw(&t->mix, &lane->rng, &w->instance[i], err));
        }
        ++*count;
        INV_CHECK(inv_index_create(w->instance[i], &w->index[i], err));
        INV_CHECK(inv_worker_bind(t, w, i, w->instance[i], w->index[i], err));
        nodes += w->instance[i]->n;
    }
    return INVIT_OK;
}

static void free_group(inv_worker *w, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        inv_index_destroy(w->index[i]);
        invit_instance_destroy(w->instance[i]);
        w->index[i] = NULL;
        w->instance[i] = NULL;
    }
}

/* limit[i] > 0: the policy takes that many steps before the teacher does. The walks that roll in come first.
 */
static invit_status roll_in(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t count, invit_error *err)
{
    for (int32_t i = 0; i < count; i++) {
        const invit_instance *p = w->instance[i];
        bool own = inv_rng_double(&lane->rng) < t->o->rollin;
        int32_t most = p->n - 3 > 1 ? p->n - 3 : 1;
        w->limit[i] = own ? 1 + (int32_t)inv_rng_below(&lane->rng, (uint32_t)most) : 0;
        inv_worker_start(w, i, &lane->rng);
    }
    int64_t decisions = 0;
    INV_CHECK(
        inv_roll(&w->roller, w->roll, &t->config, w->walk, count, w->limit, NULL, NULL, &decisions, err));
    lane->tally.decisions += (double)decisions;
    return INVIT_OK;
}

static invit_status learn_walk(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t i, invit_error *err)
{
    const invit_instance *p = w->instance[i];
    bool own = w->limit[i] > 0 && !inv_walk_done(w->walk[i]);
    inv_lesson *l = &w->lesson;
    if (own) {
        INV_CHECK(inv_lesson_complete(l, w->teacher, p, w->walk[i], t->o->effort, &lane->rng, err));
    } else if (t->labels) {
        invit_instance *again = NULL;
        INV_CHECK(inv_labelfile_get(t->labels, w->begin[i], &again, l, err));
        invit_instance_destroy(again);
    } else {
        INV_CHECK(inv_lesson_teach(l, w->teacher, p, t->o->effort, &lane->rng, err));
    }
    double share = own ? 1 : t->o->share; /* the policy's own steps were dear: waste no state behind them */
    inv_replay_tally tally = {0};
    for (int64_t k = 0; k < t->o->walks; k++) {
        if (!own && p->problem == INVIT_TSP) inv_lesson_turn(l, &lane->rng);
        inv_frame_for_copy(p, 1 + (int)inv_rng_below(&lane->rng, 2), &lane->rng, &w->frame[i]);
        INV_CHECK(
            inv_replay(w->walk[i], &t->config, l, &w->frame[i], share, &lane->rng, &lane->pool, &tally, err));
    }
    lane->tally.seen += (double)tally.seen;
    lane->tally.skipped += (double)tally.skipped;
    return INVIT_OK;
}

static invit_status add_lessons(inv_trainer *t, inv_worker *w, inv_lane *lane, invit_error *err)
{
    int32_t count = 0;
    invit_status status;
    bool priced = t->o->regret > 0 && inv_rng_double(&lane->rng) < t->o->regret;
    INV_TRY(draw_group(t, w, lane, &count, err));
    if (t->mentor) {
        INV_TRY(inv_ask_mentor(t, w, lane, count, err));
    } else if (priced) {
        INV_TRY(inv_price_tours(t, w, lane, count, err));
    } else {
        INV_TRY(roll_in(t, w, lane, count, err));
        for (int32_t i = 0; i < count; i++) INV_TRY(learn_walk(t, w, lane, i, err));
    }
done:
    free_group(w, count);
    return status;
}

/* Cross-entropy of one state and its derivative. */
static void learn_label(const float *logp, int32_t candidates, int32_t label, float scale, float *d,
                        inv_tally *tally)
{
    int32_t best = 0;
    for (int32_t j = 0; j < candidates; j++) {
        d[j] = logp[j] > -INFINITY || isnan(logp[j]) ? scale * expf(logp[j]) : 0;
        if (logp[j] > logp[best]) best = j;
    }
    d[label] -= scale;
    tally->states++;
    tally->loss -= (double)logp[label];
    tally->right += best == label;
}

/* The regret to expect among the priced candidates, sum of p_j price_j, and its derivative p_j (price_j -
 * regret). */
static void learn_prices(const float *logp, int32_t candidates, const float *price, float scale, float *d,
                         inv_tally *tally)
{
    float mass = 0, regret = 0;
    int32_t best = -1;
    for (int32_t j = 0; j < candidates; j++) {
        d[j] = 0;
        if (isnan(price[j])) continue;
        d[j] = expf(logp[j]);
        mass += d[j];
        regret += d[j] * price[j];
        if (best < 0 || logp[j] > logp[best]) best = j;
    }
    regret /= mass;
    for (int32_t j = 0; j < candidates; j++)
        if (!isnan(price[j])) d[j] *= scale / mass * (price[j] - regret);
    tally->states++;
    tally->priced++;
    tally->regret += (double)price[best];
}

/* Cross-entropy with the chances a mentor gives, and its derivative. */
static void learn_chances(const float *logp, int32_t candidates, const float *chance, float scale, float *d,
                          inv_tally *tally)
{
    int32_t best = 0, right = 0;
    for (int32_t j = 0; j < candidates; j++) {
        d[j] = logp[j] > -INFINITY || isnan(logp[j]) ? scale * (expf(logp[j]) - chance[j]) : 0;
        if (chance[j] > 0) tally->loss -= (double)(chance[j] * logp[j]);
        if (logp[j] > logp[best]) best = j;
        if (chance[j] > chance[right]) right = j;
    }
    tally->states++;
    tally->right += best == right;
}

/* The mean over the whole batch, for a chunk whose logp is there. */
static void differentiate(const inv_trainer *t, inv_worker *w, const inv_pool *pool, int32_t from,
                          int32_t count, inv_tally *tally)
{
    int32_t candidates = inv_candidates(&t->config);
    float scale = 1.0f / (float)t->o->batch;
    for (int32_t i = 0; i < count; i++) {
        const float *logp = w->logp + (size_t)i * (size_t)candidates,
                    *advice = inv_pool_advice(pool, from + i);
        float *d = w->dlogit + (size_t)i * (size_t)candidates;
        if (advice && t->mentor)
            learn_chances(logp, candidates, advice, scale, d, tally);
        else if (advice)
            learn_prices(logp, candidates, advice, scale, d, tally);
        else
            learn_label(logp, candidates, pool->label[from + i], scale, d, tally);
    }
}

invit_status inv_imitate_lane(inv_trainer *t, inv_worker *w, inv_lane *lane, invit_error *err)
{
    bool more = inv_imitate_teaches(t, lane);
    for (; more; more = inv_imitate_runs_low(t, lane)) INV_CHECK(add_lessons(t, w, lane, err));

    int32_t batch = (int32_t)(t->o->batch / t->o->lanes),
            from = inv_pool_take(&lane->pool, batch, &lane->rng);
    memset(lane->grad, 0, t->model->params * sizeof *lane->grad);
    for (int32_t at = 0; at < batch; at += INV_CHUNK) {
        int32_t count = batch - at < INV_CHUNK ? batch - at : INV_CHUNK;
        const inv_state *states = lane->pool.state + from + at;
        INV_CHECK(inv_policy_forward(w->train, states, count, w->logp, err));
        differentiate(t, w, &lane->pool, from + at, count, &lane->tally);
        inv_policy_backward(w->train, states, count, w->dlogit, lane->grad);
    }
    inv_policy_flush_gradient(w->train, t->model, lane->grad);
    return INVIT_OK;
}
