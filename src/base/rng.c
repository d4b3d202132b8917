#include "base/rng.h"

#include <math.h>

/* Natural logarithm without libm, whose last bit differs between machines: x = m 2^e, log m by the atanh series. */
static double portable_log(double x)
{
    int e;
    double m = frexp(x, &e); /* m in [0.5, 1) */
    if (m < 0.70710678118654752440) {
        m *= 2;
        e--;
    }
    double z = (m - 1) / (m + 1), z2 = z * z, sum = 0;
    for (int k = 23; k >= 1; k -= 2) sum = sum * z2 + 1.0 / k;
    return 2 * z * sum + e * 0.69314718055994530942;
}

double inv_rng_normal(inv_rng *r)
{
    for (;;) { /* Marsaglia's polar method; the second number is dropped to keep the generator stateless */
        double u = 2 * inv_rng_double(r) - 1, v = 2 * inv_rng_double(r) - 1, s = u * u + v * v;
        if (s > 0 && s < 1) return u * sqrt(-2 * portable_log(s) / s);
    }
}

double inv_rng_exponential(inv_rng *r)
{
    return -portable_log(1 - inv_rng_double(r));
}
