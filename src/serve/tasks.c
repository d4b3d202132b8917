#include "serve/tasks.h"

#include "base/parallel.h"
#include "serve/turns.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct task_pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    task *first, **last;
    turns turns;
    bool stopping;
    int threads;
    pthread_t thread[8];
};

static task *take_locked(task_pool *pool, task **at)
{
    task *t = *at;
    *at = t->next;
    if (!t->next) pool->last = at;
    return t;
}

/* The oldest task of the client whose last turn is longest ago; NULL when there is none. */
static task *next_locked(task_pool *pool)
{
    task **best = NULL;
    int64_t longest = INT64_MAX;
    for (task **at = &pool->first; *at; at = &(*at)->next) {
        int64_t last = turns_last(&pool->turns, (*at)->client);
        if (last >= longest) continue;
        longest = last;
        best = at;
    }
    if (!best) return NULL;
    turns_take(&pool->turns, (*best)->client);
    return take_locked(pool, best);
}

static void *work(void *p)
{
    task_pool *pool = p;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->first && !pool->stopping) pthread_cond_wait(&pool->work, &pool->lock);
        task *t = next_locked(pool);
        if (!t) break;
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

bool task_pool_add(task_pool *pool, task *t)
{
    t->next = NULL;
    pthread_mutex_lock(&pool->lock);
    bool open = !pool->stopping;
    if (open) {
        *pool->last = t;
        pool->last = &t->next;
        pthread_cond_signal(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    return open;
}

bool task_pool_drop(task_pool *pool, task *t)
{
    bool found = false;
    pthread_mutex_lock(&pool->lock);
    for (task **at = &pool->first; *at && !found;) {
        found = *at == t;
        if (found)
            take_locked(pool, at);
        else
            at = &(*at)->next;
    }
    pthread_mutex_unlock(&pool->lock);
    return found;
}

void task_pool_stop(task_pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->threads; i++) pthread_join(pool->thread[i], NULL);
    pool->threads = 0;
}

void task_pool_destroy(task_pool *pool)
{
    if (!pool) return;
    task_pool_stop(pool);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
