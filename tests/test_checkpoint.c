/* Checkpoints are data from outside: what no run writes is refused, also under a checksum that fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "folder.h"
#include "lab/train/run/trainer.h"

#include <math.h>

typedef struct scene {
    inv_comm *comm;
    inv_trainer *trainer;
    char *bytes;        /* a sound checkpoint */
    size_t size, lanes; /* of it, the checksum not counted; where the lanes begin */
} scene;

static void parse(scene *s, const char *bytes, size_t size, invit_status *status, invit_error *err)
{
    char *whole = malloc(size + sizeof(uint64_t));
    uint64_t sum = inv_checkpoint_sum(bytes, size);
    memcpy(whole, bytes, size);
    memcpy(whole + size, &sum, sizeof sum);
    err->message[0] = 0;
    *status = inv_checkpoint_parse(s->trainer, whole, size + sizeof sum, "checkpoint", err);
    if (*status != INVIT_OK) assert_true(strncmp(err->message, "checkpoint", 10) == 0);
    free(whole);
}

static scene make(invit_problem problem)
{
    static invit_train_options options; /* the trainer looks at them as long as it lives */
    invit_train_options *o = &options;
    scene s = {0};
    invit_error err;
    invit_train_defaults(problem, INVIT_IMITATE, o);
    o->dim = o->ff = 2, o->heads = 1;
    o->action_layers = o->state_layers = o->decoder_layers = 1;
    o->batch = o->lanes = 2;
    o->replay_buffer = 4;
    o->threads = 1;
    o->effort = 0;
    strcpy(o->views, "3,4");
    strcpy(o->data, "uniform:5");
    assert_int_equal(inv_comm_create(&s.comm, NULL), INVIT_OK);
    assert_int_equal(inv_trainer_create(o, NULL, s.comm, &s.trainer, NULL), INVIT_OK);
    if (inv_step(s.trainer, &err) != INVIT_OK) fail_msg("%s", err.message);
    assert_int_equal(inv_checkpoint_write(s.trainer, in_folder("checkpoint"), NULL), INVIT_OK);
    s.bytes = read_file(in_folder("checkpoint"), &s.size);
    s.size -= sizeof(uint64_t);
    size_t copies = 3 + (s.trainer->average != NULL) + (s.trainer->baseline != NULL);
    s.lanes = inv_checkpoint_head(s.trainer, NULL, 0) + sizeof s.trainer->s +
              copies * s.trainer->model->params * sizeof(float);
    assert_true(s.lanes < s.size);
    return s;
}

static void release(scene *s)
{
    inv_trainer_destroy(s->trainer);
    inv_comm_destroy(s->comm);
    free(s->bytes);
}

/* The generator would give zeros for ever, and whoever waits for another number would wait as long. */
static void random_numbers_have_a_state(void **state)
{
    (void)state;
    scene s = make(INVIT_TSP);
    invit_status status;
    invit_error err;
    parse(&s, s.bytes, s.size, &status, &err);
    assert_int_equal(status, INVIT_OK);
    memset(s.bytes + s.lanes, 0, sizeof(inv_rng));
    parse(&s, s.bytes, s.size, &status, &err);
    assert_int_equal(status, INVIT_ERR_INPUT);
    if (!strstr(err.message, "random numbers")) fail_msg("%s", err.message);
    release(&s);
}

/* Every word of the lanes, once with each value that a sum or an index could run over: an error, or a run that makes a step. */
static void every_word_of_the_lanes_is_checked(void **state)
{
    (void)state;
    static const uint32_t values[] = {0x7fffffff, 0x7ffffff0, 0x80000000, 0xffffffff, 0x7fc00000, 5, 0};
    for (int problem = INVIT_TSP; problem <= INVIT_CVRP; problem++) {
        scene s = make((invit_problem)problem);
        invit_status status;
        invit_error err;
        int refused = 0;
        for (size_t at = s.lanes; at + 4 <= s.size; at += 4)
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                uint32_t was;
                memcpy(&was, s.bytes + at, 4);
                memcpy(s.bytes + at, &values[v], 4);
                parse(&s, s.bytes, s.size, &status, &err);
                if (status == INVIT_OK) assert_int_equal(inv_step(s.trainer, &err), INVIT_OK);
                refused += status != INVIT_OK;
                memcpy(s.bytes + at, &was, 4);
            }
        assert_true(refused > 100);
        release(&s);
    }
}

static void every_length_is_checked(void **state)
{
    (void)state;
    scene s = make(INVIT_CVRP);
    invit_status status;
    invit_error err;
    for (size_t size = 0; size < s.size; size += size < s.lanes ? 97 : 1) {
        parse(&s, s.bytes, size, &status, &err);
        assert_int_equal(status, INVIT_ERR_INPUT);
    }
    release(&s);
}

#define WITH_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(random_numbers_have_a_state),
        WITH_FOLDER(every_word_of_the_lanes_is_checked),
        WITH_FOLDER(every_length_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
