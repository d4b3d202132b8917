/* A thread pool: threads that stay, so that a step of training can hand its lanes to them some times a second
 * without creating anything. */
#ifndef INVIT_BASE_THREAD_POOL_H
#define INVIT_BASE_THREAD_POOL_H

#include "base/error.h"

typedef struct inv_thread_pool inv_thread_pool;

invit_status inv_thread_pool_create(int threads, inv_thread_pool **out, invit_error *err);
void inv_thread_pool_destroy(inv_thread_pool *t);
int inv_thread_pool_size(const inv_thread_pool *t);

/* fn(context, member, item) for item = 0..items-1, each taken by the next free member in that order; the
 * calling thread is member 0. Returns when all are done. */
void inv_thread_pool_run(inv_thread_pool *t, int items, void (*fn)(void *context, int member, int item),
                         void *context);

#endif
