/* Import: golden checkpoints give the golden weights bit for bit; everything else is refused with a message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "invit_lab.h"
#include "base/rng.h"
#include "lab/model/import.h"
#include "lab/model/import_pickle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

typedef struct golden {
    const char *name;
    int32_t heads, views, view[4];
    bool without_invariance;
} golden;

static const golden cases[] = {
    {"tsp-tiny", 2, 2, {5, 8}, false},       {"tsp-tiny-1v", 0, 0, {0}, false},
    {"tsp-tiny-3v", 0, 0, {0}, false},       {"tsp-tiny-global", 2, 2, {5, 1000}, false},
    {"tsp-tiny-noinv", 2, 2, {5, 8}, true},  {"cvrp-tiny", 2, 2, {5, 8}, false},
    {"cvrp-tiny-1v", 0, 0, {0}, false},      {"cvrp-tiny-3v", 2, 3, {4, 7, 11}, false},
    {"cvrp-tiny-noinv", 2, 2, {5, 8}, true},
};

static char *path_of(const char *name, const char *kind)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/golden/%s.%s", TEST_DATA, name, kind);
    return path;
}

static uint8_t *bytes_of(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    uint8_t *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, f);
    assert_true(*size > 0 && *size < 1 << 20);
    fclose(f);
    return bytes;
}

/* Heads and k leave no trace in shapes: the expected file's own are what a user would have to say. */
static invit_import_options options_for(const invit_model *expected)
{
    invit_import_options o = invit_import_defaults();
    o.heads = expected->config.heads;
    o.without_invariance = !expected->config.invariant;
    o.views = expected->config.state_views + 1;
    o.view[0] = expected->config.action_k;
    for (int32_t i = 0; i < expected->config.state_views; i++) o.view[i + 1] = expected->config.state_k[i];
    return o;
}

static void same_model(const invit_model *a, const invit_model *b)
{
    assert_memory_equal(&a->config, &b->config, sizeof a->config);
    assert_int_equal(a->params, b->params);
    assert_memory_equal(a->param, b->param, a->params * sizeof *a->param);
}

static void golden_checkpoints_give_golden_weights(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        invit_error err = {0};
        invit_model *expected = NULL, *got = NULL;
        if (invit_model_load(path_of(cases[i].name, "weights.safetensors"), &expected, &err) != INVIT_OK)
            fail_msg("%s", err.message);
        invit_import_options o = options_for(expected);
        if (cases[i].views) {
            assert_int_equal(o.heads, cases[i].heads);
            assert_int_equal(o.views, cases[i].views);
            assert_memory_equal(o.view, cases[i].view, (size_t)o.views * sizeof *o.view);
            assert_int_equal(o.without_invariance, cases[i].without_invariance);
        }
        if (invit_model_import(path_of(cases[i].name, "checkpoint.pkl"), &o, &got, &err) != INVIT_OK)
            fail_msg("%s", err.message);
        same_model(got, expected);
        invit_model_destroy(got);
        invit_model_destroy(expected);
    }
}

/* ---- the format before PyTorch 1.6, made from the zip's own parts -------------------------------------- */

static uint8_t *entry(zip_t *z, const char *name, size_t *size)
{
    zip_stat_t info;
    assert_int_equal(zip_stat(z, name, 0, &info), 0);
    *size = (size_t)info.size;
    uint8_t *bytes = malloc(*size + 1);
    zip_file_t *f = zip_fopen(z, name, 0);
    assert_int_equal(zip_fread(f, bytes, info.size), (long)info.size);
    zip_fclose(f);
    return bytes;
}

static void put(uint8_t **at, const void *bytes, size_t size)
{
    memcpy(*at, bytes, size);
    *at += size;
}

static void the_old_stream_format_reads_the_same(void **state)
{
    (void)state;
    invit_error err = {0};
    invit_model *expected = NULL, *got = NULL;
    assert_int_equal(invit_model_load(path_of("tsp-tiny", "weights.safetensors"), &expected, &err), INVIT_OK);
    zip_t *z = zip_open(path_of("tsp-tiny", "checkpoint.pkl"), ZIP_RDONLY, NULL);
    assert_non_null(z);
    uint8_t *file = malloc(1 << 20), *at = file;
    put(&at, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
    put(&at, "\x80\x02M\xe9\x03.", 6);
    put(&at, "\x80\x02}.", 4);
    size_t size;
    uint8_t *pickle = entry(z, "tsp-tiny.checkpoint/data.pkl", &size);
    put(&at, pickle, size);
    free(pickle);
    put(&at, "\x80\x02](", 4);
    for (int i = 0; i < 98; i++) {
        char key[8];
        uint32_t length = (uint32_t)snprintf(key, sizeof key, "%d", i);
        put(&at, "X", 1);
        put(&at, &length, 4);
        put(&at, key, length);
    }
    put(&at, "e.", 2);
    for (int i = 0; i < 98; i++) {
        char name[64];
        snprintf(name, sizeof name, "tsp-tiny.checkpoint/data/%d", i);
        uint8_t *data = entry(z, name, &size);
        uint64_t elements = size / 4;
        put(&at, &elements, 8);
        put(&at, data, size);
        free(data);
    }
    zip_discard(z);
    invit_import_options o = options_for(expected);
    if (inv_model_import(file, (size_t)(at - file), "old", &o, &got, &err) != INVIT_OK)
        fail_msg("%s", err.message);
    same_model(got, expected);
    invit_model_destroy(got);
    /* cut off in the last storage that matters */
    assert_int_equal(inv_model_import(file, (size_t)(at - file) / 2, "old", &o, &got, &err), INVIT_ERR_INPUT);
    assert_null(got);
    free(file);
    invit_model_destroy(expected);
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

static void refuse(const char *bytes, size_t size, const char *expected_words)
{
    invit_error err = {0};
    inv_pickle *values, *root;
    size_t used;
    assert_int_equal(inv_unpickle((const uint8_t *)bytes, size, 1000, "x", &values, &root, &used, &err),
                     INVIT_ERR_INPUT);
    if (!strstr(err.message, expected_words)) fail_msg("'%s' does not say '%s'", err.message, expected_words);
}
#define REFUSE(literal, words) refuse(literal, sizeof literal - 1, words)

static void the_unpickler_refuses_what_it_does_not_know(void **state)
{
    (void)state;
    REFUSE("\x80\x02"
           "cos\nsystem\n(X\x02\x00\x00\x00lstR.",
           "os.system");
    REFUSE("\x80\x02"
           "cbuiltins\neval\n.",
           "builtins.eval");
    REFUSE("\x80\x04\x8c\x05posix\x8c\x06system\x93.", "posix.system");
    REFUSE("\x80\x02"
           "ctorch\nFloatStorage\n)R.",
           "class");
    REFUSE("\x80\x02i", "opcode");     /* INST */
    REFUSE("\x80\x02o", "opcode");     /* OBJ */
    REFUSE("\x80\x02\x81.", "opcode"); /* NEWOBJ */
    REFUSE("\x80\x02", "ends");
    REFUSE("\x80\x02.", "missing");
    REFUSE("\x80\x02(K\x01t", "ends");
    REFUSE("\x80\x02K\x01K\x02s.", "dict");
    REFUSE("\x80\x02}(K\x01u.", "without a value");
    REFUSE("\x80\x02h\x01.", "memo");
    REFUSE("\x80\x02K\x01r\xff\xff\xff\x7f.", "larger than the file");
    REFUSE("\x80\x02X\xff\xff\xff\x7f"
           "a.",
           "larger than the file");
    REFUSE("\x80\x09.", "protocol");
    REFUSE("\x80\x02Ntttt.", "mark");
}

/* A byte of pickle can make a value of 200 bytes: there is a bound, and it is the file's size that sets it. */
static void memory_is_in_proportion_to_the_file(void **state)
{
    (void)state;
    static const char opcode[] = "N]}()";
    char *bytes = malloc(2002);
    for (size_t i = 0; i < sizeof opcode - 1; i++) {
        memcpy(bytes, "\x80\x02", 2);
        memset(bytes + 2, opcode[i], 2000);
        refuse(bytes, 2002, "far more values");
    }
    free(bytes);
}

/* Tensors of stride 0 over a small storage: many times the file when gathered. */
static void tensors_are_no_larger_than_the_file(void **state)
{
    (void)state;
    enum { TENSORS = 60, ELEMENTS = 200 };
    static const char *const needed[] = {"action_encoder.input_emb.weight",
                                         "action_encoder.encoder.linear1_layers.0.weight",
                                         "WK_att_decoder.weight"};
    static const char tensor[] = "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\n"
                                 "FloatStorage\nX\x01\x00\x00\x00"
                                 "0X\x03\x00\x00\x00"
                                 "cpuK\xc8tQK\x00K\xc8K\x02\x86K\x00K\x00\x86tR"; /* 200 x 2, stride 0 */
    uint8_t *file = malloc(1 << 16), *at = file;
    put(&at, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}.", 25);
    put(&at, "\x80\x02}(", 4);
    for (int i = 0; i < TENSORS; i++) {
        char name[64];
        snprintf(name, sizeof name, "t%d", i);
        const char *key = i < 3 ? needed[i] : name;
        uint32_t length = (uint32_t)strlen(key);
        put(&at, "X", 1);
        put(&at, &length, 4);
        put(&at, key, length);
        put(&at, tensor, sizeof tensor - 1);
    }
    put(&at, "u.", 2);
    put(&at,
        "\x80\x02](X\x01\x00\x00\x00"
        "0e.",
        12);
    uint64_t elements = ELEMENTS;
    float zero[ELEMENTS] = {0};
    put(&at, &elements, 8);
    put(&at, zero, sizeof zero);
    invit_import_options o = invit_import_defaults();
    invit_error err = {0};
    invit_model *m = NULL;
    assert_int_equal(inv_model_import(file, (size_t)(at - file), "zero", &o, &m, &err), INVIT_ERR_INPUT);
    if (!strstr(err.message, "larger than the file")) fail_msg("%s", err.message);
    free(file);
}

static void tensors_stay_inside_their_storage(void **state)
{
    (void)state;
#define STORAGE                                                                                              \
    "\x80\x02"                                                                                               \
    "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n"                    \
    "X\x01\x00\x00\x00"                                                                                      \
    "0X\x03\x00\x00\x00"                                                                                     \
    "cpuK\x0atQ"
    REFUSE(STORAGE "K\x01K\x0a\x85K\x01\x85tR.", "outside"); /* elements 1..10 of 10 */
    REFUSE(STORAGE "K\x0bK\x01\x85K\x01\x85tR.", "outside");
    REFUSE(STORAGE "K\x00K\x02K\x05\x86K\x06K\x01\x86tR.", "outside");
    REFUSE(STORAGE "K\x00J\xff\xff\xff\xff\x85K\x01\x85tR.", "not a number");
    REFUSE(STORAGE "K\x00K\x02\x85\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x85tR.", "outside");
    inv_pickle *values, *root;
    size_t used;
    static const char fits[] = STORAGE "K\x00K\x0a\x85K\x01\x85tR.";
    assert_int_equal(
        inv_unpickle((const uint8_t *)fits, sizeof fits - 1, 1000, "x", &values, &root, &used, NULL),
        INVIT_OK);
    assert_int_equal(root->type, INV_PICKLE_TENSOR);
    assert_int_equal(used, sizeof fits - 1);
    inv_pickle_free(values);
}

static void wrong_wishes_have_clear_answers(void **state)
{
    (void)state;
    invit_error err = {0};
    invit_model *m = NULL;
    const char *path = path_of("tsp-tiny", "checkpoint.pkl");
    invit_import_options o = invit_import_defaults();
    o.problem = INVIT_CVRP;
    assert_int_equal(invit_model_import(path, &o, &m, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "TSP"));
    o = invit_import_defaults();
    o.heads = 3;
    assert_int_not_equal(invit_model_import(path, &o, &m, &err), INVIT_OK);
    o = invit_import_defaults();
    o.views = 3;
    assert_int_equal(invit_model_import(path, &o, &m, &err), INVIT_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "2 views"));
    assert_int_equal(invit_model_import("/nonexistent.pkl", &o, &m, &err), INVIT_ERR_IO);
    assert_int_equal(inv_model_import((const uint8_t *)"hello", 5, "hello", &o, &m, &err), INVIT_ERR_INPUT);
    assert_int_equal(inv_model_import((const uint8_t *)"PK\3\4xx", 6, "hello", &o, &m, &err),
                     INVIT_ERR_INPUT);
    assert_null(m);
}

/* Damage anywhere is an error or harmless, never a crash (the sanitizers watch). */
static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    size_t size;
    uint8_t *file = bytes_of(path_of("tsp-tiny-1v", "checkpoint.pkl"), &size), *copy = malloc(size);
    invit_import_options o = invit_import_defaults();
    o.heads = 2;
    inv_rng r;
    inv_rng_init(&r, 5, 0);
    for (int i = 0; i < 300; i++) {
        invit_model *m = NULL;
        invit_error err = {0};
        memcpy(copy, file, size);
        int hits = 1 + (int)inv_rng_below(&r, 8);
        /* half of the damage into the pickle, where it matters most */
        uint32_t where = i % 2 ? 24000 : (uint32_t)size;
        for (int h = 0; h < hits; h++) copy[inv_rng_below(&r, where)] = (uint8_t)inv_rng_u64(&r);
        size_t cut = i % 5 == 0 ? inv_rng_below(&r, (uint32_t)size) : size;
        if (inv_model_import(copy, cut, "damaged", &o, &m, &err) != INVIT_OK) {
            assert_null(m);
            assert_true(err.message[0] != 0);
        }
        invit_model_destroy(m);
    }
    free(copy);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_checkpoints_give_golden_weights),
        cmocka_unit_test(the_old_stream_format_reads_the_same),
        cmocka_unit_test(the_unpickler_refuses_what_it_does_not_know),
        cmocka_unit_test(tensors_stay_inside_their_storage),
        cmocka_unit_test(memory_is_in_proportion_to_the_file),
        cmocka_unit_test(tensors_are_no_larger_than_the_file),
        cmocka_unit_test(wrong_wishes_have_clear_answers),
        cmocka_unit_test(damaged_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
