/* Reading instances: opens the input, tells the format from its first bytes, hands out one instance after
 * another. */
#include "problem/read.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct invit_reader {
    inv_text text;
    inv_read_state state;
    invit_format format;
    inv_read_fn *next;
    char *stem; /* the file's name without directory and extension: names instances that have none */
};

/* ---- what the formats share
 * ---------------------------------------------------------------------------------------- */

invit_status inv_points_grow(inv_points *p, invit_error *err)
{
    int64_t room = p->room ? p->room + p->room / 2 : 256;
    if (p->n >= INT32_MAX / 2)
        return inv_fail(err, INVIT_ERR_UNSUPPORTED, "expected at most %d nodes", INT32_MAX / 2);
    double *more = realloc(p->xy, (size_t)room * 2 * sizeof *more);
    if (!more) return inv_no_memory(err, (size_t)room * 2 * sizeof *more);
    p->xy = more;
    p->room = room;
    return INVIT_OK;
}

void inv_points_destroy(inv_points *p)
{
    free(p->xy);
    *p = (inv_points){0};
}

invit_status inv_points_to_instance(inv_points *p, invit_metric metric, invit_instance **out,
                                    invit_error *err)
{
    invit_instance *instance;
    INV_CHECK(inv_instance_alloc(INVIT_TSP, 1, &instance, err));
    double *tight = realloc(p->xy, (size_t)p->n * 2 * sizeof *tight);
    free(instance->xy);
    instance->xy = tight ? tight : p->xy;
    instance->n = (int32_t)p->n;
    instance->metric = metric;
    *p = (inv_points){0};
    *out = instance;
    return INVIT_OK;
}

invit_status inv_read_number(inv_text *t, char also, const char *what, double *value, invit_error *err)
{
    const char *after = inv_parse_double(t->at, value);
    if (!after || !(inv_is_blank(*after) || *after == '\n' || after >= t->end || (also && *after == also)))
        return inv_text_expected(t, err, "%s", what);
    if (!isfinite(*value)) return inv_text_expected(t, err, "%s within the range of numbers", what);
    if (after >= t->end && !t->eof)
        return inv_text_expected(t, err, "%s of fewer than %d digits", what, INV_TEXT_WINDOW);
    t->at = after;
    return INVIT_OK;
}

/* ---- telling the formats apart
 * ----------------------------------------------------------------------------------- */

invit_format inv_detect_format(inv_text *t)
{
    inv_text_ensure(t);
    return INVIT_FORMAT_TSPLIB;
}

/* ---- the public reader
 * ----------------------------------------------------------------------------------------------- */

static char *stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    if (strcmp(path, "-") == 0 || strcmp(path, "standard input") == 0) return strdup("stdin");
    return dot && dot > base ? strndup(base, (size_t)(dot - base)) : strdup(base);
}

static invit_status start_reader(invit_reader *r, const char *path, invit_error *err)
{
    static inv_read_fn *const readers[] = {
        [INVIT_FORMAT_TSPLIB] = inv_read_tsplib,
    };
    r->stem = stem_of(path);
    if (!r->stem) return inv_no_memory(err, strlen(path));
    if (inv_text_at_end(&r->text)) {
        INV_CHECK(inv_text_status(&r->text, err));
        return inv_fail(err, INVIT_ERR_INPUT, "%s:1: expected an instance, found an empty file",
                        r->text.name);
    }
    r->format = inv_detect_format(&r->text);
    r->next = readers[r->format];
    return INVIT_OK;
}

invit_status invit_reader_open(const char *path, invit_reader **out, invit_error *err)
{
    *out = NULL;
    invit_reader *r = calloc(1, sizeof *r);
    if (!r) return inv_no_memory(err, sizeof *r);
    invit_status status = inv_text_open(&r->text, path, err);
    if (status == INVIT_OK) status = start_reader(r, path, err);
    if (status == INVIT_OK)
        *out = r;
    else
        invit_reader_close(r);
    return status;
}

invit_status invit_reader_open_memory(const void *data, size_t size, const char *name, invit_reader **out,
                                      invit_error *err)
{
    *out = NULL;
    invit_reader *r = calloc(1, sizeof *r);
    if (!r) return inv_no_memory(err, sizeof *r);
    invit_status status = inv_text_open_memory(&r->text, data, size, name, err);
    if (status == INVIT_OK) status = start_reader(r, name, err);
    if (status == INVIT_OK)
        *out = r;
    else
        invit_reader_close(r);
    return status;
}

void invit_reader_close(invit_reader *r)
{
    if (!r) return;
    inv_text_close(&r->text);
    free(r->stem);
    free(r);
}

invit_format invit_reader_format(const invit_reader *r)
{
    return r->format;
}

invit_status invit_reader_next(invit_reader *r, invit_instance **out, invit_error *err)
{
    *out = NULL;
    invit_instance *p = NULL;
    INV_CHECK(r->next(&r->text, &r->state, &p, err));
    if (p && strcmp(p->name, "unnamed") == 0) {
        char name[512];
        bool many = r->format == INVIT_FORMAT_MSVDRP ||
                    (r->format == INVIT_FORMAT_NPY && r->state.remaining + r->state.index > 0);
        if (many)
            snprintf(name, sizeof name, "%s#%lld", r->stem, (long long)r->state.index);
        else
            snprintf(name, sizeof name, "%s", r->stem);
        invit_status status = invit_instance_set_name(p, name, err);
        if (status != INVIT_OK) {
            invit_instance_destroy(p);
            return status;
        }
    }
    r->state.index += p != NULL;
    *out = p;
    return INVIT_OK;
}

invit_status invit_instance_read(const char *path, int64_t index, invit_instance **out, invit_error *err)
{
    *out = NULL;
    invit_reader *r;
    invit_instance *p = NULL;
    INV_CHECK(invit_reader_open(path, &r, err));
    invit_status status = INVIT_OK;
    if (index < 0)
        INV_TRY(inv_fail(err, INVIT_ERR_ARGUMENT, "index %lld: expected 0 or more", (long long)index));
    for (int64_t i = 0; i <= index; i++) {
        invit_instance_destroy(p);
        p = NULL;
        INV_TRY(invit_reader_next(r, &p, err));
        if (!p)
            INV_TRY(inv_fail(err, INVIT_ERR_ARGUMENT, "%s: no instance %lld: the file holds %lld",
                             r->text.name, (long long)index, (long long)i));
    }
    *out = p;
    p = NULL;
done:
    invit_instance_destroy(p);
    invit_reader_close(r);
    return status;
}
