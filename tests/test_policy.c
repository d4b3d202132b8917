/* The policy against a plain reading of its definition, on random weights and every kind of small instance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fewer.h"
#include "base/rng.h"
#include "nn/kernels.h"
#include "policy/policy.h"
#include "random_states.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double worst_difference(const struct invit_model *m, const states *list, inv_purpose purpose)
{
    inv_prepared *w = NULL;
    inv_policy *p = NULL;
    invit_error err;
    int32_t slots = inv_candidates(&m->config);
    float *logp = calloc((size_t)(list->count * slots) + 1, sizeof *logp);
    double *wanted = calloc((size_t)slots, sizeof *wanted), *param = doubles(m), worst = 0;
    if (inv_prepared_create(m, purpose, &w, &err) != INVIT_OK) fail_msg("%s", err.message);
    if (inv_policy_create(w, list->count > 0 ? list->count : 1, purpose & INV_TRAINING, &p, &err) != INVIT_OK)
        fail_msg("%s", err.message);
    if (inv_policy_forward(p, list->s, list->count, logp, &err) != INVIT_OK) fail_msg("%s", err.message);
    for (int32_t i = 0; i < list->count; i++) {
        reference_forward(m, param, &list->s[i], wanted);
        for (int32_t j = 0; j < slots; j++) {
            double got = (double)logp[i * slots + j];
            if (isinf(wanted[j]) || isinf(got)) {
                assert_true(got == wanted[j]);
                continue;
            }
            if (!(fabs(got - wanted[j]) <= worst)) worst = fabs(got - wanted[j]);
        }
    }
    inv_policy_destroy(p);
    inv_prepared_destroy(w);
    free(logp);
    free(wanted);
    free(param);
    return worst;
}

static void agrees_with_the_definition(void **state)
{
    (void)state;
    static const int32_t sizes[] = {1, 2, 3, 6, 13, 24};
    for (int v = 0; v < VARIANTS; v++) {
        struct invit_model *m = make_model(&variants[v].config, (uint64_t)v + 1);
        for (int how = 0; how < LAYOUTS; how++) {
            states list = {0};
            for (int i = 0; i < FEWER(6, 5); i++) {
                invit_instance *p =
                    make_instance(m->config.problem, sizes[i], (layout)how, (uint64_t)(10 * v + i));
                random_rollout(p, &m->config, (uint64_t)i, &list);
                invit_instance_destroy(p);
            }
            static const struct {
                inv_purpose purpose;
                double most;
            } limit[] = {{INV_EXACT, 2e-4},
                         {INV_TRAINING, 2e-4},
                         {INV_PURPOSE_BF16, 0.1},
                         {INV_BF16_TRAINING, 0.1},
                         {INV_PURPOSE_INT8, 0.2}};
            for (int i = 0; i < 5; i++) {
                double worst = worst_difference(m, &list, limit[i].purpose);
                if (!(worst < limit[i].most))
                    fail_msg("%s, layout %d, purpose %d: log-probability off by %g", variants[v].name, how,
                             (int)limit[i].purpose, worst);
            }
            states_free(&list);
        }
        invit_model_destroy(m);
    }
}

static void every_kernel_table_agrees(void **state)
{
    (void)state;
    const inv_kernels *table[INV_KERNELS_MOST];
    int tables = inv_kernels_list(table);
    states list = {0};
    inv_config c = variants[6].config;
    c.dim = 40, c.heads = 4, c.ff = 72;
    struct invit_model *m = make_model(&c, 3);
    invit_instance *p = make_instance(INVIT_CVRP, 25, RANDOM, 3);
    random_rollout(p, &c, 4, &list);
    for (int i = 0; i < tables; i++) {
        setenv("INVIT_KERNELS", table[i]->name, 1);
        assert_ptr_equal(inv_kernels_best(), table[i]);
        double worst = worst_difference(m, &list, INV_TRAINING);
        if (!(worst < 1e-4)) fail_msg("%s: log-probability off by %g", table[i]->name, worst);
        worst = worst_difference(m, &list, INV_PURPOSE_INT8);
        if (!(worst < 0.2)) fail_msg("%s, int8: log-probability off by %g", table[i]->name, worst);
    }
    unsetenv("INVIT_KERNELS");
    states_free(&list);
    invit_instance_destroy(p);
    invit_model_destroy(m);
}

/* Alone, in any batch, in any order, training or not: the same bits. */
static void a_state_does_not_see_its_batch(void **state)
{
    (void)state;
    for (int v = 0; v < VARIANTS; v++) {
        const inv_config *c = &variants[v].config;
        struct invit_model *m = make_model(c, 7);
        invit_instance *p = make_instance(c->problem, 22, RANDOM, 8);
        states list = {0};
        random_rollout(p, c, 9, &list);
        int32_t slots = inv_candidates(c), n = list.count;
        inv_prepared *w = NULL, *int8 = NULL;
        assert_int_equal(inv_prepared_create(m, INV_TRAINING, &w, NULL), INVIT_OK);
        assert_int_equal(inv_prepared_create(m, INV_PURPOSE_INT8, &int8, NULL), INVIT_OK);
        float *all = calloc((size_t)(n * slots), sizeof *all),
              *some = calloc((size_t)(n * slots), sizeof *some);
        static const int32_t batches[] = {64, 1, 3, 7, 64, 64, 1, 5};
        for (int i = 0; i < 8;
             i++) { /* from the fifth on with int8 weights, which are numbers of their own */
            inv_policy *policy = NULL;
            assert_int_equal(inv_policy_create(i < 5 ? w : int8, batches[i], i == 4, &policy, NULL),
                             INVIT_OK);
            for (int32_t at = 0; at < n; at += batches[i]) {
                int32_t count = n - at < batches[i] ? n - at : batches[i];
                assert_int_equal(inv_policy_forward(policy, list.s + at, count, some + at * slots, NULL),
                                 INVIT_OK);
            }
            if (i == 0 || i == 5) memcpy(all, some, (size_t)(n * slots) * sizeof *all);
            assert_memory_equal(all, some, (size_t)(n * slots) * sizeof *all);
            inv_policy_destroy(policy);
        }
        free(all);
        free(some);
        inv_prepared_destroy(w);
        inv_prepared_destroy(int8);
        states_free(&list);
        invit_instance_destroy(p);
        invit_model_destroy(m);
    }
}

static double reference_loss(const struct invit_model *m, const double *param, const states *list,
                             const double *weight)
{
    double loss = 0, logp[64];
    for (int32_t i = 0; i < list->count; i++) {
        reference_forward(m, param, &list->s[i], logp);
        loss += weight[i] * logp[list->chosen[i]];
    }
    return loss;
}

/* d/dtheta of sum_i weight_i log p(chosen_i): backward against central differences, in batches of 5. */
/* Of sum weight log p(chosen), in batches of five. */
static void find_gradient(const struct invit_model *m, const states *list, const double *weight,
                          inv_purpose purpose, float *grad)
{
    int32_t slots = inv_candidates(&m->config), n = list->count;
    float *logp = calloc((size_t)(5 * slots), sizeof *logp),
          *dlogit = calloc((size_t)(5 * slots), sizeof *dlogit);
    inv_prepared *w = NULL;
    inv_policy *policy = NULL;
    assert_int_equal(inv_prepared_create(m, purpose, &w, NULL), INVIT_OK);
    assert_int_equal(inv_policy_create(w, 5, true, &policy, NULL), INVIT_OK);
    for (int32_t at = 0; at < n; at += 5) {
        int32_t count = n - at < 5 ? n - at : 5;
        assert_int_equal(inv_policy_forward(policy, list->s + at, count, logp, NULL), INVIT_OK);
        for (int32_t i = 0; i < count; i++)
            for (int32_t j = 0; j < slots; j++)
                dlogit[i * slots + j] = (float)weight[at + i] * ((j == list->chosen[at + i] ? 1.0f : 0.0f) -
                                                                 expf(logp[i * slots + j]));
        inv_policy_backward(policy, list->s + at, count, dlogit, grad);
    }
    inv_policy_flush_gradient(policy, m, grad);
    inv_policy_destroy(policy);
    inv_prepared_destroy(w);
    free(logp), free(dlogit);
}

static void gradients_match_finite_differences(void **state)
{
    (void)state;
    for (int v = 0; v < VARIANTS; v++) {
        const inv_config *c = &variants[v].config;
        struct invit_model *m = make_model(c, 20);
        invit_instance *p = make_instance(c->problem, 9, RANDOM, 30);
        states list = {0};
        random_rollout(p, c, 40, &list);
        int32_t n = list.count;
        double *param = doubles(m), *weight = calloc((size_t)n, sizeof *weight);
        float *grad = calloc(m->params, sizeof *grad), *bf16 = calloc(m->params, sizeof *bf16);
        inv_rng r;
        inv_rng_init(&r, 50, (uint64_t)v);
        for (int32_t i = 0; i < n; i++) weight[i] = inv_rng_normal(&r);
        find_gradient(m, &list, weight, INV_TRAINING, grad);
        find_gradient(m, &list, weight, INV_BF16_TRAINING, bf16);
        double apart = 0, all = 0;
        for (size_t j = 0; j < m->params; j++) {
            apart += ((double)bf16[j] - (double)grad[j]) * ((double)bf16[j] - (double)grad[j]);
            all += (double)grad[j] * (double)grad[j];
        }
        if (!(sqrt(apart) < 0.05 * sqrt(all)))
            fail_msg("%s: the bf16 gradient is off by %g of %g", variants[v].name, sqrt(apart), sqrt(all));
        for (int32_t t = 0; t < m->tensors; t++) { /* a few of each tensor, against the tensor's size */
            const inv_tensor *x = &m->tensor[t];
            double difference = 0, norm = 1e-6;
            for (int i = 0; i < FEWER(2, 1); i++) {
                size_t j = x->offset + inv_rng_below(&r, (uint32_t)x->count);
                double old = param[j], step = 1e-5;
                param[j] = old + step;
                double up = reference_loss(m, param, &list, weight);
                param[j] = old - step;
                double slope = (up - reference_loss(m, param, &list, weight)) / (2 * step);
                param[j] = old;
                difference += (slope - (double)grad[j]) * (slope - (double)grad[j]);
                norm += slope * slope;
            }
            if (!(sqrt(difference) < 2e-3 * sqrt(norm) + 2e-5))
                fail_msg("%s, %s: gradient off by %g of %g", variants[v].name, x->name, sqrt(difference),
                         sqrt(norm));
        }
        free(param), free(weight), free(grad), free(bf16);
        states_free(&list);
        invit_instance_destroy(p);
        invit_model_destroy(m);
    }
}

static void refresh_follows_the_parameters(void **state)
{
    (void)state;
    const inv_config *c = &variants[4].config;
    struct invit_model *m = make_model(c, 1);
    inv_prepared *w = NULL;
    inv_policy *policy = NULL;
    invit_instance *p = make_instance(c->problem, 20, RANDOM, 1);
    states list = {0};
    random_rollout(p, c, 1, &list);
    float before[64], after[64];
    double wanted[64];
    assert_int_equal(inv_prepared_create(m, INV_EXACT, &w, NULL), INVIT_OK);
    assert_int_equal(inv_policy_create(w, 1, false, &policy, NULL), INVIT_OK);
    assert_int_equal(inv_policy_forward(policy, list.s, 1, before, NULL), INVIT_OK);
    inv_model_randomise(m, 77);
    inv_prepared_refresh(w, m);
    assert_int_equal(inv_policy_forward(policy, list.s, 1, after, NULL), INVIT_OK);
    double *param = doubles(m);
    reference_forward(m, param, list.s, wanted);
    for (int32_t j = 0; j < list.s[0].action; j++) assert_true(fabs(wanted[j] - (double)after[j]) < 1e-4);
    assert_true(fabsf(before[0] - after[0]) > 1e-4f);
    free(param);
    inv_policy_destroy(policy);
    inv_prepared_destroy(w);
    states_free(&list);
    invit_instance_destroy(p);
    invit_model_destroy(m);
}

static void a_grown_model_decides_the_same(void **state)
{
    (void)state;
    for (int v = 0; v < VARIANTS; v++) {
        inv_config more = variants[v].config;
        struct invit_model *m = make_model(&variants[v].config, 3), *grown = NULL;
        more.state_k[more.state_views++] = 40;
        if (more.state_views > 1 &&
            more.state_k[more.state_views - 2] > 40) { /* the global view comes last */
            invit_model_destroy(m);
            continue;
        }
        assert_int_equal(inv_model_create(&more, &grown, NULL), INVIT_OK);
        assert_int_equal(inv_model_grow(m, grown, 5),
                         m->config.state_views > 0); /* no view, nothing to copy */
        assert_false(inv_model_grow(grown, m, 5));
        if (m->config.state_views > 0) {
            invit_instance *p = make_instance(more.problem, 50, RANDOM, 1);
            states list = {0};
            random_rollout(p, &more, 1, &list);
            double *small = doubles(m), *large = doubles(grown), a[64], b[64];
            for (int32_t i = 0; i < list.count; i++) {
                reference_forward(m, small, &list.s[i], a);
                reference_forward(grown, large, &list.s[i], b);
                for (int32_t j = 0; j < inv_candidates(&more); j++)
                    assert_true(a[j] == b[j] || fabs(a[j] - b[j]) < 1e-9);
            }
            free(small);
            free(large);
            states_free(&list);
            invit_instance_destroy(p);
        }
        invit_model_destroy(grown);
        invit_model_destroy(m);
    }
}

/* Log-probabilities of the fast forward pass of two models on the same states agree within `tolerance`. */
static void assert_same_decisions(const struct invit_model *a, const struct invit_model *b, float tolerance)
{
    enum { WIDTH = 64 };
    static float one[WIDTH], two[WIDTH];
    inv_prepared *wa = NULL, *wb = NULL;
    inv_policy *pa = NULL, *pb = NULL;
    invit_instance *p = make_instance(a->config.problem, 60, RANDOM, 2);
    states list = {0};
    random_rollout(p, &b->config, 1, &list);
    assert_int_equal(inv_prepared_create(a, INV_EXACT, &wa, NULL), INVIT_OK);
    assert_int_equal(inv_prepared_create(b, INV_EXACT, &wb, NULL), INVIT_OK);
    assert_int_equal(inv_policy_create(wa, 1, false, &pa, NULL), INVIT_OK);
    assert_int_equal(inv_policy_create(wb, 1, false, &pb, NULL), INVIT_OK);
    for (int32_t i = 0; i < list.count; i++) {
        assert_int_equal(inv_policy_forward(pa, &list.s[i], 1, one, NULL), INVIT_OK);
        assert_int_equal(inv_policy_forward(pb, &list.s[i], 1, two, NULL), INVIT_OK);
        for (int32_t j = 0; j < inv_candidates(&a->config); j++)
            assert_true(one[j] == two[j] || fabsf(one[j] - two[j]) < tolerance);
    }
    inv_policy_destroy(pa);
    inv_policy_destroy(pb);
    inv_prepared_destroy(wa);
    inv_prepared_destroy(wb);
    states_free(&list);
    invit_instance_destroy(p);
}

/* New encoder layers, alone and together with a new view, begin as identities; what they begin with differs
 * from seed to seed, and they have a gradient. */
static void new_layers_change_no_decision(void **state)
{
    (void)state;
    for (int v = 0; v < VARIANTS; v++)
        for (int kind = 0; kind < 3; kind++) {
            inv_config more = variants[v].config;
            struct invit_model *m = make_model(&variants[v].config, 3), *grown = NULL, *other = NULL;
            if (kind != 1) more.action_layers += 2;
            if (kind != 0) more.state_layers += 1;
            bool view = kind == 2 && more.state_views > 0 && more.state_k[more.state_views - 1] < 40;
            if (view) more.state_k[more.state_views++] = 40;
            assert_int_equal(inv_model_create(&more, &grown, NULL), INVIT_OK);
            assert_int_equal(inv_model_create(&more, &other, NULL), INVIT_OK);
            assert_true(inv_model_grow(m, grown, 5));
            assert_true(inv_model_grow(m, other, 6));
            assert_false(inv_model_grow(grown, m, 5));
            assert_same_decisions(m, grown, 2e-4f);
            assert_same_decisions(m, other, 2e-4f);
            if (kind != 1 || more.state_views > 0)
                assert_memory_not_equal(grown->param, other->param, grown->params * sizeof(float));
            invit_model_destroy(other);
            invit_model_destroy(grown);
            invit_model_destroy(m);
        }
}

/* All that happens to a state when the whole instance is moved, scaled, rotated and perhaps mirrored. */
static void transform(states *list, double angle, bool mirror, double scale)
{
    for (int32_t i = 0; i < list->count; i++) {
        inv_state *s = &list->s[i];
        for (int32_t j = -2; j < s->action + s->rest; j++) {
            float *xy = j == -2 ? s->last : j == -1 ? s->first : s->xy + 2 * j;
            double x = (double)xy[0], y = mirror ? -(double)xy[1] : (double)xy[1];
            xy[0] = (float)(scale * (cos(angle) * x - sin(angle) * y) + 0.3);
            xy[1] = (float)(scale * (sin(angle) * x + cos(angle) * y) - 0.2);
        }
    }
}

static void canonical_frames_see_no_rotation(void **state)
{
    (void)state;
    for (int v = 0; v < VARIANTS; v++) {
        const inv_config *c = &variants[v].config;
        struct invit_model *m = make_model(c, 3);
        invit_instance *p = make_instance(c->problem, 40, RANDOM, 1);
        states list = {0}, moved = {0};
        random_rollout(p, c, 1, &list);
        random_rollout(p, c, 1, &moved);
        transform(&moved, 2.1, true, 0.6);
        double *param = doubles(m), a[64], b[64], worst = 0;
        for (int32_t i = 0; i < list.count; i++) {
            reference_forward(m, param, &list.s[i], a);
            reference_forward(m, param, &moved.s[i], b);
            for (int32_t j = 0; j < inv_candidates(c); j++)
                if (isfinite(a[j])) worst = fmax(worst, fabs(a[j] - b[j]));
        }
        if (c->canonical_frame ? worst > 1e-3 : worst < 1e-2)
            fail_msg("%s: a rotation changes log-probabilities by %g", variants[v].name, worst);
        free(param);
        states_free(&list);
        states_free(&moved);
        invit_instance_destroy(p);
        invit_model_destroy(m);
    }
}

static void refuses_nonsense(void **state)
{
    (void)state;
    struct invit_model *m = make_model(&variants[0].config, 1);
    inv_prepared *w = NULL;
    inv_policy *p = NULL;
    float logp[64];
    invit_error err;
    assert_int_equal(inv_prepared_create(m, INV_EXACT, &w, &err), INVIT_OK);
    assert_int_equal(inv_policy_create(w, 4, true, &p, &err), INVIT_ERR_ARGUMENT);
    assert_int_equal(inv_policy_create(w, 0, false, &p, &err), INVIT_ERR_ARGUMENT);
    assert_int_equal(inv_policy_create(w, 4, false, &p, &err), INVIT_OK);
    inv_state s = {.action = 6};
    assert_int_equal(inv_policy_forward(p, &s, 1, logp, &err), INVIT_ERR_ARGUMENT);
    inv_policy_destroy(p);
    inv_prepared_destroy(w);
    inv_config c = m->config;
    invit_model_destroy(m);
    c.heads = 3;
    assert_int_equal(inv_model_create(&c, &m, &err), INVIT_ERR_INPUT);
    c = variants[0].config;
    c.state_k[0] = 4;
    assert_int_equal(inv_model_create(&c, &m, &err), INVIT_ERR_INPUT);
    c = variants[0].config;
    c.canonical_frame = true;
    c.invariant = false;
    assert_int_equal(inv_model_create(&c, &m, &err), INVIT_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_definition),
        cmocka_unit_test(every_kernel_table_agrees),
        cmocka_unit_test(a_state_does_not_see_its_batch),
        cmocka_unit_test(gradients_match_finite_differences),
        cmocka_unit_test(refresh_follows_the_parameters),
        cmocka_unit_test(a_grown_model_decides_the_same),
        cmocka_unit_test(new_layers_change_no_decision),
        cmocka_unit_test(canonical_frames_see_no_rotation),
        cmocka_unit_test(refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
