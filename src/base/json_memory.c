#include "base/json_memory.h"

#include <stdio.h>
#include <stdlib.h>

static _Thread_local int64_t
    failures; /* Jansson's allocators get no context: a thread makes one text at a time */

static void *watched_malloc(size_t size)
{
    void *block = malloc(size);
    failures += !block;
    return block;
}

void inv_json_watch(void)
{
    json_set_alloc_funcs(watched_malloc, free);
}

int64_t inv_json_failures(void)
{
    return failures;
}

json_t *inv_json_whole(json_t *loaded, int64_t before, json_error_t *why)
{
    if (failures == before) return loaded;
    json_decref(loaded);
    if (why) snprintf(why->text, sizeof why->text, "out of memory");
    return NULL;
}

json_t *inv_json_load(const char *text, size_t length, size_t flags, json_error_t *why)
{
    int64_t before = failures;
    return inv_json_whole(json_loadb(text, length, flags, why), before, why);
}

json_t *inv_json_load_file(const char *path, size_t flags, json_error_t *why)
{
    int64_t before = failures;
    return inv_json_whole(json_load_file(path, flags, why), before, why);
}
