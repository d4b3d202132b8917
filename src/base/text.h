/* Input as text: a file, a pipe, standard input or memory, read once from front to back through one buffer,
 * with the line number at hand for messages. Readers look at `at`..`end` directly; the byte at `end` is
 * always NUL. */
#ifndef INVIT_BASE_TEXT_H
#define INVIT_BASE_TEXT_H

#include "base/error.h"

enum {
    INV_TEXT_WINDOW = 1024,  /* inv_text_ensure makes this much visible: the longest number or word         */
    INV_TEXT_LINE = 1 << 16, /* inv_text_line makes at least this much visible: lines of words are shorter */
};

typedef struct inv_text {
    char *name; /* what messages call it                                    */
    int fd;     /* -1: memory                                               */
    bool own_fd;
    bool eof;           /* nothing more to come after `end`                         */
    bool words;         /* known to be text: a Ctrl-Z at its end does not count     */
    bool returns;       /* lines end in a carriage return alone, read as a line feed */
    bool mark;          /* a byte order mark was skipped                            */
    int failed;         /* errno of a read that failed                              */
    const char *memory; /* what is left of a memory source                          */
    size_t memory_left;
    int threads;  /* that may read numbers at the same time; below 2: one                         */
    size_t chunk; /* most bytes a read gives; 0: no limit. For tests of what happens at the seams */
    char *buffer;
    size_t capacity; /* of the buffer: nothing visible is longer                  */
    const char *at, *end;
    int64_t line; /* of the byte at `at`, from 1                              */
} inv_text;

/* "-" is standard input. inv_text_close works on whatever these leave behind. */
invit_status inv_text_open(inv_text *t, const char *path, invit_error *err);
invit_status inv_text_open_memory(inv_text *t, const void *data, size_t size, const char *name,
                                  invit_error *err);
void inv_text_close(inv_text *t);

/* Text as any system writes it, to be called before anything is read: skips a byte order mark, takes carriage
 * returns alone (old Macs) for line ends and does not count a Ctrl-Z at the end (DOS). Refuses UTF-16. */
invit_status inv_text_begin(inv_text *t, invit_error *err);
/* Bytes from `at` to the end of the source, -1 where that is not known (pipes). */
int64_t inv_text_left(const inv_text *t);

/* Shifts what is unread to the front and reads more, until `bytes` (at most INV_TEXT_LINE, or what inv_text_widen made
 * room for) are visible or the end. */
void inv_text_refill(inv_text *t, size_t bytes);

/* Makes the buffer that large, so that as much can be visible. */
invit_status inv_text_widen(inv_text *t, size_t bytes, invit_error *err);

static inline void inv_text_ensure(inv_text *t)
{
    if (t->end - t->at < INV_TEXT_WINDOW && !t->eof) inv_text_refill(t, INV_TEXT_WINDOW);
}

/* Is everything read? Looks for more input when nothing is visible. */
static inline bool inv_text_at_end(inv_text *t)
{
    if (t->at < t->end) return false;
    if (!t->eof) inv_text_refill(t, 1);
    return t->at >= t->end;
}

/* Skips blanks (and carriage returns) within the line; false at the end of the line or of the input. Leaves
 * at least INV_TEXT_WINDOW bytes visible, if there are as many. */
bool inv_text_skip_blanks(inv_text *t);
/* Skips blanks and line ends; false at the end of the input. */
bool inv_text_skip_space(inv_text *t);
/* Skips the rest of the line and its end. */
void inv_text_skip_line(inv_text *t);
/* Makes the rest of the line visible as *line, *length, without its end, and moves past it. Fails when it is
 * much longer than INV_TEXT_LINE. */
invit_status inv_text_raw_line(inv_text *t, const char **line, size_t *length, invit_error *err);
/* The same without the blanks around it. */
invit_status inv_text_line(inv_text *t, const char **line, size_t *length, invit_error *err);

/* Length of the valid UTF-8 sequence at s, 0 when there is none. */
int inv_utf8_length(const char *s);
/* Copies text of at most n bytes as UTF-8 into 3 n + 1 bytes at `to`, and returns where its NUL is. What is
 * not UTF-8 comes from an older program and is taken for Windows-1252. Control characters become blanks or
 * question marks. */
char *inv_put_utf8(char *to, const char *text, size_t n);
/* The same into memory of its own; NULL when there is none. */
char *inv_utf8_copy(const char *text, size_t n);

static inline bool inv_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* "NAME:LINE: expected <format>, found <what is at `at`>"; a read error takes precedence. */
invit_status inv_text_expected(inv_text *t, invit_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "NAME:LINE: <format>" for any line; a read error takes precedence. */
invit_status inv_text_fail(const inv_text *t, int64_t line, invit_status code, invit_error *err,
                           const char *format, ...) __attribute__((format(printf, 5, 6)));
/* INVIT_OK, or the read error that ended the input early. */
invit_status inv_text_status(const inv_text *t, invit_error *err);

#endif
