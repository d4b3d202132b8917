/* Multi-view decoder, forward and backward. Candidates E [n][W] and one query q [d] per state.
 *
 * There is only one query, so candidates are never projected: with K = E WK^T and V = E WV^T,
 *   q_h . K_c = (WK_h^T q_h) . E_c   and   sum_c p_c V_c = WV_h (sum_c p_c E_c) + bv_h.
 * The bias of K shifts all scores of a head alike, which the softmax does not see; it matters only under the
 * last layer's tanh.
 */
#include "policy/network.h"

#include <math.h>
#include <string.h>

#define CLIP 10.0f

typedef struct shape {
    ptrdiff_t ld, ldw, ldqin; /* strides of d, W and the query's input */
    int32_t d, dk, heads, width, inner;
} shape;

static shape decoder_shape(const inv_policy *p)
{
    const inv_config *c = &p->w->config;
    return (shape){.ld = inv_stride(c->dim),
                   .ldw = inv_stride(c->dim * p->w->views),
                   .ldqin = inv_stride(p->w->query.in),
                   .d = c->dim,
                   .dk = c->dim / c->heads,
                   .heads = c->heads,
                   .width = c->dim * p->w->views,
                   .inner = c->decoder_layers - 1};
}

/* Where state i's rows lie in the output of view e: candidates from `row`, then last, then (if any) first. */
typedef struct view_rows {
    float *row, *last, *first;
} view_rows;

static view_rows rows_of(const inv_policy *p, int32_t e, int32_t i, float *base)
{
    const inv_view_acts *v = &p->view[e];
    const int32_t *start = e > 0 ? v->query : v->token; /* the action view computes all its rows */
    ptrdiff_t ld = inv_stride(p->w->config.dim);
    bool has_first = p->w->encoder[e].has_first;
    view_rows r = {.row = base + start[i] * ld, .last = base + (start[i + 1] - (has_first ? 2 : 1)) * ld};
    r.first = has_first ? r.last + ld : NULL;
    return r;
}

static const inv_layer_acts *last_layer(const inv_policy *p, int32_t e)
{
    return &p->view[e].layer[p->w->encoder[e].layers - 1];
}

/* Channel-wise concatenation over the views, the action view first. */
static void gather(inv_policy *p, const inv_state *states, int32_t count, const shape *s)
{
    size_t bytes = (size_t)s->d * sizeof(float);
    p->candidate[0] = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t n = inv_state_candidates(p->w, &states[i]), row = p->candidate[i];
        float *query = p->query_in + i * s->ldqin;
        p->candidate[i + 1] = row + n;
        for (int32_t e = 0; e < p->w->views; e++) {
            view_rows r = rows_of(p, e, i, last_layer(p, e)->out);
            float *to = p->cand + row * s->ldw + e * s->d;
            for (int32_t j = 0; j < states[i].action; j++) memcpy(to + j * s->ldw, r.row + j * s->ld, bytes);
            if (n > states[i].action) memcpy(to + (n - 1) * s->ldw, r.first, bytes);
            memcpy(query, r.last, bytes);
            query += s->d;
            if (!r.first) continue;
            memcpy(query, r.first, bytes);
            query += s->d;
        }
    }
}

static void scatter_gradient(inv_policy *p, const inv_state *states, int32_t count, const shape *s)
{
    for (int32_t e = 0; e < p->w->views; e++) {
        const inv_view_acts *v = &p->view[e];
        int32_t rows = (e > 0 ? v->query : v->token)[count];
        memset(v->d_out, 0, (size_t)(rows * s->ld) * sizeof(float));
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t row = p->candidate[i], n = p->candidate[i + 1] - row;
        const float *query = p->d_query + i * s->ldqin;
        for (int32_t e = 0; e < p->w->views; e++) {
            view_rows r = rows_of(p, e, i, p->view[e].d_out);
            const float *from = p->d_cand + row * s->ldw + e * s->d;
            for (int32_t j = 0; j < states[i].action; j++)
                p->k->axpy((size_t)s->d, 1.0f, from + j * s->ldw, r.row + j * s->ld);
            if (n > states[i].action) p->k->axpy((size_t)s->d, 1.0f, from + (n - 1) * s->ldw, r.first);
            p->k->axpy((size_t)s->d, 1.0f, query, r.last);
            query += s->d;
            if (!r.first) continue;
            p->k->axpy((size_t)s->d, 1.0f, query, r.first);
            query += s->d;
        }
    }
}

/* A state's attention over its candidates: the heads are the queries of one product. */
static inv_attention state_attention(const inv_policy *p, const inv_decoder_acts *a, const shape *s,
                                     int32_t i)
{
    const float *cand = p->cand + p->candidate[i] * s->ldw;
    ptrdiff_t query = (ptrdiff_t)i * s->heads * s->ldw;
    return (inv_attention){.heads = 1,
                           .m = s->heads,
                           .n = p->candidate[i + 1] - p->candidate[i],
                           .dk = s->width,
                           .dv = s->width,
                           .scale = 1.0f / sqrtf((float)s->dk),
                           .q = a->u + query,
                           .k = cand,
                           .v = cand,
                           .o = a->e + query,
                           .ldq = s->ldw,
                           .ldk = s->ldw,
                           .ldv = s->ldw,
                           .ldo = s->ldw,
                           .scratch = p->scratch};
}

static void layer_forward(inv_policy *p, int32_t l, int32_t count, const shape *s, float *out)
{
    const inv_kernels *k = p->k;
    const inv_decoder_layer *w = &p->w->decoder[l];
    inv_decoder_acts *a = &p->decoder[l];
    ptrdiff_t ldu = s->heads * s->ldw;
    inv_affine_forward(k, &w->q, count, a->in, s->ld, a->q, s->ld, INV_STORE);
    for (int32_t h = 0; h < s->heads; h++)
        inv_affine_transposed(k, &w->key[h], count, a->q + h * s->dk, s->ld, a->u + h * s->ldw, ldu,
                              INV_STORE, NULL);
    float *kept = a->p;
    for (int32_t i = 0; i < count; i++) {
        inv_attention t = state_attention(p, a, s, i);
        if (t.n == 0) continue;
        t.p = kept;
        k->attend(&t);
        if (kept) kept += (ptrdiff_t)t.m * inv_keys(t.n);
    }
    for (int32_t h = 0; h < s->heads; h++)
        k->gemm(count, s->dk, s->width, a->e + h * s->ldw, ldu, w->value[h].forward, a->att + h * s->dk,
                s->ld, w->value_bias + h * s->dk, INV_STORE, NULL);
    inv_affine_forward(k, &w->w0, count, a->att, s->ld, a->mid, s->ld, INV_STORE);
    k->norm(count, s->d, a->mid, a->in, s->ld, w->norm0.gamma, w->norm0.beta, w->norm0.eps, a->mid,
            a->xhat[0], a->rstd[0]);
    inv_affine_forward(k, &w->ff1, count, a->mid, s->ld, a->hidden, s->ld, INV_RELU);
    inv_affine_forward(k, &w->ff2, count, a->hidden, s->ld, out, s->ld, INV_STORE);
    k->norm(count, s->d, out, a->mid, s->ld, w->norm1.gamma, w->norm1.beta, w->norm1.eps, out, a->xhat[1],
            a->rstd[1]);
}

/* d_step holds the gradient of the layer's output and is left with that of its input. */
static void layer_backward(inv_policy *p, int32_t l, int32_t count, const shape *s, float *grad)
{
    const inv_kernels *k = p->k;
    const inv_decoder_layer *w = &p->w->decoder[l];
    inv_decoder_acts *a = &p->decoder[l];
    ptrdiff_t ldu = s->heads * s->ldw;
    float *d = p->d_step, *mid = p->d_mid, *att = p->d_att;
    k->norm_backward(count, s->d, d, a->xhat[1], a->rstd[1], s->ld, w->norm1.gamma, d, grad + w->norm1.g,
                     grad + w->norm1.b);
    inv_affine_gradient(k, &w->ff2, count, d, s->ld, a->hidden, s->ld, grad);
    inv_affine_backward(k, &w->ff2, count, d, s->ld, mid, s->ld, INV_STORE, a->hidden);
    inv_affine_gradient(k, &w->ff1, count, mid, s->ld, a->mid, s->ld, grad);
    inv_affine_backward(k, &w->ff1, count, mid, s->ld, d, s->ld, INV_ADD, NULL);
    k->norm_backward(count, s->d, d, a->xhat[0], a->rstd[0], s->ld, w->norm0.gamma, d, grad + w->norm0.g,
                     grad + w->norm0.b);
    inv_affine_gradient(k, &w->w0, count, d, s->ld, a->att, s->ld, grad);
    inv_affine_backward(k, &w->w0, count, d, s->ld, att, s->ld, INV_STORE, NULL);
    k->column_sums(count, s->d, att, s->ld, grad + w->value_b);
    for (int32_t h = 0; h < s->heads; h++) {
        inv_affine_gradient(k, &w->value[h], count, att + h * s->dk, s->ld, a->e + h * s->ldw, ldu, grad);
        inv_affine_backward(k, &w->value[h], count, att + h * s->dk, s->ld, p->d_e + h * s->ldw, ldu,
                            INV_STORE, NULL);
    }
    float *kept = a->p;
    for (int32_t i = 0; i < count; i++) {
        inv_attention t = state_attention(p, a, s, i);
        ptrdiff_t query = (ptrdiff_t)i * ldu;
        t.p = kept;
        t.d_o = p->d_e + query;
        t.d_q = p->d_u + query;
        t.d_k = t.d_v = p->d_cand + p->candidate[i] * s->ldw;
        k->attend_backward(&t);
        kept += (ptrdiff_t)t.m * inv_keys(t.n);
    }
    for (int32_t h = 0; h < s->heads; h++) { /* u = q WK: the block's rows are weighted by q */
        k->gemm_tn(count, s->dk, s->width, a->q + h * s->dk, s->ld, p->d_u + h * s->ldw, ldu,
                   grad + w->key[h].w, s->width);
        inv_affine_forward(k, &w->key[h], count, p->d_u + h * s->ldw, ldu, att + h * s->dk, s->ld, INV_STORE);
    }
    inv_affine_gradient(k, &w->q, count, att, s->ld, a->in, s->ld, grad);
    inv_affine_backward(k, &w->q, count, att, s->ld, d, s->ld, INV_ADD, NULL);
}

/* z = tanh(q . K_c / sqrt d) for each candidate, then the log of softmax(10 z). */
static void final_forward(inv_policy *p, int32_t count, const shape *s, float *logp)
{
    const inv_prepared *w = p->w;
    int32_t slots = inv_candidates(&w->config);
    float scale = 1.0f / sqrtf((float)s->d);
    inv_affine_forward(p->k, &w->query_final, count, p->final_in, s->ld, p->final_q, s->ld, INV_STORE);
    inv_affine_transposed(p->k, &w->key_final, count, p->final_q, s->ld, p->final_u, s->ldw, INV_STORE, NULL);
    for (int32_t i = 0; i < count; i++) {
        int32_t n = p->candidate[i + 1] - p->candidate[i];
        float *z = p->z + p->candidate[i], *out = logp + (ptrdiff_t)i * slots, shift, top = -INFINITY;
        p->k->dots(1, s->d, p->final_q + i * s->ld, s->ld, w->key_final.bias, &shift);
        p->k->dots(n, s->width, p->cand + p->candidate[i] * s->ldw, s->ldw, p->final_u + i * s->ldw, z);
        for (int32_t j = 0; j < n; j++) {
            z[j] = tanhf((z[j] + shift) * scale);
            top = z[j] > top ? z[j] : top;
        }
        double total = 0;
        for (int32_t j = 0; j < n; j++) total += (double)expf(CLIP * (z[j] - top));
        float log_total = (float)log(total);
        for (int32_t j = 0; j < slots; j++) out[j] = -INFINITY;
        for (int32_t j = 0; j < n; j++) {
            bool depot = w->config.problem == INVIT_CVRP && j == n - 1 && p->depot[i];
            out[depot ? slots - 1 : j] = CLIP * (z[j] - top) - log_total;
        }
    }
}

/* From the gradient of the logits to d_step (of the final layer's input) and d_cand. */
static void final_backward(inv_policy *p, int32_t count, const shape *s, const float *dlogit, float *grad)
{
    const inv_prepared *w = p->w;
    const inv_kernels *k = p->k;
    int32_t slots = inv_candidates(&w->config);
    float scale = 1.0f / sqrtf((float)s->d);
    memset(p->d_u, 0, (size_t)(count * s->ldw) * sizeof(float));
    float *dq = p->d_mid;
    for (int32_t i = 0; i < count; i++) {
        int32_t n = p->candidate[i + 1] - p->candidate[i];
        const float *z = p->z + p->candidate[i];
        const float *cand = p->cand + p->candidate[i] * s->ldw, *u = p->final_u + i * s->ldw;
        float *d_cand = p->d_cand + p->candidate[i] * s->ldw, total = 0;
        memset(dq + i * s->ld, 0, (size_t)s->d * sizeof(float));
        for (int32_t j = 0; j < n; j++) {
            bool depot = w->config.problem == INVIT_CVRP && j == n - 1 && p->depot[i];
            float g =
                dlogit[(ptrdiff_t)i * slots + (depot ? slots - 1 : j)] * CLIP * (1 - z[j] * z[j]) * scale;
            k->axpy((size_t)s->width, g, cand + j * s->ldw, p->d_u + i * s->ldw);
            k->axpy((size_t)s->width, g, u, d_cand + j * s->ldw);
            total += g;
        }
        k->axpy((size_t)s->d, total, w->key_final.bias, dq + i * s->ld);
        k->axpy((size_t)s->d, total, p->final_q + i * s->ld, grad + w->key_final.b);
    }
    k->gemm_tn(count, s->d, s->width, p->final_q, s->ld, p->d_u, s->ldw, grad + w->key_final.w, s->width);
    k->gemm(count, s->d, s->width, p->d_u, s->ldw, w->key_final.forward, dq, s->ld, NULL, INV_ADD, NULL);
    inv_affine_gradient(k, &w->query_final, count, dq, s->ld, p->final_in, s->ld, grad);
    inv_affine_backward(k, &w->query_final, count, dq, s->ld, p->d_step, s->ld, INV_STORE, NULL);
}

void inv_decoder_forward(inv_policy *p, const inv_state *states, int32_t count, float *logp)
{
    shape s = decoder_shape(p);
    for (int32_t i = 0; i < count; i++) p->depot[i] = states[i].depot_open;
    gather(p, states, count, &s);
    inv_affine_forward(p->k, &p->w->query, count, p->query_in, s.ldqin,
                       s.inner > 0 ? p->decoder[0].in : p->final_in, s.ld, INV_STORE);
    for (int32_t l = 0; l < s.inner; l++)
        layer_forward(p, l, count, &s, l + 1 < s.inner ? p->decoder[l + 1].in : p->final_in);
    final_forward(p, count, &s, logp);
}

void inv_decoder_backward(inv_policy *p, const inv_state *states, int32_t count, const float *dlogit,
                          float *grad)
{
    shape s = decoder_shape(p);
    memset(p->d_cand, 0, (size_t)(p->candidate[count] * s.ldw) * sizeof(float));
    final_backward(p, count, &s, dlogit, grad);
    for (int32_t l = s.inner - 1; l >= 0; l--) layer_backward(p, l, count, &s, grad);
    inv_affine_gradient(p->k, &p->w->query, count, p->d_step, s.ld, p->query_in, s.ldqin, grad);
    inv_affine_backward(p->k, &p->w->query, count, p->d_step, s.ld, p->d_query, s.ldqin, INV_STORE, NULL);
    scatter_gradient(p, states, count, &s);
}
