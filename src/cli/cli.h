/* What the subcommands share. The command line uses invit.h and this, nothing else of the library. */
#ifndef INVIT_CLI_CLI_H
#define INVIT_CLI_CLI_H

#include "invit.h"

typedef struct cli_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} cli_command;

#endif
