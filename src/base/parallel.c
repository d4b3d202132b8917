#define _GNU_SOURCE
#include "base/parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

int inv_threads(int wanted)
{
    if (wanted > 0) return wanted;
#if defined(CPU_COUNT) && !defined(__EMSCRIPTEN__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

enum { LEAST_STACK = 1 << 20 };

int inv_thread_start(pthread_t *thread, void *(*fn)(void *), void *context)
{
    pthread_attr_t attributes;
    size_t stack;
    int failed = pthread_attr_init(&attributes);
    if (failed) return failed;
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < LEAST_STACK)
        pthread_attr_setstacksize(&attributes, LEAST_STACK);
    failed = pthread_create(thread, &attributes, fn, context);
    pthread_attr_destroy(&attributes);
    return failed;
}

typedef struct member {
    void (*fn)(void *, int);
    void *context;
    int index;
    pthread_t thread;
} member;

static void *run_member(void *p)
{
    member *m = p;
    m->fn(m->context, m->index);
    return NULL;
}

void inv_parallel(int threads, void (*fn)(void *, int), void *context)
{
    member *workers = threads > 1 ? calloc((size_t)threads, sizeof *workers) : NULL;
    int started = 0;
    for (int i = 1; workers && i < threads; i++) {
        workers[i] = (member){.fn = fn, .context = context, .index = i};
        if (inv_thread_start(&workers[i].thread, run_member, &workers[i]) != 0) break;
        started = i;
    }
    fn(context, 0);
    for (int i = started + 1; i < threads; i++) fn(context, i);
    for (int i = 1; i <= started; i++) pthread_join(workers[i].thread, NULL);
    free(workers);
}

enum { BLOCK = 1 << 16 };

typedef struct blocks {
    void (*fn)(void *, size_t, size_t);
    void *context;
    size_t n;
    atomic_size_t next;
} blocks;

static void run_blocks(void *context, int member)
{
    blocks *b = context;
    (void)member;
    for (size_t from; (from = atomic_fetch_add(&b->next, BLOCK)) < b->n;)
        b->fn(b->context, from, b->n - from < BLOCK ? b->n : from + BLOCK);
}

void inv_parallel_blocks(int threads, size_t n, void (*fn)(void *, size_t, size_t), void *context)
{
    blocks b = {.fn = fn, .context = context, .n = n};
    inv_parallel(n < 4 * BLOCK ? 1 : threads, run_blocks, &b);
}
