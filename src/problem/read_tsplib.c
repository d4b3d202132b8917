/* TSPLIB and CVRPLIB instances. Real files vary: keywords in any case and order, "KEY: v" or "KEY : v", tabs,
 * quotes, CRLF, no EOF, ids that start anywhere. What cannot be honoured (several depots, fixed edges) is
 * refused. */
#include "problem/tsplib.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void destroy(inv_tsplib *f)
{
    free(f->name);
    free(f->comment);
    inv_points_destroy(&f->points);
    inv_points_destroy(&f->display);
    free(f->coord_ids.id);
    free(f->display_ids.id);
    inv_tsplib_section *sections[] = {&f->demands, &f->services, &f->windows};
    for (int i = 0; i < 3; i++) {
        free(sections[i]->ids.id);
        free(sections[i]->value);
    }
    free(f->weights);
}

static bool word_is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && strncasecmp(word, name, n) == 0;
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

static invit_status read_type(inv_tsplib *f, const char *value, size_t n, int64_t line, invit_error *err)
{
    size_t word = 0;
    while (word < n && inv_tsplib_keyword(value[word])) word++;
    if (word_is(value, word, "TSP") || word_is(value, word, "ATSP"))
        f->problem = INVIT_TSP;
    else if (word_is(value, word, "CVRP") || word_is(value, word, "VRPTW") ||
             word_is(value, word, "CVRPTW") || word_is(value, word, "DCVRP") || word_is(value, word, "ACVRP"))
        f->problem = INVIT_CVRP;
    else if (word_is(value, word, "TOUR"))
        return inv_tsplib_unsupported(f, line, err,
                                      "TYPE TOUR is a solution: expected an instance (TYPE TSP or CVRP)");
    else
        return inv_text_fail(f->t, line, INVIT_ERR_UNSUPPORTED, err,
                             "TYPE %.*s: expected TSP, ATSP, CVRP or VRPTW", (int)(n < 40 ? n : 40), value);
    return INVIT_OK;
}

static invit_status read_metric(inv_tsplib *f, const char *value, size_t n, int64_t line, invit_error *err)
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

static invit_status read_count(const inv_tsplib *f, const char *key, const char *value, size_t n,
                               int64_t line, int64_t largest, int64_t *count, invit_error *err)
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

static invit_status read_value(const inv_tsplib *f, const char *key, const char *value, size_t n,
                               int64_t line, double *number, invit_error *err)
{
    char text[64] = "";
    const char *after = NULL;
    double v = 0;
    if (n < sizeof text) {
        memcpy(text, value, n);
        after = inv_parse_double(text, &v);
    }
    if (!after || *after || !(v >= 0 && v <= INV_LARGEST_COST))
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err, "%s '%.*s': expected a number from 0 to 1e15",
                             key, (int)(n < 40 ? n : 40), value);
    *number = v;
    return INVIT_OK;
}

/* A whole number from 1, or one with decimals, as the demands may have. */
static invit_status read_capacity(inv_tsplib *f, const char *value, size_t n, int64_t line, invit_error *err)
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

static invit_status read_specification(inv_tsplib *f, const char *key, size_t k, const char *value, size_t n,
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
        return inv_tsplib_unsupported(f, line, err, "NODE_COORD_TYPE: expected TWOD_COORDS or NO_COORDS");
    if (word_is(key, k, "DISTANCE")) return read_value(f, "DISTANCE", value, n, line, &f->distance, err);
    if (word_is(key, k, "SERVICE_TIME"))
        return read_value(f, "SERVICE_TIME", value, n, line, &f->service, err);
    if (word_is(key, k, "VEHICLES"))
        return read_count(f, "VEHICLES", value, n, line, INT32_MAX, &f->vehicles, err);
    return INVIT_OK; /* the rest (display hints, generator notes) does not change the problem */
}

static invit_status read_section(inv_tsplib *f, const char *key, size_t k, int64_t line, bool *done,
                                 invit_error *err)
{
    if (word_is(key, k, "NODE_COORD_SECTION"))
        return inv_tsplib_coords(f, &f->coord_ids, &f->points, "NODE_COORD_SECTION", err);
    if (word_is(key, k, "DISPLAY_DATA_SECTION"))
        return inv_tsplib_coords(f, &f->display_ids, &f->display, "DISPLAY_DATA_SECTION", err);
    if (word_is(key, k, "DEMAND_SECTION"))
        return inv_tsplib_values(f, &f->demands, 1, "DEMAND_SECTION", "demand", 0, err);
    if (word_is(key, k, "SERVICE_TIME_SECTION"))
        return inv_tsplib_values(f, &f->services, 1, "SERVICE_TIME_SECTION", "service time", 0, err);
    if (word_is(key, k, "TIME_WINDOW_SECTION"))
        return inv_tsplib_values(f, &f->windows, 2, "TIME_WINDOW_SECTION", "time", -INV_LARGEST_COST, err);
    if (word_is(key, k, "DEPOT_SECTION")) return inv_tsplib_depots(f, err);
    if (word_is(key, k, "EDGE_WEIGHT_SECTION")) return inv_tsplib_weights(f, line, err);
    if (word_is(key, k, "FIXED_EDGES_SECTION"))
        return inv_tsplib_unsupported(f, line, err,
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

invit_status inv_read_tsplib(inv_text *t, inv_read_state *state, invit_instance **out, invit_error *err)
{
    *out = NULL;
    if (state->index > 0) return INVIT_OK; /* one instance per file; what follows EOF does not count */
    inv_tsplib f = {.t = t, .problem = -1, .metric = -1, .format = -1};
    invit_status status = INVIT_OK;
    bool done = false;
    while (!done && inv_text_skip_space(t)) {
        int64_t line = t->line;
        const char *text;
        size_t n, k = 0;
        if (!inv_tsplib_keyword(*t->at)) INV_TRY(inv_text_expected(t, err, "a TSPLIB keyword"));
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
    INV_TRY(inv_tsplib_build(&f, out, err));
done:
    destroy(&f);
    return status;
}
