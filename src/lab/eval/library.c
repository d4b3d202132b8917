/* Collecting the instances of files and folders, and the references they are measured against. */
#include "lab/eval/library.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- collecting --------------------------------------------------------------------------------- */

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n > m && strcasecmp(s + n - m, end) == 0;
}

static invit_status add_item(inv_library *lib, const char *path, inv_library_item **out, invit_error *err)
{
    if (lib->count == lib->room) {
        int32_t room = lib->room ? 2 * lib->room : 64;
        inv_library_item *bigger = realloc(lib->item, (size_t)room * sizeof *bigger);
        if (!bigger) return inv_no_memory(err, (size_t)room * sizeof *bigger);
        lib->item = bigger;
        lib->room = room;
    }
    inv_library_item *x = &lib->item[lib->count];
    memset(x, 0, sizeof *x);
    x->reference = x->other = NAN;
    x->path = strdup(path);
    if (!x->path) return inv_no_memory(err, strlen(path));
    lib->count++;
    *out = x;
    return INVIT_OK;
}

/* All instances of a file. One that cannot be read becomes an item with the reason, and ends the file. A file
 * that is there already, by any path, is not taken twice. */
static invit_status add_file(inv_library *lib, const char *path, invit_error *err)
{
    invit_reader *reader = NULL;
    invit_error why = {0};
    struct stat st = {0};
    if (stat(path, &st) == 0)
        for (int32_t i = 0; i < lib->count; i++)
            if (lib->item[i].device == st.st_dev && lib->item[i].inode == st.st_ino) return INVIT_OK;
    int32_t first = lib->count;
    invit_status status = INVIT_OK, read = invit_reader_open(path, &reader, &why);
    for (;;) {
        invit_instance *p = NULL;
        inv_library_item *x = NULL;
        if (read == INVIT_OK) read = invit_reader_next(reader, &p, &why);
        if (read == INVIT_OK && !p) break;
        status = add_item(lib, path, &x, err);
        if (status != INVIT_OK) {
            invit_instance_destroy(p);
            break;
        }
        x->instance = p;
        x->format = reader ? invit_reader_format(reader) : INVIT_FORMAT_TSPLIB;
        x->index = lib->count - 1 - first;
        if (read == INVIT_OK) continue;
        snprintf(x->outcome.error, sizeof x->outcome.error, "%.250s", why.message);
        x->skipped = read == INVIT_ERR_UNSUPPORTED;
        break;
    }
    invit_reader_close(reader);
    for (int32_t i = first; i < lib->count; i++) {
        lib->item[i].device = st.st_dev;
        lib->item[i].inode = st.st_ino;
    }
    return status;
}

static invit_status add_path(inv_library *lib, const char *path, invit_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0) return inv_fail(err, INVIT_ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) return add_file(lib, path, err);
    invit_status status = INVIT_OK;
    DIR *dir = opendir(path);
    if (!dir) return inv_fail(err, INVIT_ERR_IO, "%s: %s", path, strerror(errno));
    bool any = false;
    struct dirent *e;
    while ((e = readdir(dir))) {
        char file[4096];
        if (!ends_with(e->d_name, ".tsp") && !ends_with(e->d_name, ".vrp")) continue;
        any = true;
        if ((size_t)snprintf(file, sizeof file, "%s/%s", path, e->d_name) >= sizeof file) {
            status = inv_fail(err, INVIT_ERR_INPUT, "%s/%s: name too long", path, e->d_name);
            break;
        }
        INV_TRY(add_file(lib, file, err));
    }
    if (status == INVIT_OK && !any)
        status = inv_fail(err, INVIT_ERR_INPUT, "%s: no .tsp or .vrp file in this folder", path);
done:
    closedir(dir);
    return status;
}

int32_t inv_library_size(const inv_library_item *x)
{
    return x->instance ? x->instance->n - (x->instance->problem == INVIT_CVRP) : INT32_MAX;
}

/* TSP before CVRP, then by size, then by file and the place in it; what could not be read comes last. */
static int by_problem_and_size(const void *a, const void *b)
{
    const inv_library_item *x = a, *y = b;
    int p = x->instance ? (int)x->instance->problem : 2;
    int q = y->instance ? (int)y->instance->problem : 2;
    if (p != q) return p - q;
    if (inv_library_size(x) != inv_library_size(y)) return inv_library_size(x) < inv_library_size(y) ? -1 : 1;
    int by_path = strcmp(x->path, y->path);
    return by_path ? by_path : x->index - y->index;
}

/* ---- references --------------------------------------------------------------------------------- */

void inv_library_beside(const inv_library_item *x, const char *end, char *path, size_t size)
{
    const char *slash = strrchr(x->path, '/'), *dot = strrchr(slash ? slash : x->path, '.');
    int stem = dot ? (int)(dot - x->path) : (int)strlen(x->path);
    snprintf(path, size, "%.*s%s", stem, x->path, end);
}

/* The length of the solution in that file, once it has been checked. */
static invit_status checked_length(const inv_library_item *x, const char *path, double *value,
                                   invit_error *err)
{
    invit_solution *s = NULL;
    invit_check_result check;
    invit_solution_info info;
    INV_CHECK(invit_solution_read(path, x->instance, x->index, &s, &info, err));
    invit_status status = invit_check(x->instance, s, &check, err);
    invit_solution_destroy(s);
    INV_CHECK(status);
    if (!check.feasible)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: not a solution of %s: %s", path, x->path, check.message);
    if (!isnan(info.length) && fabs(info.length - check.length) > INV_STATED_TOLERANCE * check.length)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: states length %.9g, but on %s it is %.9g", path,
                        info.length, x->path, check.length);
    *value = check.length;
    return INVIT_OK;
}

/* A solution file beside the instance. One with the usual ending of the problem has to fit; one with the
 * other problem's is looked at last, and may well belong to an instance of that problem. */
static invit_status from_solution_beside(inv_library_item *x, invit_error *err)
{
    static const char *const ends[2][3] = {{".opt.tour", ".tour", ".sol"}, {".sol", ".opt.tour", ".tour"}};
    bool cvrp = x->instance->problem == INVIT_CVRP;
    int own = cvrp ? 1 : 2; /* how many of the endings are the problem's own */
    for (int i = 0; i < 3; i++) {
        char path[4200];
        struct stat st;
        inv_library_beside(x, ends[cvrp][i], path, sizeof path);
        if (stat(path, &st) != 0) continue;
        invit_error why = {0};
        invit_status status = checked_length(x, path, &x->reference, &why);
        if (status != INVIT_OK && i >= own) continue;
        if (status != INVIT_OK && err) *err = why;
        if (status == INVIT_OK) x->beside = ends[cvrp][i];
        return status;
    }
    return INVIT_OK;
}

/* Library names tell the number of nodes (eil51, X-n101-k25). One that does not fit is another instance. */
static bool name_has_size(const invit_instance *p)
{
    for (const char *s = p->name; *s; s++)
        if (*s >= '0' && *s <= '9') return strtol(s, NULL, 10) == p->n;
    return false;
}

static invit_status find_reference(const inv_library *lib, inv_library_item *x, invit_error *err)
{
    const char *name = x->instance->name;
    const inv_known *k = inv_known_find(&lib->known, name);
    bool library = name_has_size(x->instance);
    if (library) x->published = inv_published_instance_find(x->instance->problem, name);
    if (k) x->reference = k->length;
    if (k) return INVIT_OK;
    /* names with another number (CMT6, C1_10_4) stand for lengths that are not whole */
    if (invit_instance_best_known(x->instance, &x->reference) &&
        (library || x->reference != floor(x->reference)))
        return INVIT_OK;
    x->reference = NAN;
    return from_solution_beside(x, err);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

const char *inv_library_set(const inv_library_item *x)
{
    return x->instance && x->instance->problem == INVIT_CVRP ? "cvrplib" : "tsplib";
}

/* The journal knows instances by their names; of two with the same name the second goes by its place. */
static void name_items(inv_library *lib)
{
    for (int32_t i = 0; i < lib->count; i++) {
        inv_library_item *x = &lib->item[i];
        if (!x->instance) continue;
        snprintf(x->key, sizeof x->key, "%s", x->instance->name);
        for (int32_t k = 0; k < i; k++) {
            if (!lib->item[k].instance || strcmp(lib->item[k].key, x->key) != 0) continue;
            size_t n = strlen(x->path), keep = n < 100 ? n : 100;
            snprintf(x->key, sizeof x->key, "%s (%d)", x->path + n - keep, i);
            break;
        }
    }
}

invit_status inv_library_open(inv_library *lib, const char *const *paths, int32_t count, invit_error *err)
{
    if (lib->o->best_known) INV_CHECK(inv_known_read(lib->o->best_known, &lib->known, err));
    for (int32_t i = 0; i < count; i++) INV_CHECK(add_path(lib, paths[i], err));
    for (int32_t i = 0; i < lib->count; i++) {
        invit_error why = {0};
        inv_library_item *x = &lib->item[i];
        if (!x->instance || find_reference(lib, x, &why) == INVIT_OK) continue;
        snprintf(x->outcome.error, sizeof x->outcome.error, "%.250s", why.message);
        invit_instance_destroy(x->instance);
        x->instance = NULL;
    }
    qsort(lib->item, (size_t)lib->count, sizeof *lib->item, by_problem_and_size);
    int32_t readable = 0;
    for (int32_t i = 0; i < lib->count; i++) {
        inv_library_item *x = &lib->item[i];
        if (!x->instance || lib->o->limit == 0 || readable++ < lib->o->limit) continue;
        invit_instance_destroy(x->instance);
        x->instance = NULL;
    }
    name_items(lib);
    return INVIT_OK;
}

void inv_library_close(inv_library *lib)
{
    for (int32_t i = 0; i < lib->count; i++) {
        free(lib->item[i].path);
        invit_instance_destroy(lib->item[i].instance);
    }
    free(lib->item);
    inv_known_free(&lib->known);
}
