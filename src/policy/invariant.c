/* The invariant layer: a view's points in a frame of its own, as inputs of the first encoder layer.
 *
 * As published, the frame is the view's bounding box: it makes no difference where a view lies and how large
 * it is, but its rotation does. A canonical frame (config.canonical_frame) leaves that out as well. Its origin
 * is `last`, its unit the distance to the farthest neighbour, its first axis points to `first`, and it is
 * mirrored so that the candidates' centre lies to the left. A rotated or mirrored view then is the same
 * input, and what is learned of one is known of all. `first`, often far outside the view, counts
 * logarithmically beyond the unit.
 *
 * A token's input phi has one group of columns per kind of token - neighbour (x, y, [demand,] 1), last (x, y,
 * [load,] 1), first (x, y, 1) - and is zero outside its own group, so that one matrix embeds all kinds.
 */
#include "policy/network.h"

#include <math.h>
#include <string.h>

/* Over the neighbours and `last`; `first` does not count. */
static inv_view_frame bounding_box(const inv_state *s, int32_t neighbours)
{
    float x0 = s->last[0], x1 = x0, y0 = s->last[1], y1 = y0;
    for (int32_t i = 0; i < neighbours; i++) {
        float x = s->xy[2 * i], y = s->xy[2 * i + 1];
        x0 = fminf(x0, x), x1 = fmaxf(x1, x);
        y0 = fminf(y0, y), y1 = fmaxf(y1, y);
    }
    float side = fmaxf(x1 - x0, y1 - y0);
    return (inv_view_frame){{x0, y0}, side > 0 ? side : 1, {1, 0}, {0, 1}};
}

/* From `last`, in double precision: which side a point lies on is decided alike everywhere. */
static void from_last(const inv_state *s, const float *xy, double out[2])
{
    out[0] = (double)xy[0] - (double)s->last[0];
    out[1] = (double)xy[1] - (double)s->last[1];
}

static double length(const double v[2])
{
    return sqrt(v[0] * v[0] + v[1] * v[1]);
}

/* Looking from `last`: first decides where ahead is, the candidates' centre where left is. Standing on first,
 * the centre and the nearest candidate do. All views of a state have the same axes. */
static inv_view_frame canonical_view(const inv_state *s, int32_t neighbours)
{
    double first[2], centre[2] = {0, 0}, nearest[2] = {0, 0}, d[2], radius = 0;
    from_last(s, s->first, first);
    if (s->action > 0) from_last(s, s->xy, nearest);
    for (int32_t i = 0; i < s->action; i++) {
        from_last(s, s->xy + 2 * i, d);
        centre[0] += d[0], centre[1] += d[1];
    }
    for (int32_t i = 0; i < neighbours; i++) {
        from_last(s, s->xy + 2 * i, d);
        radius = fmax(radius, length(d));
    }
    inv_view_frame f = {{s->last[0], s->last[1]}, radius > 0 ? (float)radius : 1, {1, 0}, {0, 1}};
    bool home = first[0] == 0 && first[1] == 0;
    double *ahead = home ? centre : first;
    double *side = home ? nearest : centre, far = length(ahead);
    if (!(far > 0)) return f;
    ahead[0] /= far, ahead[1] /= far;
    float sign = ahead[0] * side[1] - ahead[1] * side[0] < 0 ? -1 : 1;
    f.ahead[0] = (float)ahead[0], f.ahead[1] = (float)ahead[1];
    f.left[0] = -sign * f.ahead[1], f.left[1] = sign * f.ahead[0];
    return f;
}

inv_view_frame inv_frame_of_view(const inv_config *c, const inv_state *s, int32_t neighbours)
{
    if (!c->invariant) return (inv_view_frame){{0, 0}, 1, {1, 0}, {0, 1}};
    return c->canonical_frame ? canonical_view(s, neighbours) : bounding_box(s, neighbours);
}

void inv_view_point(const inv_config *c, const inv_view_frame *f, const float *xy, bool first, float out[2])
{
    float x = xy[0] - f->origin[0], y = xy[1] - f->origin[1];
    out[0] = (x * f->ahead[0] + y * f->ahead[1]) / f->scale;
    out[1] = (x * f->left[0] + y * f->left[1]) / f->scale;
    if (!first || !c->invariant) return;
    if (c->canonical_frame) {
        float far = sqrtf(out[0] * out[0] + out[1] * out[1]), shrink = far > 1 ? (1 + logf(far)) / far : 1;
        if (isfinite(far)) {
            out[0] *= shrink, out[1] *= shrink;
            return;
        }
        double distance = hypot(x, y), most = 1 + log(distance / (double)f->scale); /* too far for floats */
        out[0] = (float)(most * (double)(x * f->ahead[0] + y * f->ahead[1]) / distance);
        out[1] = (float)(most * (double)(x * f->left[0] + y * f->left[1]) / distance);
    } else if (c->problem == INVIT_TSP) { /* onto the border of the box */
        out[0] = fminf(fmaxf(out[0], 0), 1);
        out[1] = fminf(fmaxf(out[1], 0), 1);
    }
}

void inv_view_inputs(const inv_prepared *w, int32_t e, const inv_state *s, float *phi, ptrdiff_t ld)
{
    const inv_config *c = &w->config;
    bool cvrp = c->problem == INVIT_CVRP;
    int32_t n = inv_view_neighbours(w, e, s), group = cvrp ? 4 : 3;
    inv_view_frame f = inv_frame_of_view(c, s, n);
    memset(phi, 0, (size_t)(inv_view_tokens(w, e, s) * ld) * sizeof *phi);
    for (int32_t i = 0; i < n; i++, phi += ld) {
        inv_view_point(c, &f, s->xy + 2 * i, false, phi);
        if (cvrp) phi[2] = s->demand[i];
        phi[group - 1] = 1;
    }
    inv_view_point(c, &f, s->last, false, phi + group);
    if (cvrp) phi[group + 2] = s->load;
    phi[2 * group - 1] = 1;
    phi += ld;
    if (!w->encoder[e].has_first) return;
    inv_view_point(c, &f, s->first, true, phi + 2 * group);
    phi[2 * group + 2] = 1;
}
