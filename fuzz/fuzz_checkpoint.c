/* Checkpoints: any bytes after a head that fits the run, under a checksum that fits them, give a run that can make a
 * step, or an error. The first byte is the problem (odd: CVRP) and, from REFILL on, whether a step may make new states,
 * of which one in RARE does: that takes up to half a second and hardly looks at the file. The trainers are made once; a checkpoint replaces all
 * of them that a step changes. */
#include "lab/train/run/trainer.h"

#include <stdlib.h>
#include <string.h>

enum { REFILL = 0xF0, RARE = 1024, MOST = 1 << 16 };

static inv_trainer *make(invit_problem problem)
{
    static invit_train_options o[2];
    static inv_comm *comm;
    invit_train_options *mine = &o[problem == INVIT_CVRP];
    inv_trainer *t = NULL;
    invit_train_defaults(problem, INVIT_IMITATE, mine);
    mine->dim = 2, mine->ff = 2, mine->heads = 1;
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

static bool has_states(const inv_trainer *t)
{
    for (int32_t i = 0; i < t->lanes; i++)
        if (inv_imitation_runs_low(&t->task, &t->lane[i])) return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static inv_trainer *trainer[2];
    if (size < 1 || size > MOST) return 0;
    invit_problem problem = data[0] & 1 ? INVIT_CVRP : INVIT_TSP;
    inv_trainer *t = trainer[data[0] & 1];
    if (!t) t = trainer[data[0] & 1] = make(problem);
    size_t head = inv_checkpoint_head(t, NULL, 0), whole = head + size - 1;
    char *bytes = malloc(whole + sizeof(uint64_t));
    invit_error err = {.message = ""};
    inv_checkpoint_head(t, bytes, head);
    memcpy(bytes + head, data + 1, size - 1);
    uint64_t sum = inv_checkpoint_sum(bytes, whole);
    memcpy(bytes + whole, &sum, sizeof sum);
    if (inv_checkpoint_parse(t, bytes, whole + sizeof sum, "input", &err) == INVIT_OK) {
        if ((has_states(t) || (data[0] >= REFILL && sum % RARE == 0)) && inv_step(t, &err) != INVIT_OK)
            abort();
    } else if (!err.message[0]) {
        abort();
    }
    free(bytes);
    return 0;
}
