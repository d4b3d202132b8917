/* REINFORCE's frozen baseline: when the model is better, it takes over. */
#include "lab/train/run/evaluation.h"

#include <math.h>
#include <string.h>

/* Greedy best-of-augmentations of both on fresh instances; the seed of the epoch makes them the same on every
 * rank. */
invit_status inv_end_epoch(inv_trainer *t, inv_epoch *mean, invit_error *err)
{
    const invit_train_options *o = t->task.o;
    t->s.epoch++;
    *mean = (inv_epoch){NAN, NAN};
    if (strcmp(o->baseline, "greedy") != 0) return INVIT_OK;
    inv_rng rng;
    inv_rng_init(&rng, o->seed, UINT64_MAX - (uint64_t)t->s.epoch);
    int32_t count = (int32_t)o->compare;
    inv_evaluation *e = NULL;
    invit_status status;
    double *side[] = {&mean->model, &mean->baseline};
    INV_TRY(inv_evaluation_create(count, &e, err));
    for (int32_t i = 0; i < count; i++) INV_TRY(inv_mix_draw(&t->task.mix, &rng, &e->instance[i], err));
    for (int i = 0; i < 2; i++) {
        inv_evaluated of = i == 0 ? INV_OF_MODEL : INV_OF_BASELINE;
        INV_TRY(inv_evaluation_run(t, e, of, (int32_t)o->augment, inv_rng_u64(&rng), err));
        *side[i] = 0;
        for (int32_t k = 0; k < count; k++) *side[i] += e->best[k] / count;
    }
    if (mean->model < mean->baseline - o->margin) {
        memcpy(t->baseline->param, t->model->param, t->model->params * sizeof *t->model->param);
        inv_prepared_refresh(t->prepared_baseline, t->baseline);
        t->s.swaps++;
    }
done:
    inv_evaluation_destroy(e);
    return status;
}
