/* The sections of a TSPLIB file: numbers for each node id, matrices and depots. */
#include "problem/tsplib.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

invit_status inv_tsplib_unsupported(const inv_tsplib *f, int64_t line, invit_error *err, const char *what)
{
    return inv_text_fail(f->t, line, INVIT_ERR_UNSUPPORTED, err, "%s", what);
}

/* ---- the ids of a section ------------------------------------------------------------------------------ */

int64_t inv_tsplib_id(const inv_tsplib_ids *c, int64_t i)
{
    return c->id ? c->id[i] : c->first + i;
}

static invit_status add_id(inv_tsplib_ids *c, int32_t id, int64_t line, invit_error *err)
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
invit_status inv_tsplib_check_ids(const inv_tsplib *f, const inv_tsplib_ids *c, int64_t low, int64_t n,
                                  const char *section, invit_error *err)
{
    if (!c->id && c->first == low && c->n == n) return INVIT_OK;
    invit_status status = INVIT_OK;
    unsigned char *seen = calloc((size_t)n / 8 + 1, 1);
    if (!seen) return inv_no_memory(err, (size_t)n / 8);
    for (int64_t i = 0; i < c->n; i++) {
        int64_t id = inv_tsplib_id(c, i), slot = id - low, line = c->regular ? c->line + 1 + i : c->line;
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

bool inv_tsplib_keyword(char c)
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

static invit_status begin_section(inv_tsplib *f, inv_tsplib_ids *c, const char *section, invit_error *err)
{
    int64_t line = f->t->line - 1; /* the keyword's line has just been read */
    if (c->line)
        return inv_text_fail(f->t, line, INVIT_ERR_INPUT, err, "%s appears twice (first in line %lld)",
                             section, (long long)c->line);
    c->line = line;
    c->regular = true;
    return INVIT_OK;
}

/* What follows the first line of coordinates, as far as it is in order. */
static invit_status read_blocks(inv_tsplib *f, inv_tsplib_ids *ids, inv_points *points, invit_error *err)
{
    if (!inv_text_skip_space(f->t)) return INVIT_OK;
    bool regular = ids->regular && f->t->line == ids->line + 1 + ids->n;
    int64_t most = f->dimension ? f->dimension - points->n : INT32_MAX - 1 - ids->first - ids->n;
    INV_CHECK(inv_points_read_blocks(points, f->t, ids->first + ids->n, most, err));
    if (points->n > ids->n) ids->regular = regular;
    ids->n = points->n;
    return INVIT_OK;
}

/* "id x y" a line */
invit_status inv_tsplib_coords(inv_tsplib *f, inv_tsplib_ids *ids, inv_points *points, const char *name,
                               invit_error *err)
{
    inv_text *t = f->t;
    INV_CHECK(begin_section(f, ids, name, err));
    while (inv_text_skip_space(t) && !inv_tsplib_keyword(*t->at)) {
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
        if (points->n == 1) INV_CHECK(read_blocks(f, ids, points, err));
    }
    if (f->dimension && points->n < f->dimension)
        return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err, "expected %lld nodes (DIMENSION), found %lld",
                             (long long)f->dimension, (long long)points->n);
    return INVIT_OK;
}

/* "id value" or "id value value" a line */
invit_status inv_tsplib_values(inv_tsplib *f, inv_tsplib_section *s, int width, const char *name,
                               const char *what, double low, invit_error *err)
{
    inv_text *t = f->t;
    int64_t room = 0;
    s->width = width;
    INV_CHECK(begin_section(f, &s->ids, name, err));
    while (inv_text_skip_space(t) && !inv_tsplib_keyword(*t->at)) {
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
            if (!(*v >= low && *v <= INV_LARGEST_COST)) {
                t->at = word;
                return inv_text_expected(t, err, "a %s from %g to 1e15 for node %d", what, low, id);
            }
        }
        INV_CHECK(end_entry(t, what, err));
        INV_CHECK(add_id(&s->ids, id, line, err));
    }
    return INVIT_OK;
}

invit_status inv_tsplib_weights(inv_tsplib *f, int64_t line, invit_error *err)
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
    if (inv_text_skip_space(f->t) && !inv_tsplib_keyword(*f->t->at))
        return inv_text_expected(f->t, err, "a keyword or EOF after the matrix");
    return INVIT_OK;
}

/* One id, then -1 */
invit_status inv_tsplib_depots(inv_tsplib *f, invit_error *err)
{
    inv_text *t = f->t;
    int64_t section = t->line - 1;
    while (inv_text_skip_space(t) && !inv_tsplib_keyword(*t->at)) {
        int64_t id;
        int64_t line = t->line;
        const char *after = inv_parse_int(t->at, &id);
        if (!after || !ends_word(t, after) || id < -1 || id > INT32_MAX - 1)
            return inv_text_expected(t, err, "the depot's node id or -1");
        if (id == -1) {
            t->at = after;
            return INVIT_OK;
        }
        if (f->depot_line)
            return inv_tsplib_unsupported(f, line, err, "more than one depot: expected one depot and -1");
        t->at = after;
        f->depot = id;
        f->depot_line = line;
    }
    if (!f->depot_line)
        return inv_text_fail(t, section, INVIT_ERR_INPUT, err,
                             "expected a depot in DEPOT_SECTION, found none");
    return INVIT_OK;
}
