/* Square matrices of numbers as text: one row per line, separated by commas, semicolons, tabs or blanks, perhaps with
 * a line of names before them and a name before each row. */
#include "problem/read.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 16 };

typedef struct grid {
    double *value;
    size_t count, room;
    char *names; /* of the columns, each with its NUL */
    size_t name_bytes, columns;
    int64_t rows;
} grid;

static bool ends_cell(char c)
{
    return c == ',' || c == ';' || c == '\t' || c == '\n' || c == 0 || c == '\r';
}

/* The number of a line's cells and whether they are numbers, or empty, which the reader refuses by row and column; to the
 * end of what is visible at most. */
bool inv_is_matrix_row(const char *p, int *count)
{
    double v;
    char separator = 0;
    *count = 0;
    while (inv_is_blank(*p)) p++;
    if (*p == ',' || *p == ';') return false;
    for (;;) {
        p = inv_parse_double(p, &v);
        if (!p) return false;
        ++*count;
        const char *after = p;
        while (inv_is_blank(*p)) p++;
        if (*p == '\n' || *p == 0) return true;
        char here = after < p ? ' ' : 0;
        if (*p == ',' || *p == ';') here = *p++;
        if (!here || (separator && here != separator)) return false; /* "x,y x,y": pairs, not a row */
        separator = here;
        for (; inv_is_blank(*p) || (here != ' ' && *p == here); p++)
            *count += *p == here;               /* ",,": an empty one */
        if (*p == '\n' || *p == 0) return true; /* a separator at the end */
    }
}

static invit_status keep_number(grid *g, double v, invit_error *err)
{
    if (g->count == g->room) {
        g->room = g->room ? g->room + g->room / 2 : 1024;
        double *more = realloc(g->value, g->room * sizeof *more);
        if (!more) return inv_no_memory(err, g->room * sizeof *more);
        g->value = more;
    }
    g->value[g->count++] = v;
    return INVIT_OK;
}

/* A line of words: names of the columns. The corner over the names of the rows may be empty. */
static invit_status read_names(inv_text *t, grid *g, invit_error *err)
{
    const char *line;
    size_t n;
    INV_CHECK(inv_text_raw_line(t, &line, &n, err));
    g->names = malloc(3 * n + 2);
    if (!g->names) return inv_no_memory(err, 3 * n + 2);
    char separator = memchr(line, '\t', n) ? '\t' : ',';
    if (memchr(line, ';', n)) separator = ';';
    for (size_t from = 0; from <= n;) {
        size_t to = from;
        while (to < n && line[to] != separator) to++;
        size_t a = from, b = to;
        while (a < b && (inv_is_blank(line[a]) || line[a] == '"')) a++;
        while (b > a && (inv_is_blank(line[b - 1]) || line[b - 1] == '"')) b--;
        if (from > 0 || b > a) { /* not the empty corner */
            char *end = inv_put_utf8(g->names + g->name_bytes, line + a, b - a);
            g->name_bytes = (size_t)(end + 1 - g->names);
            g->columns++;
        }
        from = to + 1;
    }
    return INVIT_OK;
}

/* One row; what stands before the first number is the row's name. */
static invit_status read_row(inv_text *t, grid *g, invit_error *err)
{
    size_t before = g->count;
    double v;
    inv_text_ensure(t);
    const char *after = inv_parse_double(t->at, &v);
    if (!after || (!ends_cell(*after) && !inv_is_blank(*after))) {
        while (t->at < t->end && !ends_cell(*t->at)) t->at++;
        if (*t->at == ',' || *t->at == ';') t->at++;
    }
    while (inv_text_skip_blanks(t)) {
        after = inv_parse_double(t->at, &v);
        if (!after || (!ends_cell(*after) && !inv_is_blank(*after)) || !isfinite(v))
            return inv_text_expected(t, err, "a number (row %lld, column %zu of a matrix)",
                                     (long long)g->rows + 1, g->count - before + 1);
        t->at = after;
        INV_CHECK(keep_number(g, v, err));
        inv_text_skip_blanks(t);
        if (*t->at == ',' || *t->at == ';') t->at++;
    }
    size_t width = g->count - before;
    if (width == 0) return INVIT_OK;
    if (before > 0 && width != before / (size_t)g->rows)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                             "row %lld of a matrix: expected %zu numbers, as in the first row, found %zu",
                             (long long)g->rows + 1, before / (size_t)g->rows, width);
    if (width > LARGEST)
        return inv_text_fail(t, t->line, INVIT_ERR_UNSUPPORTED, err, "expected a matrix of at most %d nodes",
                             LARGEST);
    g->rows++;
    return INVIT_OK;
}

static invit_status read_grid(inv_text *t, grid *g, invit_error *err)
{
    int count;
    while (inv_text_skip_space(t) && *t->at == '#') inv_text_skip_line(t);
    inv_text_refill(t, INV_TEXT_LINE);
    if (!inv_is_matrix_row(t->at, &count)) {
        const char *p = t->at;
        double v;
        while (*p && !ends_cell(*p)) p++; /* a name before the numbers is no line of names */
        if (*p == ',' || *p == ';') p++;
        while (inv_is_blank(*p)) p++;
        const char *after = inv_parse_double(p, &v);
        if (!after || !(ends_cell(*after) || inv_is_blank(*after))) INV_CHECK(read_names(t, g, err));
    }
    while (inv_text_skip_space(t)) INV_CHECK(read_row(t, g, err));
    INV_CHECK(inv_text_status(t, err));
    size_t rows = (size_t)g->rows;
    if (rows == 0 || g->count != rows * rows)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                             "expected a square matrix, found %zu rows of %zu numbers", rows,
                             rows ? g->count / rows : 0);
    return INVIT_OK;
}

invit_status inv_read_matrix_text(inv_text *t, double **out, int64_t *n, invit_error *err)
{
    grid g = {0};
    invit_status status = read_grid(t, &g, err);
    free(g.names);
    if (status == INVIT_OK)
        *out = g.value, *n = g.rows;
    else
        free(g.value);
    return status;
}

invit_status inv_read_matrix(inv_text *t, inv_read_state *state, invit_instance **out, invit_error *err)
{
    *out = NULL;
    if (state->index > 0) return INVIT_OK;
    invit_status status = INVIT_OK;
    grid g = {0};
    const char **label = NULL;
    INV_TRY(read_grid(t, &g, err));
    INV_TRY(invit_instance_create_matrix(g.value, g.rows, out, err));
    if (g.columns == (size_t)g.rows) {
        label = malloc(g.columns * sizeof *label);
        if (!label) INV_TRY(inv_no_memory(err, g.columns * sizeof *label));
        const char *at = g.names;
        for (size_t i = 0; i < g.columns; i++, at += strlen(at) + 1) label[i] = at;
        INV_TRY(invit_instance_set_labels(*out, label, err));
    }
done:
    if (status != INVIT_OK) {
        invit_instance_destroy(*out);
        *out = NULL;
    }
    free(label);
    free(g.names);
    free(g.value);
    return status;
}
