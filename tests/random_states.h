/* Random weights, small instances and the states of random rollouts, for tests of the policy. */
#ifndef INVIT_TESTS_RANDOM_STATES_H
#define INVIT_TESTS_RANDOM_STATES_H

#include "base/rng.h"
#include "policy/policy.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>

/* ---- models and instances ------------------------------------------------------------------------------ */

typedef struct variant {
    const char *name;
    inv_config config;
} variant;

#define SMALL                                                                                                \
    .dim = 16, .ff = 32, .heads = 2, .state_layers = 2, .action_layers = 2, .decoder_layers = 3,             \
    .invariant = true
static const variant variants[] = {
    {"tsp 2v", {.problem = INVIT_TSP, SMALL, .action_k = 5, .state_views = 1, .state_k = {9}}},
    {"tsp 1v", {.problem = INVIT_TSP, SMALL, .action_k = 5}},
    {"tsp 4v", {.problem = INVIT_TSP, SMALL, .action_k = 3, .state_views = 3, .state_k = {5, 8, 20}}},
    {"tsp canonical",
     {.problem = INVIT_TSP, SMALL, .canonical_frame = true, .action_k = 5, .state_views = 1, .state_k = {9}}},
    {"cvrp canonical",
     {.problem = INVIT_CVRP,
      SMALL,
      .canonical_frame = true,
      .action_k = 4,
      .state_views = 2,
      .state_k = {7, 11}}},
    {"tsp global", {.problem = INVIT_TSP, SMALL, .action_k = 4, .state_views = 1, .state_k = {100000}}},
    {"cvrp 2v", {.problem = INVIT_CVRP, SMALL, .action_k = 5, .state_views = 1, .state_k = {9}}},
    {"cvrp 1v", {.problem = INVIT_CVRP, SMALL, .action_k = 5}},
    {"cvrp 3v", {.problem = INVIT_CVRP, SMALL, .action_k = 4, .state_views = 2, .state_k = {7, 11}}},
    /* widths that fill no vector, one head, other depths, k equal in two views */
    {"tsp odd",
     {.problem = INVIT_TSP,
      .dim = 21,
      .ff = 19,
      .heads = 3,
      .state_layers = 1,
      .action_layers = 3,
      .decoder_layers = 2,
      .action_k = 6,
      .state_views = 2,
      .state_k = {6, 17},
      .invariant = false}},
    {"cvrp odd",
     {.problem = INVIT_CVRP,
      .dim = 10,
      .ff = 70,
      .heads = 1,
      .state_layers = 3,
      .action_layers = 1,
      .decoder_layers = 1,
      .action_k = 18,
      .state_views = 1,
      .state_k = {35},
      .invariant = true}},
    {"cvrp wide",
     {.problem = INVIT_CVRP,
      .dim = 48,
      .ff = 100,
      .heads = 2,
      .state_layers = 2,
      .action_layers = 2,
      .decoder_layers = 4,
      .action_k = 5,
      .state_views = 1,
      .state_k = {12},
      .invariant = false}},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

typedef enum layout { RANDOM, DUPLICATES, ALL_EQUAL, COLLINEAR, LAYOUTS } layout;

static invit_instance *make_instance(invit_problem problem, int32_t n, layout how, uint64_t seed)
{
    inv_rng r;
    inv_rng_init(&r, seed, (uint64_t)how);
    double *xy = calloc(2 * (size_t)n, sizeof *xy);
    int64_t *demand = calloc((size_t)n, sizeof *demand);
    for (int32_t i = 0; i < n; i++) {
        double x = inv_rng_double(&r), y = inv_rng_double(&r);
        if (how == DUPLICATES) x = floor(3 * x) / 3, y = floor(3 * y) / 3;
        if (how == ALL_EQUAL) x = 0.25, y = 0.75;
        if (how == COLLINEAR) y = 0.5;
        xy[2 * i] = x, xy[2 * i + 1] = y;
        /* 0 (served, costs no load), 10 = capacity (a route of its own), and sums that fill a vehicle exactly
         */
        if (i > 0 && i % 7 == 5) demand[i] = 10;
        if (i > 0 && i % 7 != 3 && i % 7 != 5) demand[i] = 1 + (int64_t)inv_rng_below(&r, 5);
    }
    invit_instance *p = NULL;
    invit_status status = problem == INVIT_CVRP
                              ? invit_instance_create_cvrp(xy, demand, n, 10, INVIT_EXACT, &p, NULL)
                              : invit_instance_create_tsp(xy, n, INVIT_EXACT, &p, NULL);
    assert_int_equal(status, INVIT_OK);
    free(xy);
    free(demand);
    return p;
}

static struct invit_model *make_model(const inv_config *c, uint64_t seed)
{
    struct invit_model *m = NULL;
    invit_error err;
    if (inv_model_create(c, &m, &err) != INVIT_OK) fail_msg("%s", err.message);
    inv_model_randomise(m, seed);
    inv_rng r; /* norms away from 1 and 0, so that a swapped one is seen */
    inv_rng_init(&r, seed, 99);
    for (int32_t i = 0; i < m->tensors; i++)
        if (m->tensor[i].rank == 1)
            for (size_t j = 0; j < m->tensor[i].count; j++)
                m->param[m->tensor[i].offset + j] += (float)(0.3 * inv_rng_normal(&r));
    return m;
}

static double *doubles(const struct invit_model *m)
{
    double *param = calloc(m->params, sizeof *param);
    for (size_t i = 0; i < m->params; i++) param[i] = (double)m->param[i];
    return param;
}

/* ---- rollouts as lists of states ----------------------------------------------------------------------- */

typedef struct states {
    inv_state *s;
    int32_t *chosen; /* slot */
    int32_t count, room;
} states;

static void states_free(states *list)
{
    for (int32_t i = 0; i < list->count; i++) reference_state_free(&list->s[i]);
    free(list->s);
    free(list->chosen);
    *list = (states){0};
}

/* All decisions of one random rollout. */
static void random_rollout(const invit_instance *p, const inv_config *c, uint64_t seed, states *list)
{
    inv_rng r;
    inv_rng_init(&r, seed, 5);
    bool cvrp = p->problem == INVIT_CVRP, *visited = calloc((size_t)p->n, sizeof *visited);
    int32_t slots = inv_candidates(c), first = cvrp ? 0 : (int32_t)inv_rng_below(&r, (uint32_t)p->n),
            last = first;
    int32_t left = p->n - 1;
    int64_t load = p->capacity;
    visited[first] = true;
    while (left > 0) {
        if (list->count == list->room) {
            list->room = 2 * list->room + 16;
            list->s = realloc(list->s, (size_t)list->room * sizeof *list->s);
            list->chosen = realloc(list->chosen, (size_t)list->room * sizeof *list->chosen);
        }
        inv_state *s = &list->s[list->count];
        reference_state_init(s, p->n);
        reference_view(p, c, visited, last, first, load, s);
        int32_t n = s->action + (s->depot_open ? 1 : 0), pick;
        assert_true(n > 0);
        pick = (int32_t)inv_rng_below(&r, (uint32_t)n);
        bool depot = pick == s->action;
        list->chosen[list->count++] = depot ? slots - 1 : pick;
        last = depot ? 0 : s->node[pick];
        if (depot) {
            load = p->capacity;
        } else {
            visited[last] = true;
            left--;
            if (cvrp) load -= p->demand[last];
        }
    }
    free(visited);
}

#endif
