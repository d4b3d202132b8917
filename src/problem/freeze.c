/* Beginnings of routes that are already driven: which node must come directly before which. Kept as one number per
 * node, so that searches and the checker look it up in constant time. */
#include "problem/freeze.h"

#include "problem/check.h"
#include "problem/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first of a beginning: behind the depot or, of a tour, behind itself. */
static bool is_first(const invit_instance *p, int32_t v, double before)
{
    return p->problem == INVIT_CVRP ? before == 0 : before == v;
}

/* Every chain must lead to a beginning: no rings, no two nodes behind the same one, one beginning for a tour. */
static invit_status check_chains(const invit_instance *p, const double *before, int32_t *behind,
                                 invit_error *err)
{
    char a[INV_NODE_TEXT], b[INV_NODE_TEXT], c[INV_NODE_TEXT];
    int32_t firsts = 0, depot = p->problem == INVIT_CVRP, reached = 0, frozen = 0;
    for (int32_t v = 0; v < p->n; v++) behind[v] = -1;
    for (int32_t v = 0; v < p->n; v++) {
        if (isnan(before[v])) continue;
        if (!(before[v] >= 0 && before[v] < p->n && before[v] == floor(before[v])) || v < depot)
            return inv_fail(err, INVIT_ERR_INPUT, "freeze: %s behind %g: expected nodes from %d to %d",
                            inv_node_text(p, v, a), before[v], depot, p->n - 1);
        frozen++;
        if (is_first(p, v, before[v])) {
            if (++firsts > 1 && !depot)
                return inv_fail(err, INVIT_ERR_INPUT, "freeze: a tour has one beginning, found two");
            continue;
        }
        int32_t u = (int32_t)before[v];
        if (behind[u] >= 0)
            return inv_fail(err, INVIT_ERR_INPUT, "freeze: %s and %s both come directly after %s",
                            inv_node_text(p, behind[u], a), inv_node_text(p, v, b), inv_node_text(p, u, c));
        behind[u] = v;
    }
    for (int32_t first = 0; first < p->n; first++)
        if (!isnan(before[first]) && is_first(p, first, before[first]))
            for (int32_t v = first; v >= 0; v = behind[v]) reached++;
    if (reached != frozen)
        return inv_fail(err, INVIT_ERR_INPUT, "freeze: a frozen stop is not on the way from the %s",
                        depot ? "depot" : "first node");
    return INVIT_OK;
}

invit_status inv_set_freeze(invit_instance *p, const double *before, invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_rules *r = NULL;
    size_t n = (size_t)p->n;
    double *own = NULL;
    int32_t *behind = malloc(n * sizeof *behind);
    bool any = false;
    for (size_t i = 0; i < n; i++) any = any || !isnan(before[i]);
    if (!behind) INV_TRY(inv_no_memory(err, n * sizeof *behind));
    INV_TRY(check_chains(p, before, behind, err));
    if (any || p->rules) INV_TRY(inv_instance_rules(p, &r, err));
    if (any) {
        own = malloc(n * sizeof *own);
        if (!own) INV_TRY(inv_no_memory(err, n * sizeof *own));
        memcpy(own, before, n * sizeof *own);
    }
    if (r) {
        free(r->freeze);
        r->freeze = own;
        own = NULL;
    }
done:
    free(own);
    free(behind);
    return status;
}

invit_status inv_freeze_routes(invit_instance *p, const invit_solution *s, invit_error *err)
{
    size_t n = (size_t)p->n;
    char node[INV_NODE_TEXT];
    invit_status status = inv_check_nodes(p, s, err);
    if (status != INVIT_OK) return status;
    double *before = malloc(n * sizeof *before);
    if (!before) return inv_no_memory(err, n * sizeof *before);
    for (size_t i = 0; i < n; i++) before[i] = NAN;
    for (int32_t r = 0; status == INVIT_OK && r < s->routes; r++)
        for (int32_t i = s->start[r]; status == INVIT_OK && i < s->start[r + 1]; i++) {
            int32_t v = s->nodes[i];
            if (!isnan(before[v]))
                status =
                    inv_fail(err, INVIT_ERR_INPUT, "freeze: %s is named twice", inv_node_text(p, v, node));
            int32_t first = p->problem == INVIT_CVRP ? 0 : v;
            before[v] = i > s->start[r] ? s->nodes[i - 1] : first;
        }
    if (status == INVIT_OK) status = inv_set_freeze(p, before, err);
    free(before);
    return status;
}

int32_t inv_frozen_routes(const invit_instance *p)
{
    int32_t count = 0;
    for (int32_t v = 0; p->rules && p->rules->freeze && v < p->n; v++)
        count += !isnan(p->rules->freeze[v]) && is_first(p, v, p->rules->freeze[v]);
    return count;
}

invit_status inv_with_frozen(const invit_instance *p, const invit_solution *given, invit_solution **out,
                             invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t n = (size_t)p->n;
    const double *freeze = p->rules ? p->rules->freeze : NULL;
    int32_t routes = given ? given->routes : 0, count = 0;
    int32_t *behind = malloc(n * sizeof *behind);
    bool *named = calloc(n, sizeof *named);
    *out = NULL;
    if (!behind || !named) INV_TRY(inv_no_memory(err, n * (sizeof *behind + sizeof *named)));
    if (given) INV_TRY(inv_check_nodes(p, given, err));
    for (int32_t v = 0; v < p->n; v++) behind[v] = -1;
    for (int32_t v = 0; freeze && v < p->n; v++)
        if (!isnan(freeze[v]) && !is_first(p, v, freeze[v])) behind[(int32_t)freeze[v]] = v;
    int32_t nodes = given ? given->start[given->routes] : 0;
    for (int32_t i = 0; i < nodes; i++) named[given->nodes[i]] = true;
    INV_TRY(inv_solution_alloc(routes + p->n, (int64_t)nodes + p->n, out, err));
    (*out)->start[0] = (*out)->routes = 0;
    for (int32_t r = 0; r < routes; r++) {
        /* the beginning of a tour that the given one lacks goes before it */
        if (p->problem == INVIT_TSP)
            for (int32_t v = 0; freeze && v < p->n; v++)
                if (!named[v] && freeze[v] == v)
                    for (int32_t u = v; u >= 0 && !named[u]; u = behind[u])
                        named[u] = true, (*out)->nodes[count++] = u;
        for (int32_t i = given->start[r]; i < given->start[r + 1]; i++) {
            (*out)->nodes[count++] = given->nodes[i];
            for (int32_t u = behind[given->nodes[i]]; u >= 0 && !named[u]; u = behind[u])
                named[u] = true, (*out)->nodes[count++] = u;
        }
        if (count > (*out)->start[(*out)->routes]) (*out)->start[++(*out)->routes] = count;
    }
    for (int32_t v = 0; freeze && v < p->n; v++) {
        if (named[v] || isnan(freeze[v]) || !is_first(p, v, freeze[v])) continue;
        for (int32_t u = v; u >= 0 && !named[u]; u = behind[u]) named[u] = true, (*out)->nodes[count++] = u;
        (*out)->start[++(*out)->routes] = count;
    }
done:
    free(behind);
    free(named);
    if (status != INVIT_OK) {
        invit_solution_destroy(*out);
        *out = NULL;
    }
    return status;
}

invit_status inv_check_frozen(const invit_instance *p, invit_error *err)
{
    const inv_rules *r = p->rules;
    invit_solution *driven = NULL;
    invit_check_result found;
    int32_t routes = inv_frozen_routes(p);
    if (routes == 0) return INVIT_OK;
    if (r->vehicles && routes > r->vehicles)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: %d frozen routes, more than the %d vehicles", p->name,
                        routes, r->vehicles);
    INV_CHECK(inv_with_frozen(p, NULL, &driven, err));
    invit_status status = inv_check_part(p, driven, &found, err);
    if (status == INVIT_OK && !found.feasible)
        status =
            inv_fail(err, INVIT_ERR_INPUT, "%s: what is frozen breaks a rule: %s", p->name, found.message);
    if (status == INVIT_OK && p->problem == INVIT_TSP) {
        int32_t *node = driven->nodes, last = driven->start[1] - 1;
        if (r->start >= 0 && node[0] != r->start)
            status = inv_fail(err, INVIT_ERR_INPUT, "%s: freeze begins at node %d, start_node is %d", p->name,
                              node[0], r->start);
        for (int32_t i = 0; status == INVIT_OK && r->end >= 0 && i <= last && last + 1 < p->n; i++)
            if (node[i] == r->end)
                status = inv_fail(err, INVIT_ERR_INPUT, "%s: end_node %d is frozen before the end", p->name,
                                  r->end);
    }
    invit_solution_destroy(driven);
    return status;
}
