/* Numbers as text, against the C library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/number.h"
#include "base/rng.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double exact10(uint32_t k)
{
    static const double power[] = {1, 10, 100, 1000};
    return power[k];
}

static void same_as_strtod(const char *text)
{
    char *end;
    double mine = -1, theirs = strtod(text, &end);
    const char *stop = inv_parse_double(text, &mine);
    if (stop != end || memcmp(&mine, &theirs, sizeof mine) != 0)
        fail_msg("'%s': %.17g, expected %.17g", text, mine, theirs);
}

static void parses_like_the_c_library(void **state)
{
    (void)state;
    static const char *const cases[] = {"0",
                                        "-0",
                                        "0.0",
                                        "1",
                                        "+7",
                                        "-.5",
                                        "5.",
                                        "1e5",
                                        "1E-5",
                                        "1.25e+03x",
                                        "9007199254740993",
                                        "9007199254740992.5",
                                        "9007199254740993.0000000001",
                                        "18446744073709551615",
                                        "0.1",
                                        "0.30000000000000004",
                                        "123456789012345678901234567890",
                                        "1e22",
                                        "1e23",
                                        "8.5e22",
                                        "4.9e-324",
                                        "2.2250738585072011e-308",
                                        "1.7976931348623157e308",
                                        "1e309",
                                        "1e-400",
                                        "1e99999999999",
                                        "0e99999999999",
                                        "0.000000000000000000000000000000000001",
                                        "00000000000000000000000000000012.50",
                                        "2.00000e+02 4",
                                        "1.63900e+03\r"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) same_as_strtod(cases[i]);
    inv_rng r;
    inv_rng_init(&r, 1, 0);
    char text[80];
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = inv_rng_u64(&r);
        double v;
        memcpy(&v, &bits, sizeof v);
        int digits = 1 + (int)inv_rng_below(&r, 20);
        snprintf(text, sizeof text, "%.*e", digits, isfinite(v) ? v : 1.0);
        same_as_strtod(text);
        snprintf(text, sizeof text, "%.*f", digits, inv_rng_double(&r) * (i % 2 ? 1 : 10000));
        same_as_strtod(text);
        /* halfway cases of the short division: odd 54-bit numbers over a power of ten */
        snprintf(text, sizeof text, "%llu.%0*llu", (unsigned long long)inv_rng_below(&r, 1000000),
                 digits > 12 ? 12 : digits, (unsigned long long)(inv_rng_u64(&r) % 10));
        same_as_strtod(text);
    }
}

static void refuses_what_is_no_number(void **state)
{
    (void)state;
    static const char *const cases[] = {"",     "-",  ".",   "e5", "nan", "inf",
                                        "-inf", "1e", "1e+", "x",  "+-1", " 1"};
    double v;
    int64_t n;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_null(inv_parse_double(cases[i], &v));
    assert_null(inv_parse_int("9223372036854775808", &n));
    assert_null(inv_parse_int("", &n));
    assert_null(inv_parse_int("x", &n));
    assert_non_null(inv_parse_int("-9223372036854775807", &n));
    assert_true(n == -INT64_MAX);
}

static void reads_back_what_it_writes(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 2, 0);
    char text[INV_DOUBLE_CHARS + 1], shortest[64];
    for (int i = 0; i < 300000; i++) {
        double v = inv_rng_double(&r), back;
        if (i % 8 == 1) v = floor(v * 1e6) / 1e3;
        if (i % 8 == 2) v = (v - 0.5) * 1e12;
        if (i % 8 == 3) v = floor(v * 1e9);
        if (i % 8 == 4) v = ldexp(v - 0.5, (int)inv_rng_below(&r, 2000) - 1000);
        if (i % 8 == 5) v = v * 1e-2;
        if (i % 8 == 6) v = nextafter(1 / exact10(inv_rng_below(&r, 4)), v > 0.5 ? 2 : 0);
        size_t n = inv_format_double(text, v);
        assert_true(n <= INV_DOUBLE_CHARS);
        text[n] = 0;
        assert_ptr_equal(inv_parse_double(text, &back), text + n);
        if (memcmp(&v, &back, sizeof v) != 0) fail_msg("%.17g became %s", v, text);
        if (i % 16 == 0) { /* no shorter decimal would do */
            int digits = 1;
            do snprintf(shortest, sizeof shortest, "%.*e", digits - 1, v);
            while (strtod(shortest, NULL) != v && digits++ < 17);
            int mine = 0, significant = 0;
            for (const char *c = text; *c && *c != 'e'; c++)
                if (*c >= '0' && *c <= '9' && (significant || *c != '0')) significant = 1, mine++;
            if (digits >= 15) assert_int_equal(mine, digits);
        }
    }
}

static void locales_do_not_matter(void **state)
{
    (void)state;
    double v;
    char text[INV_DOUBLE_CHARS];
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) skip();
    inv_parse_double("1.5e300", &v);
    assert_true(v == 1.5e300);
    size_t n = inv_format_double(text, 1.5e300);
    assert_memory_equal(text, "1.5e+300", n);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_like_the_c_library),
        cmocka_unit_test(refuses_what_is_no_number),
        cmocka_unit_test(reads_back_what_it_writes),
        cmocka_unit_test(locales_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
