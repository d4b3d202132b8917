/* The solution as a file. */
#include "serve/calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the format of that ending ("tour", "sol", "geojson", "csv", "svg"), to be freed. */
static invit_status write_solution(const job *j, const invit_solution *s, const char *ending, char **text,
                                   size_t *length, invit_error *err)
{
    const invit_instance *p = job_instance(j);
    char name[32];
    snprintf(name, sizeof name, ".%s", ending);
    if (strcmp(ending, "svg") == 0) return invit_plot_memory(p, s, name, NULL, text, length, err);
    invit_check_result found;
    invit_writer *w;
    invit_status status = invit_check(p, s, &found, err);
    if (status == INVIT_OK) status = invit_writer_open_memory(text, length, &w, err);
    if (status != INVIT_OK) return status;
    status = invit_writer_solution(w, p, s, invit_solution_format_for(name, invit_instance_problem(p)),
                                   &(invit_solution_info){.length = found.length, .seconds = NAN}, err);
    if (status == INVIT_OK) return invit_writer_close(w, err);
    invit_writer_abandon(w);
    return status;
}

void call_download(request *r)
{
    static const struct {
        const char *format, *type, *ending;
    } kinds[] = {{"solution", "text/plain; charset=utf-8", NULL},
                 {"geojson", "application/geo+json", "geojson"},
                 {"csv", "text/csv; charset=utf-8", "csv"},
                 {"svg", "image/svg+xml", "svg"}};
    const char *format = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "format");
    job *j = job_find(r->server->pool, r->id);
    if (!j) {
        serve_error(r, 404, "there is no such job; finished jobs are forgotten after a while");
        return;
    }
    const invit_solution *s = job_solution(j);
    size_t kind = 0, length = 0;
    while (kind < 4 && format && strcmp(format, kinds[kind].format) != 0) kind++;
    if (!s) {
        serve_error(r, 409, "the job has no solution (yet)");
    } else if (!format || strcmp(format, "json") == 0) {
        const char *text = job_solution_text(j, &length);
        serve_kept(r, 200, "application/json", text, length, j);
        return;
    } else if (kind == 4) {
        serve_error(r, 422, "\"format\" must be json, solution, geojson, csv or svg");
    } else {
        const char *ending = kinds[kind].ending                                      ? kinds[kind].ending
                             : invit_instance_problem(job_instance(j)) == INVIT_CVRP ? "sol"
                                                                                     : "tour";
        invit_error err = {.message = "out of memory"};
        char *text = NULL;
        if (write_solution(j, s, ending, &text, &length, &err) != INVIT_OK) text = NULL;
        if (text)
            serve_answer(r, 200, kinds[kind].type, text, length);
        else
            serve_error(r, 500, err.message);
    }
    job_release(j);
}
