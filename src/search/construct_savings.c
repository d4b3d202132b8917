/* Parallel savings (Clarke, Wright 1964) over neighbour lists: O(n k log n). */
#include "search/neighbours.h"
#include "search/improve.h"

#include "problem/metric.h"

#include <math.h>
#include <stdlib.h>

#define NEIGHBOURS       32
#define NEIGHBOURS_LARGE 10 /* from LARGE nodes on, for memory: 16 bytes per pair, twice while sorting */
#define LARGE            200000
#define LOOK_AT_CLOCK    (1 << 16)

typedef struct saving {
    double value;
    int32_t a, b;
} saving;

static int by_value(const void *x, const void *y)
{
    const saving *s = x, *t = y;
    if (s->value != t->value) return s->value > t->value ? -1 : 1;
    if (s->a != t->a) return s->a < t->a ? -1 : 1;
    return (s->b > t->b) - (s->b < t->b);
}

/* A route is a chain; beside[v] are its neighbours in the chain, 0 where the depot is. The chain's two ends
 * know each other and the load. */
typedef struct chain {
    int32_t beside[2];
    int32_t other_end;
    int64_t load;
} chain;

static void join(chain *c, int32_t a, int32_t b)
{
    int32_t far_a = c[a].other_end, far_b = c[b].other_end;
    int64_t load = c[a].load + c[b].load;
    c[a].beside[c[a].beside[0] != 0] = b;
    c[b].beside[c[b].beside[0] != 0] = a;
    c[far_a].other_end = far_b;
    c[far_b].other_end = far_a;
    c[far_a].load = c[far_b].load = load;
}

static invit_status read_chains(const chain *c, int32_t n, invit_solution **out, invit_error *err)
{
    int32_t routes = 0, count = 0;
    for (int32_t v = 1; v < n; v++) /* each chain is counted at its lower end */
        if (!c[v].beside[1] && v <= c[v].other_end) routes++;
    INV_CHECK(inv_solution_alloc(routes, n - 1, out, err));
    routes = 0;
    for (int32_t v = 1; v < n; v++) {
        if (c[v].beside[1] || v > c[v].other_end) continue;
        for (int32_t at = v, from = 0; at != 0;) {
            (*out)->nodes[count++] = at;
            int32_t next = c[at].beside[0] != from ? c[at].beside[0] : c[at].beside[1];
            from = at;
            at = next;
        }
        (*out)->start[++routes] = count;
    }
    return INVIT_OK;
}

static invit_status given_up(invit_error *err)
{
    return inv_fail(err, INVIT_ERR_CANCELLED, "stopped while joining routes by their savings");
}

static invit_status savings(const invit_instance *p, const inv_neighbours *near, const inv_limits *limits,
                            invit_solution **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    int32_t n = p->n;
    size_t count = 0;
    saving *list = malloc(((size_t)n * (size_t)near->k + 1) * sizeof *list);
    chain *c = malloc((size_t)n * sizeof *c);
    double *home = malloc((size_t)n * sizeof *home);
    if (!list || !c || !home) INV_TRY(inv_no_memory(err, (size_t)n * (size_t)near->k * sizeof *list));
    for (int32_t v = 0; v < n; v++) {
        home[v] = inv_edge(p, 0, v);
        c[v] = (chain){.beside = {0, 0}, .other_end = v, .load = p->demand[v]};
    }
    for (int32_t a = 1; a < n; a++) {
        if (a % LOOK_AT_CLOCK == 1 && inv_limits_reached(limits)) INV_TRY(given_up(err));
        const int32_t *list_a = inv_neighbours_of(near, a);
        for (int32_t i = 0; i < near->k && list_a[i] >= 0; i++) {
            int32_t b = list_a[i];
            if (b == 0) continue;
            if (b < a) { /* the pair is taken once: from the lower end if that lists it */
                const int32_t *list_b = inv_neighbours_of(near, b);
                int32_t j = 0;
                while (j < near->k && list_b[j] >= 0 && list_b[j] != a) j++;
                if (j < near->k && list_b[j] == a) continue;
            }
            double value = home[a] + home[b] - inv_edge(p, a, b);
            int32_t low = a < b ? a : b;
            int32_t high = a < b ? b : a;
            if (value > 0) list[count++] = (saving){value, low, high};
        }
    }
    qsort(list, count, sizeof *list, by_value);
    if (inv_limits_reached(limits)) INV_TRY(given_up(err));
    for (size_t i = 0; i < count; i++) {
        int32_t a = list[i].a, b = list[i].b;
        if (c[a].beside[1] || c[b].beside[1] || c[a].other_end == b) continue;
        if (c[a].load + c[b].load <= p->capacity) join(c, a, b);
    }
    INV_TRY(read_chains(c, n, out, err));
done:
    free(list);
    free(c);
    free(home);
    return status;
}

invit_status inv_construct_savings(const invit_instance *p, const inv_limits *limits, invit_solution **out,
                                   invit_error *err)
{
    *out = NULL;
    if (p->problem != INVIT_CVRP)
        return inv_fail(err, INVIT_ERR_UNSUPPORTED, "savings are for CVRP instances");
    inv_neighbours near = {0};
    inv_neighbour_options o = {.k = p->n < LARGE ? NEIGHBOURS : NEIGHBOURS_LARGE,
                               .threads = 1,
                               .deadline = limits ? limits->deadline : INFINITY,
                               .cancel = limits ? limits->cancel : NULL};
    INV_CHECK(inv_neighbours_create(p, &o, &near, err));
    invit_status status = savings(p, &near, limits, out, err);
    inv_neighbours_destroy(&near);
    return status;
}
