/* What a JSON text is expected to take once it is read is at least what Jansson takes for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json_size.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t held, most;

/* Blocks of glibc's: 32 bytes or more, 8 of them its own. */
static size_t block_bytes(size_t size)
{
    return size < 24 ? 32 : (size + 8 + 15) / 16 * 16;
}

/* The size stands before what Jansson gets. */
static void *counted_malloc(size_t size)
{
    max_align_t *block = malloc(sizeof *block + size);
    assert_non_null(block);
    *(size_t *)block = block_bytes(size);
    held += block_bytes(size);
    if (held > most) most = held;
    return block + 1;
}

static void counted_free(void *p)
{
    if (!p) return;
    max_align_t *block = (max_align_t *)p - 1;
    held -= *(size_t *)block;
    free(block);
}

static void a_text_takes_no_more_than_expected(void **state)
{
    enum { TIMES = 16400 }; /* a little more than a power of two: arrays have just doubled */
    static const struct {
        const char *before, *part, *after;
    } text[] = {{"[", "{},", "0]"},
                {"[", "[],", "0]"},
                {"[", "1,", "0]"},
                {"[", "0.5,", "0]"},
                {"[", "[1.5,2.5],", "0]"},
                {"[", "\"\",", "0]"},
                {"[", "\"a longer text, with \\\" and \\\\\",", "0]"},
                {"[", "{\"a\":{}},", "0]"},
                {"[", "{\"a\":1,\"b\":null},", "0]"},
                {"{", "\"%06d\":1,", "\"\":0}"},
                {"{", "\"%06d\":{},", "\"\":0}"},
                {"", "[", ""}};
    (void)state;
    json_set_alloc_funcs(counted_malloc, counted_free);
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        size_t room = (strlen(text[k].part) + 8) * TIMES + 100, length = 0;
        char *all = malloc(room);
        assert_non_null(all);
        length += (size_t)sprintf(all, "%s", text[k].before);
        for (int i = 0; i < TIMES; i++)
            length += (size_t)(strchr(text[k].part, '%') ? sprintf(all + length, text[k].part, i)
                                                         : sprintf(all + length, "%s", text[k].part));
        length += (size_t)sprintf(all + length, "%s", text[k].after);
        held = most = 0;
        json_t *tree = json_loadb(all, length, JSON_REJECT_DUPLICATES, NULL);
        assert_true(tree || text[k].after[0] == 0);
        if (inv_json_size_of(all, length) < (int64_t)most)
            fail_msg("%s: %zu bytes, expected at most %lld", text[k].part, most,
                     (long long)inv_json_size_of(all, length));
        printf("%-36s %7zu of %lld\n", text[k].part, most, (long long)inv_json_size_of(all, length));
        json_decref(tree);
        assert_int_equal(held, 0);
        free(all);
    }
    json_set_alloc_funcs(malloc, free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_text_takes_no_more_than_expected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
