/* Weights made ready: folded where that saves work, packed for the matrix kernels. */
#include "policy/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One block, laid out by running the same plan twice: first to count, then to hand out. */
typedef struct arena {
    float *base;
    size_t used;
} arena;

static float *take(arena *a, size_t floats)
{
    float *p = a->base ? a->base + a->used : NULL;
    a->used += (floats + 15) / 16 * 16;
    return p;
}

static size_t padded(int32_t n)
{
    return (size_t)((n + INV_PANEL - 1) / INV_PANEL * INV_PANEL);
}

static const inv_tensor *find(const struct invit_model *m, const char *prefix, int32_t index,
                              const char *name)
{
    char full[192];
    if (index >= 0)
        snprintf(full, sizeof full, "%s%d%s", prefix, index, name);
    else
        snprintf(full, sizeof full, "%s%s", prefix, name);
    return inv_model_find(m, full);
}

typedef enum direction {
    FORWARD = 1,
    BACKWARD = 2,
    BOTH = 3,
    BF16 = 4,
    INT8 = 8
} direction; /* the last two: storage, instead of fp32 */

static void plan_packed(arena *a, inv_affine *x, int32_t out, int32_t in, direction need)
{
    bool bf16 = need & BF16 && in <= INV_BF16_DEPTH && out <= INV_BF16_DEPTH;
    bool int8 = need & INT8 && in <= INV_INT8_DEPTH;
    bool forward = need & FORWARD, backward = need & BACKWARD;
    x->out = out;
    x->in = in;
    x->forward = forward && !bf16 && !int8 ? take(a, inv_packed_size(out, in)) : NULL;
    x->backward = backward && !bf16 ? take(a, inv_packed_size(in, out)) : NULL;
    x->bf16 = forward && bf16 ? (uint16_t *)take(a, (inv_bf16_size(out, in) + 1) / 2) : NULL;
    x->int8 = forward && int8 ? (int8_t *)take(a, (inv_int8_size(out, in) + 3) / 4) : NULL;
    x->bf16_back = backward && bf16 ? (uint16_t *)take(a, (inv_bf16_size(in, out) + 1) / 2) : NULL;
}

/* A layer "prefix[index]name.weight" with its bias. */
static void plan_affine(arena *a, inv_affine *x, const struct invit_model *m, const char *prefix,
                        int32_t index, const char *name, direction need)
{
    char full[64];
    snprintf(full, sizeof full, "%s.weight", name);
    const inv_tensor *t = find(m, prefix, index, full);
    plan_packed(a, x, t->shape[0], t->shape[1], need);
    x->w = t->offset;
    snprintf(full, sizeof full, "%s.bias", name);
    x->b = find(m, prefix, index, full)->offset;
    x->bias = take(a, padded(x->out));
}

static void plan_norm(arena *a, inv_norm *x, const struct invit_model *m, const char *prefix, int32_t index,
                      const char *name, float eps)
{
    char full[64];
    snprintf(full, sizeof full, "%s.weight", name);
    x->g = find(m, prefix, index, full)->offset;
    snprintf(full, sizeof full, "%s.bias", name);
    x->b = find(m, prefix, index, full)->offset;
    x->gamma = take(a, padded(m->config.dim));
    x->beta = take(a, padded(m->config.dim));
    x->eps = eps;
}

static void plan_encoder(inv_prepared *w, arena *a, arena *fold, const struct invit_model *m, int32_t e)
{
    const inv_config *c = &w->config;
    inv_encoder *enc = &w->encoder[e];
    char prefix[64], p[128];
    bool cvrp = c->problem == INVIT_CVRP;
    direction need = w->training ? BOTH : FORWARD;
    if (w->bf16) need |= BF16;
    if (w->int8) need |= INT8;
    int32_t d = c->dim, group = cvrp ? 4 : 3;
    if (e == 0)
        snprintf(prefix, sizeof prefix, "action_encoder.");
    else
        snprintf(prefix, sizeof prefix, "state_encoders.%d.", e - 1);
    enc->k = e == 0 ? c->action_k : c->state_k[e - 1];
    enc->has_first = e > 0 || cvrp;
    enc->layers = e == 0 ? c->action_layers : c->state_layers;
    enc->inputs = 2 * group + (enc->has_first ? 3 : 0);
    static const char *const embedding[3] = {"input_emb", "input_emb_for_last", "input_emb_for_first"};
    for (int t = 0; t < (enc->has_first ? 3 : 2); t++) {
        snprintf(p, sizeof p, "%s%s", prefix, embedding[t]);
        enc->input_w[t] = find(m, p, -1, ".weight")->offset;
        enc->input_b[t] = find(m, p, -1, ".bias")->offset;
    }
    plan_packed(a, &enc->embed, d, enc->inputs, FORWARD);
    enc->embed.w = fold->used;
    take(fold, (size_t)d * (size_t)enc->inputs);
    for (int32_t l = 0; l < enc->layers; l++) {
        inv_layer *x = &enc->layer[l];
        snprintf(p, sizeof p, "%sencoder.MHA_layers.", prefix);
        size_t wq = find(m, p, l, ".w_qs.weight")->offset, wk = find(m, p, l, ".w_ks.weight")->offset,
               wv = find(m, p, l, ".w_vs.weight")->offset, fc = find(m, p, l, ".fc.weight")->offset;
        if (l == 0) {
            int32_t all = c->heads * enc->inputs;
            enc->wq = wq, enc->wk = wk, enc->wv = wv, enc->fc = fc;
            plan_packed(a, &x->q, all, enc->inputs, FORWARD); /* phi needs no gradient */
            plan_packed(a, &x->fc, d, all, need);
            x->q.w = fold->used;
            take(fold, (size_t)all * (size_t)enc->inputs);
            x->fc.w = fold->used;
            take(fold, (size_t)all * (size_t)d);
        } else {
            plan_packed(a, &x->q, d, d, need);
            plan_packed(a, &x->kv, 2 * d, d, need); /* Wv follows Wk in the parameters */
            plan_packed(a, &x->fc, d, d, need);
            x->q.w = wq, x->kv.w = wk, x->fc.w = fc;
        }
        plan_norm(a, &x->norm0, m, p, l, ".layer_norm", INV_ATTENTION_EPSILON);
        snprintf(p, sizeof p, "%sencoder.norm1_layers.", prefix);
        plan_norm(a, &x->norm1, m, p, l, "", INV_NORM_EPSILON);
        snprintf(p, sizeof p, "%sencoder.norm2_layers.", prefix);
        plan_norm(a, &x->norm2, m, p, l, "", INV_NORM_EPSILON);
        snprintf(p, sizeof p, "%sencoder.linear1_layers.", prefix);
        plan_affine(a, &x->ff1, m, p, l, "", need);
        snprintf(p, sizeof p, "%sencoder.linear2_layers.", prefix);
        plan_affine(a, &x->ff2, m, p, l, "", need);
    }
}

static void plan_decoder(inv_prepared *w, arena *a, const struct invit_model *m)
{
    const inv_config *c = &w->config;
    int32_t d = c->dim, dk = d / c->heads, width = d * w->views, last = c->decoder_layers - 1;
    const inv_tensor *wk = inv_model_find(m, "WK_att_decoder.weight"),
                     *bk = inv_model_find(m, "WK_att_decoder.bias"),
                     *wv = inv_model_find(m, "WV_att_decoder.weight"),
                     *bv = inv_model_find(m, "WV_att_decoder.bias");
    const char *p = "decoder.decoder_layers.";
    direction need = w->training ? BOTH : FORWARD;
    direction back = w->training ? BOTH : BACKWARD;
    plan_affine(a, &w->query, m, "", -1, "query_mlp", need);
    for (int32_t l = 0; l < last; l++) {
        inv_decoder_layer *x = &w->decoder[l];
        plan_affine(a, &x->q, m, p, l, ".Wq_att", need);
        plan_affine(a, &x->w0, m, p, l, ".W0_att", need);
        plan_affine(a, &x->ff1, m, p, l, ".W1_MLP", need);
        plan_affine(a, &x->ff2, m, p, l, ".W2_MLP", need);
        plan_norm(a, &x->norm0, m, p, l, ".BN_att", INV_NORM_EPSILON);
        plan_norm(a, &x->norm1, m, p, l, ".BN_MLP", INV_NORM_EPSILON);
        for (int32_t i = 0; i < c->heads; i++) {
            size_t row = (size_t)(l * d + i * dk) * (size_t)width;
            plan_packed(a, &x->key[i], dk, width, back);
            plan_packed(a, &x->value[i], dk, width, need);
            x->key[i].w = wk->offset + row;
            x->value[i].w = wv->offset + row;
        }
        x->value_b = bv->offset + (size_t)(l * d);
        x->value_bias = take(a, padded(d) + INV_PANEL); /* read from any head's start */
    }
    plan_affine(a, &w->query_final, m, "decoder.", -1, "Wq_final", need);
    plan_packed(a, &w->key_final, d, width, back);
    w->key_final.w = wk->offset + (size_t)(last * d) * (size_t)width;
    w->key_final.b = bk->offset + (size_t)(last * d);
    w->key_final.bias = take(a, padded(d));
}

static size_t plan(inv_prepared *w, const struct invit_model *m)
{
    arena a = {.base = w->block}, fold = {0};
    for (int32_t e = 0; e < w->views; e++) plan_encoder(w, &a, &fold, m, e);
    plan_decoder(w, &a, m);
    w->folded = fold.used;
    return a.used;
}

invit_status inv_prepared_create(const struct invit_model *m, inv_purpose purpose, inv_prepared **out,
                                 invit_error *err)
{
    const inv_config *c = &m->config;
    inv_prepared *w = calloc(1, sizeof *w);
    *out = NULL;
    if (!w) return inv_no_memory(err, sizeof *w);
    w->config = *c;
    w->kernels = inv_kernels_best();
    w->training = purpose & INV_TRAINING;
    w->int8 = purpose & INV_PURPOSE_INT8 && w->kernels->gemm_int8;
    w->bf16 = purpose & INV_PURPOSE_BF16 && w->kernels->gemm_bf16;
    w->views = c->state_views + 1;
    size_t inner = (size_t)(c->decoder_layers - 1), heads = (size_t)c->heads;
    bool ok = (w->encoder = calloc((size_t)w->views, sizeof *w->encoder)) != NULL;
    ok = ok && (w->decoder = calloc(inner + 1, sizeof *w->decoder)) != NULL;
    for (int32_t e = 0; ok && e < w->views; e++) {
        size_t layers = (size_t)(e == 0 ? c->action_layers : c->state_layers);
        ok = (w->encoder[e].layer = calloc(layers, sizeof(inv_layer))) != NULL;
    }
    for (size_t l = 0; ok && l < inner; l++) {
        w->decoder[l].key = calloc(heads, sizeof(inv_affine));
        w->decoder[l].value = calloc(heads, sizeof(inv_affine));
        ok = w->decoder[l].key && w->decoder[l].value;
    }
    size_t floats = ok ? plan(w, m) : 0, bytes = (floats + 64) * sizeof(float);
    if (ok) {
        w->block = aligned_alloc(64, (bytes + 63) / 64 * 64);
        w->fold = calloc(w->folded, sizeof *w->fold);
        w->work = calloc(inv_fold_work(w), sizeof *w->work);
        ok = w->block && w->fold && w->work;
    }
    if (!ok) {
        inv_prepared_destroy(w);
        return inv_no_memory(err, bytes);
    }
    memset(w->block, 0, bytes);
    plan(w, m);
    inv_prepared_refresh(w, m);
    *out = w;
    return INVIT_OK;
}

void inv_prepared_destroy(inv_prepared *w)
{
    if (!w) return;
    for (int32_t e = 0; w->encoder && e < w->views; e++) free(w->encoder[e].layer);
    for (int32_t l = 0; w->decoder && l + 1 < w->config.decoder_layers; l++) {
        free(w->decoder[l].key);
        free(w->decoder[l].value);
    }
    free(w->encoder);
    free(w->decoder);
    free(w->block);
    free(w->fold);
    free(w->work);
    free(w);
}

/* ---- folding the first layer --------------------------------------------------------------------------- */

/* E [d][F] embeds phi. A = Wq E, B = Wk E, C = Wv E are [d][F]; per head, M[j][i] = sum_c A[c][i] B[c][j] and
 * G[o][j] = sum_c fc[o][c] C[c][j], c over the head's rows. */

size_t inv_fold_work(const inv_prepared *w)
{
    size_t most = 0;
    for (int32_t e = 0; e < w->views; e++)
        if ((size_t)w->encoder[e].inputs > most) most = (size_t)w->encoder[e].inputs;
    return 8 * most * (size_t)w->config.dim;
}

/* out[rows][F] = W[rows][d] x[d][F] */
static void times(int32_t d, int32_t F, const float *W, const double *x, double *out)
{
    for (int32_t r = 0; r < d; r++) {
        double *o = out + (size_t)r * (size_t)F;
        memset(o, 0, (size_t)F * sizeof *o);
        for (int32_t c = 0; c < d; c++)
            for (int32_t i = 0; i < F; i++)
                o[i] += (double)W[(size_t)r * (size_t)d + (size_t)c] * x[c * F + i];
    }
}

/* Columns of the embedding: which parameter each one is. */
static size_t embedding_param(const inv_prepared *w, const inv_encoder *enc, int32_t row, int32_t column)
{
    int32_t group = w->config.problem == INVIT_CVRP ? 4 : 3, t = column / group;
    int32_t in = t == 2 ? 2 : group - 1, i = column - t * group;
    return i == in ? enc->input_b[t] + (size_t)row : enc->input_w[t] + (size_t)(row * in + i);
}

static void gather_embedding(const inv_prepared *w, const inv_encoder *enc, const float *param, double *E)
{
    int32_t d = w->config.dim, F = enc->inputs;
    for (int32_t r = 0; r < d; r++)
        for (int32_t i = 0; i < F; i++) E[r * F + i] = (double)param[embedding_param(w, enc, r, i)];
}

static void fold(const inv_prepared *w, const inv_encoder *enc, const float *param)
{
    int32_t d = w->config.dim, h = w->config.heads, dk = d / h, F = enc->inputs;
    size_t n = (size_t)d * (size_t)F;
    double *E = w->work, *A = E + n, *B = A + n, *C = B + n;
    gather_embedding(w, enc, param, E);
    times(d, F, param + enc->wq, E, A);
    times(d, F, param + enc->wk, E, B);
    times(d, F, param + enc->wv, E, C);
    float *e = w->fold + enc->embed.w, *M = w->fold + enc->layer[0].q.w, *G = w->fold + enc->layer[0].fc.w;
    for (size_t i = 0; i < n; i++) e[i] = (float)E[i];
    for (int32_t a = 0; a < h; a++) {
        const double *Ah = A + a * dk * F, *Bh = B + a * dk * F, *Ch = C + a * dk * F;
        for (int32_t j = 0; j < F; j++)
            for (int32_t i = 0; i < F; i++) {
                double s = 0;
                for (int32_t c = 0; c < dk; c++) s += Ah[c * F + i] * Bh[c * F + j];
                M[(a * F + j) * F + i] = (float)s;
            }
        for (int32_t o = 0; o < d; o++)
            for (int32_t j = 0; j < F; j++) {
                double s = 0;
                for (int32_t c = 0; c < dk; c++)
                    s += (double)param[enc->fc + (size_t)(o * d + a * dk + c)] * Ch[c * F + j];
                G[(size_t)o * (size_t)(h * F) + (size_t)(a * F + j)] = (float)s;
            }
    }
}

/* dW += dX x^T and dx += W^T dX, for X = W x. */
static void times_backward(int32_t d, int32_t F, const float *W, const double *x, const double *dX, float *dW,
                           double *dx)
{
    for (int32_t r = 0; r < d; r++)
        for (int32_t c = 0; c < d; c++) {
            double s = 0, wrc = (double)W[(size_t)r * (size_t)d + (size_t)c];
            for (int32_t i = 0; i < F; i++) {
                s += dX[r * F + i] * x[c * F + i];
                dx[c * F + i] += wrc * dX[r * F + i];
            }
            dW[(size_t)r * (size_t)d + (size_t)c] += (float)s;
        }
}

static void unfold(const inv_prepared *w, const inv_encoder *enc, const float *param, const float *folded,
                   double *work, float *grad)
{
    int32_t d = w->config.dim, h = w->config.heads, dk = d / h, F = enc->inputs;
    size_t n = (size_t)d * (size_t)F;
    double *E = work, *A = E + n, *B = A + n, *C = B + n, *dE = C + n, *dA = dE + n, *dB = dA + n,
           *dC = dB + n;
    gather_embedding(w, enc, param, E);
    times(d, F, param + enc->wq, E, A);
    times(d, F, param + enc->wk, E, B);
    times(d, F, param + enc->wv, E, C);
    memset(dA, 0, 3 * n * sizeof *dA);
    const float *dM = folded + enc->layer[0].q.w, *dG = folded + enc->layer[0].fc.w;
    for (size_t i = 0; i < n; i++) dE[i] = (double)folded[enc->embed.w + i];
    for (int32_t a = 0; a < h; a++)
        for (int32_t c = a * dk; c < (a + 1) * dk; c++) {
            for (int32_t j = 0; j < F; j++)
                for (int32_t i = 0; i < F; i++) {
                    double g = (double)dM[(a * F + j) * F + i];
                    dA[c * F + i] += g * B[c * F + j];
                    dB[c * F + j] += g * A[c * F + i];
                }
            for (int32_t o = 0; o < d; o++) {
                double s = 0, fc = (double)param[enc->fc + (size_t)(o * d + c)];
                const float *g = dG + (size_t)o * (size_t)(h * F) + (size_t)(a * F);
                for (int32_t j = 0; j < F; j++) {
                    s += (double)g[j] * C[c * F + j];
                    dC[c * F + j] += fc * (double)g[j];
                }
                grad[enc->fc + (size_t)(o * d + c)] += (float)s;
            }
        }
    times_backward(d, F, param + enc->wq, E, dA, grad + enc->wq, dE);
    times_backward(d, F, param + enc->wk, E, dB, grad + enc->wk, dE);
    times_backward(d, F, param + enc->wv, E, dC, grad + enc->wv, dE);
    for (int32_t r = 0; r < d; r++)
        for (int32_t i = 0; i < F; i++) grad[embedding_param(w, enc, r, i)] += (float)dE[r * F + i];
}

void inv_unfold_gradient(const inv_prepared *w, const struct invit_model *m, const float *folded,
                         double *work, float *grad)
{
    for (int32_t e = 0; e < w->views; e++) unfold(w, &w->encoder[e], m->param, folded, work, grad);
}

/* ---- packing ------------------------------------------------------------------------------------------- */

static void pack_affine(inv_affine *a, const float *weights, const float *param)
{
    const float *w = weights + a->w;
    if (a->forward) inv_pack(a->forward, w, a->out, a->in, a->in, 1);
    if (a->int8) inv_pack_int8(a->int8, w, a->out, a->in, a->in, 1);
    if (a->bf16) inv_pack_bf16(a->bf16, w, a->out, a->in, a->in, 1);
    if (a->bf16_back) inv_pack_bf16(a->bf16_back, w, a->in, a->out, 1, a->in);
    if (a->backward) inv_pack(a->backward, w, a->in, a->out, 1, a->in);
    if (a->bias) memcpy(a->bias, param + a->b, (size_t)a->out * sizeof(float));
}

static void copy_norm(inv_norm *x, int32_t d, const float *param)
{
    memcpy(x->gamma, param + x->g, (size_t)d * sizeof(float));
    memcpy(x->beta, param + x->b, (size_t)d * sizeof(float));
}

void inv_prepared_refresh(inv_prepared *w, const struct invit_model *m)
{
    const float *param = m->param;
    int32_t d = w->config.dim;
    for (int32_t e = 0; e < w->views; e++) {
        inv_encoder *enc = &w->encoder[e];
        fold(w, enc, param);
        pack_affine(&enc->embed, w->fold, param);
        for (int32_t l = 0; l < enc->layers; l++) {
            inv_layer *x = &enc->layer[l];
            pack_affine(&x->q, l == 0 ? w->fold : param, param);
            pack_affine(&x->fc, l == 0 ? w->fold : param, param);
            if (l > 0) pack_affine(&x->kv, param, param);
            pack_affine(&x->ff1, param, param);
            pack_affine(&x->ff2, param, param);
            copy_norm(&x->norm0, d, param);
            copy_norm(&x->norm1, d, param);
            copy_norm(&x->norm2, d, param);
        }
    }
    pack_affine(&w->query, param, param);
    for (int32_t l = 0; l + 1 < w->config.decoder_layers; l++) {
        inv_decoder_layer *x = &w->decoder[l];
        inv_affine *part[4] = {&x->q, &x->w0, &x->ff1, &x->ff2};
        for (int i = 0; i < 4; i++) pack_affine(part[i], param, param);
        for (int32_t i = 0; i < w->config.heads; i++) {
            pack_affine(&x->key[i], param, param);
            pack_affine(&x->value[i], param, param);
        }
        memcpy(x->value_bias, param + x->value_b, (size_t)d * sizeof(float));
        copy_norm(&x->norm0, d, param);
        copy_norm(&x->norm1, d, param);
    }
    pack_affine(&w->query_final, param, param);
    pack_affine(&w->key_final, param, param);
}
