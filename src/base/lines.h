/* Lines of a text file, one after the other, with a bound: a device or a binary file without line ends does not fill the
 * memory. */
#ifndef INVIT_BASE_LINES_H
#define INVIT_BASE_LINES_H

#include "base/error.h"

#include <stdio.h>
#include <sys/types.h>

enum { INV_LINE_LIMIT = 1 << 20 };

/* Like getline, but gives up on a line of more than INV_LINE_LIMIT bytes. -1 at the end and on failure:
 * inv_lines_ended tells which. */
ssize_t inv_getline(char **line, size_t *room, FILE *f);

/* After inv_getline said -1: INVIT_OK at the end of the file, else what is wrong with line `number` of it. */
invit_status inv_lines_ended(FILE *f, const char *path, int64_t number, invit_error *err);

/* Closes a stream of open_memstream; true when *text holds all that was printed. A write that found no memory is not
 * reported by fclose alone. */
bool inv_memory_stream_close(FILE *f, char *const *text);

#endif
