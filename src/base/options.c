#include "base/options.h"

#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------------------- */

bool inv_parse_number(const char *text, double *out)
{
    char *end;
    if (!*text || isspace((unsigned char)*text)) return false;
    double value = strtod(text, &end);
    if (*end || !isfinite(value)) return false;
    *out = value;
    return true;
}

bool inv_parse_integer(const char *text, int64_t *out)
{
    char *end;
    if (!*text || isspace((unsigned char)*text)) return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (!*end && !errno) {
        *out = value;
        return true;
    }
    double real; /* 1e6 */
    if (!inv_parse_number(text, &real) || real != floor(real) || fabs(real) > 9e15) return false;
    *out = (int64_t)real;
    return true;
}

static bool parse_uint64(const char *text, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end || errno) return false;
    *out = value;
    return true;
}

static bool parse_seconds(const char *text, double *out)
{
    static const struct {
        const char *suffix;
        double scale;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}};
    char *end;
    if (!*text || isspace((unsigned char)*text)) return false;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value)) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].suffix) == 0) {
            *out = value * units[i].scale;
            return true;
        }
    return false;
}

static bool parse_bool(const char *text, bool *out)
{
    static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no", "off", "0"};
    for (int i = 0; i < 4; i++)
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *out = strcmp(text, yes[i]) == 0;
            return true;
        }
    return false;
}

/* Position of the word in "a|b|c", or -1. */
static int parse_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    int position = 0;
    for (const char *at = choices;; position++) {
        size_t word = strcspn(at, "|");
        if (word == length && strncmp(at, text, length) == 0) return position;
        if (!at[word]) return -1;
        at += word + 1;
    }
}

static bool in_range(const inv_option *o, double value)
{
    return (o->min == 0 && o->max == 0) || (value >= o->min && value <= o->max);
}

static bool parse_whole(const inv_option *o, const char *text, void *value)
{
    int64_t whole;
    if (!inv_parse_integer(text, &whole) || !in_range(o, (double)whole)) return false;
    if (o->type == INV_OPTION_INT64) {
        *(int64_t *)value = whole;
        return true;
    }
    if (whole < INT_MIN || whole > INT_MAX) return false;
    *(int *)value = (int)whole;
    return true;
}

bool inv_option_parse(const inv_option *o, const char *text, void *value)
{
    double number;
    uint64_t natural;
    switch (o->type) {
    case INV_OPTION_INT:
    case INV_OPTION_INT64:
        return parse_whole(o, text, value);
    case INV_OPTION_UINT64:
        if (!parse_uint64(text, &natural) || !in_range(o, (double)natural)) return false;
        *(uint64_t *)value = natural;
        return true;
    case INV_OPTION_NUMBER:
    case INV_OPTION_SECONDS:
        if (!(o->type == INV_OPTION_NUMBER ? inv_parse_number : parse_seconds)(text, &number)) return false;
        if (!in_range(o, number)) return false;
        *(double *)value = number;
        return true;
    case INV_OPTION_BOOL:
        return parse_bool(text, value);
    case INV_OPTION_CHOICE: {
        int choice = parse_choice(o->choices, text);
        if (choice >= 0) *(int *)value = choice;
        return choice >= 0;
    }
    case INV_OPTION_TEXT:
        if (strlen(text) >= o->size) return false;
        memset(value, 0, o->size); /* structs of options are compared and saved whole */
        strcpy(value, text);
        return true;
    }
    return false;
}

/* ---- telling ------------------------------------------------------------------------------------------- */

const char *inv_number_text(double value, char text[32])
{
    text[inv_format_double(text, value)] = 0;
    return text;
}

const char *inv_option_expected(const inv_option *o, char *buffer, size_t size)
{
    static const char *const kind[] = {[INV_OPTION_INT] = "a whole number",
                                       [INV_OPTION_INT64] = "a whole number",
                                       [INV_OPTION_UINT64] = "a whole number >= 0",
                                       [INV_OPTION_NUMBER] = "a number",
                                       [INV_OPTION_SECONDS] = "a time such as 10, 10s, 500ms, 2m or 1h",
                                       [INV_OPTION_BOOL] = "true or false"};
    char low[32], high[32];
    if (o->type == INV_OPTION_CHOICE) {
        int at = snprintf(buffer, size, "one of ");
        for (const char *c = o->choices; *c && at + 3 < (int)size; c++)
            at += snprintf(buffer + at, size - (size_t)at, *c == '|' ? ", " : "%c", *c);
    } else if (o->type == INV_OPTION_TEXT) {
        snprintf(buffer, size, "at most %zu characters", o->size - 1);
    } else if (o->type != INV_OPTION_BOOL && (o->min != 0 || o->max != 0)) {
        snprintf(buffer, size, "%s from %s to %s", kind[o->type], inv_number_text(o->min, low),
                 inv_number_text(o->max, high));
    } else {
        snprintf(buffer, size, "%s", kind[o->type]);
    }
    return buffer;
}

const char *inv_option_text(const inv_option *o, const void *value, char *buffer, size_t size)
{
    switch (o->type) {
    case INV_OPTION_INT:
        snprintf(buffer, size, "%d", *(const int *)value);
        break;
    case INV_OPTION_INT64:
        snprintf(buffer, size, "%" PRId64, *(const int64_t *)value);
        break;
    case INV_OPTION_UINT64:
        snprintf(buffer, size, "%" PRIu64, *(const uint64_t *)value);
        break;
    case INV_OPTION_NUMBER:
    case INV_OPTION_SECONDS:
        snprintf(buffer, size, "%.15g", *(const double *)value);
        if (strtod(buffer, NULL) != *(const double *)value)
            snprintf(buffer, size, "%.17g", *(const double *)value);
        break;
    case INV_OPTION_BOOL:
        snprintf(buffer, size, "%s", *(const bool *)value ? "yes" : "no");
        break;
    case INV_OPTION_CHOICE: {
        const char *word = o->choices;
        for (int skip = *(const int *)value; skip > 0 && strchr(word, '|'); skip--)
            word = strchr(word, '|') + 1;
        snprintf(buffer, size, "%.*s", (int)strcspn(word, "|"), word);
        break;
    }
    case INV_OPTION_TEXT:
        snprintf(buffer, size, "%s", (const char *)value);
        break;
    }
    return buffer;
}

/* ---- configuration files ------------------------------------------------------------------------------- */

static char *trim(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1])) *--end = 0;
    return text;
}

bool inv_config_line(char *line, char **key, char **value)
{
    char *text = trim(line);
    *key = NULL;
    *value = NULL;
    if (!*text || *text == '#') return true;
    char *equals = strchr(text, '=');
    if (!equals) return false;
    *equals = 0;
    *key = trim(text);
    *value = trim(equals + 1);
    return true;
}
