/* Growing a model: more state views, more encoder layers, the same decisions.
 *
 * A new view begins as a copy of the last one, and the decoder's columns for it are zero.
 *
 * A new layer is added after the ones there are. Layers normalise after their residual sums (encoder.c), so a
 * layer whose branches give nothing is no identity by itself:
 *   fc = W2 = b2 = 0:  U = LN0(H);  V = LN1(H + U);  H' = LN2(V)
 * It is one for rows H that are normalised already, up to the norms' epsilon, if LN0, LN1 and LN2 only
 * normalise. So the scale and shift of the last old layer's LN2 move to the last new layer's, and all norms in
 * between have scale 1 and shift 0. The projections into the branches (Wq, Wk, Wv, W1) are random, as in a new
 * model: with all of a branch at zero it would have no gradient.
 */
#include "policy/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool grows(const inv_config *a, const inv_config *b)
{
    if (a->state_views > b->state_views) return false;
    if (a->state_views == 0 && b->state_views > 0) return false; /* no view to copy */
    for (int32_t i = 0; i < a->state_views; i++)
        if (a->state_k[i] != b->state_k[i]) return false;
    return a->problem == b->problem && a->dim == b->dim && a->ff == b->ff && a->heads == b->heads &&
           a->state_layers <= b->state_layers && a->action_layers <= b->action_layers &&
           a->decoder_layers == b->decoder_layers && a->action_k == b->action_k &&
           a->invariant == b->invariant && a->canonical_frame == b->canonical_frame;
}

/* Where a tensor of an encoder layer belongs: "<view>encoder.<kind>_layers.<layer><rest>". */
typedef struct place {
    const char *kind, *rest; /* kind begins with "encoder."        */
    int kind_length;         /* up to the layer's number           */
    int32_t layer, last;     /* of the larger model; its last one  */
    int32_t had;             /* layers of the smaller model        */
} place;

/* The name after "action_encoder." or "state_encoders.N."; NULL for tensors of no encoder. */
static const char *within_encoder(const char *name)
{
    if (strncmp(name, "action_encoder.", 15) == 0) return name + 15;
    if (strncmp(name, "state_encoders.", 15) != 0) return NULL;
    const char *dot = strchr(name + 15, '.');
    return dot ? dot + 1 : NULL;
}

static bool find_place(const char *name, const inv_config *from, const inv_config *to, place *p)
{
    const char *kind = within_encoder(name), *number = kind ? strstr(kind, "_layers.") : NULL;
    if (!number) return false;
    bool action = name[0] == 'a';
    char *end;
    number += strlen("_layers.");
    *p = (place){.kind = kind,
                 .kind_length = (int)(number - kind),
                 .layer = (int32_t)strtol(number, &end, 10),
                 .last = (action ? to->action_layers : to->state_layers) - 1,
                 .had = action ? from->action_layers : from->state_layers};
    p->rest = end;
    return true;
}

/* The tensor of the smaller model that `x` begins with: its own, or that of the last view there was; LN2 of
 * the last layer comes from the last layer. NULL for what is new. */
static const inv_tensor *ancestor(const struct invit_model *from, const struct invit_model *to,
                                  const inv_tensor *x)
{
    char view[32] = "action_encoder.", name[sizeof x->name];
    const char *inside = within_encoder(x->name);
    if (!inside) return inv_model_find(from, x->name);
    if (x->name[0] == 's') {
        int32_t i = (int32_t)strtol(x->name + 15, NULL, 10), most = from->config.state_views - 1;
        snprintf(view, sizeof view, "state_encoders.%d.", i < most ? i : most);
    }
    place p;
    if (!find_place(x->name, &from->config, &to->config, &p)) {
        snprintf(name, sizeof name, "%s%s", view, inside);
        return inv_model_find(from, name);
    }
    bool moves = strncmp(p.kind, "encoder.norm2", 13) == 0 && p.last >= p.had;
    int32_t layer = p.layer;
    if (moves && layer == p.had - 1) return NULL;
    if (moves && layer == p.last) layer = p.had - 1;
    if (layer >= p.had) return NULL;
    snprintf(name, sizeof name, "%s%.*s%d%s", view, p.kind_length, p.kind, (int)layer, p.rest);
    return inv_model_find(from, name);
}

/* A tensor that the smaller model does not have: norms only normalise (inv_model_randomise has set them so),
 * what a branch adds to the tokens is zero. */
static void begin_layer(struct invit_model *to, const inv_tensor *x)
{
    if (strstr(x->name, ".fc.") || strstr(x->name, ".linear2_layers."))
        memset(to->param + x->offset, 0, x->count * sizeof *to->param);
}

bool inv_model_grow(const struct invit_model *from, struct invit_model *to, uint64_t seed)
{
    if (!grows(&from->config, &to->config)) return false;
    inv_model_randomise(to, seed);
    for (int32_t i = 0; i < to->tensors; i++) {
        const inv_tensor *x = &to->tensor[i], *old = ancestor(from, to, x);
        if (!old) {
            begin_layer(to, x);
            continue;
        }
        if (old->rank != x->rank || old->shape[0] != x->shape[0]) return false;
        /* the views stand side by side in the columns, new ones last */
        size_t rows = x->rank == 2 ? (size_t)x->shape[0] : 1, width = x->count / rows,
               had = old->count / rows;
        float *param = to->param + x->offset;
        for (size_t r = 0; r < rows; r++, param += width) {
            memcpy(param, from->param + old->offset + r * had, had * sizeof *param);
            memset(param + had, 0, (width - had) * sizeof *param);
        }
    }
    return true;
}
