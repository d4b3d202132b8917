/* The solution as a file. */
#include "serve/calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_whole(const char *path, size_t *length)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    if (f && fseek(f, 0, SEEK_END) == 0) {
        long size = ftell(f);
        rewind(f);
        text = size >= 0 ? malloc((size_t)size + 1) : NULL;
        *length = text ? fread(text, 1, (size_t)size, f) : 0;
    }
    if (f) fclose(f);
    return text;
}

/* The library writes files, so a file it is, in a folder of its own, gone before the answer leaves. */
static invit_status write_solution(const job *j, const invit_solution *s, const char *format,
                                   const char *path, invit_error *err)
{
    const invit_instance *p = job_instance(j);
    if (strcmp(format, "svg") == 0) return invit_plot(p, s, path, NULL, err);
    invit_check_result found;
    invit_status status = invit_check(p, s, &found, err);
    if (status != INVIT_OK) return status;
    invit_writer *w;
    status = invit_writer_open(path, &w, err);
    if (status != INVIT_OK) return status;
    status = invit_writer_solution(w, p, s, invit_solution_format_for(path, invit_instance_problem(p)),
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
        const char *base = getenv("TMPDIR");
        char folder[512], path[600];
        invit_error err = {.message = "no temporary folder could be made"};
        snprintf(folder, sizeof folder, "%s/invit-XXXXXX", base ? base : "/tmp");
        char *made = mkdtemp(folder), *text = NULL;
        snprintf(path, sizeof path, "%s/solution.%s", folder, ending);
        if (made && write_solution(j, s, format, path, &err) == INVIT_OK) text = read_whole(path, &length);
        if (made) {
            remove(path);
            remove(folder);
        }
        if (text)
            serve_answer(r, 200, kinds[kind].type, text, length);
        else
            serve_error(r, 500, err.message);
    }
    job_release(j);
}
