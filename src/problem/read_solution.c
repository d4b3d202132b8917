/* Solutions: TSPLIB .tour, CVRPLIB .sol, MSVDRP solution lines, our tables of stops; told apart by content. What they leave out or
 * visit twice is the checker's business; here they speak of nodes that exist, and of no more than twice as
 * many as there are. */
#include "problem/read.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct invit_solution_reader {
    inv_text text;
    bool lines; /* it holds one solution per line                           */
    bool ended; /* a tour or routes, of which a file holds one, were read   */
};

/* A solution that grows as it is read. */
typedef struct draft {
    int32_t *node, *start; /* start[r] of the routes begun, without the end of the last */
    int64_t n, node_room;
    int64_t routes, route_room;
} draft;

static void destroy(draft *d)
{
    free(d->node);
    free(d->start);
}

static invit_status grow(int32_t **array, int64_t *room, invit_error *err)
{
    int64_t more_room = *room ? *room + *room / 2 : 256;
    if (more_room > INT32_MAX)
        return inv_fail(err, INVIT_ERR_UNSUPPORTED, "expected at most %d entries", INT32_MAX);
    int32_t *more = realloc(*array, (size_t)more_room * sizeof *more);
    if (!more) return inv_no_memory(err, (size_t)more_room * sizeof *more);
    *array = more;
    *room = more_room;
    return INVIT_OK;
}

static invit_status begin_route(draft *d, invit_error *err)
{
    if (d->routes + 1 >= d->route_room) INV_CHECK(grow(&d->start, &d->route_room, err));
    d->start[d->routes++] = (int32_t)d->n;
    return INVIT_OK;
}

static invit_status add_node(draft *d, int64_t node, invit_error *err)
{
    if (d->n == d->node_room) INV_CHECK(grow(&d->node, &d->node_room, err));
    d->node[d->n++] = (int32_t)node;
    return INVIT_OK;
}

static invit_status finish(draft *d, invit_solution **out, invit_error *err)
{
    int32_t none = 0;
    if (d->routes > 0) d->start[d->routes] = (int32_t)d->n; /* begin_route keeps room for it */
    const int32_t *node = d->node ? d->node : &none;
    const int32_t *start = d->routes ? d->start : &none;
    return invit_solution_create(node, start, (int32_t)d->routes, out, err);
}

/* An integer that ends at a blank, a line end, the end or `also`. */
static invit_status read_int(inv_text *t, char also, const char *what, int64_t low, int64_t high,
                             int64_t *value, invit_error *err)
{
    const char *after = inv_parse_int(t->at, value);
    if (!after || !(inv_is_blank(*after) || *after == '\n' || after >= t->end || (also && *after == also)) ||
        *value < low || *value > high)
        return inv_text_expected(t, err, "%s from %lld to %lld", what, (long long)low, (long long)high);
    t->at = after;
    return INVIT_OK;
}

static bool word_is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && strncasecmp(word, name, n) == 0;
}

static size_t word_length(const char *line, size_t n)
{
    size_t k = 0;
    while (k < n && !inv_is_blank(line[k]) && line[k] != ':' && line[k] != '#') k++;
    return k;
}

/* ---- TSPLIB: KEY : value, TOUR_SECTION, ids, -1 -------------------------------------------------------- */

/* Is this the word at `at`? */
static bool at_word(const inv_text *t, const char *name)
{
    size_t n = strlen(name);
    return strncasecmp(t->at, name, n) == 0 &&
           (t->at + n >= t->end || inv_is_blank(t->at[n]) || t->at[n] == '\n');
}

/* The ids, and nothing after them but -1 (TSPLIB writes two after the last of several tours) and EOF. */
static invit_status read_tour_section(inv_text *t, const invit_instance *p, draft *d, invit_error *err)
{
    int64_t low = p->first_id, high = low + p->n - 1;
    bool closed = false;
    INV_CHECK(begin_route(d, err));
    while (inv_text_skip_space(t) && !at_word(t, "EOF")) {
        int64_t id;
        if (at_word(t, "-1")) {
            closed = true;
            t->at += 2;
            continue;
        }
        if (closed) return inv_text_expected(t, err, "EOF or nothing after the tour");
        if (d->n >= 2 * (int64_t)p->n) return inv_text_expected(t, err, "-1 after %d nodes", p->n);
        INV_CHECK(read_int(t, 0, "a node id", low, high, &id, err));
        INV_CHECK(add_node(d, id - low, err));
    }
    return INVIT_OK;
}

static invit_status read_tour(inv_text *t, const invit_instance *p, draft *d, invit_error *err)
{
    while (inv_text_skip_space(t)) {
        const char *line;
        size_t n;
        int64_t number = t->line, dimension;
        INV_CHECK(inv_text_line(t, &line, &n, err));
        size_t k = word_length(line, n);
        if (word_is(line, k, "TOUR_SECTION")) {
            if (p->problem == INVIT_TSP) return read_tour_section(t, p, d, err);
            return inv_text_fail(t, number, INVIT_ERR_INPUT, err,
                                 "a TSPLIB tour solves a TSP: expected routes for this CVRP");
        }
        if (word_is(line, k, "EOF")) break;
        const char *colon = memchr(line, ':', n), *value = colon ? colon + 1 : NULL;
        if (!colon)
            return inv_text_fail(t, number, INVIT_ERR_INPUT, err, "expected KEY : value or TOUR_SECTION");
        while (value < line + n && inv_is_blank(*value)) value++;
        size_t length = (size_t)(line + n - value);
        if (word_is(line, k, "TYPE") && !word_is(value, length, "TOUR"))
            return inv_text_fail(t, number, INVIT_ERR_INPUT, err, "TYPE %.*s: expected a solution, TYPE TOUR",
                                 (int)(length < 40 ? length : 40), value);
        if (word_is(line, k, "DIMENSION") &&
            (!inv_parse_int(value, &dimension) || dimension < 1 || dimension > p->n))
            return inv_text_fail(t, number, INVIT_ERR_INPUT, err,
                                 "DIMENSION %.*s: expected at most %d, as the instance has",
                                 (int)(length < 20 ? length : 20), value, p->n);
    }
    return inv_text_expected(t, err, "a TOUR_SECTION");
}

/* ---- CVRPLIB: Route #1: 5 3 8, then Cost 123 ----------------------------------------------------------- */

static invit_status read_routes(inv_text *t, const invit_instance *p, draft *d, double *length,
                                invit_error *err)
{
    if (p->problem != INVIT_CVRP)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                             "routes solve a CVRP: expected a tour for this TSP");
    while (inv_text_skip_space(t)) {
        if (strncasecmp(t->at, "route", 5) == 0) {
            const char *colon = memchr(t->at, ':', (size_t)(t->end - t->at < 64 ? t->end - t->at : 64));
            if (!colon || memchr(t->at, '\n', (size_t)(colon - t->at)))
                return inv_text_expected(t, err, "'Route #number:'");
            t->at = colon + 1;
            INV_CHECK(begin_route(d, err));
            while (inv_text_skip_blanks(t)) {
                int64_t customer;
                INV_CHECK(read_int(t, 0, "a customer", 1, (int64_t)p->n - 1, &customer, err));
                if (d->n >= 2 * (int64_t)p->n)
                    return inv_text_expected(t, err, "%d customers in all", p->n - 1);
                INV_CHECK(add_node(d, customer, err));
            }
        } else if (strncasecmp(t->at, "cost", 4) == 0) {
            t->at += 4;
            while (inv_is_blank(*t->at) || *t->at == ':') t->at++;
            if (!inv_parse_double(t->at, length)) return inv_text_expected(t, err, "a number after Cost");
            inv_text_skip_line(t);
        } else if ((*t->at >= 'A' && *t->at <= 'Z') || (*t->at >= 'a' && *t->at <= 'z') || *t->at == '#') {
            inv_text_skip_line(t); /* Time 12.5, Date ..., remarks */
        } else {
            return inv_text_expected(t, err, "'Route #number: customers' or 'Cost length'");
        }
    }
    return INVIT_OK;
}

/* ---- MSVDRP: "i,j,k,... length seconds" a line --------------------------------------------------------- */

/* TSP: nodes from 0. CVRP: customers from 1 with 0 for the depot, or (as the published model counts)
 * customers from 0 with -1 for the depot; which one it is, shows in whether a -1 occurs. */
static invit_status read_indices(inv_text *t, const invit_instance *p, draft *d, invit_error *err)
{
    bool cvrp = p->problem == INVIT_CVRP, minus = false;
    for (;;) {
        int64_t v = 0;
        inv_text_ensure(t);
        INV_CHECK(read_int(t, ',', "a node", cvrp ? -1 : 0, (int64_t)p->n - 1, &v, err));
        minus = minus || v == -1;
        if (d->n > 2 * (int64_t)p->n + 1) return inv_text_expected(t, err, "at most %d nodes", 2 * p->n + 1);
        INV_CHECK(add_node(d, v, err));
        if (*t->at != ',') break;
        t->at++;
    }
    if (d->n == 1 && p->n > (cvrp ? 2 : 1)) { /* most likely ids one per line, of which this is the first */
        inv_text_skip_blanks(t);
        return inv_text_expected(t, err, "a comma and the next node, all of a solution on one line%s",
                                 cvrp ? "" : " (ids one per line are read after a line TOUR_SECTION)");
    }
    if (!cvrp) {
        INV_CHECK(begin_route(d, err));
        d->start[0] = 0;
        if (d->n == (int64_t)p->n + 1 && d->node[d->n - 1] == d->node[0])
            d->n--; /* the return is written out */
        return INVIT_OK;
    }
    int64_t n = d->n;
    bool open = false;
    d->n = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t v = d->node[i] + (minus ? 1 : 0);
        if (v == 0) {
            open = false;
            continue;
        }
        if (v > p->n - 1)
            return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err, "customer %d: expected at most %d",
                                 d->node[i], p->n - 2);
        if (!open) INV_CHECK(begin_route(d, err));
        open = true;
        d->node[d->n++] = v;
    }
    return INVIT_OK;
}

static invit_status read_line(inv_text *t, const invit_instance *p, draft *d, double *length, double *seconds,
                              invit_error *err)
{
    INV_CHECK(read_indices(t, p, d, err));
    if (inv_text_skip_blanks(t)) INV_CHECK(inv_read_number(t, 0, "a length", length, err));
    if (inv_text_skip_blanks(t)) INV_CHECK(inv_read_number(t, 0, "the seconds", seconds, err));
    if (inv_text_skip_blanks(t))
        return inv_text_expected(t, err, "the end of the line after 'nodes length seconds'");
    return INVIT_OK;
}

/* ---- the table of stops that we write: route, stop, node and more --------------------------------------- */

/* A field of the first columns, perhaps in quotes as some spreadsheets write them; the text after it and its separator,
 * or NULL. */
static const char *skip_name(const char *p, const char *name)
{
    bool quoted = *p == '"';
    size_t n = strlen(name);
    p += quoted;
    if (strncasecmp(p, name, n) != 0 || (quoted && p[n] != '"')) return NULL;
    p += n + quoted;
    return *p && strchr(",;\t|", *p) ? p + 1 : NULL;
}

static bool is_stops_header(const char *p)
{
    const char *stop = skip_name(p, "route"), *node = stop ? skip_name(stop, "stop") : NULL;
    return node && strncasecmp(*node == '"' ? node + 1 : node, "node", 4) == 0;
}

/* Spreadsheets tell each other the separator so. */
static bool is_sep_line(const char *p)
{
    return strncasecmp(p, "sep=", 4) == 0 && p[4] && strchr(",;\t|", p[4]);
}

/* One of the three numbers a row begins with, and what follows it. */
static const char *parse_stop_number(const inv_text *t, int64_t *value)
{
    bool quoted = *t->at == '"';
    const char *after = inv_parse_int(t->at + quoted, value);
    if (!after || (quoted && *after++ != '"')) return NULL;
    return after >= t->end || *after == '\n' || *after == '\r' || strchr(",;\t| ", *after) ? after : NULL;
}

/* The depot, and at the end of a closed tour its first node once more, are part of the way, not of the route. */
static invit_status read_stops(inv_text *t, const invit_instance *p, draft *d, invit_error *err)
{
    bool cvrp = p->problem == INVIT_CVRP;
    int64_t last = -1;
    inv_text_skip_line(t);
    while (inv_text_skip_space(t)) {
        static const char *const what[] = {"a route's number", "a stop's number", "a node"};
        int64_t value[3] = {0};
        for (int k = 0; k < 3; k++) {
            const char *after = parse_stop_number(t, &value[k]);
            if (!after || value[k] < 0 || value[k] >= (k == 2 ? p->n : INT32_MAX))
                return inv_text_expected(t, err, k == 2 ? "%s from 0 to %d" : "%s", what[k], p->n - 1);
            t->at = after + (k < 2 && after < t->end && *after != '\n');
        }
        if (d->n > 2 * (int64_t)p->n + 1) return inv_text_expected(t, err, "at most %d stops", 2 * p->n + 1);
        if (value[0] != last) INV_CHECK(begin_route(d, err));
        last = value[0];
        if (!(cvrp && value[2] == 0)) INV_CHECK(add_node(d, value[2], err));
        inv_text_skip_line(t);
    }
    if (!cvrp && d->n == (int64_t)p->n + 1 && d->node[d->n - 1] == d->node[0]) d->n--;
    return INVIT_OK;
}

static bool starts_number(char c)
{
    return c == '-' || (c >= '0' && c <= '9');
}

/* ---- the public reader --------------------------------------------------------------------------------- */

static invit_status begin_reader(invit_solution_reader *r, invit_status opened, invit_solution_reader **out,
                                 invit_error *err)
{
    invit_status status = opened;
    if (status == INVIT_OK) status = inv_text_begin(&r->text, err);
    if (status == INVIT_OK && inv_text_at_end(&r->text)) {
        status = inv_text_status(&r->text, err);
        if (status == INVIT_OK)
            status = inv_fail(err, INVIT_ERR_INPUT, "%s:1: expected a solution, found an empty file",
                              r->text.name);
    }
    if (status == INVIT_OK)
        *out = r;
    else
        invit_solution_reader_close(r);
    return status;
}

invit_status invit_solution_reader_open(const char *path, invit_solution_reader **out, invit_error *err)
{
    *out = NULL;
    struct stat info;
    invit_solution_reader *r = calloc(1, sizeof *r);
    if (!r) return inv_no_memory(err, sizeof *r);
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return begin_reader(r, inv_text_open(&r->text, path, err), out, err);
    size_t room = strlen(path) + sizeof "/stops.csv"; /* a plan that was written as a folder */
    char *stops = malloc(room);
    if (stops) snprintf(stops, room, "%s/stops.csv", path);
    invit_status opened = stops ? inv_text_open(&r->text, stops, err) : inv_no_memory(err, room);
    free(stops);
    return begin_reader(r, opened, out, err);
}

invit_status invit_solution_reader_open_memory(const void *data, size_t size, const char *name,
                                               invit_solution_reader **out, invit_error *err)
{
    *out = NULL;
    invit_solution_reader *r = calloc(1, sizeof *r);
    if (!r) return inv_no_memory(err, sizeof *r);
    return begin_reader(r, inv_text_open_memory(&r->text, data, size, name, err), out, err);
}

void invit_solution_reader_close(invit_solution_reader *r)
{
    if (!r) return;
    inv_text_close(&r->text);
    free(r);
}

invit_status invit_solution_reader_next(invit_solution_reader *r, const invit_instance *p,
                                        invit_solution **out, invit_solution_info *info, invit_error *err)
{
    *out = NULL;
    inv_text *t = &r->text;
    double length = NAN, seconds = NAN;
    draft d = {0};
    invit_status status = INVIT_OK;
    if (r->ended || !inv_text_skip_space(t)) return inv_text_status(t, err);
    if (is_sep_line(t->at)) inv_text_skip_line(t);
    if (!inv_text_skip_space(t)) return inv_text_status(t, err);
    r->lines = r->lines || starts_number(*t->at);
    if (r->lines)
        INV_TRY(read_line(t, p, &d, &length, &seconds, err));
    else if (is_stops_header(t->at))
        INV_TRY(read_stops(t, p, &d, err));
    else if (strncasecmp(t->at, "route", 5) == 0 || strncasecmp(t->at, "cost", 4) == 0)
        INV_TRY(read_routes(t, p, &d, &length, err));
    else
        INV_TRY(read_tour(t, p, &d, err));
    INV_TRY(inv_text_status(t, err));
    INV_TRY(finish(&d, out, err));
    r->ended = !r->lines;
    if (info) *info = (invit_solution_info){.length = length, .seconds = seconds};
done:
    destroy(&d);
    return status;
}

invit_status inv_solution_read(const char *path, const invit_instance *p, int64_t index, invit_solution **out,
                               invit_solution_info *info, invit_error *err)
{
    *out = NULL;
    invit_solution_reader *r;
    INV_CHECK(invit_solution_reader_open(path, &r, err));
    invit_status status = INVIT_OK;
    int64_t i = 0;
    /* lines of solutions can be skipped; a tour or routes file holds one solution, whatever the index */
    for (; i < index && inv_text_skip_space(&r->text) && starts_number(*r->text.at); i++)
        inv_text_skip_line(&r->text);
    INV_TRY(invit_solution_reader_next(r, p, out, info, err));
    if (!*out)
        INV_TRY(inv_fail(err, INVIT_ERR_ARGUMENT, "%s: no solution %lld: the file holds %lld", r->text.name,
                         (long long)index, (long long)i));
done:
    invit_solution_reader_close(r);
    return status;
}
