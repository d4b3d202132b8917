/* Time windows as Solomon and Homberger wrote them: a name, VEHICLE with number and capacity, CUSTOMER with one node
 * per line: id, x, y, demand, ready time, due date, service time. The first is the depot. */
#include "problem/read.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NUMBER, PLACE_X, PLACE_Y, LOAD, READY, DUE, SERVICE, FIELDS };

typedef struct table {
    double *value; /* [n][FIELDS] */
    int64_t n, room;
} table;

/* Does a line begin with this word? Lines of digits are data. */
static bool begins(const char *line, size_t n, const char *word)
{
    size_t k = strlen(word);
    return n >= k && strncasecmp(line, word, k) == 0;
}

bool inv_is_solomon(const char *p)
{
    size_t name = strcspn(p, "\n");
    p += name + (p[name] != 0);
    while (inv_is_blank(*p) || *p == '\n') p++;
    return strncasecmp(p, "VEHICLE", 7) == 0 && (inv_is_blank(p[7]) || p[7] == '\n' || p[7] == 0);
}

/* The next line that holds something. */
static invit_status next_line(inv_text *t, const char **line, size_t *n, int64_t *number, invit_error *err)
{
    *line = "";
    *n = 0;
    while (*n == 0 && inv_text_skip_space(t)) {
        *number = t->line;
        INV_CHECK(inv_text_line(t, line, n, err));
    }
    return inv_text_status(t, err);
}

static invit_status expect(inv_text *t, const char *word, invit_error *err)
{
    const char *line;
    size_t n;
    int64_t number = t->line;
    INV_CHECK(next_line(t, &line, &n, &number, err));
    if (begins(line, n, word)) return INVIT_OK;
    return inv_text_fail(t, number, INVIT_ERR_INPUT, err, "expected %s, found '%.*s'", word,
                         (int)(n < 40 ? n : 40), line);
}

static invit_status read_numbers(inv_text *t, int count, double *value, const char *what, invit_error *err)
{
    for (int k = 0; k < count; k++) {
        if (k == 0 ? !inv_text_skip_space(t) : !inv_text_skip_blanks(t))
            return inv_text_expected(t, err, "%d numbers, %s", count, what);
        INV_CHECK(inv_read_number(t, 0, what, &value[k], err));
    }
    if (inv_text_skip_blanks(t))
        return inv_text_expected(t, err, "the end of the line after %d numbers", count);
    return INVIT_OK;
}

static invit_status read_customers(inv_text *t, table *c, invit_error *err)
{
    while (inv_text_skip_space(t)) {
        if (c->n == c->room) {
            c->room = c->room ? c->room + c->room / 2 : 256;
            double *more = realloc(c->value, (size_t)c->room * FIELDS * sizeof *more);
            if (!more) return inv_no_memory(err, (size_t)c->room * FIELDS * sizeof *more);
            c->value = more;
        }
        double *v = c->value + c->n * FIELDS;
        int64_t line = t->line;
        INV_CHECK(read_numbers(t, FIELDS, v, "id, x, y, demand, ready time, due date, service time", err));
        if (v[NUMBER] != (double)c->n)
            return inv_text_fail(t, line, INVIT_ERR_INPUT, err,
                                 "customer %.10g: expected %lld, counted from 0", v[NUMBER], (long long)c->n);
        if (fabs(v[PLACE_X]) > INV_FARTHEST || fabs(v[PLACE_Y]) > INV_FARTHEST)
            return inv_text_fail(t, line, INVIT_ERR_INPUT, err, "expected coordinates from %g to %g",
                                 -INV_FARTHEST, INV_FARTHEST);
        if (v[READY] > v[DUE])
            return inv_text_fail(t, line, INVIT_ERR_INPUT, err,
                                 "customer %lld: closes at %.10g, before it opens, at %.10g", (long long)c->n,
                                 v[DUE], v[READY]);
        if (c->n == 0 && v[LOAD] != 0)
            return inv_text_fail(t, line, INVIT_ERR_INPUT, err, "demand of the depot: expected 0");
        c->n++;
    }
    if (c->n == 0) return inv_text_expected(t, err, "the depot and customers");
    return inv_text_status(t, err);
}

static invit_status build(const table *c, double vehicles, double capacity, invit_instance **out,
                          invit_error *err)
{
    static const struct {
        const char *name;
        int field;
    } arrays[] = {{"service", SERVICE}, {"earliest", READY}, {"latest", DUE}};
    invit_status status = INVIT_OK;
    invit_instance *p = NULL;
    double *column = malloc((size_t)c->n * sizeof *column);
    if (!column) return inv_no_memory(err, (size_t)c->n * sizeof *column);
    INV_TRY(inv_instance_alloc(INVIT_CVRP, c->n, &p, err));
    p->metric = INVIT_DIMACS;
    p->capacity = INT32_MAX;
    for (int64_t i = 0; i < c->n; i++) {
        p->xy[2 * i] = c->value[i * FIELDS + PLACE_X];
        p->xy[2 * i + 1] = c->value[i * FIELDS + PLACE_Y];
        column[i] = c->value[i * FIELDS + LOAD];
    }
    INV_TRY(inv_set_demands(p, column, capacity, err));
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < c->n; i++) column[i] = c->value[i * FIELDS + arrays[k].field];
        INV_TRY(invit_instance_set_array(p, arrays[k].name, column, c->n, err));
    }
    p->rules->vehicles = (int32_t)vehicles;
    *out = p;
    p = NULL;
done:
    free(column);
    invit_instance_destroy(p);
    return status;
}

invit_status inv_read_solomon(inv_text *t, inv_read_state *state, invit_instance **out, invit_error *err)
{
    *out = NULL;
    if (state->index > 0) return INVIT_OK;
    const char *line;
    size_t n;
    int64_t number = 1;
    double fleet[2] = {0};
    table c = {0};
    char *name = NULL;
    invit_status status = INVIT_OK;
    INV_TRY(next_line(t, &line, &n, &number, err));
    name = inv_utf8_copy(line, n);
    if (!name) INV_TRY(inv_no_memory(err, n));
    INV_TRY(expect(t, "VEHICLE", err));
    INV_TRY(expect(t, "NUMBER", err));
    INV_TRY(read_numbers(t, 2, fleet, "number of vehicles and capacity", err));
    if (!(fleet[0] >= 1 && fleet[0] <= INT32_MAX && fleet[0] == floor(fleet[0]) && fleet[1] > 0))
        INV_TRY(inv_text_fail(t, t->line, INVIT_ERR_INPUT, err,
                              "expected a whole number of vehicles from 1 and a capacity above 0"));
    INV_TRY(expect(t, "CUSTOMER", err));
    INV_TRY(expect(t, "CUST", err));
    INV_TRY(read_customers(t, &c, err));
    INV_TRY(build(&c, fleet[0], fleet[1], out, err));
    free((*out)->name);
    (*out)->name = name;
    name = NULL;
done:
    free(name);
    free(c.value);
    return status;
}
