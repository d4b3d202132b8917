/* Single-view encoder, forward and backward. Shapes: tokens H [rows][d], queries [qrows][d]; see network.h.
 *
 * One layer (the two residual-plus-norm steps around attention are the authors'):
 *   A = attention(H);  U = LN(H + fc A);  V = LN(H + U);  H' = LN(V + W2 relu(W1 V + b1) + b2)
 * The last layer of a state view is computed only for the rows the decoder reads: candidates, last and first.
 */
#include "policy/network.h"

#include <math.h>
#include <string.h>

typedef struct shape {
    ptrdiff_t ld, ldf, ldkv, ldq; /* strides of d, f, 2 d and query rows */
    int32_t d, dk, heads, inputs;
    bool first, selected; /* layer 0; only some rows are computed */
    const int32_t *token, *query;
    int32_t rows, qrows;
} shape;

static shape layer_shape(const inv_policy *p, int32_t e, int32_t l, int32_t count)
{
    const inv_encoder *enc = &p->w->encoder[e];
    const inv_view_acts *view = &p->view[e];
    int32_t d = p->w->config.dim, heads = p->w->config.heads;
    shape s = {.ld = inv_stride(d),
               .ldf = inv_stride(p->w->config.ff),
               .ldkv = inv_stride(2 * d),
               .ldq = inv_stride(l == 0 ? heads * enc->inputs : d),
               .d = d,
               .dk = d / heads,
               .heads = heads,
               .inputs = enc->inputs,
               .first = l == 0,
               .selected = e > 0 && l + 1 == enc->layers};
    s.token = view->token;
    s.query = s.selected ? view->query : view->token;
    s.rows = s.token[count];
    s.qrows = s.query[count];
    return s;
}

/* Rows of a state that the last layer keeps: the first `action` neighbours, then last and first, which end
 * its tokens. */
static void gather_rows(const shape *s, int32_t count, const float *from, ptrdiff_t ld, float *to)
{
    for (int32_t i = 0; i < count; i++) {
        int32_t queries = s->query[i + 1] - s->query[i], candidates = queries - 2, tail = s->token[i + 1] - 2;
        memcpy(to + s->query[i] * ld, from + s->token[i] * ld, (size_t)(candidates * ld) * sizeof *to);
        memcpy(to + (s->query[i + 1] - 2) * ld, from + tail * ld, (size_t)(2 * ld) * sizeof *to);
    }
}

static void scatter_add_rows(const inv_kernels *k, const shape *s, int32_t count, const float *from,
                             ptrdiff_t ld, float *to)
{
    for (int32_t i = 0; i < count; i++) {
        int32_t queries = s->query[i + 1] - s->query[i], candidates = queries - 2, tail = s->token[i + 1] - 2;
        k->axpy((size_t)(candidates * ld), 1.0f, from + s->query[i] * ld, to + s->token[i] * ld);
        k->axpy((size_t)(2 * ld), 1.0f, from + (s->query[i + 1] - 2) * ld, to + tail * ld);
    }
}

/* State i's part of the layer's attention. The first layer's keys and values are phi, shared by all heads. */
static inv_attention state_attention(const inv_policy *p, const inv_view_acts *view, const inv_layer_acts *a,
                                     const shape *s, int32_t i)
{
    ptrdiff_t ldphi = inv_stride(s->inputs);
    int32_t row = s->token[i], q = s->query[i];
    inv_attention t = {.heads = s->heads,
                       .m = s->query[i + 1] - q,
                       .n = s->token[i + 1] - row,
                       .scale = 1.0f / sqrtf((float)s->d),
                       .q = a->q + q * s->ldq,
                       .o = a->o + q * s->ldq,
                       .ldq = s->ldq,
                       .ldo = s->ldq,
                       .scratch = p->scratch};
    if (s->first) {
        t.dk = t.dv = s->inputs;
        t.q_head = t.o_head = s->inputs;
        t.k = t.v = view->phi + row * ldphi;
        t.ldk = t.ldv = ldphi;
    } else {
        t.dk = t.dv = s->dk;
        t.q_head = t.o_head = t.k_head = t.v_head = s->dk;
        t.k = a->kv + row * s->ldkv;
        t.v = t.k + s->d;
        t.ldk = t.ldv = s->ldkv;
    }
    return t;
}

/* Weights pass through the cache once per block of rows, so a short last block would cost as much as a full
 * one. */
static int32_t even_block(int32_t rows, int32_t most)
{
    int32_t blocks = (rows + most - 1) / most;
    return blocks > 0 ? (rows + blocks - 1) / blocks : 1;
}

static float *at(float *rows, ptrdiff_t offset)
{
    return rows ? rows + offset : NULL;
}

static void layer_forward(inv_policy *p, int32_t e, int32_t l, int32_t count)
{
    const inv_kernels *k = p->k;
    const inv_layer *w = &p->w->encoder[e].layer[l];
    inv_view_acts *view = &p->view[e];
    inv_layer_acts *a = &view->layer[l];
    shape s = layer_shape(p, e, l, count);
    ptrdiff_t ldx = s.first ? inv_stride(s.inputs) : s.ld;

    if (s.selected) gather_rows(&s, count, a->h, s.ld, a->hq);
    if (s.selected && s.first) gather_rows(&s, count, view->phi, ldx, a->xq);
    inv_affine_forward(k, &w->q, s.qrows, a->xq, ldx, a->q, s.ldq, INV_STORE);
    if (!s.first) inv_affine_forward(k, &w->kv, s.rows, a->h, s.ld, a->kv, s.ldkv, INV_STORE);

    float *kept = a->p;
    for (int32_t i = 0; i < count; i++) {
        inv_attention t = state_attention(p, view, a, &s, i);
        t.p = kept;
        k->attend(&t);
        if (kept) kept += (ptrdiff_t)t.heads * t.m * inv_keys(t.n);
    }

    float *sum = p->row_block, *v_block = sum + INV_ROW_BLOCK * s.ld,
          *hidden_block = v_block + INV_ROW_BLOCK * s.ld;
    int32_t block = even_block(s.qrows, INV_ROW_BLOCK);
    for (int32_t i = 0; i < s.qrows; i += block) {
        int32_t m = s.qrows - i < block ? s.qrows - i : block;
        ptrdiff_t r = i * s.ld;
        float *v = p->training ? a->v + r : v_block,
              *hidden = p->training ? a->hidden + i * s.ldf : hidden_block;
        inv_affine_forward(k, &w->fc, m, a->o + i * s.ldq, s.ldq, sum, s.ld, INV_STORE);
        k->norm(m, s.d, sum, a->hq + r, s.ld, w->norm0.gamma, w->norm0.beta, w->norm0.eps, sum,
                at(a->xhat[0], r), at(a->rstd[0], i));
        k->norm(m, s.d, sum, a->hq + r, s.ld, w->norm1.gamma, w->norm1.beta, w->norm1.eps, v,
                at(a->xhat[1], r), at(a->rstd[1], i));
        inv_affine_forward(k, &w->ff1, m, v, s.ld, hidden, s.ldf, INV_RELU);
        inv_affine_forward(k, &w->ff2, m, hidden, s.ldf, sum, s.ld, INV_STORE);
        k->norm(m, s.d, sum, v, s.ld, w->norm2.gamma, w->norm2.beta, w->norm2.eps, a->out + r,
                at(a->xhat[2], r), at(a->rstd[2], i));
    }
}

/* In: the gradient of the layer's output in `d` [qrows][d]. Out: that of its input tokens in `d` [rows][d]
 * (nothing for the first layer, whose inputs are data). */
static void layer_backward(inv_policy *p, int32_t e, int32_t l, int32_t count, float *d, float *grad)
{
    const inv_kernels *k = p->k;
    const inv_layer *w = &p->w->encoder[e].layer[l];
    inv_view_acts *view = &p->view[e];
    inv_layer_acts *a = &view->layer[l];
    shape s = layer_shape(p, e, l, count);
    ptrdiff_t ldx = s.first ? inv_stride(s.inputs) : s.ld;
    float *own = s.first ? p->folded : grad; /* where the gradients of q and fc live */

    int32_t block = even_block(s.qrows, INV_GRADIENT_BLOCK);
    for (int32_t i = 0; i < s.qrows; i += block) {
        int32_t m = s.qrows - i < block ? s.qrows - i : block;
        ptrdiff_t r = i * s.ld;
        float *dz = d + r, *dn = p->d_norm + r;
        const float *hidden = a->hidden + i * s.ldf;
        k->norm_backward(m, s.d, dz, a->xhat[2] + r, a->rstd[2] + i, s.ld, w->norm2.gamma, dz,
                         grad + w->norm2.g, grad + w->norm2.b);
        inv_affine_backward(k, &w->ff2, m, dz, s.ld, p->d_hidden, s.ldf, INV_STORE, hidden);
        inv_affine_gradient(k, &w->ff2, m, dz, s.ld, hidden, s.ldf, grad);
        inv_affine_gradient(k, &w->ff1, m, p->d_hidden, s.ldf, a->v + r, s.ld, grad);
        inv_affine_backward(k, &w->ff1, m, p->d_hidden, s.ldf, dz, s.ld, INV_ADD, NULL); /* gradient of V */
        k->norm_backward(m, s.d, dz, a->xhat[1] + r, a->rstd[1] + i, s.ld, w->norm1.gamma, dz,
                         grad + w->norm1.g, grad + w->norm1.b);
        k->norm_backward(m, s.d, dz, a->xhat[0] + r, a->rstd[0] + i, s.ld, w->norm0.gamma, dn,
                         grad + w->norm0.g, grad + w->norm0.b);
        inv_affine_gradient(k, &w->fc, m, dn, s.ld, a->o + i * s.ldq, s.ldq, own);
        inv_affine_backward(k, &w->fc, m, dn, s.ld, p->d_o + i * s.ldq, s.ldq, INV_STORE, NULL);
        k->axpy((size_t)(m * s.ld), 1.0f, dn, dz); /* H enters both norms */
    }

    if (!s.first) memset(p->d_kv, 0, (size_t)(s.rows * s.ldkv) * sizeof(float));
    float *kept = a->p;
    for (int32_t i = 0; i < count; i++) {
        inv_attention t = state_attention(p, view, a, &s, i);
        t.p = kept;
        t.d_o = p->d_o + s.query[i] * s.ldq;
        t.d_q = p->d_q + s.query[i] * s.ldq;
        if (!s.first) {
            t.d_k = p->d_kv + s.token[i] * s.ldkv;
            t.d_v = t.d_k + s.d;
        }
        k->attend_backward(&t);
        kept += (ptrdiff_t)t.heads * t.m * inv_keys(t.n);
    }

    inv_affine_gradient(k, &w->q, s.qrows, p->d_q, s.ldq, a->xq, ldx, own);
    if (s.first) {
        inv_affine_gradient(k, &p->w->encoder[e].embed, s.qrows, d, s.ld, a->xq, ldx, p->folded);
        return;
    }
    inv_affine_gradient(k, &w->kv, s.rows, p->d_kv, s.ldkv, a->h, s.ld, grad);
    inv_affine_backward(k, &w->q, s.qrows, p->d_q, s.ldq, d, s.ld, INV_ADD, NULL);
    if (!s.selected) {
        inv_affine_backward(k, &w->kv, s.rows, p->d_kv, s.ldkv, d, s.ld, INV_ADD, NULL);
        return;
    }
    inv_affine_backward(k, &w->kv, s.rows, p->d_kv, s.ldkv, p->d_in, s.ld, INV_STORE, NULL);
    scatter_add_rows(k, &s, count, d, s.ld, p->d_in);
    memcpy(d, p->d_in, (size_t)(s.rows * s.ld) * sizeof *d);
}

void inv_encoder_forward(inv_policy *p, int32_t e, const inv_state *states, int32_t count)
{
    const inv_encoder *enc = &p->w->encoder[e];
    inv_view_acts *view = &p->view[e];
    ptrdiff_t ldphi = inv_stride(enc->inputs);
    view->token[0] = view->query[0] = 0;
    for (int32_t i = 0; i < count; i++) {
        inv_view_inputs(p->w, e, &states[i], view->phi + view->token[i] * ldphi, ldphi);
        view->token[i + 1] = view->token[i] + inv_view_tokens(p->w, e, &states[i]);
        view->query[i + 1] = view->query[i] + inv_view_queries(p->w, e, &states[i]);
    }
    inv_affine_forward(p->k, &enc->embed, view->token[count], view->phi, ldphi, view->layer[0].h,
                       inv_stride(p->w->config.dim), INV_STORE);
    for (int32_t l = 0; l < enc->layers; l++) layer_forward(p, e, l, count);
}

void inv_encoder_backward(inv_policy *p, int32_t e, int32_t count, float *grad)
{
    for (int32_t l = p->w->encoder[e].layers - 1; l >= 0; l--)
        layer_backward(p, e, l, count, p->view[e].d_out, grad);
}
