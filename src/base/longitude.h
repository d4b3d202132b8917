/* Maps in degrees: how much shorter a degree of longitude is than one of latitude. */
#ifndef INVIT_BASE_LONGITUDE_H
#define INVIT_BASE_LONGITUDE_H

#include <math.h>

#define INV_LEAST_LONGITUDE_SCALE                                                                            \
    0.05 /* near the poles: a map of no width would have no neighbours to find */

/* For a map between two latitudes, taken at the middle one. */
static inline double inv_longitude_scale(double lowest, double highest)
{
    const double degree = 3.14159265358979323846 / 180;
    return fmax(INV_LEAST_LONGITUDE_SCALE, cos((lowest + highest) / 2 * degree));
}

#endif
