/* A network small enough for a test to run many rollouts of it. */
#ifndef INVIT_TESTS_TINY_MODEL_H
#define INVIT_TESTS_TINY_MODEL_H

#include "policy/model.h"

static inline inv_config tiny_config(invit_problem problem)
{
    inv_config c;
    inv_config_defaults(&c, problem);
    c.dim = 16;
    c.ff = 32;
    c.heads = 2;
    c.action_k = 5;
    c.state_k[0] = 9;
    return c;
}

#endif
