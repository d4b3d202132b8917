/* Running a command of the shell and keeping what it wrote. */
#ifndef INVIT_TESTS_SHELL_H
#define INVIT_TESTS_SHELL_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Returns the exit code, -1 when it did not end by itself. What goes beyond `room` is cut off. */
static inline int shell(const char *command, char *output, size_t room)
{
    FILE *pipe = popen(command, "r");
    if (!pipe) return -1;
    size_t length = fread(output, 1, room - 1, pipe);
    output[length] = 0;
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
