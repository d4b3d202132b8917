/* What training learns from: the expert's completions and their costs, replays, label files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"
#include "folder.h"
#include "lab/train/data/demonstration.h"
#include "lab/train/data/label_file.h"
#include "lab/train/data/length.h"
#include "lab/train/data/mix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
static void q_regrets_are_what_completions_cost(void **state)
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
static void plans_are_followed_at_their_cost(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crafted_labels_are_refused),
        cmocka_unit_test(routes_are_entered_at_their_near_end),
        cmocka_unit_test(completions_are_whole_and_feasible),
        cmocka_unit_test(q_regrets_are_what_completions_cost),
        cmocka_unit_test(plans_are_followed_at_their_cost),
        cmocka_unit_test(replays_label_the_next_node),
        cmocka_unit_test(label_files_hold_solved_instances),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
