/* What a table says of each stop beyond what routes need, and how it writes: lists of stops give both back. */
#ifndef INVIT_PROBLEM_STOP_TABLE_H
#define INVIT_PROBLEM_STOP_TABLE_H

#include "base/error.h"
#include "base/outfile.h"

/* How a table is written. All zero: commas, decimal points, line feeds. */
typedef struct inv_dialect {
    char separator;     /* , ; tab |; 0: a comma                                           */
    bool decimal_comma; /* 47,42                                                           */
    bool mark;          /* a byte order mark; also where the names were not UTF-8, so that
                         * spreadsheets take what is written for what it is                */
    bool sep_line;      /* a line sep=; before the header                                  */
    char line_end[3];   /* "": a line feed                                                 */
} inv_dialect;

/* What a column is for: not kept, people (addresses, telephone numbers), rules (windows, service), demands. */
typedef enum inv_use { INV_UNUSED, INV_FOR_PEOPLE, INV_FOR_RULES, INV_FOR_DEMANDS } inv_use;

/* Columns that are kept as text. Cells stand one after the other, row by row, each with its NUL: the memory is that of the
 * columns' text in the file and 8 bytes per row. */
typedef struct inv_stop_table {
    inv_dialect dialect;
    int columns, column_room;
    char **name;  /* [columns]                                                          */
    inv_use *use; /* [columns]                                                          */
    char *cells;  /* NULL: no columns are kept                                          */
    size_t bytes, room;
    size_t *row; /* [rows] where in cells the first cell of a row is                   */
    int64_t rows, row_room;
} inv_stop_table;

invit_status inv_stop_table_create(inv_stop_table **out, invit_error *err);
void inv_stop_table_destroy(inv_stop_table *table);
/* A further column, before there are rows. */
invit_status inv_stop_table_add_column(inv_stop_table *table, const char *name, inv_use use,
                                       invit_error *err);
/* Leaves out the columns that are not used, before there are rows. */
void inv_stop_table_drop_unused(inv_stop_table *table);
/* A row begins; and its next cell. Whatever encoding it is in, it is kept as UTF-8. */
invit_status inv_stop_table_begin_row(inv_stop_table *table, invit_error *err);
invit_status inv_stop_table_add_cell(inv_stop_table *table, const char *text, invit_error *err);
/* The cells of a row one after the other: the first, and the one behind another. */
static inline const char *inv_stop_table_row(const inv_stop_table *table, int64_t row)
{
    return table->cells + table->row[row];
}
const char *inv_stop_table_next(const char *cell);

/* Is that text in UTF-8? */
bool inv_is_utf8(const char *text);

/* Fields as the dialect writes them: text, quoted where it must be and never a formula; a number; what separates; and
 * the end of the row. */
void inv_put_cell(inv_outfile *f, const inv_dialect *d, const char *text);
void inv_put_decimal(inv_outfile *f, const inv_dialect *d, double value);
void inv_put_separator(inv_outfile *f, const inv_dialect *d);
void inv_put_line_end(inv_outfile *f, const inv_dialect *d);

#endif
