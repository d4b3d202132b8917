#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 18, CTRL_Z = 0x1a };

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

/* Makes what `from` .. `end` has just got look like any other text. */
static void tidy(const inv_text *t, char *from, char **end)
{
    for (char *c = from; t->returns && (c = memchr(c, '\r', (size_t)(*end - c)));) *c = '\n';
    while (t->words && t->eof && *end > t->buffer && (*end)[-1] == CTRL_Z) (*end)--;
}

void inv_text_refill(inv_text *t, size_t bytes)
{
    size_t kept = (size_t)(t->end - t->at);
    if (t->eof || kept >= bytes)
        return; /* a full buffer has no room to read into: that would look like the end */
    memmove(t->buffer, t->at, kept);
    char *fresh = t->buffer + kept, *end = fresh;
    do {
        size_t n = read_some(t, end, t->capacity - (size_t)(end - t->buffer));
        if (n == 0) t->eof = true;
        end += n;
    } while ((size_t)(end - t->buffer) < bytes && !t->eof);
    tidy(t, fresh, &end);
    t->at = t->buffer;
    t->end = end;
    *end = 0;
}

invit_status inv_text_widen(inv_text *t, size_t bytes, invit_error *err)
{
    size_t at = (size_t)(t->at - t->buffer), end = (size_t)(t->end - t->buffer);
    if (bytes <= t->capacity) return INVIT_OK;
    char *buffer = realloc(t->buffer, bytes + 1);
    if (!buffer) return inv_no_memory(err, bytes);
    t->buffer = buffer;
    t->capacity = bytes;
    t->at = buffer + at;
    t->end = buffer + end;
    return INVIT_OK;
}

invit_status inv_text_begin(inv_text *t, invit_error *err)
{
    inv_text_refill(t, INV_TEXT_LINE);
    size_t n = (size_t)(t->end - t->at);
    if (n >= 2 && (memcmp(t->at, "\xff\xfe", 2) == 0 || memcmp(t->at, "\xfe\xff", 2) == 0))
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: text in UTF-16: save it as UTF-8 (in a spreadsheet: CSV UTF-8)", t->name);
    const char *first = memchr(t->at, '\r', n);
    t->words = true;
    t->returns = first && first + 1 < t->end && !memchr(t->at, '\n', n);
    char *end = t->buffer + (t->end - t->buffer);
    tidy(t, t->buffer, &end);
    t->end = end;
    *end = 0;
    t->mark = t->end - t->at >= 3 && memcmp(t->at, "\xef\xbb\xbf", 3) == 0;
    if (t->mark) t->at += 3;
    return INVIT_OK;
}

int64_t inv_text_left(const inv_text *t)
{
    struct stat info;
    int64_t visible = t->end - t->at;
    if (t->fd < 0) return visible + (int64_t)t->memory_left;
    off_t read = lseek(t->fd, 0, SEEK_CUR);
    if (read < 0 || fstat(t->fd, &info) != 0 || !S_ISREG(info.st_mode)) return -1;
    return visible + (info.st_size > read ? info.st_size - read : 0);
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

/* The code points of Windows-1252 from 0x80 to 0x9f; the five it leaves open stay as they are. */
static const uint16_t windows_1252[32] = {0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                          0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d,   0x017d, 0x8f,
                                          0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                          0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178};

/* Appends what a byte of Windows-1252 means, as UTF-8, and returns the end. */
static char *put_byte(char *to, unsigned char byte)
{
    unsigned point = byte >= 0x80 && byte < 0xa0 ? windows_1252[byte - 0x80] : byte;
    if (point < 0x80) {
        *to++ = (char)point;
    } else if (point < 0x800) {
        *to++ = (char)(0xc0 | point >> 6);
        *to++ = (char)(0x80 | (point & 63));
    } else {
        *to++ = (char)(0xe0 | point >> 12);
        *to++ = (char)(0x80 | (point >> 6 & 63));
        *to++ = (char)(0x80 | (point & 63));
    }
    return to;
}

static bool is_utf8(const char *text, size_t n)
{
    size_t at = 0;
    for (int length; at < n; at += (size_t)length)
        if ((length = inv_utf8_length(text + at)) == 0) return false;
    return at == n;
}

char *inv_put_utf8(char *to, const char *text, size_t n)
{
    char *from = to;
    n = strnlen(text, n);
    if (is_utf8(text, n)) {
        memcpy(to, text, n);
        to += n;
    } else {
        for (size_t i = 0; i < n; i++) to = put_byte(to, (unsigned char)text[i]);
    }
    *to = 0;
    for (char *c = from; *c; c++)
        if (*c == '\n' || *c == '\t') *c = ' ';
    inv_tame(from);
    return to;
}

char *inv_utf8_copy(const char *text, size_t n)
{
    char *copy = malloc(3 * n + 1);
    if (copy) inv_put_utf8(copy, text, n);
    return copy;
}
