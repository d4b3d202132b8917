/* One step of training: the lanes' gradients, their sum, AdamW. */
#include "lab/train/run/adamw.h"
#include "lab/train/run/trainer.h"

#include <math.h>
#include <string.h>

static void compute_lane(void *context, int member, int item)
{
    inv_trainer *t = context;
    inv_worker *w = &t->worker[member];
    if (w->status != INVIT_OK) return;
    inv_lane *lane = &t->lane[t->queue[item]];
    lane->tally = (inv_tally){0};
    w->status = w->imitation ? inv_imitation_step(w->imitation, lane, t->refill, &w->error)
                             : inv_reinforce_step(w->reinforce, lane, &w->error);
}

static int slices(const inv_trainer *t)
{
    return (int)((t->model->params + INV_SLICE - 1) / INV_SLICE);
}

static size_t slice_range(const inv_trainer *t, int item, size_t *from)
{
    *from = (size_t)item * INV_SLICE;
    size_t left = t->model->params - *from;
    return left < INV_SLICE ? left : INV_SLICE;
}

/* Adds the lanes of this rank, always in the same order, into the first. */
static void sum_slice(void *context, int member, int item)
{
    (void)member;
    inv_trainer *t = context;
    size_t from, count = slice_range(t, item, &from);
    float *sum = t->lane[0].grad + from;
    for (int32_t l = 1; l < t->lanes; l++) {
        const float *grad = t->lane[l].grad + from;
        for (size_t i = 0; i < count; i++) sum[i] += grad[i];
    }
}

static void norm_slice(void *context, int member, int item)
{
    (void)member;
    inv_trainer *t = context;
    size_t from, count = slice_range(t, item, &from);
    const float *grad = t->lane[0].grad + from;
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)grad[i] * (double)grad[i];
    t->slice_norm[item] = sum;
}

static void update_slice(void *context, int member, int item)
{
    (void)member;
    inv_trainer *t = context;
    size_t from, count = slice_range(t, item, &from);
    float *param = t->model->param + from;
    inv_adamw a = {.lr = t->lr,
                   .beta1 = t->task.o->beta1,
                   .beta2 = t->task.o->beta2,
                   .eps = t->task.o->epsilon,
                   .weight_decay = t->task.o->weight_decay};
    inv_adamw_step(&a, t->s.updates, count, t->lane[0].grad + from, (float)t->scale, t->moment1 + from,
                   t->moment2 + from, param);
    if (!t->average) return;
    /* the average forgets its random beginning quickly, then slowly */
    double keep = fmin(t->task.o->ema, (1.0 + (double)t->s.updates) / (10.0 + (double)t->s.updates));
    float rate = (float)(1 - keep), *average = t->average->param + from;
    for (size_t i = 0; i < count; i++) average[i] += rate * (param[i] - average[i]);
}

static void add_tally(inv_tally *to, const inv_tally *x)
{
    double *a = (double *)to;
    const double *b = (const double *)x;
    for (size_t i = 0; i < sizeof *to / sizeof *a; i++) a[i] += b[i];
}

/* Lanes that refill their buffer go first: it takes longest, and the others fill the gaps. */
static void queue_lanes(inv_trainer *t)
{
    int32_t at = 0;
    double low = 0;
    if (t->task.o->method == INVIT_IMITATE) {
        for (int32_t l = 0; l < t->lanes; l++) low += inv_imitation_runs_low(&t->task, &t->lane[l]);
        inv_comm_sum_doubles(t->comm, &low, 1);
    }
    t->refill = low > 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t l = 0; l < t->lanes; l++)
            if ((t->refill && inv_imitation_refills(&t->task, &t->lane[l])) == (pass == 0))
                t->queue[at++] = l;
}

static double learning_rate(const inv_trainer *t)
{
    const invit_train_options *o = t->task.o;
    double lr = o->lr;
    if (strcmp(o->schedule, "cosine") == 0)
        lr *= o->lr_final + (1 - o->lr_final) * 0.5 * (1 + cos(M_PI * t->s.progress));
    else if (strcmp(o->schedule, "exponential") == 0)
        lr *= pow(o->decay, (double)(t->s.step / o->epoch));
    if (t->s.step < o->warmup) lr *= (double)(t->s.step + 1) / (double)o->warmup;
    return lr;
}

/* Along the schedule: exactly with a number of steps, as planned with a time. */
static void advance(inv_trainer *t)
{
    inv_run_state *s = &t->s;
    s->step++;
    if (t->task.o->steps > 0) {
        s->progress = fmin(1, (double)s->step / (double)t->task.o->steps);
        return;
    }
    s->progress += (1 - s->progress) / fmax(1, s->steps_left);
    s->steps_left = fmax(1, s->steps_left - 1);
}

/* Adds up the lanes' gradients and moves the weights; false: not finite, nothing moved. */
static bool update(inv_trainer *t, double loss)
{
    inv_thread_pool_run(t->pool, slices(t), sum_slice, t);
    inv_comm_sum_floats(t->comm, t->lane[0].grad, t->model->params);
    inv_thread_pool_run(t->pool, slices(t), norm_slice, t);
    double norm = 0;
    for (int i = 0; i < slices(t); i++) norm += t->slice_norm[i];
    norm = sqrt(norm);
    if (!isfinite(norm) || !isfinite(loss)) return false;
    t->lr = learning_rate(t);
    t->s.updates++;
    t->scale = t->task.o->clip > 0 && norm > t->task.o->clip ? t->task.o->clip / norm : 1;
    inv_thread_pool_run(t->pool, slices(t), update_slice, t);
    inv_prepared_refresh(t->train, t->model);
    inv_prepared_refresh(t->roll, t->model);
    t->s.tally_norm += norm;
    t->s.tally_updates++;
    return true;
}

static void learn_again(void *context, int member, int item)
{
    inv_trainer *t = context;
    inv_worker *w = &t->worker[member];
    if (w->status == INVIT_OK) w->status = inv_reinforce_again(w->reinforce, &t->lane[item], &w->error);
}

static inv_tally sum_tallies(inv_trainer *t)
{
    inv_tally tally = {0};
    for (int32_t l = 0; l < t->lanes; l++) add_tally(&tally, &t->lane[l].tally);
    inv_comm_sum_doubles(t->comm, (double *)&tally, sizeof tally / sizeof(double));
    return tally;
}

invit_status inv_step(inv_trainer *t, invit_error *err)
{
    queue_lanes(t);
    INV_CHECK(inv_trainer_run(t, t->lanes, compute_lane, t, err));
    inv_tally tally = sum_tallies(t);
    bool fine = update(t, tally.loss);
    if (t->task.o->method == INVIT_REINFORCE) {
        for (int64_t i = 1; fine && i < t->task.o->reuse; i++) {
            INV_CHECK(inv_trainer_run(t, t->lanes, learn_again, t, err));
            fine = update(t, 0);
        }
        if (t->task.o->reuse > 1) tally = sum_tallies(t);
        for (int32_t l = 0; l < t->lanes; l++) t->lane[l].buffer.count = 0; /* none outlives the step */
    }
    if (fine) {
        t->s.bad = 0;
        t->s.tally_steps++;
        add_tally(&t->s.tally, &tally);
        t->s.states += (int64_t)tally.states;
    } else {
        t->s.bad++;
        t->s.dropped++;
    }
    advance(t);
    return INVIT_OK;
}
