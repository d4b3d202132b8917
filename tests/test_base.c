/* Foundations: random numbers, threads, instances as objects. */
#define _GNU_SOURCE /* the stack of a running thread */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "problem/problem.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static void normal_has_the_right_moments(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 1, 0);
    double sum = 0, square = 0;
    int n = 200000;
    for (int i = 0; i < n; i++) {
        double x = inv_rng_normal(&r);
        sum += x;
        square += x * x;
    }
    assert_true(fabs(sum / n) < 0.01);
    assert_true(fabs(square / n - 1) < 0.02);
}

static void exponential_has_mean_one(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 2, 0);
    double sum = 0;
    int n = 200000;
    for (int i = 0; i < n; i++) sum += inv_rng_exponential(&r);
    assert_true(fabs(sum / n - 1) < 0.02);
}

static void below_is_even(void **state)
{
    (void)state;
    inv_rng r;
    inv_rng_init(&r, 3, 7);
    int hits[7] = {0};
    for (int i = 0; i < 70000; i++) hits[inv_rng_below(&r, 7)]++;
    for (int i = 0; i < 7; i++) assert_in_range(hits[i], 9500, 10500);
}

static void count_member(void *context, int member)
{
    atomic_fetch_add((atomic_int *)context, 1 << (4 * member));
}

static void count_items(void *context, size_t from, size_t to)
{
    for (uint8_t *seen = context; from < to; from++) seen[from]++;
}

static void blocks_are_all_items_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 65536, 65537, 300001};
    static uint8_t seen[300002];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int threads = 1; threads <= 3; threads++) {
            for (size_t i = 0; i < sizeof seen; i++) seen[i] = 0;
            inv_parallel_blocks(threads, sizes[s], count_items, seen);
            for (size_t i = 0; i < sizeof seen; i++) assert_int_equal(seen[i], i < sizes[s]);
        }
}

static void parallel_runs_every_member_once(void **state)
{
    (void)state;
    atomic_int seen = 0;
    inv_parallel(4, count_member, &seen);
    assert_int_equal(seen, 0x1111);
}

#ifdef __GLIBC__
static void measure_stack(void *context, int member)
{
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    pthread_attr_getstacksize(&attributes, (size_t *)context + member);
    pthread_attr_destroy(&attributes);
}

/* With the default of musl, and with a large one, which is left as it is. */
static void threads_have_room(void **state)
{
    (void)state;
    static const size_t usual[] = {128 << 10, 4 << 20}, least[] = {1 << 20, 4 << 20};
    pthread_attr_t before, changed;
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    for (int i = 0; i < 2; i++) {
        size_t stack[2] = {0, 0};
        pthread_attr_init(&changed);
        pthread_attr_setstacksize(&changed, usual[i]);
        assert_int_equal(pthread_setattr_default_np(&changed), 0);
        inv_parallel(2, measure_stack, stack);
        assert_in_range(stack[1], least[i] * 3 / 4, least[i] * 2); /* a guard page counts or not */
        pthread_attr_destroy(&changed);
    }
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    pthread_attr_destroy(&before);
}
#endif

static void instances_refuse_nonsense(void **state)
{
    (void)state;
    invit_error err;
    invit_instance *p = NULL;
    double xy[] = {0, 0, 1, NAN};
    assert_int_equal(invit_instance_create_tsp(xy, 2, INVIT_EXACT, &p, &err), INVIT_ERR_INPUT);
    assert_int_equal(invit_instance_create_tsp(xy, 0, INVIT_EXACT, &p, &err), INVIT_ERR_ARGUMENT);
    xy[3] = 1;
    int64_t demand[] = {0, 11};
    assert_int_equal(invit_instance_create_cvrp(xy, demand, 2, 10, INVIT_EXACT, &p, &err), INVIT_ERR_INPUT);
}

static void memory_that_is_not_there_is_refused(void **state)
{
    (void)state;
    invit_error err;
    int64_t available = inv_memory_available();
    assert_true(available > 0);
    assert_int_equal(inv_memory_expect(available / 2, "half", &err), INVIT_OK);
    assert_int_equal(inv_memory_expect(1 << 20, "little", &err), INVIT_OK);
    if (available == INT64_MAX) return; /* nothing is known here */
    assert_int_equal(inv_memory_expect(INT64_MAX, "solving", &err), INVIT_ERR_MEMORY);
    assert_memory_equal(err.message, "solving: about 9223372036.9 GB of memory needed, ", 49);
}

/* 50 million nodes are no error, 2^31 are. */
static void sizes_have_a_limit(void **state)
{
    (void)state;
    invit_error err;
    invit_instance *p = NULL;
    assert_int_equal(inv_instance_alloc(INVIT_TSP, (int64_t)1 << 31, &p, &err), INVIT_ERR_ARGUMENT);
    assert_string_equal(err.message, "an instance has 1 to 1073741823 nodes, not 2147483648");
    invit_status status = inv_instance_alloc(INVIT_TSP, 50000000, &p, &err);
    assert_true(status == INVIT_OK || status == INVIT_ERR_MEMORY);
    invit_instance_destroy(p);
}

/* What programs write between quotes reads back; what is not UTF-8 is marked. */
static void text_becomes_json(void **state)
{
    (void)state;
    const char *text = "a\"b\\c\n\t\x01 \xc3\xa4 \xf0\x9f\x9a\x9a \xe4.";
    char quoted[128] = "\"", piece[INV_JSON_PIECE];
    for (size_t at = 1; *text;) {
        size_t n = inv_json_piece(&text, piece);
        memcpy(quoted + at, piece, n);
        at += n;
        strcpy(quoted + at, *text ? "" : "\"");
    }
    json_t *read = json_loads(quoted, JSON_DECODE_ANY, NULL);
    assert_string_equal(json_string_value(read), "a\"b\\c\n\t\x01 \xc3\xa4 \xf0\x9f\x9a\x9a \xef\xbf\xbd.");
    json_decref(read);
}

/* Both styles, line breaks, an empty list, a text that is too long for one piece, and all 64 bits of a seed. */
static void json_is_written_as_it_comes(void **state)
{
    (void)state;
    char *text = NULL, longer[400];
    memset(longer, 'x', sizeof longer);
    longer[200] = '"';
    longer[sizeof longer - 1] = 0;
    inv_outfile *f = NULL;
    assert_int_equal(inv_outfile_open_memory(&text, NULL, &f, NULL), INVIT_OK);
    inv_json j = inv_json_to_outfile(f);
    inv_json_open(&j, NULL, '{');
    inv_json_uint(&j, "seed", UINT64_MAX);
    inv_json_break(&j, "\n ");
    inv_json_open(&j, "rows", '[');
    j.gap = "";
    inv_json_open(&j, NULL, '[');
    inv_json_number(&j, NULL, 0.1);
    inv_json_literal(&j, NULL, "2.50");
    inv_json_close(&j);
    inv_json_break(&j, "\n  ");
    inv_json_open(&j, NULL, '[');
    inv_json_close(&j);
    inv_json_break(&j, "\n ");
    inv_json_close(&j);
    inv_json_null(&j, "none");
    inv_json_close(&j);
    j.gap = " ";
    inv_json_string(&j, NULL, longer);
    assert_int_equal(inv_outfile_close(f, NULL), INVIT_OK);
    static const char expected[] =
        "{\"seed\": 18446744073709551615,\n \"rows\": [[0.1,2.50],\n  []\n ],\"none\":null}";
    assert_memory_equal(text, expected, sizeof expected - 1);
    json_t *read = json_loads(text + sizeof expected - 1, JSON_DECODE_ANY, NULL);
    assert_string_equal(json_string_value(read), longer);
    json_decref(read);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_has_the_right_moments),
        cmocka_unit_test(exponential_has_mean_one),
        cmocka_unit_test(below_is_even),
        cmocka_unit_test(text_becomes_json),
        cmocka_unit_test(json_is_written_as_it_comes),
        cmocka_unit_test(parallel_runs_every_member_once),
        cmocka_unit_test(blocks_are_all_items_once),
#ifdef __GLIBC__
        cmocka_unit_test(threads_have_room),
#endif
        cmocka_unit_test(instances_refuse_nonsense),
        cmocka_unit_test(memory_that_is_not_there_is_refused),
        cmocka_unit_test(sizes_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
