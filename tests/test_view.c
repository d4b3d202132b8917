/* Views: the k-d tree, frames and walks against a plain reading of the specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/index.h"
#include "view/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum layout { UNIFORM, GRID, COLLINEAR, EQUAL, CLUSTERED, LAYOUTS } layout;

static invit_instance *make(invit_problem problem, int32_t n, layout kind, int32_t capacity, inv_rng *r)
{
    invit_instance *p;
    assert_int_equal(inv_instance_alloc(problem, n, &p, NULL), INVIT_OK);
    p->capacity = capacity;
    for (int32_t i = 0; i < n; i++) {
        double x = inv_rng_double(r), y = inv_rng_double(r);
        if (kind == GRID) x = floor(x * 4), y = floor(y * 4); /* many duplicates, many equal distances */
        if (kind == COLLINEAR) y = 3 * x + 1;
        if (kind == EQUAL) x = y = 7;
        if (kind == CLUSTERED) x = floor(x * 3) * 100 + y * y, y = inv_rng_normal(r);
        p->xy[2 * i] = x;
        p->xy[2 * i + 1] = y;
        if (p->demand && i > 0) p->demand[i] = (int32_t)inv_rng_below(r, 10) % (capacity + 1);
    }
    return p;
}

typedef struct plain {
    double d;
    int32_t node;
} plain;

static int plain_order(const void *a, const void *b)
{
    const plain *p = a, *q = b;
    if (p->d != q->d) return p->d < q->d ? -1 : 1;
    return p->node - q->node;
}

/* Every node not in `visited`, nearest to `last` first. */
static int32_t remaining(const invit_instance *p, const bool *visited, int32_t last, plain *out)
{
    int32_t count = 0;
    for (int32_t i = p->problem == INVIT_CVRP; i < p->n; i++) {
        if (visited[i]) continue;
        double dx = p->xy[2 * i] - p->xy[2 * last], dy = p->xy[2 * i + 1] - p->xy[2 * last + 1];
        out[count++] = (plain){dx * dx + dy * dy, i};
    }
    qsort(out, (size_t)count, sizeof *out, plain_order);
    return count;
}

static bool in_list(const int32_t *list, int32_t count, int32_t node)
{
    for (int32_t i = 0; i < count; i++)
        if (list[i] == node) return true;
    return false;
}

static void same_point(const invit_instance *p, const inv_frame *f, int32_t node, const float *xy)
{
    double x = p->xy[2 * node], y = p->xy[2 * node + 1];
    assert_true(fabs(f->m[0] * x + f->m[1] * y + f->t[0] - xy[0]) < 1e-6);
    assert_true(fabs(f->m[2] * x + f->m[3] * y + f->t[1] - xy[1]) < 1e-6);
}

/* The views as the specification words them, from scratch. */
static void check_state(const invit_instance *p, const bool *visited, int32_t last, int32_t first,
                        int32_t load, int32_t ka, int32_t kmax, const inv_frame *f, const inv_state *s)
{
    plain *list = malloc((size_t)p->n * sizeof *list);
    int32_t *want = malloc((size_t)p->n * sizeof *want);
    int32_t count = remaining(p, visited, last, list), action = 0, rest = 0;
    int32_t further = kmax < 0 ? p->n : kmax > ka ? kmax - ka : 0;
    for (int32_t i = 0; i < count && action < ka; i++)
        if (p->problem == INVIT_TSP || p->demand[list[i].node] <= load) want[action++] = list[i].node;
    for (int32_t i = 0; i < count && rest < further; i++)
        if (!in_list(want, action, list[i].node)) want[action + rest++] = list[i].node;
    assert_int_equal(s->action, action);
    assert_int_equal(s->rest, rest);
    assert_memory_equal(s->node, want, (size_t)(action + rest) * sizeof *want);
    for (int32_t i = 0; i < action + rest; i++) {
        same_point(p, f, want[i], s->xy + 2 * i);
        if (s->demand) assert_true(s->demand[i] == (float)((double)p->demand[want[i]] / (double)p->capacity));
    }
    same_point(p, f, last, s->last);
    same_point(p, f, first, s->first);
    if (p->problem == INVIT_CVRP) {
        assert_int_equal(s->depot_open, last != 0);
        assert_true(s->load == (float)((double)load / (double)p->capacity));
    }
    free(list);
    free(want);
}

/* A random walk to the end, every state compared. */
static void walk_and_compare(const invit_instance *p, int32_t ka, int32_t kmax, int copy, inv_rng *r)
{
    inv_index *x;
    inv_walk *w;
    inv_frame f;
    inv_state s;
    assert_int_equal(inv_index_create(p, &x, NULL), INVIT_OK);
    assert_int_equal(inv_walk_create(p, x, ka, kmax, &w, NULL), INVIT_OK);
    inv_frame_for_copy(p, copy, r, &f);
    bool *visited = calloc((size_t)p->n, sizeof *visited);
    int32_t start = p->problem == INVIT_TSP ? (int32_t)inv_rng_below(r, (uint32_t)p->n) : 0;
    int32_t last = start, load = (int32_t)p->capacity, left = p->n - 1;
    visited[start] = true;
    inv_walk_start(w, start, &f);
    while (!inv_walk_done(w)) {
        assert_int_equal(inv_walk_left(w), left);
        assert_int_equal(inv_walk_last(w), last);
        inv_walk_view(w, &s);
        check_state(p, visited, last, start, load, ka, kmax, &f, &s);
        int32_t choices = s.action + (s.depot_open ? 1 : 0);
        assert_true(choices > 0);
        int32_t c = (int32_t)inv_rng_below(r, (uint32_t)choices);
        int32_t node = c < s.action ? s.node[c] : 0;
        inv_walk_visit(w, node);
        last = node;
        if (p->problem == INVIT_CVRP) {
            load = node ? load - p->demand[node] : (int32_t)p->capacity;
            assert_int_equal(inv_walk_load(w), load);
            assert_true(load >= 0);
        }
        if (p->problem == INVIT_TSP || node) visited[node] = true, left--;
    }
    assert_int_equal(left, 0);

    invit_solution *solution;
    assert_int_equal(inv_walk_solution(w, &solution, NULL), INVIT_OK);
    int32_t seen = 0, full = 0;
    memset(visited, 0, (size_t)p->n * sizeof *visited);
    for (int32_t i = 0; i < solution->routes; i++) {
        int32_t count;
        const int32_t *route = invit_solution_route(solution, i, &count);
        int64_t sum = 0;
        full += count > 0;
        for (int32_t j = 0; j < count; j++) {
            assert_false(visited[route[j]]);
            visited[route[j]] = true;
            seen++;
            if (p->demand) sum += p->demand[route[j]];
        }
        assert_true(sum <= p->capacity);
    }
    assert_int_equal(full, solution->routes);
    assert_int_equal(seen, p->problem == INVIT_TSP ? p->n : p->n - 1);
    invit_solution_destroy(solution);
    free(visited);
    inv_walk_destroy(w);
    inv_index_destroy(x);
}

static const int32_t sizes[] = {1, 2, 3, 4, 8, 9, 16, 17, 33, 100, 257};

static void tsp_views_are_as_specified(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 11, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < LAYOUTS; kind++) {
            static const int32_t ks[][2] = {{15, 35}, {5, 5}, {5, 0}, {3, 1000}, {4, -1}, {1, 2}};
            for (size_t j = 0; j < sizeof ks / sizeof *ks; j++) {
                invit_instance *p = make(INVIT_TSP, sizes[i], kind, 0, &r);
                walk_and_compare(p, ks[j][0], ks[j][1], (int)j, &r);
                invit_instance_destroy(p);
            }
        }
}

static void cvrp_views_are_as_specified(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 12, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < LAYOUTS; kind++) {
            /* capacity 9: demand equal to capacity and to what remains, and 0 left with zero-demand customers
             * open */
            static const int32_t ks[][3] = {{15, 35, 50}, {5, 8, 9},   {5, 0, 30},
                                            {3, 1000, 9}, {4, -1, 12}, {1, 2, 1}};
            for (size_t j = 0; j < sizeof ks / sizeof *ks; j++) {
                invit_instance *p = make(INVIT_CVRP, sizes[i], kind, ks[j][2], &r);
                walk_and_compare(p, ks[j][0], ks[j][1], (int)j, &r);
                invit_instance_destroy(p);
            }
        }
}

static void zero_demand_is_available_to_an_empty_vehicle(void **state)
{
    (void)state;
    double xy[] = {0, 0, 1, 0, 2, 0, 3, 0};
    int64_t demand[] = {0, 5, 0, 1};
    invit_instance *p;
    inv_index *x;
    inv_walk *w;
    inv_frame f;
    inv_state s;
    assert_int_equal(invit_instance_create_cvrp(xy, demand, 4, 5, INVIT_EXACT, &p, NULL), INVIT_OK);
    assert_int_equal(inv_index_create(p, &x, NULL), INVIT_OK);
    assert_int_equal(inv_walk_create(p, x, 2, 3, &w, NULL), INVIT_OK);
    inv_frame_for_copy(p, 0, NULL, &f);
    inv_walk_start(w, 0, &f);
    inv_walk_visit(w, 1); /* takes all of it */
    inv_walk_view(w, &s);
    assert_int_equal(s.action, 1);
    assert_int_equal(s.node[0], 2);
    assert_int_equal(s.rest, 1); /* one slot of the action view stays empty */
    assert_int_equal(s.node[1], 3);
    inv_walk_visit(w, 2);
    inv_walk_view(w, &s);
    assert_int_equal(s.action, 0);
    assert_true(s.depot_open);
    inv_walk_destroy(w);
    inv_index_destroy(x);
    invit_instance_destroy(p);
}

/* Removes nodes in random order and compares searches as the tree empties, with a limit on demand too. */
static void nearest_agrees_with_a_scan_as_the_tree_empties(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 13, 0);
    for (int kind = 0; kind < LAYOUTS; kind++) {
        invit_instance *p = make(INVIT_CVRP, 3001, kind, 9, &r);
        inv_index *x;
        inv_marks m;
        assert_int_equal(inv_index_create(p, &x, NULL), INVIT_OK);
        assert_int_equal(inv_marks_init(&m, x, NULL), INVIT_OK);
        inv_marks_reset(&m);
        bool *gone = calloc(3001, sizeof *gone);
        plain *list = malloc(3001 * sizeof *list);
        int32_t *order = malloc(3001 * sizeof *order);
        for (int32_t i = 0; i < 3000; i++) order[i] = i + 1;
        for (int32_t i = 2999; i > 0; i--) {
            int32_t j = (int32_t)inv_rng_below(&r, (uint32_t)i + 1), t = order[i];
            order[i] = order[j];
            order[j] = t;
        }
        for (int32_t i = 0; i < 3000; i++) {
            if (i % 37 == 0 || i > 2960) {
                inv_near near[20];
                int32_t last = (int32_t)inv_rng_below(&r, 3001), limit = (int32_t)inv_rng_below(&r, 10),
                        want = 0;
                int32_t all = remaining(p, gone, last, list);
                int32_t got = inv_marks_nearest(&m, p->xy + 2 * last, 20, limit, near);
                for (int32_t j = 0; j < all && want < 20; j++) {
                    if (p->demand[list[j].node] > limit) continue;
                    assert_true(want < got);
                    assert_int_equal(near[want].node, list[j].node);
                    want++;
                }
                assert_int_equal(got, want);
            }
            assert_true(inv_marks_has(&m, x->position[order[i]]));
            inv_marks_remove(&m, x->position[order[i]]);
            assert_false(inv_marks_has(&m, x->position[order[i]]));
            gone[order[i]] = true;
        }
        inv_near none;
        assert_int_equal(inv_marks_nearest(&m, p->xy, 1, 9, &none), 0);
        free(gone);
        free(list);
        free(order);
        inv_marks_destroy(&m);
        inv_index_destroy(x);
        invit_instance_destroy(p);
    }
}

static void the_tree_is_the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    enum { N = 30000 };
    inv_rng r;
    inv_rng_init(&r, 15, 0);
    for (int kind = 0; kind < LAYOUTS; kind++) {
        invit_instance *p = make(INVIT_TSP, N, kind, 0, &r);
        inv_kd_tree one, three;
        inv_limits o = {.threads = 3, .deadline = INFINITY};
        assert_int_equal(inv_kd_create(&one, p, 0, NULL, NULL), INVIT_OK);
        assert_int_equal(inv_kd_create(&three, p, 0, &o, NULL), INVIT_OK);
        assert_memory_equal(one.node, three.node, N * sizeof *one.node);
        assert_memory_equal(one.xy, three.xy, N * sizeof *one.xy);
        assert_memory_equal(one.box + 1, three.box + 1, (inv_kd_vertices(&one) - 1) * sizeof *one.box);
        inv_kd_destroy(&one);
        inv_kd_destroy(&three);
        invit_instance_destroy(p);
    }
}

static void building_the_tree_stops_when_it_is_told(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 16, 0);
    invit_instance *p = make(INVIT_TSP, 30000, CLUSTERED, 0, &r);
    volatile int cancel = 1;
    inv_limits stopped[] = {{.threads = 2, .deadline = INFINITY, .cancel = &cancel}, {.threads = 1}};
    for (int i = 0; i < 2; i++) {
        inv_kd_tree t;
        invit_error err = {0};
        assert_int_equal(inv_kd_create(&t, p, 0, &stopped[i], &err), INVIT_ERR_CANCELLED);
        assert_null(t.xy);
        assert_non_null(strstr(err.message, "stopped"));
    }
    invit_instance_destroy(p);
}

static void frames_fill_the_unit_square_and_keep_shape(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 14, 0);
    for (int copy = 0; copy < 8; copy++) {
        invit_instance *p = make(INVIT_TSP, 50, CLUSTERED, 0, &r);
        inv_frame f;
        inv_frame_for_copy(p, copy, &r, &f);
        double low[2] = {9, 9}, high[2] = {-9, -9};
        for (int i = 0; i < 50; i++)
            for (int c = 0; c < 2; c++) {
                double v = f.m[2 * c] * p->xy[2 * i] + f.m[2 * c + 1] * p->xy[2 * i + 1] + f.t[c];
                low[c] = fmin(low[c], v);
                high[c] = fmax(high[c], v);
            }
        assert_true(fabs(low[0]) < 1e-9 && fabs(low[1]) < 1e-9);
        assert_true(fabs(fmax(high[0], high[1]) - 1) < 1e-9);
        double det = f.m[0] * f.m[3] - f.m[1] * f.m[2];
        assert_true(copy % 2 ? det < 0 : det > 0);
        assert_true(fabs(f.m[0] * f.m[1] + f.m[2] * f.m[3]) < 1e-12);
        if (copy == 0) assert_true(f.m[1] == 0 && f.m[2] == 0);
        invit_instance_destroy(p);
    }
}

/* Degrees of longitude shrink by the cosine of the middle latitude, which stands first in GEO. */
static void longitudes_shrink_away_from_the_equator(void **state)
{
    (void)state;
    static const double xy[] = {50, 70, 60, 50, 55, 50, 52, 50};
    static const struct {
        invit_metric metric;
        double scale[2];
    } cases[] = {{INVIT_EUC_2D, {1, 1}}, {INVIT_HAVERSINE, {0.5, 1}}, {INVIT_GEO, {1, 0.57357643635104609}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        invit_instance *p = NULL;
        double scale[2];
        assert_int_equal(invit_instance_create_tsp(xy, 4, cases[i].metric, &p, NULL), INVIT_OK);
        inv_plane_scale(p, scale);
        for (int k = 0; k < 2; k++) assert_true(fabs(scale[k] - cases[i].scale[k]) < 1e-12);
        invit_instance_destroy(p);
    }
}

static void a_path_ends_where_it_was_told(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 15, 0);
    invit_instance *p = make(INVIT_TSP, 40, UNIFORM, 0, &r);
    inv_index *x;
    inv_walk *w;
    inv_frame f;
    inv_state s;
    assert_int_equal(inv_index_create(p, &x, NULL), INVIT_OK);
    assert_int_equal(inv_walk_create(p, x, 5, 8, &w, NULL), INVIT_OK);
    inv_frame_for_copy(p, 2, &r, &f);
    inv_walk_start_path(w, 3, 9, &f);
    assert_int_equal(inv_walk_left(w), 38);
    while (!inv_walk_done(w)) {
        inv_walk_view(w, &s);
        assert_false(in_list(s.node, s.action + s.rest, 9));
        same_point(p, &f, 9, s.first);
        inv_walk_visit(w, s.node[0]);
    }
    int32_t count;
    assert_int_equal(inv_walk_order(w, &count)[0], 3);
    assert_int_equal(count, 39);
    invit_solution *solution;
    assert_int_equal(inv_walk_solution(w, &solution, NULL), INVIT_OK);
    assert_int_equal(solution->start[1], 40);
    assert_int_equal(solution->nodes[39], 9);
    invit_solution_destroy(solution);
    inv_walk_destroy(w);
    inv_index_destroy(x);
    invit_instance_destroy(p);
}

/* Two walks over one tree do not see each other, a copy goes on alone, and a walk can move to another
 * instance. */
static void walks_are_independent(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 16, 0);
    invit_instance *p = make(INVIT_CVRP, 60, UNIFORM, 20, &r), *q = make(INVIT_CVRP, 300, UNIFORM, 20, &r);
    inv_index *x, *y;
    inv_walk *a, *b;
    inv_frame f;
    inv_state s;
    assert_int_equal(inv_index_create(p, &x, NULL), INVIT_OK);
    assert_int_equal(inv_index_create(q, &y, NULL), INVIT_OK);
    assert_int_equal(inv_walk_create(p, x, 5, 8, &a, NULL), INVIT_OK);
    assert_int_equal(inv_walk_create(p, x, 5, 8, &b, NULL), INVIT_OK);
    inv_frame_for_copy(p, 1, &r, &f);
    inv_walk_start(a, 0, &f);
    for (int i = 0; i < 20; i++) {
        inv_walk_view(a, &s);
        inv_walk_visit(a, s.action ? s.node[0] : 0);
    }
    inv_walk_copy(b, a);
    while (!inv_walk_done(b)) {
        inv_walk_view(b, &s);
        inv_walk_visit(b, s.action ? s.node[s.action - 1] : 0);
    }
    int32_t before = inv_walk_left(a);
    assert_true(before > 0);
    while (!inv_walk_done(a)) {
        inv_walk_view(a, &s);
        inv_walk_visit(a, s.action ? s.node[0] : 0);
    }
    assert_int_equal(inv_walk_rebind(a, q, y, NULL), INVIT_OK);
    inv_walk_start(a, 0, &f);
    assert_int_equal(inv_walk_left(a), 299);
    inv_walk_view(a, &s);
    assert_int_equal(s.action, 5);
    inv_walk_destroy(a);
    inv_walk_destroy(b);
    inv_index_destroy(x);
    inv_index_destroy(y);
    invit_instance_destroy(p);
    invit_instance_destroy(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tsp_views_are_as_specified),
        cmocka_unit_test(cvrp_views_are_as_specified),
        cmocka_unit_test(zero_demand_is_available_to_an_empty_vehicle),
        cmocka_unit_test(nearest_agrees_with_a_scan_as_the_tree_empties),
        cmocka_unit_test(the_tree_is_the_same_for_any_number_of_threads),
        cmocka_unit_test(building_the_tree_stops_when_it_is_told),
        cmocka_unit_test(frames_fill_the_unit_square_and_keep_shape),
        cmocka_unit_test(longitudes_shrink_away_from_the_equator),
        cmocka_unit_test(a_path_ends_where_it_was_told),
        cmocka_unit_test(walks_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
