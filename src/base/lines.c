#include "base/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

ssize_t inv_getline(char **line, size_t *room, FILE *f)
{
    size_t used = 0;
    for (int c; (c = getc(f)) != EOF;) {
        if (used > INV_LINE_LIMIT) {
            errno = EOVERFLOW;
            return -1;
        }
        if (!*line || used + 2 > *room) {
            size_t more = *line && *room ? 2 * *room : 256;
            char *bigger = realloc(*line, more);
            if (!bigger) return -1; /* errno is ENOMEM */
            *line = bigger;
            *room = more;
        }
        (*line)[used++] = (char)c;
        (*line)[used] = 0;
        if (c == '\n') break;
    }
    return used ? (ssize_t)used : -1;
}

invit_status inv_lines_ended(FILE *f, const char *path, int64_t number, invit_error *err)
{
    int code = errno;
    if (ferror(f)) return inv_fail(err, INVIT_ERR_IO, "%s: cannot read: %s", path, strerror(code));
    if (feof(f)) return INVIT_OK;
    if (code == ENOMEM) return inv_no_memory(err, INV_LINE_LIMIT);
    return inv_fail(err, INVIT_ERR_INPUT, "%s:%lld: a line of more than %d bytes, expected a text file", path,
                    (long long)number, INV_LINE_LIMIT);
}

bool inv_memory_stream_close(FILE *f, char *const *text)
{
    bool failed = fflush(f) != 0 || ferror(f);
    return fclose(f) == 0 && !failed && *text;
}
