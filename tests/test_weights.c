/* Model files: what is written comes back, and a damaged file is one clear error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "invit_lab.h"
#include "base/rng.h"
#include "policy/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "weights-test-%d.safetensors", (int)getpid());
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static struct invit_model *small_model(void)
{
    inv_config c = {.problem = INVIT_CVRP,
                    .dim = 8,
                    .ff = 12,
                    .heads = 2,
                    .state_layers = 1,
                    .action_layers = 2,
                    .decoder_layers = 2,
                    .action_k = 3,
                    .state_views = 2,
                    .state_k = {5, 9},
                    .invariant = false};
    struct invit_model *m = NULL;
    assert_int_equal(inv_model_create(&c, &m, NULL), INVIT_OK);
    inv_model_randomise(m, 5);
    return m;
}

static void models_of_one_make_have_a_mean(void **state)
{
    (void)state;
    struct invit_model *a = small_model(), *b = small_model(), *c = small_model(), *other = NULL;
    inv_model_randomise(b, 6);
    inv_model_randomise(c, 7);
    struct invit_model *own = small_model();
    const invit_model *both[] = {b, c};
    assert_int_equal(invit_model_average(a, both, 2, NULL), INVIT_OK);
    for (size_t i = 0; i < a->params; i++)
        assert_true(fabs((double)a->param[i] -
                         ((double)own->param[i] + (double)b->param[i] + (double)c->param[i]) / 3) < 1e-7);
    invit_model_destroy(own);
    inv_config config = a->config;
    config.state_k[1]++;
    assert_int_equal(inv_model_create(&config, &other, NULL), INVIT_OK);
    const invit_model *wrong[] = {other};
    invit_error err;
    assert_int_equal(invit_model_average(a, wrong, 1, &err), INVIT_ERR_ARGUMENT);
    invit_model_destroy(a);
    invit_model_destroy(b);
    invit_model_destroy(c);
    invit_model_destroy(other);
}

/* A model of fewer views counts as what it grows into; the other way round there is no mean. */
static void a_smaller_model_grows_into_the_mean(void **state)
{
    (void)state;
    struct invit_model *small = small_model(), *large = NULL, *grown = NULL;
    inv_config config = small->config;
    config.state_k[config.state_views++] = 14;
    assert_int_equal(inv_model_create(&config, &large, NULL), INVIT_OK);
    assert_int_equal(inv_model_create(&config, &grown, NULL), INVIT_OK);
    assert_true(inv_model_grow(small, grown, 0));
    inv_model_randomise(large, 8);
    float first = large->param[0], last = large->param[large->params - 1];
    const invit_model *one[] = {small}, *wrong[] = {large};
    invit_error err;
    assert_int_equal(invit_model_average(large, one, 1, NULL), INVIT_OK);
    assert_true(fabsf(large->param[0] - (first + grown->param[0]) / 2) < 1e-7f);
    assert_true(fabsf(large->param[large->params - 1] - (last + grown->param[large->params - 1]) / 2) <
                1e-7f);
    assert_int_equal(invit_model_average(small, wrong, 1, &err), INVIT_ERR_ARGUMENT);
    invit_model_destroy(small);
    invit_model_destroy(large);
    invit_model_destroy(grown);
}

/* Someone may have put a link where a half-written file could lie. */
static void writing_follows_no_link(void **state)
{
    (void)state;
    struct invit_model *m = small_model();
    char folder[] = "/tmp/invit-link-XXXXXX", victim[64], out[64], link[80], text[8] = "";
    assert_non_null(mkdtemp(folder));
    snprintf(victim, sizeof victim, "%s/victim", folder);
    snprintf(out, sizeof out, "%s/m.safetensors", folder);
    snprintf(link, sizeof link, "%s.part", out);
    FILE *f = fopen(victim, "w");
    fputs("mine", f);
    fclose(f);
    assert_int_equal(symlink(victim, link), 0);
    assert_int_equal(invit_model_save(m, out, NULL), INVIT_OK);
    f = fopen(victim, "r");
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    assert_string_equal(text, "mine");
    unlink(link);
    unlink(out);
    unlink(victim);
    rmdir(folder);
    invit_model_destroy(m);
}

static void comes_back_as_it_was(void **state)
{
    (void)state;
    static const struct {
        inv_dtype storage;
        double relative;
    } kinds[] = {{INV_F32, 0}, {INV_F16, 0x1p-11}, {INV_BF16, 0x1p-8}};
    struct invit_model *m = small_model(), *back = NULL;
    m->param[3] = 1e-6f; /* a subnormal in F16 */
    m->metadata = strdup("{\"trained\":\"never\"}");
    for (int i = 0; i < 3; i++) {
        invit_error err;
        assert_int_equal(inv_model_save(m, path, kinds[i].storage, &err), INVIT_OK);
        if (invit_model_load(path, &back, &err) != INVIT_OK) fail_msg("%s", err.message);
        assert_memory_equal(&back->config, &m->config, sizeof m->config);
        m->config.invariant = m->config.canonical_frame = true; /* from the second time on */
        assert_string_equal(back->metadata, m->metadata);
        assert_string_equal(back->path, path);
        assert_int_equal(back->params, m->params);
        for (size_t j = 0; j < m->params; j++)
            assert_true(fabsf(back->param[j] - m->param[j]) <=
                        (float)kinds[i].relative * fabsf(m->param[j]) + (i == 1 ? 3.1e-8f : 0));
        invit_model_destroy(back);
    }
    invit_model_destroy(m);
}

static int left; /* allocations of JSON until one fails */

static void *fail_once(size_t size)
{
    return left-- == 0 ? NULL : malloc(size);
}

/* Jansson passes over most of its failures: a key or a dimension is missing then. */
static void every_json_allocation_may_fail(void **state)
{
    (void)state;
    struct invit_model *m = small_model(), *back = NULL;
    invit_error err;
    m->metadata = strdup("{\"trained\":\"never\"}");
    m->config.invariant = m->config.canonical_frame = true;
    int failures = 0, turn = 0;
    for (bool tried_all = false; !tried_all; turn++) {
        left = turn;
        json_set_alloc_funcs(fail_once, free);
        invit_status status = inv_model_save(m, path, INV_F32, &err);
        bool saved = status == INVIT_OK;
        if (saved) status = invit_model_load(path, &back, &err);
        tried_all = left >= 0;
        json_set_alloc_funcs(malloc, free);
        failures += status != INVIT_OK;
        if (saved && status != INVIT_OK)
            assert_int_equal(invit_model_load(path, &back, &err), INVIT_OK); /* what is saved is whole */
        else if (!saved)
            assert_int_equal(status, INVIT_ERR_MEMORY);
        if (!back) continue;
        assert_memory_equal(&back->config, &m->config, sizeof m->config);
        assert_string_equal(back->metadata, m->metadata);
        invit_model_destroy(back);
        back = NULL;
    }
    assert_true(turn > 500 && failures > turn / 2);
    invit_model_destroy(m);
}

/* Every value of F16, there and back: widening is exact and narrowing its inverse. */
static void half_floats_are_exact(void **state)
{
    (void)state;
    static float x[65536];
    uint16_t bits[65536];
    for (int i = 0; i < 65536; i++) bits[i] = (uint16_t)i;
    inv_array a = {.name = "x", .dtype = INV_F16, .rank = 1, .shape = {65536}, .count = 65536, .data = bits};
    inv_array_floats(&a, x);
    assert_true(x[0x3c00] == 1.0f && x[0xc000] == -2.0f && x[0x0001] == 0x1p-24f && x[0x7bff] == 65504.0f);
    assert_true(isinf(x[0x7c00]) && isnan(x[0x7e01]));
    a.data = x;
    assert_int_equal(inv_safetensors_write(path, &a, 1, NULL, NULL), INVIT_OK);
    inv_safetensors s;
    assert_int_equal(inv_safetensors_read(path, &s, NULL), INVIT_OK);
    const uint8_t *data = s.array[0].data;
    for (int i = 0; i < 65536; i++)
        if (!isnan(x[i])) assert_int_equal(data[2 * i] | data[2 * i + 1] << 8, i);
    inv_safetensors_free(&s);
}

static void initialised_like_pytorch(void **state)
{
    (void)state;
    inv_config c;
    inv_config_defaults(&c, INVIT_TSP);
    struct invit_model *m = NULL;
    assert_int_equal(inv_model_create(&c, &m, NULL), INVIT_OK);
    inv_model_randomise(m, 1);
    const inv_tensor *t = inv_model_find(m, "state_encoders.0.encoder.linear2_layers.1.weight");
    double most = 0, sum = 0, bound = 1 / sqrt(512.0);
    for (size_t i = 0; i < t->count; i++) {
        most = fmax(most, fabs((double)m->param[t->offset + i]));
        sum += (double)m->param[t->offset + i];
    }
    assert_true(most <= bound && most > 0.99 * bound && fabs(sum / (double)t->count) < 0.02 * bound);
    t = inv_model_find(m, "decoder.decoder_layers.0.BN_att.weight");
    assert_true(m->param[t->offset] == 1);
    assert_null(
        inv_model_find(m, "action_encoder.input_emb_for_first.weight")); /* TSP's action view has no first */
    invit_model_destroy(m);
}

/* ---- damage -------------------------------------------------------------------------------------------- */

static void expect_error(invit_status code, const char *part)
{
    invit_model *m = NULL;
    invit_error err = {0};
    invit_status status = invit_model_load(path, &m, &err);
    if (status != code || !strstr(err.message, part))
        fail_msg("status %d (%s), expected %d with \"%s\"", (int)status, err.message, (int)code, part);
    assert_null(m);
}

/* Saves the model's tensors with one change. */
static void save_changed(int change)
{
    struct invit_model *m = small_model();
    inv_array *a = calloc((size_t)m->tensors + 1, sizeof *a);
    int32_t count = m->tensors;
    if (change == 3) m->param[m->tensor[10].offset + 1] = NAN;
    if (change == 4) m->param[0] = INFINITY;
    for (int32_t i = 0; i < count; i++) {
        const inv_tensor *t = &m->tensor[i];
        a[i] = (inv_array){.name = t->name,
                           .rank = t->rank,
                           .shape = {t->shape[0], t->shape[1]},
                           .count = (int64_t)t->count,
                           .data = m->param + t->offset};
    }
    if (change == 0) count--;
    if (change == 1) a[count] = a[0], a[count++].name = "one_too_many";
    if (change == 2) a[0].shape[0] = a[0].shape[1], a[0].shape[1] = m->tensor[0].shape[0];
    if (change == 5) a[1].rank = 2, a[1].shape[1] = 1;
    json_t *metadata = inv_config_to_metadata(&m->config);
    if (change == 6) json_object_del(metadata, "nb_heads");
    if (change == 7) json_object_set_new(metadata, "state_k", json_string("[5, 9"));
    if (change == 8) json_object_set_new(metadata, "problem", json_string("vrptw"));
    if (change == 9) json_object_set_new(metadata, "nb_heads", json_string("3"));
    if (change == 10) json_object_set_new(metadata, "state_k", json_string("[5]"));
    assert_int_equal(inv_safetensors_write(path, a, count, metadata, NULL), INVIT_OK);
    json_decref(metadata);
    free(a);
    invit_model_destroy(m);
}

static void wrong_tensors_are_named(void **state)
{
    (void)state;
    static const char *const said[] = {"query_mlp.bias is missing",
                                       "one_too_many does not belong",
                                       "expected 2 of 8 x 3",
                                       "not finite",
                                       "not finite",
                                       "expected 1 of 8",
                                       "no \"nb_heads\"",
                                       "state_k is [5, 9",
                                       "expected tsp or cvrp",
                                       "that divide the width",
                                       "lists 1 views"};
    for (int i = 0; i < 11; i++) {
        save_changed(i);
        expect_error(INVIT_ERR_INPUT, said[i]);
    }
}

static void every_truncation_is_an_error(void **state)
{
    (void)state;
    struct invit_model *m = small_model();
    assert_int_equal(inv_model_save(m, path, INV_BF16, NULL), INVIT_OK);
    invit_model_destroy(m);
    FILE *f = fopen(path, "rb");
    static uint8_t bytes[1 << 17];
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t n = 0; n < size; n += n < 64 ? 1 : 97) {
        inv_safetensors s;
        assert_int_not_equal(inv_safetensors_parse(bytes, n, "cut", &s, NULL), INVIT_OK);
    }
    inv_rng r;
    inv_rng_init(&r, 1, 1);
    for (int i = 0; i < 2000; i++) { /* a changed byte is an error or a readable file, never a crash */
        inv_safetensors s;
        size_t at = inv_rng_below(&r, 4000);
        uint8_t old = bytes[at];
        bytes[at] = (uint8_t)inv_rng_u64(&r);
        if (inv_safetensors_parse(bytes, size, "changed", &s, NULL) == INVIT_OK) {
            struct invit_model *back = NULL;
            if (inv_model_from_safetensors(&s, "changed", &back, NULL) == INVIT_OK) invit_model_destroy(back);
            inv_safetensors_free(&s);
        }
        bytes[at] = old;
    }
}

static void wrong_headers_are_refused(void **state)
{
    (void)state;
    static const char *const header[] = {
        "[]",
        "{\"a\":1}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}",
        "{\"a\":{\"dtype\":\"F8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2147483647,2147483647,2147483647],\"data_offsets\":[0,4]}}",
        ("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\",\"shape\":"
         "["
         "1],\"data_offsets\":[0,4]}}"),
        "{\"__metadata__\":{\"a\":1}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,4]}}"};
    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++) {
        uint8_t bytes[512] = {0};
        size_t n = strlen(header[i]);
        bytes[0] = (uint8_t)n;
        memcpy(bytes + 8, header[i], n);
        inv_safetensors s;
        invit_error err;
        assert_int_not_equal(inv_safetensors_parse(bytes, 8 + n + 4, "bad", &s, &err), INVIT_OK);
        assert_non_null(strstr(err.message, "bad"));
    }
    write_file(path, "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10);
    expect_error(INVIT_ERR_INPUT, "not a safetensors file");
    unlink(path);
    expect_error(INVIT_ERR_IO, "cannot open");
    struct invit_model *m = small_model();
    assert_int_equal(inv_model_save(m, "no/such/directory/x.safetensors", INV_F32, NULL), INVIT_ERR_IO);
    assert_int_equal(inv_model_save(m, path, INV_I64, NULL), INVIT_ERR_ARGUMENT);
    invit_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_of_one_make_have_a_mean),
        cmocka_unit_test(a_smaller_model_grows_into_the_mean),
        cmocka_unit_test(writing_follows_no_link),
        cmocka_unit_test(comes_back_as_it_was),
        cmocka_unit_test(every_json_allocation_may_fail),
        cmocka_unit_test(half_floats_are_exact),
        cmocka_unit_test(initialised_like_pytorch),
        cmocka_unit_test(wrong_tensors_are_named),
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(wrong_headers_are_refused),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
