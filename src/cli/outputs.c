#include "cli/outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static invit_status fail(invit_error *err, const char *format, const char *a, const char *b)
{
    snprintf(err->message, sizeof err->message, format, a, b);
    return err->code = INVIT_ERR_ARGUMENT;
}

static bool ends_with(const char *path, const char *const *endings)
{
    const char *dot = strrchr(path, '.');
    for (; dot && *endings; endings++)
        if (strcasecmp(dot, *endings) == 0) return true;
    return false;
}

static bool is_folder(const char *path)
{
    struct stat info;
    size_t n = strlen(path);
    return (n > 0 && path[n - 1] == '/') || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

/* Made now, so that it is known to be possible. */
static int prepare_folder(const char *path)
{
    struct stat info;
    if (mkdir(path, 0777) != 0 && errno != EEXIST) return cli_fail("%s: %s", path, strerror(errno));
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return cli_fail("%s: expected a folder, found a file", path);
    if (access(path, W_OK | X_OK) != 0) return cli_fail("%s: cannot write: %s", path, strerror(errno));
    return CLI_GO;
}

static int begin_one(cli_outputs *o, const char *path, bool summary, const char *input, const char *trace)
{
    cli_output *out = &o->item[o->count];
    *out = (cli_output){.path = path, .summary = summary};
    int code = cli_check_differs(path, input, "the instance");
    if (code == CLI_GO) code = cli_check_differs(path, trace, "the trace");
    for (int i = 0; i < o->count && code == CLI_GO; i++)
        code =
            strcmp(path, o->item[i].path) == 0 ? cli_bad_usage("%s: is to be written twice", path) : CLI_GO;
    if (code != CLI_GO) return code;
    o->count++;
    if (summary) return CLI_GO;
    if (is_folder(path)) {
        out->kind = CLI_FOLDER;
        return prepare_folder(path);
    }
    if (!cli_is_picture(path)) return CLI_GO;
    out->kind = CLI_PICTURE;
    return cli_check_output(path);
}

int cli_outputs_begin(cli_outputs *o, const cli_list *paths, const char *summary, const char *input,
                      const char *trace)
{
    int code = CLI_GO;
    *o = (cli_outputs){.item = calloc((size_t)paths->count + 1, sizeof *o->item)};
    if (!o->item) return cli_fail("out of memory");
    for (int i = 0; i < paths->count && code == CLI_GO; i++)
        code = begin_one(o, paths->item[i], false, input, trace);
    if (summary && code == CLI_GO) code = begin_one(o, summary, true, input, trace);
    return code;
}

/* Would it be possible to write that? Tried with no routes, into memory. */
static invit_status try_format(const invit_instance *p, invit_solution_format format, invit_error *err)
{
    char *text = NULL;
    invit_writer *writer = NULL;
    invit_solution *none = NULL;
    int32_t nothing = 0;
    invit_status status = invit_solution_create(&nothing, &nothing, 0, &none, err);
    if (status == INVIT_OK) status = invit_writer_open_memory(&text, NULL, &writer, err);
    if (status == INVIT_OK) status = invit_writer_solution(writer, p, none, format, NULL, err);
    invit_writer_abandon(writer);
    invit_solution_destroy(none);
    return status;
}

/* How the solution will be written, by the file's name. Says before solving what would not be possible after. */
static invit_status choose_format(cli_output *out, const invit_instance *p, bool many, invit_error *err)
{
    static const char *const pictures[] = {".jpg", ".jpeg", ".gif", ".webp", ".bmp",
                                           ".tif", ".tiff", ".eps", NULL};
    static const char *const others[] = {".tsp", ".vrp", ".xls",  ".xlsx", ".ods", ".kmz",
                                         ".shp", ".doc", ".docx", ".npy",  NULL};
    static const char *const tours[] = {".tour", ".sol", NULL};
    const char *path = out->path, *dot = strrchr(path, '.');
    invit_problem problem = invit_instance_problem(p);
    out->format = out->summary ? INVIT_SOLUTION_SUMMARY : invit_solution_format_for(path, problem);
    if (dot && problem == INVIT_CVRP && out->format == INVIT_SOLUTION_TOUR)
        return fail(err, "%s: a .tour is for TSPs; routes go to %s", path, "a .sol");
    if (ends_with(path, pictures))
        return fail(err, "%s: a picture's name must end in %s", path, ".svg, .png or .pdf");
    if (ends_with(path, others))
        return fail(
            err, "%s: cannot write such a file; routes go to %s", path,
            "a .csv (a table of stops), .html (sheets to print), .geojson, .gpx or .kml (maps), .tour, "
            ".sol or .txt, or a folder/");
    if (many && out->format <= INVIT_SOLUTION_MSVDRP && !ends_with(path, tours))
        out->format = INVIT_SOLUTION_MSVDRP; /* many instances, one line each */
    return out->format > INVIT_SOLUTION_MSVDRP ? try_format(p, out->format, err) : INVIT_OK;
}

invit_status cli_outputs_open(cli_outputs *o, const invit_instance *p, bool many, invit_error *err)
{
    invit_status status = INVIT_OK;
    for (int i = 0; i < o->count && status == INVIT_OK; i++) {
        cli_output *out = &o->item[i];
        if (out->kind == CLI_SOLUTION) status = choose_format(out, p, many, err);
        if (status == INVIT_OK && out->kind == CLI_SOLUTION && !out->writer)
            status = invit_writer_open(out->path, &out->writer, err); /* now, not after a minute of solving */
    }
    return status;
}

invit_status cli_outputs_write(cli_outputs *o, const invit_instance *p, const invit_solution *solution,
                               const invit_solution_info *info, invit_error *err)
{
    invit_status status = INVIT_OK;
    for (int i = 0; i < o->count && status == INVIT_OK; i++) {
        const cli_output *out = &o->item[i];
        if (out->kind == CLI_PICTURE)
            status = invit_plot(p, solution, out->path, NULL, err);
        else if (out->kind == CLI_FOLDER)
            status = invit_solution_write_folder(out->path, p, solution, err);
        else
            status = invit_writer_solution(out->writer, p, solution, out->format, info, err);
    }
    return status;
}

int cli_outputs_end(cli_outputs *o, bool keep)
{
    int code = CLI_OK;
    for (int i = 0; i < o->count; i++) {
        cli_output *out = &o->item[i];
        invit_error err;
        if (out->kind == CLI_FOLDER && !keep) rmdir(out->path); /* only if nothing is in it */
        if (!out->writer) continue;
        if (!keep)
            invit_writer_abandon(out->writer);
        else if (invit_writer_close(out->writer, &err) != INVIT_OK)
            code = cli_report(&err);
    }
    free(o->item);
    *o = (cli_outputs){0};
    return code;
}

bool cli_outputs_standard(const cli_outputs *o)
{
    for (int i = 0; i < o->count; i++)
        if (strcmp(o->item[i].path, "-") == 0) return true;
    return false;
}

const char *cli_outputs_single(const cli_outputs *o)
{
    static const char *const tours[] = {".tour", ".sol", NULL};
    for (int i = 0; i < o->count; i++) {
        const cli_output *out = &o->item[i];
        if (out->kind == CLI_PICTURE) return "a picture";
        if (out->kind == CLI_FOLDER) return "a folder of lists";
        if (out->summary || invit_solution_format_for(out->path, INVIT_TSP) > INVIT_SOLUTION_MSVDRP)
            return "a map or a list of stops";
        if (ends_with(out->path, tours)) return "a .tour or .sol, or write a .txt with a line for each";
    }
    return NULL;
}
