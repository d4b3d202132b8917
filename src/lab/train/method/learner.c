#include "lab/train/method/learner.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 16 }; /* states that go through forward and backward together */

invit_status inv_learner_init(inv_learner *l, const inv_train_task *task, invit_error *err)
{
    size_t n = (size_t)CHUNK * (size_t)inv_candidates(&task->config);
    l->logp = calloc(n, sizeof *l->logp);
    l->dlogit = calloc(n, sizeof *l->dlogit);
    if (!l->logp || !l->dlogit) return inv_no_memory(err, n * sizeof *l->logp);
    return inv_policy_create(task->train, CHUNK, true, &l->policy, err);
}

void inv_learner_destroy(inv_learner *l)
{
    inv_policy_destroy(l->policy);
    free(l->logp);
    free(l->dlogit);
    *l = (inv_learner){0};
}

invit_status inv_learn(inv_learner *l, const inv_train_task *task, inv_lane *lane, int32_t from,
                       int32_t count, inv_loss *loss, void *context, invit_error *err)
{
    size_t candidates = (size_t)inv_candidates(&task->config);
    memset(lane->grad, 0, task->model->params * sizeof *lane->grad);
    for (int32_t at = 0; at < count; at += CHUNK) {
        int32_t chunk = count - at < CHUNK ? count - at : CHUNK;
        const inv_state *states = lane->buffer.state + from + at;
        INV_CHECK(inv_policy_forward(l->policy, states, chunk, l->logp, err));
        for (int32_t i = 0; i < chunk; i++)
            loss(context, from + at + i, l->logp + (size_t)i * candidates,
                 l->dlogit + (size_t)i * candidates);
        inv_policy_backward(l->policy, states, chunk, l->dlogit, lane->grad);
    }
    inv_policy_flush_gradient(l->policy, task->model, lane->grad);
    return INVIT_OK;
}
