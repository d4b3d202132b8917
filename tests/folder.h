/* A folder of a test's own, gone when it is over. */
#ifndef INVIT_TESTS_FOLDER_H
#define INVIT_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/invit-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* The same, with the test working inside it. */
static inline int enter_folder(void **state)
{
    return make_folder(state) == 0 && chdir(folder) == 0 ? 0 : -1;
}

static inline int leave_folder(void **state)
{
    return chdir("/") == 0 && remove_folder(state) == 0 ? 0 : -1;
}

/* A path in it; good for the next 16 calls. */
static inline const char *in_folder(const char *name)
{
    static char path[16][256];
    static int turn;
    turn = (turn + 1) % 16;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

#endif
