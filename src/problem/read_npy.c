/* NumPy arrays (.npy, versions 1 to 3) of shape (n,2), one TSP instance, (m,n,2), m of them, or (n,n), distances.
 * Floats or integers of 4 or 8 bytes in either byte order, in C order. */
#include "problem/read.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 16 }; /* nodes of a matrix */

static invit_status fail(const inv_text *t, invit_status code, invit_error *err, const char *what)
{
    INV_CHECK(inv_text_status(t, err));
    return inv_fail(err, code, "%s: NumPy header: %s", t->name, what);
}

/* The text after 'key': in the header's dict, or NULL. */
static const char *value_of(const char *dict, const char *key)
{
    const char *p = strstr(dict, key);
    if (!p) return NULL;
    p += strlen(key);
    if (*p != '\'' && *p != '"') return NULL;
    p++;
    while (*p == ' ') p++;
    if (*p++ != ':') return NULL;
    while (*p == ' ') p++;
    return p;
}

static invit_status read_descr(const inv_text *t, inv_read_state *s, const char *p, invit_error *err)
{
    const uint16_t one = 1;
    bool little = *(const unsigned char *)&one == 1;
    if (!p || (*p != '\'' && *p != '"'))
        return fail(t, INVIT_ERR_INPUT, err, "expected 'descr': '<f8' or the like");
    char order = p[1], kind = order ? p[2] : 0;
    char width = kind ? p[3] : 0;
    char quote = width ? p[4] : 0;
    if ((order != '<' && order != '>' && order != '=') || (kind != 'f' && kind != 'i') ||
        (width != '4' && width != '8') || quote != *p)
        return fail(t, INVIT_ERR_UNSUPPORTED, err, "expected numbers of type f4, f8, i4 or i8");
    s->width = width - '0';
    s->integers = kind == 'i';
    s->swap = order != '=' && (order == '<') != little;
    return INVIT_OK;
}

static invit_status read_shape(const inv_text *t, inv_read_state *s, const char *p, invit_error *err)
{
    int64_t size[3] = {0};
    int axes = 0;
    if (!p || *p++ != '(')
        return fail(t, INVIT_ERR_INPUT, err, "expected 'shape': (n, 2), (m, n, 2) or (n, n)");
    for (;;) {
        while (*p == ' ' || *p == ',') p++;
        if (*p == ')') break;
        p = axes < 3 ? inv_parse_int(p, &size[axes++]) : NULL;
        if (!p) return fail(t, INVIT_ERR_UNSUPPORTED, err, "expected the shape (n, 2), (m, n, 2) or (n, n)");
    }
    s->matrix = axes == 2 && size[0] == size[1] && (size[0] != 2 || s->matrix);
    if (!s->matrix && (axes < 2 || size[axes - 1] != 2))
        return fail(t, INVIT_ERR_UNSUPPORTED, err, "expected the shape (n, 2), (m, n, 2) or (n, n)");
    s->nodes = size[axes - 2];
    if (s->matrix && s->nodes > LARGEST)
        return inv_fail(err, INVIT_ERR_UNSUPPORTED, "%s: expected a matrix of at most %d nodes", t->name,
                        LARGEST);
    s->remaining = axes == 3 ? size[0] : 1;
    s->many = axes == 3;
    if (s->nodes < 1 || s->nodes > INT32_MAX / 2 || s->remaining < 1)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: NumPy header: expected 1 to %d nodes and at least one instance", t->name,
                        INT32_MAX / 2);
    return INVIT_OK;
}

static invit_status read_header(inv_text *t, inv_read_state *s, invit_error *err)
{
    inv_text_ensure(t);
    const unsigned char *b = (const unsigned char *)t->at;
    size_t have = (size_t)(t->end - t->at), length, before;
    if (have < 12) return fail(t, INVIT_ERR_INPUT, err, "the file ends within it");
    if (b[6] < 1 || b[6] > 3) return fail(t, INVIT_ERR_UNSUPPORTED, err, "expected format version 1, 2 or 3");
    before = b[6] == 1 ? 10 : 12;
    length = b[8] | (size_t)b[9] << 8;
    if (b[6] > 1) length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (length >= 4096) return fail(t, INVIT_ERR_UNSUPPORTED, err, "expected fewer than 4096 bytes");
    inv_text_refill(t, before + length);
    if ((size_t)(t->end - t->at) < before + length)
        return fail(t, INVIT_ERR_INPUT, err, "the file ends within it");
    char dict[4096];
    memcpy(dict, t->at + before, length);
    dict[length] = 0;
    t->at += before + length;

    INV_CHECK(read_descr(t, s, value_of(dict, "descr"), err));
    INV_CHECK(read_shape(t, s, value_of(dict, "shape"), err));
    const char *fortran = value_of(dict, "fortran_order");
    if (!fortran || strncmp(fortran, "False", 5) != 0)
        return fail(t, INVIT_ERR_UNSUPPORTED, err, "expected C order (numpy.ascontiguousarray makes it)");
    return INVIT_OK;
}

static invit_status fail_longer(const inv_text *t, invit_error *err)
{
    return inv_fail(err, INVIT_ERR_INPUT, "%s: expected the end of the file after the array", t->name);
}

/* Where the file's size is known, what follows the array is refused before any of it is solved. */
static invit_status check_size(const inv_text *t, const inv_read_state *s, invit_error *err)
{
    int64_t left = inv_text_left(t), instance = (s->matrix ? s->nodes : 2) * s->width * s->nodes;
    if (left < 0) return INVIT_OK;
    int64_t whole = left / instance;
    return whole > s->remaining || (whole == s->remaining && left % instance) ? fail_longer(t, err)
                                                                              : INVIT_OK;
}

static double decode(const inv_read_state *s, const char *bytes)
{
    unsigned char b[8] = {0};
    for (int i = 0; i < s->width; i++) b[i] = (unsigned char)bytes[s->swap ? s->width - 1 - i : i];
    if (s->width == 8) {
        double f;
        int64_t n;
        memcpy(&f, b, 8);
        memcpy(&n, b, 8);
        return s->integers ? (double)n : f;
    }
    float f;
    int32_t n;
    memcpy(&f, b, 4);
    memcpy(&n, b, 4);
    return s->integers ? (double)n : (double)f;
}

/* The rows of a matrix; memory grows with what the file holds. */
static invit_status read_rows(inv_text *t, const inv_read_state *s, double **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t count = (size_t)s->nodes * (size_t)s->nodes, room = 0;
    double *value = NULL;
    for (size_t i = 0; i < count; i++) {
        inv_text_ensure(t);
        if (t->end - t->at < s->width) {
            INV_TRY(inv_text_status(t, err));
            INV_TRY(inv_fail(err, INVIT_ERR_INPUT, "%s: expected %zu numbers, the file ends after %zu",
                             t->name, count, i));
        }
        if (i == room) {
            room = room ? room + room / 2 : 1024;
            if (room > count) room = count;
            double *more = realloc(value, room * sizeof *more);
            if (!more) INV_TRY(inv_no_memory(err, room * sizeof *more));
            value = more;
        }
        value[i] = decode(s, t->at);
        t->at += s->width;
    }
    if (!inv_text_at_end(t)) INV_TRY(fail_longer(t, err));
    *out = value;
    value = NULL;
done:
    free(value);
    return status;
}

invit_status inv_read_matrix_npy(inv_text *t, double **out, int64_t *n, invit_error *err)
{
    inv_read_state s = {.matrix = true};
    INV_CHECK(read_header(t, &s, err));
    if (!s.matrix) return fail(t, INVIT_ERR_INPUT, err, "expected a square matrix, the shape (n, n)");
    INV_CHECK(check_size(t, &s, err));
    *n = s.nodes;
    return read_rows(t, &s, out, err);
}

static invit_status read_matrix(inv_text *t, const inv_read_state *s, invit_instance **out, invit_error *err)
{
    double *value = NULL;
    INV_CHECK(read_rows(t, s, &value, err));
    invit_status status = invit_instance_create_matrix(value, s->nodes, out, err);
    free(value);
    return status;
}

invit_status inv_read_npy(inv_text *t, inv_read_state *s, invit_instance **out, invit_error *err)
{
    *out = NULL;
    if (s->index == 0) {
        INV_CHECK(read_header(t, s, err));
        INV_CHECK(check_size(t, s, err));
        if (s->matrix) return read_matrix(t, s, out, err);
    }
    if (s->matrix) return INVIT_OK;
    if (s->remaining == 0) return inv_text_at_end(t) ? inv_text_status(t, err) : fail_longer(t, err);
    invit_status status = INVIT_OK;
    inv_points points = {0};
    for (int64_t i = 0; i < s->nodes; i++) {
        inv_text_ensure(t);
        if (t->end - t->at < 2 * s->width) {
            INV_TRY(inv_text_status(t, err));
            INV_TRY(inv_fail(err, INVIT_ERR_INPUT,
                             "%s: instance %lld: expected %lld nodes, the file ends after %lld", t->name,
                             (long long)s->index, (long long)s->nodes, (long long)i));
        }
        double x = decode(s, t->at), y = decode(s, t->at + s->width);
        if (!(fabs(x) <= INV_FARTHEST && fabs(y) <= INV_FARTHEST))
            INV_TRY(inv_fail(err, INVIT_ERR_INPUT,
                             "%s: instance %lld, node %lld: expected coordinates from %g to %g", t->name,
                             (long long)s->index, (long long)i, -INV_FARTHEST, INV_FARTHEST));
        t->at += 2 * s->width;
        INV_TRY(inv_points_add(&points, x, y, err));
    }
    INV_TRY(inv_points_to_instance(&points, INVIT_EXACT, out, err));
    s->remaining--;
done:
    inv_points_destroy(&points);
    return status;
}
