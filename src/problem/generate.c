/* The MSVDRP generators: uniform, clustered, explosion, implosion. Only +, -, *, / and sqrt touch the
 * numbers, so that the same seed gives the same bytes on every machine. */
#include "base/names.h"
#include "problem/problem.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>

typedef struct disc {
    double x, y, r;
} disc;

static disc draw_disc(inv_rng *rng)
{
    disc d;
    d.x = inv_rng_double(rng);
    d.y = inv_rng_double(rng);
    d.r = 0.1 + 0.4 * inv_rng_double(rng);
    return d;
}

static void uniform(inv_rng *rng, double *xy, int64_t n)
{
    for (int64_t i = 0; i < 2 * n; i++) xy[i] = inv_rng_double(rng);
}

/* N centres in [0,L]^2 and a standard normal around each; a depot is one more centre, with nobody around it.
 */
static void clustered(inv_rng *rng, double *depot, double *xy, int64_t n, uint64_t index)
{
    double centre[8][2], side = index % 2 == 0 ? 10 : 50;
    uint32_t centres = index % 2 == 0 ? 3 : 7;
    for (uint32_t c = 0; c <= centres; c++) {
        centre[c][0] = side * inv_rng_double(rng);
        centre[c][1] = side * inv_rng_double(rng);
    }
    if (depot) {
        depot[0] = centre[centres][0];
        depot[1] = centre[centres][1];
    }
    for (int64_t i = 0; i < n; i++) {
        const double *c = centre[inv_rng_below(rng, centres)];
        xy[2 * i] = c[0] + inv_rng_normal(rng);
        xy[2 * i + 1] = c[1] + inv_rng_normal(rng);
    }
}

/* Nodes inside the disc are thrown out along their ray to radius r + Exp(rate 10). */
static void explosion(inv_rng *rng, double *xy, int64_t n)
{
    disc d = draw_disc(rng);
    for (int64_t i = 0; i < n; i++) {
        double dx = xy[2 * i] - d.x, dy = xy[2 * i + 1] - d.y, distance = sqrt(dx * dx + dy * dy);
        if (distance >= d.r) continue;
        double out = d.r + inv_rng_exponential(rng) / 10;
        double ux = distance > 0 ? dx / distance : 1;
        double uy = distance > 0 ? dy / distance : 0;
        xy[2 * i] = d.x + out * ux;
        xy[2 * i + 1] = d.y + out * uy;
    }
}

/* Nodes inside the disc are drawn towards its centre, by one factor per instance (which may be negative). */
static void implosion(inv_rng *rng, double *xy, int64_t n)
{
    disc d = draw_disc(rng);
    double m = inv_rng_normal(rng);
    if (m > d.r) m = d.r;
    for (int64_t i = 0; i < n; i++) {
        double dx = xy[2 * i] - d.x, dy = xy[2 * i + 1] - d.y;
        if (sqrt(dx * dx + dy * dy) >= d.r) continue;
        xy[2 * i] = d.x + m * dx;
        xy[2 * i + 1] = d.y + m * dy;
    }
}

/* To the unit square: minimum to 0, the longer side to 1, one scale for both axes. */
static void min_max_scale(double *xy, int64_t n)
{
    double low[2] = {xy[0], xy[1]}, high[2] = {xy[0], xy[1]};
    for (int64_t i = 1; i < n; i++)
        for (int a = 0; a < 2; a++) {
            double v = xy[2 * i + a];
            if (v < low[a]) low[a] = v;
            if (v > high[a]) high[a] = v;
        }
    double width = high[0] - low[0], height = high[1] - low[1], side = width > height ? width : height;
    if (!(side > 0)) side = 1;
    for (int64_t i = 0; i < n; i++)
        for (int a = 0; a < 2; a++) xy[2 * i + a] = (xy[2 * i + a] - low[a]) / side;
}

/* ---- like the libraries' -------------------------------------------------------------------------- */

enum { CLOUD, BOX, GRID };

/* Nodes around (x, y): a normal cloud, a box, or rows of drill holes of which some are missing. */
typedef struct patch {
    uint32_t kind, columns;
    double x, y, size, across, along;
    int64_t next; /* hole */
} patch;

static void place_in(patch *p, inv_rng *rng, double *at)
{
    double dx, dy;
    if (p->kind == CLOUD) {
        dx = 0.25 * p->size * inv_rng_normal(rng);
        dy = 0.25 * p->size * inv_rng_normal(rng);
    } else if (p->kind == BOX) {
        dx = p->size * (inv_rng_double(rng) - 0.5);
        dy = p->size * (inv_rng_double(rng) - 0.5);
    } else {
        dx = p->across * (double)(p->next % p->columns);
        dy = p->along * (double)(p->next / p->columns);
        p->next += 1 + (inv_rng_double(rng) < 0.15);
    }
    at[0] = p->x + dx;
    at[1] = p->y + dy;
}

/* What TSPLIB's instances have and the four distributions have not: density that differs a thousandfold, rows
 * and grids. Between half and all of the nodes move into one to six patches. */
static void lay_patches(inv_rng *rng, double *xy, int64_t n)
{
    enum { MOST = 6, SMALLEST = 6 }; /* the smallest have a side of 2^-7 to 2^-6 */
    patch patches[MOST];
    uint32_t count = 1 + inv_rng_below(rng, MOST);
    double stay = 0.5 * inv_rng_double(rng), each = (double)n / count;
    for (uint32_t i = 0; i < count; i++) {
        patch *p = &patches[i];
        p->next = 0;
        p->kind = inv_rng_below(rng, GRID + 1);
        p->x = inv_rng_double(rng);
        p->y = inv_rng_double(rng);
        p->size = (0.5 + 0.5 * inv_rng_double(rng)) / (1 << inv_rng_below(rng, SMALLEST + 1));
        p->columns = 1 + inv_rng_below(rng, 1 + (uint32_t)(2 * sqrt(each)));
        p->across = p->size / p->columns;
        bool square = inv_rng_below(rng, 2) == 0;
        p->along = square ? p->across : p->size / ceil(each / p->columns);
    }
    for (int64_t i = 0; i < n; i++)
        if (inv_rng_double(rng) >= stay) place_in(&patches[inv_rng_below(rng, count)], rng, xy + 2 * i);
}

static int32_t draw_demand(inv_rng *rng, int32_t low, int32_t high)
{
    return low + (int32_t)inv_rng_below(rng, (uint32_t)(high - low) + 1);
}

/* Triangular on 3..25 with its peak at 6: how many customers of an X instance fit into a route. */
static double draw_route_size(inv_rng *rng)
{
    double u = inv_rng_double(rng);
    return u < 3.0 / 22 ? 3 + sqrt(u * 22 * 3) : 25 - sqrt((1 - u) * 22 * 19);
}

/* What the X instances of CVRPLIB vary (Uchoa et al., New benchmark instances for the capacitated vehicle
 * routing problem, 2017), on top of where the customers are. */
static void vary_vehicles(inv_rng *rng, double route_size, invit_instance *p)
{
    enum { CENTRE, CORNER, ANYWHERE };
    enum { BY_QUADRANT = 5, MOSTLY_SMALL };
    static const int32_t range[][2] = {{1, 1}, {1, 10}, {5, 10}, {1, 100}, {50, 100}};
    uint32_t depot = inv_rng_below(rng, ANYWHERE + 1), kind = inv_rng_below(rng, MOSTLY_SMALL + 1);
    double size = draw_route_size(rng), small = 0.7 + 0.25 * inv_rng_double(rng), sum = 0;
    int32_t largest = 0;
    if (route_size > 0) size = route_size;
    if (depot != ANYWHERE) p->xy[0] = p->xy[1] = depot == CENTRE ? 0.5 : 0;
    min_max_scale(p->xy, p->n);
    for (int32_t i = 1; i < p->n; i++) {
        int32_t low, high;
        if (kind == BY_QUADRANT) {
            bool dear = (p->xy[2 * (size_t)i] < 0.5) == (p->xy[2 * (size_t)i + 1] < 0.5);
            low = dear ? 51 : 1;
            high = dear ? 100 : 50;
        } else if (kind == MOSTLY_SMALL) {
            bool dear = inv_rng_double(rng) >= small;
            low = dear ? 50 : 1;
            high = dear ? 100 : 10;
        } else {
            low = range[kind][0];
            high = range[kind][1];
        }
        p->demand[i] = draw_demand(rng, low, high);
        if (p->demand[i] > largest) largest = p->demand[i];
        sum += p->demand[i];
    }
    p->capacity = (int64_t)fmin(ceil(size * sum / (p->n - 1)), INT32_MAX);
    if (p->capacity < largest) p->capacity = largest;
}

/* Each kind of instance has its own streams: TSP-100 and TSP-1000 of one seed share no numbers. */
static uint64_t stream_of(invit_problem problem, invit_distribution distribution, int64_t size,
                          uint64_t index)
{
    uint64_t kind = ((uint64_t)size * 2 + (uint64_t)problem) * 4 + (uint64_t)distribution;
    return inv_splitmix64(&kind) + index;
}

static invit_status check_request(invit_problem problem, invit_distribution distribution, int64_t size,
                                  const invit_generate_options *o, invit_error *err)
{
    if ((problem != INVIT_TSP && problem != INVIT_CVRP) || (unsigned)distribution > INVIT_IMPLOSION)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "no generator for problem %d, distribution %d", (int)problem,
                        (int)distribution);
    if (size < 1 || size > 1000000000)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "size %lld is not in 1..1000000000", (long long)size);
    if (problem == INVIT_CVRP && !o->like_library &&
        (o->demand_min < 0 || o->demand_max < o->demand_min || o->demand_max > o->capacity ||
         o->capacity < 1 || o->capacity > INT32_MAX))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "demands %d..%d do not fit 0..%lld (the capacity)",
                        o->demand_min, o->demand_max, (long long)o->capacity);
    if (!(o->route_size >= 0 && o->route_size <= 1e9))
        return inv_fail(err, INVIT_ERR_ARGUMENT, "%g customers in a route: expected 0 (drawn) or up to 1e9",
                        o->route_size);
    return INVIT_OK;
}

invit_status invit_generate_with(invit_problem problem, invit_distribution distribution, int64_t size,
                                 uint64_t seed, uint64_t index, const invit_generate_options *options,
                                 invit_instance **out, invit_error *err)
{
    static const invit_generate_options published = {.capacity = 50, .demand_min = 1, .demand_max = 10};
    if (!options) options = &published;
    *out = NULL;
    INV_CHECK(check_request(problem, distribution, size, options, err));
    bool cvrp = problem == INVIT_CVRP;
    invit_instance *p;
    INV_CHECK(inv_instance_alloc(problem, size + cvrp, &p, err));

    inv_rng rng;
    inv_rng_init(&rng, seed, stream_of(problem, distribution, size, index));
    double *depot = cvrp ? p->xy : NULL;
    double *xy = p->xy + (cvrp ? 2 : 0);
    if (distribution == INVIT_CLUSTERED) {
        clustered(&rng, depot, xy, size, index);
    } else {
        uniform(&rng, p->xy, p->n);
        if (distribution == INVIT_EXPLOSION) explosion(&rng, xy, size);
        if (distribution == INVIT_IMPLOSION) implosion(&rng, xy, size);
    }
    min_max_scale(p->xy, p->n);
    if (cvrp && options->like_library) {
        vary_vehicles(&rng, options->route_size, p);
    } else if (options->like_library) {
        lay_patches(&rng, p->xy, p->n);
        min_max_scale(p->xy, p->n);
    } else if (cvrp) {
        p->capacity = options->capacity;
        for (int32_t i = 1; i < p->n; i++)
            p->demand[i] = draw_demand(&rng, options->demand_min, options->demand_max);
    }

    char name[128];
    snprintf(name, sizeof name, "%s%lld-%s%s-s%llu-i%llu", inv_problem_name(problem), (long long)size,
             inv_distribution_name(distribution), options->like_library ? "-library" : "",
             (unsigned long long)seed, (unsigned long long)index);
    invit_status status = invit_instance_set_name(p, name, err);
    if (status != INVIT_OK) {
        invit_instance_destroy(p);
        return status;
    }
    *out = p;
    return INVIT_OK;
}
