/* JSON as text. Small things are trees of Jansson's and become text whole or not at all. Solutions and instances of
 * millions of nodes are written as they come (base/json_writer.h). */
#ifndef INVIT_BASE_JSON_TEXT_H
#define INVIT_BASE_JSON_TEXT_H

#include <jansson.h>

/* As json_dumps, which forgets that there was no memory for the name of a member, and gives a text without it.
 * NULL: no memory. Free it. */
char *inv_json_text(const json_t *json, size_t flags);

/* For those who write as they come: the character at *at as it stands between quotes, and *at moves past it. Returns its
 * length. What is not UTF-8 becomes U+FFFD. */
#define INV_JSON_PIECE 8
size_t inv_json_piece(const char **at, char piece[INV_JSON_PIECE]);

#endif
