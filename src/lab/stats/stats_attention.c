/* The paper's first finding: an encoder that looks at the whole instance spends more and more of its
 * attention on nodes beyond the nearest 100, the larger the instance. The encoder is the largest state view
 * of a model, given all nodes; a plain double loop, since nothing here has to be fast. Shapes: T tokens, d
 * width, f feed-forward width, h heads. */
#include "base/cancel.h"
#include "base/names.h"
#include "invit_lab.h"
#include "policy/network.h"
#include "policy/roller.h"
#include "lab/eval/eval_work.h"
#include "lab/eval/statistics.h"
#include "lab/stats/stats.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST = 100, BINS = 20 };

typedef struct tokens {
    int32_t count, dim; /* T, d */
    double *pos;        /* [T][2] as the encoder sees them */
    float *h;           /* [T][d] */
} tokens;

typedef struct encoder {
    const struct invit_model *m;
    int32_t view, layers; /* -1: the action view */
} encoder;

static const float *tensor(const encoder *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const float *tensor(const encoder *e, const char *format, ...)
{
    char name[160], tail[96];
    va_list args;
    va_start(args, format);
    vsnprintf(tail, sizeof tail, format, args);
    va_end(args);
    if (e->view < 0)
        snprintf(name, sizeof name, "action_encoder.%s", tail);
    else
        snprintf(name, sizeof name, "state_encoders.%d.%s", e->view, tail);
    return e->m->param + inv_model_find(e->m, name)->offset;
}

/* y[rows] = W[rows][columns] x + b, or without b */
static void affine(const float *w, const float *b, const float *x, int32_t rows, int32_t columns, float *y)
{
    for (int32_t i = 0; i < rows; i++) {
        float sum = 0;
        for (int32_t j = 0; j < columns; j++) sum += w[(size_t)i * (size_t)columns + (size_t)j] * x[j];
        y[i] = sum + (b ? b[i] : 0);
    }
}

/* x = LN(x + y) */
static void add_and_norm(float *x, const float *y, int32_t d, const float *weight, const float *bias,
                         float epsilon)
{
    float mean = 0, square = 0;
    for (int32_t i = 0; i < d; i++) mean += x[i] += y[i];
    mean /= (float)d;
    for (int32_t i = 0; i < d; i++) square += (x[i] - mean) * (x[i] - mean);
    float scale = 1 / sqrtf(square / (float)d + epsilon);
    for (int32_t i = 0; i < d; i++) x[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* far[T][T]: token j is beyond the nearest 100 of token i; a token is its own nearest. */
static void mark_far(const tokens *t, double *distance, double *sorted, uint8_t *far)
{
    int32_t n = t->count;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            double dx = t->pos[2 * i] - t->pos[2 * j], dy = t->pos[2 * i + 1] - t->pos[2 * j + 1];
            distance[j] = sorted[j] = dx * dx + dy * dy;
        }
        qsort(sorted, (size_t)n, sizeof *sorted, by_value);
        double radius = n > NEAREST + 1 ? sorted[NEAREST] : INFINITY;
        for (int32_t j = 0; j < n; j++) far[(size_t)i * (size_t)n + (size_t)j] = distance[j] > radius;
    }
}

/* One layer over all tokens. If asked for: mass[i] = the part of token i's attention beyond its nearest 100, mean of
 * the heads; weight[h][T] = the attention of the token `query`, head by head. */
static invit_status layer_forward(const encoder *e, int32_t l, tokens *t, const uint8_t *far, double *mass,
                                  int32_t query, float *weight, invit_error *err)
{
    const inv_config *c = &e->m->config;
    int32_t n = t->count, d = c->dim, f = c->ff, heads = c->heads, w = d / heads;
    size_t block = (size_t)n * (size_t)d;
    float *q = malloc((3 * block + (size_t)n + (size_t)f + 3 * (size_t)d) * sizeof *q);
    if (!q) return inv_no_memory(err, 3 * block * sizeof *q);
    float *k = q + block, *v = k + block, *score = v + block, *hidden = score + n, *mix = hidden + f,
          *u = mix + d, *z = u + d;
    for (int32_t i = 0; i < n; i++) {
        const float *x = t->h + (size_t)i * (size_t)d;
        affine(tensor(e, "encoder.MHA_layers.%d.w_qs.weight", l), NULL, x, d, d, q + (size_t)i * (size_t)d);
        affine(tensor(e, "encoder.MHA_layers.%d.w_ks.weight", l), NULL, x, d, d, k + (size_t)i * (size_t)d);
        affine(tensor(e, "encoder.MHA_layers.%d.w_vs.weight", l), NULL, x, d, d, v + (size_t)i * (size_t)d);
    }
    float scale = 1 / sqrtf((float)d);
    for (int32_t i = 0; i < n; i++) {
        float *x = t->h + (size_t)i * (size_t)d;
        if (mass) mass[i] = 0;
        for (int32_t head = 0; head < heads; head++) {
            const float *qi = q + (size_t)i * (size_t)d + head * w;
            float top = -INFINITY;
            for (int32_t j = 0; j < n; j++) {
                const float *kj = k + (size_t)j * (size_t)d + head * w;
                float dot = 0;
                for (int32_t a = 0; a < w; a++) dot += qi[a] * kj[a];
                score[j] = dot * scale;
                if (score[j] > top) top = score[j];
            }
            double sum = 0, beyond = 0;
            memset(mix + head * w, 0, (size_t)w * sizeof *mix);
            for (int32_t j = 0; j < n; j++) {
                float p = expf(score[j] - top);
                const float *vj = v + (size_t)j * (size_t)d + head * w;
                sum += p;
                if (far && far[(size_t)i * (size_t)n + (size_t)j]) beyond += p;
                if (weight && i == query) weight[(size_t)head * (size_t)n + (size_t)j] = p;
                for (int32_t a = 0; a < w; a++) mix[head * w + a] += p * vj[a];
            }
            for (int32_t a = 0; a < w; a++) mix[head * w + a] /= (float)sum;
            for (int32_t j = 0; weight && i == query && j < n; j++)
                weight[(size_t)head * (size_t)n + (size_t)j] /= (float)sum;
            if (mass) mass[i] += beyond / sum / heads;
        }
        /* U = LN(H + fc(.)), V = LN(H + U), H' = LN(V + W2 relu(W1 V + b1) + b2) */
        affine(tensor(e, "encoder.MHA_layers.%d.fc.weight", l), NULL, mix, d, d, u);
        add_and_norm(u, x, d, tensor(e, "encoder.MHA_layers.%d.layer_norm.weight", l),
                     tensor(e, "encoder.MHA_layers.%d.layer_norm.bias", l), INV_ATTENTION_EPSILON);
        add_and_norm(x, u, d, tensor(e, "encoder.norm1_layers.%d.weight", l),
                     tensor(e, "encoder.norm1_layers.%d.bias", l), INV_NORM_EPSILON);
        affine(tensor(e, "encoder.linear1_layers.%d.weight", l),
               tensor(e, "encoder.linear1_layers.%d.bias", l), x, f, d, hidden);
        for (int32_t a = 0; a < f; a++) hidden[a] = hidden[a] > 0 ? hidden[a] : 0;
        affine(tensor(e, "encoder.linear2_layers.%d.weight", l),
               tensor(e, "encoder.linear2_layers.%d.bias", l), hidden, d, f, z);
        add_and_norm(x, z, d, tensor(e, "encoder.norm2_layers.%d.weight", l),
                     tensor(e, "encoder.norm2_layers.%d.bias", l), INV_NORM_EPSILON);
    }
    free(q);
    return INVIT_OK;
}

/* A decision's tokens: the first n neighbours, then last, then first where the view has it. */
static invit_status embed(const encoder *e, const inv_state *s, int32_t n, tokens *t, invit_error *err)
{
    int32_t d = e->m->config.dim;
    bool cvrp = e->m->config.problem == INVIT_CVRP;
    t->count = n + (e->view >= 0 || cvrp ? 2 : 1);
    t->dim = d;
    t->pos = malloc(2 * (size_t)t->count * sizeof *t->pos);
    t->h = malloc((size_t)t->count * (size_t)d * sizeof *t->h);
    if (!t->pos || !t->h) return inv_no_memory(err, (size_t)t->count * (size_t)d * sizeof *t->h);
    inv_view_frame f = inv_frame_of_view(&e->m->config, s, n);
    for (int32_t i = 0; i < t->count; i++) {
        const float *xy = i == n ? s->last : s->first;
        const char *name = i == n ? "input_emb_for_last" : "input_emb_for_first";
        if (i < n) xy = s->xy + 2 * i, name = "input_emb";
        float x[3] = {0, 0, i < n && s->demand ? s->demand[i] : s->load};
        inv_view_point(&e->m->config, &f, xy, i > n, x);
        t->pos[2 * i] = x[0], t->pos[2 * i + 1] = x[1];
        affine(tensor(e, "%s.weight", name), tensor(e, "%s.bias", name), x, d, cvrp && i <= n ? 3 : 2,
               t->h + (size_t)i * (size_t)d);
    }
    return INVIT_OK;
}

typedef struct attention_cell {
    const invit_stats_options *o;
    encoder e;
    int32_t size, count;
    double *mass; /* [layers][count][size + 2], NaN where a token is no query or an instance not finished */
} attention_cell;

static invit_status one_instance(void *context, int32_t item, invit_error *err)
{
    attention_cell *c = context;
    invit_instance *p = NULL;
    inv_index *x = NULL;
    inv_walk *w = NULL;
    tokens t = {0};
    uint8_t *far = NULL;
    double *room = NULL;
    invit_status status;
    inv_rng rng;
    inv_frame frame;
    inv_state s;
    inv_rng_init(&rng, c->o->seed, (uint64_t)item);
    INV_TRY(
        invit_generate(c->e.m->config.problem, INVIT_UNIFORM, c->size, c->o->seed, (uint64_t)item, &p, err));
    INV_TRY(inv_index_create(p, &x, err));
    INV_TRY(inv_walk_create(p, x, c->e.m->config.action_k, -1, &w, err));
    inv_frame_for_copy(p, 0, &rng, &frame);
    inv_walk_start(w, 0, &frame);
    inv_walk_view(w, &s);
    INV_TRY(embed(&c->e, &s, s.action + s.rest, &t, err));
    size_t n = (size_t)t.count, stride = (size_t)c->size + 2;
    far = malloc(n * n);
    room = malloc(3 * n * sizeof *room);
    if (!far || !room) {
        status = inv_no_memory(err, n * n);
        goto done;
    }
    mark_far(&t, room, room + n, far);
    for (int32_t l = 0; l < c->e.layers; l++) {
        INV_TRY(layer_forward(&c->e, l, &t, far, room + 2 * n, -1, NULL, err));
        double *mass = c->mass + ((size_t)l * (size_t)c->count + (size_t)item) * stride;
        for (size_t i = 0; i < stride; i++)
            mass[i] = i + 2 < n ? room[2 * n + i] : NAN; /* the nodes, not last and first */
    }
done:
    free(far);
    free(room);
    free(t.pos);
    free(t.h);
    inv_walk_destroy(w);
    inv_index_destroy(x);
    invit_instance_destroy(p);
    return status;
}

static void add_rows(const attention_cell *c, int32_t finished, inv_table *summary, inv_table *data)
{
    size_t per_layer = (size_t)c->count * ((size_t)c->size + 2);
    for (int32_t l = 0; l < c->e.layers; l++) {
        const double *mass = c->mass + (size_t)l * per_layer;
        inv_summary s = inv_summarise(mass, (int32_t)per_layer);
        int64_t bin[BINS] = {0};
        for (size_t i = 0; i < per_layer; i++)
            if (!isnan(mass[i])) bin[(int)fmin(mass[i] * BINS, BINS - 1)]++;
        inv_table_row(summary);
        inv_table_number(summary, c->size, 0);
        inv_table_number(summary, l + 1, 0);
        inv_table_number(summary, finished, 0);
        inv_table_number(summary, 100 * s.mean, 1);
        inv_table_number(summary, 100 * s.deviation, 1);
        inv_table_number(summary, 100 * s.smallest, 1);
        inv_table_number(summary, 100 * s.largest, 1);
        for (int b = 0; b < BINS; b++) {
            inv_table_row(data);
            inv_table_text(data, "%s", inv_problem_name(c->e.m->config.problem));
            inv_table_number(data, c->size, 0);
            inv_table_number(data, l + 1, 0);
            inv_table_number(data, (b + 0.5) / BINS, 3);
            inv_table_number(data, (double)bin[b] / s.count, 6);
        }
    }
}

/* The instances of one size, or those before an interrupt. */
static invit_status add_size(attention_cell *c, const invit_control *control, inv_table *summary,
                             inv_table *data, int32_t *finished, invit_error *err)
{
    size_t values = (size_t)c->e.layers * (size_t)c->count * ((size_t)c->size + 2);
    int32_t here = 0;
    c->mass = malloc(values * sizeof *c->mass);
    if (!c->mass) return inv_no_memory(err, values * sizeof *c->mass);
    for (size_t i = 0; i < values; i++) c->mass[i] = NAN;
    invit_status status =
        inv_for_each(c->o->threads, 0, c->count, one_instance, c, control, "attend", &here, err);
    if (here > 0) add_rows(c, here, summary, data);
    *finished += here;
    free(c->mass);
    return status;
}

invit_status invit_stats_attention(const invit_model *model, const invit_stats_options *o,
                                   const invit_control *control, invit_report **summary, invit_report **data,
                                   invit_error *err)
{
    static const int32_t default_sizes[] = {200, 500, 1000, 2000};
    static const char *const names[] = {"size", "layer", "instances", "mean %", "std", "min %", "max %"};
    static const char *const data_names[] = {"problem", "size", "layer", "mass", "share of nodes"};
    attention_cell c = {.o = o, .count = o->count};
    invit_status status;
    int32_t finished = 0;
    int32_t count = o->size_count ? o->size_count : (int32_t)(sizeof default_sizes / sizeof *default_sizes);
    *summary = *data = NULL;
    INV_TRY(inv_stats_check(o, NEAREST + 1, err));
    if (model->config.state_views < 1) {
        status = inv_fail(err, INVIT_ERR_ARGUMENT,
                          "the model has no state view; its action view never sees more than %d nodes",
                          model->config.action_k);
        goto done;
    }
    c.e = (encoder){model, model->config.state_views - 1, model->config.state_layers};
    INV_TRY(inv_report_create(summary, err));
    INV_TRY(inv_report_create(data, err));
    inv_table *t = inv_report_table(
        *summary, "Attention beyond the 100 nearest neighbours, largest view over the whole instance");
    inv_table *d = inv_report_table(*data, "attention");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) inv_table_column(t, names[i], true);
    for (size_t i = 0; i < sizeof data_names / sizeof *data_names; i++)
        inv_table_column(d, data_names[i], i >= 1);
    inv_table_chart(d, (inv_table_drawing){.x = 3,
                                           .y = 4,
                                           .line = 1,
                                           .x_label = "attention beyond the 100 nearest",
                                           .y_label = "share of the nodes"});
    inv_table_note(t, "Model %s, state view of k = %d; mean over nodes and heads.",
                   model->path ? model->path : "(in memory)", model->config.state_k[c.e.view]);
    for (int32_t k = 0; k < count; k++) {
        c.size = o->size_count ? o->sizes[k] : default_sizes[k];
        INV_TRY(add_size(&c, control, t, d, &finished, err));
    }
done:
    return inv_stats_end(status, finished, count * o->count, summary, data, err);
}

/* ---- one decision -------------------------------------------------------------------------------------- */

/* A greedy rollout up to a decision, and what the policy sees and thinks there. */
typedef struct decision {
    inv_index *index;
    inv_walk *walk;
    inv_prepared *prepared;
    inv_policy *policy;
    inv_roller roller;
    const inv_state *s;
    const float *logp;
} decision;

static void decision_destroy(decision *d)
{
    inv_roller_destroy(&d->roller);
    inv_policy_destroy(d->policy);
    inv_prepared_destroy(d->prepared);
    inv_walk_destroy(d->walk);
    inv_index_destroy(d->index);
}

static invit_status walk_to(decision *d, const invit_model *m, const invit_instance *p, int64_t step,
                            const invit_control *control, invit_error *err)
{
    const inv_config *c = &m->config;
    inv_frame frame;
    inv_rng rng;
    inv_rng_init(&rng, 1, 0);
    INV_CHECK(inv_index_create(p, &d->index, err));
    INV_CHECK(inv_roller_walk(c, p, d->index, &d->walk, err));
    INV_CHECK(inv_prepared_create(m, INV_EXACT, &d->prepared, err));
    INV_CHECK(inv_policy_create(d->prepared, 1, false, &d->policy, err));
    INV_CHECK(inv_roller_init(&d->roller, 1, c, err));
    d->s = d->roller.state;
    d->logp = d->roller.logp;
    inv_frame_for_copy(p, 0, &rng, &frame);
    inv_walk_start(d->walk, 0, &frame);
    for (int64_t i = 0;; i++) {
        if (inv_walk_done(d->walk))
            return inv_fail(err, INVIT_ERR_ARGUMENT,
                            "the rollout has %lld decisions, counted from 0: there is no %lld", (long long)i,
                            (long long)step);
        if (inv_cancelled(control)) return inv_fail(err, INVIT_ERR_CANCELLED, "stopped");
        inv_roller_begin(&d->roller);
        inv_roller_look(&d->roller, d->walk, 0, true);
        INV_CHECK(inv_roller_ask(&d->roller, d->policy, 0, 1, err));
        if (i == step) return INVIT_OK;
        inv_roller_move(&d->roller, 0, inv_likeliest(d->logp, d->roller.candidates));
    }
}

/* What a token of a view stands for: its node, and the policy's probability of going there. */
static int32_t token_node(const decision *d, int32_t n, int32_t token, bool cvrp, double *probability)
{
    *probability = token < d->s->action ? exp(d->logp[token]) : NAN;
    if (token < n) return d->s->node[token];
    int32_t count = 0;
    const int32_t *order = inv_walk_order(d->walk, &count);
    if (token == n) return inv_walk_last(d->walk);
    if (cvrp && d->s->depot_open) *probability = exp(d->logp[d->roller.candidates - 1]);
    return cvrp || count == 0 ? 0 : order[0];
}

/* What the node of a token is called: neighbours, then the current node, then the first or the depot. */
static const char *token_title(const invit_instance *p, int32_t node, int32_t beyond, bool cvrp)
{
    const char *label = invit_instance_label(p, node);
    if (beyond < 0) return label ? label : "";
    if (beyond == 0) return "(current)";
    return cvrp ? "(depot)" : "(first)";
}

/* One view, all its layers; the summary has the last one. */
static invit_status add_view(const decision *d, const encoder *e, const invit_instance *p, int32_t n,
                             invit_report *summary, inv_table *data, invit_error *err)
{
    invit_status status = INVIT_OK;
    int32_t heads = e->m->config.heads;
    bool cvrp = e->m->config.problem == INVIT_CVRP;
    char title[128], view[32], name[32];
    tokens t = {0};
    float *weight = NULL;
    INV_TRY(embed(e, d->s, n, &t, err));
    weight = malloc((size_t)heads * (size_t)t.count * sizeof *weight);
    if (!weight) INV_TRY(inv_no_memory(err, (size_t)heads * (size_t)t.count * sizeof *weight));
    snprintf(view, sizeof view, e->view < 0 ? "action" : "state %d", e->view + 1);
    for (int32_t l = 0; l < e->layers; l++) {
        inv_table *table = NULL;
        INV_TRY(layer_forward(e, l, &t, NULL, NULL, n, weight, err));
        if (l + 1 == e->layers) {
            snprintf(title, sizeof title,
                     "View %s, layer %d: attention of the current node in percent, by head", view, l + 1);
            table = inv_report_table(summary, title);
            inv_table_column(table, "rank", true);
            inv_table_column(table, "node", true);
            inv_table_column(table, "name", false);
            inv_table_column(table, "probability", true);
            for (int32_t h = 0; h < heads; h++) {
                snprintf(name, sizeof name, "head %d", h + 1);
                inv_table_column(table, name, true);
            }
        }
        for (int32_t i = 0; i < t.count; i++) {
            double probability;
            int32_t node = token_node(d, n, i, cvrp, &probability);
            if (table) {
                inv_table_row(table);
                inv_table_number(table, i < n ? i + 1 : NAN, 0);
                inv_table_number(table, node, 0);
                inv_table_text(table, "%s", token_title(p, node, i - n, cvrp));
                inv_table_number(table, 100 * probability, 1);
            }
            for (int32_t h = 0; h < heads; h++) {
                double share = weight[(size_t)h * (size_t)t.count + (size_t)i];
                if (table) inv_table_number(table, 100 * share, 1);
                inv_table_row(data);
                inv_table_text(data, "%s", view);
                inv_table_number(data, l + 1, 0);
                inv_table_number(data, h + 1, 0);
                inv_table_number(data, i + 1, 0);
                inv_table_number(data, share, 6);
                inv_table_number(data, node, 0);
            }
        }
    }
done:
    free(weight);
    free(t.pos);
    free(t.h);
    return status;
}

invit_status invit_stats_decision(const invit_model *model, const invit_instance *instance, int64_t step,
                                  const invit_control *control, invit_report **summary, invit_report **data,
                                  invit_error *err)
{
    static const char *const names[] = {"view", "layer", "head", "rank", "attention", "node"};
    const inv_config *c = &model->config;
    decision d = {0};
    invit_status status = INVIT_OK;
    *summary = *data = NULL;
    if (instance->problem != c->problem || instance->rules)
        INV_TRY(inv_fail(err, INVIT_ERR_ARGUMENT, "%s: expected a plain %s, which the model is for",
                         instance->name, inv_problem_title(c->problem)));
    INV_TRY(walk_to(&d, model, instance, step, control, err));
    INV_TRY(inv_report_create(summary, err));
    INV_TRY(inv_report_create(data, err));
    inv_table *t = inv_report_table(*data, "decision");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) inv_table_column(t, names[i], i > 0);
    inv_table_chart(
        t, (inv_table_drawing){.x = 3,
                               .y = 4,
                               .line = 2,
                               .x_label = "neighbours, nearest first, then the current and first node",
                               .y_label = "attention of the current node, one line per head"});
    for (int32_t v = -1; v < c->state_views; v++) {
        encoder e = {model, v, v < 0 ? c->action_layers : c->state_layers};
        int32_t further = v < 0 ? 0 : c->state_k[v] - c->action_k,
                rest = d.s->rest < further ? d.s->rest : further;
        INV_TRY(add_view(&d, &e, instance, d.s->action + rest, *summary, t, err));
    }
done:
    decision_destroy(&d);
    if (status != INVIT_OK) {
        invit_report_destroy(*summary);
        invit_report_destroy(*data);
        *summary = *data = NULL;
    }
    return status;
}
