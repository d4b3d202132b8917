/* JSON output, written as it comes: no tree for a tour of millions of nodes, numbers in the shortest form that reads back as the
 * same double, and seeds of all 64 bits, which Jansson's integers do not hold.
 *
 *     cli_json j = cli_json_to(stdout);
 *     cli_json_open(&j, NULL, '{');
 *     cli_json_string(&j, "name", "berlin52");
 *     cli_json_open(&j, "tour", '[');
 *     for (...) cli_json_int(&j, NULL, tour[i]);
 *     cli_json_close(&j);
 *     cli_json_close(&j);                          // the outermost close ends the line
 */
#ifndef INVIT_CLI_JSON_H
#define INVIT_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CLI_JSON_DEPTH 16

typedef struct cli_json {
    FILE *out;
    int depth;
    bool some[CLI_JSON_DEPTH];  /* a value was written at this depth */
    char close[CLI_JSON_DEPTH]; /* the bracket that ends it          */
} cli_json;

cli_json cli_json_to(FILE *out);
/* `key` is NULL inside arrays and at the top. `bracket` is '{' or '['. */
void cli_json_open(cli_json *j, const char *key, char bracket);
void cli_json_close(cli_json *j);
void cli_json_string(cli_json *j, const char *key, const char *value); /* NULL gives null     */
void cli_json_number(cli_json *j, const char *key, double value);      /* NaN, inf give null  */
void cli_json_uint(cli_json *j, const char *key, uint64_t value);
void cli_json_int(cli_json *j, const char *key, int64_t value);
void cli_json_bool(cli_json *j, const char *key, bool value);
void cli_json_null(cli_json *j, const char *key);

#endif
