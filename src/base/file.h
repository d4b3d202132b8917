/* A whole file in memory. */
#ifndef INVIT_BASE_FILE_H
#define INVIT_BASE_FILE_H

#include "base/error.h"

#include <stddef.h>

/* With a 0 behind the last byte; *bytes is to be freed. Only regular files: a device may be endless. Refuses more than `most` bytes
 * before it reads any. */
invit_status inv_read_file(const char *path, size_t most, char **bytes, size_t *size, invit_error *err);

#endif
