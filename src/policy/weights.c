#include "policy/weights.h"

#include "base/json_memory.h"
#include "base/json_text.h"
#include "base/names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where each plain number of the configuration lives in the metadata. */
static const struct {
    const char *key;
    size_t offset;
} numbers[] = {{"action_k", offsetof(inv_config, action_k)},
               {"dim_emb", offsetof(inv_config, dim)},
               {"dim_ff", offsetof(inv_config, ff)},
               {"nb_heads", offsetof(inv_config, heads)},
               {"nb_layers_state_encoder", offsetof(inv_config, state_layers)},
               {"nb_layers_action_encoder", offsetof(inv_config, action_layers)},
               {"nb_layers_decoder", offsetof(inv_config, decoder_layers)},
               {"num_state_encoder", offsetof(inv_config, state_views)}};
#define NUMBERS (sizeof numbers / sizeof numbers[0])

static invit_status get_text(const json_t *metadata, const char *key, const char *file, const char **out,
                             invit_error *err)
{
    *out = json_string_value(json_object_get(metadata, key));
    if (!*out)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: metadata has no \"%s\", so the model's shape is unknown",
                        file, key);
    return INVIT_OK;
}

static bool parse_int(const char **text, int32_t *out)
{
    char *end;
    errno = 0;
    long v = strtol(*text, &end, 10);
    if (end == *text || errno != 0 || v < INT32_MIN || v > INT32_MAX) return false;
    *text = end;
    *out = (int32_t)v;
    return true;
}

/* "[35, 50]" or "[]". */
static invit_status parse_views(const char *text, const char *file, inv_config *c, invit_error *err)
{
    const char *p = text;
    int32_t count = 0;
    if (*p++ != '[') goto wrong;
    while (*p == ' ') p++;
    while (*p != ']') {
        if (count == INV_MAX_VIEWS || !parse_int(&p, &c->state_k[count])) goto wrong;
        count++;
        while (*p == ' ') p++;
        if (*p == ',')
            p++;
        else if (*p != ']')
            goto wrong;
        while (*p == ' ') p++;
    }
    if (p[1] != 0) goto wrong;
    if (count != c->state_views)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: state_k %.64s lists %d views, num_state_encoder says %d",
                        file, text, count, c->state_views);
    return INVIT_OK;
wrong:
    return inv_fail(err, INVIT_ERR_INPUT,
                    "%s: state_k is %.64s, expected a list of at most %d numbers like [35, 50]", file, text,
                    INV_MAX_VIEWS);
}

static invit_status get_flag(const json_t *metadata, const char *key, const char *file, bool *out,
                             invit_error *err)
{
    const char *text;
    INV_CHECK(get_text(metadata, key, file, &text, err));
    if (strcmp(text, "True") != 0 && strcmp(text, "False") != 0)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: %s is \"%.32s\", expected True or False", file, key, text);
    *out = strcmp(text, "True") == 0;
    return INVIT_OK;
}

invit_status inv_config_from_metadata(const json_t *metadata, const char *file, inv_config *out,
                                      invit_error *err)
{
    const char *text, *p;
    inv_config c = {0};
    INV_CHECK(get_text(metadata, "problem", file, &text, err));
    if (strcmp(text, "tsp") != 0 && strcmp(text, "cvrp") != 0)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: problem is \"%.32s\", expected tsp or cvrp", file, text);
    c.problem = strcmp(text, "tsp") == 0 ? INVIT_TSP : INVIT_CVRP;
    for (size_t i = 0; i < NUMBERS; i++) {
        INV_CHECK(get_text(metadata, numbers[i].key, file, &text, err));
        p = text;
        if (!parse_int(&p, (int32_t *)((char *)&c + numbers[i].offset)) || *p != 0)
            return inv_fail(err, INVIT_ERR_INPUT, "%s: %s is \"%.32s\", expected a number", file,
                            numbers[i].key, text);
    }
    INV_CHECK(get_text(metadata, "state_k", file, &text, err));
    INV_CHECK(parse_views(text, file, &c, err));
    INV_CHECK(get_flag(metadata, "invariant", file, &c.invariant, err));
    /* published models have neither; version 0.1 called it "turned" */
    if (json_object_get(metadata, "canonical_frame"))
        INV_CHECK(get_flag(metadata, "canonical_frame", file, &c.canonical_frame, err));
    else if (json_object_get(metadata, "turned"))
        INV_CHECK(get_flag(metadata, "turned", file, &c.canonical_frame, err));
    INV_CHECK(inv_config_check(&c, err));
    *out = c;
    return INVIT_OK;
}

json_t *inv_config_to_metadata(const inv_config *c)
{
    char text[16 * INV_MAX_VIEWS + 16];
    json_t *m = json_object();
    int lost = json_object_set_new(m, "problem", json_string(inv_problem_name(c->problem)));
    for (size_t i = 0; i < NUMBERS; i++) {
        snprintf(text, sizeof text, "%d", *(const int32_t *)((const char *)c + numbers[i].offset));
        lost |= json_object_set_new(m, numbers[i].key, json_string(text));
    }
    int n = snprintf(text, sizeof text, "[");
    for (int32_t i = 0; i < c->state_views; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", i ? ", " : "", c->state_k[i]);
    snprintf(text + n, sizeof text - (size_t)n, "]");
    lost |= json_object_set_new(m, "state_k", json_string(text));
    lost |= json_object_set_new(m, "invariant", json_string(c->invariant ? "True" : "False"));
    if (c->canonical_frame) {
        lost |= json_object_set_new(m, "canonical_frame", json_string("True"));
        lost |= json_object_set_new(m, "turned", json_string("True")); /* version 0.1 reads only this */
    }
    if (!lost) return m;
    json_decref(m);
    return NULL;
}

static invit_status load_tensor(const inv_safetensors *s, const char *file, const inv_tensor *t, float *out,
                                invit_error *err)
{
    const inv_array *a = inv_safetensors_find(s, t->name);
    if (!a) return inv_fail(err, INVIT_ERR_INPUT, "%s: tensor %s is missing", file, t->name);
    if (a->dtype != INV_F32 && a->dtype != INV_F16 && a->dtype != INV_BF16)
        return inv_fail(err, INVIT_ERR_INPUT, "%s: tensor %s is not F32, F16 or BF16", file, t->name);
    if (a->rank != t->rank || a->shape[0] != t->shape[0] || (t->rank == 2 && a->shape[1] != t->shape[1]))
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: tensor %s has %d dimensions of size %lld x %lld, expected %d of %d x %d", file,
                        t->name, a->rank, (long long)(a->rank > 0 ? a->shape[0] : 1),
                        (long long)(a->rank > 1 ? a->shape[1] : 1), t->rank, t->shape[0], t->shape[1]);
    inv_array_floats(a, out);
    for (size_t i = 0; i < t->count; i++)
        if (!isfinite(out[i]))
            return inv_fail(err, INVIT_ERR_INPUT,
                            "%s: tensor %s holds a number that is not finite at position %zu", file, t->name,
                            i);
    return INVIT_OK;
}

/* Everything in the metadata that is not configuration is kept as it is. */
static invit_status keep_metadata(const json_t *all, struct invit_model *m, invit_error *err)
{
    json_t *rest = json_copy((json_t *)all), *config = inv_config_to_metadata(&m->config);
    const char *key;
    json_t *value;
    bool whole = json_object_size(rest) == json_object_size(all) && config;
    json_object_foreach(config, key, value) json_object_del(rest, key);
    if (whole && json_object_size(rest) > 0) {
        m->metadata = inv_json_text(rest, JSON_COMPACT);
        whole = m->metadata != NULL;
    }
    json_decref(rest);
    json_decref(config);
    return whole ? INVIT_OK : inv_no_memory(err, 64);
}

invit_status inv_model_from_safetensors(const inv_safetensors *s, const char *file, struct invit_model **out,
                                        invit_error *err)
{
    invit_status status = INVIT_OK;
    struct invit_model *m = NULL;
    inv_config c;
    *out = NULL;
    INV_CHECK(inv_config_from_metadata(s->metadata, file, &c, err));
    INV_TRY(inv_model_create(&c, &m, err));
    for (int32_t i = 0; i < m->tensors; i++)
        INV_TRY(load_tensor(s, file, &m->tensor[i], m->param + m->tensor[i].offset, err));
    for (int32_t i = 0; i < s->count; i++)
        if (!inv_model_find(m, s->array[i].name)) {
            status = inv_fail(err, INVIT_ERR_INPUT, "%s: tensor %.200s does not belong to this model", file,
                              s->array[i].name);
            goto done;
        }
    INV_TRY(keep_metadata(s->metadata, m, err));
    *out = m;
    m = NULL;
done:
    invit_model_destroy(m);
    return status;
}

invit_status invit_model_load(const char *path, invit_model **out, invit_error *err)
{
    inv_safetensors s;
    char bundled[INV_MODEL_PATH];
    *out = NULL;
    if (!strchr(path, '/') && access(path, F_OK) != 0) {
        if (inv_find_model(path, bundled))
            path = bundled;
        else if (!strchr(path, '.'))
            return inv_fail(err, INVIT_ERR_IO,
                            "%.80s: there is no such file and no bundled model of that name", path);
    }
    INV_CHECK(inv_safetensors_read(path, &s, err));
    invit_status status = inv_model_from_safetensors(&s, path, out, err);
    inv_safetensors_free(&s);
    if (status == INVIT_OK && !((*out)->path = strdup(path))) {
        invit_model_destroy(*out);
        *out = NULL;
        return inv_no_memory(err, strlen(path));
    }
    return status;
}

/* The configuration and what else is told of the model. (json_object_update_missing would not tell of a key that found no
 * memory.) */
static json_t *all_metadata(const struct invit_model *m)
{
    json_t *all = inv_config_to_metadata(&m->config), *value;
    json_t *extra = m->metadata ? inv_json_load(m->metadata, strlen(m->metadata), 0, NULL) : NULL;
    bool whole = all && (extra || !m->metadata);
    const char *key;
    json_object_foreach(extra, key, value)
    {
        if (!json_object_get(all, key) && json_object_set(all, key, value) != 0) whole = false;
    }
    json_decref(extra);
    if (whole) return all;
    json_decref(all);
    return NULL;
}

invit_status inv_model_save(const struct invit_model *m, const char *path, inv_dtype storage,
                            invit_error *err)
{
    if (storage != INV_F32 && storage != INV_F16 && storage != INV_BF16)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "weights are stored as F32, F16 or BF16");
    inv_array *array = calloc((size_t)m->tensors, sizeof *array);
    if (!array) return inv_no_memory(err, (size_t)m->tensors * sizeof *array);
    for (int32_t i = 0; i < m->tensors; i++) {
        const inv_tensor *t = &m->tensor[i];
        array[i] = (inv_array){.name = t->name,
                               .dtype = storage,
                               .rank = t->rank,
                               .shape = {t->shape[0], t->shape[1]},
                               .count = (int64_t)t->count,
                               .data = m->param + t->offset};
    }
    json_t *metadata = all_metadata(m);
    invit_status status =
        metadata ? inv_safetensors_write(path, array, m->tensors, metadata, err) : inv_no_memory(err, 64);
    json_decref(metadata);
    free(array);
    return status;
}
