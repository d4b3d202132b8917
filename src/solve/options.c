/* The one table of what invit_solve can be told: the command line, --config, Python and the JSON API read it. */
#include "solve/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(inv_solve_options, field)
static const inv_option table[] = {
    {.name = "time",
     .letter = 't',
     .type = INV_OPTION_SECONDS,
     .offset = AT(seconds),
     .metavar = "SECONDS",
     .fallback = "by size: 2 s for 100 nodes, 7 s for 1,000, 52 s for 10,000, 300 s for a million",
     .min = 0,
     .max = 1e9,
     .help = "for everything, reading included; 0: construct only"},
    {.name = "rollouts",
     .letter = 'r',
     .type = INV_OPTION_INT,
     .offset = AT(rollouts),
     .metavar = "N",
     .fallback = "64 up to 200 nodes, 32 to 1,000, 16 to 5,000, 8 to 10,000, then fewer",
     .min = 1,
     .max = 1 << 20,
     .help = "solutions the policy constructs; the shortest is kept"},
    {.name = "construct",
     .letter = 'c',
     .type = INV_OPTION_CHOICE,
     .offset = AT(construct),
     .choices = "invit|nearest|greedy|space-filling|savings",
     .fallback = "invit",
     .help = "how to begin (greedy: TSP only, savings: CVRP only)"},
    {.name = "temperature",
     .type = INV_OPTION_NUMBER,
     .offset = AT(temperature),
     .metavar = "T",
     .min = 1e-6,
     .max = 1e6,
     .fallback = "1",
     .help = "sample, at this temperature: above 1 more at random, below closer to greedy"},
    {.name = "beam",
     .type = INV_OPTION_INT,
     .offset = AT(beam),
     .metavar = "W",
     .min = 1,
     .max = 4096,
     .fallback = "8",
     .help = "beam search: partial solutions kept side by side"},
    {.name = "decode",
     .type = INV_OPTION_CHOICE,
     .offset = AT(decode),
     .choices = "greedy|sample|beam|auto",
     .fallback = "auto",
     .help = "how the policy's probabilities become decisions; auto: greedy, but sampled where that would "
             "repeat itself"},
    {.name = "improve",
     .type = INV_OPTION_CHOICE,
     .offset = AT(improve),
     .choices = "search|neural|both",
     .fallback = "search",
     .help = "local search, reconstruction (parts rebuilt by the policy, after few rollouts unless "
             "--rollouts says "
             "how many), or both in turn"},
    {.name = "iterations",
     .type = INV_OPTION_INT64,
     .offset = AT(iterations),
     .metavar = "N",
     .fallback = "no limit",
     .min = 0,
     .max = 1e18,
     .help = "improvement steps (neural: parts rebuilt); without --time and with the same --threads a run is "
             "reproducible"},
    {.name = "target",
     .type = INV_OPTION_NUMBER,
     .offset = AT(target),
     .metavar = "LENGTH",
     .fallback = "none",
     .min = 0,
     .max = 1e300,
     .help = "stop when a solution is this short"},
    {.name = "stop-after",
     .type = INV_OPTION_SECONDS,
     .offset = AT(stop_after),
     .metavar = "SECONDS",
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .help = "stop when there was no better solution for so long; 0: never"},
    {.name = "seed",
     .letter = 's',
     .type = INV_OPTION_UINT64,
     .offset = AT(seed),
     .metavar = "S",
     .fallback = "1",
     .help = "seed of all random choices"},
    {.name = "threads",
     .letter = 'j',
     .type = INV_OPTION_INT,
     .offset = AT(threads),
     .metavar = "N",
     .fallback = "all cores",
     .min = 0,
     .max = 4096,
     .help = "threads to use"},
    {.name = "elapsed",
     .type = INV_OPTION_SECONDS,
     .offset = AT(elapsed),
     .metavar = "SECONDS",
     .min = 0,
     .max = 1e9,
     .fallback = "0",
     .help = "part of the time that is already spent when solving begins"},
};
enum { ROWS = (int)(sizeof table / sizeof *table) };

inv_solve_options inv_solve_defaults(void)
{
    return (inv_solve_options){.construct = INVIT_CONSTRUCT_INVIT,
                               .decode = INV_DECODE_AUTO,
                               .temperature = 1,
                               .beam = 8,
                               .seconds = -1,
                               .iterations = -1,
                               .improve = INV_IMPROVE_SEARCH,
                               .seed = 1};
}

/* Where the search has gained most of what it will: 20 ms per node while they are few, 5 ms for further ones, at most a
 * minute; but never less than reading and constructing a huge instance takes, with some time to improve it. */
double inv_default_seconds(int64_t n)
{
    double size = (double)n, few = fmax(1, 0.02 * size), many = fmin(2 + 0.005 * size, 60),
           huge = 3e-4 * size;
    return fmax(fmin(few, many), huge);
}

/* A temperature alone means sampling, a width alone beam search. */
static void choose_decoding(inv_solve_options *o, const char *name)
{
    if (o->decode != INV_DECODE_AUTO) return;
    if (strcmp(name, "temperature") == 0) o->decode = INV_DECODE_SAMPLE;
    if (strcmp(name, "beam") == 0) o->decode = INV_DECODE_BEAM;
}

invit_status inv_solve_set(inv_solve_options *o, const char *name, const char *value, invit_error *err)
{
    char expected[256];
    for (int i = 0; i < ROWS; i++) {
        if (strcmp(table[i].name, name) != 0) continue;
        if (inv_option_parse(&table[i], value, (char *)o + table[i].offset)) {
            choose_decoding(o, name);
            return INVIT_OK;
        }
        return inv_fail(err, INVIT_ERR_ARGUMENT, "%s: expected %s, got '%.200s'", name,
                        inv_option_expected(&table[i], expected, sizeof expected), value);
    }
    return inv_fail(err, INVIT_ERR_ARGUMENT, "there is no option '%.100s' for solving", name);
}

/* ---- the public handle --------------------------------------------------------------------------------- */

invit_options *invit_options_create(void)
{
    invit_options *options = calloc(1, sizeof *options);
    if (options) options->o = inv_solve_defaults();
    return options;
}

void invit_options_destroy(invit_options *options)
{
    free(options);
}

invit_status invit_options_set(invit_options *options, const char *name, const char *value, invit_error *err)
{
    return inv_solve_set(&options->o, name, value, err);
}

bool invit_options_row(const invit_options *options, int i, invit_option *row, size_t size)
{
    static const char *const types[] = {
        [INV_OPTION_INT] = "int",       [INV_OPTION_INT64] = "int",       [INV_OPTION_UINT64] = "uint64",
        [INV_OPTION_NUMBER] = "number", [INV_OPTION_SECONDS] = "seconds", [INV_OPTION_CHOICE] = "choice"};
    if (i < 0 || i >= ROWS) return false;
    const inv_option *o = &table[i];
    inv_solve_options values = options ? options->o : inv_solve_defaults();
    invit_option full = {.name = o->name,
                         .letter = o->letter,
                         .type = types[o->type],
                         .choices = o->choices,
                         .min = o->min,
                         .max = o->max,
                         .metavar = o->metavar,
                         .fallback = o->fallback,
                         .help = o->help};
    char text[64];
    const void *value = (const char *)&values + o->offset;
    /* a value that cannot be set stands for "by size" or "none" */
    char scratch[16];
    inv_option_text(o, value, text, sizeof text);
    if (inv_option_parse(o, text, scratch)) strcpy(full.value, text);
    memcpy(row, &full, size < sizeof full ? size : sizeof full);
    return true;
}

void invit_options_set_start(invit_options *options, const invit_solution *start)
{
    options->o.start = start;
}

void invit_options_set_control(invit_options *options, const invit_control *control)
{
    options->control = control ? *control : (invit_control){0};
    options->o.control = control ? &options->control : NULL;
}

void invit_options_set_better(invit_options *options, invit_better_fn fn, void *user, bool with_solution)
{
    options->o.better = fn;
    options->o.better_user = user;
    options->o.with_solution = with_solution;
}

void invit_options_set_step(invit_options *options, invit_step_fn fn, void *user)
{
    options->o.step = fn;
    options->o.step_user = user;
}
