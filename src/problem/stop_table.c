#include "problem/stop_table.h"

#include "base/formula.h"
#include "base/number.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

invit_status inv_stop_table_create(inv_stop_table **out, invit_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? INVIT_OK : inv_no_memory(err, sizeof **out);
}

void inv_stop_table_destroy(inv_stop_table *t)
{
    if (!t) return;
    for (int i = 0; i < t->columns; i++) free(t->name[i]);
    free(t->name);
    free(t->use);
    free(t->cells);
    free(t->row);
    free(t);
}

bool inv_is_utf8(const char *text)
{
    while (*text) {
        int n = inv_utf8_length(text);
        if (n == 0) return false;
        text += n;
    }
    return true;
}

invit_status inv_stop_table_add_column(inv_stop_table *t, const char *name, inv_use use, invit_error *err)
{
    if (t->columns == t->column_room) {
        int room = 2 * t->column_room + 8;
        char **names = realloc(t->name, (size_t)room * sizeof *names);
        if (names) t->name = names;
        inv_use *uses = realloc(t->use, (size_t)room * sizeof *uses);
        if (uses) t->use = uses;
        if (!names || !uses) return inv_no_memory(err, (size_t)room * sizeof *names);
        t->column_room = room;
    }
    t->name[t->columns] = inv_utf8_copy(name, strlen(name));
    if (!t->name[t->columns]) return inv_no_memory(err, 3 * strlen(name) + 1);
    t->use[t->columns++] = use;
    t->dialect.mark = t->dialect.mark || !inv_is_utf8(name);
    return INVIT_OK;
}

void inv_stop_table_drop_unused(inv_stop_table *t)
{
    int kept = 0;
    for (int i = 0; i < t->columns; i++) {
        if (t->use[i] == INV_UNUSED) {
            free(t->name[i]);
            continue;
        }
        t->name[kept] = t->name[i];
        t->use[kept++] = t->use[i];
    }
    t->columns = kept;
}

invit_status inv_stop_table_begin_row(inv_stop_table *t, invit_error *err)
{
    if (t->rows == t->row_room) {
        int64_t room = t->row_room + t->row_room / 2 + 256;
        size_t *more = realloc(t->row, (size_t)room * sizeof *more);
        if (!more) return inv_no_memory(err, (size_t)room * sizeof *more);
        t->row = more;
        t->row_room = room;
    }
    t->row[t->rows++] = t->bytes;
    return INVIT_OK;
}

invit_status inv_stop_table_add_cell(inv_stop_table *t, const char *text, invit_error *err)
{
    size_t n = strlen(text), most = 3 * n + 1;
    if (t->bytes + most > t->room) {
        size_t room = t->room + t->room / 2 + most + 4096;
        char *more = realloc(t->cells, room);
        if (!more) return inv_no_memory(err, room);
        t->cells = more;
        t->room = room;
    }
    t->dialect.mark = t->dialect.mark || !inv_is_utf8(text);
    t->bytes = (size_t)(inv_put_utf8(t->cells + t->bytes, text, n) + 1 - t->cells);
    return INVIT_OK;
}

const char *inv_stop_table_next(const char *cell)
{
    return cell + strlen(cell) + 1;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static char separator_of(const inv_dialect *d)
{
    return d->separator ? d->separator : ',';
}

void inv_put_cell(inv_outfile *f, const inv_dialect *d, const char *text)
{
    const char special[] = {separator_of(d), '"', '\r', '\n', '\t', ';', d->separator == ';' ? ';' : ',', 0};
    size_t n = strlen(text);
    bool quoted = strpbrk(text, special) || (n > 0 && (text[0] == ' ' || text[n - 1] == ' '));
    if (quoted) inv_outfile_puts(f, "\"");
    if (inv_is_formula(text)) inv_outfile_puts(f, "'");
    for (; *text; text++) {
        if (*text == '"') inv_outfile_puts(f, "\"");
        inv_outfile_write(f, text, 1);
    }
    if (quoted) inv_outfile_puts(f, "\"");
}

void inv_put_decimal(inv_outfile *f, const inv_dialect *d, double value)
{
    char text[INV_DOUBLE_CHARS + 1];
    size_t n = inv_format_double(text, value);
    char *point = memchr(text, '.', n);
    bool quoted = d->decimal_comma && point && separator_of(d) == ',';
    if (d->decimal_comma && point) *point = ',';
    if (quoted) inv_outfile_puts(f, "\"");
    inv_outfile_write(f, text, n);
    if (quoted) inv_outfile_puts(f, "\"");
}

void inv_put_separator(inv_outfile *f, const inv_dialect *d)
{
    char c = separator_of(d);
    inv_outfile_write(f, &c, 1);
}

void inv_put_line_end(inv_outfile *f, const inv_dialect *d)
{
    inv_outfile_puts(f, d->line_end[0] ? d->line_end : "\n");
}
