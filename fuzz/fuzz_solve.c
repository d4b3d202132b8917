/* Small problems with any rules: bytes choose points or matrices, demands, limits, time windows, frozen beginnings and a
 * solution to begin with. Each is solved, or refused with a reason; what is solved passes the checker, is as long as the
 * solver says, and can be scheduled. */
#include "invit.h"
#include "policy/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 14 };

typedef struct source {
    const uint8_t *at, *end;
} source;

static int pick(source *s, int count)
{
    return s->at < s->end ? *s->at++ % count : 0;
}

/* A number that is often 0 or equal to others, now and then large, small or a fraction. */
static double number(source *s)
{
    static const double odd[] = {0, 0.5, 1e-9, 1e15, 1e6, 1.0 / 3, 1e-3, 255};
    int b = pick(s, 256);
    return b < 248 ? b % 16 : odd[b - 248];
}

static invit_model *model_for(invit_problem problem)
{
    static invit_model *model[2];
    inv_config c;
    invit_model **m = &model[problem == INVIT_CVRP];
    if (*m) return *m;
    inv_config_defaults(&c, problem);
    c.dim = 4, c.ff = 4, c.heads = 1, c.action_k = 3, c.state_k[0] = 5;
    c.action_layers = c.state_layers = c.decoder_layers = 1;
    if (inv_model_create(&c, m, NULL) != INVIT_OK) abort();
    inv_model_randomise(*m, 1);
    return *m;
}

static void set(invit_instance *p, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    invit_instance_set(p, name, text, NULL);
}

/* What cannot be set is not: the instance stays as it was. */
static void set_rules(invit_instance *p, source *s, int n)
{
    static const char *const limits[] = {"max_length", "max_duration", "max_stops", "vehicles",
                                         "speed",      "start_node",   "end_node"},
                             *const lists[] = {"service", "time_windows", "freeze"};
    static const int per_node[] = {1, 2, 1};
    double value[2 * MOST], matrix[MOST * MOST];
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (pick(s, 4) == 1) set(p, limits[i], number(s) * (i < 2 ? 4 : 1));
    if (pick(s, 8) == 1) invit_instance_set(p, "vehicles", "fewest", NULL);
    if (pick(s, 4) == 1) invit_instance_set(p, "open", "yes", NULL);
    for (int k = 0; k < 3; k++) {
        if (pick(s, 3) != 1) continue;
        for (int i = 0; i < per_node[k] * n; i++) value[i] = pick(s, 3) ? NAN : number(s) + (i % 2 ? 20 : 0);
        if (k == 0)
            for (int i = 0; i < n; i++) value[i] = isnan(value[i]) ? 0 : value[i];
        if (k == 2)
            for (int i = 0; i < n; i++) value[i] = isnan(value[i]) ? NAN : fmod(value[i], n);
        invit_instance_set_array(p, lists[k], value, per_node[k] * n, NULL);
    }
    if (pick(s, 4) != 1) return;
    for (int i = 0; i < n * n; i++) matrix[i] = number(s);
    invit_instance_set_matrix(p, pick(s, 2) ? "distances" : "durations", matrix, n, NULL);
}

static invit_instance *make(source *s)
{
    double xy[2 * MOST], matrix[MOST * MOST];
    int64_t demand[MOST] = {0};
    invit_instance *p = NULL;
    int kind = pick(s, 3), n = 1 + pick(s, MOST), metric = pick(s, INVIT_DIMACS + 1);
    for (int i = 0; i < 2 * n; i++) xy[i] = number(s);
    if (kind == 0)
        invit_instance_create_tsp(xy, n, (invit_metric)metric, &p, NULL);
    else if (kind == 1) {
        for (int i = 1; i < n; i++) demand[i] = pick(s, 8);
        invit_instance_create_cvrp(xy, demand, n, 1 + pick(s, 24), (invit_metric)metric, &p, NULL);
    } else {
        for (int i = 0; i < n * n; i++) matrix[i] = number(s);
        invit_instance_create_matrix(matrix, n, &p, NULL);
    }
    if (p && pick(s, 4)) set_rules(p, s, n);
    return p;
}

/* Any nodes in any routes: also double, missing or too many. */
static invit_solution *make_start(source *s, int64_t n)
{
    int32_t node[2 * MOST], start[MOST + 1] = {0}, routes = 1 + pick(s, 4), count = 0;
    invit_solution *out = NULL;
    for (int32_t r = 0; r < routes; r++) {
        for (int i = pick(s, MOST / 2); i > 0; i--) node[count++] = (int32_t)pick(s, (int)n);
        start[r + 1] = count;
    }
    invit_solution_create(node, start, routes, &out, NULL);
    return out;
}

static void look_at(const invit_instance *p, const invit_solution *s)
{
    invit_check_result found;
    invit_stop stop[2 * MOST + 4];
    if (invit_check(p, s, &found, NULL) != INVIT_OK || !found.feasible) abort();
    double length = invit_solution_get(s, "length");
    if (!(fabs(found.length - length) <= 1e-9 * (1 + fabs(length)))) abort();
    for (int32_t r = 0; r < invit_solution_routes(s); r++)
        if (invit_schedule(p, s, r, stop) < 1) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const construct[] = {"nearest", "greedy", "space-filling", "savings", "invit"},
                             *const improve[] = {"search", "neural", "both"},
                             *const decode[] = {"greedy", "sample", "beam"},
                             *const iterations[] = {"0", "1", "5", "30", "100"};
    source s = {data, data + size};
    invit_error err = {.message = ""};
    invit_solution *start = NULL, *out = NULL;
    invit_instance *p = make(&s);
    if (!p) return 0;
    invit_options *o = invit_options_create();
    if (!o) abort();
    const char *const option[][2] = {{"construct", construct[pick(&s, 5)]},
                                     {"improve", improve[pick(&s, 3)]},
                                     {"decode", decode[pick(&s, 3)]},
                                     {"iterations", iterations[pick(&s, 5)]},
                                     {"rollouts", pick(&s, 2) ? "1" : "3"},
                                     {"beam", "2"},
                                     {"threads", "1"}};
    for (size_t i = 0; i < sizeof option / sizeof *option; i++)
        if (invit_options_set(o, option[i][0], option[i][1], NULL) != INVIT_OK) abort();
    if (pick(&s, 3) == 1) start = make_start(&s, invit_instance_nodes(p));
    invit_options_set_start(o, start);
    bool sound = invit_instance_validate(p, &err) == INVIT_OK;
    if (!sound && !err.message[0]) abort();
    err.message[0] = 0;
    invit_status status = invit_solve(p, model_for(invit_instance_problem(p)), o, &out, &err);
    if (status == INVIT_OK ? !out || !sound : out || !err.message[0]) abort();
    if (status == INVIT_ERR_INTERNAL || status == INVIT_ERR_MEMORY) abort();
    if (out) look_at(p, out);
    invit_solution_destroy(out);
    invit_solution_destroy(start);
    invit_options_destroy(o);
    invit_instance_destroy(p);
    return 0;
}
