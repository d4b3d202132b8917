/* The columns that come through to lists of stops, as JSON: {"columns": [name, ...], "rows": [[text, ...], ...],
 * "dialect": "semicolon bom"}. Member "table" of a problem, and how programs give and get it. */
#include "problem/table_json.h"

#include "base/json_memory.h"
#include "base/number.h"
#include "problem/csv_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 256 }; /* as many as a table may have */
enum { DIALECT_TEXT = 80 };  /* room for all words at once  */

/* ---- the dialect in words ------------------------------------------------------------------------------ */

static const struct {
    const char *word;
    char separator, line_end[3];
    bool decimal_comma, mark, sep_line;
} words[] = {{.word = "comma", .separator = ','},
             {.word = "semicolon", .separator = ';'},
             {.word = "tab", .separator = '\t'},
             {.word = "bar", .separator = '|'},
             {.word = "decimal-comma", .decimal_comma = true},
             {.word = "bom", .mark = true},
             {.word = "sep-line", .sep_line = true},
             {.word = "lf", .line_end = "\n"},
             {.word = "crlf", .line_end = "\r\n"},
             {.word = "cr", .line_end = "\r"}};
enum { WORDS = sizeof words / sizeof *words };

static invit_status read_dialect(const char *text, inv_dialect *d, invit_error *err)
{
    for (const char *at = text; *(at += strspn(at, " "));) {
        size_t n = strcspn(at, " ");
        int w = 0;
        while (w < WORDS && (strlen(words[w].word) != n || strncmp(words[w].word, at, n) != 0)) w++;
        if (w == WORDS)
            return inv_fail(err, INVIT_ERR_INPUT,
                            "\"dialect\": '%.*s' is not known: expected comma, semicolon, tab or bar; "
                            "decimal-comma; bom; sep-line; lf, crlf or cr",
                            n > 40 ? 40 : (int)n, at);
        if (words[w].separator) d->separator = words[w].separator;
        if (words[w].line_end[0]) memcpy(d->line_end, words[w].line_end, sizeof d->line_end);
        d->decimal_comma = d->decimal_comma || words[w].decimal_comma;
        d->mark = d->mark || words[w].mark;
        d->sep_line = d->sep_line || words[w].sep_line;
        at += n;
    }
    return INVIT_OK;
}

static const char *dialect_text(const inv_dialect *d, char text[DIALECT_TEXT])
{
    size_t at = 0;
    text[0] = 0;
    for (int w = 0; w < WORDS; w++) {
        if (!((words[w].separator && words[w].separator == d->separator) ||
              (words[w].line_end[0] && strcmp(words[w].line_end, d->line_end) == 0) ||
              (words[w].decimal_comma && d->decimal_comma) || (words[w].mark && d->mark) ||
              (words[w].sep_line && d->sep_line)))
            continue;
        at += (size_t)snprintf(text + at, DIALECT_TEXT - at, "%s%s", at ? " " : "", words[w].word);
    }
    return text;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* What the columns are for, by their names, as in a table: of two that mean the same rule, the one with our own name
 * counts, else the first. */
static void choose_uses(inv_stop_table *t)
{
    int of[INV_COLUMNS];
    bool its_own[INV_COLUMNS];
    for (int r = 0; r < INV_COLUMNS; r++) of[r] = -1;
    for (int k = 0; k < t->columns; k++) {
        bool own;
        double factor;
        inv_column role = inv_column_of(t->name[k], &own, &factor);
        if (role <= INV_ID || (of[role] >= 0 && (its_own[role] || !own))) continue;
        if (of[role] >= 0) t->use[of[role]] = INV_FOR_PEOPLE;
        of[role] = k;
        its_own[role] = own;
        t->use[k] = role == INV_DEMAND ? INV_FOR_DEMANDS : INV_FOR_RULES;
    }
}

/* A text as it is, a number as its digits, nothing for null. */
static invit_status add_cell(inv_stop_table *t, const json_t *v, size_t row, invit_error *err)
{
    char number[INV_DOUBLE_CHARS + 1];
    if (json_is_integer(v))
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        number[inv_format_double(number, json_real_value(v))] = 0;
    else if (!json_is_string(v) && !json_is_null(v))
        return inv_fail(err, INVIT_ERR_INPUT, "\"table\": row %zu must be a list of texts", row);
    return inv_stop_table_add_cell(t,
                                   json_is_string(v)   ? json_string_value(v)
                                   : json_is_number(v) ? number
                                                       : "",
                                   err);
}

static invit_status read_rows(inv_stop_table *t, const json_t *rows, size_t n, invit_error *err)
{
    if (json_array_size(rows) != n)
        return inv_fail(err, INVIT_ERR_INPUT, "\"table\": expected \"rows\" with %zu rows, one per node", n);
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(rows, i);
        if (!json_is_array(row) || json_array_size(row) != (size_t)t->columns)
            return inv_fail(err, INVIT_ERR_INPUT, "\"table\": row %zu must be a list of %d texts", i,
                            t->columns);
        INV_CHECK(inv_stop_table_begin_row(t, err));
        for (int k = 0; k < t->columns; k++) INV_CHECK(add_cell(t, json_array_get(row, (size_t)k), i, err));
    }
    return INVIT_OK;
}

static invit_status read_columns(inv_stop_table *t, const json_t *names, invit_error *err)
{
    size_t count = json_array_size(names);
    if (!json_is_array(names) || count > MOST_COLUMNS)
        return inv_fail(err, INVIT_ERR_INPUT, "\"table\": expected \"columns\", a list of at most %d names",
                        MOST_COLUMNS);
    for (size_t k = 0; k < count; k++) {
        const char *name = json_string_value(json_array_get(names, k));
        if (!name) return inv_fail(err, INVIT_ERR_INPUT, "\"table\": \"columns\"[%zu] must be a text", k);
        INV_CHECK(inv_stop_table_add_column(t, name, INV_FOR_PEOPLE, err));
    }
    choose_uses(t);
    return INVIT_OK;
}

invit_status inv_table_from_json(const json_t *object, invit_instance *p, invit_error *err)
{
    const char *dialect = json_string_value(json_object_get(object, "dialect")), *key;
    json_t *value;
    inv_stop_table *t = NULL;
    invit_status status = INVIT_OK;
    if (!json_is_object(object))
        return inv_fail(err, INVIT_ERR_INPUT, "\"table\" must be an object with \"columns\" and \"rows\"");
    json_object_foreach((json_t *)object, key, value) if (
        strcmp(key, "columns") != 0 && strcmp(key, "rows") != 0 &&
        strcmp(key, "dialect") !=
            0) return inv_fail(err, INVIT_ERR_INPUT,
                               "\"table\": \"%.40s\" is not known: expected columns, rows or dialect", key);
    INV_CHECK(inv_stop_table_create(&t, err));
    if (dialect) INV_TRY(read_dialect(dialect, &t->dialect, err));
    if (json_object_get(object, "columns") || json_object_get(object, "rows")) {
        INV_TRY(read_columns(t, json_object_get(object, "columns"), err));
        if (t->columns > 0) INV_TRY(read_rows(t, json_object_get(object, "rows"), (size_t)p->n, err));
    }
    inv_stop_table_destroy(p->table);
    p->table = t;
    t = NULL;
done:
    inv_stop_table_destroy(t);
    return status;
}

invit_status inv_instance_set_table(invit_instance *p, const char *json, invit_error *err)
{
    json_error_t wrong;
    if (strcmp(json, "none") == 0) {
        inv_stop_table_destroy(p->table);
        p->table = NULL;
        return INVIT_OK;
    }
    json_t *object = inv_json_load(json, strlen(json), JSON_REJECT_DUPLICATES, &wrong);
    if (!object)
        return inv_fail(err, INVIT_ERR_INPUT, "\"table\": JSON, line %d: %.200s", wrong.line, wrong.text);
    invit_status status = inv_table_from_json(object, p, err);
    json_decref(object);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

void inv_put_table_json(inv_json *j, const char *key, const inv_stop_table *t)
{
    char dialect[DIALECT_TEXT];
    inv_json_open(j, key, '{');
    inv_json_string(j, "dialect", dialect_text(&t->dialect, dialect));
    if (t->columns > 0 && t->cells) {
        inv_json_break(j, "\n  ");
        inv_json_open(j, "columns", '[');
        for (int k = 0; k < t->columns; k++) inv_json_string(j, NULL, t->name[k]);
        inv_json_close(j);
        inv_json_break(j, "\n  ");
        inv_json_open(j, "rows", '[');
        for (int64_t i = 0; i < t->rows; i++) {
            const char *cell = inv_stop_table_row(t, i);
            if (i > 0) inv_json_break(j, "\n   ");
            inv_json_open(j, NULL, '[');
            for (int k = 0; k < t->columns; k++, cell = inv_stop_table_next(cell))
                inv_json_string(j, NULL, cell);
            inv_json_close(j);
        }
        inv_json_close(j);
    }
    inv_json_close(j);
}

invit_status invit_instance_table(const invit_instance *p, char **json, size_t *size, invit_error *err)
{
    inv_outfile *f = NULL;
    *json = NULL;
    if (size) *size = 0;
    if (!p->table) return INVIT_OK;
    INV_CHECK(inv_outfile_open_memory(json, size, &f, err));
    inv_json j = inv_json_to_outfile(f);
    inv_put_table_json(&j, NULL, p->table);
    return inv_outfile_close(f, err);
}
