#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
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
    char *temporary; /* where it is until then                                   */
    int failed;      /* errno of the first write that failed, 0 while all is well */
    size_t used;
    char buffer[BUFFER + INV_OUTFILE_RESERVE];
};

static void destroy(inv_outfile *f)
{
    if (f->own_fd && f->fd >= 0) close(f->fd);
    free(f->path);
    free(f->final);
    free(f->temporary);
    free(f);
}

static invit_status fail(const inv_outfile *f, const char *what, int code, invit_error *err)
{
    return inv_fail(err, INVIT_ERR_IO, "%s: cannot %s: %s", f->path, what, strerror(code));
}

/* Creates a new file beside `final`; its name is taken by no other process, so two writers cannot mix. */
static invit_status open_beside(inv_outfile *f, mode_t mode, invit_error *err)
{
    size_t room = strlen(f->final) + 64;
    f->temporary = malloc(room);
    if (!f->temporary) return inv_no_memory(err, room);
    for (int i = 0; i < 1000; i++) {
        snprintf(f->temporary, room, "%s.partial-%ld-%d", f->final, (long)getpid(), i);
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
    if (standard) {
        f->fd = STDOUT_FILENO;
    } else if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        INV_TRY(inv_fail(err, INVIT_ERR_IO, "%s: is a directory, expected a file name", path));
    } else if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        f->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (f->fd < 0) INV_TRY(fail(f, "open for writing", errno, err));
        f->own_fd = true;
    } else {
        bool exists = stat(path, &info) == 0;
        f->final = exists ? realpath(path, NULL) : strdup(path);
        if (!f->final) INV_TRY(fail(f, "resolve", errno, err));
        INV_TRY(open_beside(f, exists ? info.st_mode & 0777 : 0666, err));
    }
    *out = f;
    f = NULL;
done:
    if (f) destroy(f);
    return status;
}

static void drain(inv_outfile *f)
{
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
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
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
    if (f->own_fd) {
        int fd = f->fd;
        f->fd = -1;
        if (close(fd) != 0) INV_TRY(fail(f, "write", errno, err));
    }
    if (f->final) {
        if (rename(f->temporary, f->final) != 0) INV_TRY(fail(f, "put in place", errno, err));
        sync_directory(f->final);
    }
done:
    if (status != INVIT_OK && f->temporary) unlink(f->temporary);
    destroy(f);
    return status;
}

void inv_outfile_abandon(inv_outfile *f)
{
    if (!f) return;
    if (f->temporary) unlink(f->temporary);
    destroy(f);
}
