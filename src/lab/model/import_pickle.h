/* A strict unpickler: just enough of Python's pickle format to read a PyTorch state dict. It knows plain
 * containers, numbers, strings, collections.OrderedDict and the rebuilding of tensors from storages. Any
 * other class or opcode is an error; nothing is ever executed. Memory is linear in the input and in the budget.
 */
#ifndef INVIT_LAB_MODEL_IMPORT_PICKLE_H
#define INVIT_LAB_MODEL_IMPORT_PICKLE_H

#include "base/error.h"

typedef enum inv_pickle_type {
    INV_PICKLE_NONE,
    INV_PICKLE_BOOL,
    INV_PICKLE_INT,
    INV_PICKLE_LONG, /* an integer of more than 8 bytes: `text` holds its bytes */
    INV_PICKLE_FLOAT,
    INV_PICKLE_STRING,
    INV_PICKLE_TUPLE,
    INV_PICKLE_LIST,
    INV_PICKLE_DICT,   /* items: key, value, key, value ...                      */
    INV_PICKLE_GLOBAL, /* a class or function we know; `number` says which       */
    INV_PICKLE_STORAGE,
    INV_PICKLE_TENSOR
} inv_pickle_type;

typedef enum inv_storage_type {
    INV_STORAGE_F32,
    INV_STORAGE_F16,
    INV_STORAGE_BF16,
    INV_STORAGE_F64,
    INV_STORAGE_I8,
    INV_STORAGE_U8,
    INV_STORAGE_BOOL,
    INV_STORAGE_I16,
    INV_STORAGE_I32,
    INV_STORAGE_I64
} inv_storage_type;

#define INV_PICKLE_RANK 4

typedef struct inv_pickle inv_pickle;
struct inv_pickle {
    inv_pickle_type type;
    int64_t number;   /* BOOL, INT, GLOBAL; STORAGE: number of elements; TENSOR: first element */
    double real;      /* FLOAT                                                    */
    const char *text; /* STRING, STORAGE (its key), LONG: in the input, not terminated */
    size_t length;    /* of text; TUPLE, LIST, DICT: number of items              */
    inv_pickle **item;
    size_t room;
    inv_storage_type storage; /* STORAGE                                                  */
    const inv_pickle *of;     /* TENSOR: its storage                                      */
    int32_t rank;             /* TENSOR                                                   */
    int64_t shape[INV_PICKLE_RANK], stride[INV_PICKLE_RANK];
    inv_pickle *next; /* all values of one pickle, for freeing                    */
};

/* Reads one pickle from the beginning of `bytes`, which must stay as long as the values are used. *used is
 * its length, so that pickles one after the other can be read. A pickle of more than `budget` values is refused:
 * a byte is enough to make one of 200. `name` is what messages call the file. */
invit_status inv_unpickle(const uint8_t *bytes, size_t size, size_t budget, const char *name,
                          inv_pickle **values, inv_pickle **root, size_t *used, invit_error *err);
void inv_pickle_free(inv_pickle *values);

bool inv_pickle_is(const inv_pickle *v, const char *text);
/* The value under a string key of a dict, or NULL. */
const inv_pickle *inv_pickle_get(const inv_pickle *dict, const char *key);
size_t inv_storage_item_size(inv_storage_type type);

#endif
