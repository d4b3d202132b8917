/* invit info of an instance. */
#ifndef INVIT_CLI_INFO_INSTANCE_H
#define INVIT_CLI_INFO_INSTANCE_H

#include "cli/options.h"
#include "cli/rules.h"

typedef struct info_values {
    bool tensors; /* of a model */
    const char *output;
    int64_t index, capacity; /* of an instance, and its rules */
    cli_rules rules;
    cli_common common;
} info_values;

/* An exit code. */
int info_instance(const info_values *v, const char *path);

#endif
