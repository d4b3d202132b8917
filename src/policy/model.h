/* The model: its configuration and one block of parameters, found by the names a published checkpoint uses.
 * invit_model_destroy frees it. */
#ifndef INVIT_POLICY_MODEL_H
#define INVIT_POLICY_MODEL_H

#include "base/error.h"

#define INV_MAX_VIEWS 8

typedef struct inv_config {
    invit_problem problem;
    int32_t dim;                    /* d, model width                                         128 */
    int32_t ff;                     /* f, feed-forward width                                  512 */
    int32_t heads;                  /* h                                                        8 */
    int32_t state_layers;           /* L, encoder layers of the state views                     2 */
    int32_t action_layers;          /* L, encoder layers of the action view                     2 */
    int32_t decoder_layers;         /* D                                                        3 */
    int32_t action_k;               /* k_a                                                     15 */
    int32_t state_views;            /* number of state views                                    1 */
    int32_t state_k[INV_MAX_VIEWS]; /* k_i, increasing                                  35 */
    bool invariant;                 /* the invariant layer is on                             true */
    bool canonical_frame;           /* it leaves out rotation and reflection too: not as published  false */
} inv_config;

/* One named tensor; `offset` counts floats in the parameter block. Row-major, as PyTorch stores weight[out][in]. */
typedef struct inv_tensor {
    char name[160];
    int32_t rank, shape[2];
    size_t offset, count;
} inv_tensor;

struct invit_model {
    inv_config config;
    int32_t tensors;
    inv_tensor *tensor; /* in the order of the authors' state dict                           */
    size_t params;      /* floats in the block                                               */
    float *param;       /* the block                                                         */
    char *path;         /* where it came from, or NULL                                       */
    char *metadata;     /* free text kept with the weights (JSON object of strings), or NULL */
};

/* Neighbours in the largest view. */
int32_t inv_largest_view(const inv_config *c);
void inv_config_defaults(inv_config *c, invit_problem problem); /* INViT-2V */
/* Says what is wrong with a configuration that makes no sense. */
invit_status inv_config_check(const inv_config *c, invit_error *err);
/* Lays out all tensors for a configuration, parameters zero. Fails on a configuration that makes no sense. */
invit_status inv_model_create(const inv_config *c, struct invit_model **out, invit_error *err);
/* The same configuration and parameters, without path and metadata. */
invit_status inv_model_copy(const struct invit_model *from, struct invit_model **out, invit_error *err);
/* PyTorch's default initialisation for each kind of layer, from a seed. */
void inv_model_randomise(struct invit_model *m, uint64_t seed);
/* Gives `to`, which is like `from` or has more state views behind the same ones or more encoder layers, parameters with
 * which it decides like `from` (grow.c; the new layers' random part comes from the seed). False when it is not such a
 * model. */
bool inv_model_grow(const struct invit_model *from, struct invit_model *to, uint64_t seed);
/* The tensor of that name, or NULL. */
const inv_tensor *inv_model_find(const struct invit_model *m, const char *name);

#endif
