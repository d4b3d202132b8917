#include "lab/train/method/imitation_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

invit_status inv_imitation_create(const inv_train_task *task, inv_imitation **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t candidates = (size_t)inv_candidates(&task->config);
    *out = NULL;
    inv_imitation *m = calloc(1, sizeof *m);
    if (!m) return inv_no_memory(err, sizeof *m);
    m->task = task;
    m->limit = calloc(INV_GROUP, sizeof *m->limit);
    m->record = calloc(INV_GROUP, sizeof *m->record);
    m->target = calloc(candidates, sizeof *m->target);
    m->opinion = calloc(candidates, sizeof *m->opinion);
    if (!m->limit || !m->record || !m->target || !m->opinion)
        INV_TRY(inv_no_memory(err, candidates * sizeof *m->target));
    INV_TRY(inv_group_init(&m->group, INV_GROUP, &task->config, err));
    INV_TRY(inv_learner_init(&m->learner, task, err));
    INV_TRY(inv_policy_create(task->roll, INV_GROUP, false, &m->roll, err));
    if (task->teacher) INV_TRY(inv_policy_create(task->teacher, INV_GROUP, false, &m->teacher, err));
    INV_TRY(inv_expert_create(&m->expert, err));
    INV_TRY(inv_demonstration_init(&m->demonstration, task->largest, err));
    *out = m;
    m = NULL;
done:
    inv_imitation_destroy(m);
    return status;
}

void inv_imitation_destroy(inv_imitation *m)
{
    if (!m) return;
    inv_group_destroy(&m->group);
    inv_learner_destroy(&m->learner);
    inv_policy_destroy(m->roll);
    inv_policy_destroy(m->teacher);
    inv_expert_destroy(m->expert);
    inv_demonstration_destroy(&m->demonstration);
    free(m->limit);
    free(m->record);
    free(m->target);
    free(m->opinion);
    free(m);
}

/* ---- the buffer's level --------------------------------------------------------------------------------- */

static int32_t buffer_level(const inv_train_task *task)
{
    int32_t level = (int32_t)(task->o->replay_buffer / task->o->lanes),
            batch = (int32_t)(task->o->batch / task->o->lanes);
    return level > batch ? level : batch;
}

bool inv_imitation_runs_low(const inv_train_task *task, const inv_lane *lane)
{
    return lane->buffer.count < buffer_level(task);
}

bool inv_imitation_refills(const inv_train_task *task, const inv_lane *lane)
{
    return lane->buffer.count < buffer_level(task) + buffer_level(task) / 2;
}

/* ---- demonstrations ------------------------------------------------------------------------------------- */

enum { GROUP_NODES = 2000 }; /* of a group's instances: more in a row would make the replay buffer uneven */

/* Draws instances for one group: enough to roll in together, few enough to keep the buffer mixed. */
static invit_status draw_group(inv_imitation *m, inv_lane *lane, int32_t *count, invit_error *err)
{
    const inv_train_task *task = m->task;
    inv_group *g = &m->group;
    int32_t nodes = 0;
    *count = 0;
    while (*count < INV_GROUP && nodes < GROUP_NODES) {
        int32_t i = *count;
        if (task->labels) {
            m->record[i] = (int64_t)(inv_rng_double(&lane->rng) * (double)inv_label_file_count(task->labels));
            INV_CHECK(
                inv_label_file_get(task->labels, m->record[i], &g->instance[i], &m->demonstration, err));
        } else {
            INV_CHECK(inv_mix_draw(&task->mix, &lane->rng, &g->instance[i], err));
        }
        ++*count;
        INV_CHECK(inv_index_create(g->instance[i], &g->index[i], err));
        INV_CHECK(inv_group_bind(g, i, g->instance[i], g->index[i], err));
        nodes += g->instance[i]->n;
    }
    return INVIT_OK;
}

static invit_status roll(inv_imitation *m, inv_lane *lane, const inv_roll_options *o, invit_error *err)
{
    int64_t decisions = 0;
    INV_CHECK(inv_roll(&m->group.roller, o, &decisions, err));
    lane->tally.decisions += (double)decisions;
    return INVIT_OK;
}

/* DAgger-style roll-ins: limit[i] > 0: the policy takes that many steps before the expert does. */
static invit_status roll_in(inv_imitation *m, inv_lane *lane, int32_t count, invit_error *err)
{
    for (int32_t i = 0; i < count; i++) {
        const invit_instance *p = m->group.instance[i];
        bool own = inv_rng_double(&lane->rng) < m->task->o->rollin;
        int32_t most = p->n - 3 > 1 ? p->n - 3 : 1;
        m->limit[i] = own ? 1 + (int32_t)inv_rng_below(&lane->rng, (uint32_t)most) : 0;
        inv_group_start(&m->group, i, &lane->rng);
    }
    inv_roll_options o = {m->roll, m->group.walk, count, .limit = m->limit};
    return roll(m, lane, &o, err);
}

void inv_start_tours(inv_imitation *m, inv_lane *lane, int32_t count)
{
    for (int32_t i = 0; i < count; i++) inv_group_start(&m->group, i, &lane->rng);
}

invit_status inv_roll_tours(inv_imitation *m, inv_lane *lane, int32_t count, inv_policy *policy,
                            const inv_watcher *watcher, invit_error *err)
{
    inv_roll_options o = {policy, m->group.walk, count, .watcher = watcher};
    return roll(m, lane, &o, err);
}

/* The expert's order for walk i: a completion where the policy moved first, else a whole solution. */
static invit_status demonstrate(inv_imitation *m, inv_lane *lane, int32_t i, bool own, invit_error *err)
{
    const invit_instance *p = m->group.instance[i];
    double effort = m->task->o->effort;
    inv_demonstration *d = &m->demonstration;
    if (own) return inv_demonstration_complete(d, m->expert, p, m->group.walk[i], effort, &lane->rng, err);
    if (!m->task->labels) return inv_demonstration_solve(d, m->expert, p, effort, &lane->rng, err);
    invit_instance *again = NULL;
    INV_CHECK(inv_label_file_get(m->task->labels, m->record[i], &again, d, err));
    invit_instance_destroy(again);
    return INVIT_OK;
}

static invit_status replay_walk(inv_imitation *m, inv_lane *lane, int32_t i, invit_error *err)
{
    const inv_train_task *task = m->task;
    inv_group *g = &m->group;
    bool own = m->limit[i] > 0 && !inv_walk_done(g->walk[i]);
    INV_CHECK(demonstrate(m, lane, i, own, err));
    double share =
        own ? 1 : task->o->share; /* the policy's own steps were dear: waste no state behind them */
    inv_replay_tally tally = {0};
    for (int64_t k = 0; k < task->o->walks; k++) {
        if (!own && task->config.problem == INVIT_TSP)
            inv_demonstration_rotate(&m->demonstration, &lane->rng);
        inv_frame_for_copy(g->instance[i], 1 + (int)inv_rng_below(&lane->rng, 2), &lane->rng, &g->frame[i]);
        INV_CHECK(inv_replay(g->walk[i], &task->config, &m->demonstration, &g->frame[i], share, &lane->rng,
                             &lane->buffer, &tally, err));
    }
    lane->tally.seen += (double)tally.seen;
    lane->tally.skipped += (double)tally.skipped;
    return INVIT_OK;
}

static invit_status add_states(inv_imitation *m, inv_lane *lane, invit_error *err)
{
    const invit_train_options *o = m->task->o;
    int32_t count = 0;
    invit_status status;
    bool compare = o->q_regret > 0 && inv_rng_double(&lane->rng) < o->q_regret;
    INV_TRY(draw_group(m, lane, &count, err));
    if (m->teacher) {
        INV_TRY(inv_distill_tours(m, lane, count, err));
    } else if (compare) {
        INV_TRY(inv_q_regret_tours(m, lane, count, err));
    } else {
        INV_TRY(roll_in(m, lane, count, err));
        for (int32_t i = 0; i < count; i++) INV_TRY(replay_walk(m, lane, i, err));
    }
done:
    inv_group_clear(&m->group);
    return status;
}

/* ---- losses --------------------------------------------------------------------------------------------- */

/* Cross-entropy of one state and its derivative. */
static void label_loss(const float *logp, int32_t candidates, int32_t label, float scale, float *d,
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

/* The expected Q-regret over the compared candidates, E = sum of p_j q_j, and its derivative p_j (q_j - E). */
static void q_regret_loss(const float *logp, int32_t candidates, const float *q, float scale, float *d,
                          inv_tally *tally)
{
    float mass = 0, regret = 0;
    int32_t best = -1;
    for (int32_t j = 0; j < candidates; j++) {
        d[j] = 0;
        if (isnan(q[j])) continue;
        d[j] = expf(logp[j]);
        mass += d[j];
        regret += d[j] * q[j];
        if (best < 0 || logp[j] > logp[best]) best = j;
    }
    regret /= mass;
    for (int32_t j = 0; j < candidates; j++)
        if (!isnan(q[j])) d[j] *= scale / mass * (q[j] - regret);
    tally->states++;
    tally->q_states++;
    tally->q_regret += (double)q[best];
}

/* Cross-entropy with the teacher model's probabilities, and its derivative. */
static void distillation_loss(const float *logp, int32_t candidates, const float *p, float scale, float *d,
                              inv_tally *tally)
{
    int32_t best = 0, right = 0;
    for (int32_t j = 0; j < candidates; j++) {
        d[j] = logp[j] > -INFINITY || isnan(logp[j]) ? scale * (expf(logp[j]) - p[j]) : 0;
        if (p[j] > 0) tally->loss -= (double)(p[j] * logp[j]);
        if (logp[j] > logp[best]) best = j;
        if (p[j] > p[right]) right = j;
    }
    tally->states++;
    tally->right += best == right;
}

typedef struct losses {
    const inv_imitation *m;
    inv_lane *lane;
} losses;

/* Each counts by 1 / batch: the mean over the whole batch. */
static void loss(void *context, int32_t entry, float *logp, float *d)
{
    const losses *l = context;
    const inv_train_task *task = l->m->task;
    inv_lane *lane = l->lane;
    int32_t candidates = inv_candidates(&task->config);
    float scale = 1.0f / (float)task->o->batch;
    const float *target = inv_buffer_target(&lane->buffer, entry);
    if (target && l->m->teacher)
        distillation_loss(logp, candidates, target, scale, d, &lane->tally);
    else if (target)
        q_regret_loss(logp, candidates, target, scale, d, &lane->tally);
    else
        label_loss(logp, candidates, lane->buffer.label[entry], scale, d, &lane->tally);
}

invit_status inv_imitation_step(inv_imitation *m, inv_lane *lane, bool refill, invit_error *err)
{
    bool more = refill && inv_imitation_refills(m->task, lane);
    for (; more; more = inv_imitation_runs_low(m->task, lane)) INV_CHECK(add_states(m, lane, err));
    int32_t batch = (int32_t)(m->task->o->batch / m->task->o->lanes),
            from = inv_buffer_take(&lane->buffer, batch, &lane->rng);
    losses l = {m, lane};
    return inv_learn(&m->learner, m->task, lane, from, batch, loss, &l, err);
}
