/* How solutions are made: the options that solve and eval share. Put a cli_method into the values, with
 * cli_method_defaults() as its default. */
#ifndef INVIT_CLI_METHOD_H
#define INVIT_CLI_METHOD_H

#include "invit_lab.h"
#include "cli/options.h"

typedef struct cli_method {
    int construct, decode, beam, improve;
    double temperature;
    int64_t iterations;
} cli_method;

/* clang-format off */
#define CLI_METHOD(values, field)                                                                            \
    {.name = "construct", .letter = 'c', .type = CLI_CHOICE, .offset = offsetof(values, field.construct),    \
     .choices = "invit|nearest|greedy|space-filling|savings",                                                \
     .help = "how to begin (greedy: TSP only, savings: CVRP only)"},                                         \
    {.name = "decode", .type = CLI_CHOICE, .offset = offsetof(values, field.decode),                         \
     .choices = "greedy|sample|beam|auto",                                                                   \
     .help = "how the policy's probabilities become decisions; auto: greedy, but sampled where that would repeat itself"}, \
    {.name = "temperature", .type = CLI_DOUBLE, .offset = offsetof(values, field.temperature),               \
     .metavar = "T", .min = 1e-6, .max = 1e6, .help = "sample, at this temperature: above 1 bolder, below closer to greedy"}, \
    {.name = "beam", .type = CLI_INT, .offset = offsetof(values, field.beam), .metavar = "W", .min = 1,      \
     .max = 4096, .help = "beam search: partial solutions kept side by side"},                               \
    {.name = "improve", .type = CLI_CHOICE, .offset = offsetof(values, field.improve),                       \
     .choices = "search|neural|both", .help = "local search, parts rebuilt by the policy, or both in turn"}, \
    {.name = "iterations", .type = CLI_INT64, .offset = offsetof(values, field.iterations), .metavar = "N",  \
     .fallback = "no limit", .min = 0, .max = 1e18,                                                          \
     .help = "improvement steps; without --time and with the same --threads a run is reproducible"}
/* clang-format on */

cli_method cli_method_defaults(void);
/* --temperature alone means sampling, --beam alone beam search. */
void cli_method_fill(const cli_method *m, const cli_args *args, invit_solve_options *o);

#endif
