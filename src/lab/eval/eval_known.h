/* Best-known lengths from a file of the user's: a CSV with the columns instance and length. */
#ifndef INVIT_LAB_EVAL_EVAL_KNOWN_H
#define INVIT_LAB_EVAL_EVAL_KNOWN_H

#include "base/error.h"

typedef struct inv_known {
    char name[128];
    double length;
} inv_known;

typedef struct inv_known_list {
    inv_known *item;
    int32_t count;
} inv_known_list;

/* The first line may name the columns, further columns are ignored, blank lines and # comments skipped. A
 * line that is something else, or an instance that is there twice, is an error and leaves the list empty. */
invit_status inv_known_read(const char *path, inv_known_list *list, invit_error *err);
void inv_known_free(inv_known_list *list);
/* NULL when the list does not have it. */
const inv_known *inv_known_find(const inv_known_list *list, const char *name);

#endif
