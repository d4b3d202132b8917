/* TSPLIB and CVRPLIB instances. Real files vary: keywords in any case and order, "KEY: v" or "KEY : v", tabs,
 * quotes, CRLF, no EOF, ids that start anywhere. What cannot be honoured (several depots, fixed edges) is
 * refused. */
#include "problem/read.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The node ids of a section. Nearly always they count up by one, and then no list of them is kept. */
typedef struct id_column {
    int32_t first; /* the first id seen                                              */
    int32_t *id;   /* NULL while the ids are first, first + 1, ...                    */
    int64_t n, room;
    int64_t line; /* of the section's keyword; 0: the section was not seen           */
    bool regular; /* entry i stands in line `line` + 1 + i                           */
} id_column;

/* A section with one or two numbers for each node. */
typedef struct section {
    id_column ids;
    int width;
    double *value; /* [ids.n][width] */
} section;

typedef struct tsplib {
    inv_text *t;
    char *name, *comment;
    int problem;                        /* invit_problem, -1: not said                                   */
    int metric;                         /* invit_metric, -1: not said                                    */
    bool matrix;                        /* EDGE_WEIGHT_TYPE : EXPLICIT                                   */
    int format;                         /* of the matrix, -1: not said                                   */
    int64_t dimension;                  /* 0: not said                                                   */
    double capacity, distance, service; /* 0: not said                                  */
    int64_t vehicles;                   /* 0: not said                                  */
    inv_points points, display;
    id_column coord_ids, display_ids;
    section demands, services, windows;
    double *weights;
    int64_t weights_line;
    int64_t depot, depot_line; /* line 0: not said                                        */
} tsplib;

static void destroy(tsplib *f)
{
    free(f->name);
    free(f->comment);
    inv_points_destroy(&f->points);
    inv_points_destroy(&f->display);
    free(f->coord_ids.id);
    free(f->display_ids.id);
    section *sections[] = {&f->demands, &f->services, &f->windows};
    for (int i = 0; i < 3; i++) {
        free(sections[i]->ids.id);
        free(sections[i]->value);
    }
    free(f->weights);
}

static invit_status unsupported(const tsplib *f, int64_t line, invit_error *err, const char *what)
{
    return inv_text_fail(f->t, line, INVIT_ERR_UNSUPPORTED, err, "%s", what);
}

static bool word_is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && strncasecmp(word, name, n) == 0;
}

/* ---- the ids of a section ------------------------------------------------------------------------------ */

static int64_t id_at(const id_column *c, int64_t i)
{
    return c->id ? c->id[i] : c->first + i;
}

static invit_status add_id(id_column *c, int32_t id, int64_t line, invit_error *err)
{
    if (c->n == 0) c->first = id;
    c->regular = c->regular && line == c->line + 1 + c->n;
    if (!c->id && id != c->first + c->n) { /* out of order: write down the ids so far */
        c->room = c->n + 1024;
        c->id = malloc((size_t)c->room * sizeof *c->id);
        if (!c->id) return inv_no_memory(err, (size_t)c->room * sizeof *c->id);
        for (int64_t i = 0; i < c->n; i++) c->id[i] = (int32_t)(c->first + i);
    }
    if (c->id) {
        if (c->n == c->room) {
            int64_t room = c->room + c->room / 2;
            int32_t *more = realloc(c->id, (size_t)room * sizeof *more);
            if (!more) return inv_no_memory(err, (size_t)room * sizeof *more);
            c->id = more;
            c->room = room;
        }
        c->id[c->n] = id;
    }
    c->n++;
    return INVIT_OK;
}

/* The ids must be low, low + 1, ..., low + n - 1 in some order. */
static invit_status check_ids(const tsplib *f, const id_column *c, int64_t low, int64_t n,
                              const char *section, invit_error *err)
{
    if (!c->id && c->first == low && c->n == n) return INVIT_OK;
    invit_status status = INVIT_OK;
    unsigned char *seen = calloc((size_t)n / 8 + 1, 1);
    if (!seen) return inv_no_memory(err, (size_t)n / 8);
    for (int64_t i = 0; i < c->n; i++) {
        int64_t id = id_at(c, i), slot = id - low, line = c->regular ? c->line + 1 + i : c->line;
        if (slot < 0 || slot >= n)
            INV_TRY(inv_text_fail(f->t, line, INVIT_ERR_INPUT, err,
                                  "node id %lld in %s: expected the ids %lld..%lld, without gaps",
                                  (long long)id, section, (long long)low, (long long)(low + n - 1)));
        if (seen[slot / 8] >> (slot % 8) & 1)
            INV_TRY(inv_text_fail(f->t, line, INVIT_ERR_INPUT, err,
                                  "duplicate node id %lld in %s: expected each id once", (long long)id,
                                  section));
        seen[slot / 8] |= (unsigned char)(1 << (slot % 8));
    }
    for (int64_t slot = 0; c->n < n && slot < n; slot++)
        if (!(seen[slot / 8] >> (slot % 8) & 1))
            INV_TRY(inv_text_fail(f->t, c->line, INVIT_ERR_INPUT, err,
                                  "node id %lld is missing from %s: expected %lld entries, found %lld",
                                  (long long)(low + slot), section, (long long)n, (long long)c->n));
done:
    free(seen);
    return status;
}

/* ---- sections ------------------------------------------------------------------------------------------ */

static bool starts_keyword(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool ends_word(const inv_text *t, const char *p)
{
    return inv_is_blank(*p) || *p == '\n' || p >= t->end;
}

static invit_status read_id(inv_text *t, int32_t *id, invit_error *err)
{
    int64_t v;
    const char *after = inv_parse_int(t->at, &v);
    if (!after || !ends_word(t, after) || v < 0 || v > INT32_MAX - 1)
        return inv_text_expected(t, err, "a node id (an integer from 0 to %d)", INT32_MAX - 1);
    t->at = after;
    *id = (int32_t)v;
    return INVIT_OK;
}

static invit_status end_entry(inv_text *t, const char *what, invit_error *err)
{
    if (inv_text_skip_blanks(t)) return inv_text_expected(t, err, "the end of the line after %s", what);
    return INVIT_OK;
}

static invit_status begin_section(tsplib *f, id_column *c, const char *section, invit_error *err)
{
    int64_t line = f->t->line - 1; /* the keyword's line has just been read */
    if (c->line)
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err, "%s appears twice (first in line %lld)",
                             section, (long long)c->line);
    c->line = line;
    c->regular = true;
    return INVIT_OK;
}

/* "id x y" a line */
static invit_status read_coords(tsplib *f, id_column *ids, inv_points *points, const char *name,
                                invit_error *err)
{
    inv_text *t = f->t;
    INV_CHECK(begin_section(f, ids, name, err));
    while (inv_text_skip_space(t) && !starts_keyword(*t->at)) {
        double x, y;
        int32_t id = 0;
        int64_t line = t->line;
        if (f->dimension && points->n == f->dimension)
            return inv_text_expected(t, err, "a keyword or EOF after %lld nodes (DIMENSION)",
                                     (long long)f->dimension);
        INV_CHECK(read_id(t, &id, err));
        inv_text_skip_blanks(t);
        INV_CHECK(inv_read_coordinate(t, 0, "an x coordinate", &x, err));
        inv_text_skip_blanks(t);
        INV_CHECK(inv_read_coordinate(t, 0, "a y coordinate", &y, err));
        INV_CHECK(end_entry(t, "two coordinates", err));
        INV_CHECK(add_id(ids, id, line, err));
        INV_CHECK(inv_points_add(points, x, y, err));
    }
    if (f->dimension && points->n < f->dimension)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err, "expected %lld nodes (DIMENSION), found %lld",
                             (long long)f->dimension, (long long)points->n);
    return INVIT_OK;
}

/* "id value" or "id value value" a line */
static invit_status read_values(tsplib *f, section *s, int width, const char *name, const char *what,
                                double low, invit_error *err)
{
    inv_text *t = f->t;
    int64_t room = 0;
    s->width = width;
    INV_CHECK(begin_section(f, &s->ids, name, err));
    while (inv_text_skip_space(t) && !starts_keyword(*t->at)) {
        int32_t id = 0;
        int64_t line = t->line;
        if (f->dimension && s->ids.n == f->dimension)
            return inv_text_expected(t, err, "a keyword or EOF after %lld %ss (DIMENSION)",
                                     (long long)f->dimension, what);
        if (s->ids.n == room) {
            room = room ? room + room / 2 : 1024;
            double *more = realloc(s->value, (size_t)(room * width) * sizeof *more);
            if (!more) return inv_no_memory(err, (size_t)(room * width) * sizeof *more);
            s->value = more;
        }
        INV_CHECK(read_id(t, &id, err));
        for (int k = 0; k < width; k++) {
            double *v = &s->value[s->ids.n * width + k];
            char found[32];
            inv_text_skip_blanks(t);
            snprintf(found, sizeof found, "a %s", what);
            const char *word = t->at;
            INV_CHECK(inv_read_number(t, 0, found, v, err));
            if (!(*v >= low && *v <= 1e15)) {
                t->at = word;
                return inv_text_expected(t, err, "a %s from %g to 1e15 for node %d", what, low, id);
            }
        }
        INV_CHECK(end_entry(t, what, err));
        INV_CHECK(add_id(&s->ids, id, line, err));
    }
    return INVIT_OK;
}

static invit_status read_weights(tsplib *f, int64_t line, invit_error *err)
{
    if (f->weights_line)
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err,
                             "EDGE_WEIGHT_SECTION appears twice (first in line %lld)",
                             (long long)f->weights_line);
    if (!f->dimension || f->format < 0 || !f->matrix)
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err,
                             "expected DIMENSION, EDGE_WEIGHT_TYPE : EXPLICIT and EDGE_WEIGHT_FORMAT before "
                             "EDGE_WEIGHT_SECTION");
    f->weights_line = line;
    INV_CHECK(inv_read_edge_weights(f->t, f->format, f->dimension, &f->weights, err));
    if (inv_text_skip_space(f->t) && !starts_keyword(*f->t->at))
        return inv_text_expected(f->t, err, "a keyword or EOF after the matrix");
    return INVIT_OK;
}

/* One id, then -1 */
static invit_status read_depots(tsplib *f, invit_error *err)
{
    inv_text *t = f->t;
    int64_t section = t->line - 1;
    while (inv_text_skip_space(t) && !starts_keyword(*t->at)) {
        int64_t id;
        int64_t line = t->line;
        const char *after = inv_parse_int(t->at, &id);
        if (!after || !ends_word(t, after) || id < -1 || id > INT32_MAX - 1)
            return inv_text_expected(t, err, "the depot's node id or -1");
        if (id == -1) {
            t->at = after;
            return INVIT_OK;
        }
        if (f->depot_line) return unsupported(f, line, err, "more than one depot: expected one depot and -1");
        t->at = after;
        f->depot = id;
        f->depot_line = line;
    }
    if (!f->depot_line)
        return inv_text_fail(t, section, INVIT_ERR_INPUT, err,
                             "expected a depot in DEPOT_SECTION, found none");
    return INVIT_OK;
}

/* ---- the specification part: KEY : value --------------------------------------------------------------- */

static invit_status keep_text(char **to, const char *value, size_t n, invit_error *err)
{
    if (n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n - 1] == value[0]) {
        value++;
        n -= 2;
    }
    free(*to);
    *to = inv_utf8_copy(value, n);
    return *to ? INVIT_OK : inv_no_memory(err, 3 * n + 1);
}

static invit_status read_type(tsplib *f, const char *value, size_t n, int64_t line, invit_error *err)
{
    size_t word = 0;
    while (word < n && starts_keyword(value[word])) word++;
    if (word_is(value, word, "TSP") || word_is(value, word, "ATSP"))
        f->problem = INVIT_TSP;
    else if (word_is(value, word, "CVRP") || word_is(value, word, "VRPTW") ||
             word_is(value, word, "CVRPTW") || word_is(value, word, "DCVRP") || word_is(value, word, "ACVRP"))
        f->problem = INVIT_CVRP;
    else if (word_is(value, word, "TOUR"))
        return unsupported(f, line, err, "TYPE TOUR is a solution: expected an instance (TYPE TSP or CVRP)");
    else
        return inv_text_fail(f->t, line, INVIT_ERR_UNSUPPORTED, err,
                             "TYPE %.*s: expected TSP, ATSP, CVRP or VRPTW", (int)(n < 40 ? n : 40), value);
    return INVIT_OK;
}

static invit_status read_metric(tsplib *f, const char *value, size_t n, int64_t line, invit_error *err)
{
    static const struct {
        const char *name;
        invit_metric metric;
    } known[] = {{"EUC_2D", INVIT_EUC_2D}, {"CEIL_2D", INVIT_CEIL_2D}, {"ATT", INVIT_ATT},
                 {"GEO", INVIT_GEO},       {"EXACT_2D", INVIT_EXACT},  {"HAVERSINE", INVIT_HAVERSINE},
                 {"DIMACS", INVIT_DIMACS}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (word_is(value, n, known[i].name)) {
            f->metric = (int)known[i].metric;
            return INVIT_OK;
        }
    return inv_text_fail(
        f->t, line, INVIT_ERR_UNSUPPORTED, err,
        "EDGE_WEIGHT_TYPE %.*s: expected EUC_2D, CEIL_2D, ATT, GEO (or EXACT_2D, HAVERSINE, DIMACS)",
        (int)(n < 40 ? n : 40), value);
}

static invit_status read_count(const tsplib *f, const char *key, const char *value, size_t n, int64_t line,
                               int64_t largest, int64_t *count, invit_error *err)
{
    char text[32];
    double v = 0;
    const char *after = NULL;
    if (n < sizeof text) {
        memcpy(text, value, n);
        text[n] = 0;
        after = inv_parse_double(text, &v); /* "10.0", as some generators write */
    }
    if (!after || *after || v < 1 || v > (double)largest || v != floor(v))
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err,
                             "%s '%.*s': expected an integer from 1 to %lld", key, (int)(n < 40 ? n : 40),
                             value, (long long)largest);
    if (*count && (double)*count != v)
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err, "%s is given twice, as %lld and as %.0f", key,
                             (long long)*count, v);
    *count = (int64_t)v;
    return INVIT_OK;
}

static invit_status read_value(const tsplib *f, const char *key, const char *value, size_t n, int64_t line,
                               double *number, invit_error *err)
{
    char text[64] = "";
    const char *after = NULL;
    double v = 0;
    if (n < sizeof text) {
        memcpy(text, value, n);
        after = inv_parse_double(text, &v);
    }
    if (!after || *after || !(v >= 0 && v <= 1e15))
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err, "%s '%.*s': expected a number from 0 to 1e15",
                             key, (int)(n < 40 ? n : 40), value);
    *number = v;
    return INVIT_OK;
}

/* A whole number from 1, or one with decimals, as the demands may have. */
static invit_status read_capacity(tsplib *f, const char *value, size_t n, int64_t line, invit_error *err)
{
    double capacity = 0;
    INV_CHECK(read_value(f, "CAPACITY", value, n, line, &capacity, err));
    if (!(capacity > 0 && capacity <= INT32_MAX))
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err,
                             "CAPACITY '%.*s': expected a number above 0, at most %d", (int)(n < 40 ? n : 40),
                             value, INT32_MAX);
    if (f->capacity && f->capacity != capacity)
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err,
                             "CAPACITY is given twice, as %.10g and as %.10g", f->capacity, capacity);
    f->capacity = capacity;
    return INVIT_OK;
}

static invit_status read_specification(tsplib *f, const char *key, size_t k, const char *value, size_t n,
                                       int64_t line, invit_error *err)
{
    if (word_is(key, k, "NAME")) return keep_text(&f->name, value, n, err);
    if (word_is(key, k, "COMMENT")) return f->comment ? INVIT_OK : keep_text(&f->comment, value, n, err);
    if (word_is(key, k, "TYPE")) return read_type(f, value, n, line, err);
    if (word_is(key, k, "DIMENSION"))
        return read_count(f, "DIMENSION", value, n, line, INT32_MAX / 2, &f->dimension, err);
    if (word_is(key, k, "CAPACITY")) return read_capacity(f, value, n, line, err);
    if (word_is(key, k, "EDGE_WEIGHT_TYPE")) {
        f->matrix = word_is(value, n, "EXPLICIT");
        return f->matrix ? INVIT_OK : read_metric(f, value, n, line, err);
    }
    if (word_is(key, k, "EDGE_WEIGHT_FORMAT") && !word_is(value, n, "FUNCTION")) {
        f->format = inv_matrix_format(value, n);
        if (f->format < 0)
            return inv_text_fail(f->t, line, INVIT_ERR_UNSUPPORTED, err,
                                 "EDGE_WEIGHT_FORMAT %.*s: expected FULL_MATRIX, or UPPER or LOWER, perhaps "
                                 "_DIAG, and _ROW or _COL",
                                 (int)(n < 40 ? n : 40), value);
    }
    if (word_is(key, k, "NODE_COORD_TYPE") && !word_is(value, n, "TWOD_COORDS") &&
        !word_is(value, n, "NO_COORDS"))
        return unsupported(f, line, err, "NODE_COORD_TYPE: expected TWOD_COORDS or NO_COORDS");
    if (word_is(key, k, "DISTANCE")) return read_value(f, "DISTANCE", value, n, line, &f->distance, err);
    if (word_is(key, k, "SERVICE_TIME"))
        return read_value(f, "SERVICE_TIME", value, n, line, &f->service, err);
    if (word_is(key, k, "VEHICLES"))
        return read_count(f, "VEHICLES", value, n, line, INT32_MAX, &f->vehicles, err);
    return INVIT_OK; /* the rest (display hints, generator notes) does not change the problem */
}

static invit_status read_section(tsplib *f, const char *key, size_t k, int64_t line, bool *done,
                                 invit_error *err)
{
    if (word_is(key, k, "NODE_COORD_SECTION"))
        return read_coords(f, &f->coord_ids, &f->points, "NODE_COORD_SECTION", err);
    if (word_is(key, k, "DISPLAY_DATA_SECTION"))
        return read_coords(f, &f->display_ids, &f->display, "DISPLAY_DATA_SECTION", err);
    if (word_is(key, k, "DEMAND_SECTION"))
        return read_values(f, &f->demands, 1, "DEMAND_SECTION", "demand", 0, err);
    if (word_is(key, k, "SERVICE_TIME_SECTION"))
        return read_values(f, &f->services, 1, "SERVICE_TIME_SECTION", "service time", 0, err);
    if (word_is(key, k, "TIME_WINDOW_SECTION"))
        return read_values(f, &f->windows, 2, "TIME_WINDOW_SECTION", "time", -1e15, err);
    if (word_is(key, k, "DEPOT_SECTION")) return read_depots(f, err);
    if (word_is(key, k, "EDGE_WEIGHT_SECTION")) return read_weights(f, line, err);
    if (word_is(key, k, "FIXED_EDGES_SECTION"))
        return unsupported(f, line, err,
                           "FIXED_EDGES_SECTION: edges that a tour must have are not supported");
    if (word_is(key, k, "EOF")) {
        *done = true;
        return INVIT_OK;
    }
    if (word_is(key, k, "Route") || word_is(key, k, "Cost"))
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err, "this is a solution: expected an instance");
    return inv_text_fail(
        f->t, line, INVIT_ERR_UNSUPPORTED, err,
        "%.*s: expected a TSPLIB keyword with a value, NODE_COORD_SECTION, DEMAND_SECTION, "
        "TIME_WINDOW_SECTION, SERVICE_TIME_SECTION, EDGE_WEIGHT_SECTION, DEPOT_SECTION or EOF",
        (int)(k < 40 ? k : 40), key);
}

/* ---- from what was read to an instance ----------------------------------------------------------------- */

static invit_status check_routes_complete(const tsplib *f, invit_error *err)
{
    inv_text *t = f->t;
    if (!f->capacity && f->demands.ids.line)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                             "expected CAPACITY : q for a CVRP, found none");
    if (!f->demands.ids.line && !f->windows.ids.line)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                             "expected a DEMAND_SECTION for a CVRP, found none");
    if (!f->depot_line)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                             "expected a DEPOT_SECTION for a CVRP, found none");
    return INVIT_OK;
}

static invit_status check_complete(tsplib *f, invit_error *err)
{
    inv_text *t = f->t;
    int64_t last = t->line;
    if (f->problem < 0)
        f->problem = f->demands.ids.line || f->capacity || f->windows.ids.line ? INVIT_CVRP : INVIT_TSP;
    if (!f->coord_ids.line && !f->matrix)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err, "expected a NODE_COORD_SECTION, found none");
    if (!f->dimension)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err, "expected DIMENSION : n, found none");
    if (f->coord_ids.line && f->points.n != f->dimension)
        return inv_text_fail(t, f->coord_ids.line, INVIT_ERR_INPUT, err,
                             "expected %lld nodes (DIMENSION), found %lld", (long long)f->dimension,
                             (long long)f->points.n);
    if (f->matrix && !f->weights)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err,
                             "expected an EDGE_WEIGHT_SECTION (EDGE_WEIGHT_TYPE is EXPLICIT), found none");
    if (f->metric < 0 && !f->matrix)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err,
                             "expected EDGE_WEIGHT_TYPE : EUC_2D, CEIL_2D, ATT, GEO or EXPLICIT, found none");
    if (f->problem == INVIT_TSP && (f->windows.ids.line || f->services.ids.line))
        return unsupported(f, last, err,
                           "windows and service times: expected TYPE : VRPTW or CVRP with a depot");
    return f->problem == INVIT_TSP ? INVIT_OK : check_routes_complete(f, err);
}

/* Where the node with an id goes: in the order of ids, the depot first. */
static int64_t slot_of(int64_t id, int64_t low, int64_t depot)
{
    if (depot < 0) return id - low;
    return id == depot ? 0 : id < depot ? id - low + 1 : id - low;
}

static int64_t line_of(const id_column *c, int64_t i)
{
    return c->regular ? c->line + 1 + i : c->line;
}

/* Column k of a section in the order of nodes; caller frees. */
static double *placed(const section *s, int k, int64_t n, int64_t low, int64_t depot)
{
    double *v = calloc((size_t)n, sizeof *v);
    for (int64_t i = 0; v && i < s->ids.n; i++)
        v[slot_of(id_at(&s->ids, i), low, depot)] = s->value[i * s->width + k];
    return v;
}

static invit_status place_demands(tsplib *f, invit_instance *p, int64_t low, int64_t depot, invit_error *err)
{
    const id_column *c = &f->demands.ids;
    bool whole = f->capacity == floor(f->capacity);
    for (int64_t i = 0; i < c->n; i++) {
        int64_t id = id_at(c, i), slot = slot_of(id, low, depot);
        double demand = f->demands.value[i];
        if (slot == 0 && demand != 0)
            return inv_text_fail(f->t, line_of(c, i), INVIT_ERR_INPUT, err,
                                 "demand %.10g of the depot (node %lld): expected 0", demand, (long long)id);
        if (demand > f->capacity)
            return inv_text_fail(f->t, line_of(c, i), INVIT_ERR_INPUT, err,
                                 "demand %.10g of node %lld: expected at most the capacity, %.10g", demand,
                                 (long long)id, f->capacity);
        whole = whole && demand == floor(demand);
        p->demand[slot] = (int32_t)demand;
    }
    p->capacity = f->capacity ? (int64_t)f->capacity : INT32_MAX;
    if (whole || !c->n) return INVIT_OK;
    double *demand = placed(&f->demands, 0, p->n, low, depot);
    if (!demand) return inv_no_memory(err, (size_t)p->n * sizeof *demand);
    invit_status status = inv_set_demands(p, demand, f->capacity, err);
    free(demand);
    return status;
}

static invit_status place_windows(tsplib *f, invit_instance *p, int64_t low, int64_t depot, invit_error *err)
{
    static const char *const name[] = {"earliest", "latest"};
    for (int k = 0; k < 2; k++) {
        double *v = placed(&f->windows, k, p->n, low, depot);
        if (!v) return inv_no_memory(err, (size_t)p->n * sizeof *v);
        invit_status status = invit_instance_set_array(p, name[k], v, p->n, err);
        free(v);
        INV_CHECK(status);
    }
    for (int64_t i = 0; i < f->windows.ids.n; i++)
        if (f->windows.value[2 * i] > f->windows.value[2 * i + 1])
            return inv_text_fail(f->t, line_of(&f->windows.ids, i), INVIT_ERR_INPUT, err,
                                 "window of node %lld: closes at %.10g, before it opens, at %.10g",
                                 (long long)id_at(&f->windows.ids, i), f->windows.value[2 * i + 1],
                                 f->windows.value[2 * i]);
    if (p->metric == INVIT_EUC_2D && !f->weights) p->metric = INVIT_DIMACS; /* what such files mean by it */
    return INVIT_OK;
}

static invit_status place_services(tsplib *f, invit_instance *p, int64_t low, int64_t depot, invit_error *err)
{
    double *v = placed(&f->services, 0, p->n, low, depot);
    if (!v) return inv_no_memory(err, (size_t)p->n * sizeof *v);
    for (int64_t i = 1; !f->services.ids.line && i < p->n; i++) v[i] = f->service;
    invit_status status = invit_instance_set_array(p, "service", v, p->n, err);
    free(v);
    return status;
}

static invit_status place_matrix(tsplib *f, invit_instance *p, int64_t low, int64_t depot, invit_error *err)
{
    size_t n = (size_t)p->n;
    if (depot > low) { /* the depot's row and column come first */
        double *m = malloc(n * n * sizeof *m);
        if (!m) return inv_no_memory(err, n * n * sizeof *m);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                m[(size_t)slot_of(low + (int64_t)i, low, depot) * n +
                  (size_t)slot_of(low + (int64_t)j, low, depot)] = f->weights[i * n + j];
        free(f->weights);
        f->weights = m;
    }
    double *m = f->weights;
    f->weights = NULL;
    INV_CHECK(inv_take_matrix(p, false, m, err));
    p->rules->has_xy = f->coord_ids.line || f->display_ids.line;
    return INVIT_OK;
}

/* DISTANCE limits travel and service (as in CMT6), which without service is the length. */
static invit_status place_rules(tsplib *f, invit_instance *p, int64_t low, int64_t depot, invit_error *err)
{
    inv_rules *r = NULL;
    if (f->weights) INV_CHECK(place_matrix(f, p, low, depot, err));
    if (f->problem == INVIT_TSP) return INVIT_OK;
    bool service = f->service > 0 || f->services.ids.line;
    if (service) INV_CHECK(place_services(f, p, low, depot, err));
    if (f->windows.ids.line) INV_CHECK(place_windows(f, p, low, depot, err));
    if (!f->distance && !f->vehicles) return INVIT_OK;
    INV_CHECK(inv_instance_rules(p, &r, err));
    if (f->distance) *(service || f->windows.ids.line ? &r->max_duration : &r->max_length) = f->distance;
    r->vehicles = (int32_t)f->vehicles;
    return INVIT_OK;
}

static invit_status check_sections(const tsplib *f, int64_t low, int64_t n, invit_error *err)
{
    const struct {
        const id_column *ids;
        const char *name;
    } all[] = {{&f->coord_ids, "NODE_COORD_SECTION"},
               {&f->display_ids, "DISPLAY_DATA_SECTION"},
               {&f->demands.ids, "DEMAND_SECTION"},
               {&f->services.ids, "SERVICE_TIME_SECTION"},
               {&f->windows.ids, "TIME_WINDOW_SECTION"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].ids->line && !(i == 1 && f->coord_ids.line)) /* display data that is not used */
            INV_CHECK(check_ids(f, all[i].ids, low, n, all[i].name, err));
    if (f->problem == INVIT_CVRP && (f->depot < low || f->depot >= low + n))
        return inv_text_fail(f->t, f->depot_line, INVIT_ERR_INPUT, err,
                             "depot %lld: expected one of the nodes %lld..%lld", (long long)f->depot,
                             (long long)low, (long long)(low + n - 1));
    return INVIT_OK;
}

/* The lowest id that the file uses. */
static int64_t lowest_id(const tsplib *f, const id_column *c)
{
    if (!c->line || c->n == 0) {
        c = &f->demands.ids;
        if (!c->line || c->n == 0) return 1;
    }
    int64_t low = id_at(c, 0);
    for (int64_t i = 1; c->id && i < c->n; i++)
        if (c->id[i] < low) low = c->id[i];
    return low;
}

static invit_status build(tsplib *f, invit_instance **out, invit_error *err)
{
    INV_CHECK(check_complete(f, err));
    bool display = !f->coord_ids.line && f->display_ids.line;
    const id_column *c = display ? &f->display_ids : &f->coord_ids;
    inv_points *points = display ? &f->display : &f->points;
    int64_t n = f->dimension, low = lowest_id(f, c), depot = f->problem == INVIT_CVRP ? f->depot : -1;
    INV_CHECK(check_sections(f, low, n, err));

    invit_instance *p = NULL;
    invit_status status = INVIT_OK;
    if (c->line) {
        INV_TRY(
            inv_points_to_instance(points, f->metric < 0 ? INVIT_EXACT : (invit_metric)f->metric, &p, err));
    } else {
        INV_TRY(inv_instance_alloc(INVIT_TSP, n, &p, err));
        memset(p->xy, 0, (size_t)n * 2 * sizeof *p->xy);
    }
    p->first_id = (int32_t)low;
    if (c->line && (c->id || depot > low)) { /* not yet in the order of ids with the depot first */
        double *xy = malloc((size_t)n * 2 * sizeof *xy);
        if (!xy) INV_TRY(inv_no_memory(err, (size_t)n * 2 * sizeof *xy));
        for (int64_t i = 0; i < n; i++)
            memcpy(xy + 2 * slot_of(id_at(c, i), low, depot), p->xy + 2 * i, 2 * sizeof *xy);
        free(p->xy);
        p->xy = xy;
    }
    if (f->name && *f->name) {
        free(p->name);
        p->name = f->name;
        f->name = NULL;
    }
    if (f->problem == INVIT_CVRP) {
        INV_TRY(inv_make_routes(p, err));
        INV_TRY(place_demands(f, p, low, depot, err));
    }
    INV_TRY(place_rules(f, p, low, depot, err));
    p->comment = f->comment;
    f->comment = NULL;
    *out = p;
    p = NULL;
done:
    invit_instance_destroy(p);
    return status;
}

invit_status inv_read_tsplib(inv_text *t, inv_read_state *state, invit_instance **out, invit_error *err)
{
    *out = NULL;
    if (state->index > 0) return INVIT_OK; /* one instance a file; what follows EOF does not count */
    tsplib f = {.t = t, .problem = -1, .metric = -1, .format = -1};
    invit_status status = INVIT_OK;
    bool done = false;
    while (!done && inv_text_skip_space(t)) {
        int64_t line = t->line;
        const char *text;
        size_t n, k = 0;
        if (!starts_keyword(*t->at)) INV_TRY(inv_text_expected(t, err, "a TSPLIB keyword"));
        INV_TRY(inv_text_line(t, &text, &n, err));
        while (k < n && !inv_is_blank(text[k]) && text[k] != ':') k++;
        size_t from = k;
        while (from < n && inv_is_blank(text[from])) from++;
        if (from < n && text[from] == ':') {
            from++;
            while (from < n && inv_is_blank(text[from])) from++;
            /* "NODE_COORD_SECTION :" is seen now and then */
            if (!(from == n && k > 8 && strncasecmp(text + k - 8, "_SECTION", 8) == 0)) {
                INV_TRY(read_specification(&f, text, k, text + from, n - from, line, err));
                continue;
            }
        }
        char key[64]; /* reading the section moves the text away */
        if (k >= sizeof key) k = sizeof key - 1;
        memcpy(key, text, k);
        INV_TRY(read_section(&f, key, k, line, &done, err));
    }
    INV_TRY(inv_text_status(t, err));
    INV_TRY(build(&f, out, err));
done:
    destroy(&f);
    return status;
}
