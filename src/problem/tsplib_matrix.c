/* TSPLIB's EDGE_WEIGHT_SECTION in all its formats, as a full matrix. */
#include "problem/read.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LARGEST = 1 << 16 }; /* nodes of a matrix: 32 GB */

/* Which entries stand in the file, row by row: all; or those above or below the diagonal, with it or without. By
 * columns, upper ones are lower rows and the other way round. */
typedef enum part { FULL, ABOVE, BELOW } part;

static const struct {
    const char *name;
    part part;
    bool diagonal;
} formats[] = {
    {"FULL_MATRIX", FULL, true},     {"UPPER_ROW", ABOVE, false},     {"LOWER_ROW", BELOW, false},
    {"UPPER_DIAG_ROW", ABOVE, true}, {"LOWER_DIAG_ROW", BELOW, true}, {"UPPER_COL", BELOW, false},
    {"LOWER_COL", ABOVE, false},     {"UPPER_DIAG_COL", BELOW, true}, {"LOWER_DIAG_COL", ABOVE, true}};

int inv_matrix_format(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strlen(formats[i].name) == length && strncasecmp(formats[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

invit_status inv_read_edge_weights(inv_text *t, int format, int64_t n, double **out, invit_error *err)
{
    *out = NULL;
    invit_status status = INVIT_OK;
    double *value = NULL, *m = NULL;
    part part = formats[format].part;
    bool diagonal = formats[format].diagonal;
    size_t side = (size_t)n, count = 0, room = 0;
    if (n > LARGEST)
        return inv_text_fail(t, t->line, INVIT_ERR_UNSUPPORTED, err, "expected a matrix of at most %d nodes",
                             LARGEST);
    size_t wanted = diagonal ? side * (side + 1) / 2 : side * (side - 1) / 2;
    if (part == FULL) wanted = side * side;
    while (count < wanted) { /* memory grows with what the file holds, not with what it claims */
        if (!inv_text_skip_space(t))
            INV_TRY(inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                                  "expected %zu numbers in EDGE_WEIGHT_SECTION (%s of %lld nodes), found %zu",
                                  wanted, formats[format].name, (long long)n, count));
        if (count == room) {
            room = room ? room + room / 2 : 1024;
            double *more = realloc(value, room * sizeof *more);
            if (!more) INV_TRY(inv_no_memory(err, room * sizeof *more));
            value = more;
        }
        INV_TRY(inv_read_number(t, 0, "a number in EDGE_WEIGHT_SECTION", &value[count], err));
        count++;
    }
    m = calloc(side * side, sizeof *m);
    if (!m) INV_TRY(inv_no_memory(err, side * side * sizeof *m));
    size_t k = 0;
    for (size_t i = 0; i < side; i++) {
        size_t from = part == ABOVE ? i + !diagonal : 0;
        size_t to = part == BELOW ? i + diagonal : side;
        for (size_t j = from; j < to; j++, k++) {
            m[i * side + j] = value[k];
            if (part != FULL) m[j * side + i] = value[k];
        }
    }
    *out = m;
    m = NULL;
done:
    free(value);
    free(m);
    return status;
}
