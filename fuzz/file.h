/* A file that is only in memory, for readers that take a name: a run costs two system calls and no disk. */
#ifndef INVIT_FUZZ_FILE_H
#define INVIT_FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The name of the file, which now holds these bytes. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[32];
    static int fd = -1;
    if (fd < 0) {
        fd = (int)syscall(SYS_memfd_create, "input", 0u);
        if (fd < 0) abort();
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (pwrite(fd, data, size, 0) != (ssize_t)size || ftruncate(fd, (off_t)size) != 0) abort();
    return path;
}

#endif
