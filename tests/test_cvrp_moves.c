/* The changes of a CVRP solution: lengths against recomputation, every link consistent, undone without a trace,
 * and a long run of steps without drift. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fewer.h"
#include "search/cvrp_exchange.h"
#include "search/cvrp_fleet.h"
#include "search/cvrp_insert.h"
#include "search/cvrp_local.h"
#include "search/cvrp_moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 61, K = 20 };

/* The search has its own short cuts for an edge's length. */
static void an_edge_is_as_long_as_elsewhere(void **state)
{
    (void)state;
    inv_rng rng;
    inv_rng_init(&rng, 5, 0);
    for (int metric = INVIT_EXACT; metric <= INVIT_DIMACS; metric++)
        for (int i = 0; i < 2000; i++) {
            double wide = i % 3 == 0   ? 2
                          : i % 3 == 1 ? 80
                                       : 1e4,
                   far = i == 0 ? 0.49999999999999994 : 4503599627370497;
            inv_cvrp_part q = {.metric = (invit_metric)metric};
            inv_cvrp_node a = {.x = wide * inv_rng_double(&rng), .y = wide * inv_rng_double(&rng)},
                          b = {.x = wide * inv_rng_double(&rng), .y = wide * inv_rng_double(&rng)};
            if (i < 2) a = (inv_cvrp_node){.x = 0}, b = (inv_cvrp_node){.x = far};
            double u[2] = {a.x, a.y}, v[2] = {b.x, b.y}, d = inv_cvrp_between(&q, &a, &b);
            if (i >= 2 || metric == INVIT_EUC_2D) assert_true(d == inv_metric_distance(q.metric, u, v));
            if (metric == INVIT_EUC_2D && i < 2) assert_true(d == (i == 0 ? 0 : far));
        }
}

static void make(inv_cvrp_part *q, int32_t capacity, inv_rng *rng)
{
    invit_error err;
    assert_int_equal(inv_cvrp_part_begin(q, INVIT_EXACT, N, K, capacity, &err), INVIT_OK);
    for (int v = 0; v < N; v++) {
        q->node[v].x = inv_rng_double(rng);
        q->node[v].y = inv_rng_double(rng);
        q->node[v].demand = v ? 1 + (int32_t)inv_rng_below(rng, 9) : 0;
    }
    for (int v = 1; v < N; v++) {
        int32_t *near = q->near + (size_t)v * K, count = 0;
        for (int u = 1; u < N; u++) {
            if (u == v) continue;
            double d = inv_cvrp_distance(q, v, u);
            int32_t i = count < K ? count++ : K;
            for (; i > 0 && inv_cvrp_distance(q, v, near[i - 1]) > d; i--)
                if (i < K) near[i] = near[i - 1];
            if (i < K) near[i] = u;
        }
    }
    inv_cvrp_part_measure(q);
    inv_cvrp_part_insert_all(q, 0, rng);
    q->unit = inv_cvrp_part_unit(q);
}

/* Every ring closes, labels, loads and edges are right; removed customers are in no ring. */
static void assert_sound(const inv_cvrp_part *q)
{
    double length = 0;
    int32_t routes = 0, seen = 0, absent = 0;
    for (int32_t r = 0; r < q->n; r++) {
        int32_t at = q->n + r, size = 0, load = 0;
        do {
            int32_t next = q->node[at].next;
            assert_int_equal(q->node[next].prev, at);
            assert_int_equal(q->route[next], r);
            assert_true(q->node[at].out == inv_cvrp_distance(q, at, next));
            if (q->loads_known[r] && at < q->n) assert_int_equal(q->load_to[at], load);
            length += q->node[at].out;
            at = next;
            if (at < q->n) {
                size++;
                load += q->node[at].demand;
            }
            assert_true(size < q->n);
        } while (at != q->n + r);
        assert_int_equal(size, q->size[r]);
        assert_int_equal(load, q->capacity - q->room[r]);
        assert_true(q->room[r] >= 0);
        routes += size > 0;
        seen += size;
    }
    for (int32_t v = 1; v < q->n; v++) absent += q->route[v] == q->n;
    assert_int_equal(seen + absent, q->n - 1);
    assert_int_equal(routes, q->routes);
    assert_true(fabs(length - q->length) < 1e-9 * (1 + length));
}

static int32_t customer(const inv_cvrp_part *q, inv_rng *rng)
{
    return 1 + (int32_t)inv_rng_below(rng, (uint32_t)q->n - 1);
}

/* One change drawn at random, if it is possible. */
static void change(inv_cvrp_part *q, inv_rng *rng)
{
    int32_t v = customer(q, rng), u = customer(q, rng), n = q->n;
    if (inv_rng_below(rng, 8) == 0) v = n + (int32_t)inv_rng_below(rng, (uint32_t)n);
    int32_t r = q->route[v], s = q->route[u];
    switch (inv_rng_below(rng, 4)) {
    case 0:
        if (v < n && r < n) inv_cvrp_unlink_node(q, v);
        break;
    case 1:
        if (v < n && r == n && s < n && q->room[s] >= q->node[v].demand) inv_cvrp_link_after(q, v, u);
        break;
    case 2:
        if (r == s && r < n && u != v && q->node[u].next != v) inv_cvrp_reverse(q, v, u);
        break;
    default:
        if (r < n && s < n && r != s) {
            int32_t head_v = 0, head_u = 0;
            for (int32_t i = v; i < n; i = q->node[i].prev) head_v += q->node[i].demand;
            for (int32_t i = u; i < n; i = q->node[i].prev) head_u += q->node[i].demand;
            int32_t tail_v = q->capacity - q->room[r] - head_v, tail_u = q->capacity - q->room[s] - head_u;
            if (head_v + tail_u <= q->capacity && head_u + tail_v <= q->capacity)
                inv_cvrp_swap_tails(q, v, u);
        }
    }
}

typedef struct picture {
    inv_cvrp_node node[2 * N];
    int32_t route[2 * N], room[N], size[N], routes;
    double length;
} picture;

static void take_picture(const inv_cvrp_part *q, picture *p)
{
    memset(p, 0, sizeof *p);
    for (int i = 1; i < 2 * N; i++) {
        const inv_cvrp_node *v = &q->node[i];
        p->node[i].next = v->next; /* one by one: a struct's padding says nothing */
        p->node[i].prev = v->prev;
        p->node[i].out = v->out;
        if (i >= N || q->route[i] < N) p->route[i] = q->route[i];
    }
    memcpy(p->room, q->room, sizeof p->room);
    memcpy(p->size, q->size, sizeof p->size);
    p->routes = q->routes;
    p->length = q->length;
}

/* Undone, everything is as in the picture. */
static void undo(inv_cvrp_part *q, const picture *before)
{
    static picture after;
    inv_cvrp_undo(q);
    q->length = before->length;
    assert_sound(q);
    take_picture(q, &after);
    assert_memory_equal(before, &after, sizeof after);
}

static void keep_or_undo(inv_cvrp_part *q, bool keep, const picture *before)
{
    if (keep)
        inv_cvrp_keep(q);
    else
        undo(q, before);
}

static void changes_agree_with_recomputation_and_are_undone(void **state)
{
    (void)state;
    static picture before;
    inv_cvrp_part q = {0};
    inv_rng rng;
    inv_rng_init(&rng, 4, 2);
    for (int32_t capacity = 20; capacity <= 320; capacity *= 4) {
        make(&q, capacity, &rng);
        for (int i = 0; i < 3000; i++) {
            take_picture(&q, &before);
            int count = 1 + (int)inv_rng_below(&rng, 12);
            for (int j = 0; j < count; j++) change(&q, &rng);
            assert_sound(&q);
            bool whole = true;
            for (int32_t v = 1; v < N; v++) whole = whole && q.route[v] < N;
            if (whole && i % 3) {
                inv_cvrp_keep(&q);
                if (q.length < q.best_length) inv_cvrp_remember_best(&q);
                continue;
            }
            undo(&q, &before);
        }
    }
    inv_cvrp_part_destroy(&q);
}

static void local_search_only_shortens(void **state)
{
    (void)state;
    static picture before;
    inv_cvrp_part q = {0};
    inv_rng rng;
    int shorter = 0;
    inv_rng_init(&rng, 5, 2);
    for (int32_t capacity = 20; capacity <= 320; capacity *= 4) {
        make(&q, capacity, &rng);
        for (int i = 0; i < 2000; i++) {
            take_picture(&q, &before);
            for (int j = 0; j < 6; j++) {
                int32_t v = customer(&q, &rng), u = customer(&q, &rng);
                if (u == v || (q.route[u] != q.route[v] && q.room[q.route[u]] < q.node[v].demand)) continue;
                inv_cvrp_unlink_node(&q, v);
                inv_cvrp_link_after(&q, v, u);
            }
            double length = q.length;
            inv_cvrp_local_search(&q);
            assert_true(q.length <= length);
            shorter += q.length < length;
            assert_sound(&q);
            keep_or_undo(&q, i % 2, &before);
        }
    }
    assert_true(shorter > 1000);
    inv_cvrp_part_destroy(&q);
}

/* What a local search has found out is true for one state of the solution: a part that has seen nothing before goes the
 * same way. */
static void earlier_steps_hide_no_move(void **state)
{
    (void)state;
    inv_cvrp_part q = {0}, fresh = {0};
    inv_rng rng, same;
    int shorter = 0;
    inv_rng_init(&rng, 9, 2);
    for (int32_t capacity = 20; capacity <= 320; capacity *= 4) {
        same = rng;
        make(&q, capacity, &rng);
        make(&fresh, capacity, &same);
        for (int i = 0; i < 2000; i++) {
            inv_cvrp_part_take(&fresh, &q);
            memset(fresh.chains_tried, 0, N * sizeof *fresh.chains_tried);
            fresh.state = 0;
            for (int j = 0; j < 6; j++) {
                int32_t v = customer(&q, &rng), u = customer(&q, &rng);
                if (u == v || (q.route[u] != q.route[v] && q.room[q.route[u]] < q.node[v].demand)) continue;
                for (int k = 0; k < 2; k++) {
                    inv_cvrp_unlink_node(k ? &fresh : &q, v);
                    inv_cvrp_link_after(k ? &fresh : &q, v, u);
                }
            }
            double length = q.length;
            inv_cvrp_local_search(&q);
            inv_cvrp_local_search(&fresh);
            assert_true(q.length == fresh.length);
            shorter += q.length < length;
            inv_cvrp_keep(&q);
            inv_cvrp_keep(&fresh);
        }
    }
    assert_true(shorter > 1000);
    inv_cvrp_part_destroy(&q);
    inv_cvrp_part_destroy(&fresh);
}

static int32_t own_route(inv_cvrp_part *q)
{
    return q->n + inv_cvrp_empty_route(q);
}

/* More moves go farther, and the journal has room for no more than INV_CVRP_LOCAL_MOVES. */
static void a_local_search_makes_as_many_moves_as_asked_for(void **state)
{
    (void)state;
    static const int32_t asked[] = {1, INV_CVRP_LOCAL_MOVES, 1000};
    static picture before;
    inv_cvrp_part q = {0};
    inv_rng rng;
    double length[3] = {0};
    inv_rng_init(&rng, 10, 2);
    make(&q, 60, &rng);
    for (int i = 0; i < 1000; i++) {
        inv_rng start = rng;
        take_picture(&q, &before);
        for (int j = 0; j < 3; j++) {
            rng = start;
            for (int k = 0; k < 12; k++) change(&q, &rng);
            for (int32_t v = 1; v < N; v++)
                if (q.route[v] == N) inv_cvrp_link_after(&q, v, own_route(&q));
            size_t changes = q.changes;
            q.local_moves = asked[j];
            inv_cvrp_local_search(&q);
            length[j] += q.length;
            assert_sound(&q);
            if (j == 0) assert_true(q.changes - changes <= INV_CVRP_EXCHANGE_CHANGES);
            undo(&q, &before);
        }
    }
    assert_true(length[1] < 0.95 * length[0]);
    assert_true(length[1] == length[2]);
    inv_cvrp_part_destroy(&q);
}

static void chains_move_only_to_shorten(void **state)
{
    (void)state;
    static picture before;
    inv_cvrp_part q = {0};
    inv_rng rng;
    int within = 0, between = 0;
    inv_rng_init(&rng, 8, 2);
    for (int32_t capacity = 20; capacity <= 320; capacity *= 4) {
        make(&q, capacity, &rng);
        for (int i = 0; i < 2000; i++) {
            for (int j = 0; j < 6; j++) change(&q, &rng);
            for (int32_t v = 1; v < N; v++)
                if (q.route[v] == N) inv_cvrp_link_after(&q, v, inv_cvrp_best_place(&q, v, &rng).place);
            inv_cvrp_keep(&q);
            take_picture(&q, &before);
            for (int32_t v = 1; v < N; v++) {
                double length = q.length;
                size_t changes = q.changes;
                int32_t route = q.route[v];
                if (!inv_cvrp_exchange(&q, v)) continue;
                assert_true(q.length < length);
                assert_true(q.changes - changes <= INV_CVRP_EXCHANGE_CHANGES);
                within += q.route[v] == route;
                between += q.route[v] != route;
                break;
            }
            assert_sound(&q);
            keep_or_undo(&q, i % 2, &before);
        }
    }
    assert_true(within > 300);
    assert_true(between > 300);
    inv_cvrp_part_destroy(&q);
}

static void ejections_make_room_at_the_stated_cost(void **state)
{
    (void)state;
    static picture before;
    inv_cvrp_part q = {0};
    inv_rng rng;
    int found = 0, strings = 0, cheaper = 0;
    inv_rng_init(&rng, 7, 2);
    for (int32_t capacity = 12; capacity <= 24; capacity += 6) {
        make(&q, capacity, &rng);
        for (int i = 0; i < 3000; i++) {
            take_picture(&q, &before);
            int32_t v = customer(&q, &rng);
            q.removals = 0;
            inv_cvrp_unlink_node(&q, v);
            double length = q.length, plain = inv_cvrp_best_place(&q, v, &rng).added;
            q.blink_in = INT64_MAX; /* so that the same places are found again */
            inv_cvrp_ejection e = inv_cvrp_find_ejection(&q, v, INFINITY, &rng);
            bool exact = false; /* one customer, which finds what it found before */
            if (e.count > 0) {
                found++;
                strings += e.count > 1;
                cheaper += e.added < plain;
                assert_int_equal(inv_cvrp_find_ejection(&q, v, e.added, &rng).count, 0);
                inv_cvrp_eject(&q, v, &e);
                assert_int_equal(q.removals, e.count);
                assert_sound(&q);
                exact = e.count == 1 && q.room[q.route[v]] < q.node[e.first].demand;
            } else
                inv_cvrp_link_after(&q, v, inv_cvrp_best_place(&q, v, &rng).place);
            for (int32_t j = 0; j < q.removals; j++) {
                int32_t u = q.removed[j];
                assert_true(q.node[u].demand < q.node[v].demand);
                inv_cvrp_link_after(&q, u, inv_cvrp_best_place(&q, u, &rng).place);
            }
            if (exact) assert_true(fabs(q.length - length - e.added) < 1e-9);
            assert_sound(&q);
            keep_or_undo(&q, i % 2, &before);
        }
    }
    assert_true(found > 3000);
    assert_true(strings > 300);
    assert_true(cheaper > 10);
    inv_cvrp_part_destroy(&q);
}

static void long_runs_do_not_drift(void **state)
{
    (void)state;
    enum { STEPS = FEWER(200000, 40000) };
    inv_cvrp_part q = {0};
    inv_rng rng;
    inv_rng_init(&rng, 6, 2);
    for (int i = 0; i < 6; i++) {
        int32_t capacity = 20 << i / 2 * 2;
        make(&q, capacity, &rng);
        inv_cvrp_run run = {
            .hot = 10, .cold = 0.001, .steps = STEPS, .deadline = INFINITY, .give_up = i % 2 == 0};
        if (i == 3) run.local_moves = INV_CVRP_LOCAL_MOVES, run.worth_mending = 3.5;
        assert_int_equal(inv_cvrp_part_run(&q, &run, &rng), STEPS);
        assert_sound(&q);
        int32_t nodes[N - 1], start[N + 1], routes = inv_cvrp_part_routes(&q, true, nodes, start);
        double length = 0;
        assert_int_equal(start[routes], N - 1);
        for (int r = 0; r < routes; r++) {
            int32_t at = 0, load = 0;
            for (int i = start[r]; i <= start[r + 1]; i++) {
                int32_t to = i < start[r + 1] ? nodes[i] : 0;
                length += inv_cvrp_distance(&q, at, to);
                load += q.node[to].demand;
                at = to;
            }
            assert_true(load <= capacity);
        }
        assert_true(fabs(length - q.best_length) < 1e-9 * length);
    }
    inv_cvrp_part_destroy(&q);
}

/* Every customer alone at first, and one route less again and again, until the demands allow no more. */
static void routes_are_saved_one_by_one(void **state)
{
    (void)state;
    inv_cvrp_part q = {0};
    inv_rng rng;
    inv_rng_init(&rng, 8, 1);
    inv_cvrp_run run = {.hot = 0.1, .deadline = INFINITY};
    for (int i = 0; i < 4; i++) {
        int32_t nodes[N - 1], start[N + 1], demand = 0, fails = 0, capacity = 25 + 10 * i;
        make(&q, capacity, &rng);
        for (int v = 1; v < N; v++) demand += q.node[v].demand;
        for (int v = 1; v < N; v++) start[v] = nodes[v - 1] = v;
        start[0] = 0;
        inv_cvrp_part_set(&q, nodes, start, N - 1);
        while (inv_cvrp_may_save_route(&q) && fails < 5) {
            int32_t routes = inv_cvrp_part_routes(&q, false, nodes, start), last = q.routes;
            bool saved;
            int64_t made = inv_cvrp_save_route(&q, &run, 3000, &rng, &saved);
            assert_sound(&q);
            assert_true(made <= 3000);
            assert_true(saved || made == 3000);
            if (saved) {
                routes = inv_cvrp_part_routes(&q, false, nodes, start);
                assert_true(routes < last);
                assert_int_equal(start[routes], N - 1);
            } else
                inv_cvrp_part_set(&q, nodes, start, routes);
            fails += !saved;
            assert_sound(&q);
        }
        int32_t least = (demand + capacity - 1) / capacity;
        start[1] = N - 1;
        for (int v = 1; v < N; v++) q.node[v].demand = 0;
        if (q.routes > least + 1) print_error("%d routes of %d\n", q.routes, least);
        assert_true(q.routes <= least + 1);
        inv_cvrp_part_set(&q, nodes, start, 1);
        assert_false(inv_cvrp_may_save_route(&q)); /* the last one stays, also without any demand */
    }
    inv_cvrp_part_destroy(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edge_is_as_long_as_elsewhere),
        cmocka_unit_test(changes_agree_with_recomputation_and_are_undone),
        cmocka_unit_test(local_search_only_shortens),
        cmocka_unit_test(earlier_steps_hide_no_move),
        cmocka_unit_test(a_local_search_makes_as_many_moves_as_asked_for),
        cmocka_unit_test(chains_move_only_to_shorten),
        cmocka_unit_test(ejections_make_room_at_the_stated_cost),
        cmocka_unit_test(long_runs_do_not_drift),
        cmocka_unit_test(routes_are_saved_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
