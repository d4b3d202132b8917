/* What a JSON text takes once it is read: a tree of Jansson's can be a hundred times as large as its text. */
#ifndef INVIT_BASE_JSON_SIZE_H
#define INVIT_BASE_JSON_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct inv_json_size {
    int64_t bytes;        /* of the tree, at most            */
    bool quoted, escaped; /* the next character is in a text */
} inv_json_size;

/* The next `length` characters. */
void inv_json_size_add(inv_json_size *s, const char *text, size_t length);

/* Of a whole text. */
int64_t inv_json_size_of(const char *text, size_t length);

#endif
