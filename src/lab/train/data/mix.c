#include "lab/train/data/mix.h"

#include "base/names.h"
#include "invit_lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static invit_status parse_range(const char *what, const char *text, char **end, long least, int32_t *low,
                                int32_t *high, invit_error *err)
{
    long a = strtol(text, end, 10), b = a;
    bool fine = *end != text;
    if (fine && **end == '-') {
        text = *end + 1;
        b = strtol(text, end, 10);
        fine = *end != text;
    }
    if (!fine || a < least || b < a || b > 10000000)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "--%s: '%s' should begin with a number or a range like 100-500, from %ld on", what,
                        text, least);
    *low = (int32_t)a;
    *high = (int32_t)b;
    return INVIT_OK;
}

static invit_status parse_source(const char **text, inv_source *s, double *share, invit_error *err)
{
    int d = 0;
    size_t length = 0;
    for (; d <= INVIT_IMPLOSION; d++) {
        length = strlen(inv_distribution_name((invit_distribution)d));
        if (strncmp(*text, inv_distribution_name((invit_distribution)d), length) == 0 &&
            (*text)[length] == ':')
            break;
    }
    if (d > INVIT_IMPLOSION)
        return inv_fail(
            err, INVIT_ERR_ARGUMENT,
            "--data: expected uniform:, clustered:, explosion: or implosion: and a size, not '%s'", *text);
    s->distribution = (invit_distribution)d;
    char *end;
    INV_CHECK(parse_range("data", *text + length + 1, &end, 4, &s->low, &s->high, err));
    if (*end == ':') {
        char *from = end + 1;
        *share = strtod(from, &end);
        if (end == from || !(*share > 0) || !isfinite(*share))
            return inv_fail(err, INVIT_ERR_ARGUMENT, "--data: '%s' should begin with a share above 0", from);
    }
    if (*end && (*end != ',' || !end[1]))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "--data: unexpected '%s'", end);
    *text = *end ? end + 1 : end;
    return INVIT_OK;
}

invit_status inv_mix_parse(inv_mix *m, const invit_train_options *o, invit_error *err)
{
    *m = (inv_mix){
        .problem = o->problem, .demand_max = (int32_t)o->demand_max, .like_library = o->like_library};
    const char *text = o->data;
    double sum = 0;
    do {
        if (m->sources == INV_MAX_SOURCES)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "--data: more than %d parts", INV_MAX_SOURCES);
        inv_source *s = &m->source[m->sources++];
        double share = 1;
        INV_CHECK(parse_source(&text, s, &share, err));
        double mean = s->low == s->high ? s->low : (s->high - s->low) / log((double)s->high / s->low);
        sum += share / mean;
        s->chance = sum;
        if (s->high + 1 > m->largest) m->largest = s->high + 1;
    } while (*text);
    for (int32_t i = 0; i < m->sources; i++) m->source[i].chance /= sum;
    if (o->problem == INVIT_TSP) return INVIT_OK;

    char *end;
    INV_CHECK(parse_range("capacity", o->capacity, &end, 0, &m->capacity_low, &m->capacity_high, err));
    if (*end) return inv_fail(err, INVIT_ERR_ARGUMENT, "--capacity: unexpected '%s'", end);
    if (m->capacity_high > 0 && m->capacity_low < m->demand_max)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "--capacity %d is less than --demand-max %d",
                        m->capacity_low, m->demand_max);
    return INVIT_OK;
}

/* Even on a logarithmic scale: as many instances between 100 and 200 as between 500 and 1000. */
static int32_t draw_between(int32_t low, int32_t high, inv_rng *rng)
{
    double u = inv_rng_double(rng);
    if (low == high) return low;
    int32_t x = (int32_t)floor(low * pow((high + 1.0) / low, u));
    if (x < low) return low;
    return x < high ? x : high;
}

int32_t inv_published_capacity(int32_t customers)
{
    static const int32_t below[] = {20, 50, 100}, capacity[] = {20, 30, 40, 50};
    int i = 0;
    while (i < 3 && customers >= below[i]) i++;
    return capacity[i];
}

invit_status inv_mix_draw(const inv_mix *m, inv_rng *rng, invit_instance **out, invit_error *err)
{
    double u = inv_rng_double(rng);
    int32_t i = 0;
    while (i + 1 < m->sources && u >= m->source[i].chance) i++;
    const inv_source *s = &m->source[i];
    int32_t size = draw_between(s->low, s->high, rng);
    invit_generate_options g = invit_generate_defaults();
    g.demand_max = m->demand_max;
    g.capacity = m->capacity_high > 0 ? draw_between(m->capacity_low, m->capacity_high, rng)
                                      : inv_published_capacity(size);
    if (g.capacity < g.demand_max) g.capacity = g.demand_max;
    g.like_library = m->like_library > 0 && inv_rng_double(rng) < m->like_library;
    uint64_t seed = inv_rng_u64(rng), index = inv_rng_u64(rng);
    return invit_generate_with(m->problem, s->distribution, size, seed, index, &g, out, err);
}
