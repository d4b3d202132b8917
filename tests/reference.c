#include "reference.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters by name -------------------------------------------------------------------------------- */

typedef struct source {
    const struct invit_model *m;
    const double *param;
    char prefix[100];
} source;

static const double *get(const source *s, const char *name)
{
    char full[200];
    snprintf(full, sizeof full, "%s%s", s->prefix, name);
    const inv_tensor *t = inv_model_find(s->m, full);
    assert(t);
    return s->param + t->offset;
}

static const double *get_layer(const source *s, const char *kind, int32_t layer, const char *name)
{
    char part[100];
    snprintf(part, sizeof part, "%s.%d.%s", kind, layer, name);
    return get(s, part);
}

/* ---- building blocks ----------------------------------------------------------------------------------- */

static double *matrix(int32_t rows, int32_t columns)
{
    double *p = calloc((size_t)rows * (size_t)columns + 1, sizeof *p);
    assert(p);
    return p;
}

/* y[n][out] = x[n][in] W^T + b */
static void linear(int32_t n, int32_t in, int32_t out, const double *x, const double *W, const double *b,
                   double *y)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t o = 0; o < out; o++) {
            double s = b ? b[o] : 0;
            for (int32_t j = 0; j < in; j++) s += x[i * in + j] * W[o * in + j];
            y[i * out + o] = s;
        }
}

/* y = LN(x + r), may be in place */
static void add_norm(int32_t n, int32_t d, const double *x, const double *r, const double *gamma,
                     const double *beta, double eps, double *y)
{
    for (int32_t i = 0; i < n; i++) {
        double mean = 0, variance = 0;
        for (int32_t j = 0; j < d; j++) mean += (x[i * d + j] + r[i * d + j]) / d;
        for (int32_t j = 0; j < d; j++) {
            double z = x[i * d + j] + r[i * d + j] - mean;
            variance += z * z / d;
        }
        for (int32_t j = 0; j < d; j++) {
            double z = x[i * d + j] + r[i * d + j] - mean;
            y[i * d + j] = z / sqrt(variance + eps) * gamma[j] + beta[j];
        }
    }
}

static void relu(int32_t count, double *x)
{
    for (int32_t i = 0; i < count; i++) x[i] = x[i] > 0 ? x[i] : 0;
}

/* o[m][d] = concat_h softmax(q_h k_h^T / divide) v_h */
static void attention(int32_t m, int32_t n, int32_t d, int32_t heads, double divide, const double *q,
                      const double *k, const double *v, double *o)
{
    int32_t dk = d / heads;
    double *p = matrix(1, n);
    for (int32_t i = 0; i < m; i++)
        for (int32_t h = 0; h < heads; h++) {
            double top = -INFINITY, total = 0;
            for (int32_t j = 0; j < n; j++) {
                p[j] = 0;
                for (int32_t c = h * dk; c < (h + 1) * dk; c++) p[j] += q[i * d + c] * k[j * d + c] / divide;
                top = fmax(top, p[j]);
            }
            for (int32_t j = 0; j < n; j++) total += p[j] = exp(p[j] - top);
            for (int32_t c = h * dk; c < (h + 1) * dk; c++) {
                o[i * d + c] = 0;
                for (int32_t j = 0; j < n; j++) o[i * d + c] += p[j] / total * v[j * d + c];
            }
        }
    free(p);
}

/* ---- one view ------------------------------------------------------------------------------------------ */

/* Where a canonical frame has its axes: `ahead` from last to first, `left` on the side of the candidates' centre;
 * standing on first, the centre and the nearest candidate stand in for the two. */
static void turn(const inv_state *s, double ahead[2], double left[2])
{
    double to[3][2] = {{0}}; /* first, centre, nearest */
    for (int a = 0; a < 2; a++) {
        to[0][a] = (double)s->first[a] - (double)s->last[a];
        for (int32_t i = 0; i < s->action; i++) to[1][a] += (double)s->xy[2 * i + a] - (double)s->last[a];
        if (s->action > 0) to[2][a] = (double)s->xy[a] - (double)s->last[a];
    }
    int at = to[0][0] == 0 && to[0][1] == 0;
    double length = sqrt(to[at][0] * to[at][0] + to[at][1] * to[at][1]), sign;
    ahead[0] = length > 0 ? to[at][0] / length : 1;
    ahead[1] = length > 0 ? to[at][1] / length : 0;
    sign = length > 0 && ahead[0] * to[at + 1][1] - ahead[1] * to[at + 1][0] < 0 ? -1 : 1;
    left[0] = -sign * ahead[1];
    left[1] = sign * ahead[0];
}

/* A point of a canonical frame of the first n neighbours. */
static void canonical_point(const inv_state *s, int32_t n, const float *at, bool first, double x[2])
{
    double ahead[2], left[2], radius = 0, dx, dy;
    turn(s, ahead, left);
    for (int32_t i = 0; i < n; i++) {
        dx = (double)s->xy[2 * i] - (double)s->last[0], dy = (double)s->xy[2 * i + 1] - (double)s->last[1];
        radius = fmax(radius, sqrt(dx * dx + dy * dy));
    }
    if (radius == 0) radius = 1;
    dx = ((double)at[0] - (double)s->last[0]) / radius, dy = ((double)at[1] - (double)s->last[1]) / radius;
    double far = sqrt(dx * dx + dy * dy), shrink = first && far > 1 ? (1 + log(far)) / far : 1;
    x[0] = shrink * (dx * ahead[0] + dy * ahead[1]);
    x[1] = shrink * (dx * left[0] + dy * left[1]);
}

/* H[tokens][d] of view e (0 the action view): neighbours, last, and first where there is one. Returns the
 * tokens. */
static int32_t encode_view(const source *model, int32_t e, const inv_state *s, double **out)
{
    const inv_config *c = &model->m->config;
    source src = *model;
    bool cvrp = c->problem == INVIT_CVRP, has_first = e > 0 || cvrp;
    int32_t d = c->dim, f = c->ff, layers = e == 0 ? c->action_layers : c->state_layers, n = s->action;
    if (e == 0) {
        snprintf(src.prefix, sizeof src.prefix, "action_encoder.");
    } else {
        int32_t further = c->state_k[e - 1] - c->action_k;
        n += s->rest < further ? s->rest : further;
        snprintf(src.prefix, sizeof src.prefix, "state_encoders.%d.", e - 1);
    }
    int32_t tokens = n + 1 + (has_first ? 1 : 0), in = cvrp ? 3 : 2;

    double low[2] = {(double)s->last[0], (double)s->last[1]}, high[2] = {low[0], low[1]}, side;
    for (int32_t i = 0; i < n; i++)
        for (int a = 0; a < 2; a++) {
            low[a] = fmin(low[a], (double)s->xy[2 * i + a]);
            high[a] = fmax(high[a], (double)s->xy[2 * i + a]);
        }
    side = fmax(high[0] - low[0], high[1] - low[1]);
    if (side == 0) side = 1;
    double *H = matrix(tokens, d);
    for (int32_t i = 0; i < tokens; i++) {
        const float *at = i < n ? s->xy + 2 * i : i == n ? s->last : s->first;
        double x[3] = {0};
        for (int a = 0; a < 2; a++) {
            x[a] = (double)at[a];
            if (c->invariant) x[a] = (x[a] - low[a]) / side;
            if (c->invariant && !cvrp) x[a] = fmin(fmax(x[a], 0), 1);
        }
        if (c->canonical_frame) canonical_point(s, n, at, i == n + 1, x);
        if (cvrp && i <= n) x[2] = (double)(i < n ? s->demand[i] : s->load);
        const char *name = i < n ? "input_emb" : i == n ? "input_emb_for_last" : "input_emb_for_first";
        char weight[64], bias[64];
        snprintf(weight, sizeof weight, "%s.weight", name);
        snprintf(bias, sizeof bias, "%s.bias", name);
        linear(1, i <= n ? in : 2, d, x, get(&src, weight), get(&src, bias), H + i * d);
    }

    double *q = matrix(tokens, d), *k = matrix(tokens, d), *v = matrix(tokens, d), *o = matrix(tokens, d);
    double *a = matrix(tokens, d), *hidden = matrix(tokens, f);
    strcat(src.prefix, "encoder.");
    for (int32_t l = 0; l < layers; l++) {
        linear(tokens, d, d, H, get_layer(&src, "MHA_layers", l, "w_qs.weight"), NULL, q);
        linear(tokens, d, d, H, get_layer(&src, "MHA_layers", l, "w_ks.weight"), NULL, k);
        linear(tokens, d, d, H, get_layer(&src, "MHA_layers", l, "w_vs.weight"), NULL, v);
        attention(tokens, tokens, d, c->heads, sqrt((double)d), q, k, v, o);
        linear(tokens, d, d, o, get_layer(&src, "MHA_layers", l, "fc.weight"), NULL, a);
        add_norm(tokens, d, a, H, get_layer(&src, "MHA_layers", l, "layer_norm.weight"),
                 get_layer(&src, "MHA_layers", l, "layer_norm.bias"), 1e-6, a);
        add_norm(tokens, d, a, H, get_layer(&src, "norm1_layers", l, "weight"),
                 get_layer(&src, "norm1_layers", l, "bias"), 1e-5, a);
        linear(tokens, d, f, a, get_layer(&src, "linear1_layers", l, "weight"),
               get_layer(&src, "linear1_layers", l, "bias"), hidden);
        relu(tokens * f, hidden);
        linear(tokens, f, d, hidden, get_layer(&src, "linear2_layers", l, "weight"),
               get_layer(&src, "linear2_layers", l, "bias"), o);
        add_norm(tokens, d, o, a, get_layer(&src, "norm2_layers", l, "weight"),
                 get_layer(&src, "norm2_layers", l, "bias"), 1e-5, H);
    }
    free(q), free(k), free(v), free(o), free(a), free(hidden);
    *out = H;
    return tokens;
}

/* ---- the decoder --------------------------------------------------------------------------------------- */

void reference_forward(const struct invit_model *m, const double *param, const inv_state *s, double *logp)
{
    const inv_config *c = &m->config;
    source src = {.m = m, .param = param};
    bool cvrp = c->problem == INVIT_CVRP;
    int32_t d = c->dim, views = c->state_views + 1, W = d * views, D = c->decoder_layers,
            slots = inv_candidates(c);
    int32_t n = s->action + (cvrp && s->depot_open ? 1 : 0), query = 0;
    double *E = matrix(n, W), *in = matrix(2 * views, d);
    for (int32_t e = 0; e < views; e++) {
        double *H;
        int32_t tokens = encode_view(&src, e, s, &H);
        bool has_first = e > 0 || cvrp;
        int32_t last = tokens - (has_first ? 2 : 1);
        for (int32_t i = 0; i < n; i++)
            memcpy(E + i * W + e * d, H + (i < s->action ? i : tokens - 1) * d, (size_t)d * sizeof *E);
        memcpy(in + query++ * d, H + last * d, (size_t)d * sizeof *in);
        if (has_first) memcpy(in + query++ * d, H + (tokens - 1) * d, (size_t)d * sizeof *in);
        free(H);
    }
    double *K = matrix(n, D * d), *V = matrix(n, D * d), *k = matrix(n, d), *v = matrix(n, d);
    double *q = matrix(1, d), *t = matrix(1, d), *o = matrix(1, d);
    linear(1, query * d, d, in, get(&src, "query_mlp.weight"), get(&src, "query_mlp.bias"), q);
    linear(n, W, D * d, E, get(&src, "WK_att_decoder.weight"), get(&src, "WK_att_decoder.bias"), K);
    linear(n, W, D * d, E, get(&src, "WV_att_decoder.weight"), get(&src, "WV_att_decoder.bias"), V);
    for (int32_t l = 0; l < D; l++) {
        for (int32_t i = 0; i < n; i++) {
            memcpy(k + i * d, K + i * D * d + l * d, (size_t)d * sizeof *k);
            memcpy(v + i * d, V + i * D * d + l * d, (size_t)d * sizeof *v);
        }
        if (l == D - 1) break;
        snprintf(src.prefix, sizeof src.prefix, "decoder.");
        const char *kind = "decoder_layers";
        linear(1, d, d, q, get_layer(&src, kind, l, "Wq_att.weight"), get_layer(&src, kind, l, "Wq_att.bias"),
               t);
        attention(1, n, d, c->heads, sqrt((double)d / c->heads), t, k, v, o);
        linear(1, d, d, o, get_layer(&src, kind, l, "W0_att.weight"), get_layer(&src, kind, l, "W0_att.bias"),
               t);
        add_norm(1, d, q, t, get_layer(&src, kind, l, "BN_att.weight"),
                 get_layer(&src, kind, l, "BN_att.bias"), 1e-5, q);
        linear(1, d, d, q, get_layer(&src, kind, l, "W1_MLP.weight"), get_layer(&src, kind, l, "W1_MLP.bias"),
               t);
        relu(d, t);
        linear(1, d, d, t, get_layer(&src, kind, l, "W2_MLP.weight"), get_layer(&src, kind, l, "W2_MLP.bias"),
               o);
        add_norm(1, d, q, o, get_layer(&src, kind, l, "BN_MLP.weight"),
                 get_layer(&src, kind, l, "BN_MLP.bias"), 1e-5, q);
    }
    snprintf(src.prefix, sizeof src.prefix, "decoder.");
    linear(1, d, d, q, get(&src, "Wq_final.weight"), get(&src, "Wq_final.bias"), t);
    double *z = matrix(1, n), top = -INFINITY, total = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < d; j++) z[i] += t[j] * k[i * d + j];
        z[i] = 10 * tanh(z[i] / sqrt((double)d));
        top = fmax(top, z[i]);
    }
    for (int32_t i = 0; i < n; i++) total += exp(z[i] - top);
    for (int32_t i = 0; i < slots; i++) logp[i] = -INFINITY;
    for (int32_t i = 0; i < n; i++) logp[i < s->action ? i : slots - 1] = z[i] - top - log(total);
    free(E), free(in), free(K), free(V), free(k), free(v), free(q), free(t), free(o), free(z);
}

/* ---- views by brute force ------------------------------------------------------------------------------ */

void reference_state_init(inv_state *s, int32_t nodes)
{
    *s = (inv_state){0};
    s->node = calloc((size_t)nodes + 1, sizeof *s->node);
    s->xy = calloc(2 * (size_t)nodes + 1, sizeof *s->xy);
    s->demand = calloc((size_t)nodes + 1, sizeof *s->demand);
    assert(s->node && s->xy && s->demand);
}

void reference_state_free(inv_state *s)
{
    free(s->node);
    free(s->xy);
    free(s->demand);
}

typedef struct near {
    double distance;
    int32_t node;
} near;

static int by_distance(const void *a, const void *b)
{
    const near *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void put_node(const invit_instance *p, inv_state *s, int32_t at, int32_t node)
{
    s->node[at] = node;
    for (int a = 0; a < 2; a++) s->xy[2 * at + a] = (float)p->xy[2 * node + a];
    if (p->problem == INVIT_CVRP) s->demand[at] = (float)((double)p->demand[node] / (double)p->capacity);
}

void reference_view(const invit_instance *p, const inv_config *c, const bool *visited, int32_t last,
                    int32_t first, int64_t load, inv_state *s)
{
    bool cvrp = p->problem == INVIT_CVRP;
    near *list = calloc((size_t)p->n + 1, sizeof *list);
    assert(list);
    int32_t count = 0, most = c->state_views > 0 ? c->state_k[c->state_views - 1] : c->action_k;
    for (int32_t i = cvrp ? 1 : 0; i < p->n; i++) {
        double dx = p->xy[2 * i] - p->xy[2 * last], dy = p->xy[2 * i + 1] - p->xy[2 * last + 1];
        if (!visited[i]) list[count++] = (near){dx * dx + dy * dy, i};
    }
    qsort(list, (size_t)count, sizeof *list, by_distance);
    s->action = s->rest = 0;
    for (int32_t i = 0; i < count && s->action < c->action_k; i++) {
        if (cvrp && p->demand[list[i].node] > load) continue;
        put_node(p, s, s->action++, list[i].node);
        list[i].node = -1;
    }
    for (int32_t i = 0; i < count && s->rest < most - c->action_k; i++) {
        if (list[i].node < 0) continue;
        put_node(p, s, s->action + s->rest++, list[i].node);
    }
    for (int a = 0; a < 2; a++) {
        s->last[a] = (float)p->xy[2 * last + a];
        s->first[a] = (float)p->xy[2 * first + a];
    }
    s->depot_open = cvrp && last != 0;
    s->load = cvrp ? (float)((double)load / (double)p->capacity) : 0;
    free(list);
}
