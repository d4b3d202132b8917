/* Wall time in seconds on the monotonic clock, and the processor time of the calling thread. */
#ifndef INVIT_BASE_CLOCK_H
#define INVIT_BASE_CLOCK_H

#include <time.h>

static inline double inv_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double inv_cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
