#include "search/curve.h"

#include "base/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 26, DIGIT = 11, MOST_CHUNKS = 8, LEAST_CHUNK = 1 << 16 };

/* One pass of the radix sort. Every chunk of the items counts its digits, then puts its items behind those of the
 * chunks before it. */
typedef struct sort_pass {
    const inv_keyed *from;
    inv_keyed *to;
    size_t n;
    int shift, chunks;
    uint32_t start[MOST_CHUNKS][1 << DIGIT];
    atomic_int next;
} sort_pass;

static inline uint32_t digit(const sort_pass *s, size_t i)
{
    return s->from[i].key >> s->shift & ((1 << DIGIT) - 1);
}

static void count_digits(void *context, int member)
{
    sort_pass *s = context;
    (void)member;
    for (int c; (c = atomic_fetch_add(&s->next, 1)) < s->chunks;) {
        size_t end = s->n * ((size_t)c + 1) / (size_t)s->chunks;
        memset(s->start[c], 0, sizeof s->start[c]);
        for (size_t i = s->n * (size_t)c / (size_t)s->chunks; i < end; i++) s->start[c][digit(s, i)]++;
    }
}

static void put_items(void *context, int member)
{
    sort_pass *s = context;
    (void)member;
    for (int c; (c = atomic_fetch_add(&s->next, 1)) < s->chunks;) {
        size_t end = s->n * ((size_t)c + 1) / (size_t)s->chunks;
        for (size_t i = s->n * (size_t)c / (size_t)s->chunks; i < end; i++)
            s->to[s->start[c][digit(s, i)]++] = s->from[i];
    }
}

void inv_sort_keyed(inv_keyed *a, inv_keyed *scratch, size_t n, int bits, int threads)
{
    sort_pass s = {.from = a, .to = scratch, .n = n, .chunks = threads < MOST_CHUNKS ? threads : MOST_CHUNKS};
    if (n < (size_t)s.chunks * LEAST_CHUNK) s.chunks = 1;
    for (; s.shift < bits; s.shift += DIGIT) {
        atomic_store(&s.next, 0);
        inv_parallel(s.chunks, count_digits, &s);
        uint32_t sum = 0;
        for (int d = 0; d < 1 << DIGIT; d++)
            for (int c = 0; c < s.chunks; c++) {
                uint32_t count = s.start[c][d];
                s.start[c][d] = sum;
                sum += count;
            }
        atomic_store(&s.next, 0);
        inv_parallel(s.chunks, put_items, &s);
        inv_keyed *sorted = s.to;
        s.to = sorted == scratch ? a : scratch;
        s.from = sorted;
    }
    if (s.from != a) memcpy(a, s.from, n * sizeof *a);
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
    double lo[2], scale;
    inv_keyed *keys;
} key_job;

static void make_keys(void *context, size_t from, size_t to)
{
    const key_job *job = context;
    for (size_t i = from; i < to; i++) {
        uint32_t x = (uint32_t)((job->xy[2 * i] - job->lo[0]) * job->scale),
                 y = (uint32_t)((job->xy[2 * i + 1] - job->lo[1]) * job->scale);
        job->keys[i] = (inv_keyed){hilbert(x, y), (int32_t)i};
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
                   .lo = {lo[0], lo[1]},
                   .scale = side > 0 ? ((1u << BITS) - 1) / side : 0,
                   .keys = malloc(2 * n * sizeof *job.keys)};
    if (!job.keys) return inv_no_memory(err, 2 * n * sizeof *job.keys);
    inv_parallel_blocks(threads, n, make_keys, &job);
    inv_sort_keyed(job.keys, job.keys + n, n, 2 * BITS, threads > 1 ? threads : 1);
    for (size_t i = 0; i < n; i++) order[i] = job.keys[i].value;
    free(job.keys);
    return INVIT_OK;
}

typedef struct gather_job {
    const double *xy;
    const int32_t *order;
    double *along;
} gather_job;

static void gather(void *context, size_t from, size_t to)
{
    const gather_job *job = context;
    for (size_t i = from; i < to; i++)
        memcpy(job->along + 2 * i, job->xy + 2 * (size_t)job->order[i], 2 * sizeof *job->xy);
}

invit_status inv_curve_points(const double *xy, int32_t n, int threads, int32_t *order, double *along,
                              invit_error *err)
{
    gather_job job = {xy, order, along};
    INV_CHECK(inv_curve_order(xy, n, threads, order, err));
    inv_parallel_blocks(threads, (size_t)n, gather, &job);
    return INVIT_OK;
}
