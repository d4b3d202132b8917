#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

void inv_tame(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if ((*c < 32 && *c != '\n') || *c == 127) *c = '?';
        if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = '?'; /* U+0080 to U+009f */
    }
}

invit_status inv_fail(invit_error *err, invit_status code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = code;
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        inv_tame(err->message);
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
