/* What the columns of a table mean, by the names people give them. */
#ifndef INVIT_PROBLEM_CSV_COLUMNS_H
#define INVIT_PROBLEM_CSV_COLUMNS_H

#include <stdbool.h>

typedef enum inv_column {
    INV_OTHER,
    INV_X,
    INV_Y,
    INV_LATITUDE,
    INV_LONGITUDE,
    INV_ID,
    INV_DEMAND,
    INV_CAPACITY,
    INV_SERVICE,
    INV_OPENS,
    INV_CLOSES,
    INV_VEHICLES,
    INV_MAX_LENGTH,
    INV_MAX_DURATION,
    INV_MAX_STOPS,
    INV_SPEED,
    INV_COLUMNS
} inv_column;

/* What a header names, and *own: by our own name for it, not by a synonym. *factor is what the column's numbers
 * are multiplied with (hours, kilometres). */
inv_column inv_column_of(const char *name, bool *own, double *factor);
/* Our own name of a column. */
const char *inv_column_name(inv_column column);
/* Does a name that is none of the above look like something that constrains routes? */
bool inv_looks_like_a_rule(const char *name);

#endif
