/* Output that is either complete or not there: a regular file is written beside its final name, synced and
 * renamed; every write is checked. "-" is standard output; devices and pipes are written directly. */
#ifndef INVIT_BASE_OUTFILE_H
#define INVIT_BASE_OUTFILE_H

#include "base/error.h"

typedef struct inv_outfile inv_outfile;

/* Another user may have put a symbolic link where this one's file will be written: refused, unless it is root's. */
invit_status inv_outfile_check_link(const char *path, invit_error *err);

/* The directory must exist. A file that is there must be writable; a symbolic link of one's own is followed, and one to a
 * file that does not exist is refused. A process that is killed leaves nothing behind where the file system has files without
 * names (Linux's O_TMPFILE), else a NAME.partial-PID-N that the next write of NAME removes. The error names the path. */
invit_status inv_outfile_open(const char *path, inv_outfile **out, invit_error *err);

/* The same to memory: inv_outfile_close stores it in *text, with a 0 behind it, to be freed, and its length in *size, which
 * may be NULL. *text is NULL until then, and when that fails. */
invit_status inv_outfile_open_memory(char **text, size_t *size, inv_outfile **out, invit_error *err);

/* Space for at least `bytes` more bytes (at most INV_OUTFILE_RESERVE); inv_outfile_advance says how many were
 * filled. After a failed write these go on accepting bytes and drop them: the failure is remembered for
 * inv_outfile_close. */
#define INV_OUTFILE_RESERVE 4096
char *inv_outfile_reserve(inv_outfile *file, size_t bytes);
void inv_outfile_advance(inv_outfile *file, size_t bytes);

void inv_outfile_write(inv_outfile *file, const void *bytes, size_t count);
void inv_outfile_puts(inv_outfile *file, const char *text);
void inv_outfile_printf(inv_outfile *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Passes what is buffered to the system and reports the first failure so far. */
invit_status inv_outfile_flush(inv_outfile *file, invit_error *err);

/* Flushes, syncs, and puts the file under its final name; frees `file` in every case. On failure nothing is
 * left behind and what was under the final name stays as it was. */
invit_status inv_outfile_close(inv_outfile *file, invit_error *err);
/* Gives up: frees `file` and leaves nothing behind. inv_outfile_abandon(NULL) is allowed. */
void inv_outfile_abandon(inv_outfile *file);

#endif
