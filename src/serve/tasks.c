#include "serve/tasks.h"

#include "base/parallel.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct task_pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    task *first, **last;
    bool stopping;
    int threads;
    pthread_t thread[8];
};

static void *work(void *p)
{
    task_pool *pool = p;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->first && !pool->stopping) pthread_cond_wait(&pool->work, &pool->lock);
        task *t = pool->first;
        if (!t) break;
        pool->first = t->next;
        if (!pool->first) pool->last = &pool->first;
        pthread_mutex_unlock(&pool->lock);
        t->run(t->user);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

invit_status task_pool_create(int threads, task_pool **out, invit_error *err)
{
    task_pool *pool = *out = calloc(1, sizeof *pool);
    if (!pool) return INVIT_ERR_MEMORY;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pool->last = &pool->first;
    while (pool->threads < threads && pool->threads < 8 &&
           inv_thread_start(&pool->thread[pool->threads], work, pool) == 0)
        pool->threads++;
    if (pool->threads > 0) return INVIT_OK;
    task_pool_destroy(pool);
    *out = NULL;
    if (err) snprintf(err->message, sizeof err->message, "cannot start a thread");
    return INVIT_ERR_IO;
}

void task_pool_add(task_pool *pool, task *t)
{
    t->next = NULL;
    pthread_mutex_lock(&pool->lock);
    *pool->last = t;
    pool->last = &t->next;
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

void task_pool_destroy(task_pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->threads; i++) pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
