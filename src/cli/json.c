#include "cli/json.h"

#include "base/json_text.h"
#include "base/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

cli_json cli_json_to(FILE *out)
{
    cli_json j;
    memset(&j, 0, sizeof j);
    j.out = out;
    return j;
}

static void put_string(FILE *out, const char *text)
{
    char piece[INV_JSON_PIECE];
    fputc('"', out);
    while (*text) fwrite(piece, 1, inv_json_piece(&text, piece), out);
    fputc('"', out);
}

static void begin_value(cli_json *j, const char *key)
{
    if (j->depth && j->some[j->depth - 1]) fputs(", ", j->out);
    if (j->depth) j->some[j->depth - 1] = true;
    if (key) {
        put_string(j->out, key);
        fputs(": ", j->out);
    }
}

void cli_json_open(cli_json *j, const char *key, char bracket)
{
    begin_value(j, key);
    fputc(bracket, j->out);
    if (j->depth == CLI_JSON_DEPTH) abort(); /* a bug in the command, not in its input */
    j->some[j->depth] = false;
    j->close[j->depth++] = bracket == '{' ? '}' : ']';
}

void cli_json_close(cli_json *j)
{
    fputc(j->close[--j->depth], j->out);
    if (j->depth == 0) fputc('\n', j->out);
}

void cli_json_string(cli_json *j, const char *key, const char *value)
{
    begin_value(j, key);
    if (value)
        put_string(j->out, value);
    else
        fputs("null", j->out);
}

void cli_json_number(cli_json *j, const char *key, double value)
{
    char buffer[32];
    begin_value(j, key);
    fputs(isfinite(value) ? inv_number_text(value, buffer) : "null", j->out);
}

void cli_json_int(cli_json *j, const char *key, int64_t value)
{
    begin_value(j, key);
    fprintf(j->out, "%" PRId64, value);
}

void cli_json_bool(cli_json *j, const char *key, bool value)
{
    begin_value(j, key);
    fputs(value ? "true" : "false", j->out);
}

void cli_json_null(cli_json *j, const char *key)
{
    begin_value(j, key);
    fputs("null", j->out);
}

void cli_json_uint(cli_json *j, const char *key, uint64_t value)
{
    begin_value(j, key);
    fprintf(j->out, "%llu", (unsigned long long)value);
}
