/* Jansson leaves out what it finds no memory for, without a word: a digit of a number it reads, a stop of a route it
 * writes. A program that wants to know lets its allocations be watched; the library does not, since another program may
 * use Jansson for itself. */
#ifndef INVIT_BASE_JSON_MEMORY_H
#define INVIT_BASE_JSON_MEMORY_H

#include <jansson.h>
#include <stdint.h>

/* Once, before any JSON is made. */
void inv_json_watch(void);
/* Allocations of Jansson's that have failed on this thread so far; 0 where nobody watches. */
int64_t inv_json_failures(void);

/* As json_loadb and json_load_file, and NULL where something may be missing for want of memory. `why` may be NULL. */
json_t *inv_json_load(const char *text, size_t length, size_t flags, json_error_t *why);
json_t *inv_json_load_file(const char *path, size_t flags, json_error_t *why);
/* What has been loaded since `failures`, or NULL likewise. */
json_t *inv_json_whole(json_t *loaded, int64_t failures, json_error_t *why);

#endif
