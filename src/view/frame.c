/* Frames: every rollout sees the instance in the unit square, rotated or mirrored in its own way. */
#include "view/index.h"

#include <math.h>

/* A direction uniform on the circle, without trigonometry: the same bits on every machine. */
static void direction(inv_rng *rng, double u[2])
{
    double r;
    do {
        u[0] = 2 * inv_rng_double(rng) - 1;
        u[1] = 2 * inv_rng_double(rng) - 1;
        r = u[0] * u[0] + u[1] * u[1];
    } while (r > 1 || r < 1e-4);
    r = sqrt(r);
    u[0] /= r;
    u[1] /= r;
}

void inv_frame_for_copy(const invit_instance *p, int copy, inv_rng *rng, inv_frame *f)
{
    double u[2] = {1, 0}, sign = 1, scale[2];
    if (copy > 0) direction(rng, u);
    if (copy % 2 == 1) sign = -1; /* a rotation after mirroring y: the mirror image about some axis */
    inv_plane_scale(p, scale);
    f->m[0] = u[0], f->m[1] = -u[1] * sign;
    f->m[2] = u[1], f->m[3] = u[0] * sign;

    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int32_t i = 0; i < p->n; i++) {
        double x = p->xy[2 * (size_t)i] * scale[0], y = p->xy[2 * (size_t)i + 1] * scale[1];
        for (int c = 0; c < 2; c++) {
            double v = f->m[2 * c] * x + f->m[2 * c + 1] * y;
            low[c] = fmin(low[c], v);
            high[c] = fmax(high[c], v);
        }
    }
    double side = fmax(high[0] - low[0], high[1] - low[1]);
    if (!(side > 0)) side = 1;
    for (int i = 0; i < 4; i++) f->m[i] /= side;
    for (int c = 0; c < 2; c++) f->t[c] = -low[c] / side;
}
