#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

invit_status inv_fail(invit_error *err, invit_status code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = code;
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return code;
}

invit_status inv_no_memory(invit_error *err, size_t bytes)
{
    return inv_fail(err, INVIT_ERR_MEMORY, "out of memory (%zu bytes wanted)", bytes);
}

const char *invit_version(void)
{
    return INVIT_VERSION;
}
