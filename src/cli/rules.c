#include "cli/rules.h"

#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The beginnings in the file stay: what each of their nodes is directly behind. */
static invit_status freeze(const char *path, invit_instance *p, invit_error *err)
{
    invit_solution *s = NULL;
    int64_t n = invit_instance_nodes(p);
    bool cvrp = invit_instance_problem(p) == INVIT_CVRP;
    invit_status status = invit_solution_read(path, p, 0, &s, NULL, err);
    double *before = malloc((size_t)n * sizeof *before);
    if (status == INVIT_OK && !before) status = INVIT_ERR_MEMORY;
    for (int64_t i = 0; before && i < n; i++) before[i] = NAN;
    for (int32_t r = 0; status == INVIT_OK && r < invit_solution_routes(s); r++) {
        int32_t count;
        const int32_t *node = invit_solution_route(s, r, &count);
        if (count > 0) before[node[0]] = cvrp ? 0 : node[0];
        for (int32_t i = 1; i < count; i++) before[node[i]] = node[i - 1];
    }
    if (status == INVIT_OK) status = invit_instance_set_array(p, "freeze", before, n, err);
    free(before);
    invit_solution_destroy(s);
    return status;
}

/* A node's number in the file, as -o writes it, is what is given here; the library counts from 0. */
static invit_status set_node(const char *name, const char *text, invit_instance *p, invit_error *err)
{
    char number[32], *end;
    for (int64_t i = 0; i < invit_instance_nodes(p) && invit_instance_label(p, i); i++)
        if (strcmp(invit_instance_label(p, i), text) == 0) return invit_instance_set(p, name, text, err);
    long long id = strtoll(text, &end, 10), first = (long long)invit_instance_get(p, "first_id");
    if (end == text || *end) return invit_instance_set(p, name, text, err);
    if (id < first || id >= first + invit_instance_nodes(p)) {
        snprintf(err->message, sizeof err->message, "%s '%.40s': expected a node from %lld to %lld", name,
                 text, first, first + (long long)invit_instance_nodes(p) - 1);
        return err->code = INVIT_ERR_ARGUMENT;
    }
    snprintf(number, sizeof number, "%lld", id - first);
    return invit_instance_set(p, name, number, err);
}

invit_status cli_rules_apply(const cli_rules *r, invit_instance *p, invit_error *err)
{
    const struct {
        const char *name, *value;
    } all[] = {{"speed", r->speed},           {"vehicles", r->vehicles},   {"open", r->open ? "yes" : NULL},
               {"max_length", r->max_length}, {"max_stops", r->max_stops}, {"max_duration", r->max_duration}};
    invit_status status = INVIT_OK;
    if (r->matrix) status = invit_instance_read_matrix(p, "distances", r->matrix, err);
    if (status == INVIT_OK && r->durations)
        status = invit_instance_read_matrix(p, "durations", r->durations, err);
    for (size_t i = 0; status == INVIT_OK && i < sizeof all / sizeof *all; i++)
        if (all[i].value) status = invit_instance_set(p, all[i].name, all[i].value, err);
    if (status == INVIT_OK && r->start_node) status = set_node("start_node", r->start_node, p, err);
    if (status == INVIT_OK && r->end_node) status = set_node("end_node", r->end_node, p, err);
    if (status == INVIT_OK && r->freeze) status = freeze(r->freeze, p, err);
    return status;
}

void cli_say_notes(const char *path, const char *notes)
{
    while (*notes) {
        size_t n = strcspn(notes, "\n");
        cli_warn("%s: note: %.*s", path, (int)n, notes);
        notes += n + (notes[n] != 0);
    }
}
