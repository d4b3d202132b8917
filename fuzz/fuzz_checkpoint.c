/* Checkpoints: any bytes after a head that fits the run, under a checksum that fits them, give a run that can make a
 * step, or an error. The first byte is the problem. */
#include "lab/train/run/trainer.h"

#include <stdlib.h>
#include <string.h>

static inv_trainer *make(invit_problem problem)
{
    static invit_train_options o[2];
    static inv_comm *comm;
    invit_train_options *mine = &o[problem == INVIT_CVRP];
    inv_trainer *t = NULL;
    invit_train_defaults(problem, INVIT_IMITATE, mine);
    mine->dim = 4, mine->ff = 4, mine->heads = 1;
    mine->action_layers = mine->state_layers = 1, mine->decoder_layers = 1;
    mine->batch = mine->lanes = 2;
    mine->replay_buffer = 2;
    mine->threads = 1;
    mine->effort = 0;
    mine->q_regret = 0.1; /* states with targets too */
    strcpy(mine->views, "3,4");
    strcpy(mine->data, "uniform:5");
    if (!comm && inv_comm_create(&comm, NULL) != INVIT_OK) abort();
    if (inv_trainer_create(mine, NULL, comm, &t, NULL) != INVIT_OK) abort();
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    inv_trainer *t = make(data[0] & 1 ? INVIT_CVRP : INVIT_TSP);
    size_t head = inv_checkpoint_head(t, NULL, 0), whole = head + size - 1;
    char *bytes = malloc(whole + sizeof(uint64_t));
    invit_error err = {.message = ""};
    inv_checkpoint_head(t, bytes, head);
    memcpy(bytes + head, data + 1, size - 1);
    uint64_t sum = inv_checkpoint_sum(bytes, whole);
    memcpy(bytes + whole, &sum, sizeof sum);
    if (inv_checkpoint_parse(t, bytes, whole + sizeof sum, "input", &err) == INVIT_OK) {
        if (inv_step(t, &err) != INVIT_OK) abort();
    } else if (!err.message[0]) {
        abort();
    }
    free(bytes);
    inv_trainer_destroy(t);
    return 0;
}
