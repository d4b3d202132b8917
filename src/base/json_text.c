#include "base/json_text.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct buffer {
    char *text;
    size_t length, room;
    bool failed; /* for good: what comes later is not taken either */
} buffer;

static int take(const char *bytes, size_t count, void *context)
{
    buffer *b = context;
    if (b->failed) return -1;
    if (count >= b->room - b->length) { /* one more for the end of the text */
        size_t room = 2 * b->room + count + 64;
        char *more = realloc(b->text, room);
        b->failed = !more;
        if (!more) return -1;
        b->text = more;
        b->room = room;
    }
    memcpy(b->text + b->length, bytes, count);
    b->length += count;
    return 0;
}

char *inv_json_text(const json_t *json, size_t flags)
{
    buffer b = {0};
    if (json_dump_callback(json, take, &b, flags) != 0 || b.failed || !b.text) {
        free(b.text);
        return NULL;
    }
    b.text[b.length] = 0;
    return b.text;
}

size_t inv_json_piece(const char **at, char piece[INV_JSON_PIECE])
{
    unsigned char c = (unsigned char)**at;
    int length = inv_utf8_length(*at);
    const char *from = *at;
    *at += length ? length : 1;
    if (c == '"' || c == '\\') return (size_t)snprintf(piece, INV_JSON_PIECE, "\\%c", c);
    if (c == '\n') return (size_t)snprintf(piece, INV_JSON_PIECE, "\\n");
    if (c == '\t') return (size_t)snprintf(piece, INV_JSON_PIECE, "\\t");
    if (c == 0xc2 && length == 2 && (unsigned char)from[1] < 0xa0) /* control characters of terminals */
        return (size_t)snprintf(piece, INV_JSON_PIECE, "\\u%04x", (unsigned char)from[1]);
    if (c < 0x20 || c == 0x7f) return (size_t)snprintf(piece, INV_JSON_PIECE, "\\u%04x", c);
    if (!length) return (size_t)snprintf(piece, INV_JSON_PIECE, "\\ufffd"); /* Latin-1, for example */
    memcpy(piece, from, (size_t)length);
    return (size_t)length;
}
