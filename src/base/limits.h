/* When work that cannot be used half done is to be given up, and the threads it may use. */
#ifndef INVIT_BASE_LIMITS_H
#define INVIT_BASE_LIMITS_H

#include "base/cancel.h"
#include "base/clock.h"

typedef struct inv_limits {
    double deadline;            /* inv_now() at which to give up; INFINITY: never */
    const volatile int *cancel; /* may be NULL                                    */
    int threads;                /* where work is shared; below 1: one             */
} inv_limits;

/* Looks at the clock, so not in an inner loop. */
static inline bool inv_limits_reached(const inv_limits *l)
{
    return l && (inv_flag_set(l->cancel) || inv_now() >= l->deadline);
}

#endif
