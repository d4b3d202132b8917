#include "serve/memory.h"

#include <jansson.h>
#include <stdlib.h>

static _Thread_local bool failed; /* Jansson's allocators get no context: a thread makes one text at a time */

static void *watched_malloc(size_t size)
{
    void *block = malloc(size);
    if (!block) failed = true;
    return block;
}

void memory_watch_json(void)
{
    json_set_alloc_funcs(watched_malloc, free);
}

void memory_begin(void)
{
    failed = false;
}

bool memory_failed(void)
{
    return failed;
}
