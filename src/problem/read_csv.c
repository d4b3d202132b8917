/* Tables as spreadsheets write them: a header line, then one node per line. Columns x,y or lat,lon (then
 * distances are great circles, in metres, and times minutes), and if wanted what csv_columns.c knows: id, demand,
 * capacity, service, open, close, vehicles, limits. Others that look like constraints are named in a note. The
 * first row of a table with any of these is the depot. Commas, semicolons, tabs or bars; quotes, also over line
 * ends; decimal commas where commas do not separate; rows of nothing but delimiters do not count. */
#include "problem/read.h"

#include "base/hash.h"
#include "base/number.h"
#include "problem/csv_columns.h"
#include "problem/stop_table.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS = 256 };
#define USUAL_SPEED                                                                                          \
    (50 * 1000.0 / 60) /* 50 km/h in metres per minute: where a table has times and no speed */

/* One number per row, NaN where the cell is empty. */
typedef struct series {
    double *value;
    int64_t room;
} series;

typedef struct csv {
    inv_text *t;
    inv_read_state *state; /* for notes */
    char delimiter;
    int columns;
    unsigned char role[COLUMNS];
    float factor[COLUMNS];
    bool kept[COLUMNS]; /* as text */
    bool has[INV_COLUMNS], own[INV_COLUMNS];
    bool plane;   /* x,y; else lat,lon                                           */
    bool clock;   /* a time was given as hh:mm                                   */
    char *field;  /* the field at hand, without its quotes; as long as the buffer */
    char *record; /* a row whose quotes span lines, joined; NULL before the first, as long as the buffer */
    inv_points points;
    series demand, service, opens, closes;
    int32_t *line;  /* of each node */
    uint64_t *hash; /* of its row   */
    int64_t line_room;
    double largest;
    int64_t largest_line; /* demand, and its line                                        */
    char *labels;         /* one after the other, each with its NUL                      */
    size_t label_bytes, label_room;
    inv_stop_table *table;      /* what comes through to lists of stops                  */
    double single[INV_COLUMNS]; /* of the columns that say one thing for all; 0: not said     */
} csv;

static void destroy(csv *c)
{
    free(c->field);
    free(c->record);
    free(c->line);
    free(c->hash);
    free(c->demand.value);
    free(c->service.value);
    free(c->opens.value);
    free(c->closes.value);
    free(c->labels);
    inv_points_destroy(&c->points);
    inv_stop_table_destroy(c->table);
}

/* ---- fields -------------------------------------------------------------------------------------------- */

/* Copies the field at *p into c->field, trimmed and without quotes, and moves past its delimiter. */
static invit_status next_field(csv *c, const char **p, const char *end, int64_t line, bool *last,
                               invit_error *err)
{
    size_t n = 0;
    const char *q = *p;
    while (q < end && inv_is_blank(*q) && *q != c->delimiter) q++;
    if (q < end && *q == '"') {
        for (q++;; q++) {
            if (q >= end) return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err, "expected a closing quote");
            if (*q == '"' && !(q + 1 < end && q[1] == '"')) break;
            if (*q == '"') q++;
            c->field[n++] = *q;
        }
        for (q++; q < end && *q != c->delimiter; q++)
            if (!inv_is_blank(*q))
                return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                                     "expected a delimiter after a closing quote");
    } else {
        while (q < end && *q != c->delimiter) c->field[n++] = *q++;
        while (n > 0 && inv_is_blank(c->field[n - 1])) n--;
    }
    c->field[n] = 0;
    *last = q >= end;
    *p = *last ? end : q + 1;
    return INVIT_OK;
}

/* Does a line end within quotes? They count at the beginning of a field only. `open`: it begins within. */
static bool ends_open(const csv *c, const char *p, size_t n, bool open)
{
    const char *end = p + n;
    for (;; open = false) { /* field by field */
        while (!open && p < end && inv_is_blank(*p) && *p != c->delimiter) p++;
        if (open || (p < end && *p == '"')) {
            for (p += !open; p < end && (*p != '"' || (p + 1 < end && p[1] == '"')); p++) p += *p == '"';
            if (p >= end) return true;
        }
        while (p < end && *p != c->delimiter) p++;
        if (p++ >= end) return false;
    }
}

/* Joins a line that ends within quotes with the ones after it, blanks for the line ends. */
static invit_status join_lines(csv *c, int64_t line, const char **p, size_t *n, invit_error *err)
{
    bool open = ends_open(c, *p, *n, false);
    size_t room = c->t->capacity, length = 0;
    if (!open) return INVIT_OK;
    if (!c->record) c->record = malloc(room + 1);
    if (!c->record) return inv_no_memory(err, room);
    for (;;) {
        if (*n + 1 > room - length)
            return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err, "expected a closing quote");
        memcpy(c->record + length, *p, *n);
        length += *n;
        if (!open || inv_text_at_end(c->t)) break;
        if (length > 0 && c->record[length - 1] == '\r') length--;
        c->record[length++] = ' ';
        INV_CHECK(inv_text_raw_line(c->t, p, n, err));
        open = ends_open(c, *p, *n, true);
    }
    *p = c->record;
    *n = length;
    return INVIT_OK;
}

/* The field as a number. A comma is a decimal point here: had it been a delimiter, it would not be in the
 * field. */
static invit_status field_number(csv *c, int64_t line, const char *name, double *value, invit_error *err)
{
    char text[128];
    size_t n = strlen(c->field);
    const char *after = NULL;
    if (n < sizeof text) {
        memcpy(text, c->field, n + 1);
        char *comma = strchr(text, ',');
        if (comma && !strchr(text, '.')) *comma = '.';
        after = inv_parse_double(text, value);
        if (comma && after && !*after) c->table->dialect.decimal_comma = true;
    }
    if (!after || *after || !(fabs(*value) <= INV_FARTHEST))
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "expected a number in column %s, found '%.40s'", name, c->field);
    return INVIT_OK;
}

/* ---- the header ---------------------------------------------------------------------------------------- */

/* Passes over lines that say nothing and remarks. Lines are left whole: where tabs separate, a leading one
 * says something. */
static void find_header(inv_text *t)
{
    for (;;) {
        inv_text_refill(t, INV_TEXT_LINE);
        const char *p = t->at;
        while (inv_is_blank(*p)) p++;
        if (p >= t->end || (*p != '\n' && !inv_is_remark(p))) return;
        inv_text_skip_line(t);
    }
}

static void note(csv *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(csv *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    inv_read_note(c->state, format, args);
    va_end(args);
}

/* The column whose name is in c->field. Of two that mean the same, the one with our own name counts. */
static invit_status take_column(csv *c, int64_t line, invit_error *err)
{
    bool own;
    double factor;
    inv_column role = inv_column_of(c->field, &own, &factor);
    if (role != INV_OTHER && c->has[role]) {
        bool replace = own && !c->own[role];
        if (role != INV_ID && own == c->own[role] && (role < INV_DEMAND || own))
            return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err, "column %s appears twice",
                                 inv_column_name(role));
        for (int i = 0; replace && i < c->columns; i++)
            if (c->role[i] == role) c->role[i] = INV_OTHER;
        if (role != INV_ID)
            note(c, "two columns for '%s': %s is not used", inv_column_name(role),
                 replace ? "the one with another name" : c->field);
        if (!replace) role = INV_OTHER; /* id and name: the first of them labels the nodes */
    } else if (role == INV_OTHER && inv_looks_like_a_rule(c->field)) {
        note(c, "column '%.60s' is not used", c->field);
    }
    INV_CHECK(inv_stop_table_add_column(c->table, c->field, INV_UNUSED, err));
    c->has[role] = true;
    c->own[role] = own;
    c->factor[c->columns] = (float)factor;
    c->role[c->columns++] = (unsigned char)role;
    return INVIT_OK;
}

/* Places and ids are written by themselves, and demands where they count; all else comes through as it is. */
static void choose_columns(csv *c)
{
    inv_stop_table *t = c->table;
    for (int i = 0; i < c->columns; i++) {
        inv_column role = c->role[i];
        bool shown = (role != INV_OTHER && role < INV_ID) || role == INV_ID;
        t->use[i] = shown                ? INV_UNUSED
                    : role == INV_OTHER  ? INV_FOR_PEOPLE
                    : role == INV_DEMAND ? INV_FOR_DEMANDS
                                         : INV_FOR_RULES;
        c->kept[i] = !shown;
    }
    inv_stop_table_drop_unused(t);
    t->dialect.separator = c->delimiter;
    t->dialect.mark = t->dialect.mark || c->t->mark;
}

static invit_status read_header(csv *c, invit_error *err)
{
    const char *p;
    size_t n;
    bool last = false;
    find_header(c->t);
    int64_t line = c->t->line;
    INV_CHECK(inv_text_raw_line(c->t, &p, &n, err));
    if (n >= 5 && strncasecmp(p, "sep=", 4) == 0 &&
        strchr(",;\t|", p[4])) { /* spreadsheets say so to each other */
        c->delimiter = p[4];
        c->table->dialect.sep_line = true;
        line = c->t->line;
        INV_CHECK(inv_text_raw_line(c->t, &p, &n, err));
    } else {
        c->delimiter = inv_table_separator(p);
        if (!c->delimiter && memchr(p, ';', n)) c->delimiter = ';';
        if (!c->delimiter) c->delimiter = memchr(p, ',', n) ? ',' : '\t';
    }
    snprintf(c->table->dialect.line_end, sizeof c->table->dialect.line_end, "%s",
             c->t->returns               ? "\r"
             : n > 0 && p[n - 1] == '\r' ? "\r\n"
                                         : "\n");
    INV_CHECK(join_lines(c, line, &p, &n, err));
    for (const char *end = p + n; !last;) {
        if (c->columns == COLUMNS)
            return inv_text_fail(c->t, line, INVIT_ERR_UNSUPPORTED, err, "expected at most %d columns",
                                 COLUMNS);
        INV_CHECK(next_field(c, &p, end, line, &last, err));
        INV_CHECK(take_column(c, line, err));
    }
    bool globe = c->has[INV_LATITUDE] && c->has[INV_LONGITUDE];
    c->plane = c->has[INV_X] && c->has[INV_Y];
    if (c->plane == globe)
        return inv_text_fail(
            c->t, line, INVIT_ERR_INPUT, err,
            globe ? "expected the columns x,y or lat,lon, found both"
                  : "expected a header with the columns x,y or lat,lon (and if wanted id, demand, capacity)");
    for (int i = 0; i < c->columns; i++) { /* a lone x beside lat,lon is something else */
        bool flat = c->role[i] == INV_X || c->role[i] == INV_Y,
             round = c->role[i] == INV_LATITUDE || c->role[i] == INV_LONGITUDE;
        if (c->plane ? round : flat) c->role[i] = INV_OTHER;
    }
    choose_columns(c);
    return INVIT_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static invit_status keep_label(csv *c, invit_error *err)
{
    c->table->dialect.mark = c->table->dialect.mark || !inv_is_utf8(c->field);
    size_t n = 3 * strlen(c->field) + 1;
    if (c->label_bytes + n > c->label_room) {
        size_t room = c->label_room + c->label_room / 2 + n + 4096;
        char *more = realloc(c->labels, room);
        if (!more) return inv_no_memory(err, room);
        c->labels = more;
        c->label_room = room;
    }
    char *end = inv_put_utf8(c->labels + c->label_bytes, c->field, strlen(c->field));
    c->label_bytes = (size_t)(end + 1 - c->labels);
    return INVIT_OK;
}

static invit_status keep(series *s, int64_t i, double value, invit_error *err)
{
    if (i >= s->room) {
        int64_t room = i ? i + i / 2 : 256;
        double *more = realloc(s->value, (size_t)room * sizeof *more);
        if (!more) return inv_no_memory(err, (size_t)room * sizeof *more);
        s->value = more;
        s->room = room;
    }
    s->value[i] = value;
    return INVIT_OK;
}

static invit_status keep_demand(csv *c, bool empty, int64_t line, invit_error *err)
{
    double demand = 0;
    if (!empty || c->points.n > 0) INV_CHECK(field_number(c, line, "demand", &demand, err));
    if (!(demand >= 0 && demand <= INT32_MAX))
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "expected a number from 0 to %d in column demand, found '%.40s'", INT32_MAX,
                             c->field);
    if (c->points.n == 0 && demand != 0)
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "demand of the depot, the first row: expected 0");
    if (demand > c->largest) c->largest = demand, c->largest_line = line;
    return keep(&c->demand, c->points.n, demand, err);
}

/* Minutes, or hh:mm. */
static invit_status field_time(csv *c, int64_t line, const char *name, double *value, invit_error *err)
{
    char text[64];
    bool clock = false;
    size_t n = strlen(c->field);
    if (n < sizeof text) {
        memcpy(text, c->field, n + 1);
        char *comma = strchr(text, ',');
        if (comma && !strchr(text, '.')) *comma = '.';
    }
    if (n >= sizeof text || !inv_parse_time(text, value, &clock))
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "expected a time in column %s, minutes or hh:mm, found '%.40s'", name, c->field);
    c->clock = c->clock || clock;
    return INVIT_OK;
}

static invit_status keep_time(csv *c, inv_column role, bool empty, int64_t line, invit_error *err)
{
    double value = role == INV_SERVICE ? 0 : NAN;
    series *s = role == INV_OPENS ? &c->opens : &c->closes;
    if (role == INV_SERVICE) s = &c->service;
    if (!empty) INV_CHECK(field_time(c, line, inv_column_name(role), &value, err));
    if (role == INV_SERVICE && value < 0)
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "expected a time of 0 or more in column service, found '%.40s'", c->field);
    return keep(s, c->points.n, value, err);
}

/* What is said once for all rows: in one of them, or the same in several. */
static invit_status keep_single(csv *c, inv_column role, double factor, int64_t line, invit_error *err)
{
    const char *name = inv_column_name(role);
    double value = 0;
    bool whole = role == INV_VEHICLES || role == INV_MAX_STOPS;
    double most = role == INV_CAPACITY || whole ? INT32_MAX : INV_LARGEST_COST;
    INV_CHECK(role == INV_MAX_DURATION ? field_time(c, line, name, &value, err)
                                       : field_number(c, line, name, &value, err));
    if (!(value > 0 && value <= most) || (whole && value != floor(value)))
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "expected a %s above 0 in column %s, found '%.40s'",
                             whole ? "whole number" : "number", name, c->field);
    if (role != INV_MAX_LENGTH || !c->plane) value *= factor; /* kilometres: only where lengths are metres */
    if (c->single[role] && c->single[role] != value)
        return inv_text_fail(c->t, line, INVIT_ERR_UNSUPPORTED, err, "expected one %s, found %.10g and %.10g",
                             name, c->single[role], value);
    c->single[role] = value;
    return INVIT_OK;
}

static invit_status keep_place(csv *c, inv_column role, int64_t line, double *value, invit_error *err)
{
    INV_CHECK(field_number(c, line, inv_column_name(role), value, err));
    if (role == INV_LATITUDE && fabs(*value) > 90)
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "expected a latitude from -90 to 90, found '%.40s'%s", c->field,
                             fabs(*value) <= 180 ? " (are latitude and longitude swapped?)" : "");
    if (role == INV_LONGITUDE && (*value < -180 || *value > 360))
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "expected a longitude from -180 to 360, found '%.40s'", c->field);
    return INVIT_OK;
}

/* Where the row stands and what it says, for remarks: FNV-1a, the line end not included. */
static invit_status keep_line(csv *c, const char *p, size_t n, int64_t line, invit_error *err)
{
    int64_t i = c->points.n;
    if (i >= c->line_room) {
        int64_t room = i + i / 2 + 256;
        int32_t *lines = realloc(c->line, (size_t)room * sizeof *lines);
        if (lines) c->line = lines;
        uint64_t *hashes = realloc(c->hash, (size_t)room * sizeof *hashes);
        if (hashes) c->hash = hashes;
        if (!lines || !hashes) return inv_no_memory(err, (size_t)room * 12);
        c->line_room = room;
    }
    while (n > 0 && inv_is_blank(p[n - 1]) && p[n - 1] != c->delimiter) n--;
    c->line[i] = line < INT32_MAX ? (int32_t)line : INT32_MAX;
    c->hash[i] = inv_hash_bytes(INV_HASH_START, p, n);
    return INVIT_OK;
}

static invit_status read_row(csv *c, const char *p, size_t n, int64_t line, invit_error *err)
{
    double place[INV_ID] = {0};
    const char *end = p + n;
    bool last = false;
    int column = 0;
    INV_CHECK(keep_line(c, p, n, line, err));
    if (c->table->columns > 0) INV_CHECK(inv_stop_table_begin_row(c->table, err));
    for (; !last; column++) {
        INV_CHECK(next_field(c, &p, end, line, &last, err));
        inv_column role = column < c->columns ? c->role[column] : INV_OTHER;
        bool empty = c->field[0] == 0;
        if (column >= c->columns && !empty)
            return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                                 "expected %d fields as in the header, found more", c->columns);
        if (column < c->columns && c->kept[column])
            INV_CHECK(inv_stop_table_add_cell(c->table, c->field, err));
        if (role == INV_ID)
            INV_CHECK(keep_label(c, err));
        else if (role == INV_DEMAND)
            INV_CHECK(keep_demand(c, empty, line, err));
        else if (role == INV_SERVICE || role == INV_OPENS || role == INV_CLOSES)
            INV_CHECK(keep_time(c, role, empty, line, err));
        else if (role != INV_OTHER && role < INV_ID)
            INV_CHECK(keep_place(c, role, line, &place[role], err));
        else if (role != INV_OTHER && !empty)
            INV_CHECK(keep_single(c, role, c->factor[column], line, err));
    }
    if (column < c->columns)
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "expected %d fields as in the header, found %d", c->columns, column);
    return c->plane ? inv_points_add(&c->points, place[INV_X], place[INV_Y], err)
                    : inv_points_add(&c->points, place[INV_LONGITUDE], place[INV_LATITUDE], err);
}

/* ---- from what was read to an instance ----------------------------------------------------------------- */

static invit_status check_demands(csv *c, int64_t capacity, invit_error *err)
{
    double *limit = &c->single[INV_CAPACITY];
    if (capacity < 0 || capacity > INT32_MAX)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "the capacity given along with a table must be 1 to %d, not %lld", INT32_MAX,
                        (long long)capacity);
    if (capacity) *limit = (double)capacity;
    if (c->has[INV_DEMAND] && !*limit) {
        if (c->own[INV_DEMAND])
            return inv_text_fail(
                c->t, c->t->line, INVIT_ERR_INPUT, err,
                "expected the vehicles' capacity with these demands: in a column 'capacity', or "
                "given along with the table (--capacity)");
        note(c, "the column that may be demands (menge, qty, weight, ...) is not used, since there is no "
                "capacity "
                "(--capacity)");
        c->has[INV_DEMAND] = false;
    }
    if (c->has[INV_DEMAND] && c->largest > *limit)
        return inv_text_fail(c->t, c->largest_line, INVIT_ERR_INPUT, err,
                             "demand %.10g: expected at most the capacity, %.10g", c->largest, *limit);
    if (capacity && !c->has[INV_DEMAND])
        return inv_text_fail(c->t, 1, INVIT_ERR_INPUT, err,
                             "expected a column 'demand', since a capacity was given");
    return INVIT_OK;
}

static invit_status set_rules(csv *c, invit_instance *p, invit_error *err)
{
    const double *single = c->single;
    bool limits = single[INV_MAX_LENGTH] || single[INV_MAX_DURATION] || single[INV_MAX_STOPS];
    bool windows = c->has[INV_OPENS] || c->has[INV_CLOSES];
    inv_rules *r = NULL;
    if (c->has[INV_SERVICE]) INV_CHECK(invit_instance_set_array(p, "service", c->service.value, p->n, err));
    if (c->has[INV_OPENS]) INV_CHECK(invit_instance_set_array(p, "earliest", c->opens.value, p->n, err));
    if (c->has[INV_CLOSES]) INV_CHECK(invit_instance_set_array(p, "latest", c->closes.value, p->n, err));
    if (!limits && !single[INV_VEHICLES] && !windows && !c->has[INV_SERVICE] && !single[INV_SPEED])
        return INVIT_OK;
    if (limits || single[INV_VEHICLES]) INV_CHECK(inv_make_routes(p, err));
    INV_CHECK(inv_instance_rules(p, &r, err));
    if (single[INV_MAX_LENGTH]) r->max_length = single[INV_MAX_LENGTH];
    if (single[INV_MAX_DURATION]) r->max_duration = single[INV_MAX_DURATION];
    r->max_stops = (int32_t)single[INV_MAX_STOPS];
    r->vehicles = (int32_t)single[INV_VEHICLES];
    if (c->has[INV_SERVICE] && !c->has[INV_DEMAND] && !limits && !windows && !r->vehicles)
        r->vehicles = 1; /* one tour, with times */
    r->clock = c->clock;
    if (single[INV_SPEED]) r->speed = c->plane ? single[INV_SPEED] : single[INV_SPEED] * 1000 / 60;
    if (!c->plane && !single[INV_SPEED] && inv_is_timed(p)) {
        r->speed = USUAL_SPEED;
        note(c, "travel times are those of straight lines at 50 km/h; --speed or --durations gives others");
    }
    return INVIT_OK;
}

static invit_status take_labels(csv *c, invit_instance *p, invit_error *err)
{
    if (!c->labels) return INVIT_OK;
    p->label_at = malloc((size_t)p->n * sizeof *p->label_at);
    if (!p->label_at) return inv_no_memory(err, (size_t)p->n * sizeof *p->label_at);
    size_t at = 0;
    for (int64_t i = 0; i < p->n; i++, at += strlen(c->labels + at) + 1) p->label_at[i] = at;
    p->labels = c->labels;
    c->labels = NULL;
    return INVIT_OK;
}

static invit_status build(csv *c, int64_t capacity, invit_instance **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    invit_instance *p = NULL;
    if (c->points.n == 0)
        return inv_text_fail(c->t, c->t->line, INVIT_ERR_INPUT, err,
                             "expected rows after the header, found none");
    INV_CHECK(check_demands(c, capacity, err));
    INV_TRY(inv_points_to_instance(&c->points, c->plane ? INVIT_EXACT : INVIT_HAVERSINE, &p, err));
    INV_TRY(take_labels(c, p, err));
    if (c->has[INV_DEMAND]) {
        INV_TRY(inv_make_routes(p, err));
        INV_TRY(inv_set_demands(p, c->demand.value, c->single[INV_CAPACITY], err));
    }
    INV_TRY(set_rules(c, p, err));
    inv_remark_repeated(c->hash, c->line, p->n, c->state);
    if (!c->plane) inv_remark_places(p, c->line, c->state);
    p->table = c->table;
    c->table = NULL;
    *out = p;
    p = NULL;
done:
    invit_instance_destroy(p);
    return status;
}

invit_status inv_read_csv(inv_text *t, inv_read_state *state, invit_instance **out, invit_error *err)
{
    *out = NULL;
    if (state->index > 0) return INVIT_OK;
    csv c = {.t = t, .state = state};
    invit_status status = INVIT_OK;
    c.field = malloc(t->capacity + 1);
    if (!c.field) INV_TRY(inv_no_memory(err, t->capacity));
    INV_TRY(inv_stop_table_create(&c.table, err));
    INV_TRY(read_header(&c, err));
    while (!inv_text_at_end(t)) { /* lines as they are: where tabs separate, a leading one says something */
        const char *line;
        size_t n, empty = 0;
        int64_t number = t->line;
        INV_TRY(inv_text_raw_line(t, &line, &n, err));
        INV_TRY(join_lines(&c, number, &line, &n, err));
        while (empty < n && (inv_is_blank(line[empty]) || line[empty] == c.delimiter)) empty++;
        if (empty < n) INV_TRY(read_row(&c, line, n, number, err));
    }
    INV_TRY(inv_text_status(t, err));
    INV_TRY(build(&c, state->capacity, out, err));
done:
    destroy(&c);
    return status;
}
