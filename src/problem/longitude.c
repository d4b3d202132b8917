/* Longitudes on a circle: an instance that crosses the date line is laid out in one piece. */
#include "problem/problem.h"

#include "base/longitude.h"

#include <math.h>

void inv_plane_scale(const invit_instance *p, double scale[2])
{
    scale[0] = scale[1] = 1;
    if (p->metric != INVIT_GEO && p->metric != INVIT_HAVERSINE) return;
    int latitude = p->metric == INVIT_GEO ? 0 : 1; /* TSPLIB's GEO has latitude first */
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < p->n; i++) {
        low = fmin(low, p->xy[2 * (size_t)i + (size_t)latitude]);
        high = fmax(high, p->xy[2 * (size_t)i + (size_t)latitude]);
    }
    scale[1 - latitude] = inv_longitude_scale(low, high);
}

/* The circle is cut in the middle of its widest empty stretch (to half a degree), and longitudes run on from
 * there: 179.5 and -179.5 become 179.5 and 180.5. Distances do not change; neighbours become neighbours in
 * the plane too. */
void inv_join_longitudes(invit_instance *p)
{
    enum { BINS = 720 };
    bool used[BINS] = {false};
    for (int32_t i = 0; i < p->n; i++) {
        double *x = &p->xy[2 * (size_t)i];
        *x = inv_wrap_longitude(*x);
        int bin = (int)((*x + 180) * (BINS / 360.0));
        used[bin < BINS ? bin : 0] = true;
    }
    int first = 0, widest = 0, cut = 0;
    while (first < BINS && !used[first]) first++;
    for (int step = 1, run = 0; step <= BINS; step++) { /* once around, from a used bin to the same */
        int bin = (first + step) % BINS;
        run = used[bin] ? 0 : run + 1;
        if (run > widest) {
            widest = run;
            cut = bin + 1; /* the stretch ends here */
        }
    }
    int last = BINS - 1;
    while (last > first && !used[last]) last--;
    if (widest <= first + BINS - 1 - last)
        return; /* the date line is as good a cut: longitudes stay as written */
    double from = cut * (360.0 / BINS) - 180;
    for (int32_t i = 0; i < p->n; i++)
        if (p->xy[2 * (size_t)i] < from) p->xy[2 * (size_t)i] += 360;
}
