#include "policy/network.h"

#include <stdlib.h>
#include <string.h>

/* States computed together in inference: enough rows to reuse each weight from the cache, few enough that
 * their activations stay in the second-level cache. */
enum { INFERENCE_CHUNK = 16, LARGE_VIEW = 256 };

int32_t inv_candidates(const inv_config *c)
{
    return c->action_k + (c->problem == INVIT_CVRP ? 1 : 0);
}

/* ---- room for activations: one block, laid out by running the same plan twice -------------------------- */

typedef struct arena {
    float *base;
    size_t used;
} arena;

static float *take(arena *a, size_t rows, ptrdiff_t stride)
{
    float *p = a->base ? a->base + a->used : NULL;
    a->used += (rows * (size_t)stride + 15) / 16 * 16;
    return p;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Strides of the query rows: d, or in the first layer h F. */
static ptrdiff_t query_stride(const inv_prepared *w, const inv_encoder *enc, int32_t l)
{
    return inv_stride(l == 0 ? w->config.heads * enc->inputs : w->config.dim);
}

static void plan_layer_kept(inv_policy *p, arena *a, int32_t e, int32_t l)
{
    const inv_prepared *w = p->w;
    const inv_encoder *enc = &w->encoder[e];
    inv_view_acts *v = &p->view[e];
    inv_layer_acts *x = &v->layer[l];
    ptrdiff_t ld = inv_stride(w->config.dim), ldq = query_stride(w, enc, l);
    bool last = l + 1 == enc->layers, selected = last && e > 0;
    size_t qrows = selected ? v->qrows : v->rows;
    x->h = l == 0 ? take(a, v->rows, ld) : v->layer[l - 1].out;
    x->hq = selected ? take(a, qrows, ld) : x->h;
    x->xq = l > 0 ? x->hq : v->phi;
    if (l == 0 && selected) x->xq = take(a, qrows, inv_stride(enc->inputs));
    x->q = take(a, qrows, ldq);
    x->kv = l > 0 ? take(a, v->rows, inv_stride(2 * w->config.dim)) : NULL;
    x->o = take(a, qrows, ldq);
    x->p = take(a, selected ? v->kept_last : v->kept, 1);
    for (int i = 0; i < 3; i++) {
        x->xhat[i] = take(a, qrows, ld);
        x->rstd[i] = take(a, qrows, 1);
    }
    x->v = take(a, qrows, ld);
    x->hidden = take(a, qrows, inv_stride(w->config.ff));
    x->out = take(a, qrows, ld);
}

/* Without a backward pass, layers and views share everything but each view's final rows. */
static void plan_layers_shared(inv_policy *p, arena *a)
{
    const inv_prepared *w = p->w;
    ptrdiff_t ld = inv_stride(w->config.dim), ldq = 0;
    size_t rows = 0;
    for (int32_t e = 0; e < w->views; e++) {
        rows = most(rows, p->view[e].rows);
        ldq = (ptrdiff_t)most((size_t)ldq, (size_t)query_stride(w, &w->encoder[e], 0));
    }
    ldq = (ptrdiff_t)most((size_t)ldq, (size_t)ld);
    float *q = take(a, rows, ldq), *o = take(a, rows, ldq),
          *kv = take(a, rows, inv_stride(2 * w->config.dim));
    float *shared = take(a, rows, ld);
    for (int32_t e = 0; e < w->views; e++) {
        inv_view_acts *v = &p->view[e];
        const inv_encoder *enc = &w->encoder[e];
        float *final = take(a, e > 0 ? v->qrows : v->rows, ld);
        float *h = e > 0 ? shared : final;
        for (int32_t l = 0; l < enc->layers; l++) {
            inv_layer_acts *x = &v->layer[l];
            bool last = l + 1 == enc->layers, selected = last && e > 0;
            x->h = h;
            x->hq = x->out = selected ? final : h;
            x->xq = l > 0 ? x->hq : v->phi;
            if (l == 0 && selected) x->xq = take(a, v->qrows, inv_stride(enc->inputs));
            x->q = q, x->kv = kv, x->o = o;
        }
    }
}

static void plan_decoder(inv_policy *p, arena *a)
{
    const inv_prepared *w = p->w;
    const inv_config *c = &w->config;
    size_t chunk = (size_t)p->chunk, heads = (size_t)c->heads;
    ptrdiff_t ld = inv_stride(c->dim), ldw = inv_stride(c->dim * w->views);
    for (int32_t l = 0; l + 1 < c->decoder_layers; l++) {
        inv_decoder_acts *x = &p->decoder[l];
        x->in = take(a, chunk, ld);
        x->q = take(a, chunk, ld);
        x->u = take(a, chunk * heads, ldw);
        x->e = take(a, chunk * heads, ldw);
        x->att = take(a, chunk, ld);
        x->mid = take(a, chunk, ld);
        x->hidden = take(a, chunk, ld);
        if (!p->training) continue;
        x->p = take(a, chunk * heads, inv_keys(inv_candidates(c)));
        for (int i = 0; i < 2; i++) {
            x->xhat[i] = take(a, chunk, ld);
            x->rstd[i] = take(a, chunk, 1);
        }
    }
    p->cand = take(a, p->candidates, ldw);
    p->z = take(a, p->candidates, 1);
    p->query_in = take(a, chunk, inv_stride(w->query.in));
    p->final_in = take(a, chunk, ld);
    p->final_q = take(a, chunk, ld);
    p->final_u = take(a, chunk, ldw);
}

static void plan_backward(inv_policy *p, arena *a)
{
    const inv_prepared *w = p->w;
    const inv_config *c = &w->config;
    size_t rows = 0, chunk = (size_t)p->chunk, heads = (size_t)c->heads;
    ptrdiff_t ld = inv_stride(c->dim), ldw = inv_stride(c->dim * w->views), ldq = ld;
    for (int32_t e = 0; e < w->views; e++) {
        inv_view_acts *v = &p->view[e];
        rows = most(rows, v->rows);
        ldq = (ptrdiff_t)most((size_t)ldq, (size_t)query_stride(w, &w->encoder[e], 0));
        v->d_out = take(a, v->rows, ld);
    }
    p->d_in = take(a, rows, ld);
    p->d_norm = take(a, rows, ld);
    p->d_q = take(a, rows, ldq);
    p->d_o = take(a, rows, ldq);
    p->d_kv = take(a, rows, inv_stride(2 * c->dim));
    p->d_hidden = take(a, INV_GRADIENT_BLOCK, inv_stride(c->ff));
    p->d_cand = take(a, p->candidates, ldw);
    p->d_query = take(a, chunk, inv_stride(w->query.in));
    p->d_step = take(a, chunk, ld);
    p->d_mid = take(a, chunk, ld);
    p->d_att = take(a, chunk, ld);
    p->d_u = take(a, chunk * heads, ldw);
    p->d_e = take(a, chunk * heads, ldw);
}

static size_t plan(inv_policy *p, float *base)
{
    const inv_prepared *w = p->w;
    const inv_config *c = &w->config;
    arena a = {.base = base};
    ptrdiff_t ld = inv_stride(c->dim);
    int32_t width = 16;
    for (int32_t e = 0; e < w->views; e++) {
        p->view[e].phi = take(&a, p->view[e].rows, inv_stride(w->encoder[e].inputs));
        width = w->encoder[e].inputs > width ? w->encoder[e].inputs : width;
    }
    if (p->training) {
        for (int32_t e = 0; e < w->views; e++)
            for (int32_t l = 0; l < w->encoder[e].layers; l++) plan_layer_kept(p, &a, e, l);
        plan_backward(p, &a);
    } else {
        plan_layers_shared(p, &a);
    }
    plan_decoder(p, &a);
    p->row_block = take(&a, INV_ROW_BLOCK, 2 * ld + inv_stride(c->ff));
    ptrdiff_t head = c->dim / c->heads > width ? c->dim / c->heads : width, n = (ptrdiff_t)p->keys;
    ptrdiff_t all = (ptrdiff_t)c->dim * w->views, slots = inv_candidates(c);
    p->scratch = take(&a,
                      most(inv_attention_scratch(n, n, head, head, p->training),
                           inv_attention_scratch(c->heads, slots, all, all, p->training)),
                      1);
    return a.used;
}

static invit_status allocate(inv_policy *p, invit_error *err)
{
    size_t floats = plan(p, NULL) + 64, bytes = (floats * sizeof(float) + 63) / 64 * 64;
    float *block = aligned_alloc(64, bytes);
    if (!block) return inv_no_memory(err, bytes);
    free(p->block);
    memset(block, 0, bytes);
    p->block = block;
    plan(p, block);
    return INVIT_OK;
}

invit_status inv_policy_create(const inv_prepared *w, int32_t batch, bool training, inv_policy **out,
                               invit_error *err)
{
    *out = NULL;
    if (batch < 1)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "a policy needs room for at least one state, not %d", batch);
    if (training && !w->training)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "training needs weights prepared for training");
    inv_policy *p = calloc(1, sizeof *p);
    if (!p) return inv_no_memory(err, sizeof *p);
    p->w = w;
    p->k = w->kernels;
    p->batch = batch;
    p->training = training;
    p->chunk = training || batch < INFERENCE_CHUNK ? batch : INFERENCE_CHUNK;
    size_t chunk = (size_t)p->chunk, entries = chunk + 1;
    bool ok = (p->view = calloc((size_t)w->views, sizeof *p->view)) != NULL;
    p->decoder = calloc((size_t)w->config.decoder_layers, sizeof *p->decoder);
    p->candidate = calloc(entries, sizeof *p->candidate);
    p->depot = calloc(entries, sizeof *p->depot);
    ok = ok && p->decoder && p->candidate && p->depot;
    for (int32_t e = 0; ok && e < w->views; e++) {
        inv_view_acts *v = &p->view[e];
        const inv_encoder *enc = &w->encoder[e];
        /* Views over all nodes grow when they are first seen. */
        size_t k = (size_t)(enc->k < LARGE_VIEW ? enc->k : LARGE_VIEW) + 2,
               q = (size_t)w->config.action_k + 2;
        v->rows = chunk * k;
        v->qrows = chunk * q;
        v->kept = chunk * (size_t)w->config.heads * k * (size_t)inv_keys((ptrdiff_t)k);
        v->kept_last = chunk * (size_t)w->config.heads * q * (size_t)inv_keys((ptrdiff_t)k);
        p->keys = most(p->keys, k);
        v->token = calloc(entries, sizeof *v->token);
        v->query = calloc(entries, sizeof *v->query);
        v->layer = calloc((size_t)enc->layers, sizeof *v->layer);
        ok = v->token && v->query && v->layer;
    }
    p->candidates = chunk * (size_t)inv_candidates(&w->config);
    if (ok && training) {
        p->folded = calloc(w->folded, sizeof *p->folded);
        p->work = calloc(inv_fold_work(w), sizeof *p->work);
        ok = p->folded && p->work;
    }
    invit_status status = ok ? allocate(p, err) : inv_no_memory(err, chunk * sizeof(float));
    if (status != INVIT_OK) {
        inv_policy_destroy(p);
        return status;
    }
    *out = p;
    return INVIT_OK;
}

void inv_policy_destroy(inv_policy *p)
{
    if (!p) return;
    for (int32_t e = 0; p->view && e < p->w->views; e++) {
        free(p->view[e].token);
        free(p->view[e].query);
        free(p->view[e].layer);
    }
    free(p->view);
    free(p->decoder);
    free(p->candidate);
    free(p->depot);
    free(p->folded);
    free(p->work);
    free(p->block);
    free(p);
}

/* Grows the activations if these states need more than there is. */
static invit_status make_room(inv_policy *p, const inv_state *states, int32_t count, invit_error *err)
{
    const inv_prepared *w = p->w;
    bool grow = false;
    for (int32_t e = 0; e < w->views; e++) {
        size_t rows = 0, kept = 0, kept_last = 0, heads = (size_t)w->config.heads;
        inv_view_acts *v = &p->view[e];
        for (int32_t i = 0; i < count; i++) {
            size_t n = (size_t)inv_view_tokens(w, e, &states[i]),
                   q = (size_t)inv_view_queries(w, e, &states[i]);
            rows += n;
            kept += heads * n * (size_t)inv_keys((ptrdiff_t)n);
            kept_last += heads * q * (size_t)inv_keys((ptrdiff_t)n);
            if (n > p->keys) p->keys = n + n / 4, grow = true;
        }
        if (rows > v->rows) v->rows = rows + rows / 4, grow = true;
        if (p->training && kept > v->kept) v->kept = kept + kept / 4, grow = true;
        if (p->training && kept_last > v->kept_last) v->kept_last = kept_last + kept_last / 4, grow = true;
    }
    return grow ? allocate(p, err) : INVIT_OK;
}

static invit_status check_states(const inv_policy *p, const inv_state *states, int32_t count,
                                 invit_error *err)
{
    if (count < 0 || (p->training && count > p->batch))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "%d states for a policy with room for %d", count, p->batch);
    for (int32_t i = 0; i < count; i++)
        if (states[i].action < 0 || states[i].rest < 0 || states[i].action > p->w->config.action_k)
            return inv_fail(err, INVIT_ERR_ARGUMENT,
                            "state %d has %d + %d neighbours, expected at most %d in its action view", i,
                            states[i].action, states[i].rest, p->w->config.action_k);
    return INVIT_OK;
}

invit_status inv_policy_forward(inv_policy *p, const inv_state *states, int32_t count, float *logp,
                                invit_error *err)
{
    INV_CHECK(check_states(p, states, count, err));
    int32_t slots = inv_candidates(&p->w->config);
    for (int32_t i = 0; i < count; i += p->chunk) {
        int32_t n = count - i < p->chunk ? count - i : p->chunk;
        INV_CHECK(make_room(p, states + i, n, err));
        for (int32_t e = 0; e < p->w->views; e++) inv_encoder_forward(p, e, states + i, n);
        inv_decoder_forward(p, states + i, n, logp + (ptrdiff_t)i * slots);
    }
    return INVIT_OK;
}

void inv_policy_backward(inv_policy *p, const inv_state *states, int32_t count, const float *dlogit,
                         float *grad)
{
    inv_decoder_backward(p, states, count, dlogit, grad);
    for (int32_t e = 0; e < p->w->views; e++) inv_encoder_backward(p, e, count, grad);
}

void inv_policy_flush_gradient(inv_policy *p, const struct invit_model *m, float *grad)
{
    inv_unfold_gradient(p->w, m, p->folded, p->work, grad);
    memset(p->folded, 0, p->w->folded * sizeof *p->folded);
}
