#include "cli/method.h"

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static int find_row(const char *name, invit_option *row)
{
    for (int i = 0; i < CLI_SOLVE_ROWS && invit_options_row(NULL, i, row, sizeof *row); i++)
        if (strcmp(row->name, name) == 0) return i;
    return -1;
}

static cli_type type_of(const char *type)
{
    return strcmp(type, "uint64") == 0    ? CLI_UINT64
           : strcmp(type, "int") == 0     ? CLI_INT64
           : strcmp(type, "number") == 0  ? CLI_DOUBLE
           : strcmp(type, "seconds") == 0 ? CLI_SECONDS
                                          : CLI_CHOICE;
}

void cli_solve_rows(cli_option *options)
{
    for (cli_option *o = options; o->name; o++) {
        invit_option row;
        int i = o->from_library ? find_row(o->name, &row) : -1;
        if (i < 0) continue;
        o->offset += offsetof(cli_solve, text) + (size_t)i * sizeof(const char *);
        o->letter = row.letter;
        o->type = type_of(row.type);
        o->choices = row.choices;
        o->min = row.min;
        o->max = row.max;
        o->metavar = row.metavar;
        o->fallback = o->fallback ? o->fallback : row.fallback;
        o->help = o->help ? o->help : row.help;
    }
}

const char *cli_solve_text(const cli_solve *s, const char *name)
{
    invit_option row;
    int i = find_row(name, &row);
    return i < 0 ? NULL : s->text[i];
}

invit_options *cli_solve_options(const cli_solve *s)
{
    invit_error err;
    invit_option row;
    invit_options *o = invit_options_create();
    if (!o) cli_fail("out of memory");
    for (int i = 0; o && i < CLI_SOLVE_ROWS && invit_options_row(NULL, i, &row, sizeof row); i++)
        if (s->text[i] && invit_options_set(o, row.name, s->text[i], &err) != INVIT_OK) {
            cli_bad_usage("%s", err.message);
            invit_options_destroy(o);
            o = NULL;
        }
    return o;
}

const char *cli_option_value(const invit_options *o, const char *name, char value[64])
{
    invit_option row;
    value[0] = 0;
    for (int i = 0; invit_options_row(o, i, &row, sizeof row); i++)
        if (strcmp(row.name, name) == 0) memcpy(value, row.value, sizeof row.value);
    return value;
}
