#define _GNU_SOURCE /* O_TMPFILE */
#include "base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 18 };

struct inv_outfile {
    int fd;
    bool own_fd;     /* false for standard output                                */
    char *path;      /* what messages call it                                    */
    char *final;     /* where it goes in the end (symbolic links followed), NULL when written directly */
    char *temporary; /* where it is until then, or NULL while it has no name     */
    bool replaces;   /* there was a file at `final` when this one was opened     */
    bool placed;     /* it is at `final` now                                     */
    int failed;      /* errno of the first write that failed, 0 while all is well */
    char **text;     /* memory instead of a file: where it goes when it is complete, or NULL */
    size_t *size;    /* likewise its length; may be NULL                         */
    char *memory;
    size_t length, room;
    size_t used;
    char buffer[BUFFER + INV_OUTFILE_RESERVE];
};

static void destroy(inv_outfile *f)
{
    if (f->own_fd && f->fd >= 0) close(f->fd);
    free(f->path);
    free(f->final);
    free(f->temporary);
    free(f->memory);
    free(f);
}

static invit_status fail(const inv_outfile *f, const char *what, int code, invit_error *err)
{
    return inv_fail(err, INVIT_ERR_IO, "%s: cannot %s: %s", f->path, what, strerror(code));
}

/* The folder of a path, to be freed. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Gives `name` the n-th name beside `final` that this process may use. */
static void name_beside(const char *final, int n, char *name, size_t size)
{
    snprintf(name, size, "%s.partial-%ld-%d", final, (long)getpid(), n);
}

/* Removes what processes that were killed have left of this file. */
static void remove_leftovers(const char *final)
{
    const char *slash = strrchr(final, '/'), *base = slash ? slash + 1 : final;
    size_t length = strlen(base);
    char *folder = folder_of(final);
    DIR *dir = folder ? opendir(folder) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        long pid;
        int number, end = 0;
        if (strncmp(e->d_name, base, length) != 0) continue;
        const char *rest = e->d_name + length;
        if (sscanf(rest, ".partial-%ld-%d%n", &pid, &number, &end) != 2 || rest[end] || pid < 1) continue;
        if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir) closedir(dir);
    free(folder);
}

/* A file without a name in the folder of `final`: a process that is killed leaves nothing behind. Not every file
 * system has such files, and giving them a name needs /proc. */
static bool open_nameless(inv_outfile *f, mode_t mode)
{
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) != 0) return false;
    char *folder = folder_of(f->final);
    f->fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode) : -1;
    free(folder);
#else
    (void)mode;
#endif
    f->own_fd = f->fd >= 0;
    return f->own_fd;
}

/* Creates a new file beside `final`; its name is taken by no other process, so two writers cannot mix. */
static invit_status open_named(inv_outfile *f, mode_t mode, invit_error *err)
{
    size_t room = strlen(f->final) + 64;
    remove_leftovers(f->final);
    f->temporary = malloc(room);
    if (!f->temporary) return inv_no_memory(err, room);
    for (int i = 0; i < 1000; i++) {
        name_beside(f->final, i, f->temporary, room);
        f->fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (f->fd >= 0 || errno != EEXIST) break;
    }
    if (f->fd < 0) {
        int code = errno;
        free(f->temporary);
        f->temporary = NULL;
        return fail(f, "create", code, err);
    }
    f->own_fd = true;
    return INVIT_OK;
}

/* Gives the finished file its name, or, where a file has that already, one beside it, from where it is renamed. */
static invit_status give_name(inv_outfile *f, invit_error *err)
{
    char from[64];
    size_t room = strlen(f->final) + 64;
    int linked = -1;
    snprintf(from, sizeof from, "/proc/self/fd/%d", f->fd);
    if (!f->replaces) {
        f->placed = linkat(AT_FDCWD, from, AT_FDCWD, f->final, AT_SYMLINK_FOLLOW) == 0;
        if (f->placed) return INVIT_OK;
        if (errno != EEXIST) return fail(f, "put in place", errno, err);
    }
    f->temporary = malloc(room);
    if (!f->temporary) return inv_no_memory(err, room);
    for (int i = 0; i < 1000 && linked != 0; i++) {
        name_beside(f->final, i, f->temporary, room);
        linked = linkat(AT_FDCWD, from, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW);
        if (linked != 0 && errno != EEXIST) break;
    }
    if (linked == 0) return INVIT_OK;
    int code = errno;
    free(f->temporary);
    f->temporary = NULL;
    return fail(f, "put in place", code, err);
}

invit_status inv_outfile_check_link(const char *path, invit_error *err)
{
    struct stat info;
    char name[PATH_MAX];
    size_t n = (size_t)snprintf(name, sizeof name, "%s", path);
    while (n > 1 && n < sizeof name && name[n - 1] == '/') name[--n] = 0; /* or the link is followed */
    if (lstat(name, &info) != 0 || !S_ISLNK(info.st_mode) || info.st_uid == geteuid() || info.st_uid == 0)
        return INVIT_OK;
    return inv_fail(err, INVIT_ERR_IO, "%s: is a symbolic link that another user has made", path);
}

/* Where a path leads: what exists there must be writable, and a link must lead somewhere. */
static invit_status resolve(inv_outfile *f, const char *path, bool exists, invit_error *err)
{
    struct stat info;
    if (!exists && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        return inv_fail(err, INVIT_ERR_IO, "%s: is a symbolic link to a file that does not exist", path);
    if (exists && access(path, W_OK) != 0) return fail(f, "write", errno, err);
    f->final = exists ? realpath(path, NULL) : strdup(path);
    return f->final ? INVIT_OK : fail(f, "resolve", errno, err);
}

invit_status inv_outfile_open(const char *path, inv_outfile **out, invit_error *err)
{
    *out = NULL;
    bool standard = strcmp(path, "-") == 0;
    inv_outfile *f = calloc(1, sizeof *f);
    if (!f) return inv_no_memory(err, sizeof *f);
    invit_status status = INVIT_OK;
    struct stat info;
    f->fd = -1;
    f->path = strdup(standard ? "standard output" : path);
    if (!f->path) INV_TRY(inv_no_memory(err, strlen(path)));
    if (!standard) INV_TRY(inv_outfile_check_link(path, err));
    if (standard) {
        f->fd = STDOUT_FILENO;
    } else if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        INV_TRY(inv_fail(err, INVIT_ERR_IO, "%s: is a directory, expected a file name", path));
    } else if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        f->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (f->fd < 0) INV_TRY(fail(f, "open for writing", errno, err));
        f->own_fd = true;
    } else {
        bool exists = f->replaces = stat(path, &info) == 0;
        mode_t mode = exists ? info.st_mode & 0777 : 0666;
        INV_TRY(resolve(f, path, exists, err));
        if (exists) remove_leftovers(f->final);
        if (!open_nameless(f, mode)) INV_TRY(open_named(f, mode, err));
    }
    *out = f;
    f = NULL;
done:
    if (f) destroy(f);
    return status;
}

invit_status inv_outfile_open_memory(char **text, size_t *size, inv_outfile **out, invit_error *err)
{
    *out = NULL;
    *text = NULL;
    inv_outfile *f = calloc(1, sizeof *f);
    if (!f) return inv_no_memory(err, sizeof *f);
    f->fd = -1;
    f->path = strdup("memory");
    f->text = text;
    f->size = size;
    if (!f->path) {
        destroy(f);
        return inv_no_memory(err, 8);
    }
    *out = f;
    return INVIT_OK;
}

/* Appends the buffer to the memory, with room for a 0 behind it. */
static void drain_to_memory(inv_outfile *f)
{
    if (f->length + f->used + 1 > f->room && !f->failed) {
        size_t room = 2 * f->room + f->used + 1;
        char *memory = realloc(f->memory, room);
        if (memory) {
            f->memory = memory;
            f->room = room;
        } else {
            f->failed = ENOMEM;
        }
    }
    if (!f->failed) {
        memcpy(f->memory + f->length, f->buffer, f->used);
        f->length += f->used;
        f->memory[f->length] = 0;
    }
    f->used = 0;
}

static void drain(inv_outfile *f)
{
    if (f->text) {
        drain_to_memory(f);
        return;
    }
    for (size_t done = 0; done < f->used && !f->failed;) {
        ssize_t n = write(f->fd, f->buffer + done, f->used - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            f->failed = n == 0 ? EIO : errno;
    }
    f->used = 0;
}

char *inv_outfile_reserve(inv_outfile *f, size_t bytes)
{
    if (f->used + bytes > sizeof f->buffer) drain(f);
    return f->buffer + f->used;
}

void inv_outfile_advance(inv_outfile *f, size_t bytes)
{
    f->used += bytes;
    if (f->used >= BUFFER) drain(f);
}

void inv_outfile_write(inv_outfile *f, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        size_t room = sizeof f->buffer - f->used, part = count < room ? count : room;
        memcpy(f->buffer + f->used, from, part);
        inv_outfile_advance(f, part);
        from += part;
        count -= part;
    }
}

void inv_outfile_puts(inv_outfile *f, const char *text)
{
    inv_outfile_write(f, text, strlen(text));
}

void inv_outfile_printf(inv_outfile *f, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    char *space = inv_outfile_reserve(f, INV_OUTFILE_RESERVE);
    int n = vsnprintf(space, INV_OUTFILE_RESERVE, format, args);
    if (n >= 0 && n < INV_OUTFILE_RESERVE) {
        inv_outfile_advance(f, (size_t)n);
    } else { /* rare: a name or comment longer than the reserve */
        char *text = n < 0 ? NULL : malloc((size_t)n + 1);
        if (text) {
            vsnprintf(text, (size_t)n + 1, format, again);
            inv_outfile_write(f, text, (size_t)n);
            free(text);
        } else if (!f->failed) {
            f->failed = ENOMEM;
        }
    }
    va_end(again);
    va_end(args);
}

invit_status inv_outfile_flush(inv_outfile *f, invit_error *err)
{
    drain(f);
    return f->failed ? fail(f, "write", f->failed, err) : INVIT_OK;
}

/* Makes the new name itself survive a power cut. Not every file system can; the data is safe either way. */
static void sync_directory(const char *path)
{
    char *directory = folder_of(path);
    int fd = directory ? open(directory, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

invit_status inv_outfile_close(inv_outfile *f, invit_error *err)
{
    invit_status status = INVIT_OK;
    INV_TRY(inv_outfile_flush(f, err));
    if (f->final && fsync(f->fd) != 0) INV_TRY(fail(f, "write", errno, err));
    if (f->final && !f->temporary) INV_TRY(give_name(f, err));
    if (f->own_fd) {
        int fd = f->fd;
        f->fd = -1;
        if (close(fd) != 0) INV_TRY(fail(f, "write", errno, err));
    }
    if (f->final) {
        if (!f->placed && rename(f->temporary, f->final) != 0) INV_TRY(fail(f, "put in place", errno, err));
        sync_directory(f->final);
    }
    if (f->text) {
        *f->text = f->memory;
        if (f->size) *f->size = f->length;
        f->memory = NULL;
    }
done:
    if (status != INVIT_OK && f->temporary) unlink(f->temporary);
    if (status != INVIT_OK && f->placed) unlink(f->final);
    destroy(f);
    return status;
}

void inv_outfile_abandon(inv_outfile *f)
{
    if (!f) return;
    if (f->temporary) unlink(f->temporary);
    destroy(f);
}
