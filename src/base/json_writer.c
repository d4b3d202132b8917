#include "base/json_writer.h"

#include "base/json_text.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

enum { INT_CHARS = 21, SHORT = 60 };

static void to_file(void *to, const char *bytes, size_t count)
{
    fwrite(bytes, 1, count, to);
}

static void to_outfile(void *to, const char *bytes, size_t count)
{
    inv_outfile_write(to, bytes, count);
}

inv_json inv_json_to_file(FILE *out)
{
    return (inv_json){.sink = to_file, .to = out, .gap = " ", .end = "\n"};
}

inv_json inv_json_to_outfile(inv_outfile *out)
{
    return (inv_json){.sink = to_outfile, .to = out, .gap = " ", .end = ""};
}

static void put(inv_json *j, const char *text)
{
    j->sink(j->to, text, strlen(text));
}

/* Characters at the beginning that stand between quotes as they are. */
static size_t plain(const char *text)
{
    size_t n = 0;
    while ((unsigned char)text[n] >= ' ' && (unsigned char)text[n] < 0x80 && text[n] != '"' &&
           text[n] != '\\')
        n++;
    return n;
}

/* Quotes and what fits of a text in one call of the sink: most texts are short and plain. */
static void put_string(inv_json *j, const char *text, const char *after)
{
    char all[SHORT + 4], piece[INV_JSON_PIECE];
    size_t n = plain(text), length = 0;
    if (!text[n] && n <= SHORT) {
        all[length++] = '"';
        for (size_t i = 0; i < n; i++) all[length++] = text[i];
        all[length++] = '"';
        for (; *after; after++) all[length++] = *after; /* at most ": " */
        j->sink(j->to, all, length);
        return;
    }
    put(j, "\"");
    while (*text) {
        n = plain(text);
        if (n > 0) j->sink(j->to, text, n);
        text += n;
        if (*text) j->sink(j->to, piece, inv_json_piece(&text, piece));
    }
    put(j, "\"");
    put(j, after);
}

static uint64_t bit(int depth)
{
    return (uint64_t)1 << (depth & 63);
}

static void begin_value(inv_json *j, const char *key)
{
    bool some = j->depth && (j->some & bit(j->depth)) != 0;
    const char *gap = some ? j->gap : "";
    if (j->next_gap) gap = j->next_gap;
    if (some) put(j, ",");
    if (*gap) put(j, gap);
    j->next_gap = NULL;
    j->some |= bit(j->depth);
    if (!key) return;
    put_string(j, key, *j->gap ? ": " : ":");
}

void inv_json_break(inv_json *j, const char *gap)
{
    j->next_gap = gap;
}

void inv_json_open(inv_json *j, const char *key, char bracket)
{
    begin_value(j, key);
    put(j, bracket == '[' ? "[" : "{");
    j->depth++;
    j->some &= ~bit(j->depth);
    j->lists = bracket == '[' ? j->lists | bit(j->depth) : j->lists & ~bit(j->depth);
}

void inv_json_close(inv_json *j)
{
    if (j->next_gap) put(j, j->next_gap);
    j->next_gap = NULL;
    put(j, j->lists & bit(j->depth) ? "]" : "}");
    if (--j->depth == 0) put(j, j->end);
}

void inv_json_string(inv_json *j, const char *key, const char *value)
{
    begin_value(j, key);
    if (value)
        put_string(j, value, "");
    else
        put(j, "null");
}

void inv_json_number(inv_json *j, const char *key, double value)
{
    char text[INV_DOUBLE_CHARS];
    begin_value(j, key);
    if (isfinite(value))
        j->sink(j->to, text, inv_format_double(text, value));
    else
        put(j, "null");
}

void inv_json_int(inv_json *j, const char *key, int64_t value)
{
    char text[INT_CHARS];
    begin_value(j, key);
    j->sink(j->to, text, inv_format_int(text, value));
}

void inv_json_uint(inv_json *j, const char *key, uint64_t value)
{
    char text[INT_CHARS];
    begin_value(j, key);
    j->sink(j->to, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)value));
}

void inv_json_bool(inv_json *j, const char *key, bool value)
{
    inv_json_literal(j, key, value ? "true" : "false");
}

void inv_json_literal(inv_json *j, const char *key, const char *text)
{
    begin_value(j, key);
    put(j, text);
}

void inv_json_null(inv_json *j, const char *key)
{
    inv_json_literal(j, key, "null");
}
