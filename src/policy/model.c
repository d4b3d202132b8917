#include "policy/model.h"

#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t inv_largest_view(const inv_config *c)
{
    return c->state_views > 0 ? c->state_k[c->state_views - 1] : c->action_k;
}

void inv_config_defaults(inv_config *c, invit_problem problem)
{
    *c = (inv_config){.problem = problem,
                      .dim = 128,
                      .ff = 512,
                      .heads = 8,
                      .state_layers = 2,
                      .action_layers = 2,
                      .decoder_layers = 3,
                      .action_k = 15,
                      .state_views = 1,
                      .state_k = {35},
                      .invariant = true};
}

invit_status inv_config_check(const inv_config *c, invit_error *err)
{
    if (c->problem != INVIT_TSP && c->problem != INVIT_CVRP)
        return inv_fail(err, INVIT_ERR_INPUT, "model: unknown problem %d, expected tsp or cvrp",
                        (int)c->problem);
    if (c->dim < 1 || c->dim > 8192)
        return inv_fail(err, INVIT_ERR_INPUT, "model: a width (--dim) of %d, expected 1 to 8192", c->dim);
    if (c->ff < 1 || c->ff > 65536)
        return inv_fail(err, INVIT_ERR_INPUT, "model: a feed-forward width (--ff) of %d, expected 1 to 65536",
                        c->ff);
    if (c->heads < 1 || c->heads > 256 || c->dim % c->heads != 0)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "model: %d attention heads (--heads): expected 1 to 256 that divide the width, %d",
                        c->heads, c->dim);
    if (c->state_layers < 1 || c->state_layers > 64 || c->action_layers < 1 || c->action_layers > 64)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "model: %d state and %d action encoder layers, expected 1..64 each", c->state_layers,
                        c->action_layers);
    if (c->decoder_layers < 1 || c->decoder_layers > 64)
        return inv_fail(err, INVIT_ERR_INPUT, "model: %d decoder layers, expected 1..64", c->decoder_layers);
    if (c->action_k < 1 || c->action_k > 4096)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "model: %d neighbours in the action view (--views), expected 1 to 4096", c->action_k);
    if (c->state_views < 0 || c->state_views > INV_MAX_VIEWS)
        return inv_fail(err, INVIT_ERR_INPUT, "model: %d state views, expected 0..%d", c->state_views,
                        INV_MAX_VIEWS);
    for (int32_t i = 0; i < c->state_views; i++) {
        int32_t before = i > 0 ? c->state_k[i - 1] : c->action_k;
        if (c->state_k[i] < before)
            return inv_fail(
                err, INVIT_ERR_INPUT,
                "model: a state view of %d neighbours (--views) is smaller than the %d of the view before it",
                c->state_k[i], before);
    }
    if (c->canonical_frame && !c->invariant)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "model: canonical frames are made by the invariant layer, and it is off");
    return INVIT_OK;
}

/* ---- layout: two passes over the same list, the first only counts -------------------------------------- */

typedef struct layout {
    inv_tensor *tensor;
    int32_t tensors;
    size_t params;
} layout;

static void put(layout *l, int32_t out, int32_t in, const char *prefix, const char *name)
{
    int32_t columns = in > 0 ? in : 1;
    size_t count = (size_t)out * (size_t)columns;
    if (l->tensor) {
        inv_tensor *t = &l->tensor[l->tensors];
        *t = (inv_tensor){
            .rank = in > 0 ? 2 : 1, .shape = {out, columns}, .offset = l->params, .count = count};
        snprintf(t->name, sizeof t->name, "%s%s", prefix, name);
    }
    l->tensors++;
    l->params += count;
}

static void put_affine(layout *l, int32_t out, int32_t in, const char *prefix, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "%s.weight", name);
    put(l, out, in, prefix, full);
    snprintf(full, sizeof full, "%s.bias", name);
    put(l, out, 0, prefix, full);
}

static void put_encoder(layout *l, const inv_config *c, int32_t layers, bool has_first, const char *prefix)
{
    int32_t d = c->dim, f = c->ff, in = c->problem == INVIT_CVRP ? 3 : 2;
    char p[80];
    put_affine(l, d, in, prefix, "input_emb");
    put_affine(l, d, in, prefix, "input_emb_for_last");
    if (has_first) put_affine(l, d, 2, prefix, "input_emb_for_first");
    for (int32_t i = 0; i < layers; i++) {
        snprintf(p, sizeof p, "%sencoder.MHA_layers.%d.", prefix, i);
        put(l, d, d, p, "w_qs.weight");
        put(l, d, d, p, "w_ks.weight");
        put(l, d, d, p, "w_vs.weight");
        put(l, d, d, p, "fc.weight");
        put_affine(l, d, 0, p, "layer_norm");
    }
    static const char *const kind[4] = {"linear1_layers", "linear2_layers", "norm1_layers", "norm2_layers"};
    const int32_t wide[4] = {f, d, d, d}, from[4] = {d, f, 0, 0};
    for (int k = 0; k < 4; k++)
        for (int32_t i = 0; i < layers; i++) {
            snprintf(p, sizeof p, "%sencoder.%s.", prefix, kind[k]);
            char index[16];
            snprintf(index, sizeof index, "%d", i);
            put_affine(l, wide[k], from[k], p, index);
        }
}

static void put_model(layout *l, const inv_config *c)
{
    int32_t d = c->dim, views = c->state_views + 1;
    bool cvrp = c->problem == INVIT_CVRP;
    char p[80];
    for (int32_t i = 0; i < c->state_views; i++) {
        snprintf(p, sizeof p, "state_encoders.%d.", i);
        put_encoder(l, c, c->state_layers, true, p);
    }
    put_encoder(l, c, c->action_layers, cvrp, "action_encoder.");
    for (int32_t i = 0; i + 1 < c->decoder_layers; i++) {
        snprintf(p, sizeof p, "decoder.decoder_layers.%d.", i);
        put_affine(l, d, d, p, "W0_att");
        put_affine(l, d, d, p, "Wq_att");
        put_affine(l, d, d, p, "W1_MLP");
        put_affine(l, d, d, p, "W2_MLP");
        put_affine(l, d, 0, p, "BN_att");
        put_affine(l, d, 0, p, "BN_MLP");
    }
    put_affine(l, d, d, "decoder.", "Wq_final");
    put_affine(l, d * c->decoder_layers, d * views, "", "WK_att_decoder");
    put_affine(l, d * c->decoder_layers, d * views, "", "WV_att_decoder");
    put_affine(l, d, d * (2 * c->state_views + (cvrp ? 2 : 1)), "", "query_mlp");
}

invit_status inv_model_create(const inv_config *c, struct invit_model **out, invit_error *err)
{
    *out = NULL;
    INV_CHECK(inv_config_check(c, err));
    layout l = {0};
    put_model(&l, c);
    size_t bytes = l.params * sizeof(float);
    struct invit_model *m = calloc(1, sizeof *m);
    if (!m) return inv_no_memory(err, sizeof *m);
    m->config = *c;
    m->tensors = l.tensors;
    m->params = l.params;
    m->tensor = calloc((size_t)l.tensors, sizeof *m->tensor);
    m->param = calloc(l.params, sizeof *m->param);
    if (!m->tensor || !m->param) {
        invit_model_destroy(m);
        return inv_no_memory(err, bytes);
    }
    l = (layout){.tensor = m->tensor};
    put_model(&l, c);
    *out = m;
    return INVIT_OK;
}

invit_status inv_model_copy(const struct invit_model *from, struct invit_model **out, invit_error *err)
{
    INV_CHECK(inv_model_create(&from->config, out, err));
    memcpy((*out)->param, from->param, from->params * sizeof(float));
    return INVIT_OK;
}

void invit_model_destroy(struct invit_model *m)
{
    if (!m) return;
    free(m->tensor);
    free(m->param);
    free(m->path);
    free(m->metadata);
    free(m);
}

/* Linear layers: weight and bias uniform in +-1/sqrt(fan in). Norms: weight 1, bias 0. */
void inv_model_randomise(struct invit_model *m, uint64_t seed)
{
    double bound = 0;
    for (int32_t i = 0; i < m->tensors; i++) {
        const inv_tensor *t = &m->tensor[i];
        float *p = m->param + t->offset;
        bool norm = strstr(t->name, "norm") || strstr(t->name, ".BN_");
        bool weight = strstr(t->name, ".weight") != NULL;
        if (norm) {
            for (size_t j = 0; j < t->count; j++) p[j] = weight ? 1.0f : 0.0f;
            continue;
        }
        if (weight)
            bound = 1 / sqrt((double)t->shape[1]); /* a bias follows its weight and has the same bound */
        inv_rng rng;
        inv_rng_init(&rng, seed, (uint64_t)i);
        for (size_t j = 0; j < t->count; j++) p[j] = (float)(bound * (2 * inv_rng_double(&rng) - 1));
    }
}

const inv_tensor *inv_model_find(const struct invit_model *m, const char *name)
{
    for (int32_t i = 0; i < m->tensors; i++)
        if (strcmp(m->tensor[i].name, name) == 0) return &m->tensor[i];
    return NULL;
}

invit_problem invit_model_problem(const invit_model *m)
{
    return m->config.problem;
}
