/* JSON written as it comes: no tree for a solution or an instance of millions of nodes (Jansson's takes 40 bytes per
 * number), numbers in the shortest form that reads back as the same double (Jansson's have 17 digits), and seeds of all 64
 * bits, which Jansson's integers do not hold. All JSON that is not a tree of Jansson's is written here, but for the frame
 * around a job's answer (serve/job.c), which is text already.
 *
 *     inv_json j = inv_json_to_file(stdout);
 *     inv_json_open(&j, NULL, '{');
 *     inv_json_string(&j, "name", "berlin52");
 *     inv_json_open(&j, "tour", '[');
 *     for (...) inv_json_int(&j, NULL, tour[i]);
 *     inv_json_close(&j);
 *     inv_json_close(&j);                          // the outermost close ends the line
 */
#ifndef INVIT_BASE_JSON_WRITER_H
#define INVIT_BASE_JSON_WRITER_H

#include "base/outfile.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef void (*inv_json_sink)(void *to, const char *bytes, size_t count);

typedef struct inv_json {
    inv_json_sink sink;
    void *to;
    const char *gap;      /* after a comma without a break, and after a colon: " ", or "" to be compact */
    const char *end;      /* after the outermost bracket: "\n", or "" where more follows                */
    const char *next_gap; /* before the next value or bracket, instead of that; NULL: none was asked for */
    int depth;            /* open brackets, at most 64                                                  */
    uint64_t some;        /* bit d: a value was written at depth d                                      */
    uint64_t lists;       /* bit d: the bracket at depth d is '['                                       */
} inv_json;

inv_json inv_json_to_file(FILE *out);
inv_json inv_json_to_outfile(inv_outfile *out); /* the outermost close does not end the line */

/* `key` is NULL inside arrays and at the top. `bracket` is '{' or '['. */
void inv_json_open(inv_json *j, const char *key, char bracket);
void inv_json_close(inv_json *j);
void inv_json_string(inv_json *j, const char *key, const char *value); /* NULL gives null     */
void inv_json_number(inv_json *j, const char *key, double value);      /* NaN, inf give null  */
void inv_json_uint(inv_json *j, const char *key, uint64_t value);
void inv_json_int(inv_json *j, const char *key, int64_t value);
void inv_json_bool(inv_json *j, const char *key, bool value);
void inv_json_literal(inv_json *j, const char *key, const char *text); /* a number as text, say */
void inv_json_null(inv_json *j, const char *key);
/* What stands before the next value or closing bracket, for people who look into the file: "\n  " begins a line. */
void inv_json_break(inv_json *j, const char *gap);

#endif
