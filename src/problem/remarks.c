/* Remarks on places that look wrong: nothing is changed and nothing refused, but the reader is told before vans are sent
 * there. */
#include "problem/metric.h"

#include "base/longitude.h"
#include "problem/read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALONE 500000.0 /* metres to the nearest other stop from which on a place is doubted */
enum { TOLD = 5 };     /* of a kind, one line each; the others are counted                  */

typedef struct remarks {
    const invit_instance *p;
    const int32_t *line; /* [n] or NULL */
    inv_read_state *state;
    double centre[2];    /* medians     */
    double radius;       /* half of the stops are nearer to the centre */
    unsigned char *told; /* [n] is there a remark already? */
} remarks;

static void note(inv_read_state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(inv_read_state *state, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    inv_read_note(state, format, args);
    va_end(args);
}

/* "line 17, stop 16 'Meier'" */
static const char *where(const remarks *r, int32_t node, char text[128])
{
    char name[INV_NODE_TEXT];
    inv_node_text(r->p, node, name);
    if (r->line)
        snprintf(text, 128, "line %d, %s", r->line[node], name);
    else
        snprintf(text, 128, "%s", name);
    return text;
}

static const double *place(const remarks *r, int32_t node)
{
    return r->p->xy + 2 * (size_t)node;
}

static double from_centre(const remarks *r, const double *at)
{
    return inv_haversine_distance(r->centre, at);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int32_t n)
{
    qsort(value, (size_t)n, sizeof *value, ascending);
    return value[n / 2];
}

/* Of many stops every so-manieth is enough. */
static bool find_centre(remarks *r)
{
    enum { MOST = 4000 };
    int32_t step = r->p->n / MOST + 1, n = (r->p->n + step - 1) / step;
    double *value = malloc((size_t)n * sizeof *value);
    if (!value) return false;
    for (int k = 0; k < 2; k++) {
        for (int32_t i = 0; i < n; i++) value[i] = place(r, i * step)[k];
        r->centre[k] = median(value, n);
    }
    for (int32_t i = 0; i < n; i++) value[i] = from_centre(r, place(r, i * step));
    r->radius = median(value, n);
    free(value);
    return true;
}

/* Is this stop far from where the others are? */
static bool is_outside(const remarks *r, int32_t node)
{
    return from_centre(r, place(r, node)) > 5 * r->radius + 100000;
}

/* What a geocoder answers when it finds nothing. */
static bool is_nowhere(const remarks *r, int32_t node)
{
    const double *at = place(r, node);
    return at[0] == 0 && at[1] == 0 && is_outside(r, node);
}

/* Would it be among the others with latitude and longitude exchanged? */
static bool is_swapped(const remarks *r, int32_t node)
{
    const double *at = place(r, node), swapped[2] = {at[1], inv_wrap_longitude(at[0])};
    return is_outside(r, node) && fabs(swapped[1]) <= 90 && from_centre(r, swapped) <= 3 * r->radius + 50000;
}

/* ---- no other stop near -------------------------------------------------------------------------------- */

/* Cells of two degrees: whoever shares one with another is not alone. */
enum { DEGREES = 2, COLUMNS = 360 / DEGREES, ROWS = 180 / DEGREES };

static int32_t cell_of(const double *at)
{
    int32_t column = (int32_t)((inv_wrap_longitude(at[0]) + 180) / DEGREES),
            row = (int32_t)((at[1] + 90) / DEGREES);
    if (row >= ROWS) row = ROWS - 1; /* the pole */
    if (column >= COLUMNS) column = COLUMNS - 1;
    return row * COLUMNS + column;
}

static bool is_alone(const remarks *r, int32_t node)
{
    for (int32_t i = 0; i < r->p->n; i++)
        if (i != node && inv_haversine_distance(place(r, i), place(r, node)) <= ALONE) return false;
    return true;
}

/* One by one, if they are the exception: capitals of the world are all alone. Only those that have a cell for themselves
 * are compared with all others, if that is not too much work. */
static void remark_alone(remarks *r)
{
    int32_t n = r->p->n, count = 0, candidates = 0, *alone = malloc((size_t)n * sizeof *alone);
    int32_t *stops = calloc(ROWS * COLUMNS, sizeof *stops);
    char text[128];
    for (int32_t i = 0; stops && i < n; i++) stops[cell_of(place(r, i))]++;
    for (int32_t i = 0; stops && alone && i < n; i++)
        if (!r->told[i] && stops[cell_of(place(r, i))] == 1) alone[candidates++] = i;
    for (int32_t i = 0; i < candidates && (double)candidates * n < 1e8; i++)
        if (is_alone(r, alone[i])) alone[count++] = alone[i];
    for (int32_t i = 0; i < count && 5 * (int64_t)count < (int64_t)n + 5 && i < TOLD; i++)
        note(r->state, "%s: more than 500 km from every other stop (lat %.6g, lon %.6g)",
             where(r, alone[i], text), place(r, alone[i])[1], inv_wrap_longitude(place(r, alone[i])[0]));
    if (count > TOLD && 5 * (int64_t)count < (int64_t)n + 5)
        note(r->state, "%d more stops are more than 500 km from every other", count - TOLD);
    free(alone);
    free(stops);
}

/* ---- all remarks on places ----------------------------------------------------------------------------- */

static void remark_kind(remarks *r, bool (*is)(const remarks *, int32_t), const char *what)
{
    int32_t count = 0;
    char text[128];
    for (int32_t i = 0; i < r->p->n; i++) {
        if (r->told[i] || !is(r, i)) continue;
        r->told[i] = 1;
        if (++count <= TOLD)
            note(r->state, "%s: %s (lat %.6g, lon %.6g)", where(r, i, text), what, place(r, i)[1],
                 inv_wrap_longitude(place(r, i)[0]));
    }
    if (count > TOLD) note(r->state, "%d more stops: %s", count - TOLD, what);
}

void inv_remark_places(const invit_instance *p, const int32_t *line, inv_read_state *state)
{
    remarks r = {.p = p, .line = line, .state = state};
    if (p->n < 4) return; /* too few to say where the others are */
    r.told = calloc((size_t)p->n, 1);
    if (r.told && find_centre(&r)) {
        remark_kind(&r, is_nowhere, "an address that was not found? it is at 0, 0");
        remark_kind(&r, is_swapped, "latitude and longitude look swapped");
        remark_alone(&r);
    }
    free(r.told);
}

/* ---- rows that are there twice ------------------------------------------------------------------------- */

/* Rows are looked up in a table of twice their number, by their hashes. */
void inv_remark_repeated(const uint64_t *hash, const int32_t *line, int64_t n, inv_read_state *state)
{
    size_t room = 16;
    while (room < 2 * (size_t)n) room *= 2;
    int32_t *slot = calloc(room, sizeof *slot); /* 1 + row, 0: free */
    int64_t count = 0;
    for (int64_t i = 0; slot && i < n; i++) {
        size_t at = (size_t)(hash[i] ^ hash[i] >> 32) & (room - 1);
        while (slot[at] && hash[slot[at] - 1] != hash[i]) at = (at + 1) & (room - 1);
        if (!slot[at])
            slot[at] = (int32_t)i + 1;
        else if (++count <= TOLD)
            note(state, "line %d: the same row as line %d; it is visited twice", line[i], line[slot[at] - 1]);
    }
    if (count > TOLD) note(state, "%lld more rows are the same as another", (long long)(count - TOLD));
    free(slot);
}
