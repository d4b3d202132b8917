/* REINFORCE as published: sampled rollouts of the model against greedy rollouts of a frozen one on the same
 * augmented instances, loss = mean of (length - baseline length) * log p(tour). The sampled tours are kept as
 * orders and replayed for the states to learn from, which may serve for more than one update. */
#include "lab/train/exam.h"
#include "lab/train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fresh instances, each with `augment` copies in their own frames and from their own start nodes. */
static invit_status draw_copies(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t groups,
                                invit_error *err)
{
    int32_t copies = (int32_t)t->o->augment;
    for (int32_t g = 0; g < groups; g++) {
        INV_CHECK(inv_mix_draw(&t->mix, &lane->rng, &w->instance[g], err));
        INV_CHECK(inv_index_create(w->instance[g], &w->index[g], err));
        for (int32_t c = 0; c < copies; c++) {
            int32_t i = g * copies + c;
            const invit_instance *p = w->instance[g];
            INV_CHECK(inv_worker_bind(t, w, i, p, w->index[g], err));
            inv_frame_for_copy(p, c, &lane->rng, &w->frame[i]);
            w->begin[i] = p->problem == INVIT_TSP ? (int32_t)inv_rng_below(&lane->rng, (uint32_t)p->n) : 0;
        }
    }
    return INVIT_OK;
}

typedef struct doubter {
    const inv_trainer *t;
    inv_worker *w;
} doubter;

/* Marks the decisions that were open: of the others there is nothing to learn. */
static invit_status mark_doubt(void *context, int32_t i, const inv_state *s, const float *logp,
                               invit_error *err)
{
    (void)s;
    (void)err;
    const doubter *d = context;
    int32_t at;
    (void)inv_walk_order(d->w->walk[i], &at);
    d->w->doubtful[i][at] = inv_open(logp, inv_candidates(&d->t->config));
    return INVIT_OK;
}

/* Sampled with a generator, else greedy. Unlikely choices are not taken: a greedy rollout never would, and
 * what they cost would be charged to the decisions before them. */
static invit_status roll_copies(inv_trainer *t, inv_worker *w, inv_policy *policy, int32_t count,
                                inv_rng *sample, double *decisions, invit_error *err)
{
    doubter d = {t, w};
    inv_watcher watcher = {mark_doubt, &d};
    inv_sampling sampling = {sample, t->o->doubt};
    for (int32_t i = 0; i < count; i++) {
        inv_walk_start(w->walk[i], w->begin[i], &w->frame[i]);
        if (sample)
            memset(w->doubtful[i], 0, (2 * (size_t)w->instance[i / t->o->augment]->n + 2) * sizeof(bool));
    }
    int64_t moves = 0;
    INV_CHECK(inv_roll(&w->roller, policy, &t->config, w->walk, count, NULL, sample ? &sampling : NULL,
                       sample ? &watcher : NULL, &moves, err));
    *decisions += (double)moves;
    return INVIT_OK;
}

static double walk_length(const inv_walk *walk, const invit_instance *p)
{
    int32_t count;
    const int32_t *order = inv_walk_order(walk, &count);
    return inv_order_length(p, order, count);
}

/* Keeps the sampled orders and lengths, since the walks are used again. */
static void keep_samples(const inv_trainer *t, inv_worker *w, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t *order = inv_walk_order(w->walk[i], &w->orders[i]);
        memcpy(w->order[i], order, (size_t)w->orders[i] * sizeof *order);
        w->length[i] = inv_order_length(w->instance[i / t->o->augment], order, w->orders[i]);
    }
}

static invit_status find_advantages(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t count,
                                    invit_error *err)
{
    int32_t copies = (int32_t)t->o->augment;
    bool pomo = strcmp(t->o->baseline, "pomo") == 0;
    if (!pomo) INV_CHECK(roll_copies(t, w, w->frozen, count, NULL, &lane->tally.decisions, err));
    for (int32_t i = 0; i < count; i++) {
        double baseline = 0;
        if (pomo)
            for (int32_t c = 0; c < copies; c++) baseline += w->length[i / copies * copies + c] / copies;
        else
            baseline = walk_length(w->walk[i], w->instance[i / copies]);
        w->advantage[i] = (w->length[i] - baseline) / (t->o->relative ? baseline : 1);
        lane->tally.rollouts++;
        lane->tally.length += w->length[i];
        lane->tally.baseline += baseline;
    }
    return INVIT_OK;
}

/* The credit of each doubtful decision of tour i: the surprises from it on, that is, what the stretch to the
 * next doubtful decision and the teacher's completion from there cost more than its completion from here.
 * They add up to the tour's whole gap; later ones count less and less, by lambda each (generalised advantage
 * estimation, Schulman et al. 2016, with the teacher as the critic).
 *
 * As long as the tour follows the completion, there is no surprise and nothing to ask the teacher. Where
 * the tour itself goes on more cheaply than a completion thought possible, its price is corrected. */
static invit_status credit_decisions(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t i,
                                     invit_error *err)
{
    const invit_instance *p = w->instance[i / t->o->augment];
    const int32_t *order = w->order[i];
    int32_t begin = p->problem == INVIT_TSP ? 1 : 0;
    double *credit = w->credit[i], gone = 0, left = 0;
    inv_plan *plan = &w->lesson.plan;
    plan->made = false;
    inv_walk_start(w->walk[i], w->begin[i], &w->frame[i]);
    for (int32_t k = begin; k < w->orders[i]; k++) { /* first what is gone and left, in `credit` */
        int32_t last = inv_walk_last(w->walk[i]);
        if (w->doubtful[i][k] && !plan->made)
            INV_CHECK(inv_lesson_rest(&w->lesson, w->teacher, p, w->walk[i], t->o->effort,
                                      inv_rng_u64(&lane->rng), &left, err));
        credit[k] = gone + left;
        double step = inv_straight(p, last, order[k]);
        gone += step;
        left -= step;
        if (plan->made) inv_plan_follow(plan, p, last, order[k]);
        inv_walk_visit(w->walk[i], order[k]);
    }
    double whole = gone + inv_straight(p, inv_walk_last(w->walk[i]), begin ? order[0] : 0), later = 0;
    for (int32_t k = w->orders[i]; k-- > begin;) {
        if (!w->doubtful[i][k]) continue;
        double before = fmin(credit[k], whole); /* the least known for tours that begin like this */
        later = credit[k] = whole - before + t->o->lambda * later;
        whole = before;
    }
    return INVIT_OK;
}

enum { STAGES = 10 };

/* Takes away what is usual at that stage of a tour, over the copies of the instance. */
static void centre_credits(const inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t from)
{
    double sum[STAGES] = {0}, count[STAGES] = {0}, length = 0;
    for (int32_t i = from; i < from + t->o->augment; i++) {
        length += w->length[i] / (double)t->o->augment;
        for (int32_t k = 0; k < w->orders[i]; k++)
            if (w->doubtful[i][k]) {
                sum[k * STAGES / w->orders[i]] += w->credit[i][k];
                count[k * STAGES / w->orders[i]]++;
            }
    }
    for (int32_t i = from; i < from + t->o->augment; i++)
        for (int32_t k = 0; k < w->orders[i]; k++)
            if (w->doubtful[i][k]) {
                int32_t stage = k * STAGES / w->orders[i];
                double x = (w->credit[i][k] - sum[stage] / count[stage]) / (t->o->relative ? length : 1);
                w->credit[i][k] = x;
                lane->tally.credit += x * x;
                lane->tally.credits++;
            }
}

static invit_status give_credit(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t count,
                                invit_error *err)
{
    for (int32_t i = 0; i < count; i++) {
        lane->tally.spread += w->advantage[i] * w->advantage[i];
        if (t->o->lambda < 1)
            INV_CHECK(credit_decisions(t, w, lane, i, err));
        else /* every decision of a tour answers for the whole of it, as published */
            for (int32_t k = 0; k < w->orders[i]; k++) w->credit[i][k] = w->advantage[i];
    }
    for (int32_t i = 0; t->o->lambda < 1 && i < count; i += (int32_t)t->o->augment)
        centre_credits(t, w, lane, i);
    return INVIT_OK;
}

static invit_status keep_weight(inv_lane *lane, float weight, invit_error *err)
{
    int32_t entry = lane->pool.count - 1;
    if (entry >= lane->chances) {
        size_t room = (size_t)lane->pool.room;
        inv_chance *more = realloc(lane->chance, room * sizeof *more);
        if (!more) return inv_no_memory(err, room * sizeof *more);
        lane->chance = more;
        lane->chances = lane->pool.room;
    }
    lane->chance[entry].weight = weight;
    return INVIT_OK;
}

/* Walks a sampled tour again and puts the states to learn from into the lane's pool. */
static invit_status replay_sample(inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t i, invit_error *err)
{
    inv_walk *walk = w->walk[i];
    /* a share of a tour's states, weighted up: the same gradient on average, for less than the price */
    double part = 1 / ((double)t->o->batch * t->o->share);
    inv_walk_start(walk, w->begin[i], &w->frame[i]);
    /* a forced move is never doubtful: its probability is one */
    for (int32_t k = t->config.problem == INVIT_TSP ? 1 : 0; k < w->orders[i]; k++) {
        inv_state s;
        bool learn = w->doubtful[i][k] && inv_rng_double(&lane->rng) < t->o->share;
        if (learn) {
            inv_walk_view(walk, &s);
            INV_CHECK(
                inv_pool_add(&lane->pool, &s, inv_candidate_of(&t->config, &s, w->order[i][k]), NULL, err));
            INV_CHECK(keep_weight(lane, (float)(w->credit[i][k] * part), err));
        }
        inv_walk_visit(walk, w->order[i][k]);
    }
    return INVIT_OK;
}

/* The weight of a decision that was sampled with other weights: it counts by how much likelier it has become,
 * and no more once it has moved far enough the way it should (proximal policy optimisation, Schulman et al.
 * 2017). A weight is a cost: what is dear should become less likely. */
static float weigh_again(const inv_chance *c, float logp, inv_tally *tally)
{
    enum { PERCENT = 20 };
    float ratio = expf(logp - c->logp), most = 1 + PERCENT / 100.0f, least = 1 - PERCENT / 100.0f;
    bool far = c->weight < 0 ? ratio > most : ratio < least;
    tally->again++;
    tally->clipped += far;
    return far ? 0 : c->weight * ratio;
}

/* d loss / d logit = weight (1[j is the action] - p_j), where weight = advantage / batch and p is over the
 * candidates that could be sampled. The others must have no part in it: where all that is sampled is dear
 * they would rise, and nothing would ever show what they cost. */
static void differentiate(const inv_trainer *t, inv_worker *w, inv_lane *lane, int32_t from, int32_t count,
                          bool again)
{
    int32_t candidates = inv_candidates(&t->config);
    for (int32_t i = 0; i < count; i++) {
        float *logp = w->logp + (size_t)i * (size_t)candidates,
              *d = w->dlogit + (size_t)i * (size_t)candidates;
        int32_t label = lane->pool.label[from + i];
        inv_narrow(logp, candidates, t->o->doubt, label);
        inv_chance *c = &lane->chance[from + i];
        float weight = again ? weigh_again(c, logp[label], &lane->tally) : c->weight;
        for (int32_t j = 0; j < candidates; j++)
            d[j] = logp[j] > -INFINITY || isnan(logp[j]) ? -weight * expf(logp[j]) : 0;
        d[label] += weight;
        if (again) continue;
        c->logp = logp[label];
        lane->tally.states++;
        lane->tally.loss += (double)weight * (double)logp[label];
    }
}

invit_status inv_reinforce_learn(inv_trainer *t, inv_worker *w, inv_lane *lane, bool again, invit_error *err)
{
    memset(lane->grad, 0, t->model->params * sizeof *lane->grad);
    for (int32_t at = 0; at < lane->pool.count; at += INV_CHUNK) {
        int32_t left = lane->pool.count - at, count = left < INV_CHUNK ? left : INV_CHUNK;
        const inv_state *states = lane->pool.state + at;
        INV_CHECK(inv_policy_forward(w->train, states, count, w->logp, err));
        differentiate(t, w, lane, at, count, again);
        inv_policy_backward(w->train, states, count, w->dlogit, lane->grad);
    }
    inv_policy_flush_gradient(w->train, t->model, lane->grad);
    return INVIT_OK;
}

invit_status inv_reinforce_lane(inv_trainer *t, inv_worker *w, inv_lane *lane, invit_error *err)
{
    int32_t count = (int32_t)(t->o->batch / t->o->lanes), groups = count / (int32_t)t->o->augment;
    invit_status status;
    lane->pool.count = 0;
    INV_TRY(draw_copies(t, w, lane, groups, err));
    INV_TRY(roll_copies(t, w, w->roll, count, &lane->rng, &lane->tally.decisions, err));
    keep_samples(t, w, count);
    INV_TRY(find_advantages(t, w, lane, count, err));
    INV_TRY(give_credit(t, w, lane, count, err));
    for (int32_t i = 0; i < count; i++) INV_TRY(replay_sample(t, w, lane, i, err));
    INV_TRY(inv_reinforce_learn(t, w, lane, false, err));
done:
    for (int32_t g = 0; g < groups; g++) {
        inv_index_destroy(w->index[g]);
        invit_instance_destroy(w->instance[g]);
        w->index[g] = NULL;
        w->instance[g] = NULL;
    }
    return status;
}

/* Greedy best-of-augmentations of both on fresh instances; the seed of the epoch makes them the same on every
 * rank. */
invit_status inv_reinforce_epoch(inv_trainer *t, inv_comparison *mean, invit_error *err)
{
    t->s.epoch++;
    *mean = (inv_comparison){NAN, NAN};
    if (strcmp(t->o->baseline, "greedy") != 0) return INVIT_OK;
    inv_rng rng;
    inv_rng_init(&rng, (uint64_t)t->o->seed, UINT64_MAX - (uint64_t)t->s.epoch);
    int32_t count = (int32_t)t->o->compare;
    inv_exam *e = NULL;
    invit_status status;
    double *side[] = {&mean->model, &mean->baseline};
    INV_TRY(inv_exam_create(count, &e, err));
    for (int32_t i = 0; i < count; i++) INV_TRY(inv_mix_draw(&t->mix, &rng, &e->instance[i], err));
    for (int i = 0; i < 2; i++) {
        INV_TRY(inv_exam_take(t, e, i == 0 ? INV_BY_MODEL : INV_BY_FROZEN, (int32_t)t->o->augment,
                              inv_rng_u64(&rng), err));
        *side[i] = 0;
        for (int32_t k = 0; k < count; k++) *side[i] += e->best[k] / count;
    }
    if (mean->model < mean->baseline - t->o->margin) {
        memcpy(t->frozen->param, t->model->param, t->model->params * sizeof *t->model->param);
        inv_prepared_refresh(t->prepared_frozen, t->frozen);
        t->s.swaps++;
    }
done:
    inv_exam_destroy(e);
    return status;
}
