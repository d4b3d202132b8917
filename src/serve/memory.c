#include "serve/memory.h"

#include "base/json_memory.h"

static _Thread_local int64_t before;

void memory_begin(void)
{
    before = inv_json_failures();
}

bool memory_failed(void)
{
    return inv_json_failures() != before;
}
