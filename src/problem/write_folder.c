/* A plan as a folder: the whole list, the summary, and one list per route. */
#include "problem/write.h"

#include "problem/drive.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STOPS = 0, SUMMARY = -1 }; /* else the number of a route */
enum { NAME = 32 };

static invit_status write_one(const char *folder, const char *name, const invit_instance *p,
                              const invit_solution *s, int32_t what, invit_error *err)
{
    size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    inv_outfile *f = NULL;
    invit_status status = INVIT_OK;
    if (!path) return inv_no_memory(err, room);
    snprintf(path, room, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    INV_TRY(inv_outfile_open(path, &f, err));
    if (what == SUMMARY)
        INV_TRY(inv_write_summary(f, p, s, err));
    else
        INV_TRY(inv_write_stops(f, p, s, what, err));
    status = inv_outfile_close(f, err);
    f = NULL;
done:
    inv_outfile_abandon(f);
    free(path);
    return status;
}

/* All with as many digits as the last one's number has, so that they sort. */
static void name_route(char name[NAME], int32_t number, int32_t routes)
{
    int64_t last = routes, digits = 1;
    while (last >= 10) last /= 10, digits++;
    char text[16];
    for (int64_t i = 0, rest = number; i < digits; i++, rest /= 10)
        text[digits - 1 - i] = (char)('0' + rest % 10);
    text[digits] = 0;
    snprintf(name, NAME, "route-%s.csv", text);
}

/* Removes the lists of an earlier plan, which would otherwise be driven too: route-N.csv that this plan does not have. */
static void remove_others(const char *folder, int32_t routes)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char name[NAME];
        int number, length = 0;
        if (sscanf(e->d_name, "route-%9d.csv%n", &number, &length) != 1 || length == 0 || e->d_name[length] ||
            strspn(e->d_name + 6, "0123456789") + 10 != strlen(e->d_name))
            continue;
        bool mine = number >= 1 && number <= routes;
        if (mine) name_route(name, number, routes);
        if (!mine || strcmp(name, e->d_name) != 0) unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir) closedir(dir);
}

invit_status inv_write_folder(const char *path, const invit_instance *p, const invit_solution *s,
                              invit_error *err)
{
    struct stat info;
    INV_CHECK(inv_check_nodes(p, s, err));
    INV_CHECK(inv_outfile_check_link(path, err));
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return inv_fail(err, INVIT_ERR_IO, "%s: cannot make the folder: %s", path, strerror(errno));
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return inv_fail(err, INVIT_ERR_IO, "%s: expected a folder, found a file", path);
    inv_drive d;
    INV_CHECK(inv_drive_begin(&d, p, s, err));
    int32_t routes = inv_drive_routes(&d);
    inv_drive_end(&d);
    INV_CHECK(write_one(path, "stops.csv", p, s, STOPS, err));
    INV_CHECK(write_one(path, "summary.csv", p, s, SUMMARY, err));
    for (int32_t r = 1; r <= routes; r++) {
        char name[NAME];
        name_route(name, r, routes);
        INV_CHECK(write_one(path, name, p, s, r, err));
    }
    remove_others(path, routes);
    return INVIT_OK;
}
