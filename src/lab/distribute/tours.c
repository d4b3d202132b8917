/* A huge tour: cells of the plane, one per rank. In the first round every rank makes a tour of its cell, and the
 * tours are joined; after that each improves the part of the tour in its cell, and the cells are cut elsewhere. */
#include "lab/distribute/spread.h"

#include "base/clock.h"
#include "base/rng.h"
#include "problem/metric.h"
#include "search/tsp_pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Core-seconds per node that make another round worth its messages, neighbour lists and a look at every node. */
static const double WORTH_A_ROUND = 80e-6;
enum { MOST_ROUNDS = 6, STEP_ROUNDS = 4, NEIGHBOURS = 6 };

typedef struct tour_run {
    inv_spread *s;
    inv_pieces q;
    inv_neighbours nb;
    int32_t *order;          /* [n] the best tour                                */
    int32_t *mate, *outside; /* [n] of each piece's nodes, see inv_pieces_tie     */
    bool cells;              /* this round makes tours of cells                  */
    double until;
    int64_t steps;
    int round;
} tour_run;

/* Nodes of a piece, or of a cell. */
static const int32_t *nodes_of(const tour_run *t, int rank, int32_t *count)
{
    int32_t begin = t->q.begin[rank];
    *count = t->cells ? t->q.begin[rank + 1] - begin : t->q.kept[rank];
    return t->q.member + begin;
}

static invit_status make_piece(void *context, int rank, inv_job *job, invit_error *err)
{
    const tour_run *t = context;
    const inv_spread *s = t->s;
    int32_t count;
    const int32_t *node = nodes_of(t, rank, &count);
    *job = (inv_job){.kind = t->cells ? INV_JOB_SOLVE : INV_JOB_IMPROVE,
                     .seconds = t->until - inv_now(),
                     .iterations = t->steps,
                     .seed = inv_spread_seed(s, t->round, rank),
                     .construct = INVIT_CONSTRUCT_GREEDY};
    if (count < INV_PIECE_LEAST) {
        job->kind = INV_JOB_NOTHING;
        return INVIT_OK;
    }
    INV_CHECK(inv_instance_alloc(INVIT_TSP, count, &job->p, err));
    job->p->metric = s->p->metric;
    for (int32_t i = 0; i < count; i++)
        memcpy(job->p->xy + 2 * (size_t)i, s->p->xy + 2 * (size_t)node[i], 2 * sizeof(double));
    if (t->cells) return INVIT_OK;
    INV_CHECK(inv_solution_alloc(1, count, &job->start, err));
    job->start->start[0] = 0;
    job->start->start[1] = count;
    for (int32_t i = 0; i < count; i++) job->start->nodes[i] = i;
    job->fixed = malloc((size_t)count * sizeof *job->fixed);
    if (!job->fixed) return inv_no_memory(err, (size_t)count * sizeof *job->fixed);
    memcpy(job->fixed, t->mate + t->q.begin[rank], (size_t)count * sizeof *job->fixed);
    return INVIT_OK;
}

/* Neighbour lists, for joining cycles: made while the others work. */
static invit_status list_neighbours(void *context, invit_error *err)
{
    tour_run *t = context;
    inv_neighbour_options o = {
        .k = NEIGHBOURS, .per_quadrant = 1, .threads = t->s->o.threads, .deadline = INFINITY};
    if (!t->nb.node) INV_CHECK(inv_neighbours_create(t->s->p, &o, &t->nb, err));
    return INVIT_OK;
}

static void put_piece(tour_run *t, int rank, const invit_solution *result)
{
    int32_t count, from = t->q.begin[rank];
    const int32_t *node = nodes_of(t, rank, &count), *order = result->nodes;
    if (!t->cells) {
        inv_pieces_put(&t->q, node, t->mate + from, t->outside + from, order, count);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        t->q.link[node[order[i]]][0] = node[order[i == 0 ? count - 1 : i - 1]];
        t->q.link[node[order[i]]][1] = node[order[i + 1 == count ? 0 : i + 1]];
    }
}

/* One cycle out of what the ranks made; kept if it is shorter. */
static invit_status join(tour_run *t, invit_error *err)
{
    inv_spread *s = t->s;
    int32_t cycles, n = s->p->n;
    INV_CHECK(inv_pieces_join(&t->q, t->q.member, &cycles, err));
    double length = inv_tour_length(s->p, t->q.member);
    if (s->best && length >= s->length) {
        inv_pieces_link(&t->q, t->order);
        return INVIT_OK;
    }
    if (!s->best) INV_CHECK(inv_solution_alloc(1, n, &s->best, err));
    s->best->start[0] = 0;
    s->best->start[1] = n;
    memcpy(t->order, t->q.member, (size_t)n * sizeof *t->order);
    memcpy(s->best->nodes, t->order, (size_t)n * sizeof *t->order);
    s->length = length;
    if (s->o.better)
        s->o.better(s->o.better_user, inv_now() - s->began, length, s->o.with_solution ? s->best : NULL);
    return INVIT_OK;
}

static invit_status one_round(tour_run *t, inv_job_result *results, invit_error *err)
{
    inv_spread *s = t->s;
    uint64_t seed = inv_nth_seed(s->o.seed, (uint64_t)t->round);
    if (t->cells) {
        inv_pieces_cells(&t->q, s->ranks, seed);
    } else {
        inv_pieces_cut_into(&t->q, t->order, s->ranks, seed);
        for (int i = 0; i < s->ranks; i++)
            inv_pieces_tie(&t->q, i, t->mate + t->q.begin[i], t->outside + t->q.begin[i]);
    }
    INV_CHECK(inv_spread_round(s, make_piece, list_neighbours, t, results, err));
    t->q.nb = &t->nb;
    for (int i = 0; i < s->ranks; i++) {
        if (results[i].solution)
            put_piece(t, i, results[i].solution);
        else if (t->cells)
            return INVIT_OK; /* lost with its cell: there is no tour */
    }
    INV_CHECK(join(t, err));
    if (!t->cells) return INVIT_OK;
    s->constructed = s->length;
    s->seconds_construct = inv_now() - s->began;
    return INVIT_OK;
}

static int count_rounds(const inv_spread *s)
{
    if (s->o.iterations >= 0) return STEP_ROUNDS;
    double work = (s->deadline - inv_now()) * s->ranks * s->o.threads;
    double rounds = floor(work / (WORTH_A_ROUND * s->p->n));
    return (int)fmin(fmax(rounds, 2), MOST_ROUNDS);
}

/* A start that the caller has, or constructs in another way than by cells. */
static invit_status begin(tour_run *t, invit_error *err)
{
    inv_spread *s = t->s;
    if (!s->best && s->o.construct != INVIT_CONSTRUCT_INVIT && s->o.construct != INVIT_CONSTRUCT_GREEDY) {
        inv_solve_options o = s->o;
        inv_solved solved;
        o.iterations = 0;
        INV_CHECK(inv_solve(s->p, s->model, &o, &s->best, &solved, err));
        s->length = s->constructed = solved.length;
        s->seconds_construct = solved.seconds_total;
    }
    t->cells = !s->best;
    if (t->cells) {
        s->construct = INVIT_CONSTRUCT_GREEDY;
        return INVIT_OK;
    }
    memcpy(t->order, s->best->nodes, (size_t)s->p->n * sizeof *t->order);
    inv_pieces_link(&t->q, t->order);
    return INVIT_OK;
}

invit_status inv_spread_tour(inv_spread *s, invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t n = (size_t)s->p->n;
    tour_run t = {.s = s,
                  .order = malloc(n * sizeof *t.order),
                  .mate = malloc(n * sizeof *t.mate),
                  .outside = malloc(n * sizeof *t.outside)};
    inv_job_result *results = calloc((size_t)s->ranks, sizeof *results);
    if (!t.order || !t.mate || !t.outside || !results) INV_TRY(inv_no_memory(err, 3 * n * sizeof *t.order));
    INV_TRY(inv_pieces_create(s->p, NULL, s->o.threads, s->p->n / s->ranks / 2, &t.q, err));
    INV_TRY(begin(&t, err));
    int rounds = count_rounds(s);
    /* The last pass over the tour, checking and writing: about as long as measuring it a few times. */
    for (t.round = 0; t.round < rounds && (t.round == 0 || !inv_spread_over(s)); t.round++) {
        t.until = inv_spread_until(s, t.round, rounds) - 1e-6 * (double)n;
        t.steps = inv_spread_steps(s, t.round, rounds);
        INV_TRY(one_round(&t, results, err));
        inv_spread_clear(results, s->ranks);
        if (!s->best) break;
        t.cells = false;
    }
done:
    if (results) inv_spread_clear(results, s->ranks);
    inv_pieces_destroy(&t.q);
    inv_neighbours_destroy(&t.nb);
    free(t.order);
    free(t.mate);
    free(t.outside);
    free(results);
    return status;
}
