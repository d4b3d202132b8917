/* A library to preload: the N-th call of one kind fails, once, and everything else works as usual.
 *
 *     INJECT=alloc:17          the 17th allocation returns NULL
 *     INJECT=write:3:ENOSPC    the third write fails like that; write:3:short writes half; also fsync, rename, close, link
 *     INJECT_FROM=program      only allocations made by the program itself count, not those inside libraries
 *     INJECT_SHARED=FILE       N and the calls so far are two 64-bit numbers in this file, which whoever runs the program maps
 *                              too: it can set both again and again, to make every call within one request fail in turn
 *     INJECT_COUNT=FILE        when the program ends, the number of calls of that kind is written there
 *
 * With N = 0 nothing fails and the calls are only counted. Calls before main and of the dynamic linker count too: what
 * matters is that every place gets its turn. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TURN, CALLS };
enum { ALLOC, WRITE, FSYNC, RENAME, CLOSE, LINK, KINDS };

static const char *const kind_name[KINDS] = {"alloc", "write", "fsync", "rename", "close", "link"};
static atomic_long own[2]; /* the turn, and the calls of that kind so far */
static atomic_long *shared = own;
static int kind = -1;
static int code; /* errno to fail with; 0: a short write */
static atomic_bool ready;
static uintptr_t first = 0, last = UINTPTR_MAX; /* calls from these addresses count */

/* The first object that is told about is the program. */
static int take_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    first = UINTPTR_MAX;
    last = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD) continue;
        uintptr_t from = info->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
        if (from < first) first = from;
        if (to > last) last = to;
    }
    return 1;
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

__attribute__((constructor)) static void begin(void)
{
    const char *spec = getenv("INJECT");
    static const struct {
        const char *name;
        int code;
    } codes[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EINTR", EINTR}, {"short", 0}};
    if (!spec) return;
    for (int k = 0; k < KINDS; k++) {
        size_t n = strlen(kind_name[k]);
        if (strncmp(spec, kind_name[k], n) == 0 && spec[n] == ':') {
            kind = k;
            atomic_store(&shared[TURN], strtol(spec + n + 1, NULL, 10));
        }
    }
    const char *path = getenv("INJECT_SHARED");
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR, 0) : -1;
    if (fd >= 0) {
        void *page = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (page != MAP_FAILED) shared = page;
        syscall(SYS_close, fd);
    }
    code = EIO;
    const char *last = strrchr(spec, ':');
    for (size_t i = 0; last && i < sizeof codes / sizeof *codes; i++)
        if (strcmp(last + 1, codes[i].name) == 0) code = codes[i].code;
    const char *from = getenv("INJECT_FROM");
    if (from && strcmp(from, "program") == 0) dl_iterate_phdr(take_program, NULL);
    atomic_store(&ready, true);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("INJECT_COUNT");
    char text[32];
    if (!path || kind < 0) return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&shared[CALLS]));
    if (fd >= 0) {
        syscall(SYS_write, fd, text, (size_t)n);
        syscall(SYS_close, fd);
    }
}

/* Counts a call made from that address; true when it is the one to fail. */
static bool fails_from(int which, const void *caller)
{
    if (!atomic_load(&ready) || which != kind) return false;
    if ((uintptr_t)caller < first || (uintptr_t)caller >= last) return false;
    return atomic_fetch_add(&shared[CALLS], 1) + 1 == atomic_load(&shared[TURN]);
}

#define fails(which) fails_from(which, __builtin_return_address(0))

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    return fails(ALLOC) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(ALLOC) ? no_memory() : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(ALLOC) ? no_memory() : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(ALLOC) ? no_memory() : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (fails(ALLOC)) return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

static int failed(void)
{
    errno = code ? code : EIO;
    return -1;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    if (fd > 2 && fails(WRITE)) {
        if (code) return failed();
        count = count > 1 ? count / 2 : count;
    }
    return syscall(SYS_write, fd, bytes, count);
}

int fsync(int fd)
{
    return fails(FSYNC) ? failed() : (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    return fails(RENAME) ? failed() : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    return fails(LINK) ? failed() : (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

/* A close that fails has closed all the same, as on Linux. */
int close(int fd)
{
    int result = (int)syscall(SYS_close, fd);
    return fd > 2 && fails(CLOSE) ? failed() : result;
}
