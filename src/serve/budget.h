/* One budget of bytes for everything in flight and kept: bodies, parsed JSON, answers, jobs and their events. */
#ifndef INVIT_SERVE_BUDGET_H
#define INVIT_SERVE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct budget {
    _Atomic int64_t used;
    int64_t limit;
} budget;

/* False when the bytes do not fit; then nothing is taken. */
static inline bool budget_take(budget *b, int64_t bytes)
{
    if (atomic_fetch_add(&b->used, bytes) + bytes <= b->limit) return true;
    atomic_fetch_sub(&b->used, bytes);
    return false;
}

/* For the last event of a job, which is told whatever it takes. */
static inline void budget_force(budget *b, int64_t bytes)
{
    atomic_fetch_add(&b->used, bytes);
}

static inline void budget_give(budget *b, int64_t bytes)
{
    atomic_fetch_sub(&b->used, bytes);
}

#endif
