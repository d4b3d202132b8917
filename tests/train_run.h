/* Training runs with a tiny model, in the test's folder, and what they leave there. */
#ifndef INVIT_TESTS_TRAIN_RUN_H
#define INVIT_TESTS_TRAIN_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "fewer.h"
#include "folder.h"
#include "invit_lab.h"
#include "policy/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNUSED __attribute__((unused)) /* not every test needs all of this */

/* A tenth of the steps is too few to learn, and enough to find faults. */
enum { LESS = FEWER(1, 10), LEARNS = FEWER(1, 0), KILLS = FEWER(8, 3) };

UNUSED static void tiny(invit_train_options *o, invit_problem problem, invit_train_method method,
                        const char *run)
{
    invit_train_defaults(problem, method, o);
    snprintf(o->run, sizeof o->run, "%s/%s", folder, run);
    strcpy(o->views, "6,12");
    strcpy(o->data, "uniform:12-20");
    o->dim = 16, o->ff = 32, o->heads = 2, o->action_layers = o->state_layers = 1, o->decoder_layers = 2;
    o->steps = 30;
    o->threads = 2;
    o->effort = 0.05;
    o->replay_buffer = 256;
    o->batch = 64;
    o->warmup = 5;
    o->lr = 3e-3;
    o->validate_small = o->validate_large = 0;
    o->log_every = 5;
    o->rollin = 0;
    if (method != INVIT_REINFORCE) return;
    /* as published, but small */
    o->batch = 16, o->lanes = 4, o->augment = 4, o->epoch = 10, o->compare = 8;
    o->ema = 0, o->min_p = 0, o->share = 1, o->relative = false;
    strcpy(o->baseline, "greedy");
    strcpy(o->schedule, "exponential");
}

UNUSED static char *read_of_run(const char *run, const char *name, size_t *size)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", run, name);
    return read_file(path, size);
}

UNUSED static invit_model *weights_of(const char *run, const char *name)
{
    invit_model *m = NULL;
    char path[1200];
    snprintf(path, sizeof path, "%.1100s/%.60s.safetensors", run, name);
    assert_int_equal(invit_model_load(path, &m, NULL), INVIT_OK);
    return m;
}

/* Bit for bit; only what the files say about their runs differs. */
UNUSED static void assert_same(const char *a, const char *b, const char *name)
{
    invit_model *x = weights_of(a, name), *y = weights_of(b, name);
    assert_int_equal(x->params, y->params);
    assert_memory_equal(x->param, y->param, x->params * sizeof *x->param);
    invit_model_destroy(x);
    invit_model_destroy(y);
}

UNUSED static void assert_same_weights(const char *a, const char *b)
{
    assert_same(a, b, "last");
}

/* The value of a key in the first or last line of the log that has it. */
UNUSED static double logged(const char *run, const char *key, bool last)
{
    size_t size;
    char *log = read_of_run(run, "log.jsonl", &size), pattern[64];
    double value = NAN;
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    for (char *at = log; (at = strstr(at, pattern)); at++) {
        value = atof(at + strlen(pattern));
        if (!last) break;
    }
    free(log);
    return value;
}

UNUSED static void run_to_the_end(const invit_train_options *o, bool resume)
{
    invit_error err = {0};
    invit_train_result result;
    invit_status status = invit_train(o, resume, NULL, &result, &err);
    if (status != INVIT_OK) fail_msg("%s", err.message);
    assert_true(result.finished);
    assert_int_equal(result.steps, o->steps);
    if (o->q_regret > 0) return; /* perhaps without a labelled state since the last line of the log */
    assert_true(isfinite(result.loss));
    if (o->method == INVIT_IMITATE) assert_true(result.accuracy >= 0 && result.accuracy <= 1);
}

#endif
