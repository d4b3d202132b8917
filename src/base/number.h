/* Numbers as text: correctly rounded both ways, fast for what instance files hold, and the same in every
 * locale. */
#ifndef INVIT_BASE_NUMBER_H
#define INVIT_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Parses a decimal number ("12", "-.5", "1.25e+03") at `p`, which must end in a byte that is no part of a
 * number (a NUL will do). Returns the first byte after it, or NULL when there is none. A number beyond the
 * range of double gives an infinity; "nan" and "inf" are no numbers. About 15 ns. */
const char *inv_parse_double(const char *p, double *value);

/* Parses an optional sign and digits. Returns NULL when there are none or the value does not fit. */
const char *inv_parse_int(const char *p, int64_t *value);

/* Writes the shortest of the decimals with at most 17 digits that reads back as the same (finite) double; no
 * NUL. Returns its length. */
#define INV_DOUBLE_CHARS 32
size_t inv_format_double(char *to, double value);
/* Writes an integer, no NUL; returns its length (at most 20). */
size_t inv_format_int(char *to, int64_t value);

#endif
