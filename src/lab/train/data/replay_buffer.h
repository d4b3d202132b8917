/* The replay buffer: labelled states waiting in no order, so that the states of one tour spread over many batches. Its
 * states are copies; what a checkpoint needs of them is one block. */
#ifndef INVIT_LAB_TRAIN_DATA_REPLAY_BUFFER_H
#define INVIT_LAB_TRAIN_DATA_REPLAY_BUFFER_H

#include "base/rng.h"
#include "policy/model.h"
#include "view/state.h"

typedef struct inv_buffer {
    int32_t room, count, k_max;
    int32_t action_k; /* neighbours that are candidates, at most */
    int32_t targets;  /* candidates for which a state has a target; 0: the label is all there is */
    bool demands;
    inv_state *state; /* [room], pointing into xy and demand; node is NULL */
    int32_t *label;   /* [room] index of the right candidate               */
    float *xy;        /* [room][k_max][2]                                  */
    float *demand;    /* [room][k_max], CVRP                               */
    float *target;    /* [room][targets] Q-regret of each candidate, or its probability by the teacher model;
                       * NAN: not known */
} inv_buffer;

/* For states of instances of at most `largest` nodes; `with_targets`: entries may come with targets. */
invit_status inv_buffer_init(inv_buffer *p, int32_t room, const inv_config *c, int32_t largest,
                             bool with_targets, invit_error *err);
void inv_buffer_destroy(inv_buffer *p);

/* Copies a state in; the buffer grows when it is full. `target` may be NULL: then the label alone is known. */
invit_status inv_buffer_add(inv_buffer *p, const inv_state *s, int32_t label, const float *target,
                            invit_error *err);
/* The targets of an entry, or NULL when it has none. */
const float *inv_buffer_target(const inv_buffer *p, int32_t entry);
/* Moves `count` random entries to the end, from `count_before - count` on, and takes them off the count. They
 * stay readable there until the next inv_buffer_add. Returns the index of the first. */
int32_t inv_buffer_take(inv_buffer *p, int32_t count, inv_rng *rng);

/* As bytes, for checkpoints. */
size_t inv_buffer_bytes(const inv_buffer *p);
void inv_buffer_write(const inv_buffer *p, char *bytes);
invit_status inv_buffer_read(inv_buffer *p, const char *bytes, size_t size, invit_error *err);

#endif
