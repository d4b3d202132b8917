/* The parts of training: options, mixes, sampling, thread pools, replay buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"
#include "folder.h"
#include "lab/train/data/mix.h"
#include "lab/train/data/replay_buffer.h"
#include "lab/train/method/rollout.h"
#include "lab/train/run/options.h"
#include "base/thread_pool.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void options_come_back_from_their_file(void **state)
{
    (void)state;
    invit_train_options a, b;
    invit_error err = {0};
    invit_train_defaults(INVIT_CVRP, INVIT_REINFORCE, &a);
    assert_int_equal(invit_train_set(&a, "lr", "3.3e-4", &err), INVIT_OK);
    assert_int_equal(invit_train_set(&a, "data", "uniform:50,clustered:20-80:0.5", &err), INVIT_OK);
    assert_int_equal(invit_train_set(&a, "views", "15,35,50", &err), INVIT_OK);
    assert_int_equal(invit_train_set(&a, "invariant", "no", &err), INVIT_OK);
    strcpy(a.run, "somewhere");
    assert_int_equal(inv_options_write(&a, in_folder("config"), &err), INVIT_OK);
    invit_train_defaults(INVIT_TSP, INVIT_IMITATE, &b);
    assert_int_equal(invit_train_read_config(&b, in_folder("config"), &err), INVIT_OK);
    invit_option_info info;
    for (int i = 0; invit_train_option(i, &info); i++) {
        char x[2048], y[2048];
        assert_int_equal(invit_train_get(&a, info.key, x, sizeof x, &err), INVIT_OK);
        assert_int_equal(invit_train_get(&b, info.key, y, sizeof y, &err), INVIT_OK);
        assert_string_equal(x, y);
    }
    inv_config c;
    assert_int_equal(inv_options_model(&b, &c, &err), INVIT_OK);
    assert_int_equal(c.action_k, 15);
    assert_int_equal(c.state_views, 2);
    assert_int_equal(c.state_k[1], 50);
    assert_false(c.invariant);
}

static void options_are_read_as_other_systems_write_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        invit_status status;
        const char *message;
    } cases[] = {{"\xef\xbb\xbf# made elsewhere\r\nbatch = 7\r\n", INVIT_OK, ""},
                 {"# an old Mac\rbatch = 7\r", INVIT_OK, ""},
                 {"\xff\xfe#", INVIT_ERR_INPUT, "text in UTF-16: save it as UTF-8"},
                 {"\n\nbatch 7\n", INVIT_ERR_INPUT, "config:3: expected `key = value`, got 'batch 7'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        invit_train_options o;
        invit_error err = {0};
        char batch[32];
        FILE *f = fopen(in_folder("config"), "w");
        assert_true(f && fputs(cases[i].text, f) >= 0 && fclose(f) == 0);
        invit_train_defaults(INVIT_TSP, INVIT_IMITATE, &o);
        assert_int_equal(invit_train_read_config(&o, in_folder("config"), &err), cases[i].status);
        assert_non_null(strstr(err.message, cases[i].message));
        assert_int_equal(invit_train_get(&o, "batch", batch, sizeof batch, &err), INVIT_OK);
        if (cases[i].status == INVIT_OK) assert_string_equal(batch, "7");
    }
}

static void options_say_what_is_wrong(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"lr", "fast"},         {"lr", "-1"},         {"lr", "nan"},
                                           {"batch", "1.5"},       {"batch", ""},        {"problem", "vrp"},
                                           {"invariant", "maybe"}, {"no-such-key", "1"}, {"share", "2"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        invit_train_options o;
        invit_error err = {0};
        invit_train_defaults(INVIT_TSP, INVIT_IMITATE, &o);
        assert_int_equal(invit_train_set(&o, wrong[i][0], wrong[i][1], &err), INVIT_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, wrong[i][0]));
    }
}

static void mixes_are_read_and_drawn_by_share(void **state)
{
    (void)state;
    invit_train_options o;
    invit_error err = {0};
    inv_mix m;
    invit_train_defaults(INVIT_TSP, INVIT_IMITATE, &o);
    static const char *const wrong[] = {"",
                                        "uniform",
                                        "uniform:",
                                        "uniform:3",
                                        "uniform:100:",
                                        "uniform:100:0",
                                        "uniform:100,",
                                        "square:100",
                                        "uniform:200-100",
                                        "uniform:100 clustered:100"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        strcpy(o.data, wrong[i]);
        assert_int_equal(inv_mix_parse(&m, &o, &err), INVIT_ERR_ARGUMENT);
    }
    /* a third of the nodes from instances of 20, two thirds from 40-80 */
    strcpy(o.data, "uniform:20:1,clustered:40-80:2");
    assert_int_equal(inv_mix_parse(&m, &o, &err), INVIT_OK);
    assert_int_equal(m.largest, 81);
    double small = 0, large = 0;
    inv_rng rng;
    inv_rng_init(&rng, 5, 0);
    for (int i = 0; i < 4000; i++) {
        invit_instance *p;
        assert_int_equal(inv_mix_draw(&m, &rng, &p, &err), INVIT_OK);
        assert_true(p->n == 20 || (p->n >= 40 && p->n <= 80));
        *(p->n == 20 ? &small : &large) += p->n;
        invit_instance_destroy(p);
    }
    assert_true(fabs(large / small - 2) < 0.15);

    /* a quarter of the vehicle problems as in the X set, where nearly every capacity is another */
    invit_train_defaults(INVIT_CVRP, INVIT_IMITATE, &o);
    strcpy(o.data, "uniform:20");
    strcpy(o.capacity, "50");
    o.like_library = 0.25;
    assert_int_equal(inv_mix_parse(&m, &o, &err), INVIT_OK);
    int other = 0;
    for (int i = 0; i < 1000; i++) {
        invit_instance *p;
        assert_int_equal(inv_mix_draw(&m, &rng, &p, &err), INVIT_OK);
        other += p->capacity != 50;
        invit_instance_destroy(p);
    }
    assert_in_range(other, 200, 300);
}

static void unlikely_candidates_are_not_sampled(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    const float logp[] = {logf(0.6f), logf(0.3f), -INFINITY, logf(0.06f), logf(0.04f)};
    inv_rng rng;
    inv_rng_init(&rng, 5, 0);
    for (int round = 0; round < 2; round++) {
        double all = round ? 0.96 : 1, count[5] = {0};
        float left[5];
        memcpy(left, logp, sizeof logp);
        inv_narrow(left, 5, round ? 0.05 : 0, 0);
        assert_true(inv_open(left, 5));
        for (int i = 0; i < DRAWS; i++) count[inv_sample(left, 5, 1, &rng)]++;
        for (int j = 0; j < 5; j++) {
            double expected = round && j == 4 ? 0 : exp((double)logp[j]) / all;
            assert_true(fabs(exp((double)left[j]) - expected) < 1e-6);
            assert_true(fabs(count[j] / DRAWS - expected) < (expected > 0 ? 0.015 : 1e-9));
        }
    }
    float even[] = {logf(0.24f), logf(0.26f), logf(0.25f), logf(0.25f)}, lost[] = {0, NAN};
    inv_narrow(even, 4, 0.5, 1); /* none is likely enough: what is kept is certain */
    assert_false(inv_open(even, 4));
    assert_true(fabsf(even[1]) < 1e-6f && isinf(even[0]));
    assert_int_equal(inv_sample(even, 4, 1, &rng), 1);
    assert_int_equal(inv_sample(lost, 2, 1, &rng),
                     0); /* never one that is not a number, if there is another */
    inv_narrow(lost, 2, 0.05, 0);
    assert_true(inv_open(lost, 2));
}

static void count_item(void *context, int member, int item)
{
    (void)member;
    atomic_fetch_add((atomic_int *)context + item, 1);
}

static void thread_pools_do_every_item_once(void **state)
{
    (void)state;
    inv_thread_pool *pool;
    invit_error err;
    atomic_int seen[37] = {0};
    assert_int_equal(inv_thread_pool_create(3, &pool, &err), INVIT_OK);
    for (int round = 1; round <= 200; round++) {
        inv_thread_pool_run(pool, 37, count_item, seen);
        for (int i = 0; i < 37; i++) assert_int_equal(seen[i], round);
    }
    inv_thread_pool_destroy(pool);
}

static int action_of(int id)
{
    return 1 + id % 15;
}

static int label_of(int id)
{
    return id % action_of(id);
}

static void replay_buffers_lose_and_double_nothing(void **state)
{
    (void)state;
    inv_config c;
    invit_error err;
    inv_buffer p, q;
    inv_rng rng;
    inv_rng_init(&rng, 9, 0);
    inv_config_defaults(&c, INVIT_CVRP);
    assert_int_equal(inv_buffer_init(&p, 16, &c, 1000, true, &err), INVIT_OK);
    assert_int_equal(inv_buffer_init(&q, 4, &c, 1000, true, &err), INVIT_OK);
    int seen[500] = {0}, added = 0;
    while (added < 500 || p.count > 0) {
        for (int i = 0; i < 30 && added < 500; i++, added++) {
            float xy[70], demand[35], price[16];
            for (int k = 0; k < 16; k++) price[k] = k == label_of(added) ? 0 : (float)(added + k);
            for (int k = 0; k < 70; k++) xy[k] = (float)added + (float)k / 100;
            for (int k = 0; k < 35; k++) demand[k] = (float)(added + k);
            inv_state s = {.action = action_of(added),
                           .rest = added % 20,
                           .load = (float)added,
                           .xy = xy,
                           .demand = demand};
            assert_int_equal(inv_buffer_add(&p, &s, label_of(added), added % 3 ? NULL : price, &err),
                             INVIT_OK);
        }
        size_t bytes = inv_buffer_bytes(&p); /* through a checkpoint every time */
        char *block = malloc(bytes + 1);
        inv_buffer_write(&p, block);
        assert_int_equal(inv_buffer_read(&q, block, bytes, &err), INVIT_OK);
        assert_int_equal(inv_buffer_read(&q, block, bytes - 1, &err), INVIT_ERR_INPUT);
        assert_int_equal(inv_buffer_read(&p, block, bytes, &err), INVIT_OK);
        free(block);
        int take = p.count < 7 ? p.count : 7, first = inv_buffer_take(&p, take, &rng);
        for (int i = first; i < first + take; i++) {
            int id = (int)p.state[i].load, k = action_of(id) + id % 20;
            const float *price = inv_buffer_target(&p, i);
            seen[id]++;
            assert_int_equal(p.label[i], label_of(id));
            assert_int_equal(price == NULL, id % 3 != 0);
            for (int j = 0; price && j < 16; j++)
                assert_true(price[j] == (j == label_of(id) ? 0 : (float)(id + j)));
            assert_int_equal(p.state[i].action, action_of(id));
            assert_int_equal(p.state[i].rest, id % 20);
            for (int j = 0; j < 2 * k; j++) assert_true(p.state[i].xy[j] == (float)id + (float)j / 100);
            for (int j = 0; j < k; j++) assert_true(p.state[i].demand[j] == (float)(id + j));
        }
    }
    for (int i = 0; i < 500; i++) assert_int_equal(seen[i], 1);
    inv_buffer_destroy(&p);
    inv_buffer_destroy(&q);
}

/* What a crafted checkpoint could say of a state: the first four numbers are neighbours, further ones, the
 * label and whether the depot is a candidate. */
static void crafted_states_are_refused(void **state)
{
    (void)state;
    static const int32_t wrong[][4] = {
        {-1, 0, 0, 0},        {16, 0, 0, 0}, {15, 21, 0, 0}, {15, -1, 0, 0},     {3, 0, 3, 0},
        {3, 0, -1, 0},        {3, 0, 15, 0}, {3, 0, 16, 1},  {3, 0, 1 << 30, 1}, {INT32_MAX, INT32_MAX, 0, 0},
        {1, INT32_MAX, 0, 0}, {0, 0, 0, 0},
    };
    inv_config c;
    inv_config_defaults(&c, INVIT_CVRP);
    inv_buffer p;
    invit_error err = {0};
    float xy[70] = {0}, demand[35] = {0};
    inv_state s = {.action = 3, .rest = 4, .xy = xy, .demand = demand, .depot_open = true};
    assert_int_equal(inv_buffer_init(&p, 4, &c, 100, false, &err), INVIT_OK);
    assert_int_equal(inv_buffer_add(&p, &s, 15, NULL, &err), INVIT_OK);
    size_t bytes = inv_buffer_bytes(&p);
    char *block = malloc(bytes), *crafted = malloc(bytes);
    inv_buffer_write(&p, block);
    assert_int_equal(inv_buffer_read(&p, block, bytes, &err), INVIT_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        memcpy(crafted, block, bytes);
        memcpy(crafted, wrong[i], sizeof wrong[i]);
        assert_int_equal(inv_buffer_read(&p, crafted, bytes, &err), INVIT_ERR_INPUT);
    }
    memcpy(crafted, block, bytes);
    memcpy(crafted + 16, &(float){NAN}, 4); /* the load */
    assert_int_equal(inv_buffer_read(&p, crafted, bytes, &err), INVIT_ERR_INPUT);
    free(block);
    free(crafted);
    inv_buffer_destroy(&p);
}

/* Names of version 0.1 are still understood; a seed keeps all its 64 bits. */
static void old_names_and_large_seeds(void **state)
{
    (void)state;
    static const char *const pair[][3] = {
        {"turned", "canonical-frame", "no"}, {"mentor", "distill", "m.safetensors"},
        {"pool", "replay-buffer", "77"},     {"regret", "q-regret", "0.25"},
        {"doubt", "min-p", "0.125"},         {"lambda", "gae-lambda", "0.5"},
        {"layers", "action-layers", "4"},    {"layers", "state-layers", "4"}};
    invit_train_options o;
    char text[1100];
    invit_train_defaults(INVIT_TSP, INVIT_IMITATE, &o);
    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++) {
        assert_int_equal(invit_train_set(&o, pair[i][0], pair[i][2], NULL), INVIT_OK);
        assert_int_equal(invit_train_get(&o, pair[i][1], text, sizeof text, NULL), INVIT_OK);
        assert_string_equal(text, pair[i][2]);
    }
    assert_int_equal(invit_train_set(&o, "seed", "18446744073709551615", NULL), INVIT_OK);
    assert_true(o.seed == UINT64_MAX);
    assert_int_equal(invit_train_get(&o, "seed", text, sizeof text, NULL), INVIT_OK);
    assert_string_equal(text, "18446744073709551615");
    assert_int_equal(invit_train_set(&o, "seed", "18446744073709551616", NULL), INVIT_ERR_ARGUMENT);
    assert_int_equal(invit_train_set(&o, "seed", "-1", NULL), INVIT_ERR_ARGUMENT);
    assert_true(invit_train_option_counts(&o, "rollin"));
    assert_false(invit_train_option_counts(&o, "reuse"));
    assert_false(invit_train_option_counts(&o, "capacity"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crafted_states_are_refused),
        cmocka_unit_test(options_come_back_from_their_file),
        cmocka_unit_test(old_names_and_large_seeds),
        cmocka_unit_test(options_are_read_as_other_systems_write_them),
        cmocka_unit_test(options_say_what_is_wrong),
        cmocka_unit_test(mixes_are_read_and_drawn_by_share),
        cmocka_unit_test(unlikely_candidates_are_not_sampled),
        cmocka_unit_test(thread_pools_do_every_item_once),
        cmocka_unit_test(replay_buffers_lose_and_double_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
