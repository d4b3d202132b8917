#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 18 };

static invit_status start(inv_text *t, const char *name, size_t capacity, invit_error *err)
{
    t->line = 1;
    t->capacity = capacity;
    t->name = strdup(name);
    t->buffer = malloc(capacity + 1);
    if (!t->name || !t->buffer) {
        inv_text_close(t);
        return inv_no_memory(err, capacity);
    }
    t->at = t->end = t->buffer;
    t->buffer[0] = 0;
    return INVIT_OK;
}

invit_status inv_text_open(inv_text *t, const char *path, invit_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    struct stat info;
    *t = (inv_text){.fd = STDIN_FILENO};
    if (!standard) {
        t->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (t->fd < 0) {
            return inv_fail(err, INVIT_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
        }
        t->own_fd = true;
        if (fstat(t->fd, &info) == 0 && S_ISDIR(info.st_mode)) {
            inv_text_close(t);
            return inv_fail(err, INVIT_ERR_IO, "%s: is a directory, expected a file", path);
        }
    }
    return start(t, standard ? "standard input" : path, BUFFER, err);
}

invit_status inv_text_open_memory(inv_text *t, const void *data, size_t size, const char *name,
                                  invit_error *err)
{
    *t = (inv_text){.fd = -1, .memory = data, .memory_left = size};
    return start(t, name, size < BUFFER ? size : BUFFER,
                 err); /* small sources, as servers have them, stay small */
}

void inv_text_close(inv_text *t)
{
    if (t->own_fd && t->fd >= 0) close(t->fd);
    free(t->name);
    free(t->buffer);
    *t = (inv_text){.fd = -1, .eof = true};
}

static size_t read_some(inv_text *t, char *to, size_t room)
{
    if (t->chunk && room > t->chunk) room = t->chunk;
    if (t->fd < 0) {
        size_t n = t->memory_left < room ? t->memory_left : room;
        if (n > 0) memcpy(to, t->memory, n);
        t->memory += n;
        t->memory_left -= n;
        return n;
    }
    for (;;) {
        ssize_t n = read(t->fd, to, room);
        if (n >= 0) return (size_t)n;
        if (errno == EINTR) continue;
        t->failed = errno;
        return 0;
    }
}

void inv_text_refill(inv_text *t, size_t bytes)
{
    size_t kept = (size_t)(t->end - t->at);
    if (t->eof || kept >= bytes)
        return; /* a full buffer has no room to read into: that would look like the end */
    memmove(t->buffer, t->at, kept);
    do {
        size_t n = read_some(t, t->buffer + kept, t->capacity - kept);
        if (n == 0) t->eof = true;
        kept += n;
    } while (kept < bytes && !t->eof);
    t->at = t->buffer;
    t->end = t->buffer + kept;
    t->buffer[kept] = 0;
}

bool inv_text_skip_blanks(inv_text *t)
{
    do {
        while (inv_is_blank(*t->at)) t->at++;
        inv_text_ensure(t);
    } while (inv_is_blank(*t->at));
    return t->at < t->end && *t->at != '\n';
}

bool inv_text_skip_space(inv_text *t)
{
    while (!inv_text_skip_blanks(t)) {
        if (t->at >= t->end) return false;
        t->line++;
        t->at++;
    }
    return true;
}

void inv_text_skip_line(inv_text *t)
{
    for (;;) {
        const char *newline = memchr(t->at, '\n', (size_t)(t->end - t->at));
        if (newline) {
            t->line++;
            t->at = newline + 1;
            return;
        }
        t->at = t->end;
        if (inv_text_at_end(t)) return;
    }
}

invit_status inv_text_raw_line(inv_text *t, const char **line, size_t *length, invit_error *err)
{
    const char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
    if (!stop && !t->eof) {
        inv_text_refill(t, INV_TEXT_LINE);
        stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
    }
    if (!stop && !t->eof)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err, "expected lines of at most %d bytes",
                             INV_TEXT_LINE);
    if (!stop) stop = t->end;
    *line = t->at;
    *length = (size_t)(stop - t->at);
    t->line += stop < t->end;
    t->at = stop < t->end ? stop + 1 : stop;
    return INVIT_OK;
}

invit_status inv_text_line(inv_text *t, const char **line, size_t *length, invit_error *err)
{
    INV_CHECK(inv_text_raw_line(t, line, length, err));
    while (*length > 0 && inv_is_blank((*line)[*length - 1])) (*length)--;
    while (*length > 0 && inv_is_blank(**line)) {
        (*line)++;
        (*length)--;
    }
    return INVIT_OK;
}

invit_status inv_text_status(const inv_text *t, invit_error *err)
{
    if (!t->failed) return INVIT_OK;
    return inv_fail(err, INVIT_ERR_IO, "%s: cannot read: %s", t->name, strerror(t->failed));
}

static invit_status fail_at(const inv_text *t, int64_t line, invit_status code, invit_error *err,
                            const char *text)
{
    INV_CHECK(inv_text_status(t, err));
    return inv_fail(err, code, "%s:%lld: %s", t->name, (long long)line, text);
}

invit_status inv_text_fail(const inv_text *t, int64_t line, invit_status code, invit_error *err,
                           const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return fail_at(t, line, code, err, text);
}

/* The word at `at`, quoted and made printable, for messages. */
static void describe(inv_text *t, char *to, size_t room)
{
    inv_text_ensure(t);
    if (t->at >= t->end) {
        snprintf(to, room, "the end of the file");
        return;
    }
    if (*t->at == '\n' || *t->at == '\r') {
        snprintf(to, room, "the end of the line");
        return;
    }
    size_t n = 0;
    to[n++] = '\'';
    const char *p = t->at;
    for (; p < t->end && !inv_is_blank(*p) && *p != '\n' && n < 32; p++)
        to[n++] = *p >= 32 && *p < 127 ? *p : '?';
    snprintf(to + n, room - n, "%s'", n == 32 ? "..." : "");
}

invit_status inv_text_expected(inv_text *t, invit_error *err, const char *format, ...)
{
    char wanted[400], found[64], text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(wanted, sizeof wanted, format, args);
    va_end(args);
    describe(t, found, sizeof found);
    snprintf(text, sizeof text, "expected %s, found %s", wanted, found);
    return fail_at(t, t->line, INVIT_ERR_INPUT, err, text);
}

int inv_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    int length = s[0] < 0x80             ? 1
                 : (s[0] & 0xe0) == 0xc0 ? 2
                 : (s[0] & 0xf0) == 0xe0 ? 3
                 : (s[0] & 0xf8) == 0xf0 ? 4
                                         : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    bool overlong = (length == 2 && s[0] < 0xc2) || (length == 3 && s[0] == 0xe0 && s[1] < 0xa0) ||
                    (length == 4 && s[0] == 0xf0 && s[1] < 0x90);
    bool surrogate = length == 3 && s[0] == 0xed && s[1] >= 0xa0;
    bool beyond = length == 4 && (s[0] > 0xf4 || (s[0] == 0xf4 && s[1] >= 0x90));
    return overlong || surrogate || beyond ? 0 : length;
}
