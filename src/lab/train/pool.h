/* The pool: labelled states waiting in no order, so that the states of one tour spread over many batches. Its
 * states are copies; what a checkpoint needs of them is one block. */
#ifndef INVIT_LAB_TRAIN_POOL_H
#define INVIT_LAB_TRAIN_POOL_H

#include "base/rng.h"
#include "policy/model.h"
#include "view/state.h"

typedef struct inv_pool {
    int32_t room, count, k_max;
    int32_t action_k; /* neighbours that are candidates, at most */
    int32_t advised;  /* candidates on which a state comes with advice; 0: it comes without */
    bool demands;
    inv_state *state; /* [room], pointing into xy and demand; node is NULL */
    int32_t *label;   /* [room] index of the right candidate               */
    float *xy;        /* [room][k_max][2]                                  */
    float *demand;    /* [room][k_max], CVRP                               */
    float *advice; /* [room][advised] what each candidate costs more than the best one, or how likely a mentor
                    * finds it; NAN: not known */
} inv_pool;

/* For states of instances of at most `largest` nodes; `with_advice`: entries may come with advice. */
invit_status inv_pool_init(inv_pool *p, int32_t room, const inv_config *c, int32_t largest, bool with_advice,
                           invit_error *err);
void inv_pool_destroy(inv_pool *p);

/* Copies a state in; the pool grows when it is full. `advice` may be NULL: then the label alone is known. */
invit_status inv_pool_add(inv_pool *p, const inv_state *s, int32_t label, const float *advice,
                          invit_error *err);
/* The advice of an entry, or NULL when it has none. */
const float *inv_pool_advice(const inv_pool *p, int32_t entry);
/* Moves `count` random entries to the end, from `count_before - count` on, and takes them off the count. They
 * stay readable there until the next inv_pool_add. Returns the index of the first. */
int32_t inv_pool_take(inv_pool *p, int32_t count, inv_rng *rng);

/* As bytes, for checkpoints. */
size_t inv_pool_bytes(const inv_pool *p);
void inv_pool_write(const inv_pool *p, char *bytes);
invit_status inv_pool_read(inv_pool *p, const char *bytes, size_t size, invit_error *err);

#endif
