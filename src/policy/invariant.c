/* The invariant layer: a view's points in its own bounding box, as inputs of the first encoder layer.
 *
 * A token's input phi has one group of columns per kind of token - neighbour (x, y, [demand,] 1), last (x, y,
 * [load,] 1), first (x, y, 1) - and is zero outside its own group, so that one matrix embeds all kinds.
 */
#include "policy/network.h"

#include <math.h>
#include <string.h>

typedef struct box {
    float x, y, scale;
    bool clip;
} box;

static float in_unit(float v, bool clip)
{
    if (!clip) return v;
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

static void put(float *phi, const box *b, const float *xy)
{
    phi[0] = in_unit((xy[0] - b->x) / b->scale, b->clip);
    phi[1] = in_unit((xy[1] - b->y) / b->scale, b->clip);
}

/* Over the neighbours and `last`; `first` does not count. */
static box bounding_box(const inv_config *c, const inv_state *s, int32_t neighbours)
{
    if (!c->invariant) return (box){0, 0, 1, false};
    float x0 = s->last[0], x1 = x0, y0 = s->last[1], y1 = y0;
    for (int32_t i = 0; i < neighbours; i++) {
        float x = s->xy[2 * i], y = s->xy[2 * i + 1];
        x0 = fminf(x0, x), x1 = fmaxf(x1, x);
        y0 = fminf(y0, y), y1 = fmaxf(y1, y);
    }
    float side = fmaxf(x1 - x0, y1 - y0);
    return (box){x0, y0, side > 0 ? side : 1, c->problem == INVIT_TSP};
}

void inv_view_inputs(const inv_prepared *w, int32_t e, const inv_state *s, float *phi, ptrdiff_t ld)
{
    const inv_config *c = &w->config;
    bool cvrp = c->problem == INVIT_CVRP;
    int32_t n = inv_view_neighbours(w, e, s), group = cvrp ? 4 : 3;
    box b = bounding_box(c, s, n);
    memset(phi, 0, (size_t)(inv_view_tokens(w, e, s) * ld) * sizeof *phi);
    for (int32_t i = 0; i < n; i++, phi += ld) {
        put(phi, &b, s->xy + 2 * i);
        if (cvrp) phi[2] = s->demand[i];
        phi[group - 1] = 1;
    }
    put(phi + group, &b, s->last);
    if (cvrp) phi[group + 2] = s->load;
    phi[2 * group - 1] = 1;
    phi += ld;
    if (!w->encoder[e].has_first) return;
    put(phi + 2 * group, &b, s->first);
    phi[2 * group + 2] = 1;
}
