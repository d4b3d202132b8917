/* Import: a checkpoint is a zip archive (or, before PyTorch 1.6, a row of pickles) that holds a pickled dict
 * and the numbers of each storage. We take the state dict of the baseline, read the configuration off the
 * shapes, and let the reader of weights files check the rest. */
#include "lab/model/import.h"

#include "base/file.h"
#include "base/names.h"
#include "invit_lab.h"
#include "lab/model/import_pickle.h"
#include "policy/weights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* A checkpoint on its way. Storages are found in the archive, or in the stream after the pickles. */
typedef struct checkpoint {
    const uint8_t *bytes;
    size_t size;
    const char *name;
    zip_t *zip;
    char prefix[256]; /* the archive's one folder, with the slash */
    uint8_t *pickle;  /* data.pkl                                 */
    inv_pickle *values[5], *root;
    struct place *place; /* stream: where each storage's data is, by key */
    size_t places;
    size_t tensor_bytes, entry_bytes; /* that tensors, and entries of the archive, may still take */
} checkpoint;

/* What a file may make us do is in proportion to its size. A state dict has about fifteen values for a tensor,
 * and its tensors share no numbers; storages of an archive may be read for more than one tensor. */
enum { FREE_VALUES = 100000, BYTES_A_VALUE = 64, MOST_TENSORS = 10000, READINGS = 16 };
#define LARGEST_FILE ((size_t)1 << 31)

static size_t value_budget(const checkpoint *c)
{
    return FREE_VALUES + c->size / BYTES_A_VALUE;
}

typedef struct place {
    const inv_pickle *storage; /* one that uses it: key and width of an element */
    size_t at, bytes;
} place;

/* ---- the container ------------------------------------------------------------------------------------- */

static invit_status open_zip(checkpoint *c, invit_error *err)
{
    zip_error_t why;
    zip_error_init(&why);
    zip_source_t *source = zip_source_buffer_create(c->bytes, c->size, 0, &why);
    if (source) c->zip = zip_open_from_source(source, ZIP_RDONLY, &why);
    if (!c->zip) {
        invit_status status = inv_fail(err, INVIT_ERR_INPUT, "%s: not a readable zip archive: %s", c->name,
                                       zip_error_strerror(&why));
        zip_source_free(source);
        zip_error_fini(&why);
        return status;
    }
    zip_error_fini(&why);
    return INVIT_OK;
}

/* A file of the archive, at most `limit` bytes. PyTorch stores without compression; anything else is refused,
 * so that a small file cannot blow up. */
static invit_status read_entry(checkpoint *c, const char *entry, size_t limit, uint8_t **out, size_t *size,
                               invit_error *err)
{
    invit_status status = INVIT_OK;
    zip_file_t *file = NULL;
    uint8_t *bytes = NULL;
    zip_stat_t info;
    if (zip_stat(c->zip, entry, 0, &info) != 0)
        INV_TRY(inv_fail(err, INVIT_ERR_INPUT, "%s: the archive has no %s", c->name, entry));
    if (!(info.valid & ZIP_STAT_SIZE) || !(info.valid & ZIP_STAT_COMP_METHOD) ||
        info.comp_method != ZIP_CM_STORE)
        INV_TRY(
            inv_fail(err, INVIT_ERR_INPUT, "%s: %s is compressed; PyTorch stores as it is", c->name, entry));
    if (info.size > limit)
        INV_TRY(inv_fail(err, INVIT_ERR_INPUT, "%s: %s is larger than the archive", c->name, entry));
    file = zip_fopen(c->zip, entry, 0);
    bytes = malloc(info.size > 0 ? (size_t)info.size : 1);
    if (!bytes) INV_TRY(inv_no_memory(err, (size_t)info.size));
    if (!file || zip_fread(file, bytes, info.size) != (zip_int64_t)info.size)
        INV_TRY(
            inv_fail(err, INVIT_ERR_INPUT, "%s: %s cannot be read: the archive is damaged", c->name, entry));
    *out = bytes;
    *size = (size_t)info.size;
    bytes = NULL;
done:
    free(bytes);
    if (file) zip_fclose(file);
    return status;
}

static invit_status read_zip(checkpoint *c, invit_error *err)
{
    INV_CHECK(open_zip(c, err));
    zip_int64_t count = zip_get_num_entries(c->zip, 0);
    const char *found = NULL;
    for (zip_int64_t i = 0; i < count && !found; i++) {
        const char *entry = zip_get_name(c->zip, (zip_uint64_t)i, 0);
        size_t length = entry ? strlen(entry) : 0;
        if (length >= 9 && strcmp(entry + length - 8, "data.pkl") == 0 && entry[length - 9] == '/')
            found = entry;
    }
    if (!found || strlen(found) - 8 >= sizeof c->prefix)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: a zip archive, but without a data.pkl: not a PyTorch checkpoint", c->name);
    memcpy(c->prefix, found, strlen(found) - 8);

    uint8_t *order;
    size_t size, used;
    char entry[sizeof c->prefix + 16];
    snprintf(entry, sizeof entry, "%sbyteorder", c->prefix);
    if (zip_name_locate(c->zip, entry, 0) >= 0) {
        INV_CHECK(read_entry(c, entry, c->size, &order, &size, err));
        bool little = size == 6 && memcmp(order, "little", 6) == 0;
        free(order);
        if (!little)
            return inv_fail(err, INVIT_ERR_UNSUPPORTED, "%s: written on a big-endian machine", c->name);
    }
    snprintf(entry, sizeof entry, "%sdata.pkl", c->prefix);
    INV_CHECK(read_entry(c, entry, c->size, &c->pickle, &size, err));
    return inv_unpickle(c->pickle, size, value_budget(c), c->name, &c->values[0], &c->root, &used, err);
}

static int compare_text(const inv_pickle *a, const inv_pickle *b)
{
    size_t n = a->length < b->length ? a->length : b->length;
    int order = n > 0 ? memcmp(a->text, b->text, n) : 0;
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_places(const void *a, const void *b)
{
    return compare_text(((const place *)a)->storage, ((const place *)b)->storage);
}

static place *find_place(const checkpoint *c, const inv_pickle *key)
{
    place wanted = {.storage = key};
    return c->places > 0 ? bsearch(&wanted, c->place, c->places, sizeof *c->place, compare_places) : NULL;
}

/* All storages that the object's tensors use, each key once. */
static invit_status list_storages(checkpoint *c, invit_error *err)
{
    size_t count = 0, kept = 0;
    for (const inv_pickle *v = c->values[3]; v; v = v->next) count += v->type == INV_PICKLE_STORAGE;
    c->place = calloc(count + 1, sizeof *c->place);
    if (!c->place) return inv_no_memory(err, count * sizeof *c->place);
    for (const inv_pickle *v = c->values[3]; v; v = v->next)
        if (v->type == INV_PICKLE_STORAGE) c->place[c->places++].storage = v;
    qsort(c->place, c->places, sizeof *c->place, compare_places);
    for (size_t i = 0; i < c->places; i++)
        if (kept == 0 || compare_places(&c->place[kept - 1], &c->place[i]) != 0)
            c->place[kept++] = c->place[i];
    c->places = kept;
    return INVIT_OK;
}

/* In the stream each storage is its number of elements (8 bytes) and its data, in the order of the keys; the
 * width of an element is known from the tensors that use the storage. */
static invit_status locate_storages(checkpoint *c, const inv_pickle *keys, size_t at, invit_error *err)
{
    if (keys->type != INV_PICKLE_LIST)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: the list of storages is missing", c->name);
    INV_CHECK(list_storages(c, err));
    for (size_t i = 0; i < keys->length; i++) {
        const inv_pickle *key = keys->item[i];
        place *p = key->type == INV_PICKLE_STRING ? find_place(c, key) : NULL;
        if (!p || c->size - at < 8) break;
        size_t item = inv_storage_item_size(p->storage->storage);
        uint64_t elements = 0;
        for (int b = 7; b >= 0; b--) elements = elements << 8 | c->bytes[at + (size_t)b];
        at += 8;
        if (elements > (c->size - at) / item) break;
        p->at = at;
        p->bytes = (size_t)elements * item;
        at += p->bytes;
    }
    return INVIT_OK;
}

/* The format before PyTorch 1.6: magic number, version, system, object, storage keys, then the storages. */
static invit_status read_stream(checkpoint *c, invit_error *err)
{
    static const uint8_t magic[] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
    inv_pickle *part[5];
    size_t at = 0, used;
    for (int i = 0; i < 5; i++) {
        INV_CHECK(inv_unpickle(c->bytes + at, c->size - at, value_budget(c), c->name, &c->values[i], &part[i],
                               &used, err));
        at += used;
        if (i == 0 && (part[0]->type != INV_PICKLE_LONG || part[0]->length != sizeof magic ||
                       memcmp(part[0]->text, magic, sizeof magic) != 0))
            return inv_fail(err, INVIT_ERR_INPUT, "%s: a pickle, but not a PyTorch checkpoint", c->name);
        if (i == 1 && (part[1]->type != INV_PICKLE_INT || part[1]->number != 1001))
            return inv_fail(err, INVIT_ERR_UNSUPPORTED, "%s: unknown version of the old checkpoint format",
                            c->name);
    }
    c->root = part[3];
    return locate_storages(c, part[4], at, err);
}

/* The bytes of a storage of `count` elements. *owned is to be freed, or NULL. */
static invit_status find_storage(checkpoint *c, const inv_pickle *storage, const uint8_t **bytes,
                                 uint8_t **owned, invit_error *err)
{
    size_t item = inv_storage_item_size(storage->storage), size;
    *owned = NULL;
    if ((uint64_t)storage->number > c->size / item)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: a storage is larger than the file", c->name);
    size_t need = (size_t)storage->number * item;
    if (c->zip) {
        char entry[sizeof c->prefix + 64];
        if (storage->length > 32 || memchr(storage->text, 0, storage->length))
            return inv_fail(err, INVIT_ERR_INPUT, "%s: a storage has a strange name", c->name);
        snprintf(entry, sizeof entry, "%sdata/%.*s", c->prefix, (int)storage->length, storage->text);
        INV_CHECK(read_entry(c, entry, c->entry_bytes, owned, &size, err));
        c->entry_bytes -= size;
        *bytes = *owned;
        if (size >= need) return INVIT_OK;
        free(*owned);
        *owned = NULL;
        return inv_fail(err, INVIT_ERR_INPUT, "%s: %s has %zu bytes, expected %zu", c->name, entry, size,
                        need);
    }
    const place *p = find_place(c, storage);
    if (p && p->bytes > 0 && p->bytes >= need) {
        *bytes = c->bytes + p->at;
        return INVIT_OK;
    }
    return inv_fail(err, INVIT_ERR_INPUT, "%s: the data of storage %.*s is missing or cut off", c->name,
                    (int)(storage->length < 40 ? storage->length : 40), storage->text);
}

/* ---- from state dict to model -------------------------------------------------------------------------- */

static const inv_pickle *tensor_at(const inv_pickle *dict, const char *format, int32_t i)
{
    char name[128];
    snprintf(name, sizeof name, format, (int)i);
    const inv_pickle *t = inv_pickle_get(dict, name);
    return t && t->type == INV_PICKLE_TENSOR ? t : NULL;
}

static int32_t count_of(const inv_pickle *dict, const char *format)
{
    int32_t count = 0;
    while (count < 1000 && tensor_at(dict, format, count)) count++;
    return count;
}

static bool is_matrix(const inv_pickle *t)
{
    return t && t->rank == 2 && t->shape[0] > 0 && t->shape[0] < 1 << 20 && t->shape[1] > 0 &&
           t->shape[1] < 1 << 20;
}

/* Widths, layers, views and problem from the shapes; heads and k from the options, they leave no trace in
 * shapes. */
static invit_status read_config(const checkpoint *c, const inv_pickle *dict, const invit_import_options *o,
                                inv_config *out, invit_error *err)
{
    const inv_pickle *input = tensor_at(dict, "action_encoder.input_emb.weight", 0);
    const inv_pickle *forward = tensor_at(dict, "action_encoder.encoder.linear1_layers.%d.weight", 0);
    const inv_pickle *keys = tensor_at(dict, "WK_att_decoder.weight", 0);
    if (!is_matrix(input) || !is_matrix(forward) || !is_matrix(keys))
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: no INViT state dict: action_encoder.input_emb, its linear1_layers or "
                        "WK_att_decoder are missing",
                        c->name);
    if (input->shape[1] != 2 && input->shape[1] != 3)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: nodes have %lld inputs, expected 2 (TSP) or 3 (CVRP)",
                        c->name, (long long)input->shape[1]);
    inv_config_defaults(out, input->shape[1] == 2 ? INVIT_TSP : INVIT_CVRP);
    if (o->problem >= 0 && o->problem != (int)out->problem)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: a %s model (nodes have %lld inputs), not the %s model asked for", c->name,
                        inv_problem_title(out->problem), (long long)input->shape[1],
                        inv_problem_title(o->problem));
    out->dim = (int32_t)input->shape[0];
    out->ff = (int32_t)forward->shape[0];
    out->heads = o->heads;
    out->action_layers = count_of(dict, "action_encoder.encoder.linear1_layers.%d.weight");
    out->state_layers = count_of(dict, "state_encoders.0.encoder.linear1_layers.%d.weight");
    out->decoder_layers = (int32_t)(keys->shape[0] / out->dim);
    out->state_views = count_of(dict, "state_encoders.%d.input_emb.weight");
    out->invariant = !o->without_invariance;
    if (out->state_views == 0) out->state_layers = out->action_layers; /* none to speak of */
    if (out->state_views > INV_MAX_VIEWS)
        return inv_fail(err, INVIT_ERR_UNSUPPORTED, "%s: %d state views, at most %d are supported", c->name,
                        out->state_views, INV_MAX_VIEWS);

    static const int32_t published[] = {35, 50, 75};
    if (o->views == 0 && out->state_views > 3)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "%s: %d views; the published models have at most 4, so say how large each "
                        "is: --views 15,35,...",
                        c->name, out->state_views + 1);
    if (o->views != 0 && o->views != out->state_views + 1)
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "%s: the checkpoint has %d views (the action view and %d state views), --views "
                        "lists %d",
                        c->name, out->state_views + 1, out->state_views, o->views);
    if (o->views != 0) out->action_k = o->view[0];
    for (int32_t i = 0; i < out->state_views; i++) out->state_k[i] = o->views ? o->view[i + 1] : published[i];
    return INVIT_OK;
}

/* The tensor's elements one after the other, as they are stored. */
static invit_status gather(checkpoint *c, const inv_pickle *t, int64_t count, uint8_t **out, invit_error *err)
{
    const uint8_t *from = NULL;
    uint8_t *owned = NULL;
    size_t item = inv_storage_item_size(t->of->storage);
    INV_CHECK(find_storage(c, t->of, &from, &owned, err));
    *out = malloc(count > 0 ? (size_t)count * item : 1);
    if (!*out) {
        free(owned);
        return inv_no_memory(err, (size_t)count * item);
    }
    int64_t index[INV_PICKLE_RANK] = {0};
    for (int64_t i = 0; i < count; i++) {
        int64_t at = t->number;
        for (int32_t d = 0; d < t->rank; d++) at += index[d] * t->stride[d];
        memcpy(*out + (size_t)i * item, from + (size_t)at * item, item);
        for (int32_t d = t->rank - 1; d >= 0 && ++index[d] == t->shape[d]; d--) index[d] = 0;
    }
    free(owned);
    return INVIT_OK;
}

static invit_status fill_array(checkpoint *c, const inv_pickle *name, const inv_pickle *t, inv_array *a,
                               invit_error *err)
{
    if (name->type != INV_PICKLE_STRING || name->length > 200 || memchr(name->text, 0, name->length))
        return inv_fail(err, INVIT_ERR_INPUT, "%s: a key of the state dict is not a name", c->name);
    char *copy = strndup(name->text, name->length);
    if (!copy) return inv_no_memory(err, name->length);
    a->name = copy;
    if (t->type != INV_PICKLE_TENSOR)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: %s is not a tensor", c->name, copy);
    switch (t->of->storage) {
    case INV_STORAGE_F32:
        a->dtype = INV_F32;
        break;
    case INV_STORAGE_F16:
        a->dtype = INV_F16;
        break;
    case INV_STORAGE_BF16:
        a->dtype = INV_BF16;
        break;
    default:
        return inv_fail(err, INVIT_ERR_INPUT, "%s: tensor %s does not hold 32- or 16-bit floats", c->name,
                        copy);
    }
    a->rank = t->rank;
    a->count = 1;
    for (int32_t d = 0; d < t->rank; d++) {
        a->shape[d] = t->shape[d];
        if (__builtin_mul_overflow(a->count, t->shape[d], &a->count) || a->count > (int64_t)c->size)
            return inv_fail(err, INVIT_ERR_INPUT, "%s: tensor %s is larger than the file", c->name, copy);
    }
    size_t bytes = (size_t)a->count * inv_storage_item_size(t->of->storage);
    if (bytes > c->tensor_bytes)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: its tensors are larger than the file", c->name);
    c->tensor_bytes -= bytes;
    uint8_t *data;
    INV_CHECK(gather(c, t, a->count, &data, err));
    a->data = data;
    return INVIT_OK;
}

static invit_status build_model(checkpoint *c, const inv_pickle *dict, const invit_import_options *o,
                                struct invit_model **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_config config;
    inv_safetensors s = {0};
    size_t filled = 0, count = dict->length / 2;
    INV_TRY(read_config(c, dict, o, &config, err));
    if (count > MOST_TENSORS)
        INV_TRY(inv_fail(err, INVIT_ERR_INPUT, "%s: %zu tensors are too many", c->name, count));
    s.array = calloc(count + 1, sizeof *s.array);
    s.metadata = inv_config_to_metadata(&config);
    if (!s.array || !s.metadata) INV_TRY(inv_no_memory(err, count * sizeof *s.array));
    for (; filled < count; filled++)
        INV_TRY(fill_array(c, dict->item[2 * filled], dict->item[2 * filled + 1], &s.array[filled], err));
    s.count = (int32_t)count;
    status = inv_model_from_safetensors(&s, c->name, out, err);
done:
    for (size_t i = 0; s.array && i <= filled && i < count; i++) {
        free((char *)s.array[i].name);
        free((void *)s.array[i].data);
    }
    free(s.array);
    json_decref(s.metadata);
    return status;
}

static bool is_state_dict(const inv_pickle *v)
{
    return v && v->type == INV_PICKLE_DICT && inv_pickle_get(v, "action_encoder.input_emb.weight");
}

/* By its first bytes: a zip archive or a pickle. */
static bool is_zip(const uint8_t *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
}

static bool looks_like_checkpoint(const uint8_t *bytes, size_t size)
{
    return is_zip(bytes, size) || (size >= 2 && bytes[0] == 0x80);
}

invit_status inv_model_import(const uint8_t *bytes, size_t size, const char *name,
                              const invit_import_options *o, struct invit_model **out, invit_error *err)
{
    invit_status status = INVIT_OK;
    checkpoint c = {.bytes = bytes, .size = size, .name = name, .tensor_bytes = size};
    c.entry_bytes = READINGS * size;
    *out = NULL;
    if (is_zip(bytes, size))
        INV_TRY(read_zip(&c, err));
    else if (looks_like_checkpoint(bytes, size))
        INV_TRY(read_stream(&c, err));
    else
        INV_TRY(inv_fail(err, INVIT_ERR_INPUT,
                         "%s: neither a zip archive nor a pickle: not a PyTorch checkpoint", name));

    const inv_pickle *dict = inv_pickle_get(c.root, "model_baseline"); /* the one to run */
    if (!is_state_dict(dict)) dict = inv_pickle_get(c.root, "model_train");
    if (!is_state_dict(dict)) dict = c.root;
    if (!is_state_dict(dict))
        INV_TRY(inv_fail(
            err, INVIT_ERR_INPUT,
            "%s: no INViT state dict in it (neither model_baseline nor model_train nor the whole has "
            "action_encoder.input_emb.weight)",
            name));
    INV_TRY(build_model(&c, dict, o, out, err));
done:
    for (int i = 0; i < 5; i++) inv_pickle_free(c.values[i]);
    free(c.pickle);
    free(c.place);
    if (c.zip) zip_discard(c.zip);
    return status;
}

invit_import_options invit_import_defaults(void)
{
    return (invit_import_options){.heads = 8, .problem = -1};
}

invit_status invit_model_import(const char *path, const invit_import_options *options, invit_model **out,
                                invit_error *err)
{
    invit_import_options o = options ? *options : invit_import_defaults();
    invit_status status = INVIT_OK;
    char *bytes = NULL;
    size_t size;
    *out = NULL;
    INV_TRY(inv_read_file(path, LARGEST_FILE, &bytes, &size, err));
    status = inv_model_import((const uint8_t *)bytes, size, path, &o, out, err);
done:
    free(bytes);
    return status;
}
