/* How solutions are made: the rows of the library's own table of options (invit_options_row), as flags of solve and eval.
 * Put a cli_solve into the values and CLI_SOLVE rows into the command's table; cli_solve_rows fills them in. */
#ifndef INVIT_CLI_METHOD_H
#define INVIT_CLI_METHOD_H

#include "invit_lab.h"
#include "cli/options.h"

enum { CLI_SOLVE_ROWS = 24 };

typedef struct cli_solve {
    const char *text[CLI_SOLVE_ROWS]; /* one per row of the library's table, NULL when not given */
} cli_solve;

/* A row that the library describes; `field` is the cli_solve of the values. */
#define CLI_SOLVE(values, field, option)                                                                     \
    {                                                                                                        \
        .name = option, .from_library = true, .offset = offsetof(values, field)                              \
    }

/* Fills the rows of that kind in a copy of a command's table. */
void cli_solve_rows(cli_option *options);
/* What was given for that option, or NULL. */
const char *cli_solve_text(const cli_solve *s, const char *name);
/* New options with everything that was given; NULL after a message when there is no memory or a value is refused. */
invit_options *cli_solve_options(const cli_solve *s);
/* The value of an option, by its name, as text. */
const char *cli_option_value(const invit_options *o, const char *name, char value[64]);

#endif
