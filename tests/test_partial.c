/* Solutions with stops missing, and beginnings of routes that stay: whatever is cut out of a solution of a random instance is put
 * back, whatever is frozen comes out unchanged, and the checker notices when it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "problem/freeze.h"
#include "problem/metric.h"
#include "solve/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(invit_status status, const invit_error *err)
{
    if (status != INVIT_OK) fail_msg("%s", err->message);
}

/* Routes with some of the rules, each in a third of the cases, or none; or a tour. */
static invit_instance *make(bool tour, int32_t n, uint64_t seed)
{
    invit_instance *p = NULL;
    invit_error err = {0};
    inv_rng rng;
    double *xy = malloc(2 * (size_t)n * sizeof *xy), *value = malloc(2 * (size_t)n * sizeof *value);
    inv_rng_init(&rng, seed, 1);
    for (int32_t i = 0; i < 2 * n; i++) xy[i] = floor(100 * inv_rng_double(&rng));
    must(invit_instance_create_tsp(xy, n, INVIT_EUC_2D, &p, &err), &err);
    if (tour) {
        if (inv_rng_below(&rng, 3) == 0) must(invit_instance_set(p, "open", "yes", &err), &err);
    } else {
        for (int32_t i = 0; i < n; i++) value[i] = i ? 1 + inv_rng_below(&rng, 9) : 0;
        must(invit_instance_set(p, "capacity", "30", &err), &err);
        must(invit_instance_set_array(p, "demands", value, n, &err), &err);
        if (inv_rng_below(&rng, 3) == 0) must(invit_instance_set(p, "max_length", "330", &err), &err);
        if (inv_rng_below(&rng, 3) == 0) must(invit_instance_set(p, "max_stops", "5", &err), &err);
        if (inv_rng_below(&rng, 3) == 0) must(invit_instance_set(p, "open", "yes", &err), &err);
        for (int32_t i = 0; i < n; i++) {
            value[2 * i] = i ? 150 * inv_rng_double(&rng) : 0;
            value[2 * i + 1] = i ? value[2 * i] + 150 : 1000;
        }
        if (inv_rng_below(&rng, 3) == 0)
            must(invit_instance_set_array(p, "time_windows", value, 2 * (int64_t)n, &err), &err);
    }
    free(xy);
    free(value);
    return p;
}

static invit_solution *solve(const invit_instance *p, const invit_solution *start, int64_t iterations,
                             invit_error *err)
{
    inv_solve_options o = inv_solve_defaults();
    invit_solution *s = NULL;
    o.construct = INVIT_CONSTRUCT_NEAREST;
    o.iterations = iterations;
    o.threads = 2;
    o.start = start;
    invit_status status = inv_solve(p, NULL, &o, &s, NULL, err);
    assert_true((status == INVIT_OK) == (s != NULL));
    return s;
}

/* Keeps each node with this probability; or, as beginnings, up to so many of each route. */
static invit_solution *cut(const invit_solution *s, bool beginnings, double keep, inv_rng *rng)
{
    invit_solution *out = NULL;
    invit_error err;
    must(inv_solution_alloc(s->routes, s->start[s->routes] + 1, &out, &err), &err);
    int32_t count = 0;
    out->start[0] = out->routes = 0;
    for (int32_t r = 0; r < s->routes; r++) {
        int32_t m = s->start[r + 1] - s->start[r], most = (int32_t)inv_rng_below(rng, (uint32_t)m + 1);
        bool whole = inv_rng_below(rng, 3) == 0;
        for (int32_t i = 0; i < m; i++)
            if (beginnings ? !whole && i < most : inv_rng_double(rng) < keep)
                out->nodes[count++] = s->nodes[s->start[r] + i];
        if (count > out->start[out->routes] || s->routes == 1) out->start[++out->routes] = count;
    }
    return out;
}

static bool begins_with(const invit_solution *s, const invit_solution *frozen)
{
    for (int32_t f = 0; f < frozen->routes; f++) {
        int32_t m = frozen->start[f + 1] - frozen->start[f];
        bool found = m == 0;
        for (int32_t r = 0; r < s->routes && !found; r++)
            found = s->start[r + 1] - s->start[r] >= m &&
                    memcmp(s->nodes + s->start[r], frozen->nodes + frozen->start[f],
                           (size_t)m * sizeof *s->nodes) == 0;
        if (!found) return false;
    }
    return true;
}

static void whatever_is_missing_is_inserted(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 36; seed++) {
        inv_rng rng;
        invit_error err = {0};
        inv_rng_init(&rng, seed, 2);
        bool tour = seed % 3 == 0;
        invit_instance *p = make(tour, 5 + (int32_t)inv_rng_below(&rng, 60), seed);
        invit_solution *full = solve(p, NULL, 300, &err);
        if (!full) fail_msg("%d: %s", (int)seed, err.message);
        invit_solution *part = cut(full, false, 0.2 * (double)inv_rng_below(&rng, 6), &rng);
        for (int64_t iterations = 0; iterations <= 300; iterations += 300) {
            invit_solution *again = solve(p, part, iterations, &err);
            if (!again) fail_msg("%d: %s", (int)seed, err.message);
            invit_check_result found;
            must(invit_check(p, again, &found, &err), &err);
            if (!found.feasible) fail_msg("%d: %s", (int)seed, found.message);
            assert_int_equal((int)invit_solution_get(again, "construct"), INVIT_CONSTRUCT_START);
            invit_solution_destroy(again);
        }
        invit_solution_destroy(part);
        invit_solution_destroy(full);
        invit_instance_destroy(p);
    }
}

static void whatever_is_frozen_stays(void **state)
{
    (void)state;
    int broken = 0;
    for (uint64_t seed = 1; seed <= 36; seed++) {
        inv_rng rng;
        invit_error err = {0};
        inv_rng_init(&rng, seed, 3);
        bool tour = seed % 3 == 0;
        invit_instance *p = make(tour, 6 + (int32_t)inv_rng_below(&rng, 60), seed);
        invit_solution *full = solve(p, NULL, 20, &err); /* far from good: the search would change it */
        if (!full) fail_msg("%d: %s", (int)seed, err.message);
        invit_solution *frozen = cut(full, true, 0, &rng);
        invit_solution *better = solve(p, NULL, 800, &err);
        must(inv_freeze_routes(p, frozen, &err), &err);
        invit_solution *part = cut(full, false, 0.5, &rng); /* perhaps without what is frozen */
        invit_solution *free_start = solve(p, NULL, 500, &err);
        if (!free_start) fail_msg("%d: %s", (int)seed, err.message);
        assert_true(begins_with(free_start, frozen));
        invit_solution *from_full = solve(p, full, 500, &err);
        if (!from_full) fail_msg("%d: %s", (int)seed, err.message);
        assert_true(begins_with(from_full, frozen));
        invit_check_result found;
        must(invit_check(p, from_full, &found, &err), &err);
        assert_true(found.feasible);
        invit_solution *from_part =
            solve(p, part, 500, &err); /* refused only when it contradicts what is frozen */
        if (from_part) assert_true(begins_with(from_part, frozen));
        must(invit_check(p, better, &found, &err), &err);
        assert_int_equal(found.feasible, begins_with(better, frozen));
        if (!found.feasible) {
            broken++;
            assert_non_null(strstr(found.message, "frozen"));
        }
        invit_solution_destroy(from_part);
        invit_solution_destroy(from_full);
        invit_solution_destroy(free_start);
        invit_solution_destroy(part);
        invit_solution_destroy(better);
        invit_solution_destroy(frozen);
        invit_solution_destroy(full);
        invit_instance_destroy(p);
    }
    assert_true(broken > 12); /* else the test would not tell */
}

static void refuses(invit_instance *p, const double *before, const char *message)
{
    invit_error err = {0};
    invit_status status = invit_instance_set_array(p, "freeze", before, p->n, &err);
    if (status == INVIT_OK) status = invit_instance_validate(p, &err);
    assert_int_not_equal(status, INVIT_OK);
    if (!strstr(err.message, message)) fail_msg("'%s', expected '%s'", err.message, message);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    const double xy[10] = {0, 0, 1, 0, 2, 0, 3, 0, 4, 0};
    const double demand[5] = {0, 1, 1, 1, 1};
    invit_error err = {0};
    invit_instance *p = NULL;
    must(invit_instance_create_tsp(xy, 5, INVIT_EXACT, &p, &err), &err);
    refuses(p, (const double[5]){1, NAN, NAN, NAN, NAN}, "not on the way");
    refuses(p, (const double[5]){0, 1, NAN, NAN, NAN}, "one beginning");
    refuses(p, (const double[5]){0, 0, 0, NAN, NAN}, "both come directly after");
    refuses(p, (const double[5]){9, NAN, NAN, NAN, NAN}, "expected nodes from 0 to 4");
    must(invit_instance_set(p, "capacity", "2", &err), &err);
    must(invit_instance_set_array(p, "demands", demand, 5, &err), &err);
    refuses(p, (const double[5]){NAN, 2, 1, NAN, NAN}, "not on the way from the depot");
    refuses(p, (const double[5]){0, NAN, NAN, NAN, NAN}, "expected nodes from 1 to 4");
    refuses(p, (const double[5]){NAN, 0, 1, 2, NAN}, "load 3 exceeds the capacity");
    must(invit_instance_set(p, "vehicles", "2", &err), &err);
    refuses(p, (const double[5]){NAN, 0, 0, 0, NAN}, "3 frozen routes, more than the 2 vehicles");
    must(invit_instance_set_array(p, "freeze", (const double[5]){NAN, NAN, NAN, NAN, NAN}, 5, &err), &err);
    assert_null(invit_instance_array(p, "freeze"));
    must(invit_instance_validate(p, &err), &err);
    invit_instance_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_missing_is_inserted),
        cmocka_unit_test(whatever_is_frozen_stays),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
