#include "serve/plan.h"
#include "serve/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static invit_status refuse(invit_error *err, const char *format, long long number)
{
    err->code = INVIT_ERR_INPUT;
    snprintf(err->message, sizeof err->message, format, number);
    return INVIT_ERR_INPUT;
}

void plan_destroy(plan *p)
{
    invit_solution_destroy(p->start);
    invit_solution_destroy(p->locked);
    invit_instance_destroy(p->part);
    free(p->whole);
    *p = (plan){0};
}

/* Routes under construction, one after the other. */
typedef struct route_list {
    int32_t *node, *start, routes;
} route_list;

static bool allocate(route_list *l, int64_t nodes, size_t routes)
{
    l->node = malloc(((size_t)nodes + 1) * sizeof *l->node);
    l->start = calloc(routes + 1, sizeof *l->start);
    return l->node && l->start;
}

static void add_node(route_list *l, int32_t node)
{
    l->node[l->start[l->routes + 1]++] = node;
}

static void begin_route(route_list *l)
{
    l->start[l->routes + 1] = l->start[l->routes];
}

static void end_route(route_list *l)
{
    if (l->start[l->routes + 1] > l->start[l->routes]) l->routes++;
}

static invit_status make(const route_list *l, invit_solution **out, invit_error *err)
{
    return invit_solution_create(l->node, l->start, l->routes, out, err);
}

static void release(route_list *l)
{
    free(l->node);
    free(l->start);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static invit_status read_routes(const json_t *routes, int64_t nodes, invit_solution **out, invit_error *err)
{
    route_list l = {0};
    size_t r, i, count = json_array_size(routes);
    int64_t total = 0;
    const json_t *route, *node;
    if (!json_is_array(routes) || !count) return refuse(err, "\"start\" must be a list of routes", 0);
    json_array_foreach(routes, r, route) total += (int64_t)json_array_size(route);
    if (total > nodes) return refuse(err, "\"start\" has more than %lld nodes", nodes);
    invit_status status = allocate(&l, total, count) ? INVIT_OK : INVIT_ERR_MEMORY;
    for (r = 0; status == INVIT_OK && r < count; r++) {
        route = json_array_get(routes, r);
        if (!json_array_size(route))
            status = refuse(err, "\"start\"[%lld] must be a list of nodes", (long long)r);
        begin_route(&l);
        for (i = 0; status == INVIT_OK && i < json_array_size(route); i++) {
            node = json_array_get(route, i);
            if (!json_is_integer(node) || json_integer_value(node) < 0 || json_integer_value(node) >= nodes)
                status = refuse(err, "\"start\"[%lld]: nodes are whole numbers below the number of coords",
                                (long long)r);
            else
                add_node(&l, (int32_t)json_integer_value(node));
        }
        end_route(&l);
    }
    if (status == INVIT_OK) status = make(&l, out, err);
    release(&l);
    return status;
}

/* A list without the nodes that are gone; of matrices the columns too. */
static json_t *shorter(const json_t *list, const bool *gone, size_t nodes, bool matrix)
{
    json_t *kept = json_array();
    for (size_t i = 0; i < nodes; i++) {
        if (gone[i]) continue;
        json_t *item = json_array_get(list, i);
        if (matrix && json_array_size(item) == nodes)
            json_array_append_new(kept, shorter(item, gone, nodes, false));
        else
            json_array_append(kept, item);
    }
    return kept;
}

/* The members of an instance that have one value per node, without those of locked routes. */
static json_t *without(const json_t *instance, const bool *gone, size_t nodes)
{
    static const char *const lists[] = {"coords",       "demands",   "labels",   "service",
                                        "time_windows", "distances", "durations"};
    json_t *o = json_copy((json_t *)(uintptr_t)instance);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const json_t *list = json_object_get(instance, lists[k]);
        if (!json_is_array(list) || json_array_size(list) != nodes) continue;
        json_object_set_new(o, lists[k], shorter(list, gone, nodes, k >= 5));
    }
    json_object_del(o, "table"); /* for lists of the whole */
    return o;
}

static invit_status read_locks(const json_t *locked, int32_t routes, bool *lock, int32_t *count,
                               invit_error *err)
{
    size_t i;
    const json_t *index;
    json_array_foreach(locked, i, index)
    {
        if (!json_is_integer(index) || json_integer_value(index) < 0 || json_integer_value(index) >= routes)
            return refuse(err, "\"locked\"[%lld] must be the index of a route of \"start\"", (long long)i);
        *count += !lock[json_integer_value(index)];
        lock[json_integer_value(index)] = true;
    }
    return INVIT_OK;
}

/* Divides the start into what stays and what is solved on. */
static invit_status divide(const json_t *instance, const bool *lock, int32_t locks, int64_t nodes,
                           int64_t max_nodes, plan *p, invit_error *err)
{
    route_list stays = {0}, rest = {0};
    int32_t routes = invit_solution_routes(p->start), *part = malloc((size_t)nodes * sizeof *part), count;
    bool *gone = calloc((size_t)nodes, sizeof *gone);
    p->whole = malloc((size_t)nodes * sizeof *p->whole);
    invit_status status = INVIT_ERR_MEMORY;
    json_t *smaller = NULL;
    if (part && gone && p->whole && allocate(&stays, nodes, (size_t)routes) &&
        allocate(&rest, nodes, (size_t)routes)) {
        for (int32_t r = 0; r < routes; r++) {
            const int32_t *node = invit_solution_route(p->start, r, &count);
            for (int32_t i = 0; lock[r] && i < count; i++) gone[node[i]] = true;
        }
        gone[0] = false;
        for (int32_t i = 0, next = 0; i < nodes; i++)
            if (!gone[i]) {
                p->whole[next] = i;
                part[i] = next++;
            }
        for (int32_t r = 0; r < routes; r++) {
            const int32_t *node = invit_solution_route(p->start, r, &count);
            route_list *l = lock[r] ? &stays : &rest;
            begin_route(l);
            for (int32_t i = 0; i < count; i++)
                if (lock[r] || !gone[node[i]]) add_node(l, lock[r] ? node[i] : part[node[i]]);
            end_route(l);
        }
        smaller = without(instance, gone, (size_t)nodes);
        const json_t *vehicles = json_object_get(instance, "vehicles");
        if (json_is_integer(vehicles) && json_integer_value(vehicles) > locks)
            json_object_set_new(smaller, "vehicles", json_integer(json_integer_value(vehicles) - locks));
        status = wire_read_instance(smaller, max_nodes, &p->part, err);
        if (status == INVIT_OK) status = make(&stays, &p->locked, err);
        invit_solution *start = NULL;
        if (status == INVIT_OK) status = make(&rest, &start, err);
        if (status == INVIT_OK) {
            invit_solution_destroy(p->start);
            p->start = start;
        }
    }
    json_decref(smaller);
    release(&stays);
    release(&rest);
    free(part);
    free(gone);
    return status;
}

invit_status plan_read(const json_t *job, const invit_instance *instance, int64_t max_nodes, plan *out,
                       invit_error *err)
{
    const json_t *start = json_object_get(job, "start"), *locked = json_object_get(job, "locked");
    int64_t nodes = invit_instance_nodes(instance);
    *out = (plan){0};
    if (locked && !json_is_array(locked))
        return refuse(err, "\"locked\" must be a list of routes of \"start\"", 0);
    if (json_array_size(locked) && (!start || invit_instance_problem(instance) != INVIT_CVRP))
        return refuse(err, "\"locked\" is for routes of a CVRP, with \"start\"", 0);
    if (json_array_size(locked) && invit_instance_array(instance, "freeze"))
        return refuse(err, "\"locked\" and \"freeze\" do not go together: freeze the whole routes", 0);
    if (!start) return INVIT_OK;
    invit_status status = read_routes(start, nodes, &out->start, err);
    if (status == INVIT_OK && json_array_size(locked)) {
        int32_t locks = 0, routes = invit_solution_routes(out->start);
        bool *lock = calloc((size_t)routes, sizeof *lock);
        status = lock ? read_locks(locked, routes, lock, &locks, err) : INVIT_ERR_MEMORY;
        out->fixed = locks == routes;
        if (status == INVIT_OK && !out->fixed)
            status = divide(json_object_get(job, "instance"), lock, locks, nodes, max_nodes, out, err);
        free(lock);
    }
    if (status != INVIT_OK) plan_destroy(out);
    return status;
}

invit_status plan_merge(const plan *p, const invit_solution *s, invit_solution **out, invit_error *err)
{
    route_list all = {0};
    int32_t count, routes = invit_solution_routes(p->locked) + invit_solution_routes(s);
    int64_t total = 0;
    for (int32_t r = 0; r < routes; r++) {
        int32_t own = r - invit_solution_routes(p->locked);
        if (own < 0)
            invit_solution_route(p->locked, r, &count);
        else
            invit_solution_route(s, own, &count);
        total += count;
    }
    invit_status status = allocate(&all, total, (size_t)routes) ? INVIT_OK : INVIT_ERR_MEMORY;
    for (int32_t r = 0; status == INVIT_OK && r < routes; r++) {
        int32_t own = r - invit_solution_routes(p->locked);
        const int32_t *node =
            own < 0 ? invit_solution_route(p->locked, r, &count) : invit_solution_route(s, own, &count);
        begin_route(&all);
        for (int32_t i = 0; i < count; i++) add_node(&all, own < 0 ? node[i] : p->whole[node[i]]);
        end_route(&all);
    }
    if (status == INVIT_OK) status = make(&all, out, err);
    release(&all);
    return status;
}
