#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static invit_status read_open(FILE *f, const char *path, size_t most, char **bytes, size_t *size,
                              invit_error *err)
{
    struct stat st;
    if (fstat(fileno(f), &st) != 0)
        return inv_fail(err, INVIT_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return inv_fail(err, INVIT_ERR_INPUT, "%s is not a regular file", path);
    *size = (size_t)st.st_size;
    if (*size > most)
        return inv_fail(err, INVIT_ERR_INPUT, "%s has %zu bytes, expected at most %zu", path, *size, most);
    *bytes = malloc(*size + 1);
    if (!*bytes) return inv_no_memory(err, *size);
    if (fread(*bytes, 1, *size, f) != *size)
        return inv_fail(err, INVIT_ERR_IO, "cannot read %s: %s", path,
                        ferror(f) ? strerror(errno) : "it became shorter");
    (*bytes)[*size] = 0;
    return INVIT_OK;
}

invit_status inv_read_file(const char *path, size_t most, char **bytes, size_t *size, invit_error *err)
{
    *bytes = NULL;
    *size = 0;
    FILE *f = fopen(path, "rb");
    if (!f) return inv_fail(err, INVIT_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    invit_status status = read_open(f, path, most, bytes, size, err);
    fclose(f);
    if (status == INVIT_OK) return status;
    free(*bytes);
    *bytes = NULL;
    return status;
}
