/* Whole files, for tests that compare or spoil them. */
#ifndef INVIT_TESTS_FILES_H
#define INVIT_TESTS_FILES_H

#include "base/file.h"

#include <stdio.h>
#include <string.h>

/* With a 0 behind it, to be freed; `size` may be NULL. */
__attribute__((noinline, unused)) /* gcc 12 sees a dangling pointer where it is inlined */
static char *
read_file(const char *path, size_t *size)
{
    char *bytes = NULL;
    size_t count;
    invit_error err;
    if (inv_read_file(path, SIZE_MAX - 1, &bytes, &count, &err) != INVIT_OK) fail_msg("%s", err.message);
    if (size) *size = count;
    return bytes;
}

static inline void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

#endif
