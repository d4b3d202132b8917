/* The network's inside: prepared weights and one thread's activations, shared by encoder.c, decoder.c and
 * policy.c.
 *
 * Sizes: d model width, f feed-forward width, h heads, dk = d / h; F inputs of a token ("phi"), see
 * invariant.c; W = d (1 + state views), the width of a candidate. Rows of all states of a batch lie one after
 * the other.
 */
#ifndef INVIT_POLICY_NETWORK_H
#define INVIT_POLICY_NETWORK_H

#include "nn/kernels.h"
#include "policy/policy.h"

/* ---- prepared weights (prepare.c) ---------------------------------------------------------------------- */

/* y = x W^T + b with W [out][in], packed both ways: forward[in][out] for y, backward[out][in] for dx = dy W.
 */
typedef struct inv_affine {
    int32_t out, in;
    float *forward, *backward;  /* NULL where not needed                                    */
    uint16_t *bf16, *bf16_back; /* the same in bf16, used instead if not NULL        */
    int8_t *int8;               /* the same in int8, likewise, forward only                */
    float *bias;                /* NULL if none; room for whole panels                      */
    size_t w, b;                /* where W and b live in the parameter (or folded) block    */
} inv_affine;

typedef struct inv_norm {
    float *gamma, *beta; /* room for whole panels */
    float eps;
    size_t g, b; /* in the parameter block */
} inv_norm;

/* One encoder layer. The first layer's tokens are linear in phi, so its Wq, Wk, Wv, fc and the embedding are
 * folded: q = phi M with scores q_h . phi, and fc(A V) = concat_h(A_h phi) G. */
typedef struct inv_layer {
    inv_affine q;  /* [d][d]; first layer: M as [h F][F], in the folded block      */
    inv_affine kv; /* Wk over Wv, [2 d][d]; unused in the first layer              */
    inv_affine fc; /* [d][d]; first layer: G as [d][h F], in the folded block      */
    inv_norm norm0, norm1, norm2;
    inv_affine ff1, ff2;
} inv_layer;

typedef struct inv_encoder {
    int32_t k;      /* neighbours at most                                           */
    int32_t inputs; /* F                                                            */
    int32_t layers;
    bool has_first;                /* the view has a `first` token                                 */
    inv_affine embed;              /* [d][F], in the folded block                                  */
    size_t input_w[3], input_b[3]; /* embeddings of neighbour, last, first        */
    size_t wq, wk, wv, fc;         /* the first layer's own, in the parameters    */
    inv_layer *layer;
} inv_encoder;

typedef struct inv_decoder_layer {
    inv_affine q, w0, ff1, ff2;
    inv_affine *key, *value; /* [h] blocks [dk][W] of WK and WV                         */
    float *value_bias;       /* [d], room for whole panels                              */
    size_t value_b;
    inv_norm norm0, norm1;
} inv_decoder_layer;

struct inv_prepared {
    inv_config config;
    const inv_kernels *kernels;
    bool training, bf16, int8;
    int32_t views;              /* action view first, then the state views                 */
    inv_encoder *encoder;       /* [views]                                                 */
    inv_affine query;           /* query_mlp                                               */
    inv_decoder_layer *decoder; /* [D - 1]                                              */
    inv_affine query_final;
    inv_affine key_final; /* last block of WK, [d][W]                                */
    size_t folded;        /* floats in the folded block                              */
    float *fold;          /* the folded matrices themselves (M, G, E)                */
    double *work;         /* for folding                                             */
    float *block;         /* everything packed                                       */
};

/* Adds the folded gradients to those of the parameters they were made of. */
void inv_unfold_gradient(const inv_prepared *w, const struct invit_model *m, const float *folded,
                         double *work, float *grad);
size_t inv_fold_work(const inv_prepared *w); /* doubles of work space */

/* ---- activations --------------------------------------------------------------------------------------- */

typedef struct inv_layer_acts {
    float *h;                 /* [rows][d] tokens in                                              */
    float *hq;                /* [qrows][d] the rows that are computed on; h itself if all are    */
    float *xq;                /* what queries are made from: hq; first layer: phi of the same rows */
    float *q, *kv, *o;        /* [qrows][d or hF], [rows][2d], [qrows][d or hF]                   */
    float *p;                 /* kept probabilities                                               */
    float *xhat[3], *rstd[3]; /* of the three norms                                           */
    float *v, *hidden;        /* [qrows][d], [qrows][f]                                           */
    float *out;               /* [qrows][d]; in inference the same as hq                          */
} inv_layer_acts;

typedef struct inv_view_acts {
    int32_t *token;         /* [batch + 1] first row of each state                              */
    int32_t *query;         /* [batch + 1] first row of each state in the last layer's output   */
    size_t rows, qrows;     /* room                                                             */
    size_t kept, kept_last; /* room for probabilities of an inner layer, of the last layer    */
    float *phi;             /* [rows][F]                                                        */
    inv_layer_acts *layer;
    float *d_out; /* [max(rows, qrows)][d] gradient of the last layer's output (training) */
} inv_view_acts;

typedef struct inv_decoder_acts {
    float *in;  /* [batch][d] query in                       */
    float *q;   /* [batch][d]                                */
    float *u;   /* [batch][h][W] query in candidate space    */
    float *p;   /* kept probabilities                        */
    float *e;   /* [batch][h][W] attention-weighted candidates */
    float *att; /* [batch][d]                                */
    float *xhat[2], *rstd[2];
    float *mid;    /* [batch][d] after attention                */
    float *hidden; /* [batch][d]                                */
} inv_decoder_acts;

struct inv_policy {
    const inv_prepared *w;
    const inv_kernels *k;
    int32_t batch; /* states at most in one forward                                          */
    int32_t chunk; /* states computed together                                               */
    bool training;
    inv_view_acts *view;       /* [views]                                               */
    inv_decoder_acts *decoder; /* [D - 1]                                               */
    int32_t *candidate;        /* [chunk + 1] first row of each state in `cand`         */
    size_t candidates;         /* room                                                  */
    float *cand;               /* [candidates][W]                                       */
    bool *depot;               /* [chunk] the depot is the last candidate               */
    float *query_in, *final_in, *final_q, *final_u; /* [chunk][...]                          */
    float *z;                                /* [candidates] tanh argument's tanh                     */
    size_t keys;                             /* most tokens of one state                              */
    float *scratch;                          /* attention                                             */
    float *row_block;                        /* [INV_ROW_BLOCK][d] twice, [INV_ROW_BLOCK][f]          */
    float *d_in, *d_norm, *d_q, *d_kv, *d_o; /* backward, one encoder layer's rows           */
    float *d_hidden;                         /* [INV_GRADIENT_BLOCK][f]                               */
    float *d_cand;                           /* [candidates][W]                                       */
    float *d_query, *d_step, *d_mid, *d_att; /* [chunk][d] or the query's width              */
    float *d_u, *d_e;                        /* [chunk][h][W]                                         */
    float *folded;                           /* gradients of the folded matrices                      */
    double *work;
    float *block;
};

/* Of the layer norms, as in the published network: behind attention's output, and everywhere else. */
#define INV_ATTENTION_EPSILON 1e-6f
#define INV_NORM_EPSILON      1e-5f
#define INV_ROW_BLOCK         48 /* rows that go through a layer's feed-forward together              */
#define INV_GRADIENT_BLOCK    96 /* the same on the way back; sums of weight gradients are this deep   */

/* Number of neighbours of a state in view `e` (0 the action view), and of its tokens. */
static inline int32_t inv_view_neighbours(const inv_prepared *w, int32_t e, const inv_state *s)
{
    if (e == 0) return s->action;
    int32_t further = w->encoder[e].k - w->config.action_k;
    return s->action + (s->rest < further ? s->rest : further);
}
static inline int32_t inv_view_tokens(const inv_prepared *w, int32_t e, const inv_state *s)
{
    return inv_view_neighbours(w, e, s) + (w->encoder[e].has_first ? 2 : 1);
}
/* Rows of the last layer: candidates, last, first. */
static inline int32_t inv_view_queries(const inv_prepared *w, int32_t e, const inv_state *s)
{
    return s->action + (w->encoder[e].has_first ? 2 : 1);
}
static inline int32_t inv_state_candidates(const inv_prepared *w, const inv_state *s)
{
    return s->action + (w->config.problem == INVIT_CVRP && s->depot_open);
}

/* The frame in which the invariant layer puts the points of a view with so many neighbours (invariant.c). */
typedef struct inv_view_frame {
    float origin[2], scale;
    float ahead[2], left[2]; /* the axes, of length one */
} inv_view_frame;
inv_view_frame inv_frame_of_view(const inv_config *c, const inv_state *s, int32_t neighbours);
void inv_view_point(const inv_config *c, const inv_view_frame *f, const float *xy, bool first, float out[2]);
/* phi[tokens][F] of one state in view e (invariant.c). */
void inv_view_inputs(const inv_prepared *w, int32_t e, const inv_state *s, float *phi, ptrdiff_t ld);

/* One chunk of states through the encoder of view e, and its gradient (encoder.c). */
void inv_encoder_forward(inv_policy *p, int32_t e, const inv_state *states, int32_t count);
void inv_encoder_backward(inv_policy *p, int32_t e, int32_t count, float *grad);
/* One chunk through the decoder; logp as in policy.h (decoder.c). */
void inv_decoder_forward(inv_policy *p, const inv_state *states, int32_t count, float *logp);
void inv_decoder_backward(inv_policy *p, const inv_state *states, int32_t count, const float *dlogit,
                          float *grad);

/* Y[M] = x W^T + b, and the two gradients. */
static inline void inv_affine_forward(const inv_kernels *k, const inv_affine *a, int M, const float *x,
                                      ptrdiff_t ldx, float *y, ptrdiff_t ldy, inv_epilogue epilogue)
{
    if (a->int8)
        k->gemm_int8(M, a->out, a->in, x, ldx, a->int8, y, ldy, a->bias, epilogue);
    else if (a->bf16)
        k->gemm_bf16(M, a->out, a->in, x, ldx, a->bf16, y, ldy, a->bias, epilogue, NULL);
    else
        k->gemm(M, a->out, a->in, x, ldx, a->forward, y, ldy, a->bias, epilogue, NULL);
}
/* y (=, +=) x W, without the bias; 0 where `hidden`, if it is not NULL, is not > 0. Attention multiplies queries with the keys'
 * matrix this way, and it is the gradient of the input. */
static inline void inv_affine_transposed(const inv_kernels *k, const inv_affine *a, int M, const float *x,
                                         ptrdiff_t ldx, float *y, ptrdiff_t ldy, inv_epilogue epilogue,
                                         const float *hidden)
{
    if (a->bf16_back)
        k->gemm_bf16(M, a->in, a->out, x, ldx, a->bf16_back, y, ldy, NULL, epilogue, hidden);
    else
        k->gemm(M, a->in, a->out, x, ldx, a->backward, y, ldy, NULL, epilogue, hidden);
}
static inline void inv_affine_backward(const inv_kernels *k, const inv_affine *a, int M, const float *dy,
                                       ptrdiff_t ldy, float *dx, ptrdiff_t ldx, inv_epilogue epilogue,
                                       const float *hidden)
{
    inv_affine_transposed(k, a, M, dy, ldy, dx, ldx, epilogue, hidden);
}
/* dW += dy^T x, db += sum dy. */
static inline void inv_affine_gradient(const inv_kernels *k, const inv_affine *a, int M, const float *dy,
                                       ptrdiff_t ldy, const float *x, ptrdiff_t ldx, float *grad)
{
    if (a->bf16_back)
        k->gemm_tn_bf16(M, a->out, a->in, dy, ldy, x, ldx, grad + a->w, a->in);
    else
        k->gemm_tn(M, a->out, a->in, dy, ldy, x, ldx, grad + a->w, a->in);
    if (a->bias) k->column_sums(M, a->out, dy, ldy, grad + a->b);
}

#endif
