/* Status with a message: how every fallible function in the library reports. */
#ifndef INVIT_BASE_ERROR_H
#define INVIT_BASE_ERROR_H

#include "invit.h"

/* Fills *err (if any) and returns `code`, so that callers can write `return inv_fail(err, INVIT_ERR_INPUT, ...)`. */
invit_status inv_fail(invit_error *err, invit_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Replaces control characters, which terminals obey, by question marks: in what comes from files. */
void inv_tame(char *text);
invit_status inv_no_memory(invit_error *err, size_t bytes);

/* Passes an error up from a function that owns nothing yet. */
#define INV_CHECK(call)                                                                                      \
    do {                                                                                                     \
        invit_status inv_check_status_ = (call);                                                             \
        if (inv_check_status_ != INVIT_OK) return inv_check_status_;                                         \
    } while (0)

/* Passes an error to the function's one cleanup path; needs a local `status` and a label `done`. */
#define INV_TRY(call)                                                                                        \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != INVIT_OK) goto done;                                                                   \
    } while (0)

#endif
