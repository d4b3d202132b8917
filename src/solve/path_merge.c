#include "solve/path_merge.h"

#include "problem/metric.h"

#include <string.h>

/* Shorter than by rounding errors, as a share of the path. */
#define NOTICEABLE 1e-9

/* Both paths measured from their beginnings, and what is made of them. */
typedef struct merging {
    double *along, *other; /* [n] by place in the path; by place in the other       */
    double *gain;          /* [n] the most that can be gained from this place on     */
    int32_t *place;        /* [n] in the other path, of each place in the path       */
    int32_t *next;         /* [n] where the stretch that begins here ends            */
    int32_t *old;          /* [n] the path as it was                                 */
} merging;

size_t inv_path_merge_room(int32_t n)
{
    return (size_t)n * 3 * (sizeof(double) + sizeof(int32_t));
}

static merging lay_out(void *scratch, int32_t n)
{
    double *d = scratch;
    void *behind = d + 3 * (size_t)n;
    int32_t *i = behind;
    return (merging){d, d + n, d + 2 * (size_t)n, i, i + n, i + 2 * (size_t)n};
}

/* The best way on from place i: a step, or a stretch of the other path to a place j. The nodes from i to j are a stretch
 * of the other too if their places there have no gaps. */
static void best_from(const merging *m, int32_t i, int32_t n, double least)
{
    int32_t low = m->place[i], high = low;
    m->gain[i] = m->gain[i + 1];
    m->next[i] = i + 1;
    for (int32_t j = i + 1; j < n; j++) {
        int32_t at = m->place[j];
        low = at < low ? at : low;
        high = at > high ? at : high;
        bool same_ends = low + high == m->place[i] + at && (at == low || at == high);
        if (high - low != j - i || !same_ends) continue;
        double gain = m->along[j] - m->along[i] - (m->other[high] - m->other[low]);
        if (gain < least || gain + m->gain[j] <= m->gain[i]) continue;
        m->gain[i] = gain + m->gain[j];
        m->next[i] = j;
    }
}

double inv_path_merge(const invit_instance *p, int32_t *path, const int32_t *order, int32_t n, void *scratch)
{
    merging m = lay_out(scratch, n);
    if (n < 4) return 0;
    memcpy(m.old, path, (size_t)n * sizeof *path);
    m.along[0] = m.other[0] = m.gain[n - 1] = 0;
    m.place[0] = 0;
    for (int32_t i = 1; i < n; i++) {
        m.place[order[i]] = i;
        m.along[i] = m.along[i - 1] + inv_edge(p, path[i - 1], path[i]);
        m.other[i] = m.other[i - 1] + inv_edge(p, path[order[i - 1]], path[order[i]]);
    }
    for (int32_t i = n - 2; i >= 0; i--) best_from(&m, i, n, NOTICEABLE * m.along[n - 1]);
    for (int32_t i = 0; i < n - 1; i = m.next[i]) {
        int32_t end = m.next[i], step = m.place[end] > m.place[i] ? 1 : -1;
        for (int32_t k = 1; end > i + 1 && k < end - i; k++)
            path[i + k] = m.old[order[m.place[i] + step * k]];
    }
    return m.gain[0];
}
