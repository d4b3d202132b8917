/* The terminal: a progress line that comes and goes, and Ctrl-C as a polite request. */
#ifndef INVIT_CLI_TERMINAL_H
#define INVIT_CLI_TERMINAL_H

#include "invit_lab.h"

typedef struct cli_progress {
    bool shown;      /* standard error is a terminal and the user did not say --quiet */
    bool on_screen;  /* a line is there to be erased                                  */
    double last;     /* when it was drawn                                             */
    char prefix[64]; /* what comes first on the line, for example the instance's name */
} cli_progress;

/* A control for the library's long calls: progress goes to one line on standard error (terminals only, a few
 * times a second), Ctrl-C, SIGTERM and SIGHUP raise its cancel flag. */
invit_control cli_control(cli_progress *progress, bool quiet);
/* A line of your own, throttled in the same way. */
void cli_progress_line(cli_progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Erases the line: before any other output, and at the end. */
void cli_progress_clear(cli_progress *progress);

/* The flag that Ctrl-C, SIGTERM and SIGHUP raise; the first call installs the handlers. A second Ctrl-C ends the
 * program. */
const volatile int *cli_cancel_flag(void);
bool cli_cancelled(void);

#endif
