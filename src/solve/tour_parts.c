#include "solve/tour_parts.h"

#include "problem/metric.h"
#include "solve/path_merge.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 4 }; /* nodes of a path with something to choose */

invit_status inv_tour_parts_create(const invit_instance *p, int32_t window, inv_tour_parts *t,
                                   invit_error *err)
{
    size_t room = (size_t)(window < p->n ? window : p->n);
    *t = (inv_tour_parts){.p = p, .window = (int32_t)room, .from = -1};
    t->path = malloc((room + 1) * sizeof *t->path);
    t->begin = malloc(room * sizeof *t->begin);
    t->node = malloc(2 * room * sizeof *t->node);
    t->order = malloc(2 * room * sizeof *t->order);
    t->job = malloc(room * sizeof *t->job);
    t->scratch = malloc(inv_path_merge_room(t->window + 1));
    bool all = t->path && t->begin && t->node && t->order && t->job && t->scratch;
    return all ? INVIT_OK : inv_no_memory(err, room * (sizeof *t->job + 60));
}

void inv_tour_parts_destroy(inv_tour_parts *t)
{
    free(t->path);
    free(t->begin);
    free(t->node);
    free(t->order);
    free(t->job);
    free(t->scratch);
    *t = (inv_tour_parts){0};
}

static void reverse(int32_t *a, int32_t n)
{
    for (int32_t i = 0, j = n - 1; i < j; i++, j--) {
        int32_t swap = a[i];
        a[i] = a[j];
        a[j] = swap;
    }
}

void inv_tour_parts_cut(inv_tour_parts *t, const int32_t *tour, int32_t size, inv_rng *rng)
{
    int32_t n = t->p->n, all = t->window, at = 0;
    bool whole = all == n;
    t->first = whole || t->from < 0 ? (int32_t)inv_rng_below(rng, (uint32_t)n) : t->from;
    t->from = (int32_t)(((int64_t)t->first + all) % n);
    if (size < LEAST) size = LEAST;
    t->count = all / size > 1 ? all / size : 1;
    for (int32_t i = 0; i <= all; i++) t->path[i] = tour[((int64_t)t->first + i) % n];
    int32_t edges = whole && t->count == 1 ? all - 1 : all; /* one segment cannot end where it begins */
    for (int32_t k = 0; k < t->count; k++) {
        int32_t begin = (int32_t)((int64_t)edges * k / t->count),
                end = (int32_t)((int64_t)edges * (k + 1) / t->count);
        int32_t length = end - begin + 1;
        t->begin[k] = begin;
        t->job[k] = (inv_rebuild_job){.node = t->node + at, .n = length, .order = t->order + at};
        memcpy(t->node + at, t->path + begin, (size_t)length * sizeof *t->node);
        if (inv_rng_below(rng, 2)) reverse(t->node + at, length);
        at += length;
    }
}

double inv_tour_parts_keep(inv_tour_parts *t, int32_t *tour)
{
    double shorter = 0;
    for (int32_t k = 0; k < t->count; k++) {
        const inv_rebuild_job *job = &t->job[k];
        int32_t *path = t->path + t->begin[k];
        if (job->count == 0) continue;
        if (job->node[0] != path[0]) { /* walked backwards */
            reverse(job->order, job->n);
            for (int32_t i = 0; i < job->n; i++) job->order[i] = job->n - 1 - job->order[i];
        }
        shorter += inv_path_merge(t->p, path, job->order, job->n, t->scratch);
    }
    for (int32_t i = 0; i < t->window; i++) tour[((int64_t)t->first + i) % t->p->n] = t->path[i];
    return shorter;
}
