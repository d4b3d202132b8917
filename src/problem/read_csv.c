/* Tables as spreadsheets write them: a header line, then a node a line. Columns x,y or lat,lon (then
 * distances are great circles, in metres), and if wanted id, demand, capacity; others do not count. The first
 * row of a table with demands is the depot. Commas, semicolons, tabs or bars; quotes, also over line ends;
 * decimal commas where commas do not separate; rows of nothing but delimiters do not count. */
#include "problem/read.h"

#include "base/number.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS = 256 };
enum { OTHER, X, Y, LATITUDE, LONGITUDE, ID, DEMAND, CAPACITY, ROLES };

static const char *const role_names[] = {"", "x", "y", "lat", "lon", "id", "demand", "capacity"};

typedef struct csv {
    inv_text *t;
    char delimiter;
    int columns;
    unsigned char role[COLUMNS];
    bool has[ROLES];
    bool plane;   /* x,y; else lat,lon                                           */
    char *field;  /* the field at hand, without its quotes; as long as the buffer */
    char *record; /* a row whose quotes span lines, joined; NULL before the first, as long as the buffer */
    inv_points points;
    int32_t *demand;
    int64_t demand_room, largest_line;
    int32_t largest; /* demand, and its line above */
    char *labels;    /* one after the other, each with its NUL                          */
    size_t label_bytes, label_room;
    int64_t capacity; /* 0: not said                                                     */
} csv;

static void destroy(csv *c)
{
    free(c->field);
    free(c->record);
    free(c->demand);
    free(c->labels);
    inv_points_destroy(&c->points);
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
    }
    if (!after || *after || !(fabs(*value) <= INV_FARTHEST))
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "expected a number in column %s, found '%.40s'", name, c->field);
    return INVIT_OK;
}

/* ---- the header ---------------------------------------------------------------------------------------- */

static int role_of(const char *name)
{
    static const struct {
        const char *name;
        int role;
    } known[] = {{"x", X},
                 {"y", Y},
                 {"lat", LATITUDE},
                 {"latitude", LATITUDE},
                 {"lon", LONGITUDE},
                 {"lng", LONGITUDE},
                 {"long", LONGITUDE},
                 {"longitude", LONGITUDE},
                 {"id", ID},
                 {"name", ID},
                 {"label", ID},
                 {"demand", DEMAND},
                 {"capacity", CAPACITY}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(name, known[i].name) == 0) return known[i].role;
    return OTHER;
}

/* The closing quote of the field whose text begins at `p`, or the end. */
static const char *closing_quote(const char *p)
{
    for (;; p += 2) { /* "" is a quote within the field */
        p += strcspn(p, "\"");
        if (p[0] != '"' || p[1] != '"') return p;
    }
}

/* Is a column of the header at `p` called x or lat, when `separator` stands between the columns? */
static bool names_a_place(const char *p, char separator)
{
    const char end[] = {separator, '\n', 0};
    for (;; p++) {
        while (inv_is_blank(*p) && *p != separator) p++;
        bool quoted = *p == '"';
        const char *from = p + quoted, *to = quoted ? closing_quote(from) : from + strcspn(from, end);
        char name[16] = "";
        p = to + (*to && quoted);
        while (to > from && inv_is_blank(to[-1])) to--;
        if (to - from < (ptrdiff_t)sizeof name) memcpy(name, from, (size_t)(to - from));
        while (inv_is_blank(*p) && *p != separator) p++;
        if (*p && *p != '\n' && *p != separator) return false; /* after a closing quote: not with this one */
        if (role_of(name) == X || role_of(name) == LATITUDE) return true;
        if (*p != separator) return false;
    }
}

char inv_table_separator(const char *p)
{
    for (const char *separator = ";,\t|"; *separator; separator++)
        if (names_a_place(p, *separator)) return *separator;
    return 0;
}

bool inv_is_remark(const char *p)
{
    if (*p++ != '#') return false;
    while (inv_is_blank(*p)) p++;
    return !*p || !strchr(",;|", *p) || !inv_table_separator(p);
}

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
        line = c->t->line;
        INV_CHECK(inv_text_raw_line(c->t, &p, &n, err));
    } else {
        c->delimiter = inv_table_separator(p);
        if (!c->delimiter) c->delimiter = memchr(p, ';', n) ? ';' : memchr(p, ',', n) ? ',' : '\t';
    }
    INV_CHECK(join_lines(c, line, &p, &n, err));
    for (const char *end = p + n; !last;) {
        if (c->columns == COLUMNS)
            return inv_text_fail(c->t, line, INVIT_ERR_UNSUPPORTED, err, "expected at most %d columns",
                                 COLUMNS);
        INV_CHECK(next_field(c, &p, end, line, &last, err));
        int role = role_of(c->field);
        if (role != OTHER && c->has[role]) {
            if (role != ID)
                return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err, "column %s appears twice",
                                     role_names[role]);
            role = OTHER; /* id and name: the first of them labels the nodes */
        }
        c->has[role] = true;
        c->role[c->columns++] = (unsigned char)role;
    }
    bool globe = c->has[LATITUDE] && c->has[LONGITUDE];
    c->plane = c->has[X] && c->has[Y];
    if (c->plane == globe)
        return inv_text_fail(
            c->t, line, INVIT_ERR_INPUT, err,
            globe ? "expected the columns x,y or lat,lon, found both"
                  : "expected a header with the columns x,y or lat,lon (and if wanted id, demand, capacity)");
    for (int i = 0; i < c->columns; i++) { /* a lone x beside lat,lon is something else */
        bool flat = c->role[i] == X || c->role[i] == Y,
             round = c->role[i] == LATITUDE || c->role[i] == LONGITUDE;
        if (c->plane ? round : flat) c->role[i] = OTHER;
    }
    return INVIT_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static invit_status whole(const csv *c, int64_t line, const char *name, double v, double low,
                          invit_error *err)
{
    if (v >= low && v <= INT32_MAX && v == floor(v)) return INVIT_OK;
    return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                         "expected a whole number from %.0f to %d in column %s, found '%.40s'", low,
                         INT32_MAX, name, c->field);
}

static invit_status keep_label(csv *c, invit_error *err)
{
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

static invit_status keep_demand(csv *c, double demand, int64_t line, invit_error *err)
{
    int64_t i = c->points.n;
    INV_CHECK(whole(c, line, "demand", demand, 0, err));
    if (i == 0 && demand != 0)
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "demand of the depot, the first row: expected 0");
    if (i == c->demand_room) {
        int64_t room = i ? i + i / 2 : 256;
        int32_t *more = realloc(c->demand, (size_t)room * sizeof *more);
        if (!more) return inv_no_memory(err, (size_t)room * sizeof *more);
        c->demand = more;
        c->demand_room = room;
    }
    c->demand[i] = (int32_t)demand;
    if (demand > c->largest) c->largest = (int32_t)demand, c->largest_line = line;
    return INVIT_OK;
}

static invit_status read_row(csv *c, const char *p, size_t n, int64_t line, invit_error *err)
{
    double value[ROLES] = {0};
    const char *end = p + n;
    bool last = false;
    int column = 0;
    for (; !last; column++) {
        INV_CHECK(next_field(c, &p, end, line, &last, err));
        int role = column < c->columns ? c->role[column] : OTHER;
        bool empty = c->field[0] == 0;
        if (column >= c->columns && !empty)
            return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                                 "expected %d fields as in the header, found more", c->columns);
        if (role == ID) INV_CHECK(keep_label(c, err));
        if (role == OTHER || role == ID || (role == CAPACITY && empty) ||
            (role == DEMAND && empty && c->points.n == 0))
            continue;
        INV_CHECK(field_number(c, line, role_names[role], &value[role], err));
        if (role == DEMAND) INV_CHECK(keep_demand(c, value[role], line, err));
        if (role == CAPACITY) {
            INV_CHECK(whole(c, line, "capacity", value[role], 1, err));
            if (c->capacity && c->capacity != value[role])
                return inv_text_fail(c->t, line, INVIT_ERR_UNSUPPORTED, err,
                                     "expected one capacity, found %lld and %.0f", (long long)c->capacity,
                                     value[role]);
            c->capacity = (int64_t)value[role];
        }
        if (role == LATITUDE && fabs(value[role]) > 90)
            return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                                 "expected a latitude from -90 to 90, found '%.40s'", c->field);
        if (role == LONGITUDE && (value[role] < -180 || value[role] > 360))
            return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                                 "expected a longitude from -180 to 360, found '%.40s'", c->field);
    }
    if (column < c->columns)
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "expected %d fields as in the header, found %d", c->columns, column);
    if (c->has[DEMAND] && c->points.n == 0 && !c->demand) INV_CHECK(keep_demand(c, 0, line, err));
    return c->plane ? inv_points_add(&c->points, value[X], value[Y], err)
                    : inv_points_add(&c->points, value[LONGITUDE], value[LATITUDE], err);
}

static invit_status build(csv *c, int64_t capacity, invit_instance **out, invit_error *err)
{
    int64_t n = c->points.n, line = c->t->line;
    if (n == 0)
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err, "expected rows after the header, found none");
    if (capacity < 0 || capacity > INT32_MAX)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "the capacity given along with a table must be 1 to %d, not %lld", INT32_MAX,
                        (long long)capacity);
    if (capacity) c->capacity = capacity;
    if (c->has[DEMAND] && !c->capacity)
        return inv_text_fail(c->t, line, INVIT_ERR_INPUT, err,
                             "expected the vehicles' capacity with these demands: in a column 'capacity', or "
                             "given along with the table (--capacity)");
    if (c->has[DEMAND] && c->largest > c->capacity)
        return inv_text_fail(c->t, c->largest_line, INVIT_ERR_INPUT, err,
                             "demand %d: expected at most the capacity, %lld", c->largest,
                             (long long)c->capacity);
    if (capacity && !c->has[DEMAND])
        return inv_text_fail(c->t, 1, INVIT_ERR_INPUT, err,
                             "expected a column 'demand', since a capacity was given");
    INV_CHECK(inv_points_to_instance(&c->points, c->plane ? INVIT_EXACT : INVIT_HAVERSINE, out, err));
    invit_instance *p = *out;
    if (c->has[DEMAND]) {
        p->problem = INVIT_CVRP;
        p->capacity = c->capacity;
        p->demand = c->demand;
        c->demand = NULL;
    }
    if (!c->labels) return INVIT_OK;
    p->label_at = malloc((size_t)n * sizeof *p->label_at);
    if (!p->label_at) {
        invit_instance_destroy(p);
        *out = NULL;
        return inv_no_memory(err, (size_t)n * sizeof *p->label_at);
    }
    size_t at = 0;
    for (int64_t i = 0; i < n; i++, at += strlen(c->labels + at) + 1) p->label_at[i] = at;
    p->labels = c->labels;
    c->labels = NULL;
    return INVIT_OK;
}

invit_status inv_read_csv(inv_text *t, inv_read_state *state, invit_instance **out, invit_error *err)
{
    *out = NULL;
    if (state->index > 0) return INVIT_OK;
    csv c = {.t = t};
    invit_status status = INVIT_OK;
    c.field = malloc(t->capacity + 1);
    if (!c.field) INV_TRY(inv_no_memory(err, t->capacity));
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
