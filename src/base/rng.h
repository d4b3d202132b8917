/* Random numbers: xoshiro256++ seeded through splitmix64. Small state, the same stream on every machine. */
#ifndef INVIT_BASE_RNG_H
#define INVIT_BASE_RNG_H

#include <stdint.h>

typedef struct inv_rng {
    uint64_t s[4];
} inv_rng;

/* 2^64 divided by the golden ratio, odd: its multiples are spread over all 64-bit numbers. */
#define INV_GOLDEN_RATIO 0x9e3779b97f4a7c15u

static inline uint64_t inv_splitmix64(uint64_t *x)
{
    uint64_t z = (*x += INV_GOLDEN_RATIO);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Seeds of many searches within one, the first of which has the seed itself. */
static inline uint64_t inv_nth_seed(uint64_t seed, uint64_t n)
{
    return seed + n * INV_GOLDEN_RATIO;
}

/* Independent streams: the same seed with another `stream` gives unrelated numbers. */
static inline void inv_rng_init(inv_rng *r, uint64_t seed, uint64_t stream)
{
    uint64_t x = seed;
    uint64_t y = inv_splitmix64(&x) ^ (stream * 0xd1342543de82ef95u + 0x632be59bd9b4e019u);
    for (int i = 0; i < 4; i++) r->s[i] = inv_splitmix64(&y);
}

static inline uint64_t inv_rng_u64(inv_rng *r)
{
    uint64_t *s = r->s, sum = s[0] + s[3];
    uint64_t result = ((sum << 23) | (sum >> 41)) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* Uniform in [0, 1), 53 bits. */
static inline double inv_rng_double(inv_rng *r)
{
    return (double)(inv_rng_u64(r) >> 11) * 0x1p-53;
}

/* Uniform in 0..n-1 (n > 0), without the modulo's bias (Lemire). */
static inline uint32_t inv_rng_below(inv_rng *r, uint32_t n)
{
    uint64_t m = (inv_rng_u64(r) >> 32) * (uint64_t)n;
    uint32_t low = (uint32_t)m;
    if (low < n) {
        uint32_t threshold = (uint32_t)(-n) % n;
        while (low < threshold) {
            m = (inv_rng_u64(r) >> 32) * (uint64_t)n;
            low = (uint32_t)m;
        }
    }
    return (uint32_t)(m >> 32);
}

/* Standard normal and Exp(1), built from +, -, *, / and sqrt only so that every machine gives the same bits. */
double inv_rng_normal(inv_rng *r);
double inv_rng_exponential(inv_rng *r);

#endif
