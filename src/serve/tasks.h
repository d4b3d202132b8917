/* Threads for the work that would hold up the polling thread: parsing, generating, drawing. Clients take turns. */
#ifndef INVIT_SERVE_TASKS_H
#define INVIT_SERVE_TASKS_H

#include "invit.h"

typedef struct task_pool task_pool;

typedef struct task {
    struct task *next;
    void (*run)(void *user);
    void *user;
    uint64_t client;
} task;

invit_status task_pool_create(int threads, task_pool **out, invit_error *err);
/* The task must live until it has run or was dropped; there are never more than there are connections. False: the pool
 * has stopped. */
bool task_pool_add(task_pool *pool, task *t);
/* Takes back a task that has not begun; false when it has, or was never added. */
bool task_pool_drop(task_pool *pool, task *t);
void task_pool_stop(task_pool *pool); /* after what was added has run */
void task_pool_destroy(task_pool *pool);

#endif
