#include "lab/model/import_pickle.h"

#include <stdlib.h>
#include <string.h>

/* The only names a pickle may mention. */
enum { GLOBAL_ORDERED_DICT = 100, GLOBAL_TENSOR_V2, GLOBAL_TENSOR, GLOBAL_PARAMETER };
static const struct {
    const char *module, *name;
    int64_t which; /* below 100: a storage of that type */
} globals[] = {
    {"collections", "OrderedDict", GLOBAL_ORDERED_DICT},
    {"torch._utils", "_rebuild_tensor_v2", GLOBAL_TENSOR_V2},
    {"torch._utils", "_rebuild_tensor", GLOBAL_TENSOR},
    {"torch._utils", "_rebuild_parameter", GLOBAL_PARAMETER},
    {"torch", "FloatStorage", INV_STORAGE_F32},
    {"torch", "HalfStorage", INV_STORAGE_F16},
    {"torch", "BFloat16Storage", INV_STORAGE_BF16},
    {"torch", "DoubleStorage", INV_STORAGE_F64},
    {"torch", "CharStorage", INV_STORAGE_I8},
    {"torch", "ByteStorage", INV_STORAGE_U8},
    {"torch", "BoolStorage", INV_STORAGE_BOOL},
    {"torch", "ShortStorage", INV_STORAGE_I16},
    {"torch", "IntStorage", INV_STORAGE_I32},
    {"torch", "LongStorage", INV_STORAGE_I64},
};

typedef struct reader {
    const uint8_t *bytes;
    size_t size, at, opcode_at;
    const char *name;
    invit_error *err;
    inv_pickle *all;
    inv_pickle **stack; /* NULL entries are marks */
    size_t depth, stack_room;
    inv_pickle **memo;
    size_t memo_room, memo_count;
    size_t budget, made; /* values at most, also on the stack and in the memo; values so far */
} reader;

size_t inv_storage_item_size(inv_storage_type type)
{
    switch (type) {
    case INV_STORAGE_F64:
    case INV_STORAGE_I64:
        return 8;
    case INV_STORAGE_F32:
    case INV_STORAGE_I32:
        return 4;
    case INV_STORAGE_F16:
    case INV_STORAGE_BF16:
    case INV_STORAGE_I16:
        return 2;
    default:
        return 1;
    }
}

bool inv_pickle_is(const inv_pickle *v, const char *text)
{
    return v && v->type == INV_PICKLE_STRING && v->length == strlen(text) &&
           memcmp(v->text, text, v->length) == 0;
}

const inv_pickle *inv_pickle_get(const inv_pickle *dict, const char *key)
{
    if (!dict || dict->type != INV_PICKLE_DICT) return NULL;
    for (size_t i = 0; i + 1 < dict->length; i += 2)
        if (inv_pickle_is(dict->item[i], key)) return dict->item[i + 1];
    return NULL;
}

void inv_pickle_free(inv_pickle *v)
{
    while (v) {
        inv_pickle *next = v->next;
        free(v->item);
        free(v);
        v = next;
    }
}

/* Both return their code as a constant, so that the compiler sees that nothing is used after a failure. */
static invit_status wrong(const reader *r, const char *what)
{
    inv_fail(r->err, INVIT_ERR_INPUT, "%s: not a state dict this can read: %s (pickle byte %zu)", r->name,
             what, r->opcode_at);
    return INVIT_ERR_INPUT;
}

static invit_status no_memory(const reader *r, size_t bytes)
{
    inv_no_memory(r->err, bytes);
    return INVIT_ERR_MEMORY;
}

static const char too_many[] = "it has far more values than a file of this size needs";

/* ---- bytes --------------------------------------------------------------------------------------------- */

static invit_status take(reader *r, size_t count, const uint8_t **out)
{
    if (r->size - r->at < count) return wrong(r, "it ends in the middle of a value");
    *out = r->bytes + r->at;
    r->at += count;
    return INVIT_OK;
}

/* A little-endian number of 1 to 8 bytes; sign-extended when `is_signed`. */
static int64_t number_at(const uint8_t *b, size_t count, bool is_signed)
{
    uint64_t v = 0;
    for (size_t i = 0; i < count; i++) v |= (uint64_t)b[i] << (8 * i);
    if (is_signed && count > 0 && count < 8 && b[count - 1] & 0x80) v |= ~(uint64_t)0 << (8 * count);
    return (int64_t)v;
}

static invit_status take_size(reader *r, size_t width, size_t *out)
{
    const uint8_t *b;
    INV_CHECK(take(r, width, &b));
    int64_t v = number_at(b, width, false);
    if (v < 0 || (uint64_t)v > r->size) return wrong(r, "a length is larger than the file");
    *out = (size_t)v;
    return INVIT_OK;
}

static invit_status take_line(reader *r, const char **text, size_t *length)
{
    const uint8_t *end = memchr(r->bytes + r->at, '\n', r->size - r->at);
    if (!end) return wrong(r, "it ends in the middle of a name");
    *text = (const char *)r->bytes + r->at;
    *length = (size_t)(end - (r->bytes + r->at));
    r->at += *length + 1;
    return INVIT_OK;
}

/* ---- stack and memo ------------------------------------------------------------------------------------ */

static invit_status grow(const reader *r, inv_pickle ***array, size_t *room, size_t need)
{
    if (need <= *room) return INVIT_OK;
    size_t larger = *room < 8 ? 16 : *room * 2;
    if (larger < need) larger = need;
    inv_pickle **grown = realloc(*array, larger * sizeof *grown);
    if (!grown) return no_memory(r, larger * sizeof *grown);
    *array = grown;
    *room = larger;
    return INVIT_OK;
}

static invit_status push(reader *r, inv_pickle *v)
{
    if (r->depth >= r->budget) return wrong(r, too_many);
    INV_CHECK(grow(r, &r->stack, &r->stack_room, r->depth + 1));
    r->stack[r->depth++] = v;
    return INVIT_OK;
}

static invit_status make(reader *r, inv_pickle_type type, inv_pickle **out)
{
    if (r->made >= r->budget) return wrong(r, too_many);
    inv_pickle *v = calloc(1, sizeof *v);
    if (!v) return no_memory(r, sizeof *v);
    r->made++;
    v->type = type;
    v->next = r->all;
    r->all = v;
    *out = v;
    return INVIT_OK;
}

static invit_status push_new(reader *r, inv_pickle_type type, inv_pickle **out)
{
    inv_pickle *v;
    INV_CHECK(make(r, type, &v));
    if (out) *out = v;
    return push(r, v);
}

static invit_status pop(reader *r, inv_pickle **out)
{
    if (r->depth == 0 || !r->stack[r->depth - 1]) return wrong(r, "a value is missing");
    *out = r->stack[--r->depth];
    return INVIT_OK;
}

/* The values above the last mark, which goes away; they stay in the stack array until the next push. */
static invit_status pop_to_mark(reader *r, inv_pickle ***items, size_t *count)
{
    size_t i = r->depth;
    while (i > 0 && r->stack[i - 1]) i--;
    if (i == 0) return wrong(r, "a mark is missing");
    *items = r->stack + i;
    *count = r->depth - i;
    r->depth = i - 1;
    return INVIT_OK;
}

static invit_status top_of(reader *r, inv_pickle_type type, const char *what, inv_pickle **out)
{
    if (r->depth == 0 || !r->stack[r->depth - 1] || r->stack[r->depth - 1]->type != type)
        return wrong(r, what);
    *out = r->stack[r->depth - 1];
    return INVIT_OK;
}

static invit_status append(reader *r, inv_pickle *to, inv_pickle *const *items, size_t count)
{
    INV_CHECK(grow(r, &to->item, &to->room, to->length + count));
    if (count > 0) memcpy(to->item + to->length, items, count * sizeof *items);
    to->length += count;
    return INVIT_OK;
}

static invit_status remember(reader *r, size_t slot)
{
    if (r->depth == 0 || !r->stack[r->depth - 1]) return wrong(r, "nothing to remember");
    if (slot > r->budget || slot > r->size) /* a memo entry takes bytes to make */
        return wrong(r, "a memo number is out of range");
    size_t before = r->memo_room;
    INV_CHECK(grow(r, &r->memo, &r->memo_room, slot + 1));
    if (r->memo_room > before) memset(r->memo + before, 0, (r->memo_room - before) * sizeof *r->memo);
    r->memo[slot] = r->stack[r->depth - 1];
    r->memo_count++;
    return INVIT_OK;
}

static invit_status recall(reader *r, size_t slot)
{
    if (slot >= r->memo_room || !r->memo[slot]) return wrong(r, "a memo entry is missing");
    return push(r, r->memo[slot]);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static invit_status push_int(reader *r, size_t width, bool is_signed)
{
    const uint8_t *b;
    inv_pickle *v;
    INV_CHECK(take(r, width, &b));
    INV_CHECK(push_new(r, INV_PICKLE_INT, &v));
    v->number = number_at(b, width, is_signed);
    return INVIT_OK;
}

static invit_status push_long(reader *r)
{
    size_t length;
    const uint8_t *b;
    inv_pickle *v;
    INV_CHECK(take_size(r, 1, &length));
    INV_CHECK(take(r, length, &b));
    INV_CHECK(push_new(r, length <= 8 ? INV_PICKLE_INT : INV_PICKLE_LONG, &v));
    v->number = length <= 8 ? number_at(b, length, true) : 0;
    v->text = (const char *)b;
    v->length = length;
    return INVIT_OK;
}

static invit_status push_float(reader *r)
{
    const uint8_t *b;
    inv_pickle *v;
    uint64_t bits = 0;
    INV_CHECK(take(r, 8, &b));
    INV_CHECK(push_new(r, INV_PICKLE_FLOAT, &v));
    for (int i = 0; i < 8; i++) bits = bits << 8 | b[i];
    memcpy(&v->real, &bits, sizeof bits);
    return INVIT_OK;
}

static invit_status push_string(reader *r, size_t width)
{
    size_t length;
    const uint8_t *b;
    inv_pickle *v;
    INV_CHECK(take_size(r, width, &length));
    INV_CHECK(take(r, length, &b));
    INV_CHECK(push_new(r, INV_PICKLE_STRING, &v));
    v->text = (const char *)b;
    v->length = length;
    return INVIT_OK;
}

static invit_status push_global(reader *r, const char *module, size_t module_length, const char *name,
                                size_t length)
{
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++) {
        if (strlen(globals[i].module) != module_length ||
            memcmp(globals[i].module, module, module_length) != 0)
            continue;
        if (strlen(globals[i].name) != length || memcmp(globals[i].name, name, length) != 0) continue;
        inv_pickle *v;
        INV_CHECK(push_new(r, INV_PICKLE_GLOBAL, &v));
        v->number = globals[i].which;
        return INVIT_OK;
    }
    char what[200];
    int a = (int)(module_length < 80 ? module_length : 80);
    int b = (int)(length < 80 ? length : 80);
    char *put = what;
    put = memcpy(put, "it refers to ", 13), put += 13;
    for (int i = 0; i < a; i++) *put++ = module[i] >= ' ' && module[i] < 127 ? module[i] : '?';
    *put++ = '.';
    for (int i = 0; i < b; i++) *put++ = name[i] >= ' ' && name[i] < 127 ? name[i] : '?';
    *put = 0;
    return wrong(r, what);
}

static invit_status push_tuple(reader *r, size_t count)
{
    inv_pickle *items[3], *v;
    for (size_t i = count; i > 0; i--) INV_CHECK(pop(r, &items[i - 1]));
    INV_CHECK(push_new(r, INV_PICKLE_TUPLE, &v));
    return append(r, v, items, count);
}

static invit_status push_marked_tuple(reader *r)
{
    inv_pickle **items, *v;
    size_t count;
    INV_CHECK(pop_to_mark(r, &items, &count));
    INV_CHECK(make(r, INV_PICKLE_TUPLE, &v));
    INV_CHECK(append(r, v, items, count)); /* before the push, which reuses their places */
    return push(r, v);
}

/* ('storage', class, key, device, elements[, view]): where the numbers of a tensor are. */
static invit_status push_storage(reader *r)
{
    inv_pickle *id, *v;
    INV_CHECK(pop(r, &id));
    inv_pickle **p = id->item;
    if (id->type != INV_PICKLE_TUPLE || id->length < 5 || !inv_pickle_is(p[0], "storage") ||
        p[1]->type != INV_PICKLE_GLOBAL || p[1]->number >= GLOBAL_ORDERED_DICT ||
        p[2]->type != INV_PICKLE_STRING || p[4]->type != INV_PICKLE_INT || p[4]->number < 0)
        return wrong(r, "a persistent id is not a storage");
    if (id->length > 5 && p[5]->type != INV_PICKLE_NONE) return wrong(r, "a storage is a view of another");
    INV_CHECK(push_new(r, INV_PICKLE_STORAGE, &v));
    v->storage = (inv_storage_type)p[1]->number;
    v->text = p[2]->text;
    v->length = p[2]->length;
    v->number = p[4]->number;
    return INVIT_OK;
}

/* (storage, offset, shape, stride, ...); checks that every element lies inside the storage. */
static invit_status push_tensor(reader *r, const inv_pickle *args)
{
    inv_pickle **p = args->item, *v;
    if (args->length < 4 || p[0]->type != INV_PICKLE_STORAGE || p[1]->type != INV_PICKLE_INT ||
        p[2]->type != INV_PICKLE_TUPLE || p[3]->type != INV_PICKLE_TUPLE || p[2]->length != p[3]->length)
        return wrong(r, "a tensor is not built from storage, offset, shape and stride");
    if (p[2]->length > INV_PICKLE_RANK) return wrong(r, "a tensor has more than 4 dimensions");
    INV_CHECK(push_new(r, INV_PICKLE_TENSOR, &v));
    v->of = p[0];
    v->number = p[1]->number;
    v->rank = (int32_t)p[2]->length;
    int64_t elements = p[0]->number, last = p[1]->number;
    bool empty = false;
    if (last < 0 || last > elements) return wrong(r, "a tensor begins outside its storage");
    for (int32_t i = 0; i < v->rank; i++) {
        const inv_pickle *n = p[2]->item[i], *s = p[3]->item[i];
        if (n->type != INV_PICKLE_INT || s->type != INV_PICKLE_INT || n->number < 0 || s->number < 0)
            return wrong(r, "a tensor's shape or stride is not a number");
        v->shape[i] = n->number;
        v->stride[i] = s->number;
        if (n->number == 0) empty = true;
        int64_t step;
        if (n->number > 1 && (__builtin_mul_overflow(n->number - 1, s->number, &step) ||
                              __builtin_add_overflow(last, step, &last)))
            return wrong(r, "a tensor reaches outside its storage");
        if (n->number > elements && elements > 0) return wrong(r, "a tensor is larger than its storage");
    }
    if (!empty && last >= elements) return wrong(r, "a tensor reaches outside its storage");
    return INVIT_OK;
}

static invit_status reduce(reader *r)
{
    inv_pickle *args, *callable, *v;
    INV_CHECK(pop(r, &args));
    INV_CHECK(pop(r, &callable));
    if (callable->type != INV_PICKLE_GLOBAL || args->type != INV_PICKLE_TUPLE)
        return wrong(r, "it calls something that is no function");
    switch (callable->number) {
    case GLOBAL_ORDERED_DICT:
        if (args->length != 0) return wrong(r, "an OrderedDict is built in an unknown way");
        return push_new(r, INV_PICKLE_DICT, &v);
    case GLOBAL_TENSOR_V2:
    case GLOBAL_TENSOR:
        return push_tensor(r, args);
    case GLOBAL_PARAMETER:
        if (args->length < 1 || args->item[0]->type != INV_PICKLE_TENSOR)
            return wrong(r, "a parameter has no tensor");
        return push(r, args->item[0]);
    default:
        return wrong(r, "it calls a class");
    }
}

/* The attributes of an OrderedDict (a state dict's _metadata) say nothing about weights. */
static invit_status build(reader *r)
{
    inv_pickle *attributes, *object;
    INV_CHECK(pop(r, &attributes));
    if (attributes->type != INV_PICKLE_DICT) return wrong(r, "an object's attributes are no dict");
    return top_of(r, INV_PICKLE_DICT, "it sets attributes of something that is no OrderedDict", &object);
}

static invit_status set_items(reader *r, bool marked)
{
    inv_pickle **items, *pair[2], *dict;
    size_t count = 2;
    if (marked) {
        INV_CHECK(pop_to_mark(r, &items, &count));
    } else {
        INV_CHECK(pop(r, &pair[1]));
        INV_CHECK(pop(r, &pair[0]));
        items = pair;
    }
    INV_CHECK(top_of(r, INV_PICKLE_DICT, "items without a dict", &dict));
    if (count % 2 != 0) return wrong(r, "a key without a value");
    return append(r, dict, items, count);
}

static invit_status append_items(reader *r, bool marked)
{
    inv_pickle **items, *one, *list;
    size_t count = 1;
    if (marked) {
        INV_CHECK(pop_to_mark(r, &items, &count));
    } else {
        INV_CHECK(pop(r, &one));
        items = &one;
    }
    INV_CHECK(top_of(r, INV_PICKLE_LIST, "items without a list", &list));
    return append(r, list, items, count);
}

static invit_status unknown_opcode(const reader *r, uint8_t op)
{
    return inv_fail(
        r->err, INVIT_ERR_INPUT,
        "%s: not a state dict this can read: pickle opcode 0x%02x at byte %zu is not one a state dict needs",
        r->name, op, r->opcode_at);
}

/* One opcode; *stop after the last. The letters are pickle's own names for them. */
static invit_status step(reader *r, bool *stop)
{
    const uint8_t *b;
    size_t n;
    inv_pickle *v;
    const char *module, *name;
    r->opcode_at = r->at;
    INV_CHECK(take(r, 1, &b));
    uint8_t op = b[0];
    switch (op) {
    case 0x80: /* PROTO */
        INV_CHECK(take(r, 1, &b));
        return b[0] >= 2 && b[0] <= 5 ? INVIT_OK : wrong(r, "unknown pickle protocol");
    case 0x95: /* FRAME */
        return take(r, 8, &b);
    case '.':
        *stop = true;
        return INVIT_OK;
    case '(':
        return push(r, NULL);
    case 'N':
        return push_new(r, INV_PICKLE_NONE, NULL);
    case 0x88: /* NEWTRUE, NEWFALSE */
    case 0x89:
        INV_CHECK(push_new(r, INV_PICKLE_BOOL, &v));
        v->number = op == 0x88;
        return INVIT_OK;
    case 'K':
        return push_int(r, 1, false);
    case 'M':
        return push_int(r, 2, false);
    case 'J':
        return push_int(r, 4, true);
    case 0x8a: /* LONG1 */
        return push_long(r);
    case 'G':
        return push_float(r);
    case 'X':
        return push_string(r, 4);
    case 0x8c: /* SHORT_BINUNICODE */
    case 'U':  /* SHORT_BINSTRING */
        return push_string(r, 1);
    case '}':
        return push_new(r, INV_PICKLE_DICT, NULL);
    case ']':
        return push_new(r, INV_PICKLE_LIST, NULL);
    case ')':
        return push_tuple(r, 0);
    case 0x85: /* TUPLE1, TUPLE2, TUPLE3 */
    case 0x86:
    case 0x87:
        return push_tuple(r, (size_t)(op - 0x84));
    case 't':
        return push_marked_tuple(r);
    case 's':
    case 'u':
        return set_items(r, op == 'u');
    case 'a':
    case 'e':
        return append_items(r, op == 'e');
    case 'q':
    case 'r':
        INV_CHECK(take_size(r, op == 'q' ? 1 : 4, &n));
        return remember(r, n);
    case 0x94: /* MEMOIZE */
        return remember(r, r->memo_count);
    case 'h':
    case 'j':
        INV_CHECK(take_size(r, op == 'h' ? 1 : 4, &n));
        return recall(r, n);
    case 'c': {
        size_t module_length, length;
        INV_CHECK(take_line(r, &module, &module_length));
        INV_CHECK(take_line(r, &name, &length));
        return push_global(r, module, module_length, name, length);
    }
    case 0x93: { /* STACK_GLOBAL */
        inv_pickle *m;
        INV_CHECK(pop(r, &v));
        INV_CHECK(pop(r, &m));
        if (v->type != INV_PICKLE_STRING || m->type != INV_PICKLE_STRING)
            return wrong(r, "a class has no name");
        return push_global(r, m->text, m->length, v->text, v->length);
    }
    case 'Q':
        return push_storage(r);
    case 'R':
        return reduce(r);
    case 'b':
        return build(r);
    default:
        return unknown_opcode(r, op);
    }
}

invit_status inv_unpickle(const uint8_t *bytes, size_t size, size_t budget, const char *name,
                          inv_pickle **values, inv_pickle **root, size_t *used, invit_error *err)
{
    reader r = {.bytes = bytes, .size = size, .name = name, .err = err, .budget = budget};
    invit_status status = INVIT_OK;
    bool stop = false;
    *values = *root = NULL;
    while (!stop) INV_TRY(step(&r, &stop));
    INV_TRY(pop(&r, root));
    *used = r.at;
    *values = r.all;
    r.all = NULL;
done:
    inv_pickle_free(r.all);
    free(r.stack);
    free(r.memo);
    return status;
}
