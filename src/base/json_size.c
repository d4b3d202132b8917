#include "base/json_size.h"

/* At most what Jansson allocates for a character outside of strings: an object is a table of eight buckets, an array has eight
 * places, and every comma or colon may bring a value and, while the array grows, three places. Three bytes "{}," become 300. */
static int64_t bytes_for(char c)
{
    switch (c) {
    case '{':
        return 320;
    case '[':
        return 160;
    case '"':
        return 64;
    case ',':
    case ':':
        return 56;
    default:
        return 0;
    }
}

void inv_json_size_add(inv_json_size *s, const char *text, size_t length)
{
    s->bytes += (int64_t)length;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (s->escaped) {
            s->escaped = false;
        } else if (s->quoted) {
            s->escaped = c == '\\';
            s->quoted = c != '"';
        } else {
            s->quoted = c == '"';
            s->bytes += bytes_for(c);
        }
    }
}

int64_t inv_json_size_of(const char *text, size_t length)
{
    inv_json_size s = {0};
    inv_json_size_add(&s, text, length);
    return s.bytes;
}
