/* The parts of training: options, mixes, replay buffers, demonstrations, replays, label files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"
#include "folder.h"
#include "lab/train/data/label_file.h"
#include "lab/train/data/demonstration.h"
#include "lab/train/data/mix.h"
#include "lab/train/run/options.h"
#include "lab/train/data/length.h"
#include "lab/train/method/rollout.h"
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

static void teams_do_every_item_once(void **state)
{
    (void)state;
    inv_thread_pool *team;
    invit_error err;
    atomic_int seen[37] = {0};
    assert_int_equal(inv_thread_pool_create(3, &team, &err), INVIT_OK);
    for (int round = 1; round <= 200; round++) {
        inv_thread_pool_run(team, 37, count_item, seen);
        for (int i = 0; i < 37; i++) assert_int_equal(seen[i], round);
    }
    inv_thread_pool_destroy(team);
}

static int action_of(int id)
{
    return 1 + id % 15;
}

static int label_of(int id)
{
    return id % action_of(id);
}

static void pools_lose_and_double_nothing(void **state)
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

static void routes_are_entered_at_their_near_end(void **state)
{
    (void)state;
    double xy[] = {0, 0, 5, 0, 1, 0, 3, 0, 2, 0, 0, 4, 0, 0.5};
    int32_t nodes[] = {1, 2, 3, 4, 5, 6}, start[] = {0, 2, 4, 6}, order[16];
    int32_t count = inv_order_routes(xy, nodes, start, 3, false, order);
    int32_t expected[] = {6, 5, 0, 2, 1, 0, 4, 3};
    assert_int_equal(count, 8);
    assert_memory_equal(order, expected, sizeof expected);

    int32_t open_nodes[] = {1, 2, 3, 4, 5, 6}; /* the vehicle stands at 1 */
    int32_t rest[] = {2, 0, 6, 5, 0, 4, 3};
    count = inv_order_routes(xy, open_nodes, start, 3, true, order);
    assert_int_equal(count, 7);
    assert_memory_equal(order, rest, sizeof rest);
}

static void check_order(const invit_instance *p, const int32_t *order, int32_t count)
{
    bool cvrp = p->problem == INVIT_CVRP;
    int *seen = calloc((size_t)p->n, sizeof *seen);
    int64_t load = p->capacity;
    for (int32_t i = 0; i < count; i++) {
        assert_in_range(order[i], 0, p->n - 1);
        if (cvrp && order[i] == 0) {
            assert_true(i > 0 && order[i - 1] != 0);
            load = p->capacity;
            continue;
        }
        seen[order[i]]++;
        if (!cvrp) continue;
        load -= p->demand[order[i]];
        assert_true(load >= 0);
    }
    for (int32_t i = cvrp; i < p->n; i++) assert_int_equal(seen[i], 1);
    free(seen);
}

/* An instance with a walk on it that has not gone anywhere yet. */
typedef struct trial {
    invit_instance *p;
    inv_index *x;
    inv_walk *w;
} trial;

static trial begin_trial(int round, int64_t n, inv_rng *rng)
{
    trial t;
    invit_error err = {0};
    inv_frame f;
    invit_problem problem = round % 2 ? INVIT_CVRP : INVIT_TSP;
    assert_int_equal(
        invit_generate(problem, (invit_distribution)(round % 4), n, 3, (uint64_t)round, &t.p, &err),
        INVIT_OK);
    assert_int_equal(inv_index_create(t.p, &t.x, &err), INVIT_OK);
    assert_int_equal(inv_walk_create(t.p, t.x, 15, 35, &t.w, &err), INVIT_OK);
    inv_frame_for_copy(t.p, 1, rng, &f);
    inv_walk_start(t.w, problem == INVIT_TSP ? (int32_t)inv_rng_below(rng, (uint32_t)n) : 0, &f);
    return t;
}

/* Goes anywhere for a while. */
static void wander(trial *t, int32_t steps, inv_rng *rng)
{
    for (int32_t i = 0; i < steps && !inv_walk_done(t->w); i++) {
        inv_state s;
        inv_walk_view(t->w, &s);
        uint32_t pick = inv_rng_below(rng, (uint32_t)inv_choices(&s));
        inv_walk_visit(t->w, (int32_t)pick < s.action ? s.node[pick] : 0);
    }
}

static void end_trial(trial *t)
{
    inv_walk_destroy(t->w);
    inv_index_destroy(t->x);
    invit_instance_destroy(t->p);
}

/* Walks at random for a while, lets the expert complete, and checks the whole. */
static void completions_are_whole_and_feasible(void **state)
{
    (void)state;
    inv_expert *expert;
    invit_error err = {0};
    inv_demonstration l;
    inv_rng rng;
    inv_rng_init(&rng, 77, 0);
    assert_int_equal(inv_expert_create(&expert, &err), INVIT_OK);
    assert_int_equal(inv_demonstration_init(&l, 61, &err), INVIT_OK);
    for (int round = 0; round < 120; round++) {
        int32_t n = 4 + (int32_t)inv_rng_below(&rng, 57);
        trial t = begin_trial(round, n, &rng);
        wander(&t, (int32_t)inv_rng_below(&rng, (uint32_t)n), &rng);
        if (!inv_walk_done(t.w)) {
            int32_t count;
            const int32_t *order = inv_walk_order(t.w, &count);
            assert_int_equal(inv_demonstration_complete(&l, expert, t.p, t.w, 0.2, &rng, &err), INVIT_OK);
            assert_int_equal(l.own, count);
            assert_memory_equal(l.order, order, (size_t)count * sizeof *order);
            check_order(t.p, l.order, l.count);
        }
        end_trial(&t);
    }
    inv_demonstration_destroy(&l);
    inv_expert_destroy(expert);
}

/* On instances that the expert solves to the optimum, the best completion's next node is the cheapest one,
 * at just what that completion costs. */
static void prices_are_what_completions_cost(void **state)
{
    (void)state;
    inv_expert *expert;
    invit_error err = {0};
    inv_demonstration l;
    inv_rng rng;
    inv_rng_init(&rng, 79, 0);
    assert_int_equal(inv_expert_create(&expert, &err), INVIT_OK);
    assert_int_equal(inv_demonstration_init(&l, 10, &err), INVIT_OK);
    for (int round = 0; round < 60; round++) {
        inv_state s;
        trial t = begin_trial(round, 7, &rng);
        wander(&t, (int32_t)inv_rng_below(&rng, 5), &rng);
        assert_int_equal(inv_demonstration_complete(&l, expert, t.p, t.w, 20, &rng, &err), INVIT_OK);
        int32_t next = l.order[l.own], count, home = t.p->problem == INVIT_TSP ? l.order[0] : 0;
        const int32_t *order = inv_walk_order(t.w, &count);
        double so_far = inv_order_length(t.p, order, count) - inv_straight(t.p, inv_walk_last(t.w), home);
        double rest = inv_order_length(t.p, l.order, l.count) - so_far, cost;
        assert_int_equal(inv_cost_to_go(&l, expert, t.p, t.w, 20, 5, &cost, &err), INVIT_OK);
        assert_true(fabs(cost - rest) < 1e-9);
        inv_walk_view(t.w, &s);
        for (int32_t j = 0; j < inv_choices(&s); j++) {
            int32_t node = j < s.action ? s.node[j] : 0;
            assert_int_equal(inv_cost_after(&l, expert, t.p, t.w, node, 20, 5, &cost, &err), INVIT_OK);
            assert_true(cost > rest - 1e-9);
            if (node == next) assert_true(fabs(cost - rest) < 1e-9);
        }
        end_trial(&t);
    }
    inv_demonstration_destroy(&l);
    inv_expert_destroy(expert);
}

/* Somewhere to go that the plan agrees with: from the depot, a customer next to it. */
static int32_t as_planned(const inv_plan *plan, const invit_instance *p, int32_t last, const bool *done)
{
    if (p->problem == INVIT_TSP || last != 0) return plan->ahead;
    for (int32_t v = p->n - 1; v > 0; v--)
        if (!done[v] && (plan->beside[v][0] == 0 || plan->beside[v][1] == 0)) return v;
    return 0;
}

/* Whoever follows a plan to the end pays what it said; whoever strays is told. */
static void plans_are_followed_at_their_price(void **state)
{
    (void)state;
    inv_expert *expert;
    invit_error err = {0};
    inv_demonstration l;
    inv_rng rng;
    int strayed = 0;
    inv_rng_init(&rng, 80, 0);
    assert_int_equal(inv_expert_create(&expert, &err), INVIT_OK);
    assert_int_equal(inv_demonstration_init(&l, 41, &err), INVIT_OK);
    for (int round = 0; round < 40; round++) {
        inv_state s;
        bool done[41] = {false};
        double cost, paid = 0;
        trial t = begin_trial(round, 40, &rng);
        wander(&t, round / 2, &rng);
        int32_t count, at = inv_walk_last(t.w);
        const int32_t *order = inv_walk_order(t.w, &count);
        int32_t home = t.p->problem == INVIT_TSP ? order[0] : 0, left = t.p->n;
        done[home] = true;
        for (int32_t i = 0; i < count; i++) done[order[i]] = true;
        for (int32_t v = 0; v < t.p->n; v++) left -= done[v];

        assert_int_equal(inv_cost_to_go(&l, expert, t.p, t.w, 0.1, 5, &cost, &err), INVIT_OK);
        while (left > 0) {
            int32_t node = as_planned(&l.plan, t.p, at, done);
            assert_true(inv_plan_follow(&l.plan, t.p, at, node));
            paid += inv_straight(t.p, at, node);
            left -= !done[node];
            done[node] = true;
            at = node;
        }
        assert_true(fabs(paid + inv_straight(t.p, at, home) - cost) < 1e-9);

        assert_int_equal(inv_cost_to_go(&l, expert, t.p, t.w, 0.1, 5, &cost, &err), INVIT_OK);
        inv_walk_view(t.w, &s);
        at = inv_walk_last(t.w);
        for (int32_t j = 0; j < s.action; j++) {
            bool along = at == 0 && t.p->problem == INVIT_CVRP
                             ? l.plan.beside[s.node[j]][0] == 0 || l.plan.beside[s.node[j]][1] == 0
                             : s.node[j] == l.plan.ahead;
            if (along) continue;
            assert_false(inv_plan_follow(&l.plan, t.p, at, s.node[j]));
            strayed++;
            break;
        }
        end_trial(&t);
    }
    assert_true(strayed > 20);
    inv_demonstration_destroy(&l);
    inv_expert_destroy(expert);
}

/* Each stored state belongs to a step of the tour: its label's place is where the tour goes next. */
static void replays_label_the_next_node(void **state)
{
    (void)state;
    inv_expert *expert;
    invit_error err = {0};
    inv_rng rng;
    inv_rng_init(&rng, 78, 0);
    assert_int_equal(inv_expert_create(&expert, &err), INVIT_OK);
    for (int problem = 0; problem < 2; problem++) {
        inv_config c;
        inv_demonstration l;
        inv_buffer buffer;
        invit_instance *p;
        inv_index *x;
        inv_walk *w;
        inv_frame f;
        inv_replay_tally tally = {0};
        inv_config_defaults(&c, (invit_problem)problem);
        assert_int_equal(inv_demonstration_init(&l, 201, &err), INVIT_OK);
        assert_int_equal(inv_buffer_init(&buffer, 8, &c, 1000, false, &err), INVIT_OK);
        assert_int_equal(invit_generate((invit_problem)problem, INVIT_UNIFORM, 200, 3, 1, &p, &err),
                         INVIT_OK);
        assert_int_equal(inv_index_create(p, &x, &err), INVIT_OK);
        assert_int_equal(inv_walk_create(p, x, c.action_k, c.state_k[0], &w, &err), INVIT_OK);
        assert_int_equal(inv_demonstration_solve(&l, expert, p, 0.2, &rng, &err), INVIT_OK);
        double before = inv_order_length(p, l.order, l.count);
        if (problem == INVIT_TSP) inv_demonstration_rotate(&l, &rng);
        assert_true(fabs(inv_order_length(p, l.order, l.count) - before) < 1e-9);
        check_order(p, l.order, l.count);
        inv_frame_for_copy(p, 2, &rng, &f);
        assert_int_equal(inv_replay(w, &c, &l, &f, 1, &rng, &buffer, &tally, &err), INVIT_OK);
        assert_true(inv_walk_done(w));
        assert_int_equal(tally.seen, buffer.count + tally.skipped);
        assert_true(buffer.count > 180 && tally.skipped < 20);

        int32_t at = 0; /* of the buffer: follow the order again */
        inv_walk_start(w, problem == INVIT_TSP ? l.order[0] : 0, &f);
        for (int32_t i = problem == INVIT_TSP; i < l.count; i++) {
            inv_state s;
            inv_walk_view(w, &s);
            int32_t label = inv_candidate_of(&c, &s, l.order[i]);
            if (inv_choices(&s) > 1 && label >= 0) {
                assert_int_equal(buffer.label[at], label);
                if (label < c.action_k) {
                    assert_int_equal(s.node[label], l.order[i]);
                    double px = p->xy[2 * l.order[i]], py = p->xy[2 * l.order[i] + 1];
                    assert_true(fabs(buffer.state[at].xy[2 * label] - (f.m[0] * px + f.m[1] * py + f.t[0])) <
                                1e-5);
                }
                at++;
            }
            inv_walk_visit(w, l.order[i]);
        }
        assert_int_equal(at, buffer.count);
        inv_walk_destroy(w);
        inv_index_destroy(x);
        invit_instance_destroy(p);
        inv_buffer_destroy(&buffer);
        inv_demonstration_destroy(&l);
    }
    inv_expert_destroy(expert);
}

static void label_files_hold_solved_instances(void **state)
{
    (void)state;
    invit_train_options o;
    invit_error err = {0};
    for (int problem = 0; problem < 2; problem++) {
        inv_label_file *f;
        inv_demonstration l;
        const char *path = in_folder("labels");
        invit_train_defaults((invit_problem)problem, INVIT_IMITATE, &o);
        strcpy(o.data, "uniform:10-40,clustered:20");
        o.effort = 0.05;
        o.threads = 2;
        assert_int_equal(invit_train_label(&o, 300, path, NULL, &err), INVIT_OK);
        assert_int_equal(inv_label_file_open(path, (invit_problem)(1 - problem), &f, &err), INVIT_ERR_INPUT);
        assert_int_equal(inv_label_file_open(path, (invit_problem)problem, &f, &err), INVIT_OK);
        assert_int_equal(inv_label_file_count(f), 300);
        assert_int_equal(inv_demonstration_init(&l, inv_label_file_largest(f), &err), INVIT_OK);
        for (int i = 0; i < 300; i++) {
            invit_instance *p;
            assert_int_equal(inv_label_file_get(f, i, &p, &l, &err), INVIT_OK);
            check_order(p, l.order, l.count);
            invit_instance_destroy(p);
        }
        inv_demonstration_destroy(&l);
        inv_label_file_close(f);
        FILE *file = fopen(path, "rb+");
        assert_non_null(file);
        fseek(file, 0, SEEK_END);
        assert_int_equal(ftruncate(fileno(file), ftell(file) - 5), 0);
        fclose(file);
        assert_int_equal(inv_label_file_open(path, (invit_problem)problem, &f, &err), INVIT_ERR_INPUT);
        assert_non_null(strstr(err.message, "cut short"));
    }
}

static void write_labels(const char *path, int32_t problem, const void *record, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fwrite("INVITLAB", 1, 8, f);
    fwrite(&problem, 4, 1, f);
    fwrite(record, 1, size, f);
    fclose(f);
}

/* One CVRP record of three nodes: n, capacity, points, demands, entries, order. Each case changes one number. */
static void crafted_labels_are_refused(void **state)
{
    (void)state;
    typedef struct crafted {
        int32_t n, capacity;
        float xy[6];
        int32_t demand[3], entries, order[3];
    } crafted;
    const crafted good = {3, 10, {0, 0, 1, 0, 0, 1}, {0, 6, 6}, 3, {1, 0, 2}};
    const char *path = in_folder("crafted");
    invit_error err = {0};
    inv_label_file *f;
    write_labels(path, INVIT_CVRP, &good, sizeof good);
    assert_int_equal(inv_label_file_open(path, INVIT_CVRP, &f, &err), INVIT_OK);
    inv_label_file_close(f);
    for (int i = 0; i < 12; i++) {
        crafted c = good;
        if (i == 0) c.order[2] = 1;                 /* twice */
        if (i == 1) c.order[1] = 2, c.order[2] = 0; /* 12 of 10, and home at the end */
        if (i == 2) c.order[0] = 0;                 /* an empty route */
        if (i == 3) c.order[2] = 3;
        if (i == 4) c.order[2] = -1;
        if (i == 5) c.demand[2] = 11;
        if (i == 6) c.demand[1] = -6;
        if (i == 7) c.demand[0] = 1;
        if (i == 8) c.capacity = 0;
        if (i == 9) c.xy[3] = NAN;
        if (i == 10) c.n = INT32_MAX;
        if (i == 11) c.entries = 2;
        write_labels(path, INVIT_CVRP, &c, sizeof c);
        assert_int_equal(inv_label_file_open(path, INVIT_CVRP, &f, &err), INVIT_ERR_INPUT);
    }
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
        cmocka_unit_test(crafted_labels_are_refused),
        cmocka_unit_test(options_come_back_from_their_file),
        cmocka_unit_test(old_names_and_large_seeds),
        cmocka_unit_test(options_are_read_as_other_systems_write_them),
        cmocka_unit_test(options_say_what_is_wrong),
        cmocka_unit_test(mixes_are_read_and_drawn_by_share),
        cmocka_unit_test(unlikely_candidates_are_not_sampled),
        cmocka_unit_test(teams_do_every_item_once),
        cmocka_unit_test(pools_lose_and_double_nothing),
        cmocka_unit_test(routes_are_entered_at_their_near_end),
        cmocka_unit_test(completions_are_whole_and_feasible),
        cmocka_unit_test(prices_are_what_completions_cost),
        cmocka_unit_test(plans_are_followed_at_their_price),
        cmocka_unit_test(replays_label_the_next_node),
        cmocka_unit_test(label_files_hold_solved_instances),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
