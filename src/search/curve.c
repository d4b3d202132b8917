#include "search/curve.h"

#include "base/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 26, DIGIT = 11, BLOCK = 1 << 16 };

void inv_sort_keyed(inv_keyed *a, inv_keyed *scratch, size_t n, int bits)
{
    inv_keyed *from = a, *to = scratch;
    for (int shift = 0; shift < bits; shift += DIGIT) {
        size_t start[(1 << DIGIT) + 1] = {0};
        for (size_t i = 0; i < n; i++) start[((from[i].key >> shift) & ((1 << DIGIT) - 1)) + 1]++;
        for (int d = 0; d < 1 << DIGIT; d++) start[d + 1] += start[d];
        for (size_t i = 0; i < n; i++) to[start[(from[i].key >> shift) & ((1 << DIGIT) - 1)]++] = from[i];
        inv_keyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != a) memcpy(a, from, n * sizeof *a);
}

static uint64_t hilbert(uint32_t x, uint32_t y)
{
    uint64_t key = 0;
    for (uint32_t s = 1u << (BITS - 1); s > 0; s >>= 1) {
        uint32_t right = (x & s) != 0, up = (y & s) != 0;
        key = key << 2 | ((3 * right) ^ up);
        if (up) continue;
        if (right) {
            x = ~x;
            y = ~y;
        }
        uint32_t swap = x;
        x = y;
        y = swap;
    }
    return key;
}

typedef struct key_job {
    const double *xy;
    size_t n;
    double lo[2], scale;
    inv_keyed *keys;
    atomic_size_t next;
} key_job;

static void make_keys(void *context, int member)
{
    key_job *job = context;
    (void)member;
    for (;;) {
        size_t from = atomic_fetch_add(&job->next, BLOCK);
        if (from >= job->n) return;
        size_t to = job->n - from < BLOCK ? job->n : from + BLOCK;
        for (size_t i = from; i < to; i++) {
            uint32_t x = (uint32_t)((job->xy[2 * i] - job->lo[0]) * job->scale),
                     y = (uint32_t)((job->xy[2 * i + 1] - job->lo[1]) * job->scale);
            job->keys[i] = (inv_keyed){hilbert(x, y), (int32_t)i};
        }
    }
}

invit_status inv_curve_order(const double *xy, int32_t count, int threads, int32_t *order, invit_error *err)
{
    size_t n = (size_t)count;
    double lo[2] = {xy[0], xy[1]}, hi[2] = {xy[0], xy[1]};
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 2; c++) {
            if (xy[2 * i + c] < lo[c]) lo[c] = xy[2 * i + c];
            if (xy[2 * i + c] > hi[c]) hi[c] = xy[2 * i + c];
        }
    double side = hi[0] - lo[0] > hi[1] - lo[1] ? hi[0] - lo[0] : hi[1] - lo[1];
    key_job job = {.xy = xy,
                   .n = n,
                   .lo = {lo[0], lo[1]},
                   .scale = side > 0 ? ((1u << BITS) - 1) / side : 0,
                   .keys = malloc(2 * n * sizeof *job.keys)};
    if (!job.keys) return inv_no_memory(err, 2 * n * sizeof *job.keys);
    inv_parallel(n < 4 * BLOCK ? 1 : threads, make_keys, &job);
    inv_sort_keyed(job.keys, job.keys + n, n, 2 * BITS);
    for (size_t i = 0; i < n; i++) order[i] = job.keys[i].value;
    free(job.keys);
    return INVIT_OK;
}
