/* Maps in degrees: how much shorter a degree of longitude is than one of latitude, and longitudes on a circle. */
#ifndef INVIT_BASE_LONGITUDE_H
#define INVIT_BASE_LONGITUDE_H

#include <math.h>

#define INV_LEAST_LONGITUDE_SCALE                                                                            \
    0.05 /* near the poles: a map of no width would have no neighbours to find */

/* For a map between two latitudes, taken at the middle one. */
static inline double inv_longitude_scale(double lowest, double highest)
{
    return fmax(INV_LEAST_LONGITUDE_SCALE, cos((lowest + highest) / 2 * (M_PI / 180)));
}

/* The same place between -180 and 180 degrees. */
static inline double inv_wrap_longitude(double degrees)
{
    if (degrees >= -180 && degrees <= 180) return degrees;
    double shifted = fmod(degrees + 180, 360);
    shifted = shifted < 0 ? shifted + 180 : shifted - 180;
    return round(1e10 * shifted) / 1e10; /* 180.02 was written as -179.98: no digits that the shift adds */
}

#endif
