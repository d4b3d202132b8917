/* Writing instances and solutions, one format after the other. */
#include "problem/write.h"

#include "base/longitude.h"
#include "base/names.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct invit_writer {
    inv_outfile *file;
};

void inv_put_int(inv_outfile *f, int64_t v, char after)
{
    char *to = inv_outfile_reserve(f, 32);
    size_t n = inv_format_int(to, v);
    to[n] = after;
    inv_outfile_advance(f, n + (after != 0));
}

void inv_put_number(inv_outfile *f, double v, char after)
{
    char *to = inv_outfile_reserve(f, INV_DOUBLE_CHARS + 1);
    size_t n = inv_format_double(to, v);
    to[n] = after;
    inv_outfile_advance(f, n + (after != 0));
}

/* A name or comment must not break the line it stands on. */
static void put_text(inv_outfile *f, const char *text)
{
    for (; *text; text++) {
        char c = *text == '\n' || *text == '\r' ? ' ' : *text;
        inv_outfile_write(f, &c, 1);
    }
}

/* ---- instances ----------------------------------------------------------------------------------------- */

static void write_tsplib(inv_outfile *f, const invit_instance *p)
{
    static const char *const metric[] = {"EXACT_2D", "EUC_2D",    "CEIL_2D", "ATT",
                                         "GEO",      "HAVERSINE", "DIMACS"};
    bool cvrp = p->problem == INVIT_CVRP, matrix = p->rules && p->rules->distance;
    bool atsp = !cvrp && matrix && !p->rules->symmetric;
    inv_outfile_puts(f, "NAME : ");
    put_text(f, p->name);
    inv_outfile_puts(f, "\nCOMMENT : "); /* some solvers skip three lines to find DIMENSION */
    put_text(f, p->comment ? p->comment : "written by invit");
    inv_outfile_printf(f, "\nTYPE : %s\nDIMENSION : %d\nEDGE_WEIGHT_TYPE : %s\n",
                       atsp                                     ? "ATSP"
                       : cvrp && p->rules && p->rules->earliest ? "VRPTW"
                                                                : inv_problem_title(p->problem),
                       p->n, matrix ? "EXPLICIT" : metric[p->metric]);
    if (p->rules) inv_write_rules_head(f, p);
    if (cvrp) {
        inv_outfile_puts(f, "CAPACITY : ");
        inv_put_number(f, (double)p->capacity / p->scale, '\n');
    }
    int64_t first = cvrp ? 1 : p->first_id; /* CVRPLIB counts from 1, the depot first */
    bool places = !p->rules || p->rules->has_xy;
    if (places) inv_outfile_puts(f, matrix ? "DISPLAY_DATA_SECTION\n" : "NODE_COORD_SECTION\n");
    for (int32_t i = 0; places && i < p->n; i++) {
        double x = p->xy[2 * (size_t)i];
        inv_put_int(f, first + i, ' ');
        inv_put_number(f, p->metric == INVIT_HAVERSINE ? inv_wrap_longitude(x) : x, ' ');
        inv_put_number(f, p->xy[2 * (size_t)i + 1], '\n');
    }
    if (p->rules) inv_write_rules_sections(f, p, first);
    if (cvrp) {
        inv_outfile_puts(f, "DEMAND_SECTION\n");
        for (int32_t i = 0; i < p->n; i++) {
            inv_put_int(f, first + i, ' ');
            inv_put_number(f, (double)p->demand[i] / p->scale, '\n');
        }
        inv_outfile_puts(f, "DEPOT_SECTION\n1\n-1\n");
    }
    inv_outfile_puts(f, "EOF\n");
}

static void write_pairs(inv_outfile *f, const invit_instance *p, int32_t from, int32_t to, char last)
{
    for (int32_t i = from; i < to; i++) {
        inv_put_number(f, p->xy[2 * (size_t)i], ',');
        inv_put_number(f, p->xy[2 * (size_t)i + 1], i + 1 < to ? ' ' : last);
    }
}

static void write_msvdrp(inv_outfile *f, const invit_instance *p)
{
    if (p->problem == INVIT_TSP) {
        write_pairs(f, p, 0, p->n, '\n');
        return;
    }
    write_pairs(f, p, 0, 1, ' ');
    inv_outfile_puts(f, ".|. ");
    write_pairs(f, p, 1, p->n, ' ');
    inv_outfile_puts(f, ".|. ");
    for (int32_t i = 1; i < p->n; i++) inv_put_int(f, p->demand[i], ' ');
    inv_outfile_puts(f, ".|. ");
    inv_put_int(f, p->capacity, '\n');
}

/* ---- solutions ----------------------------------------------------------------------------------------- */

static void write_tour(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                       const invit_solution_info *info)
{
    inv_outfile_puts(f, "NAME : ");
    put_text(f, p->name);
    inv_outfile_puts(f, ".tour\n");
    if (isfinite(info->length)) {
        inv_outfile_puts(f, "COMMENT : Length ");
        inv_put_number(f, info->length, '\n');
    }
    inv_outfile_printf(f, "TYPE : TOUR\nDIMENSION : %d\nTOUR_SECTION\n", p->n);
    for (int32_t i = 0; i < s->start[s->routes]; i++)
        inv_put_int(f, (int64_t)p->first_id + s->nodes[i], '\n');
    inv_outfile_puts(f, "-1\nEOF\n");
}

static void write_routes(inv_outfile *f, const invit_solution *s, const invit_solution_info *info)
{
    int32_t number = 0;
    for (int32_t r = 0; r < s->routes; r++) {
        if (s->start[r + 1] == s->start[r]) continue;
        inv_outfile_printf(f, "Route #%d: ", ++number);
        for (int32_t i = s->start[r]; i < s->start[r + 1]; i++)
            inv_put_int(f, s->nodes[i], i + 1 < s->start[r + 1] ? ' ' : '\n');
    }
    if (isfinite(info->length)) {
        inv_outfile_puts(f, "Cost ");
        inv_put_number(f, info->length, '\n');
    }
}

static void write_line(inv_outfile *f, const invit_instance *p, const invit_solution *s,
                       const invit_solution_info *info)
{
    bool cvrp = p->problem == INVIT_CVRP, some = false;
    if (cvrp) inv_outfile_puts(f, "0");
    for (int32_t r = 0; r < s->routes; r++) {
        if (s->start[r + 1] == s->start[r]) continue;
        for (int32_t i = s->start[r]; i < s->start[r + 1]; i++) {
            if (some || cvrp) inv_outfile_puts(f, ",");
            inv_put_int(f, s->nodes[i], 0);
            some = true;
        }
        if (cvrp) inv_outfile_puts(f, ",0");
    }
    inv_outfile_puts(f, " ");
    inv_put_number(f, isfinite(info->length) ? info->length : 0, ' ');
    inv_put_number(f, isfinite(info->seconds) ? info->seconds : 0, '\n');
}

/* ---- the public writer --------------------------------------------------------------------------------- */

invit_status invit_writer_open(const char *path, invit_writer **out, invit_error *err)
{
    *out = NULL;
    invit_writer *w = calloc(1, sizeof *w);
    if (!w) return inv_no_memory(err, sizeof *w);
    invit_status status = inv_outfile_open(path, &w->file, err);
    if (status == INVIT_OK)
        *out = w;
    else
        free(w);
    return status;
}

invit_status invit_writer_open_memory(char **text, size_t *size, invit_writer **out, invit_error *err)
{
    *out = NULL;
    invit_writer *w = malloc(sizeof *w);
    if (!w) return inv_no_memory(err, sizeof *w);
    invit_status status = inv_outfile_open_memory(text, size, &w->file, err);
    if (status == INVIT_OK)
        *out = w;
    else
        free(w);
    return status;
}

invit_status invit_writer_instance(invit_writer *w, const invit_instance *p, invit_format format,
                                   invit_error *err)
{
    if (format == INVIT_FORMAT_JSON) return inv_write_json(w->file, p, err);
    if (format == INVIT_FORMAT_TSPLIB) INV_CHECK(inv_check_writable(p, err));
    if (format == INVIT_FORMAT_MSVDRP && p->rules)
        return inv_fail(err, INVIT_ERR_UNSUPPORTED,
                        "%s: the MSVDRP format has neither rules nor matrices: write it as TSPLIB or JSON",
                        p->name);
    if (format == INVIT_FORMAT_TSPLIB)
        write_tsplib(w->file, p);
    else if (format == INVIT_FORMAT_MSVDRP)
        write_msvdrp(w->file, p);
    else
        return inv_fail(err, INVIT_ERR_ARGUMENT, "instances are written as TSPLIB, MSVDRP or JSON");
    return INVIT_OK;
}

invit_status invit_writer_solution(invit_writer *w, const invit_instance *p, const invit_solution *s,
                                   invit_solution_format format, const invit_solution_info *info,
                                   invit_error *err)
{
    static const invit_solution_info unknown = {.length = NAN, .seconds = NAN};
    if (!info) info = &unknown;
    INV_CHECK(inv_check_nodes(p, s, err));
    switch (format) {
    case INVIT_SOLUTION_TOUR:
        if (p->problem != INVIT_TSP)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "a TSPLIB tour solves a TSP, not a CVRP");
        write_tour(w->file, p, s, info);
        return INVIT_OK;
    case INVIT_SOLUTION_ROUTES:
        if (p->problem != INVIT_CVRP)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "a CVRPLIB solution solves a CVRP, not a TSP");
        write_routes(w->file, s, info);
        return INVIT_OK;
    case INVIT_SOLUTION_MSVDRP:
        write_line(w->file, p, s, info);
        return INVIT_OK;
    case INVIT_SOLUTION_GEOJSON:
        return inv_write_geojson(w->file, p, s, err);
    case INVIT_SOLUTION_STOPS:
        if (!(info->route >= 0 && info->route <= s->routes))
            return inv_fail(err, INVIT_ERR_ARGUMENT, "expected a route from 1 to %d", s->routes);
        return inv_write_stops(w->file, p, s, (int32_t)info->route, err);
    case INVIT_SOLUTION_SUMMARY:
        return inv_write_summary(w->file, p, s, err);
    case INVIT_SOLUTION_GPX:
        return inv_write_gpx(w->file, p, s, err);
    case INVIT_SOLUTION_KML:
        return inv_write_kml(w->file, p, s, err);
    case INVIT_SOLUTION_SHEETS:
        return inv_write_sheets(w->file, p, s, err);
    }
    return inv_fail(err, INVIT_ERR_ARGUMENT, "unknown solution format %d", (int)format);
}

invit_status invit_writer_close(invit_writer *w, invit_error *err)
{
    invit_status status = inv_outfile_close(w->file, err);
    free(w);
    return status;
}

void invit_writer_abandon(invit_writer *w)
{
    if (!w) return;
    inv_outfile_abandon(w->file);
    free(w);
}
