#include "base/thread_pool.h"

#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct helper {
    inv_thread_pool *pool;
    int member;
    pthread_t thread;
} helper;

struct inv_thread_pool {
    int size; /* members, the caller included */
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    long round;  /* grows with each inv_thread_pool_run */
    int running; /* helpers still in the round */
    bool quit;
    void (*fn)(void *, int, int);
    void *context;
    int items;
    atomic_int next;
    helper *helpers; /* [size - 1] */
};

static void take_items(inv_thread_pool *t, int member)
{
    for (int i; (i = atomic_fetch_add(&t->next, 1)) < t->items;) t->fn(t->context, member, i);
}

static void *help(void *p)
{
    helper *h = p;
    inv_thread_pool *t = h->pool;
    long seen = 0;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (t->round == seen && !t->quit) pthread_cond_wait(&t->work, &t->lock);
        if (t->quit) break;
        seen = t->round;
        pthread_mutex_unlock(&t->lock);
        take_items(t, h->member);
        pthread_mutex_lock(&t->lock);
        if (--t->running == 0) pthread_cond_signal(&t->idle);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

invit_status inv_thread_pool_create(int threads, inv_thread_pool **out, invit_error *err)
{
    *out = NULL;
    inv_thread_pool *t = calloc(1, sizeof *t);
    helper *helpers = calloc((size_t)threads, sizeof *helpers);
    if (!t || !helpers) {
        free(t);
        free(helpers);
        return inv_no_memory(err, sizeof *t + (size_t)threads * sizeof *helpers);
    }
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    pthread_cond_init(&t->idle, NULL);
    t->helpers = helpers;
    t->size = 1;
    for (int i = 1; i < threads; i++) { /* fewer threads do the same work */
        helper *h = &helpers[i - 1];
        *h = (helper){.pool = t, .member = i};
        if (inv_thread_start(&h->thread, help, h) != 0) break;
        t->size++;
    }
    *out = t;
    return INVIT_OK;
}

void inv_thread_pool_destroy(inv_thread_pool *t)
{
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    t->quit = true;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    for (int i = 1; i < t->size; i++) pthread_join(t->helpers[i - 1].thread, NULL);
    pthread_cond_destroy(&t->work);
    pthread_cond_destroy(&t->idle);
    pthread_mutex_destroy(&t->lock);
    free(t->helpers);
    free(t);
}

int inv_thread_pool_size(const inv_thread_pool *t)
{
    return t->size;
}

void inv_thread_pool_run(inv_thread_pool *t, int items, void (*fn)(void *, int, int), void *context)
{
    pthread_mutex_lock(&t->lock);
    t->fn = fn;
    t->context = context;
    t->items = items;
    atomic_store(&t->next, 0);
    t->running = t->size - 1;
    t->round++;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    take_items(t, 0);
    pthread_mutex_lock(&t->lock);
    while (t->running > 0) pthread_cond_wait(&t->idle, &t->lock);
    pthread_mutex_unlock(&t->lock);
}
