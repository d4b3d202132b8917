/* What the subcommands share: errors, options, JSON, progress, cancelling. The command line uses invit.h and
 * the headers in this folder, nothing else of the library. */
#ifndef INVIT_CLI_CLI_H
#define INVIT_CLI_CLI_H

#include "invit_lab.h"
#include "base/json_writer.h"
#include "cli/options.h"
#include "cli/terminal.h"

/* Exit codes of every subcommand. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_INTERRUPTED = 130 };

/* Each prints "invit: message" on standard error and returns the exit code, so that a command can
 * `return cli_fail("...")`. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));      /* CLI_FAILED */
int cli_bad_usage(const char *format, ...) __attribute__((format(printf, 1, 2))); /* CLI_USAGE  */
/* Prints what may come from a file, or a name, on standard output: control characters become '?'. */
void cli_print_text(const char *text);
/* Whether that file can be written (NULL and "-": standard output), asked before hours of work; CLI_GO, or an
 * error said. A picture must end in .svg, .png or .pdf too. */
int cli_check_output(const char *path);
int cli_check_picture(const char *path);
bool cli_is_picture(const char *path);
/* Whether what is written there leaves an input alone, by whatever path it is named (either may be NULL).
 * `what` says what the input is: "the instance". CLI_GO, or an error said. */
int cli_check_differs(const char *output, const char *input, const char *what);
/* Writes a table to that file (NULL and "-": standard output); CLI_OK, or an error said. */
int cli_write_report(const invit_report *report, invit_table_format format, const char *path);
int cli_report(const invit_error *err);   /* CLI_FAILED, or CLI_INTERRUPTED for a cancelled call  */
int cli_stopped(void);                    /* CLI_INTERRUPTED, for a measurement that Ctrl-C cut short  */
bool cli_asks_for_help(const char *word); /* --help or -h */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The nearest of the `count` names to a mistyped word, or NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *names, int count);

#endif
