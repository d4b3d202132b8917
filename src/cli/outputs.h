/* Where `invit solve -o` writes: any number of files, each in the format its name asks for, pictures and folders. */
#ifndef INVIT_CLI_OUTPUTS_H
#define INVIT_CLI_OUTPUTS_H

#include "cli/cli.h"

typedef struct cli_output {
    const char *path;
    enum { CLI_SOLUTION, CLI_PICTURE, CLI_FOLDER } kind;
    bool summary; /* --summary: one route per line, whatever the name */
    invit_solution_format format;
    invit_writer *writer; /* of a solution, once it is opened */
} cli_output;

typedef struct cli_outputs {
    int count;
    cli_output *item;
} cli_outputs;

/* The files of -o and the one of --summary (may be NULL). What must not or cannot be written is said here: CLI_GO, or an
 * exit code. `input` is the instance, `trace` the file of --trace (may be NULL). */
int cli_outputs_begin(cli_outputs *o, const cli_list *paths, const char *summary, const char *input,
                      const char *trace);
/* Chooses formats for the instance and opens the files, before it is solved. many: its file holds several. */
invit_status cli_outputs_open(cli_outputs *o, const invit_instance *p, bool many, invit_error *err);
invit_status cli_outputs_write(cli_outputs *o, const invit_instance *p, const invit_solution *solution,
                               const invit_solution_info *info, invit_error *err);
/* Puts the files in place, or, keep false, leaves nothing behind; CLI_OK, or an error said. */
int cli_outputs_end(cli_outputs *o, bool keep);
/* Is standard output one of them? */
bool cli_outputs_standard(const cli_outputs *o);
/* What there can be only one of, in words, or NULL. */
const char *cli_outputs_single(const cli_outputs *o);

#endif
