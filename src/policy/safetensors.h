/* The safetensors format: named tensors and a little metadata in one file.
 *
 * 8 bytes header length (little endian), a JSON header {"name": {"dtype", "shape", "data_offsets"}, ...,
 * "__metadata__": {string: string}}, then the data without holes or overlaps.
 */
#ifndef INVIT_POLICY_SAFETENSORS_H
#define INVIT_POLICY_SAFETENSORS_H

#include "base/error.h"

#include <jansson.h>

typedef enum inv_dtype { INV_F32, INV_F16, INV_BF16, INV_F64, INV_I32, INV_I64 } inv_dtype;

#define INV_MAX_RANK 4

typedef struct inv_array {
    const char *name;
    inv_dtype dtype;
    int32_t rank;
    int64_t shape[INV_MAX_RANK];
    int64_t count;
    const void *data; /* reading: inside the file's bytes, unaligned; writing: the caller's float
                         (F32/F16/BF16) or int64 */
} inv_array;

typedef struct inv_safetensors {
    int32_t count;
    inv_array *array;
    json_t *metadata; /* object of strings, never NULL */
    json_t *header;
    uint8_t *bytes; /* the whole file when read from one, else NULL */
} inv_safetensors;

/* Reads and checks a whole file. `out` is filled only on success. */
invit_status inv_safetensors_read(const char *path, inv_safetensors *out, invit_error *err);
/* The same from memory, which must outlive *out; `name` is what messages call it. */
invit_status inv_safetensors_parse(const uint8_t *bytes, size_t size, const char *name, inv_safetensors *out,
                                   invit_error *err);
void inv_safetensors_free(inv_safetensors *s);
const inv_array *inv_safetensors_find(const inv_safetensors *s, const char *name);

/* Element values converted to float, double or int64 (floats are not converted to integers). */
void inv_array_floats(const inv_array *a, float *out);
invit_status inv_array_ints(const inv_array *a, int64_t *out, invit_error *err);

/* Writes beside `path`, syncs, and renames over it: a reader sees the old file or the new one, whole. Arrays
 * of dtype F32, F16 and BF16 are given as float, I64 as int64_t, F64 as double. */
invit_status inv_safetensors_write(const char *path, const inv_array *array, int32_t count, json_t *metadata,
                                   invit_error *err);

#endif
