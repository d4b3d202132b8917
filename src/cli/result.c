#include "cli/result.h"

#include "base/names.h"
#include "base/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* hh:mm where the instance's times were given so. */
static const char *time_text(const invit_instance *p, double time, char text[32])
{
    if (invit_instance_get(p, "clock") == 0) return inv_number_text(round(1e6 * time) / 1e6, text);
    long long minutes = llround(time);
    snprintf(text, 32, "%02lld:%02lld", minutes / 60, minutes % 60);
    return text;
}

static void json_time(inv_json *j, const char *key, const invit_instance *p, double time)
{
    char text[32];
    if (invit_instance_get(p, "clock") != 0)
        inv_json_string(j, key, time_text(p, time, text));
    else
        inv_json_number(j, key, round(1e6 * time) / 1e6);
}

/* When each vehicle is where, and what a route adds up to. */
static void json_schedule(inv_json *j, const invit_instance *p, const invit_solution *solution)
{
    invit_stop *stops = malloc(((size_t)invit_instance_nodes(p) + 2) * sizeof *stops);
    bool timed = invit_instance_get(p, "timed") != 0, cvrp = invit_instance_problem(p) == INVIT_CVRP;
    inv_json_open(j, "schedule", '[');
    for (int32_t r = 0; stops && r < invit_solution_routes(solution); r++) {
        int32_t count = invit_schedule(p, solution, r, stops);
        if (count == 0) continue;
        const invit_stop *first = &stops[0], *last = &stops[count - 1];
        inv_json_open(j, NULL, '{');
        inv_json_number(j, "length", last->distance);
        if (cvrp) inv_json_number(j, "load", last->load);
        if (timed) {
            json_time(j, "departure", p, first->departure);
            json_time(j, "arrival", p, last->arrival);
            json_time(j, "duration", p, last->departure - first->departure);
        }
        inv_json_open(j, "stops", '[');
        for (int32_t i = 0; i < count; i++) {
            inv_json_open(j, NULL, '{');
            inv_json_int(j, "node", stops[i].node);
            if (invit_instance_label(p, stops[i].node))
                inv_json_string(j, "id", invit_instance_label(p, stops[i].node));
            inv_json_number(j, "distance", stops[i].distance);
            if (cvrp) inv_json_number(j, "load", stops[i].load);
            if (timed) {
                json_time(j, "arrival", p, stops[i].arrival);
                json_time(j, "waiting", p, stops[i].waiting);
                json_time(j, "departure", p, stops[i].departure);
            }
            inv_json_close(j);
        }
        inv_json_close(j);
        inv_json_close(j);
    }
    inv_json_close(j);
    free(stops);
}

static double get(const invit_solution *solution, const char *name)
{
    return invit_solution_get(solution, name);
}

/* How much went between the ranks. */
static void json_ranks(inv_json *j, const invit_ranks *ranks)
{
    int32_t rounds;
    int64_t bytes = invit_ranks_bytes(ranks, &rounds);
    inv_json_open(j, "ranks", '{');
    inv_json_int(j, "count", invit_ranks_size(ranks));
    inv_json_int(j, "rounds", rounds);
    inv_json_int(j, "bytes", bytes);
    inv_json_close(j);
}

static void json_notes(inv_json *j, const char *notes)
{
    inv_json_open(j, "remarks", '[');
    while (*notes) {
        size_t n = strcspn(notes, "\n");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)n, notes);
        inv_json_string(j, NULL, line);
        notes += n + (notes[n] != 0);
    }
    inv_json_close(j);
}

/* Why the policy did not construct, where that depends on the instance; else NULL. */
static const char *not_asked(const invit_instance *p)
{
    bool matrix = invit_instance_array(p, "distances") != NULL;
    if (invit_instance_get(p, "policy") != 0) return NULL;
    if (invit_instance_array(p, "earliest")) return "not asked: time windows";
    if (invit_instance_array(p, "freeze")) return "not asked: frozen beginnings";
    if (invit_instance_get(p, "has_coords") == 0) return "not asked: no coordinates";
    if (invit_instance_problem(p) == INVIT_TSP && matrix) return "not asked: a matrix of distances";
    return "not asked: a path";
}

void cli_result_json(const cli_result *r)
{
    const invit_instance *p = r->instance;
    const invit_solution *solution = r->solution;
    bool tsp = invit_instance_problem(p) == INVIT_TSP;
    int64_t first = tsp ? (int64_t)invit_instance_get(p, "first_id") : 0;
    double best;
    inv_json j = inv_json_to_file(stdout);
    inv_json_open(&j, NULL, '{');
    inv_json_string(&j, "problem", inv_problem_name(invit_instance_problem(p)));
    inv_json_string(&j, "name", invit_instance_name(p));
    inv_json_int(&j, "nodes", invit_instance_nodes(p));
    inv_json_number(&j, "length", get(solution, "length"));
    inv_json_number(&j, "length_exact", get(solution, "length_exact"));
    if (invit_instance_best_known(p, &best)) inv_json_number(&j, "best_known", best);
    inv_json_open(&j, tsp ? "tour" : "routes", '[');
    for (int32_t i = 0; i < invit_solution_routes(solution); i++) {
        int32_t count;
        const int32_t *route = invit_solution_route(solution, i, &count);
        if (!tsp) inv_json_open(&j, NULL, '[');
        for (int32_t k = 0; k < count; k++) inv_json_int(&j, NULL, route[k] + first);
        if (!tsp) inv_json_close(&j);
    }
    inv_json_close(&j);
    if (invit_instance_get(p, "plain") == 0) json_schedule(&j, p, solution);
    json_notes(&j, r->notes);
    inv_json_string(&j, "construct", inv_construct_name((invit_construct)get(solution, "construct")));
    if (not_asked(p)) inv_json_string(&j, "policy", not_asked(p));
    inv_json_number(&j, "constructed", get(solution, "constructed"));
    inv_json_int(&j, "rollouts", (int64_t)get(solution, "rollouts"));
    inv_json_int(&j, "decisions", (int64_t)get(solution, "decisions"));
    inv_json_int(&j, "iterations", (int64_t)get(solution, "iterations"));
    inv_json_open(&j, "seconds", '{');
    inv_json_number(&j, "read", r->read);
    inv_json_number(&j, "construct", get(solution, "seconds_construct"));
    inv_json_number(&j, "improve", get(solution, "seconds_improve"));
    inv_json_number(&j, "total", r->total);
    inv_json_close(&j);
    inv_json_string(&j, "model", r->model);
    inv_json_uint(&j, "seed", r->seed);
    inv_json_bool(&j, "stopped", r->stopped);
    if (invit_ranks_size(r->ranks) > 1) json_ranks(&j, r->ranks);
    inv_json_close(&j);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

const char *cli_length_text(const invit_instance *p, double length, char text[CLI_LENGTH_TEXT])
{
    invit_metric metric = invit_instance_metric(p);
    if (metric != INVIT_HAVERSINE) return inv_number_text(length, text);
    snprintf(text, CLI_LENGTH_TEXT, length < 1000 ? "%.3f km" : "%.1f km", length / 1000);
    return text;
}

static bool on_globe(const invit_instance *p)
{
    return invit_instance_metric(p) == INVIT_HAVERSINE;
}

/* What all routes add up to. */
typedef struct sums {
    double duration, load, capacity;
    int routes;
} sums;

static sums add_up(const invit_instance *p, const invit_solution *solution, invit_stop *stops)
{
    sums all = {0};
    double capacity = (double)invit_instance_capacity(p) / invit_instance_get(p, "demand_scale");
    for (int32_t r = 0; r < invit_solution_routes(solution); r++) {
        int32_t count = invit_schedule(p, solution, r, stops);
        if (count == 0) continue;
        all.duration += stops[count - 1].departure - stops[0].departure;
        all.load += stops[count - 1].load;
        all.capacity += capacity;
        all.routes++;
    }
    return all;
}

/* A line for each route, if they are few enough to be read. */
static void print_routes(const invit_instance *p, const invit_solution *solution, bool loaded,
                         invit_stop *stops)
{
    enum { MOST = 40 };
    int32_t number = 0;
    bool timed = invit_instance_get(p, "timed") != 0;
    double capacity = (double)invit_instance_capacity(p) / invit_instance_get(p, "demand_scale");
    for (int32_t r = 0; invit_solution_routes(solution) <= MOST && r < invit_solution_routes(solution); r++) {
        int32_t count = invit_schedule(p, solution, r, stops), visited;
        char from[32], to[32], way[CLI_LENGTH_TEXT], load[32], most[32];
        if (count == 0) continue;
        invit_solution_route(solution, r, &visited);
        printf("  route %d: ", ++number);
        if (timed)
            printf("leaves %s, %s %s, ", time_text(p, stops[0].departure, from),
                   invit_instance_get(p, "open") != 0 ? "ends" : "back",
                   time_text(p, stops[count - 1].departure, to));
        printf("%d stop%s, %s", visited, visited == 1 ? "" : "s",
               cli_length_text(p, stops[count - 1].distance, way));
        if (loaded)
            printf(", load %s of %s", inv_number_text(stops[count - 1].load, load),
                   inv_number_text(capacity, most));
        printf("\n");
    }
}

static void print_how(const cli_result *r)
{
    const invit_solution *solution = r->solution;
    double constructed = get(solution, "constructed"), steps = get(solution, "iterations");
    int rollouts = (int)get(solution, "rollouts");
    char number[CLI_LENGTH_TEXT];
    printf("  constructed (%s", inv_construct_name((invit_construct)get(solution, "construct")));
    if (rollouts > 0)
        printf(", %d rollouts, %lld decisions", rollouts, (long long)get(solution, "decisions"));
    if (not_asked(r->instance)) printf("; policy: %s", not_asked(r->instance));
    printf(") in %.2f s", get(solution, "seconds_construct"));
    if (steps > 0 || get(solution, "length") < constructed)
        printf(", improved from %s in %.2f s", cli_length_text(r->instance, constructed, number),
               get(solution, "seconds_improve"));
    if (steps > 0) printf(" (%lld steps)", (long long)steps);
    printf("\n");
}

/* "5 vans, 252.9 km, 24.6 hours; 40 stops, load 118.5 of 120 (99 %)" */
static bool print_plan(const cli_result *r, const sums *all)
{
    const invit_instance *p = r->instance;
    bool globe = on_globe(p), timed = invit_instance_get(p, "timed") != 0, loaded = all->load > 0;
    char way[CLI_LENGTH_TEXT], time[32], load[32], most[32];
    long long stops = (long long)invit_instance_nodes(p) - 1;
    const char *unit = globe ? "van" : "route";
    const char *plural = all->routes == 1 ? "" : "s";
    const char *name = globe ? "" : "length ";
    printf("%d %s%s, %s%s", all->routes, unit, plural, name,
           cli_length_text(p, get(r->solution, "length"), way));
    if (timed && (globe || invit_instance_get(p, "clock") != 0))
        printf(", %.1f hours", all->duration / 60);
    else if (timed)
        printf(", duration %s", inv_number_text(round(10 * all->duration) / 10, time));
    printf("; %lld stop%s", stops, stops == 1 ? "" : "s");
    if (loaded)
        printf(", load %s of %s (%.0f %%)", inv_number_text(all->load, load),
               inv_number_text(all->capacity, most), 100 * all->load / all->capacity);
    return loaded && (globe || timed);
}

void cli_result_text(const cli_result *r)
{
    const invit_instance *p = r->instance;
    double length = get(r->solution, "length"), exact = get(r->solution, "length_exact"), best;
    char number[CLI_LENGTH_TEXT];
    bool tsp = invit_instance_problem(p) == INVIT_TSP, loaded = false;
    bool listed = !tsp && (on_globe(p) || invit_instance_get(p, "timed") != 0);
    invit_stop *stops = malloc(((size_t)invit_instance_nodes(p) + 2) * sizeof *stops);
    printf("%s: ", invit_instance_name(p));
    if (tsp || !stops) {
        printf("%s%s; tour of %lld %s", on_globe(p) ? "" : "length ", cli_length_text(p, length, number),
               (long long)invit_instance_nodes(p), on_globe(p) ? "stops" : "nodes");
    } else {
        sums all = add_up(p, r->solution, stops);
        loaded = print_plan(r, &all);
    }
    if (length != exact) printf("; unrounded %.4f", exact);
    if (invit_instance_best_known(p, &best))
        printf("; %.2f %% above the best known", 100 * (length / best - 1));
    printf("; checked, %.1f s\n", r->total);
    if (r->verbose) print_how(r);
    if (listed && stops) print_routes(p, r->solution, loaded, stops);
    free(stops);
}
