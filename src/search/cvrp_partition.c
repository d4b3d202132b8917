#include "search/cvrp_partition.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

static int by_key(const void *a, const void *b)
{
    const inv_cvrp_place *s = a, *t = b;
    if (s->key != t->key) return s->key < t->key ? -1 : 1;
    return (s->route > t->route) - (s->route < t->route);
}

/* Straight cuts, or now and then a cut by the angle around the depot, which is how petals lie. */
static void order(const invit_instance *p, inv_cvrp_place *place, int32_t count, inv_rng *rng)
{
    double angle = 2 * PI * inv_rng_double(rng), dx = cos(angle), dy = sin(angle);
    bool sector = inv_rng_below(rng, 2) == 0;
    for (int32_t i = 0; i < count; i++) {
        inv_cvrp_place *r = &place[i];
        double x = r->x - p->xy[0], y = r->y - p->xy[1];
        r->key = sector ? atan2(dx * y - dy * x, dx * x + dy * y) : dx * x + dy * y;
    }
    qsort(place, (size_t)count, sizeof *place, by_key);
}

static void cut(const invit_instance *p, inv_cvrp_place *place, int32_t from, int32_t to, int32_t parts,
                inv_rng *rng, int32_t *first)
{
    first[0] = from;
    first[parts] = to;
    if (parts == 1) return;
    order(p, place + from, to - from, rng);
    int64_t total = 0, sum = 0;
    for (int32_t i = from; i < to; i++) total += place[i].size;
    int32_t low = parts / 2, at = from;
    while (at < to && sum + place[at].size / 2 < total * low / parts) sum += place[at++].size;
    cut(p, place, from, at, low, rng, first);
    cut(p, place, at, to, parts - low, rng, first + low);
}

void inv_cvrp_partition(const invit_instance *p, const invit_solution *s, int32_t parts, inv_rng *rng,
                        inv_cvrp_place *place, int32_t *first)
{
    for (int32_t r = 0; r < s->routes; r++) {
        int32_t size = s->start[r + 1] - s->start[r];
        inv_cvrp_place here = {.route = r, .size = size};
        for (int32_t i = s->start[r]; i < s->start[r + 1]; i++) {
            here.x += p->xy[2 * (size_t)s->nodes[i]];
            here.y += p->xy[2 * (size_t)s->nodes[i] + 1];
        }
        if (size > 0) {
            here.x /= size;
            here.y /= size;
        }
        place[r] = here;
    }
    cut(p, place, 0, s->routes, parts, rng, first);
}
