/* The sampled tours are kept as orders and replayed for the states to learn from, which may serve for more than one
 * update. */
#include "lab/train/method/reinforce.h"

#include "lab/train/data/demonstration.h"
#include "lab/train/data/length.h"
#include "lab/train/method/group.h"
#include "lab/train/method/learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One sampled tour. */
typedef struct tour {
    int32_t start;  /* TSP: its first node                                  */
    int32_t *order; /* what a walk visits, as inv_walk_order                */
    int32_t count;
    bool *open;     /* [count] decisions with more than one choice: to learn from */
    double *credit; /* [count] their advantages                             */
    double length, advantage;
} tour;

struct inv_reinforce {
    const inv_train_task *task;
    inv_group group;
    inv_learner learner;
    inv_policy *roll, *baseline;
    inv_expert *expert;
    inv_demonstration demonstration;
    tour *tour; /* [group.room] */
};

static invit_status create_tours(inv_reinforce *m, invit_error *err)
{
    size_t room = (size_t)m->group.room,
           n = 2 * (size_t)m->task->mix.largest + 2; /* returns to the depot too */
    m->tour = calloc(room, sizeof *m->tour);
    if (!m->tour) return inv_no_memory(err, room * sizeof *m->tour);
    for (size_t i = 0; i < room; i++) {
        tour *t = &m->tour[i];
        t->order = malloc(n * sizeof *t->order);
        t->open = malloc(n * sizeof *t->open);
        t->credit = malloc(n * sizeof *t->credit);
        if (!t->order || !t->open || !t->credit) return inv_no_memory(err, n * sizeof *t->credit);
    }
    return INVIT_OK;
}

invit_status inv_reinforce_create(const inv_train_task *task, inv_reinforce **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    int32_t room = (int32_t)(task->o->batch / task->o->lanes);
    *out = NULL;
    inv_reinforce *m = calloc(1, sizeof *m);
    if (!m) return inv_no_memory(err, sizeof *m);
    m->task = task;
    INV_TRY(inv_group_init(&m->group, room, &task->config, err));
    INV_TRY(create_tours(m, err));
    INV_TRY(inv_learner_init(&m->learner, task, err));
    INV_TRY(inv_policy_create(task->roll, room, false, &m->roll, err));
    INV_TRY(inv_policy_create(task->baseline, room, false, &m->baseline, err));
    INV_TRY(inv_expert_create(&m->expert, err));
    INV_TRY(inv_demonstration_init(&m->demonstration, task->largest, err));
    *out = m;
    m = NULL;
done:
    inv_reinforce_destroy(m);
    return status;
}

void inv_reinforce_destroy(inv_reinforce *m)
{
    if (!m) return;
    for (int32_t i = 0; m->tour && i < m->group.room; i++) {
        free(m->tour[i].order);
        free(m->tour[i].open);
        free(m->tour[i].credit);
    }
    free(m->tour);
    inv_group_destroy(&m->group);
    inv_learner_destroy(&m->learner);
    inv_policy_destroy(m->roll);
    inv_policy_destroy(m->baseline);
    inv_expert_destroy(m->expert);
    inv_demonstration_destroy(&m->demonstration);
    free(m);
}

/* ---- rollouts ------------------------------------------------------------------------------------------- */

static const invit_instance *instance_of(const inv_reinforce *m, int32_t i)
{
    return m->group.instance[i / m->task->o->augment];
}

/* Fresh instances, each with `augment` copies in their own frames and from their own start nodes. */
static invit_status draw_copies(inv_reinforce *m, inv_lane *lane, int32_t groups, invit_error *err)
{
    int32_t copies = (int32_t)m->task->o->augment;
    inv_group *g = &m->group;
    for (int32_t k = 0; k < groups; k++) {
        INV_CHECK(inv_mix_draw(&m->task->mix, &lane->rng, &g->instance[k], err));
        const invit_instance *p = g->instance[k];
        INV_CHECK(inv_index_create(p, &g->index[k], err));
        for (int32_t c = 0; c < copies; c++) {
            int32_t i = k * copies + c;
            INV_CHECK(inv_group_bind(g, i, p, g->index[k], err));
            inv_frame_for_copy(p, c, &lane->rng, &g->frame[i]);
            m->tour[i].start =
                p->problem == INVIT_TSP ? (int32_t)inv_rng_below(&lane->rng, (uint32_t)p->n) : 0;
        }
    }
    return INVIT_OK;
}

static void start_walk(inv_reinforce *m, int32_t i)
{
    inv_walk_start(m->group.walk[i], m->tour[i].start, &m->group.frame[i]);
}

/* Marks the decisions that were open: from the others there is nothing to learn. */
static invit_status mark_open(void *context, int32_t i, const inv_state *s, const float *logp,
                              invit_error *err)
{
    (void)s;
    (void)err;
    inv_reinforce *m = context;
    int32_t at;
    (void)inv_walk_order(m->group.walk[i], &at);
    m->tour[i].open[at] = inv_open(logp, inv_candidates(&m->task->config));
    return INVIT_OK;
}

/* Unlikely choices are not sampled: a greedy rollout never takes them, and what they cost would be charged to the
 * decisions before them. The sampled orders and lengths are kept, since the walks are used again. */
static invit_status sample_copies(inv_reinforce *m, inv_lane *lane, int32_t count, invit_error *err)
{
    inv_watcher watcher = {mark_open, m};
    inv_sampling sampling = {&lane->rng, m->task->o->min_p};
    int64_t moves = 0;
    for (int32_t i = 0; i < count; i++) {
        start_walk(m, i);
        memset(m->tour[i].open, 0, (2 * (size_t)instance_of(m, i)->n + 2) * sizeof(bool));
    }
    inv_roll_options o = {
        .policy = m->roll, .walk = m->group.walk, .count = count, .sampling = &sampling, .watcher = &watcher};
    INV_CHECK(inv_roll(&m->group.roller, &o, &moves, err));
    lane->tally.decisions += (double)moves;
    for (int32_t i = 0; i < count; i++) {
        tour *t = &m->tour[i];
        const int32_t *order = inv_walk_order(m->group.walk[i], &t->count);
        memcpy(t->order, order, (size_t)t->count * sizeof *order);
        t->length = inv_order_length(instance_of(m, i), order, t->count);
    }
    return INVIT_OK;
}

static invit_status roll_baseline(inv_reinforce *m, inv_lane *lane, int32_t count, invit_error *err)
{
    int64_t moves = 0;
    for (int32_t i = 0; i < count; i++) start_walk(m, i);
    inv_roll_options o = {m->baseline, m->group.walk, count, NULL, NULL, NULL};
    INV_CHECK(inv_roll(&m->group.roller, &o, &moves, err));
    lane->tally.decisions += (double)moves;
    return INVIT_OK;
}

/* ---- advantages ----------------------------------------------------------------------------------------- */

static double walk_length(const inv_walk *walk, const invit_instance *p)
{
    int32_t count;
    const int32_t *order = inv_walk_order(walk, &count);
    return inv_order_length(p, order, count);
}

/* The mean over the copies of tour i's instance. */
static double mean_of_copies(const inv_reinforce *m, int32_t i)
{
    int32_t copies = (int32_t)m->task->o->augment;
    double mean = 0;
    for (int32_t c = 0; c < copies; c++) mean += m->tour[i / copies * copies + c].length / copies;
    return mean;
}

static invit_status find_advantages(inv_reinforce *m, inv_lane *lane, int32_t count, invit_error *err)
{
    const invit_train_options *o = m->task->o;
    bool pomo = strcmp(o->baseline, "pomo") == 0;
    if (!pomo) INV_CHECK(roll_baseline(m, lane, count, err));
    for (int32_t i = 0; i < count; i++) {
        tour *t = &m->tour[i];
        double baseline = pomo ? mean_of_copies(m, i) : walk_length(m->group.walk[i], instance_of(m, i));
        t->advantage = (t->length - baseline) / (o->relative ? baseline : 1);
        lane->tally.rollouts++;
        lane->tally.length += t->length;
        lane->tally.baseline += baseline;
    }
    return INVIT_OK;
}

/* GAE(lambda) (Schulman et al. 2016) with the expert's cost-to-go V as value function: for the open decisions k of a
 * tour, delta_k = what the way to the next open decision costs + V(there) - V(here), and the advantage of decision k
 * is A_k = sum_j lambda^j delta_{k+j}. The deltas add up to the tour's whole gap.
 *
 * As long as the tour follows the expert's completion, delta is 0 and V is known. Where the tour itself goes on more
 * cheaply than a completion, V is corrected. */
static invit_status estimate_advantages(inv_reinforce *m, inv_lane *lane, int32_t i, invit_error *err)
{
    const invit_instance *p = instance_of(m, i);
    const invit_train_options *o = m->task->o;
    tour *t = &m->tour[i];
    inv_walk *walk = m->group.walk[i];
    int32_t begin = p->problem == INVIT_TSP ? 1 : 0;
    double *credit = t->credit, gone = 0, left = 0;
    inv_plan *plan = &m->demonstration.plan;
    plan->made = false;
    start_walk(m, i);
    for (int32_t k = begin; k < t->count; k++) { /* first the whole tour's estimate at k, in `credit` */
        int32_t last = inv_walk_last(walk);
        if (t->open[k] && !plan->made)
            INV_CHECK(inv_cost_to_go(&m->demonstration, m->expert, p, walk, o->effort,
                                     inv_rng_u64(&lane->rng), &left, err));
        credit[k] = gone + left;
        double step = inv_straight(p, last, t->order[k]);
        gone += step;
        left -= step;
        if (plan->made) inv_plan_follow(plan, p, last, t->order[k]);
        inv_walk_visit(walk, t->order[k]);
    }
    double whole = gone + inv_straight(p, inv_walk_last(walk), begin ? t->order[0] : 0), later = 0;
    for (int32_t k = t->count; k-- > begin;) {
        if (!t->open[k]) continue;
        double before = fmin(credit[k], whole); /* the least known for tours that begin like this */
        credit[k] = whole - before + o->gae_lambda * later;
        later = credit[k];
        whole = before;
    }
    return INVIT_OK;
}

enum { STAGES = 10 };

/* Takes away what is usual at that stage of a tour, over the copies of the instance. */
static void centre_credits(inv_reinforce *m, inv_lane *lane, int32_t from)
{
    const invit_train_options *o = m->task->o;
    double sum[STAGES] = {0}, count[STAGES] = {0}, length = 0;
    for (int32_t i = from; i < from + o->augment; i++) {
        const tour *t = &m->tour[i];
        length += t->length / (double)o->augment;
        for (int32_t k = 0; k < t->count; k++)
            if (t->open[k]) {
                sum[k * STAGES / t->count] += t->credit[k];
                count[k * STAGES / t->count]++;
            }
    }
    for (int32_t i = from; i < from + o->augment; i++) {
        tour *t = &m->tour[i];
        for (int32_t k = 0; k < t->count; k++)
            if (t->open[k]) {
                int32_t stage = k * STAGES / t->count;
                double x = (t->credit[k] - sum[stage] / count[stage]) / (o->relative ? length : 1);
                t->credit[k] = x;
                lane->tally.credit += x * x;
                lane->tally.credits++;
            }
    }
}

static invit_status give_credit(inv_reinforce *m, inv_lane *lane, int32_t count, invit_error *err)
{
    const invit_train_options *o = m->task->o;
    for (int32_t i = 0; i < count; i++) {
        tour *t = &m->tour[i];
        lane->tally.spread += t->advantage * t->advantage;
        if (o->gae_lambda < 1)
            INV_CHECK(estimate_advantages(m, lane, i, err));
        else /* every decision of a tour has the whole tour's advantage, as published */
            for (int32_t k = 0; k < t->count; k++) t->credit[k] = t->advantage;
    }
    for (int32_t i = 0; o->gae_lambda < 1 && i < count; i += (int32_t)o->augment) centre_credits(m, lane, i);
    return INVIT_OK;
}

/* ---- learning ------------------------------------------------------------------------------------------- */

static invit_status keep_weight(inv_lane *lane, float weight, invit_error *err)
{
    int32_t entry = lane->buffer.count - 1;
    if (entry >= lane->weights) {
        size_t room = (size_t)lane->buffer.room;
        float *weights = realloc(lane->weight, room * sizeof *weights);
        if (weights) lane->weight = weights;
        float *sampled = realloc(lane->sampled, room * sizeof *sampled);
        if (sampled) lane->sampled = sampled;
        if (!weights || !sampled) return inv_no_memory(err, room * sizeof *weights);
        lane->weights = lane->buffer.room;
    }
    lane->weight[entry] = weight;
    return INVIT_OK;
}

/* Walks a sampled tour again and puts the states to learn from into the lane's buffer. */
static invit_status replay_sample(inv_reinforce *m, inv_lane *lane, int32_t i, invit_error *err)
{
    const inv_train_task *task = m->task;
    const tour *t = &m->tour[i];
    inv_walk *walk = m->group.walk[i];
    /* a share of a tour's states, weighted up: the same gradient on average, for less than the cost of all */
    double part = 1 / ((double)task->o->batch * task->o->share);
    start_walk(m, i);
    /* a forced move is never open: its probability is one */
    for (int32_t k = task->config.problem == INVIT_TSP ? 1 : 0; k < t->count; k++) {
        inv_state s;
        bool learn = t->open[k] && inv_rng_double(&lane->rng) < task->o->share;
        if (learn) {
            inv_walk_view(walk, &s);
            INV_CHECK(inv_buffer_add(&lane->buffer, &s, inv_candidate_of(&task->config, &s, t->order[k]),
                                     NULL, err));
            INV_CHECK(keep_weight(lane, (float)(t->credit[k] * part), err));
        }
        inv_walk_visit(walk, t->order[k]);
    }
    return INVIT_OK;
}

/* The weight of a decision that was sampled with other weights: proximal policy optimisation (Schulman et al. 2017).
 * It counts by how much likelier it has become, and no more once it has moved far enough the way it should. A weight
 * is a cost: a choice that costs more than usual should become less likely. */
static float clipped_weight(float weight, float sampled, float logp, inv_tally *tally)
{
    enum { PERCENT = 20 };
    float ratio = expf(logp - sampled), most = 1 + PERCENT / 100.0f, least = 1 - PERCENT / 100.0f;
    bool far = weight < 0 ? ratio > most : ratio < least;
    tally->again++;
    tally->clipped += far;
    return far ? 0 : weight * ratio;
}

typedef struct sampled_loss {
    const inv_train_task *task;
    inv_lane *lane;
    bool again;
} sampled_loss;

/* d loss / d logit = weight (1[j is the action] - p_j), where weight = advantage / batch and p is over the candidates
 * that could be sampled. The others must have no part in it: where all that is sampled costs too much they would rise,
 * and nothing would ever show what they cost. */
static void loss(void *context, int32_t entry, float *logp, float *d)
{
    const sampled_loss *l = context;
    inv_lane *lane = l->lane;
    int32_t candidates = inv_candidates(&l->task->config), label = lane->buffer.label[entry];
    inv_narrow(logp, candidates, l->task->o->min_p, label);
    float weight = lane->weight[entry];
    if (l->again) weight = clipped_weight(weight, lane->sampled[entry], logp[label], &lane->tally);
    for (int32_t j = 0; j < candidates; j++)
        d[j] = logp[j] > -INFINITY || isnan(logp[j]) ? -weight * expf(logp[j]) : 0;
    d[label] += weight;
    if (l->again) return;
    lane->sampled[entry] = logp[label];
    lane->tally.states++;
    lane->tally.loss += (double)weight * (double)logp[label];
}

static invit_status learn(inv_reinforce *m, inv_lane *lane, bool again, invit_error *err)
{
    sampled_loss l = {m->task, lane, again};
    return inv_learn(&m->learner, m->task, lane, 0, lane->buffer.count, loss, &l, err);
}

invit_status inv_reinforce_again(inv_reinforce *m, inv_lane *lane, invit_error *err)
{
    return learn(m, lane, true, err);
}

invit_status inv_reinforce_step(inv_reinforce *m, inv_lane *lane, invit_error *err)
{
    int32_t count = m->group.room, groups = count / (int32_t)m->task->o->augment;
    invit_status status;
    lane->buffer.count = 0;
    INV_TRY(draw_copies(m, lane, groups, err));
    INV_TRY(sample_copies(m, lane, count, err));
    INV_TRY(find_advantages(m, lane, count, err));
    INV_TRY(give_credit(m, lane, count, err));
    for (int32_t i = 0; i < count; i++) INV_TRY(replay_sample(m, lane, i, err));
    INV_TRY(learn(m, lane, false, err));
done:
    inv_group_clear(&m->group);
    return status;
}
