/* Commands of the shell in which `invit` is the program under test, and what they said. */
#ifndef INVIT_TESTS_PROGRAM_H
#define INVIT_TESTS_PROGRAM_H

#include "shell.h"

#include <stdarg.h>
#include <string.h>

static char output[1 << 20]; /* of the last command, errors included */

/* Returns the exit code. */
static int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *format, ...)
{
    char tail[4096], command[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(tail, sizeof tail, format, args);
    va_end(args);
    snprintf(command, sizeof command, "exec 2>&1; invit() { '%s' \"$@\"; }; %s", TEST_BINARY, tail);
    return shell(command, output, sizeof output);
}

static inline void must(int code)
{
    if (code != 0) fail_msg("exit code %d: %s", code, output);
}

static inline void says(const char *text)
{
    if (!strstr(output, text)) fail_msg("'%s' does not say '%s'", output, text);
}

#endif
