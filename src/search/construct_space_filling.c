/* The order in which a Hilbert curve through the bounding square visits the nodes: some 35 % above the
 * optimum, in no time at all. */
#include "search/improve.h"

#include <stdlib.h>

enum { BITS = 26 };

typedef struct keyed {
    uint64_t key;
    int32_t node;
} keyed;

static int by_key(const void *x, const void *y)
{
    const keyed *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
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

invit_status inv_construct_space_filling(const invit_instance *p, invit_solution **out, invit_error *err)
{
    size_t n = (size_t)p->n;
    double lo[2] = {p->xy[0], p->xy[1]}, hi[2] = {p->xy[0], p->xy[1]};
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 2; c++) {
            if (p->xy[2 * i + c] < lo[c]) lo[c] = p->xy[2 * i + c];
            if (p->xy[2 * i + c] > hi[c]) hi[c] = p->xy[2 * i + c];
        }
    double side = hi[0] - lo[0] > hi[1] - lo[1] ? hi[0] - lo[0] : hi[1] - lo[1];
    double scale = side > 0 ? ((1u << BITS) - 1) / side : 0;

    keyed *keys = malloc(n * sizeof *keys);
    if (!keys) return inv_no_memory(err, n * sizeof *keys);
    invit_status status = inv_solution_alloc(1, p->n, out, err);
    if (status != INVIT_OK) goto done;
    for (size_t i = 0; i < n; i++) {
        uint32_t x = (uint32_t)((p->xy[2 * i] - lo[0]) * scale),
                 y = (uint32_t)((p->xy[2 * i + 1] - lo[1]) * scale);
        keys[i] = (keyed){hilbert(x, y), (int32_t)i};
    }
    qsort(keys, n, sizeof *keys, by_key);
    (*out)->start[0] = 0;
    (*out)->start[1] = p->n;
    for (size_t i = 0; i < n; i++) (*out)->nodes[i] = keys[i].node;
done:
    free(keys);
    return status;
}
