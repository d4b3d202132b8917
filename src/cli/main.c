/* invit: one program, one file a subcommand. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const cli_command commands[] = {
    {NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
    for (const cli_command *c = commands; argc > 1 && c->name; c++)
        if (strcmp(argv[1], c->name) == 0) return c->run(argc - 1, argv + 1);
    fprintf(stderr, "usage: invit COMMAND ...\n");
    return 2;
}
