#include "base/formula.h"

#include "base/number.h"

#include <string.h>

/* What some programs pass over, and the signs in the width of Chinese characters, which they take for the usual ones. */
static const char *first_sign(const char *text, char *sign)
{
    static const struct {
        const char *bytes;
        char sign;
    } wide[] = {{"\xef\xbc\x9d", '='}, {"\xef\xbc\x8b", '+'}, {"\xef\xbc\x8d", '-'}, {"\xef\xbc\xa0", '@'}};
    while (*text == ' ' || *text == '\t') text++;
    *sign = *text;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strncmp(text, wide[i].bytes, 3) == 0) *sign = wide[i].sign;
    return text;
}

/* A number is none, and neither is what consists of digits and their company only: a telephone number, +49 89 123-456. */
bool inv_is_formula(const char *text)
{
    double number;
    char sign;
    text = first_sign(text, &sign);
    if (!sign || !strchr("=+-@", sign)) return false;
    const char *after = inv_parse_double(text, &number);
    if (after && !*after) return false;
    return sign == '=' || sign == '@' || text[strspn(text, "0123456789 +-/().,")];
}

bool inv_is_quoted_formula(const char *text)
{
    return inv_is_formula(text + strspn(text, "'"));
}
