/* What routes must keep, as options: those that solve and check share. Each is the attribute of the same name of
 * invit_instance_set, with hyphens for underscores. */
#ifndef INVIT_CLI_RULES_H
#define INVIT_CLI_RULES_H

#include "invit_lab.h"
#include "cli/options.h"

typedef struct cli_rules {
    const char *matrix, *durations, *vehicles, *start_node, *end_node, *max_length, *max_duration, *max_stops,
        *speed, *freeze;
    bool open;
} cli_rules;

/* clang-format off */
#define CLI_RULE(values, field, text, value, say)                                                            \
    {.name = text, .type = CLI_STRING, .offset = offsetof(values, field), .metavar = value, .fallback = "", .help = say}
#define CLI_RULES(values, field)                                                                             \
    {.name = "vehicles", .type = CLI_STRING, .offset = offsetof(values, field.vehicles), .metavar = "N|fewest", \
     .fallback = "any number", .group = "Routes",                                                            \
     .help = "at most N routes; fewest: fewer routes before shorter ones"},                                  \
    {.name = "open", .type = CLI_BOOL, .offset = offsetof(values, field.open),                               \
     .help = "routes end at their last stop; a TSP's tour becomes a path"},                                  \
    CLI_RULE(values, field.start_node, "start-node", "NODE", "TSP: a path from this node (its name, or its number in the file)"), \
    CLI_RULE(values, field.end_node, "end-node", "NODE", "TSP: a path to this node"),                        \
    CLI_RULE(values, field.max_length, "max-length", "LENGTH", "longest route; 50km where there are latitudes"), \
    CLI_RULE(values, field.max_duration, "max-duration", "TIME", "of a route: travel, waiting and service; 480, 8:00 or 8h"), \
    CLI_RULE(values, field.max_stops, "max-stops", "N", "most stops of a route"),                            \
    CLI_RULE(values, field.speed, "speed", "V", "distance per unit of time, for travel times; km/h where there are latitudes"), \
    CLI_RULE(values, field.matrix, "matrix", "FILE", "distances instead of the metric's: n rows of n numbers (.csv, .npy)"), \
    CLI_RULE(values, field.durations, "durations", "FILE", "travel times, likewise"),                        \
    CLI_RULE(values, field.freeze, "freeze", "FILE", "beginnings of routes that stay, as a solution (.sol, .tour, .csv)")
/* clang-format on */

/* Gives the instance the rules that were asked for. */
invit_status cli_rules_apply(const cli_rules *rules, invit_instance *instance, invit_error *err);
/* Says what the reader has to say about its input, each remark once. */
void cli_say_notes(const char *path, const char *notes);

#endif
