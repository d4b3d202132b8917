/* Tables of results: filled cell by cell, then written as aligned text, Markdown, CSV or JSON.
 *
 * Filling cannot fail in the caller's face: the first allocation that fails is remembered and reported by the
 * render call, so that code which builds a table reads like the table.
 */
#ifndef INVIT_LAB_EVAL_TABLES_H
#define INVIT_LAB_EVAL_TABLES_H

#include "invit_lab.h"
#include "base/error.h"

#include <stdio.h>

typedef struct inv_cell {
    char *text;    /* as shown to people; NULL: empty                                   */
    double number; /* the value itself, for CSV and JSON; NaN when the cell is a text   */
    bool is_number;
} inv_cell;

typedef struct inv_heading {
    char *name;
    bool right; /* numbers stand on the right, names on the left */
} inv_heading;

/* How a table is drawn: y over x, one line for each value of column `line`, one panel for each combination of
 * the other columns before x. */
typedef struct inv_table_drawing {
    int32_t x, y, line;
    const char *x_label, *y_label, *y_unit; /* literals; y_unit may be NULL */
    bool log_x;
} inv_table_drawing;

typedef struct inv_table {
    char *title;
    char *note; /* below the table: units, sources; NULL: none */
    int32_t columns, rows, cells, room;
    inv_heading *column;
    inv_cell *cell; /* [rows][columns], the last row perhaps incomplete */
    uint8_t *rule;  /* [rows + 1]: a line is drawn above row r */
    int32_t rules_room;
    bool failed; /* out of memory somewhere along the way */
    bool drawn;
    inv_table_drawing drawing;
} inv_table;

struct invit_report {
    int32_t tables, room;
    inv_table **table;
    char partial[128]; /* why it is not over all that was asked for; empty when it is */
    bool failed;
};

invit_status inv_report_create(struct invit_report **out, invit_error *err);
/* A new empty table at the end of the report; NULL when memory is out, which all functions below accept and
 * the render call reports. */
inv_table *inv_report_table(struct invit_report *r, const char *title);

/* Says with every table that the run was stopped, in the words of the error it ended with. */
void inv_report_partial(struct invit_report *r, const invit_error *why);

/* One field of a CSV line, in quotes where it must be, with an apostrophe where a spreadsheet would compute it. */
void inv_csv_field(FILE *f, const char *s);

void inv_table_column(inv_table *t, const char *name, bool right);
/* Begins the next row; missing cells of the row before stay empty. */
void inv_table_row(inv_table *t);
void inv_table_rule(inv_table *t); /* a line between the rows so far and the next one */
void inv_table_text(inv_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void inv_table_number(inv_table *t, double value, int decimals); /* NaN: shown as "-" */
void inv_table_seconds(inv_table *t, double seconds); /* shown as 3.2s, 4.1m, 2.5h, 1.4d; kept in seconds */
void inv_table_blank(inv_table *t);
void inv_table_chart(inv_table *t, inv_table_drawing drawing);
void inv_table_note(inv_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "3.2s", "4.1m", "2.5h", "1.4d" into buffer (16 bytes suffice). */
const char *inv_duration_text(double seconds, char *buffer, size_t size);

#endif
