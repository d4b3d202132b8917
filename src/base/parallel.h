/* Threads: inv_parallel runs one function on every one of them; work is shared through an atomic counter by the callers.
 */
#ifndef INVIT_BASE_PARALLEL_H
#define INVIT_BASE_PARALLEL_H

#include "base/error.h"

#include <pthread.h>

/* The number of threads to use: `wanted`, or when that is <= 0 the number of cores this process may run on.
 */
int inv_threads(int wanted);

/* Starts a thread as pthread_create does, with a stack of at least 1 MB: the kernels keep up to 200 KB of
 * blocks on it, more than the whole stack is by default with some C libraries (128 KB with musl). */
int inv_thread_start(pthread_t *thread, void *(*fn)(void *), void *context);

/* Runs fn(context, member) for member = 0..threads-1, member 0 on the calling thread, and waits for all of
 * them. Costs a thread creation (about 20 us) each: call it around seconds of work, not around a matrix
 * product. When a thread cannot be created the caller runs that member itself after the others have started,
 * so members must not wait for each other. */
void inv_parallel(int threads, void (*fn)(void *context, int member), void *context);

/* Runs fn(context, from, to) for blocks that together are 0..n-1, shared by the threads; on the calling thread
 * alone when they are few. For a few nanoseconds of work per item. */
void inv_parallel_blocks(int threads, size_t n, void (*fn)(void *context, size_t from, size_t to),
                         void *context);

#endif
