/* How much memory there is, so that what cannot fit is refused before hours are spent on it: the system promises more
 * than it has, and ends the process when it is used. */
#ifndef INVIT_BASE_MEMORY_H
#define INVIT_BASE_MEMORY_H

#include "base/error.h"

/* Bytes that this process may still take: what the system calls available, less where a control group or a limit on
 * the address space says so. INT64_MAX where nothing is known. */
int64_t inv_memory_available(void);

/* INVIT_ERR_MEMORY, with both numbers in the message, when about `bytes` for `what` are more than there is. Looks at
 * nothing below 256 MB: that is not worth a refusal that may be wrong. */
invit_status inv_memory_expect(int64_t bytes, const char *what, invit_error *err);

#endif
