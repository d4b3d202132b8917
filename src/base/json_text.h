/* JSON as text, whole or not at all. */
#ifndef INVIT_BASE_JSON_TEXT_H
#define INVIT_BASE_JSON_TEXT_H

#include <jansson.h>

/* As json_dumps, which forgets that there was no memory for the name of a member, and gives a text without it.
 * NULL: no memory. Free it. */
char *inv_json_text(const json_t *json, size_t flags);

#endif
