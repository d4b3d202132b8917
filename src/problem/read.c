/* Reading instances: opens the input, tells the format from its first bytes, hands out one instance after
 * another. */
#include "problem/read.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct invit_reader {
    inv_text text;
    inv_read_state state;
    invit_format format;
    inv_read_fn *next;
    char *stem; /* the file's name without directory and extension: names instances that have none */
};

/* ---- what the formats share ---------------------------------------------------------------------------- */

invit_status inv_points_grow(inv_points *p, invit_error *err)
{
    int64_t room = p->room ? p->room + p->room / 2 : 256;
    if (p->n >= INT32_MAX / 2)
        return inv_fail(err, INVIT_ERR_UNSUPPORTED, "expected at most %d nodes", INT32_MAX / 2);
    INV_CHECK(inv_memory_expect((room - p->n) * 2 * (int64_t)sizeof *p->xy, "reading the nodes", err));
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

invit_status inv_read_coordinate(inv_text *t, char also, const char *what, double *value, invit_error *err)
{
    const char *before = t->at;
    INV_CHECK(inv_read_number(t, also, what, value, err));
    if (fabs(*value) <= INV_FARTHEST) return INVIT_OK;
    t->at = before;
    return inv_text_expected(t, err, "%s from %g to %g", what, -INV_FARTHEST, INV_FARTHEST);
}

void inv_read_note(inv_read_state *state, const char *format, va_list args)
{
    size_t n = strlen(state->note), room = sizeof state->note - n;
    if (n > 0 && room > 1) {
        state->note[n++] = '\n';
        state->note[n] = 0;
        room--;
    }
    vsnprintf(state->note + n, room, format, args);
}

/* ---- telling the formats apart ------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* KEY : value or KEY_SECTION */
static bool is_keyword(const char *p)
{
    const char *from = p;
    while (is_letter(*p) || (*p >= '0' && *p <= '9')) p++;
    if (p - from > 8 && strncasecmp(p - 8, "_SECTION", 8) == 0) return true;
    while (p > from && inv_is_blank(*p)) p++;
    return p > from && *p == ':';
}

/* The first line of a file of words that is no TSPLIB keyword: a header has something between its columns. */
static invit_format detect_words(const char *p)
{
    if (*p == '"' || strncasecmp(p, "sep=", 4) == 0) return INVIT_FORMAT_CSV;
    p += strcspn(p, ",;\t\n");
    return *p == ',' || *p == ';' || (*p == '\t' && is_letter(p[1])) ? INVIT_FORMAT_CSV : INVIT_FORMAT_TSPLIB;
}

/* The first line of a file of numbers: with two alone it is a list, with "x,y" and more it is MSVDRP. */
static invit_format detect_numbers(const char *p)
{
    double v;
    bool comma = false;
    for (int i = 0; i < 2; i++) {
        p = inv_parse_double(p, &v);
        if (!p) return INVIT_FORMAT_LIST;
        while (inv_is_blank(*p)) p++;
        if (i == 0 && *p == ',') {
            comma = true;
            do p++;
            while (inv_is_blank(*p));
        }
    }
    if (!comma || *p == '\n' || *p == 0) return INVIT_FORMAT_LIST;
    return INVIT_FORMAT_MSVDRP;
}

invit_format inv_detect_format(inv_text *t)
{
    inv_text_refill(t, INV_TEXT_LINE);
    if (t->end - t->at >= 6 && memcmp(t->at, "\x93NUMPY", 6) == 0) return INVIT_FORMAT_NPY;
    const char *p = t->at;
    for (;;) { /* the first line that is neither empty nor a remark */
        while (inv_is_blank(*p) || *p == '\n') p++;
        if (!inv_is_remark(p)) break;
        while (*p && *p != '\n') p++;
    }
    int numbers;
    if (*p == '{') return INVIT_FORMAT_JSON;
    if (is_keyword(p)) return INVIT_FORMAT_TSPLIB;
    if (inv_is_solomon(p)) return INVIT_FORMAT_SOLOMON;
    if (inv_table_separator(p)) return INVIT_FORMAT_CSV;
    if (inv_is_matrix_row(p, &numbers) && numbers > 2) return INVIT_FORMAT_MATRIX;
    if (*p == ',' || *p == ';')
        return INVIT_FORMAT_MATRIX; /* names of columns, the corner over the rows' empty */
    return is_letter(*p) || *p == '"' || (unsigned char)*p >= 0x80 ? detect_words(p) : detect_numbers(p);
}

/* ---- the public reader --------------------------------------------------------------------------------- */

static char *stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    if (strcmp(path, "-") == 0 || strcmp(path, "standard input") == 0) return strdup("stdin");
    return dot && dot > base ? strndup(base, (size_t)(dot - base)) : strdup(base);
}

static invit_status start_reader(invit_reader *r, const char *path, invit_error *err)
{
    static inv_read_fn *const readers[] = {
        [INVIT_FORMAT_TSPLIB] = inv_read_tsplib, [INVIT_FORMAT_MSVDRP] = inv_read_msvdrp,
        [INVIT_FORMAT_LIST] = inv_read_list,     [INVIT_FORMAT_NPY] = inv_read_npy,
        [INVIT_FORMAT_CSV] = inv_read_csv,       [INVIT_FORMAT_SOLOMON] = inv_read_solomon,
        [INVIT_FORMAT_JSON] = inv_read_json,     [INVIT_FORMAT_MATRIX] = inv_read_matrix,
    };
    r->stem = stem_of(path);
    if (!r->stem) return inv_no_memory(err, strlen(path));
    inv_text_refill(&r->text, 6);
    if (strncmp(r->text.at, "\x93NUMPY", 6) != 0) INV_CHECK(inv_text_begin(&r->text, err));
    if (inv_text_at_end(&r->text)) {
        INV_CHECK(inv_text_status(&r->text, err));
        return inv_fail(err, INVIT_ERR_INPUT, "%s:1: expected an instance, found an empty file",
                        r->text.name);
    }
    if (strncmp(r->text.at, "PK\x03\x04", 4) == 0)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: a workbook or another archive: save the table as CSV (UTF-8) and give that",
                        r->text.name);
    r->format = inv_detect_format(&r->text);
    r->next = readers[r->format];
    r->state.many = r->format == INVIT_FORMAT_MSVDRP;
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

const char *invit_reader_note(const invit_reader *r)
{
    return r->state.note;
}

void invit_reader_set_capacity(invit_reader *r, int64_t capacity)
{
    r->state.capacity = capacity;
}

void inv_reader_set_threads(invit_reader *r, int threads)
{
    r->text.threads = inv_threads(threads);
}

/* Messages about what a file holds begin with its name; those of code that does not know it get it here. */
static invit_status name_the_file(const invit_reader *r, invit_status status, invit_error *err)
{
    char message[sizeof err->message];
    if (!err || status == INVIT_ERR_MEMORY || strncmp(err->message, r->text.name, strlen(r->text.name)) == 0)
        return status;
    snprintf(message, sizeof message, "%s", err->message);
    snprintf(err->message, sizeof err->message, "%.200s: %.800s", r->text.name, message);
    return status;
}

invit_status invit_reader_next(invit_reader *r, invit_instance **out, invit_error *err)
{
    *out = NULL;
    invit_instance *p = NULL;
    if (r->state.capacity && r->format != INVIT_FORMAT_CSV)
        return inv_fail(
            err, INVIT_ERR_ARGUMENT,
            "%s: a capacity can be given along with a CSV table only; this file has its own or needs none",
            r->text.name);
    invit_status read = r->next(&r->text, &r->state, &p, err);
    if (read != INVIT_OK) return name_the_file(r, read, err);
    if (p && strcmp(p->name, "unnamed") == 0) {
        char name[512];
        if (r->state.many)
            snprintf(name, sizeof name, "%s#%lld", r->stem, (long long)r->state.index);
        else
            snprintf(name, sizeof name, "%s", r->stem);
        invit_status status = invit_instance_set_name(p, name, err);
        if (status != INVIT_OK) {
            invit_instance_destroy(p);
            return status;
        }
    }
    if (p) {
        invit_status status = invit_instance_set_metric(p, p->metric, err);
        if (status != INVIT_OK) {
            invit_instance_destroy(p);
            return name_the_file(r, status, err);
        }
    }
    if (p && p->metric == INVIT_HAVERSINE && r->format == INVIT_FORMAT_JSON && r->state.index == 0)
        inv_remark_places(p, NULL, &r->state); /* a table's reader knows the lines, and has done so */
    r->state.index += p != NULL;
    *out = p;
    return INVIT_OK;
}

invit_status inv_instance_read_matrix(invit_instance *p, const char *name, const char *path, invit_error *err)
{
    inv_text t = {0};
    double *value = NULL;
    int64_t n = 0;
    bool durations = strcmp(name, "durations") == 0;
    invit_status status = INVIT_OK;
    if (!durations && strcmp(name, "distances") != 0)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "'%.40s': expected the matrix distances or durations", name);
    INV_TRY(inv_text_open(&t, path, err));
    inv_text_refill(&t, 6);
    if (strncmp(t.at, "\x93NUMPY", 6) == 0) {
        INV_TRY(inv_read_matrix_npy(&t, &value, &n, err));
    } else {
        INV_TRY(inv_text_begin(&t, err));
        INV_TRY(inv_read_matrix_text(&t, &value, &n, err));
    }
    if (n != p->n)
        INV_TRY(inv_fail(err, INVIT_ERR_INPUT,
                         "%s: a matrix of %lld x %lld: expected %d x %d, one row per node", t.name,
                         (long long)n, (long long)n, p->n, p->n));
    status = inv_take_matrix(p, durations, value, err);
    value = NULL;
done:
    free(value);
    inv_text_close(&t);
    return status;
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
