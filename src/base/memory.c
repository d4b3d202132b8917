#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#ifndef __EMSCRIPTEN__
#include <sys/resource.h>
#endif

enum { LITTLE = 256 << 20 };

/* The number of a file that holds nothing else ("max" is none), or the one after `key` in one with a key per line. */
static bool read_number(const char *path, const char *key, int64_t *value)
{
    char line[256];
    size_t length = strlen(key);
    bool found = false;
    FILE *f = fopen(path, "r");
    if (!f) return false;
    while (!found && fgets(line, sizeof line, f))
        found = strncmp(line, key, length) == 0 && sscanf(line + length, "%" SCNd64, value) == 1;
    fclose(f);
    return found;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of version 2, as a container sees its own. Pages of files in the group can be given up. */
static int64_t left_in_group(void)
{
    int64_t most, used, files = 0;
    if (!read_number("/sys/fs/cgroup/memory.max", "", &most) ||
        !read_number("/sys/fs/cgroup/memory.current", "", &used))
        return INT64_MAX;
    read_number("/sys/fs/cgroup/memory.stat", "file ", &files);
    return most > used - files ? most - used + files : 0;
}

static int64_t left_in_address_space(void)
{
#ifndef __EMSCRIPTEN__
    struct rlimit limit;
    int64_t used = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
    if (read_number("/proc/self/status", "VmSize:", &used)) used *= 1024;
    if (limit.rlim_cur > (rlim_t)INT64_MAX) return INT64_MAX;
    return (int64_t)limit.rlim_cur > used ? (int64_t)limit.rlim_cur - used : 0;
#else
    return INT64_MAX;
#endif
}

int64_t inv_memory_available(void)
{
    int64_t kilobytes, swap = 0, system = INT64_MAX;
    if (read_number("/proc/meminfo", "MemAvailable:", &kilobytes)) {
        read_number("/proc/meminfo", "SwapFree:", &swap);
        system = (kilobytes + swap) * 1024;
    }
    return least(system, least(left_in_group(), left_in_address_space()));
}

invit_status inv_memory_expect(int64_t bytes, const char *what, invit_error *err)
{
    if (bytes < LITTLE) return INVIT_OK;
    int64_t available = inv_memory_available();
    if (bytes <= available) return INVIT_OK;
    return inv_fail(err, INVIT_ERR_MEMORY, "%s: about %.1f GB of memory needed, %.1f GB available", what,
                    1e-9 * (double)bytes, 1e-9 * (double)available);
}
