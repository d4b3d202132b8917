/* The paper's third finding: how much of a near-optimal solution stays when nodes are added outside the unit
 * square. The instance in the square is solved alone and again with m further nodes spread evenly over the
 * ring between the square and the three times larger one around it; counted are the edges of the first
 * solution that are in the second. */
#include "base/names.h"
#include "invit_lab.h"
#include "base/rng.h"
#include "lab/eval/eval_work.h"
#include "lab/eval/statistics.h"
#include "lab/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct edges_cell {
    const invit_stats_options *o;
    const invit_control *control;
    invit_problem problem;
    invit_distribution distribution;
    int32_t steps;        /* how many enlargements              */
    const int32_t *sizes; /* [steps] nodes in all               */
    int32_t base;         /* nodes in the square                */
    double *share;        /* [steps][count] percent, NaN where an instance was not finished */
    int32_t count;
} edges_cell;

/* The first `size` nodes of the instance are the ones in the square. */
static invit_status enlarge(const invit_instance *p, int32_t added, inv_rng *rng, invit_instance **out,
                            invit_error *err)
{
    invit_instance *q = NULL;
    invit_status status;
    INV_TRY(inv_instance_alloc(p->problem, (int64_t)p->n + added, &q, err));
    memcpy(q->xy, p->xy, (size_t)p->n * 2 * sizeof *q->xy);
    q->metric = p->metric;
    q->capacity = p->capacity;
    if (p->demand) memcpy(q->demand, p->demand, (size_t)p->n * sizeof *q->demand);
    for (int32_t i = p->n; i < q->n; i++) {
        double *xy = q->xy + 2 * (size_t)i;
        do {
            xy[0] = 3 * inv_rng_double(rng) - 1;
            xy[1] = 3 * inv_rng_double(rng) - 1;
        } while (xy[0] >= 0 && xy[0] <= 1 && xy[1] >= 0 && xy[1] <= 1);
        if (q->demand) q->demand[i] = 1 + (int32_t)inv_rng_below(rng, 10);
    }
done:
    if (status == INVIT_OK)
        *out = q;
    else
        invit_instance_destroy(q);
    return status;
}

/* next[2 * i], next[2 * i + 1]: the neighbours of node i in the solution; the depot's edges are kept at the
 * customers. */
static void neighbours(const invit_instance *p, const invit_solution *s, int32_t *next)
{
    for (int32_t r = 0; r < s->routes; r++) {
        int32_t from = s->start[r], to = s->start[r + 1], m = to - from;
        for (int32_t k = 0; k < m; k++) {
            int32_t before, after;
            if (p->problem == INVIT_TSP) {
                before = s->nodes[from + (k + m - 1) % m];
                after = s->nodes[from + (k + 1) % m];
            } else {
                before = k ? s->nodes[from + k - 1] : 0;
                after = k + 1 < m ? s->nodes[from + k + 1] : 0;
            }
            next[2 * (size_t)s->nodes[from + k]] = before;
            next[2 * (size_t)s->nodes[from + k] + 1] = after;
        }
    }
}

/* Percent of the edges of `a` (over nodes 0..n-1) that `b` has too. A depot edge of a customer counts for
 * itself. */
static double kept_share(invit_problem problem, int32_t n, const int32_t *a, const int32_t *b)
{
    int64_t edges = 0, kept = 0;
    for (int32_t i = problem == INVIT_TSP ? 0 : 1; i < n; i++) {
        int32_t other[2] = {b[2 * (size_t)i], b[2 * (size_t)i + 1]};
        for (int e = 0; e < 2; e++) {
            int32_t j = a[2 * (size_t)i + e];
            bool depot = problem == INVIT_CVRP && j == 0;
            if (!depot && j < i) continue; /* seen from its other end */
            edges++;
            for (int f = 0; f < 2; f++) {
                if (other[f] != j) continue;
                kept++;
                other[f] = -1; /* a customer alone on its route has the depot twice */
                break;
            }
        }
    }
    return edges ? 100.0 * (double)kept / (double)edges : NAN;
}

static invit_status one_instance(void *context, int32_t item, invit_error *err)
{
    edges_cell *c = context;
    invit_instance *p = NULL, *q = NULL;
    invit_solution *s = NULL;
    int32_t largest = c->base + 1;
    double length;
    invit_status status = INVIT_OK;
    for (int32_t k = 0; k < c->steps; k++)
        if (c->sizes[k] + 1 > largest) largest = c->sizes[k] + 1;
    int32_t *alone = malloc(2 * (size_t)largest * sizeof *alone),
            *more = malloc(2 * (size_t)largest * sizeof *more);
    if (!alone || !more) {
        status = inv_no_memory(err, 2 * (size_t)largest * sizeof *more);
        goto done;
    }
    inv_effort effort = {
        .seconds = c->o->seconds, .scale = c->o->effort, .threads = 1, .seed = c->o->seed + (uint64_t)item};
    INV_TRY(invit_generate(c->problem, c->distribution, c->base, c->o->seed, (uint64_t)item, &p, err));
    INV_TRY(inv_near_optimal(p, &effort, c->control, &s, &length, err));
    neighbours(p, s, alone);
    for (int32_t k = 0; k < c->steps; k++) {
        invit_solution_destroy(s);
        invit_instance_destroy(q);
        s = NULL;
        q = NULL;
        inv_rng rng; /* the same stream for all sizes: a larger ring contains the smaller one's nodes */
        inv_rng_init(&rng, c->o->seed, (uint64_t)item);
        INV_TRY(enlarge(p, c->sizes[k] - c->base, &rng, &q, err));
        effort.seed = c->o->seed + (uint64_t)item + 1000003u * (uint64_t)(k + 1);
        INV_TRY(inv_near_optimal(q, &effort, c->control, &s, &length, err));
        neighbours(q, s, more);
        c->share[(size_t)k * (size_t)c->count + (size_t)item] = kept_share(p->problem, p->n, alone, more);
    }
done:
    for (int32_t k = 0; k < c->steps && status != INVIT_OK; k++)
        c->share[(size_t)k * (size_t)c->count + (size_t)item] = NAN; /* all its sizes or none */
    invit_solution_destroy(s);
    invit_instance_destroy(p);
    invit_instance_destroy(q);
    free(alone);
    free(more);
    return status;
}

static void add_rows(const edges_cell *c, inv_table *summary, inv_table *data)
{
    const char *names[] = {inv_problem_name(c->problem), inv_distribution_name(c->distribution)};
    inv_table_rule(summary);
    for (int32_t k = 0; k < c->steps; k++) {
        const double *share = c->share + (size_t)k * (size_t)c->count;
        inv_summary s = inv_summarise(share, c->count);
        if (s.count == 0) continue;
        inv_table_row(summary);
        for (int i = 0; i < 2; i++) inv_table_text(summary, "%s", names[i]);
        inv_table_number(summary, c->sizes[k], 0);
        inv_table_number(summary, s.count, 0);
        inv_table_number(summary, s.mean, 2);
        inv_table_number(summary, s.deviation, 2);
        for (int32_t i = 0; i < c->count; i++) {
            if (isnan(share[i])) continue;
            inv_table_row(data);
            for (int j = 0; j < 2; j++) inv_table_text(data, "%s", names[j]);
            inv_table_number(data, c->sizes[k], 0);
            inv_table_number(data, i, 0);
            inv_table_number(data, share[i], 4);
        }
    }
}

/* All cells, or those before an interrupt, the last one as far as it came. */
static invit_status add_cells(edges_cell *c, inv_table *summary, inv_table *data, int32_t *finished,
                              invit_error *err)
{
    for (int problem = 0; problem < 2; problem++)
        for (int dist = 0; dist < 4; dist++) {
            if (!c->o->problem[problem] || !c->o->distribution[dist]) continue;
            c->problem = problem;
            c->distribution = dist;
            for (size_t i = 0; i < (size_t)c->steps * (size_t)c->count; i++) c->share[i] = NAN;
            invit_status status =
                inv_for_each(c->o->threads, 0, c->count, one_instance, c, c->control, "solve", finished, err);
            add_rows(c, summary, data);
            INV_CHECK(status);
        }
    return INVIT_OK;
}

static int32_t instances_asked(const invit_stats_options *o)
{
    int32_t cells = 0;
    for (int problem = 0; problem < 2; problem++)
        for (int dist = 0; dist < 4; dist++) cells += o->problem[problem] && o->distribution[dist];
    return cells * o->count;
}

invit_status invit_stats_edges(const invit_stats_options *o, const invit_control *control,
                               invit_report **summary, invit_report **data, invit_error *err)
{
    static const int32_t default_sizes[] = {100, 110, 125, 150, 200, 300, 500};
    static const char *const names[] = {"problem",   "distribution", "nodes",
                                        "instances", "edges kept %", "std"};
    static const char *const data_names[] = {"problem", "distribution", "nodes", "instance", "edges kept %"};
    invit_status status;
    int32_t finished = 0;
    edges_cell c = {.o = o, .control = control, .count = o->count};
    *summary = *data = NULL;
    INV_TRY(inv_stats_check(o, 3, err));
    c.sizes = o->size_count ? o->sizes : default_sizes;
    c.steps = o->size_count ? o->size_count : (int32_t)(sizeof default_sizes / sizeof *default_sizes);
    c.base = c.sizes[0];
    for (int32_t k = 1; k < c.steps; k++) {
        if (c.sizes[k] > c.sizes[k - 1]) continue;
        status = inv_fail(err, INVIT_ERR_ARGUMENT,
                          "sizes must increase, the first being that of the square alone; %d follows %d",
                          c.sizes[k], c.sizes[k - 1]);
        goto done;
    }
    INV_TRY(inv_report_create(summary, err));
    INV_TRY(inv_report_create(data, err));
    inv_table *t =
        inv_report_table(*summary, "Edges that survive when nodes are added outside the unit square");
    inv_table *d = inv_report_table(*data, "edges");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) inv_table_column(t, names[i], i >= 2);
    for (size_t i = 0; i < sizeof data_names / sizeof *data_names; i++)
        inv_table_column(d, data_names[i], i >= 2);
    inv_table_chart(d, (inv_table_drawing){.x = 2,
                                           .y = 4,
                                           .line = 1,
                                           .x_label = "nodes in all",
                                           .y_label = "edges of the first solution kept",
                                           .y_unit = " %",
                                           .log_x = true});
    c.share = malloc((size_t)c.steps * (size_t)c.count * sizeof *c.share);
    if (!c.share) {
        status = inv_no_memory(err, (size_t)c.steps * (size_t)c.count * sizeof *c.share);
        goto done;
    }
    inv_table_note(t,
                   "%d nodes in the square; the row without further nodes is the same instance solved with "
                   "another seed: "
                   "what the search itself changes.",
                   c.base);
    status = add_cells(&c, t, d, &finished, err);
done:
    free(c.share);
    return inv_stats_end(status, finished, instances_asked(o), summary, data, err);
}
