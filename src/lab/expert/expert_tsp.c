/* The TSP expert: greedy edges, then chained Lin-Kernighan with a number of kicks in proportion to n. */
#include "search/construct.h"
#include "lab/expert/expert_internal.h"
#include "search/tsp_exact.h"
#include "search/tsp_lin_kernighan.h"
#include "problem/metric.h"

#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 8 };
static const double kicks_per_node = 0.35;

struct inv_expert_tsp_part {
    inv_lk lk;
    int32_t *start; /* [lk.capacity] the greedy tour, which numbers the nodes */
    int32_t *place; /* [lk.capacity] its inverse                              */
};

static void destroy(struct inv_expert_tsp_part *part)
{
    inv_lk_destroy(&part->lk);
    free(part->start);
    free(part->place);
    free(part);
}

static invit_status reserve(inv_expert *t, int32_t n, invit_error *err)
{
    if (!t->tsp) {
        t->tsp = calloc(1, sizeof *t->tsp);
        if (!t->tsp) return inv_no_memory(err, sizeof *t->tsp);
        t->destroy_tsp = destroy;
    }
    struct inv_expert_tsp_part *part = t->tsp;
    if (n <= part->lk.capacity) return INVIT_OK;
    free(part->start);
    free(part->place);
    part->start = malloc((size_t)n * sizeof *part->start);
    part->place = malloc((size_t)n * sizeof *part->place);
    if (!part->start || !part->place) {
        inv_lk_destroy(&part->lk);
        return inv_no_memory(err, (size_t)n * sizeof *part->start);
    }
    return inv_lk_reserve(&part->lk, n, NEIGHBOURS, err);
}

/* Hands the problem to the search, its nodes numbered along the start tour. */
static void load(struct inv_expert_tsp_part *part, const invit_instance *p, const inv_neighbours *nb,
                 int32_t fix_a, int32_t fix_b)
{
    inv_lk *lk = &part->lk;
    lk->n = p->n;
    lk->metric = p->metric;
    for (int32_t i = 0; i < p->n; i++) part->place[part->start[i]] = i;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t v = part->start[i];
        memcpy(lk->xy + 2 * (size_t)i, p->xy + 2 * (size_t)v, 2 * sizeof *lk->xy);
        const int32_t *list = inv_neighbours_of(nb, v);
        for (int j = 0; j < NEIGHBOURS; j++)
            lk->neighbour[i * NEIGHBOURS + j] = list[j] < 0 ? -1 : part->place[list[j]];
    }
    for (int32_t i = 0; i < p->n; i++) lk->mate[i] = -1;
    if (fix_a >= 0) {
        lk->mate[part->place[fix_a]] = part->place[fix_b];
        lk->mate[part->place[fix_b]] = part->place[fix_a];
    }
    inv_lk_begin(lk);
}

static invit_status search(inv_expert *e, const invit_instance *p, const inv_tsp_request *q, int32_t *tour,
                           invit_error *err)
{
    INV_CHECK(reserve(e, p->n, err));
    struct inv_expert_tsp_part *part = e->tsp;
    inv_lk *lk = &part->lk;
    inv_neighbours nb;
    inv_rng rng;
    inv_rng_init(&rng, q->seed, 0);
    inv_neighbour_options o = {.k = NEIGHBOURS, .per_quadrant = 1, .threads = 1, .deadline = INFINITY};
    INV_CHECK(inv_neighbours_create(p, &o, &nb, err));
    invit_status status = inv_greedy_order(p, &nb, q->fix_a, q->fix_b, NULL, NULL, part->start, err);
    if (status == INVIT_OK) {
        load(part, p, &nb, q->fix_a, q->fix_b);
        for (int32_t v = 0; v < lk->n; v++) inv_lk_push(lk, v);
        inv_lk_optimise(lk, INT64_MAX);
        int64_t kicks = (int64_t)(q->effort * kicks_per_node * p->n);
        for (int64_t i = 0; i < kicks; i++)
            inv_lk_kick(lk, (int32_t)inv_rng_below(&rng, (uint32_t)lk->n), &rng);
        for (int32_t i = 0; i < p->n; i++) tour[i] = part->start[lk->tour.order[i]];
    }
    inv_neighbours_destroy(&nb);
    return status;
}

invit_status inv_expert_tsp(inv_expert *e, const inv_tsp_request *q, int32_t *tour, double *length,
                            invit_error *err)
{
    int32_t n = q->n, a = q->fix_a, b = q->fix_b;
    if (n < 1 || a >= n || (a >= 0 && (b < 0 || b >= n || b == a)))
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "expert: %d nodes with the fixed edge %d-%d: expected nodes 0..n-1", (int)n, (int)a,
                        (int)b);
    /* Only read: the search copies what it needs. */
    invit_instance p = {
        .problem = INVIT_TSP, .metric = INVIT_EXACT, .n = n, .xy = (double *)(uintptr_t)q->xy};
    if (n <= INV_EXACT_MAX)
        inv_exact_order(&p, a, b, tour);
    else
        INV_CHECK(search(e, &p, q, tour, err));
    if (length) {
        *length = 0;
        for (int32_t i = 0; i < n; i++) *length += inv_edge(&p, tour[i], tour[i + 1 == n ? 0 : i + 1]);
    }
    return INVIT_OK;
}
