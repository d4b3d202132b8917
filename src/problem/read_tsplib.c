/* TSPLIB and CVRPLIB instances. Real files vary: keywords in any case and order, "KEY: v" or "KEY : v", tabs,
 * quotes, CRLF, no EOF, ids that start anywhere. What cannot be honoured (matrices, several depots, limits)
 * is refused. */
#include "problem/read.h"

#include "base/number.h"

#include <math.h>
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

typedef struct tsplib {
    inv_text *t;
    char *name, *comment;
    int problem;       /* invit_problem, -1: not said                                   */
    int metric;        /* invit_metric, -1: not said                                    */
    int64_t dimension; /* 0: not said                                                   */
    int64_t capacity;  /* 0: not said                                                   */
    inv_points points;
    id_column coord_ids, demand_ids;
    int32_t *demand;
    int64_t depot, depot_line; /* line 0: not said                                        */
} tsplib;

static void destroy(tsplib *f)
{
    free(f->name);
    free(f->comment);
    inv_points_destroy(&f->points);
    free(f->coord_ids.id);
    free(f->demand_ids.id);
    free(f->demand);
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
static invit_status read_coords(tsplib *f, invit_error *err)
{
    inv_text *t = f->t;
    INV_CHECK(begin_section(f, &f->coord_ids, "NODE_COORD_SECTION", err));
    while (inv_text_skip_space(t) && !starts_keyword(*t->at)) {
        double x, y;
        int32_t id = 0;
        int64_t line = t->line;
        if (f->dimension && f->points.n == f->dimension)
            return inv_text_expected(t, err, "a keyword or EOF after %lld nodes (DIMENSION)",
                                     (long long)f->dimension);
        INV_CHECK(read_id(t, &id, err));
        inv_text_skip_blanks(t);
        INV_CHECK(inv_read_coordinate(t, 0, "an x coordinate", &x, err));
        inv_text_skip_blanks(t);
        INV_CHECK(inv_read_coordinate(t, 0, "a y coordinate", &y, err));
        INV_CHECK(end_entry(t, "two coordinates", err));
        INV_CHECK(add_id(&f->coord_ids, id, line, err));
        INV_CHECK(inv_points_add(&f->points, x, y, err));
    }
    if (f->dimension && f->points.n < f->dimension)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err, "expected %lld nodes (DIMENSION), found %lld",
                             (long long)f->dimension, (long long)f->points.n);
    return INVIT_OK;
}

/* "id demand" a line */
static invit_status read_demands(tsplib *f, invit_error *err)
{
    inv_text *t = f->t;
    int64_t room = 0;
    INV_CHECK(begin_section(f, &f->demand_ids, "DEMAND_SECTION", err));
    while (inv_text_skip_space(t) && !starts_keyword(*t->at)) {
        int32_t id = 0;
        int64_t line = t->line;
        if (f->dimension && f->demand_ids.n == f->dimension)
            return inv_text_expected(t, err, "a keyword or EOF after %lld demands (DIMENSION)",
                                     (long long)f->dimension);
        INV_CHECK(read_id(t, &id, err));
        inv_text_skip_blanks(t);
        double demand;
        const char *word = t->at;
        INV_CHECK(inv_read_number(t, 0, "a demand", &demand, err));
        if (demand < 0 || demand > INT32_MAX || demand != floor(demand)) {
            t->at = word;
            return inv_text_expected(t, err, "a whole demand from 0 to %d for node %d", INT32_MAX, id);
        }
        INV_CHECK(end_entry(t, "a demand", err));
        if (f->demand_ids.n == room) {
            room = room ? room + room / 2 : 1024;
            int32_t *more = realloc(f->demand, (size_t)room * sizeof *more);
            if (!more) return inv_no_memory(err, (size_t)room * sizeof *more);
            f->demand = more;
        }
        f->demand[f->demand_ids.n] = (int32_t)demand;
        INV_CHECK(add_id(&f->demand_ids, id, line, err));
    }
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

static void skip_section(inv_text *t)
{
    while (inv_text_skip_space(t) && !starts_keyword(*t->at)) inv_text_skip_line(t);
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
    if (word_is(value, word, "TSP"))
        f->problem = INVIT_TSP;
    else if (word_is(value, word, "CVRP"))
        f->problem = INVIT_CVRP;
    else if (word_is(value, word, "TOUR"))
        return unsupported(f, line, err, "TYPE TOUR is a solution: expected an instance (TYPE TSP or CVRP)");
    else
        return inv_text_fail(f->t, line, INVIT_ERR_UNSUPPORTED, err, "TYPE %.*s: expected TSP or CVRP",
                             (int)(n < 40 ? n : 40), value);
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

static bool is_zero(const char *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (value[i] != '0' && value[i] != '.') return false;
    return n > 0;
}

static invit_status read_specification(tsplib *f, const char *key, size_t k, const char *value, size_t n,
                                       int64_t line, invit_error *err)
{
    if (word_is(key, k, "NAME")) return keep_text(&f->name, value, n, err);
    if (word_is(key, k, "COMMENT")) return f->comment ? INVIT_OK : keep_text(&f->comment, value, n, err);
    if (word_is(key, k, "TYPE")) return read_type(f, value, n, line, err);
    if (word_is(key, k, "DIMENSION"))
        return read_count(f, "DIMENSION", value, n, line, INT32_MAX / 2, &f->dimension, err);
    if (word_is(key, k, "CAPACITY"))
        return read_count(f, "CAPACITY", value, n, line, INT32_MAX, &f->capacity, err);
    if (word_is(key, k, "EDGE_WEIGHT_TYPE")) {
        if (word_is(value, n, "EXPLICIT"))
            return unsupported(f, line, err,
                               "EDGE_WEIGHT_TYPE EXPLICIT: expected coordinates, not a distance matrix");
        return read_metric(f, value, n, line, err);
    }
    if (word_is(key, k, "NODE_COORD_TYPE") && !word_is(value, n, "TWOD_COORDS"))
        return unsupported(f, line, err, "NODE_COORD_TYPE: expected TWOD_COORDS");
    if (word_is(key, k, "DISTANCE"))
        return unsupported(f, line, err, "DISTANCE: route length limits are not supported");
    if (word_is(key, k, "SERVICE_TIME") && !is_zero(value, n))
        return unsupported(f, line, err, "SERVICE_TIME: service times are not supported");
    return INVIT_OK; /* the rest (display hints, generator notes) does not change the problem */
}

static invit_status read_section(tsplib *f, const char *key, size_t k, int64_t line, bool *done,
                                 invit_error *err)
{
    if (word_is(key, k, "NODE_COORD_SECTION")) return read_coords(f, err);
    if (word_is(key, k, "DEMAND_SECTION")) return read_demands(f, err);
    if (word_is(key, k, "DEPOT_SECTION")) return read_depots(f, err);
    if (word_is(key, k, "EDGE_WEIGHT_SECTION"))
        return unsupported(f, line, err, "EDGE_WEIGHT_SECTION: expected coordinates, not a distance matrix");
    if (word_is(key, k, "DISPLAY_DATA_SECTION")) {
        skip_section(f->t);
        return INVIT_OK;
    }
    if (word_is(key, k, "EOF")) {
        *done = true;
        return INVIT_OK;
    }
    if (word_is(key, k, "Route") || word_is(key, k, "Cost"))
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err, "this is a solution: expected an instance");
    return inv_text_fail(f->t, line, INVIT_ERR_UNSUPPORTED, err,
                         "%.*s: expected a TSPLIB keyword with a value, NODE_COORD_SECTION, DEMAND_SECTION, "
                         "DEPOT_SECTION or EOF",
                         (int)(k < 40 ? k : 40), key);
}

/* ---- from what was read to an instance ----------------------------------------------------------------- */

static invit_status check_complete(tsplib *f, invit_error *err)
{
    inv_text *t = f->t;
    int64_t last = t->line;
    if (f->problem < 0) f->problem = f->demand_ids.line || f->capacity ? INVIT_CVRP : INVIT_TSP;
    if (!f->coord_ids.line)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err, "expected a NODE_COORD_SECTION, found none");
    if (!f->dimension)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err, "expected DIMENSION : n, found none");
    if (f->points.n != f->dimension)
        return inv_text_fail(t, f->coord_ids.line, INVIT_ERR_INPUT, err,
                             "expected %lld nodes (DIMENSION), found %lld", (long long)f->dimension,
                             (long long)f->points.n);
    if (f->metric < 0)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err,
                             "expected EDGE_WEIGHT_TYPE : EUC_2D, CEIL_2D, ATT or GEO, found none");
    if (f->problem == INVIT_TSP) return INVIT_OK;
    if (!f->capacity)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err, "expected CAPACITY : q for a CVRP, found none");
    if (!f->demand_ids.line)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err,
                             "expected a DEMAND_SECTION for a CVRP, found none");
    if (!f->depot_line)
        return inv_text_fail(t, last, INVIT_ERR_INPUT, err,
                             "expected a DEPOT_SECTION for a CVRP, found none");
    return INVIT_OK;
}

/* Where the node with an id goes: in the order of ids, the depot first. */
static int64_t slot_of(int64_t id, int64_t low, int64_t depot)
{
    if (depot < 0) return id - low;
    return id == depot ? 0 : id < depot ? id - low + 1 : id - low;
}

static invit_status place_demands(tsplib *f, invit_instance *p, int64_t low, int64_t depot, invit_error *err)
{
    const id_column *c = &f->demand_ids;
    for (int64_t i = 0; i < c->n; i++) {
        int64_t id = id_at(c, i), slot = slot_of(id, low, depot),
                line = c->regular ? c->line + 1 + i : c->line;
        if (slot == 0 && f->demand[i] != 0)
            return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err,
                                 "demand %d of the depot (node %lld): expected 0", f->demand[i],
                                 (long long)id);
        if (f->demand[i] > f->capacity)
            return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err,
                                 "demand %d of node %lld: expected at most the capacity, %lld", f->demand[i],
                                 (long long)id, (long long)f->capacity);
        p->demand[slot] = f->demand[i];
    }
    return INVIT_OK;
}

static invit_status build(tsplib *f, invit_instance **out, invit_error *err)
{
    INV_CHECK(check_complete(f, err));
    const id_column *c = &f->coord_ids;
    int64_t n = f->points.n, low = id_at(c, 0), depot = f->problem == INVIT_CVRP ? f->depot : -1;
    for (int64_t i = 1; c->id && i < n; i++)
        if (c->id[i] < low) low = c->id[i];
    INV_CHECK(check_ids(f, c, low, n, "NODE_COORD_SECTION", err));
    if (f->problem == INVIT_CVRP) {
        INV_CHECK(check_ids(f, &f->demand_ids, low, n, "DEMAND_SECTION", err));
        if (depot < low || depot >= low + n)
            return inv_text_fail(f->t, f->depot_line, INVIT_ERR_INPUT, err,
                                 "depot %lld: expected one of the nodes %lld..%lld", (long long)depot,
                                 (long long)low, (long long)(low + n - 1));
    }

    invit_instance *p = NULL;
    invit_status status = INVIT_OK;
    INV_TRY(inv_points_to_instance(&f->points, (invit_metric)f->metric, &p, err));
    p->first_id = (int32_t)low;
    if (c->id || depot > low) { /* not yet in the order of ids with the depot first */
        double *xy = malloc((size_t)n * 2 * sizeof *xy);
        if (!xy) INV_TRY(inv_no_memory(err, (size_t)n * 2 * sizeof *xy));
        for (int64_t i = 0; i < n; i++)
            memcpy(xy + 2 * slot_of(id_at(c, i), low, depot), p->xy + 2 * i, 2 * sizeof *xy);
        free(p->xy);
        p->xy = xy;
    }
    if (f->problem == INVIT_CVRP) {
        p->problem = INVIT_CVRP;
        p->capacity = f->capacity;
        p->demand = calloc((size_t)n, sizeof *p->demand);
        if (!p->demand) INV_TRY(inv_no_memory(err, (size_t)n * sizeof *p->demand));
        INV_TRY(place_demands(f, p, low, depot, err));
    }
    if (f->name && *f->name) {
        free(p->name);
        p->name = f->name;
        f->name = NULL;
    }
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
    tsplib f = {.t = t, .problem = -1, .metric = -1};
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
