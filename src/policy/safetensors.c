#include "policy/safetensors.h"

#include "base/file.h"
#include "base/json_memory.h"
#include "base/json_size.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/outfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEADER (100u << 20)

static const struct {
    const char *name;
    int bytes;
} dtypes[] = {[INV_F32] = {"F32", 4}, [INV_F16] = {"F16", 2}, [INV_BF16] = {"BF16", 2},
              [INV_F64] = {"F64", 8}, [INV_I32] = {"I32", 4}, [INV_I64] = {"I64", 8}};

/* ---- numbers ------------------------------------------------------------------------------------------- */

static float from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static uint32_t to_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static float half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, fraction = h & 1023u;
    if (exponent == 31) return from_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) return from_bits(sign | to_bits((float)fraction * 0x1p-24f));
    return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

/* Rounds to nearest, ties to even. */
static uint16_t float_to_half(float f)
{
    uint32_t u = to_bits(f), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
    if (a > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
    if (a >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
    if (a < 0x38800000u) { /* subnormal: adding 0.5 leaves the rounded fraction in the low bits */
        float t = from_bits(a) + 0.5f;
        return (uint16_t)(sign | (to_bits(t) - to_bits(0.5f)));
    }
    a += 0xfffu + ((a >> 13) & 1u);
    return (uint16_t)(sign | ((a - 0x38000000u) >> 13));
}

static uint16_t float_to_bfloat(float f)
{
    uint32_t u = to_bits(f);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(u >> 16 | 0x40u);
    return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

void inv_array_floats(const inv_array *a, float *out)
{
    const uint8_t *p = a->data;
    for (int64_t i = 0; i < a->count; i++, p += dtypes[a->dtype].bytes) {
        uint16_t h;
        int32_t i32;
        int64_t i64;
        double d;
        switch (a->dtype) {
        case INV_F32:
            memcpy(&out[i], p, 4);
            break;
        case INV_F16:
            memcpy(&h, p, 2), out[i] = half_to_float(h);
            break;
        case INV_BF16:
            memcpy(&h, p, 2), out[i] = from_bits((uint32_t)h << 16);
            break;
        case INV_F64:
            memcpy(&d, p, 8), out[i] = (float)d;
            break;
        case INV_I32:
            memcpy(&i32, p, 4), out[i] = (float)i32;
            break;
        case INV_I64:
            memcpy(&i64, p, 8), out[i] = (float)i64;
            break;
        }
    }
}

invit_status inv_array_ints(const inv_array *a, int64_t *out, invit_error *err)
{
    if (a->dtype != INV_I32 && a->dtype != INV_I64)
        return inv_fail(err, INVIT_ERR_INPUT, "tensor %s is %s, expected integers", a->name,
                        dtypes[a->dtype].name);
    const uint8_t *p = a->data;
    for (int64_t i = 0; i < a->count; i++, p += dtypes[a->dtype].bytes) {
        int32_t i32;
        if (a->dtype == INV_I64)
            memcpy(&out[i], p, 8);
        else
            memcpy(&i32, p, 4), out[i] = i32;
    }
    return INVIT_OK;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static invit_status parse_array(const char *name, const json_t *entry, const uint8_t *data, size_t size,
                                const char *file, inv_array *a, size_t range[2], invit_error *err)
{
    const json_t *dtype = json_object_get(entry, "dtype"), *shape = json_object_get(entry, "shape"),
                 *offsets = json_object_get(entry, "data_offsets");
    if (!json_is_string(dtype) || !json_is_array(shape) || !json_is_array(offsets) ||
        json_array_size(offsets) != 2)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: tensor %s: expected dtype, shape and two data_offsets",
                        file, name);
    *a = (inv_array){.name = name, .count = 1, .rank = (int32_t)json_array_size(shape)};
    size_t kinds = sizeof dtypes / sizeof dtypes[0], kind = 0;
    while (kind < kinds && strcmp(dtypes[kind].name, json_string_value(dtype)) != 0) kind++;
    if (kind == kinds)
        return inv_fail(err, INVIT_ERR_UNSUPPORTED,
                        "%s: tensor %s has dtype %.16s, expected F32, F16, BF16, F64, I32 or I64", file, name,
                        json_string_value(dtype));
    a->dtype = (inv_dtype)kind;
    if (json_array_size(shape) > INV_MAX_RANK)
        return inv_fail(err, INVIT_ERR_UNSUPPORTED, "%s: tensor %s has %zu dimensions, expected at most %d",
                        file, name, json_array_size(shape), INV_MAX_RANK);
    for (int32_t i = 0; i < a->rank; i++) {
        const json_t *n = json_array_get(shape, (size_t)i);
        if (!json_is_integer(n) || json_integer_value(n) < 0 || json_integer_value(n) > INT32_MAX)
            return inv_fail(err, INVIT_ERR_INPUT, "%s: tensor %s: a dimension is not a size", file, name);
        a->shape[i] = json_integer_value(n);
        if (a->shape[i] > 0 && a->count > INT64_MAX / 16 / a->shape[i])
            return inv_fail(err, INVIT_ERR_INPUT, "%s: tensor %s is too large", file, name);
        a->count *= a->shape[i];
    }
    for (int i = 0; i < 2; i++) {
        const json_t *o = json_array_get(offsets, (size_t)i);
        if (!json_is_integer(o) || json_integer_value(o) < 0 || (uint64_t)json_integer_value(o) > size)
            return inv_fail(err, INVIT_ERR_INPUT,
                            "%s: tensor %s: data_offsets outside the %zu bytes of data (file truncated?)",
                            file, name, size);
        range[i] = (size_t)json_integer_value(o);
    }
    if (range[0] > range[1] || (uint64_t)a->count * (uint64_t)dtypes[a->dtype].bytes != range[1] - range[0])
        return inv_fail(err, INVIT_ERR_INPUT, "%s: tensor %s: data_offsets [%zu, %zu] do not fit its shape",
                        file, name, range[0], range[1]);
    a->data = data + range[0];
    return INVIT_OK;
}

static int by_start(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return x[1] < y[1] ? -1 : x[1] > y[1];
}

invit_status inv_safetensors_parse(const uint8_t *bytes, size_t size, const char *file, inv_safetensors *out,
                                   invit_error *err)
{
    inv_safetensors s = {0};
    size_t(*range)[2] = NULL;
    invit_status status = INVIT_OK;
    uint64_t length = 0;
    if (size < 8)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: %zu bytes are too short for a safetensors file", file,
                        size);
    for (int i = 7; i >= 0; i--) length = length << 8 | bytes[i];
    if (length > MAX_HEADER || length > size - 8)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: header of %llu bytes in a file of %zu: not a safetensors file or truncated",
                        file, (unsigned long long)length, size);
    json_error_t why;
    INV_CHECK(inv_memory_expect(inv_json_size_of((const char *)bytes + 8, (size_t)length), file, err));
    s.header = inv_json_load((const char *)bytes + 8, (size_t)length, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(s.header)) {
        status = inv_fail(err, INVIT_ERR_INPUT, "%s: header is not a JSON object: %s", file,
                          s.header ? "expected {...}" : why.text);
        goto done;
    }
    const uint8_t *data = bytes + 8 + length;
    size_t data_size = size - 8 - (size_t)length, entries = json_object_size(s.header);
    s.array = calloc(entries + 1, sizeof *s.array);
    range = calloc(entries + 1, sizeof *range);
    if (!s.array || !range) {
        status = inv_no_memory(err, entries * sizeof *s.array);
        goto done;
    }
    const char *name;
    json_t *entry;
    json_object_foreach(s.header, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0) {
            const char *key;
            json_t *value;
            if (json_is_object(entry)) s.metadata = json_incref(entry);
            json_object_foreach(entry, key, value) if (!json_is_string(value)) s.metadata =
                (json_decref(s.metadata), NULL);
            if (!s.metadata) {
                status = inv_fail(err, INVIT_ERR_INPUT, "%s: __metadata__ is not an object of strings", file);
                goto done;
            }
            continue;
        }
        INV_TRY(parse_array(name, entry, data, data_size, file, &s.array[s.count], range[s.count], err));
        s.count++;
    }
    qsort(range, (size_t)s.count, sizeof *range, by_start);
    size_t end = 0;
    for (int32_t i = 0; i < s.count; i++) {
        if (range[i][0] != end) {
            status = inv_fail(err, INVIT_ERR_INPUT, "%s: tensors overlap or leave a hole at data byte %zu",
                              file, end);
            goto done;
        }
        end = range[i][1];
    }
    if (end != data_size) {
        status = inv_fail(err, INVIT_ERR_INPUT, "%s: %zu bytes of data, but the tensors end at %zu", file,
                          data_size, end);
        goto done;
    }
    if (!s.metadata) s.metadata = json_object();
    if (!s.metadata) status = inv_no_memory(err, 64);
done:
    free(range);
    if (status != INVIT_OK)
        inv_safetensors_free(&s);
    else
        *out = s;
    return status;
}

invit_status inv_safetensors_read(const char *path, inv_safetensors *out, invit_error *err)
{
    char *bytes;
    size_t size;
    INV_CHECK(inv_read_file(path, SIZE_MAX - 1, &bytes, &size, err));
    invit_status status = inv_safetensors_parse((const uint8_t *)bytes, size, path, out, err);
    if (status == INVIT_OK)
        out->bytes = (uint8_t *)bytes;
    else
        free(bytes);
    return status;
}

void inv_safetensors_free(inv_safetensors *s)
{
    json_decref(s->metadata);
    json_decref(s->header);
    free(s->array);
    free(s->bytes);
    *s = (inv_safetensors){0};
}

const inv_array *inv_safetensors_find(const inv_safetensors *s, const char *name)
{
    for (int32_t i = 0; i < s->count; i++)
        if (strcmp(s->array[i].name, name) == 0) return &s->array[i];
    return NULL;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

/* NULL when there is no memory for all of it. */
static json_t *make_header(const inv_array *array, int32_t count, json_t *metadata)
{
    json_t *header = json_object();
    if (metadata && json_object_set(header, "__metadata__", metadata) != 0) goto fail;
    int64_t at = 0;
    for (int32_t i = 0; i < count; i++) {
        const inv_array *a = &array[i];
        int64_t end = at + a->count * dtypes[a->dtype].bytes;
        json_t *shape = json_array();
        int lost = 0;
        for (int32_t r = 0; r < a->rank; r++) lost |= json_array_append_new(shape, json_integer(a->shape[r]));
        json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtypes[a->dtype].name, "shape", shape,
                                  "data_offsets", (json_int_t)at, (json_int_t)end);
        if (json_object_set_new(header, a->name, entry) != 0 || lost) goto fail;
        at = end;
    }
    return header;
fail:
    json_decref(header);
    return NULL;
}

static void write_array(inv_outfile *f, const inv_array *a)
{
    if (a->dtype != INV_F16 && a->dtype != INV_BF16) {
        inv_outfile_write(f, a->data, (size_t)dtypes[a->dtype].bytes * (size_t)a->count);
        return;
    }
    const float *x = a->data;
    uint16_t buffer[512];
    for (int64_t i = 0; i < a->count;) {
        size_t n = 0;
        for (; n < 512 && i < a->count; n++, i++)
            buffer[n] = a->dtype == INV_F16 ? float_to_half(x[i]) : float_to_bfloat(x[i]);
        inv_outfile_write(f, buffer, n * sizeof *buffer);
    }
}

invit_status inv_safetensors_write(const char *path, const inv_array *array, int32_t count, json_t *metadata,
                                   invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_outfile *f = NULL;
    json_t *header = make_header(array, count, metadata);
    char *text = header ? inv_json_text(header, JSON_COMPACT) : NULL;
    if (!text) INV_TRY(inv_no_memory(err, 1024));
    INV_TRY(inv_outfile_open(path, &f, err));
    uint64_t length = strlen(text), padded = (length + 7) / 8 * 8;
    uint8_t prefix[8];
    for (int i = 0; i < 8; i++) prefix[i] = (uint8_t)(padded >> (8 * i));
    inv_outfile_write(f, prefix, sizeof prefix);
    inv_outfile_write(f, text, length);
    inv_outfile_write(f, "       ", padded - length);
    for (int32_t i = 0; i < count; i++) write_array(f, &array[i]);
    status = inv_outfile_close(f, err);
done:
    json_decref(header);
    free(text);
    return status;
}
