/* MSVDRP text: one instance per line. TSP "x,y x,y ..."; CVRP "x,y .|. x,y x,y ... .|. d d ... .|. Q" with the
 * depot, the customers, their demands and the capacity. */
#include "problem/read.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "x,y", blanks allowed around the comma */
static invit_status read_pair(inv_text *t, inv_points *points, invit_error *err)
{
    double x = 0, y = 0;
    INV_CHECK(inv_read_coordinate(t, ',', "a node x,y", &x, err));
    if (!inv_text_skip_blanks(t) || *t->at != ',')
        return inv_text_expected(t, err, "a comma between x and y");
    t->at++;
    inv_text_skip_blanks(t);
    INV_CHECK(inv_read_coordinate(t, 0, "a y coordinate", &y, err));
    return inv_points_add(points, x, y, err);
}

static bool at_divider(inv_text *t)
{
    return strncmp(t->at, ".|.", 3) == 0;
}

static invit_status skip_divider(inv_text *t, const char *after, invit_error *err)
{
    if (!inv_text_skip_blanks(t) || !at_divider(t)) return inv_text_expected(t, err, "'.|.' after %s", after);
    t->at += 3;
    inv_text_skip_blanks(t);
    return INVIT_OK;
}

static invit_status read_whole(inv_text *t, const char *what, double low, int32_t *value, invit_error *err)
{
    double v = 0;
    const char *word = t->at;
    INV_CHECK(inv_read_number(t, 0, what, &v, err));
    if (v < low || v > INT32_MAX || v != floor(v)) {
        t->at = word;
        return inv_text_expected(t, err, "%s: a whole number from %.0f to %d", what, low, INT32_MAX);
    }
    *value = (int32_t)v;
    return INVIT_OK;
}

/* The rest of a CVRP line, from its first divider on. */
static invit_status read_customers(inv_text *t, inv_points *points, int32_t **demand, int32_t *capacity,
                                   invit_error *err)
{
    INV_CHECK(skip_divider(t, "the depot", err));
    while (inv_text_skip_blanks(t) && !at_divider(t)) INV_CHECK(read_pair(t, points, err));
    INV_CHECK(skip_divider(t, "the customers", err));
    int64_t n = points->n;
    *demand = calloc((size_t)n, sizeof **demand);
    if (!*demand) return inv_no_memory(err, (size_t)n * sizeof **demand);
    for (int64_t i = 1; i < n; i++) {
        if (!inv_text_skip_blanks(t) || at_divider(t))
            return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                                 "expected %lld demands, one per customer, found %lld", (long long)n - 1,
                                 (long long)i - 1);
        INV_CHECK(read_whole(t, "a demand", 0, &(*demand)[i], err));
    }
    INV_CHECK(skip_divider(t, "as many demands as customers", err));
    INV_CHECK(read_whole(t, "a capacity", 1, capacity, err));
    if (inv_text_skip_blanks(t)) return inv_text_expected(t, err, "the end of the line after the capacity");
    for (int64_t i = 1; i < n; i++)
        if ((*demand)[i] > *capacity)
            return inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                                 "demand %d of customer %lld: expected at most the capacity, %d",
                                 (*demand)[i], (long long)i, *capacity);
    return INVIT_OK;
}

invit_status inv_read_msvdrp(inv_text *t, inv_read_state *state, invit_instance **out, invit_error *err)
{
    (void)state;
    *out = NULL;
    if (!inv_text_skip_space(t)) return inv_text_status(t, err);
    invit_status status = INVIT_OK;
    inv_points points = {0};
    int32_t *demand = NULL, capacity = 0;
    INV_TRY(read_pair(t, &points, err));
    if (inv_text_skip_blanks(t) && at_divider(t)) {
        INV_TRY(read_customers(t, &points, &demand, &capacity, err));
    } else {
        while (inv_text_skip_blanks(t)) INV_TRY(read_pair(t, &points, err));
    }
    INV_TRY(inv_text_status(t, err));
    INV_TRY(inv_points_to_instance(&points, INVIT_EXACT, out, err));
    if (demand) {
        (*out)->problem = INVIT_CVRP;
        (*out)->demand = demand;
        (*out)->capacity = capacity;
        demand = NULL;
    }
done:
    inv_points_destroy(&points);
    free(demand);
    return status;
}
