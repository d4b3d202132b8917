#include "search/atsp_improve.h"

#include "base/clock.h"
#include "problem/metric.h"
#include "search/tour_frozen.h"
#include "search/tsp_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Paths of more nodes, without a matrix, are not given one. */
enum { LARGE_PATH = 5000 };

/* The closed, symmetric tour that stands for the instance's. Nodes: 0..n-1, then the joint of a path; when
 * split, all of these as exits once more. */
typedef struct model {
    const invit_instance *p;
    const inv_improve_options *o;
    int32_t nodes; /* with the joint */
    bool path, split;
    double *distance;
    double offset; /* what its tours are longer                     */
    inv_rules rules;
    invit_instance instance;
    invit_solution *tour;  /* of the model                                  */
    invit_solution *shown; /* of the instance, for the caller to look at    */
    invit_control control;
} model;

/* ---- the matrix ---------------------------------------------------------------------------------- */

static double longest_edge(const invit_instance *p)
{
    double longest = 0;
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t j = 0; j < p->n; j++)
            if (i != j) longest = fmax(longest, inv_distance(p, i, j));
    return longest > 0 ? longest : 1;
}

/* From i to j in the closed tour; `far` is for edges that no tour should have. */
static double closed_edge(const model *m, int32_t i, int32_t j, double far)
{
    const invit_instance *p = m->p;
    const inv_rules *r = p->rules;
    if (i < p->n && j < p->n) return inv_distance(p, i, j);
    /* The joint follows the end and comes before the start. */
    if (j < p->n) return r->start < 0 || j == r->start ? 0 : far;
    return r->end < 0 || i == r->end ? 0 : far;
}

/* One direction for both: of the joint's two edges one leads to the start and one to the end. */
static double symmetric_edge(const model *m, int32_t i, int32_t j, double far)
{
    const invit_instance *p = m->p;
    const inv_rules *r = p->rules;
    if (i < p->n && j < p->n) return inv_distance(p, i, j);
    int32_t v = i < p->n ? i : j;
    bool fixed = r->start >= 0 || r->end >= 0;
    return !fixed || v == r->start || v == r->end ? 0 : far;
}

static void fill(model *m)
{
    int32_t n = m->nodes;
    size_t all = (size_t)m->instance.n;
    double longest = longest_edge(m->p), far = 10 * longest, apart = 10 * (m->path ? far : longest);
    bool one_end = m->path && (m->p->rules->start < 0) != (m->p->rules->end < 0);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            double d = 0;
            if (i != j) d = m->split ? closed_edge(m, i, j, far) : symmetric_edge(m, i, j, far);
            if (!m->split) {
                m->distance[(size_t)i * all + (size_t)j] = d;
                continue;
            }
            size_t out = (size_t)(n + i), in = (size_t)j;
            m->distance[out * all + in] = m->distance[in * all + out] = i == j ? 0 : d + apart;
            m->distance[(size_t)i * all + (size_t)j] = i == j ? 0 : 4 * apart;
            m->distance[(size_t)(n + i) * all + (size_t)(n + j)] = i == j ? 0 : 4 * apart;
        }
    m->offset = 0;
    if (m->split)
        m->offset = n * apart;
    else if (one_end)
        m->offset = far;
}

/* ---- tours there and back ------------------------------------------------------------------------ */

static void to_model(const model *m, const int32_t *order, int32_t *tour)
{
    int32_t count = 0;
    for (int32_t i = 0; i < m->nodes; i++) {
        int32_t v = i < m->p->n ? order[i] : m->p->n;
        tour[count++] = v;
        if (m->split) tour[count++] = m->nodes + v;
    }
}

/* False when the tour does not stand for one of the instance. */
static bool from_model(const model *m, const int32_t *tour, int32_t *order)
{
    int32_t all = m->instance.n, n = m->nodes, at = 0, step = 1, first = m->path ? m->p->n : 0;
    while (tour[at] != first) at++;
    if (m->split && tour[at + 1 == all ? 0 : at + 1] != n + first) step = all - 1;
    if (!m->split && m->path) { /* from the start to the end */
        const inv_rules *r = m->p->rules;
        int32_t after = tour[at + 1 == all ? 0 : at + 1];
        int32_t before = tour[at == 0 ? all - 1 : at - 1];
        if ((r->start >= 0 && after != r->start) || (r->start < 0 && r->end >= 0 && before != r->end))
            step = all - 1;
    }
    for (int32_t i = 0, count = 0; i < n; i++) {
        int32_t v = tour[at];
        at = (int32_t)(((int64_t)at + step) % all);
        if (v >= n) return false;
        if (v < m->p->n) order[count++] = v;
        if (!m->split) continue;
        if (tour[at] != n + v) return false;
        at = (int32_t)(((int64_t)at + step) % all);
    }
    if (!m->path) return true;
    const inv_rules *r = m->p->rules;
    return (r->start < 0 || order[0] == r->start) && (r->end < 0 || order[m->p->n - 1] == r->end);
}

static void pass_on_better(void *user, double elapsed, double length)
{
    const model *m = user;
    m->o->on_better(m->o->on_better_user, elapsed, length - m->offset);
}

static void pass_on_solution(void *user, double length, const invit_solution *s)
{
    const model *m = user;
    if (from_model(m, s->nodes, m->shown->nodes))
        m->o->on_solution(m->o->on_solution_user, length - m->offset, m->shown);
}

static void pass_on_progress(void *user, const invit_progress *progress)
{
    const model *m = user;
    invit_progress own = *progress;
    own.best -= m->offset;
    m->o->control->progress(m->o->control->user, &own);
}

static invit_status build(model *m, const int32_t *order, invit_error *err)
{
    size_t all;
    m->nodes = m->p->n + m->path;
    all = (size_t)m->nodes * (m->split ? 2 : 1);
    m->distance = malloc(all * all * sizeof *m->distance);
    if (!m->distance) return inv_no_memory(err, all * all * sizeof *m->distance);
    m->rules = (inv_rules){.max_length = INFINITY,
                           .max_duration = INFINITY,
                           .start = -1,
                           .end = -1,
                           .speed = 1,
                           .symmetric = true,
                           .distance = m->distance};
    m->instance =
        (invit_instance){.problem = INVIT_TSP, .metric = INVIT_EXACT, .n = (int32_t)all, .rules = &m->rules};
    fill(m);
    INV_CHECK(inv_solution_alloc(1, (int64_t)all, &m->tour, err));
    m->tour->start[0] = 0;
    m->tour->start[1] = (int32_t)all;
    to_model(m, order, m->tour->nodes);
    INV_CHECK(inv_solution_alloc(1, m->p->n, &m->shown, err));
    m->shown->start[0] = 0;
    m->shown->start[1] = m->p->n;
    return INVIT_OK;
}

static invit_status improve_model(model *m, invit_solution *solution, inv_improve_stats *stats,
                                  invit_error *err)
{
    inv_improve_options o = *m->o;
    if (m->o->target > 0) o.target = m->o->target + m->offset;
    if (m->o->on_better) o.on_better = pass_on_better, o.on_better_user = m;
    if (m->o->on_solution) o.on_solution = pass_on_solution, o.on_solution_user = m;
    if (m->o->control) {
        m->control = *m->o->control;
        if (m->control.progress) m->control.progress = pass_on_progress, m->control.user = m;
        o.control = &m->control;
    }
    double before = inv_length(m->p, solution);
    INV_CHECK(inv_improve_tsp(&m->instance, &m->tour, &o, stats, err));
    if (from_model(m, m->tour->nodes, m->shown->nodes) && inv_length(m->p, m->shown) < before)
        memcpy(solution->nodes + solution->start[0], m->shown->nodes,
               (size_t)m->p->n * sizeof *solution->nodes);
    return INVIT_OK;
}

/* Held and Karp's recursion goes one way, so that it needs no splitting. */
static void solve_tiny(model *m, invit_solution *solution)
{
    double before = inv_length(m->p, solution);
    inv_exact_order(&m->instance, -1, -1, m->tour->nodes);
    if (from_model(m, m->tour->nodes, m->shown->nodes) && inv_length(m->p, m->shown) < before)
        memcpy(solution->nodes + solution->start[0], m->shown->nodes,
               (size_t)m->p->n * sizeof *solution->nodes);
}

/* ---- large paths --------------------------------------------------------------------------------- */

static void turn(int32_t *v, int32_t from, int32_t to)
{
    for (to--; from < to; from++, to--) {
        int32_t x = v[from];
        v[from] = v[to];
        v[to] = x;
    }
}

static void rotate(int32_t *v, int32_t n, int32_t first)
{
    turn(v, 0, first);
    turn(v, first, n);
    turn(v, 0, n);
}

static int32_t place_of(const int32_t *v, int32_t node)
{
    int32_t i = 0;
    while (v[i] != node) i++;
    return i;
}

/* A closed tour as a path with these ends. */
static void open_tour(const invit_instance *p, int32_t *v)
{
    int32_t n = p->n, start = p->rules->start, end = p->rules->end;
    if (start < 0 && end < 0) { /* without its longest edge */
        int32_t cut = 0;
        double longest = -1;
        for (int32_t i = 0; i < n; i++) {
            double d = inv_distance(p, v[i], v[i + 1 == n ? 0 : i + 1]);
            if (d > longest) longest = d, cut = i + 1 == n ? 0 : i + 1;
        }
        rotate(v, n, cut);
        return;
    }
    if (start < 0 || end < 0) { /* without the longer one of the end's two edges */
        int32_t fixed = start >= 0 ? start : end;
        rotate(v, n, place_of(v, fixed));
        bool forward = inv_distance(p, v[n - 1], v[0]) >= inv_distance(p, v[0], v[1]);
        if (!forward) turn(v, 1, n);
        if (start < 0) turn(v, 0, n);
        return;
    }
    /* s A e B, in a ring: s A, B turned, e; or s, B turned, A, e. */
    rotate(v, n, place_of(v, start));
    int32_t at = place_of(v, end), a = at - 1, b = n - 1 - at;
    for (int32_t i = at; i + 1 < n; i++) v[i] = v[i + 1];
    v[n - 1] = end;
    if (b == 0) return;
    turn(v, 1 + a, n - 1);
    if (a == 0) return;
    double straight =
        inv_distance(p, start, v[1]) + inv_distance(p, v[a], v[a + 1]) + inv_distance(p, v[n - 2], end);
    double swapped =
        inv_distance(p, start, v[a + 1]) + inv_distance(p, v[n - 2], v[1]) + inv_distance(p, v[a], end);
    if (swapped < straight) rotate(v + 1, n - 2, a);
}

static invit_status improve_large_path(const invit_instance *p, invit_solution *solution,
                                       const inv_improve_options *o, inv_improve_stats *stats,
                                       invit_error *err)
{
    invit_instance closed = *p;
    invit_solution *tour = NULL;
    inv_improve_options own = *o;
    closed.rules = NULL;
    own.target = 0;
    own.on_better = NULL; /* lengths of closed tours mean nothing to the caller */
    own.on_solution = NULL;
    INV_CHECK(inv_solution_copy(solution, &tour, err));
    invit_status status = inv_improve_tsp(&closed, &tour, &own, stats, err);
    if (status == INVIT_OK) {
        open_tour(p, tour->nodes);
        if (inv_length(p, tour) < inv_length(p, solution))
            memcpy(solution->nodes, tour->nodes, (size_t)p->n * sizeof *tour->nodes);
    }
    invit_solution_destroy(tour);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------------- */

invit_status inv_improve_tour(const invit_instance *p, invit_solution **solution,
                              const inv_improve_options *o, inv_improve_stats *stats, invit_error *err)
{
    invit_status status = INVIT_OK;
    const inv_rules *r = p->rules;
    double begun = inv_now();
    bool path = inv_is_path(p), split = r && r->distance && !r->symmetric;
    if (r && r->freeze) return inv_improve_frozen(p, *solution, o, stats, err);
    if (!path && !split) return inv_improve_tsp(p, solution, o, stats, err);
    if ((*solution)->routes != 1 || (*solution)->start[1] - (*solution)->start[0] != p->n)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "the path to improve does not visit each node once");
    model m = {.p = p, .o = o, .path = path, .split = split};
    *stats = (inv_improve_stats){0};
    if (p->n < 2) goto done;
    if (path && !r->distance && p->n > LARGE_PATH) {
        INV_TRY(improve_large_path(p, *solution, o, stats, err));
        goto done;
    }
    bool tiny = p->n + path <= INV_EXACT_MAX;
    if (tiny) m.split = false;
    INV_TRY(build(&m, (*solution)->nodes + (*solution)->start[0], err));
    if (tiny && split) /* as it is, in both directions */
        for (int32_t i = 0; i < m.nodes; i++)
            for (int32_t j = 0; j < m.nodes; j++)
                if (i != j)
                    m.distance[(size_t)i * (size_t)m.nodes + (size_t)j] =
                        closed_edge(&m, i, j, 10 * longest_edge(p));
    if (tiny)
        solve_tiny(&m, *solution);
    else
        INV_TRY(improve_model(&m, *solution, stats, err));
done:
    stats->length = inv_length(p, *solution);
    stats->seconds = inv_now() - begun;
    free(m.distance);
    invit_solution_destroy(m.tour);
    invit_solution_destroy(m.shown);
    return status;
}

/* ---- construction -------------------------------------------------------------------------------- */

/* From the start to the nearest one not visited, the end last. */
static void nearest(const invit_instance *p, int32_t *order)
{
    int32_t n = p->n, start = -1, end = -1;
    if (p->rules) {
        start = p->rules->start;
        end = p->rules->end;
    }
    for (int32_t i = 0; i < n; i++) order[i] = i;
    int32_t first = end == 0 && n > 1 ? 1 : 0, last = n;
    if (start >= 0) first = start;
    order[first] = 0;
    order[0] = first;
    if (end >= 0 && end != first) {
        int32_t at = place_of(order, end);
        order[at] = order[--last];
        order[last] = end;
    }
    for (int32_t i = 1; i < last; i++) {
        int32_t best = i;
        for (int32_t j = i + 1; j < last; j++)
            if (inv_distance(p, order[i - 1], order[j]) < inv_distance(p, order[i - 1], order[best]))
                best = j;
        int32_t v = order[best];
        order[best] = order[i];
        order[i] = v;
    }
}

invit_status inv_construct_tour(const invit_instance *p, invit_solution **out, invit_error *err)
{
    bool matrix = p->rules && p->rules->distance;
    if (p->rules && p->rules->freeze) return inv_construct_frozen(p, out, err);
    if (!matrix && p->n > LARGE_PATH) {
        invit_instance closed = *p;
        closed.rules = NULL;
        INV_CHECK(inv_construct_greedy(&closed, NULL, out, err));
        if (inv_is_path(p)) open_tour(p, (*out)->nodes);
        return INVIT_OK;
    }
    INV_CHECK(inv_solution_alloc(1, p->n, out, err));
    (*out)->start[0] = 0;
    (*out)->start[1] = p->n;
    nearest(p, (*out)->nodes);
    return INVIT_OK;
}
