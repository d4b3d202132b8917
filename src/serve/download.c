/* The solution as a file. */
#include "base/options.h"
#include "serve/calls.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* In the format of that ending ("tour", "sol", "geojson", ...), to be freed. `route`: a list of that one, from 1; 0: of
 * all. */
static invit_status write_solution(const job *j, const invit_solution *s, const char *ending, int route,
                                   char **text, size_t *length, invit_error *err)
{
    if (strcmp(ending, "svg") != 0)
        return request_write(job_instance(j), s, ending, route, text, length, err);
    return invit_plot_memory(job_instance(j), s, ".svg", NULL, text, length, err);
}

void call_download(request *r)
{
    static const struct {
        const char *format, *type, *ending;
    } kinds[] = {{"solution", "text/plain; charset=utf-8", NULL},
                 {"geojson", "application/geo+json", "geojson"},
                 {"csv", "text/csv; charset=utf-8", "csv"},
                 {"summary", "text/csv; charset=utf-8", "summary"},
                 {"gpx", "application/gpx+xml", "gpx"},
                 {"kml", "application/vnd.google-earth.kml+xml", "kml"},
                 {"html", "text/html; charset=utf-8", "html"},
                 {"svg", "image/svg+xml", "svg"}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const char *format = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "format");
    const char *route = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "route");
    int64_t number = 0; /* of all */
    bool sound = !route || (inv_parse_integer(route, &number) && number >= 0 && number <= INT_MAX);
    job *j = job_find(r->server->pool, r->id);
    if (!j) {
        serve_error(r, 404, "there is no such job; finished jobs are forgotten after a while");
        return;
    }
    const invit_solution *s = job_solution(j);
    size_t kind = 0, length = 0;
    while (kind < KINDS && format && strcmp(format, kinds[kind].format) != 0) kind++;
    if (!s) {
        serve_error(r, 409, "the job has no solution (yet)");
    } else if (!format || strcmp(format, "json") == 0) {
        const char *text = job_solution_text(j, &length);
        if (!text) {
            serve_out_of_memory(r);
            job_release(j);
            return;
        }
        serve_kept(r, 200, "application/json", text, length, j);
        return;
    } else if (kind == KINDS) {
        serve_error(r, 422,
                    "\"format\" must be json, solution, csv, summary, geojson, gpx, kml, html or svg");
    } else if (!sound) {
        serve_error(r, 422, "\"route\" must be the number of a route, from 1");
    } else {
        const char *ending = kinds[kind].ending;
        if (!ending) ending = invit_instance_problem(job_instance(j)) == INVIT_CVRP ? "sol" : "tour";
        invit_error err = {.message = "out of memory"};
        char *text = NULL;
        r->file = true;
        invit_status status = write_solution(j, s, ending, (int)number, &text, &length, &err);
        if (status == INVIT_OK && text)
            serve_answer(r, 200, kinds[kind].type, text, length);
        else if (status == INVIT_OK || status == INVIT_ERR_MEMORY || status == INVIT_ERR_IO) /* into memory */
            serve_out_of_memory(r);
        else
            serve_error(r, status == INVIT_ERR_INTERNAL ? 500 : 422, err.message);
    }
    job_release(j);
}
