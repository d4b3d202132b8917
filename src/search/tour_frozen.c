#include "search/tour_frozen.h"

#include "problem/freeze.h"
#include "problem/metric.h"
#include "search/atsp_improve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The path from the last frozen node through all free ones, of a closed tour back to the first. */
typedef struct rest {
    const invit_instance *p;
    const inv_improve_options *o;
    int32_t frozen;          /* nodes of the beginning                                  */
    int32_t *node;           /* [n + 1] of the rest: which of the instance              */
    int32_t count;           /* of these                                                */
    double offset;           /* length of the beginning                                 */
    invit_instance instance; /* borrows its arrays from here                            */
    inv_rules rules;
    invit_solution *shown; /* of the whole, for the caller to look at                 */
    invit_control control;
} rest;

static void destroy(rest *s)
{
    free(s->node);
    free(s->instance.xy);
    free(s->rules.distance);
    invit_solution_destroy(s->shown);
}

/* order: the beginning, then all other nodes in any order. */
static invit_status make(rest *s, const int32_t *order, invit_error *err)
{
    const invit_instance *p = s->p;
    const inv_rules *r = p->rules;
    bool closed = !inv_is_path(p);
    int32_t n = p->n, m = 0;
    while (s->frozen < n && inv_is_frozen(p, order[s->frozen])) s->frozen++;
    size_t most = (size_t)n + 1;
    s->node = malloc(most * sizeof *s->node);
    s->instance = (invit_instance){.problem = INVIT_TSP, .metric = p->metric, .rules = &s->rules};
    s->instance.xy = malloc(2 * most * sizeof(double));
    if (!s->node || !s->instance.xy) return inv_no_memory(err, most * 20);
    for (int32_t i = s->frozen - 1; i < n; i++) s->node[m++] = order[i];
    if (closed) s->node[m++] = order[0];
    for (int32_t i = 1; i < s->frozen; i++) s->offset += inv_distance(p, order[i - 1], order[i]);
    s->count = s->instance.n = m;
    s->rules = (inv_rules){.max_length = INFINITY,
                           .max_duration = INFINITY,
                           .start = 0,
                           .end = closed ? m - 1 : -1,
                           .speed = 1,
                           .symmetric = r->symmetric,
                           .has_xy = r->has_xy};
    for (int32_t i = 1; i < m && !closed; i++)
        if (s->node[i] == r->end) s->rules.end = i;
    for (int32_t i = 0; i < m; i++)
        memcpy(s->instance.xy + 2 * (size_t)i, p->xy + 2 * (size_t)s->node[i], 2 * sizeof(double));
    if (!r->distance) return INVIT_OK;
    size_t side = (size_t)m;
    s->rules.distance = malloc(side * side * sizeof(double));
    if (!s->rules.distance) return inv_no_memory(err, side * side * sizeof(double));
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++)
            s->rules.distance[i * side + j] = inv_distance(p, s->node[i], s->node[j]);
    return INVIT_OK;
}

/* The rest's path as nodes of the instance, behind the beginning in `order`. */
static void put_back(const rest *s, const int32_t *path, int32_t *order)
{
    for (int32_t i = 1; i < s->count && s->frozen + i - 1 < s->p->n; i++)
        order[s->frozen + i - 1] = s->node[path[i]];
}

invit_status inv_construct_frozen(const invit_instance *p, invit_solution **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    rest s = {.p = p};
    invit_solution *driven = NULL, *path = NULL;
    int32_t count;
    *out = NULL;
    INV_TRY(inv_with_frozen(p, NULL, &driven, err));
    INV_TRY(inv_solution_alloc(1, p->n, out, err));
    (*out)->start[0] = 0;
    (*out)->start[1] = p->n;
    count = driven->start[1];
    memcpy((*out)->nodes, driven->nodes, (size_t)count * sizeof *driven->nodes);
    for (int32_t v = 0; v < p->n; v++)
        if (!inv_is_frozen(p, v)) (*out)->nodes[count++] = v;
    INV_TRY(make(&s, (*out)->nodes, err));
    if (s.frozen < p->n) {
        INV_TRY(inv_construct_tour(&s.instance, &path, err));
        put_back(&s, path->nodes, (*out)->nodes);
    }
done:
    if (status != INVIT_OK) {
        invit_solution_destroy(*out);
        *out = NULL;
    }
    invit_solution_destroy(driven);
    invit_solution_destroy(path);
    destroy(&s);
    return status;
}

/* ---- improvement --------------------------------------------------------------------------------- */

static void pass_on_better(void *user, double elapsed, double length)
{
    const rest *s = user;
    s->o->on_better(s->o->on_better_user, elapsed, length + s->offset);
}

static void pass_on_solution(void *user, double length, const invit_solution *path)
{
    const rest *s = user;
    put_back(s, path->nodes, s->shown->nodes);
    s->o->on_solution(s->o->on_solution_user, length + s->offset, s->shown);
}

static void pass_on_progress(void *user, const invit_progress *progress)
{
    const rest *s = user;
    invit_progress own = *progress;
    own.best += s->offset;
    s->o->control->progress(s->o->control->user, &own);
}

invit_status inv_improve_frozen(const invit_instance *p, invit_solution *solution,
                                const inv_improve_options *o, inv_improve_stats *stats, invit_error *err)
{
    invit_status status = INVIT_OK;
    rest s = {.p = p, .o = o};
    inv_improve_options own = *o;
    invit_solution *path = NULL;
    *stats = (inv_improve_stats){0};
    INV_TRY(make(&s, solution->nodes, err));
    if (s.count < 3) goto done;
    if (o->target > 0) own.target = o->target > s.offset ? o->target - s.offset : 0;
    if (o->on_better) own.on_better = pass_on_better, own.on_better_user = &s;
    if (o->on_solution) own.on_solution = pass_on_solution, own.on_solution_user = &s;
    if (o->control) {
        s.control = *o->control;
        if (s.control.progress) s.control.progress = pass_on_progress, s.control.user = &s;
        own.control = &s.control;
    }
    INV_TRY(inv_solution_copy(solution, &s.shown, err));
    INV_TRY(inv_solution_alloc(1, s.count, &path, err));
    path->start[0] = 0;
    path->start[1] = s.count;
    for (int32_t i = 0; i < s.count; i++) path->nodes[i] = i;
    INV_TRY(inv_improve_tour(&s.instance, &path, &own, stats, err));
    put_back(&s, path->nodes, solution->nodes);
done:
    if (status == INVIT_OK) stats->length = inv_length(p, solution);
    invit_solution_destroy(path);
    destroy(&s);
    return status;
}
