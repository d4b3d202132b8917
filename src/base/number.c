#define _GNU_SOURCE
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 u128;

static const uint64_t power10[] = {1u,
                                   10u,
                                   100u,
                                   1000u,
                                   10000u,
                                   100000u,
                                   1000000u,
                                   10000000u,
                                   100000000u,
                                   1000000000u,
                                   10000000000u,
                                   100000000000u,
                                   1000000000000u,
                                   10000000000000u,
                                   100000000000000u,
                                   1000000000000000u,
                                   10000000000000000u,
                                   100000000000000000u,
                                   1000000000000000000u,
                                   10000000000000000000u};
static const double exact_power10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* digits / 10^k for k <= 19, correctly rounded. Both operands are shifted up to 64 bits, so that the quotient
 * has 63 or 64 and, with a last bit that says whether anything was left over, rounds once: in the conversion
 * to double. */
static double divide_by_power10(uint64_t digits, int k)
{
    if (digits == 0) return 0;
    int up = __builtin_clzll(digits), up10 = __builtin_clzll(power10[k]);
    u128 a = (u128)(digits << up) << 63;
    uint64_t b = power10[k] << up10, quotient = (uint64_t)(a / b);
    quotient |= (u128)quotient * b != a;
    return ldexp((double)quotient, up10 - up - 63);
}

/* The rare rest: more than 19 digits, or an exponent out of the ordinary. */
static double parse_slowly(const char *from, const char *to)
{
    char small[128], *text = small;
    size_t n = (size_t)(to - from);
    if (n >= sizeof small && !(text = malloc(n + 1))) return HUGE_VAL;
    memcpy(text, from, n);
    text[n] = 0;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = c ? strtod_l(text, NULL, c) : HUGE_VAL;
    if (c) freelocale(c);
    if (text != small) free(text);
    return value;
}

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

const char *inv_parse_double(const char *p, double *value)
{
    const char *from = p;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    uint64_t digits = 0;
    int count = 0, exponent = 0; /* count: significant digits so far; 19 always fit 64 bits */
    const char *first = p;
    for (; is_digit(*p); p++) {
        if (count < 19) digits = digits * 10 + (uint64_t)(*p - '0');
        count += digits > 0;
    }
    ptrdiff_t seen = p - first;
    if (*p == '.') {
        p++;
        first = p;
        for (; is_digit(*p); p++) {
            if (count < 19) digits = digits * 10 + (uint64_t)(*p - '0');
            count += digits > 0;
        }
        seen += p - first;
        exponent = p - first < 100000 ? -(int)(p - first) : -100000;
    }
    if (seen == 0) return NULL;
    if (*p == 'e' || *p == 'E') {
        const char *q = p + 1;
        bool down = *q == '-';
        if (*q == '-' || *q == '+') q++;
        if (!is_digit(*q)) return NULL;
        int e = 0;
        for (; is_digit(*q); q++)
            if (e < 100000) e = e * 10 + (*q - '0');
        exponent += down ? -e : e;
        p = q;
    }
    double v;
    if (count > 19)
        v = fabs(parse_slowly(from, p));
    else if (digits == 0)
        v = 0;
    else if (exponent == 0 || (digits < (uint64_t)1 << 53 && exponent > 0 && exponent <= 22))
        v = (double)digits * exact_power10[exponent];
    else if (digits < (uint64_t)1 << 53 && exponent < 0 && exponent >= -22)
        v = (double)digits / exact_power10[-exponent];
    else if (exponent < 0 && exponent >= -19)
        v = divide_by_power10(digits, -exponent);
    else
        v = fabs(parse_slowly(from, p));
    *value = negative ? -v : v;
    return p;
}

const char *inv_parse_int(const char *p, int64_t *value)
{
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    if (!is_digit(*p)) return NULL;
    uint64_t v = 0;
    for (; is_digit(*p); p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (v > ((uint64_t)INT64_MAX - digit) / 10) return NULL;
        v = v * 10 + digit;
    }
    *value = negative ? -(int64_t)v : (int64_t)v;
    return p;
}

static size_t format_u64(char *to, uint64_t v)
{
    char back[20];
    size_t n = 0;
    do back[n++] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    for (size_t i = 0; i < n; i++) to[i] = back[n - 1 - i];
    return n;
}

size_t inv_format_int(char *to, int64_t value)
{
    if (value >= 0) return format_u64(to, (uint64_t)value);
    *to = '-';
    return 1 + format_u64(to + 1, 0 - (uint64_t)value);
}

/* value * 10^k rounded to an integer, exact as long as 53 bits and 10^k fit 128 (k <= 19) and the shift is <
 * 128. */
static uint64_t scaled(double value, int k)
{
    int e;
    uint64_t m = (uint64_t)ldexp(frexp(value, &e), 53);
    int shift = 53 - e;
    u128 product = (u128)m * power10[k];
    if (shift <= 0) return (uint64_t)(product << -shift);
    return (uint64_t)((product + ((u128)1 << (shift - 1))) >> shift);
}

static size_t format_slowly(char *to, double value)
{
    char text[64];
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = c ? uselocale(c) : (locale_t)0;
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        double back = 0;
        n = snprintf(text, sizeof text, "%.*g", digits, value);
        if (inv_parse_double(text, &back) && back == value) break;
    }
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    memcpy(to, text, (size_t)n);
    return (size_t)n;
}

size_t inv_format_double(char *to, double value)
{
    char *p = to;
    if (value < 0) {
        *p++ = '-';
        value = -value;
    }
    if (value < 9e15 && value == (double)(uint64_t)value)
        return (size_t)(p - to) + format_u64(p, (uint64_t)value);
    if (!(value >= 1e-3 && value < 1e15)) return (size_t)(p - to) + format_slowly(p, value);

    int whole = -2; /* digits before the point; 0 for 0.1.., -1 for 0.01.., as value >= 10^(whole-1) */
    while (value >= (whole >= 0 ? exact_power10[whole] : 1 / exact_power10[-whole])) whole++;
    for (int digits = 15;; digits++) {
        int k = digits - whole; /* decimals */
        if (k > 19) k = 19;
        if (k < 1) k = 1;
        uint64_t v = scaled(value, k);
        if (digits < 17 && divide_by_power10(v, k) != value) continue;
        for (; v % 10 == 0; v /= 10) k--;
        p += format_u64(p, v / power10[k]);
        *p++ = '.';
        uint64_t rest = v % power10[k];
        for (int i = k - 1; i >= 0; i--, rest /= 10) p[i] = (char)('0' + rest % 10);
        return (size_t)(p + k - to);
    }
}
