/* What a model is, for people to read. */
#include "invit_lab.h"
#include "policy/model.h"

invit_model_summary invit_model_describe(const invit_model *m)
{
    const inv_config *c = &m->config;
    invit_model_summary s = {.problem = c->problem,
                             .width = c->dim,
                             .feed_forward = c->ff,
                             .heads = c->heads,
                             .action_layers = c->action_layers,
                             .state_layers = c->state_views > 0 ? c->state_layers : 0,
                             .decoder_layers = c->decoder_layers,
                             .views = c->state_views + 1,
                             .view = {c->action_k},
                             .invariant = c->invariant,
                             .canonical_frame = c->canonical_frame,
                             .parameters = (int64_t)m->params,
                             .tensors = m->tensors};
    for (int32_t i = 0; i < c->state_views; i++) s.view[i + 1] = c->state_k[i];
    return s;
}

const char *invit_model_tensor(const invit_model *m, int32_t i, int32_t *rank, int32_t shape[2])
{
    *rank = m->tensor[i].rank;
    shape[0] = m->tensor[i].shape[0];
    shape[1] = m->tensor[i].shape[1];
    return m->tensor[i].name;
}

const char *invit_model_metadata(const invit_model *m)
{
    return m->metadata ? m->metadata : "";
}

const char *invit_model_path(const invit_model *m)
{
    return m->path ? m->path : "";
}
