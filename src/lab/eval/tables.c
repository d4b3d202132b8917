/* Tables of results and the four ways to write them. */
#include "lab/eval/tables.h"

#include "invit_lab.h"
#include "base/error.h"
#include "base/formula.h"
#include "base/json_text.h"
#include "base/lines.h"
#include "base/outfile.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- filling ------------------------------------------------------------------------------------ */

static char *format_text(const char *format, va_list args)
{
    char *text = NULL;
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n >= 0 && (text = malloc((size_t)n + 1))) vsnprintf(text, (size_t)n + 1, format, args);
    if (text) inv_tame(text);
    return text;
}

static bool grow(void **array, int32_t *room, int32_t need, size_t size)
{
    if (need <= *room) return true;
    int32_t next = *room < 16 ? 16 : 2 * *room;
    if (next < need) next = need;
    void *bigger = realloc(*array, (size_t)next * size);
    if (!bigger) return false;
    memset((char *)bigger + (size_t)*room * size, 0, (size_t)(next - *room) * size);
    *array = bigger;
    *room = next;
    return true;
}

static void table_destroy(inv_table *t)
{
    if (!t) return;
    for (int32_t i = 0; i < t->columns; i++) free(t->column[i].name);
    for (int32_t i = 0; i < t->cells; i++) free(t->cell[i].text);
    free(t->column);
    free(t->cell);
    free(t->rule);
    free(t->title);
    free(t->note);
    free(t);
}

invit_status inv_report_create(struct invit_report **out, invit_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? INVIT_OK : inv_no_memory(err, sizeof **out);
}

void invit_report_destroy(invit_report *r)
{
    if (!r) return;
    for (int32_t i = 0; i < r->tables; i++) table_destroy(r->table[i]);
    free(r->table);
    free(r);
}

inv_table *inv_report_table(struct invit_report *r, const char *title)
{
    inv_table *t = calloc(1, sizeof *t);
    if (t) t->title = strdup(title);
    if (!t || !t->title || !grow((void **)&r->table, &r->room, r->tables + 1, sizeof *r->table)) {
        table_destroy(t);
        r->failed = true;
        return NULL;
    }
    return r->table[r->tables++] = t;
}

void inv_report_partial(struct invit_report *r, const invit_error *why)
{
    snprintf(r->partial, sizeof r->partial, "%.100s", why ? why->message : "stopped");
}

void inv_table_column(inv_table *t, const char *name, bool right)
{
    if (!t) return;
    inv_heading *bigger = realloc(t->column, (size_t)(t->columns + 1) * sizeof *bigger);
    char *copy = strdup(name);
    if (bigger) t->column = bigger;
    if (!bigger || !copy) {
        free(copy);
        t->failed = true;
        return;
    }
    t->column[t->columns++] = (inv_heading){copy, right};
}

static void add_cell(inv_table *t, inv_cell c)
{
    if (t->failed ||
        t->cells >= t->rows * t->columns || /* the row is full: a bug in the caller, seen in tests */
        !grow((void **)&t->cell, &t->room, t->cells + 1, sizeof *t->cell)) {
        free(c.text);
        t->failed = true;
        return;
    }
    t->cell[t->cells++] = c;
}

static void fill_row(inv_table *t)
{
    while (!t->failed && t->cells < t->rows * t->columns) add_cell(t, (inv_cell){NULL, NAN, false});
}

void inv_table_row(inv_table *t)
{
    if (!t || t->failed) return;
    fill_row(t);
    if (!grow((void **)&t->rule, &t->rules_room, t->rows + 2, 1))
        t->failed = true;
    else
        t->rows++;
}

void inv_table_rule(inv_table *t)
{
    if (!t || t->failed) return;
    if (!grow((void **)&t->rule, &t->rules_room, t->rows + 2, 1))
        t->failed = true;
    else if (t->rows > 0)
        t->rule[t->rows] = 1;
}

void inv_table_text(inv_table *t, const char *format, ...)
{
    if (!t) return;
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    if (!text) t->failed = true;
    add_cell(t, (inv_cell){text, NAN, false});
}

void inv_table_number(inv_table *t, double value, int decimals)
{
    if (!t) return;
    char text[64] = "-";
    if (isfinite(value)) snprintf(text, sizeof text, "%.*f", decimals, value);
    char *copy = strdup(text);
    if (!copy) t->failed = true;
    add_cell(t, (inv_cell){copy, value, true});
}

const char *inv_duration_text(double s, char *buffer, size_t size)
{
    if (!isfinite(s))
        snprintf(buffer, size, "-");
    else if (s < 9.995)
        snprintf(buffer, size, "%.2fs", s);
    else if (s < 59.95)
        snprintf(buffer, size, "%.1fs", s);
    else if (s < 3597)
        snprintf(buffer, size, "%.1fm", s / 60);
    else if (s < 86220)
        snprintf(buffer, size, "%.1fh", s / 3600);
    else
        snprintf(buffer, size, "%.1fd", s / 86400);
    return buffer;
}

void inv_table_seconds(inv_table *t, double seconds)
{
    if (!t) return;
    char text[32];
    char *copy = strdup(inv_duration_text(seconds, text, sizeof text));
    if (!copy) t->failed = true;
    add_cell(t, (inv_cell){copy, seconds, true});
}

void inv_table_blank(inv_table *t)
{
    if (t) add_cell(t, (inv_cell){NULL, NAN, false});
}

void inv_table_chart(inv_table *t, inv_table_drawing drawing)
{
    if (!t) return;
    t->drawn = true;
    t->drawing = drawing;
}

void inv_table_note(inv_table *t, const char *format, ...)
{
    if (!t) return;
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    if (!text) t->failed = true;
    free(t->note);
    t->note = text;
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* Columns of a terminal that a text takes: bytes that begin a UTF-8 character. */
static int width_of(const char *s)
{
    int n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static const char *cell_text(const inv_table *t, int32_t r, int32_t c)
{
    const char *text = t->cell[(size_t)r * (size_t)t->columns + (size_t)c].text;
    return text ? text : "";
}

static void put_padded(FILE *f, const char *text, int width, bool right)
{
    int pad = width - width_of(text);
    if (right)
        fprintf(f, "%*s%s", pad, "", text);
    else
        fprintf(f, "%s%*s", text, pad, "");
}

static void widths(const inv_table *t, int *w)
{
    for (int32_t c = 0; c < t->columns; c++) {
        w[c] = width_of(t->column[c].name);
        for (int32_t r = 0; r < t->rows; r++) {
            int v = width_of(cell_text(t, r, c));
            if (v > w[c]) w[c] = v;
        }
    }
}

static void text_line(FILE *f, const inv_table *t, const int *w)
{
    for (int32_t c = 0; c < t->columns; c++) {
        if (c) fputs("--", f);
        for (int i = 0; i < w[c]; i++) fputc('-', f);
    }
    fputc('\n', f);
}

static void put_title(FILE *f, const struct invit_report *r, const inv_table *t)
{
    fputs(t->title, f);
    if (r->partial[0]) fprintf(f, " (partial: %s)", r->partial);
}

static void write_text(FILE *f, const struct invit_report *report, const inv_table *t, const int *w)
{
    put_title(f, report, t);
    fputc('\n', f);
    text_line(f, t, w);
    for (int32_t r = -1; r < t->rows; r++) {
        if (r == 0 || (r > 0 && t->rule[r])) text_line(f, t, w);
        for (int32_t c = 0; c < t->columns; c++) {
            if (c) fputs("  ", f);
            const char *s = r < 0 ? t->column[c].name : cell_text(t, r, c);
            /* no blanks at the end of a line */
            if (c == t->columns - 1 && !t->column[c].right)
                fputs(s, f);
            else
                put_padded(f, s, w[c], t->column[c].right);
        }
        fputc('\n', f);
    }
    text_line(f, t, w);
    if (t->note) fprintf(f, "%s\n", t->note);
}

/* A bar would end the cell. */
static void put_markdown(FILE *f, const char *s, int width, bool right)
{
    char *safe = strchr(s, '|') ? strdup(s) : NULL;
    for (char *c = safe ? strchr(safe, '|') : NULL; c; c = strchr(c, '|')) *c = '/';
    put_padded(f, safe ? safe : s, width, right);
    free(safe);
}

static void write_markdown(FILE *f, const struct invit_report *report, const inv_table *t, const int *w)
{
    fputs("**", f);
    put_title(f, report, t);
    fputs("**\n\n", f);
    for (int32_t r = -1; r < t->rows; r++) {
        fputc('|', f);
        for (int32_t c = 0; c < t->columns; c++) {
            fputc(' ', f);
            put_markdown(f, r < 0 ? t->column[c].name : cell_text(t, r, c), w[c], t->column[c].right);
            fputs(" |", f);
        }
        fputc('\n', f);
        if (r >= 0) continue;
        fputc('|', f);
        for (int32_t c = 0; c < t->columns; c++) {
            fputc(t->column[c].right ? '-' : ':', f);
            for (int i = 0; i < w[c]; i++) fputc('-', f);
            fputs(t->column[c].right ? ":|" : "-|", f);
        }
        fputc('\n', f);
    }
    if (t->note) fprintf(f, "\n%s\n", t->note);
}

void inv_csv_field(FILE *f, const char *s)
{
    const char *guard = inv_is_quoted_formula(s) ? "'" : "";
    if (!strpbrk(s, ",\"\r\n")) {
        fprintf(f, "%s%s", guard, s);
        return;
    }
    fprintf(f, "\"%s", guard);
    for (; *s; s++) {
        if (*s == '"') fputc('"', f);
        fputc(*s, f);
    }
    fputc('"', f);
}

/* A table alone has no title line, unless it has to say that it is partial. */
static void write_csv(FILE *f, const struct invit_report *report, const inv_table *t)
{
    if (report->tables > 1 || report->partial[0]) {
        fputs("# ", f);
        put_title(f, report, t);
        fputc('\n', f);
    }
    for (int32_t r = -1; r < t->rows; r++) {
        for (int32_t c = 0; c < t->columns; c++) {
            if (c) fputc(',', f);
            const inv_cell *x = r < 0 ? NULL : &t->cell[(size_t)r * (size_t)t->columns + (size_t)c];
            if (!x)
                inv_csv_field(f, t->column[c].name);
            else if (!x->is_number)
                inv_csv_field(f, x->text ? x->text : "");
            else if (isfinite(x->number))
                fprintf(f, "%.10g", x->number);
        }
        fputc('\n', f);
    }
}

static json_t *table_json(const struct invit_report *report, const inv_table *t)
{
    json_t *rows = json_array(), *all = json_object();
    int lost = 0;
    for (int32_t r = 0; r < t->rows; r++) {
        json_t *row = json_object();
        for (int32_t c = 0; c < t->columns; c++) {
            const inv_cell *x = &t->cell[(size_t)r * (size_t)t->columns + (size_t)c];
            json_t *v = NULL;
            if (x->is_number && isfinite(x->number)) v = json_real(x->number);
            if (!x->is_number && x->text) v = json_string(x->text);
            bool empty = x->is_number ? !isfinite(x->number) : !x->text;
            lost |= json_object_set_new(row, t->column[c].name, empty ? json_null() : v);
        }
        lost |= json_array_append_new(rows, row);
    }
    lost |= json_object_set_new(all, "title", json_string(t->title));
    if (report->partial[0]) lost |= json_object_set_new(all, "partial", json_string(report->partial));
    if (t->note) lost |= json_object_set_new(all, "note", json_string(t->note));
    lost |= json_object_set_new(all, "rows", rows);
    if (!lost) return all;
    json_decref(all);
    return NULL;
}

static invit_status write_json(FILE *f, const struct invit_report *r, invit_error *err)
{
    json_t *all = json_array();
    int lost = 0;
    for (int32_t i = 0; i < r->tables; i++) lost |= json_array_append_new(all, table_json(r, r->table[i]));
    char *text = lost ? NULL : inv_json_text(all, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    json_decref(all);
    if (!text) return inv_no_memory(err, 0);
    fprintf(f, "%s\n", text);
    free(text);
    return INVIT_OK;
}

invit_status invit_report_render(const invit_report *r, invit_table_format format, char **text,
                                 invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t size = 0;
    *text = NULL;
    FILE *f = open_memstream(text, &size);
    if (!f || r->failed) goto memory;
    for (int32_t i = 0; i < r->tables; i++) {
        inv_table *t = r->table[i];
        fill_row(t);
        if (t->failed) goto memory;
        if (format == INVIT_TABLE_JSON) continue;
        if (i) fputc('\n', f);
        int *w = calloc((size_t)t->columns + 1, sizeof *w);
        if (!w) goto memory;
        widths(t, w);
        if (format == INVIT_TABLE_TEXT)
            write_text(f, r, t, w);
        else if (format == INVIT_TABLE_MARKDOWN)
            write_markdown(f, r, t, w);
        else
            write_csv(f, r, t);
        free(w);
    }
    if (format == INVIT_TABLE_JSON) INV_TRY(write_json(f, r, err));
    goto done;
memory:
    status = inv_no_memory(err, size);
done:
    if (f && !inv_memory_stream_close(f, text) && status == INVIT_OK) status = inv_no_memory(err, size);
    if (status != INVIT_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

invit_status invit_report_write(const invit_report *r, invit_table_format format, const char *path,
                                invit_error *err)
{
    char *text = NULL;
    inv_outfile *file = NULL;
    INV_CHECK(invit_report_render(r, format, &text, err));
    invit_status status = inv_outfile_open(path, &file, err);
    if (status == INVIT_OK) {
        inv_outfile_puts(file, text);
        status = inv_outfile_close(file, err);
    }
    free(text);
    return status;
}
