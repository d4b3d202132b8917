#include "cli/rules.h"

#include "cli/cli.h"

#include <string.h>

invit_status cli_rules_apply(const cli_rules *r, invit_instance *p, invit_error *err)
{
    const struct {
        const char *name, *value;
    } all[] = {
        {"speed", r->speed},           {"vehicles", r->vehicles},        {"open", r->open ? "yes" : NULL},
        {"start_node", r->start_node}, {"end_node", r->end_node},        {"max_length", r->max_length},
        {"max_stops", r->max_stops},   {"max_duration", r->max_duration}};
    invit_status status = INVIT_OK;
    if (r->matrix) status = invit_instance_read_matrix(p, "distances", r->matrix, err);
    if (status == INVIT_OK && r->durations)
        status = invit_instance_read_matrix(p, "durations", r->durations, err);
    for (size_t i = 0; status == INVIT_OK && i < sizeof all / sizeof *all; i++)
        if (all[i].value) status = invit_instance_set(p, all[i].name, all[i].value, err);
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
