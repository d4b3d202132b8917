/* Routes with limits, open ends and numbers of stops as the policy constructs them: whatever is chosen among what a walk
 * offers, the solution keeps all rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "problem/metric.h"
#include "view/walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(invit_status status, const invit_error *err)
{
    if (status != INVIT_OK) fail_msg("%s", err->message);
}

static invit_instance *make(int32_t n, uint64_t seed)
{
    invit_instance *p = NULL;
    invit_error err = {0};
    inv_rng rng;
    char text[32];
    double *xy = malloc(2 * (size_t)n * sizeof *xy), *value = malloc((size_t)n * sizeof *value), farthest = 0;
    inv_rng_init(&rng, seed, 1);
    for (int32_t i = 0; i < 2 * n; i++) xy[i] = floor(1000 * inv_rng_double(&rng));
    must(invit_instance_create_tsp(xy, n, seed % 2 ? INVIT_EXACT : INVIT_EUC_2D, &p, &err), &err);
    for (int32_t i = 0; i < n; i++) value[i] = i ? inv_rng_below(&rng, 10) : 0;
    must(invit_instance_set(p, "capacity", "30", &err), &err);
    must(invit_instance_set_array(p, "demands", value, n, &err), &err);
    for (int32_t i = 1; i < n; i++) farthest = fmax(farthest, inv_distance(p, 0, i) + inv_distance(p, i, 0));
    snprintf(text, sizeof text, "%.3f", farthest * (1.01 + inv_rng_double(&rng)));
    uint32_t which = inv_rng_below(&rng, 4);
    if (which == 0) must(invit_instance_set(p, "max_length", text, &err), &err);
    if (which == 1) {
        snprintf(text, sizeof text, "%.3f", 25 + farthest * (1 + inv_rng_double(&rng)));
        must(invit_instance_set(p, "max_duration", text, &err), &err);
        must(invit_instance_set_array(p, "service", value, n, &err), &err);
        must(invit_instance_set(p, "speed", "1.5", &err), &err);
    }
    if (which == 2 || seed % 5 == 0) must(invit_instance_set(p, "max_stops", "3", &err), &err);
    if (which == 3 || seed % 3 == 0) must(invit_instance_set(p, "open", "yes", &err), &err);
    assert_true(invit_instance_get(p, "policy") == 1);
    free(xy);
    free(value);
    return p;
}

static void whatever_is_chosen_keeps_the_rules(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        inv_rng rng;
        invit_error err = {0};
        inv_index *x = NULL;
        inv_walk *w = NULL;
        inv_frame frame;
        invit_solution *s = NULL;
        invit_check_result found;
        inv_rng_init(&rng, seed, 2);
        int32_t n = 2 + (int32_t)inv_rng_below(&rng, 150);
        invit_instance *p = make(n, seed);
        must(inv_index_create(p, &x, &err), &err);
        must(inv_walk_create(p, x, 8, seed % 2 ? 20 : -1, &w, &err), &err);
        inv_frame_for_copy(p, 0, &rng, &frame);
        inv_walk_start(w, 0, &frame);
        for (int steps = 0; !inv_walk_done(w); steps++) {
            inv_state view;
            inv_walk_view(w, &view);
            int32_t choices = inv_choices(&view);
            assert_true(choices > 0 && steps < 2 * n);
            /* the depot last, and seldom: routes get as long as they may */
            int32_t c = view.action > 0 ? (int32_t)inv_rng_below(&rng, (uint32_t)view.action) : view.action;
            inv_walk_visit(w, c < view.action ? view.node[c] : 0);
        }
        must(inv_walk_solution(w, &s, &err), &err);
        must(invit_check(p, s, &found, &err), &err);
        if (!found.feasible) fail_msg("%d: %s", (int)seed, found.message);
        invit_solution_destroy(s);
        inv_walk_destroy(w);
        inv_index_destroy(x);
        invit_instance_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_is_chosen_keeps_the_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
