/* An instance from bytes in memory. */
#ifndef INVIT_TESTS_READ_BYTES_H
#define INVIT_TESTS_READ_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"
#include "problem/problem.h"

#include <stdlib.h>
#include <string.h>

static invit_status read_bytes(const void *data, size_t size, invit_instance **p, invit_error *err)
{
    invit_reader *r = NULL;
    *p = NULL;
    err->message[0] = 0;
    /* a copy without anything after it: reading past the end shows under the sanitizer */
    char *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    invit_status status = invit_reader_open_memory(copy, size, "f", &r, err);
    if (status == INVIT_OK) status = invit_reader_next(r, p, err);
    invit_reader_close(r);
    free(copy);
    return status;
}

#endif
