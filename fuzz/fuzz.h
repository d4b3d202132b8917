/* What the fuzz targets share: feed a reader from memory in small pieces, and look at all it gives. */
#ifndef INVIT_FUZZ_FUZZ_H
#define INVIT_FUZZ_FUZZ_H

#include "problem/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What no reader may let through. */
static inline void fuzz_look_at(const invit_instance *p)
{
    if (p->n < 1 || !p->name) abort();
    for (int32_t i = 0; i < 2 * p->n; i++)
        if (!isfinite(p->xy[i])) abort();
    if (p->problem == INVIT_CVRP) {
        if (p->capacity < 1 || p->demand[0] != 0) abort();
        for (int32_t i = 1; i < p->n; i++)
            if (p->demand[i] < 0 || p->demand[i] > p->capacity) abort();
    } else if (p->demand) {
        abort();
    }
}

static inline void fuzz_reader(inv_read_fn *read, void (*look)(const invit_instance *), const uint8_t *data,
                               size_t size)
{
    inv_text t;
    inv_read_state state = {0};
    invit_error err = {.message = ""};
    invit_instance *p = NULL;
    if (size < 1) return;
    if (inv_text_open_memory(&t, data + 1, size - 1, "input", &err) != INVIT_OK) abort();
    t.chunk = data[0];
    for (;;) {
        p = NULL;
        invit_status status = read(&t, &state, &p, &err);
        if (status != INVIT_OK && (p || !err.message[0])) abort();
        if (status != INVIT_OK || !p) break;
        look(p);
        invit_instance_destroy(p);
        state.index++;
    }
    inv_text_close(&t);
}

#define FUZZ_READER(read)                                                                                    \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                                            \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                             \
    {                                                                                                        \
        fuzz_reader(read, fuzz_look_at, data, size);                                                         \
        return 0;                                                                                            \
    }

#endif
