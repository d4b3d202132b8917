/* The paper's second finding: along a near-optimal solution, the next node is nearly always one of the
 * nearest that may be visited. Solutions are walked as the policy would build them, and at each step the rank
 * of the next node among the nearest feasible ones is counted. */
#include "base/names.h"
#include "invit_lab.h"
#include "base/clock.h"
#include "problem/metric.h"
#include "lab/eval/eval_work.h"
#include "lab/stats/stats.h"
#include "view/walk.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 50 }; /* beyond this a rank is only counted as "beyond" */
enum { OWN_SIZES = 3 };
static const int32_t own_sizes[2][OWN_SIZES] = {{100, 1000, 5000}, {50, 500, 5000}};

typedef struct rank_cell {
    const invit_stats_options *o;
    const invit_control *control;
    invit_problem problem;
    invit_distribution distribution;
    int32_t size;
    int64_t hits[RANKS + 1]; /* [r]: rank r + 1; the last one: beyond */
    int64_t total;
    pthread_mutex_t lock;
} rank_cell;

/* CVRP solutions fix neither the order of the routes nor their direction. The policy leaves the depot for a
 * customer near it, so routes are walked in the order of their end nearest to the depot, beginning at that
 * end. */
typedef struct route_start {
    double distance;
    int32_t route;
    bool reversed;
} route_start;

static int by_distance(const void *a, const void *b)
{
    const route_start *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->route - y->route;
}

static void step(inv_walk *w, int32_t next, int64_t *hits)
{
    inv_state s;
    inv_walk_view(w, &s);
    int32_t r = 0;
    while (r < s.action && s.node[r] != next) r++;
    hits[r < s.action && r < RANKS ? r : RANKS]++;
    inv_walk_visit(w, next);
}

static invit_status walk_solution(const invit_instance *p, const invit_solution *s, inv_walk *w,
                                  int64_t *hits, invit_error *err)
{
    if (p->problem == INVIT_TSP) {
        for (int32_t i = 1; i < p->n; i++) step(w, s->nodes[i], hits);
        return INVIT_OK;
    }
    route_start *order = malloc(((size_t)s->routes + 1) * sizeof *order);
    if (!order) return inv_no_memory(err, (size_t)s->routes * sizeof *order);
    int32_t routes = 0;
    for (int32_t r = 0; r < s->routes; r++) {
        if (s->start[r] == s->start[r + 1]) continue;
        double head = inv_edge(p, 0, s->nodes[s->start[r]]),
               tail = inv_edge(p, 0, s->nodes[s->start[r + 1] - 1]);
        order[routes++] = (route_start){head <= tail ? head : tail, r, tail < head};
    }
    qsort(order, (size_t)routes, sizeof *order, by_distance);
    for (int32_t k = 0; k < routes; k++) {
        int32_t from = s->start[order[k].route], to = s->start[order[k].route + 1];
        for (int32_t i = from; i < to; i++)
            step(w, s->nodes[order[k].reversed ? to - 1 - (i - from) : i], hits);
        if (k + 1 < routes) inv_walk_visit(w, 0);
    }
    free(order);
    return INVIT_OK;
}

static invit_status one_instance(void *context, int32_t item, invit_error *err)
{
    rank_cell *c = context;
    invit_instance *p = NULL;
    invit_solution *s = NULL;
    inv_index *x = NULL;
    inv_walk *w = NULL;
    double length;
    int64_t hits[RANKS + 1] = {0};
    invit_status status;
    inv_effort effort = {
        .seconds = c->o->seconds, .scale = c->o->effort, .threads = 1, .seed = c->o->seed + (uint64_t)item};
    inv_rng rng;
    inv_rng_init(&rng, c->o->seed, 0);
    INV_TRY(invit_generate(c->problem, c->distribution, c->size, c->o->seed, (uint64_t)item, &p, err));
    INV_TRY(inv_near_optimal(p, &effort, c->control, &s, &length, err));
    INV_TRY(inv_index_create(p, &x, err));
    INV_TRY(inv_walk_create(p, x, RANKS, RANKS, &w, err));
    inv_frame frame;
    inv_frame_for_copy(p, 0, &rng, &frame);
    inv_walk_start(w, c->problem == INVIT_TSP ? s->nodes[0] : 0, &frame);
    INV_TRY(walk_solution(p, s, w, hits, err));
    pthread_mutex_lock(&c->lock);
    for (int r = 0; r <= RANKS; r++) {
        c->hits[r] += hits[r];
        c->total += hits[r];
    }
    pthread_mutex_unlock(&c->lock);
done:
    inv_walk_destroy(w);
    inv_index_destroy(x);
    invit_solution_destroy(s);
    invit_instance_destroy(p);
    return status;
}

static void add_rows(const rank_cell *c, inv_table *summary, inv_table *data)
{
    static const int upto[] = {1, 3, 5, 8, 15, 35};
    const char *names[] = {inv_problem_name(c->problem), inv_distribution_name(c->distribution)};
    inv_table_row(summary);
    for (int i = 0; i < 2; i++) inv_table_text(summary, "%s", names[i]);
    inv_table_number(summary, c->size, 0);
    inv_table_number(summary, (double)c->total, 0);
    int64_t sum = 0;
    size_t k = 0;
    for (int r = 0; r < RANKS; r++) {
        sum += c->hits[r];
        if (k < sizeof upto / sizeof *upto && upto[k] == r + 1) {
            inv_table_number(summary, 100.0 * (double)sum / (double)c->total, 2);
            k++;
        }
        inv_table_row(data);
        for (int i = 0; i < 2; i++) inv_table_text(data, "%s", names[i]);
        inv_table_number(data, c->size, 0);
        inv_table_number(data, r + 1, 0);
        inv_table_number(data, 100.0 * (double)c->hits[r] / (double)c->total, 4);
        inv_table_number(data, 100.0 * (double)sum / (double)c->total, 4);
    }
}

/* The same number of nodes for all of our own sizes as far as possible, but at least two instances. */
static int32_t instances_of(const invit_stats_options *o, int problem, int k)
{
    if (o->size_count || k == 0) return o->count;
    int32_t count = o->count * own_sizes[problem][0] / own_sizes[problem][k];
    return count > 2 ? count : 2;
}

static invit_status add_cell(const invit_stats_options *o, const invit_control *control, int problem,
                             int dist, int k, inv_table *summary, inv_table *data, int32_t *finished,
                             invit_error *err)
{
    rank_cell c = {.o = o,
                   .control = control,
                   .problem = problem,
                   .distribution = dist,
                   .size = o->size_count ? o->sizes[k] : own_sizes[problem][k]};
    pthread_mutex_init(&c.lock, NULL);
    invit_status status = inv_for_each(o->threads, 0, instances_of(o, problem, k), one_instance, &c, control,
                                       "solve", finished, err);
    pthread_mutex_destroy(&c.lock);
    if (c.total > 0) add_rows(&c, summary, data);
    return status;
}

/* All cells, or those before an interrupt, the last one as far as it came. */
static invit_status add_cells(const invit_stats_options *o, const invit_control *control, inv_table *summary,
                              inv_table *data, int32_t *finished, invit_error *err)
{
    for (int problem = 0; problem < 2; problem++)
        for (int dist = 0; dist < 4; dist++) {
            if (!o->problem[problem] || !o->distribution[dist]) continue;
            inv_table_rule(summary);
            for (int k = 0; k < (o->size_count ? o->size_count : OWN_SIZES); k++)
                INV_CHECK(add_cell(o, control, problem, dist, k, summary, data, finished, err));
        }
    return INVIT_OK;
}

static int32_t instances_asked(const invit_stats_options *o)
{
    int32_t count = 0;
    for (int problem = 0; problem < 2; problem++)
        for (int dist = 0; dist < 4; dist++)
            for (int k = 0; k < (o->size_count ? o->size_count : OWN_SIZES); k++)
                if (o->problem[problem] && o->distribution[dist]) count += instances_of(o, problem, k);
    return count;
}

invit_status invit_stats_rank(const invit_stats_options *o, const invit_control *control,
                              invit_report **summary, invit_report **data, invit_error *err)
{
    static const char *const names[] = {"problem", "distribution", "size",  "steps",  "<=1 %",
                                        "<=3 %",   "<=5 %",        "<=8 %", "<=15 %", "<=35 %"};
    static const char *const data_names[] = {"problem", "distribution", "size",
                                             "rank",    "share %",      "cumulative %"};
    invit_status status;
    int32_t finished = 0;
    *summary = *data = NULL;
    INV_TRY(inv_stats_check(o, 2, err));
    INV_TRY(inv_report_create(summary, err));
    INV_TRY(inv_report_create(data, err));
    inv_table *t = inv_report_table(
        *summary, "Rank of the next node among the nearest feasible ones, near-optimal solutions");
    inv_table *d = inv_report_table(*data, "rank");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) inv_table_column(t, names[i], i >= 2);
    for (size_t i = 0; i < sizeof data_names / sizeof *data_names; i++)
        inv_table_column(d, data_names[i], i >= 2);
    inv_table_chart(d, (inv_table_drawing){.x = 3,
                                           .y = 5,
                                           .line = 1,
                                           .x_label = "k nearest feasible nodes",
                                           .y_label = "next node among them",
                                           .y_unit = " %",
                                           .log_x = true});
    inv_table_note(
        t,
        "Share of steps whose next node is among the k nearest that may be visited; returns to the depot are "
        "not counted.");
    status = add_cells(o, control, t, d, &finished, err);
done:
    return inv_stats_end(status, finished, instances_asked(o), summary, data, err);
}
