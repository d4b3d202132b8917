/* Label files: "INVITLAB", problem, then records: n (int32), capacity (int32, CVRP), x and y of each node
 * (float), demand of each node (int32, CVRP), number of entries (int32) and the order (int32). Numbers in the
 * machine's own order. */
#include "lab/train/labelfile.h"

#include "invit_lab.h"
#include "lab/train/mix.h"
#include "lab/train/options.h"
#include "lab/train/team.h"

#include "base/clock.h"
#include "base/outfile.h"
#include "base/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct inv_labelfile {
    char *path;
    invit_problem problem;
    char *bytes; /* mapped */
    size_t size;
    int64_t count;
    size_t *at; /* [count] where records begin */
    int32_t largest;
    bool *seen; /* [largest] for scanning */
};

/* One record's parts, as places in the file. */
typedef struct record {
    int32_t n, capacity, entries;
    size_t points, demand, order, end;
} record;

static const char magic[8] = "INVITLAB";

static int32_t int_at(const inv_labelfile *f, size_t at)
{
    int32_t x;
    memcpy(&x, f->bytes + at, sizeof x);
    return x;
}

/* Bytes before the order's length, for n nodes. */
static size_t record_head(invit_problem problem, int32_t n)
{
    size_t cvrp = problem == INVIT_CVRP;
    return 4 + 4 * cvrp + (size_t)n * (8 + 4 * cvrp);
}

static bool points_are_finite(const inv_labelfile *f, size_t at, int32_t n)
{
    for (size_t i = 0; i < 2 * (size_t)n; i++) {
        float x;
        memcpy(&x, f->bytes + at + 4 * i, sizeof x);
        if (!isfinite(x)) return false;
    }
    return true;
}

/* Every node once: what a walk follows without looking. CVRP: routes parted by single zeros, each within the
 * capacity. `seen` has room for n. */
static bool order_is_sound(const inv_labelfile *f, const record *r, bool *seen)
{
    int32_t served = 0, before = 0;
    int64_t load = 0;
    bool cvrp = f->problem == INVIT_CVRP;
    memset(seen, 0, (size_t)r->n * sizeof *seen);
    for (int32_t i = 0; i < r->entries; i++) {
        int32_t node = int_at(f, r->order + 4 * (size_t)i);
        if (node < 0 || node >= r->n) return false;
        if (cvrp && node == 0) {
            if (i == 0 || before == 0 || i + 1 == r->entries) return false;
            load = 0;
        } else {
            if (seen[node]) return false;
            seen[node] = true;
            served++;
            load += cvrp ? int_at(f, r->demand + 4 * (size_t)node) : 0;
        }
        if (cvrp && load > r->capacity) return false;
        before = node;
    }
    return served == r->n - cvrp;
}

static bool demands_are_sound(const inv_labelfile *f, const record *r)
{
    if (r->capacity < 1 || int_at(f, r->demand) != 0) return false;
    for (int32_t i = 1; i < r->n; i++) {
        int32_t demand = int_at(f, r->demand + 4 * (size_t)i);
        if (demand < 0 || demand > r->capacity) return false;
    }
    return true;
}

/* Where the parts of the record at `at` are; false if it does not fit into the file. */
static bool find_parts(const inv_labelfile *f, size_t at, record *r)
{
    size_t cvrp = f->problem == INVIT_CVRP, left = f->size - at;
    r->n = left >= 4 ? int_at(f, at) : -1;
    if (r->n < 1 + (int32_t)cvrp) return false;
    size_t head = record_head(f->problem, r->n);
    if (left < head + 4) return false;
    r->capacity = cvrp ? int_at(f, at + 4) : 0;
    r->points = at + 4 + 4 * cvrp;
    r->demand = r->points + 8 * (size_t)r->n;
    r->entries = int_at(f, at + head);
    r->order = at + head + 4;
    if (r->entries < 1 || r->entries > 2 * (int64_t)r->n || left - head - 4 < 4 * (size_t)r->entries)
        return false;
    r->end = r->order + 4 * (size_t)r->entries;
    return true;
}

static invit_status scan(inv_labelfile *f, invit_error *err)
{
    size_t at = sizeof magic + 4, room = 0;
    while (at < f->size) {
        record r;
        bool fits = find_parts(f, at, &r);
        if (fits && r.n > f->largest) {
            bool *larger = realloc(f->seen, (size_t)r.n * sizeof *larger);
            if (!larger) return inv_no_memory(err, (size_t)r.n * sizeof *larger);
            f->seen = larger;
            f->largest = r.n;
        }
        if (!fits || !points_are_finite(f, r.points, r.n) ||
            (f->problem == INVIT_CVRP && !demands_are_sound(f, &r)) || !order_is_sound(f, &r, f->seen))
            return inv_fail(err, INVIT_ERR_INPUT, "%s: record %lld at byte %zu is damaged or cut short",
                            f->path, (long long)f->count, at);
        if ((size_t)f->count == room) {
            room = room * 2 + 64;
            size_t *more = realloc(f->at, room * sizeof *more);
            if (!more) return inv_no_memory(err, room * sizeof *more);
            f->at = more;
        }
        f->at[f->count++] = at;
        at = r.end;
    }
    return f->count > 0 ? INVIT_OK : inv_fail(err, INVIT_ERR_INPUT, "%s holds no labels", f->path);
}

static invit_status map_file(inv_labelfile *f, invit_problem problem, invit_error *err)
{
    struct stat st;
    int fd = open(f->path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0) {
        int why = errno;
        if (fd >= 0) close(fd);
        return inv_fail(err, INVIT_ERR_IO, "%s: %s", f->path, strerror(why));
    }
    f->size = (size_t)st.st_size;
    f->bytes = f->size ? mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (f->bytes == MAP_FAILED) f->bytes = NULL;
    if (!f->bytes || f->size < sizeof magic + 4 || memcmp(f->bytes, magic, sizeof magic) != 0)
        return inv_fail(err, INVIT_ERR_INPUT, "%s is not a label file", f->path);
    if (int_at(f, sizeof magic) != (int32_t)problem)
        return inv_fail(err, INVIT_ERR_INPUT, "%s holds %s labels, this run is for %s", f->path,
                        int_at(f, sizeof magic) == INVIT_TSP ? "tsp" : "cvrp",
                        problem == INVIT_TSP ? "tsp" : "cvrp");
    return INVIT_OK;
}

invit_status inv_labelfile_open(const char *path, invit_problem problem, inv_labelfile **out,
                                invit_error *err)
{
    *out = NULL;
    inv_labelfile *f = calloc(1, sizeof *f);
    if (!f || !(f->path = strdup(path))) {
        free(f);
        return inv_no_memory(err, sizeof *f);
    }
    f->problem = problem;
    invit_status status = map_file(f, problem, err);
    if (status == INVIT_OK) status = scan(f, err);
    if (status != INVIT_OK)
        inv_labelfile_close(f);
    else
        *out = f;
    return status;
}

void inv_labelfile_close(inv_labelfile *f)
{
    if (!f) return;
    if (f->bytes) munmap(f->bytes, f->size);
    free(f->at);
    free(f->seen);
    free(f->path);
    free(f);
}

int64_t inv_labelfile_count(const inv_labelfile *f)
{
    return f->count;
}

int32_t inv_labelfile_largest(const inv_labelfile *f)
{
    return f->largest;
}

invit_status inv_labelfile_get(const inv_labelfile *f, int64_t i, invit_instance **out, inv_lesson *l,
                               invit_error *err)
{
    size_t at = f->at[i];
    bool cvrp = f->problem == INVIT_CVRP;
    int32_t n = int_at(f, at);
    invit_instance *p;
    INV_CHECK(inv_instance_alloc(f->problem, n, &p, err));
    at += 4;
    if (cvrp) {
        p->capacity = int_at(f, at);
        at += 4;
    }
    for (size_t k = 0; k < 2 * (size_t)n; k++) {
        float x;
        memcpy(&x, f->bytes + at + 4 * k, sizeof x);
        p->xy[k] = (double)x;
    }
    at += 8 * (size_t)n;
    if (cvrp) {
        memcpy(p->demand, f->bytes + at, 4 * (size_t)n);
        at += 4 * (size_t)n;
    }
    l->own = 0;
    l->count = int_at(f, at);
    memcpy(l->order, f->bytes + at + 4, 4 * (size_t)l->count);
    *out = p;
    return INVIT_OK;
}

/* ---- making them: invit train label -------------------------------------------------------------------- */

#define ROUND 256 /* instances between writes */

typedef struct maker {
    const invit_train_options *o;
    inv_mix mix;
    int64_t from; /* number of the round's first instance */
    inv_teacher **teacher;
    inv_lesson *lesson; /* one per thread */
    invit_status *status;
    invit_error *error;
    char *record[ROUND];
    size_t bytes[ROUND];
} maker;

static char *put(char *at, const void *bytes, size_t count)
{
    memcpy(at, bytes, count);
    return at + count;
}

static invit_status write_record(const invit_instance *p, const inv_lesson *l, char **record, size_t *size,
                                 invit_error *err)
{
    size_t head = record_head(p->problem, p->n);
    *size = head + 4 + 4 * (size_t)l->count;
    char *at = *record = malloc(*size);
    if (!at) return inv_no_memory(err, *size);
    at = put(at, &p->n, 4);
    int32_t capacity = (int32_t)p->capacity;
    if (p->demand) at = put(at, &capacity, 4);
    for (size_t k = 0; k < 2 * (size_t)p->n; k++) at = put(at, &(float){(float)p->xy[k]}, 4);
    if (p->demand) at = put(at, p->demand, 4 * (size_t)p->n);
    at = put(at, &l->count, 4);
    put(at, l->order, 4 * (size_t)l->count);
    return INVIT_OK;
}

static void make_item(void *context, int member, int item)
{
    maker *m = context;
    if (m->status[member] != INVIT_OK) return;
    invit_error *err = &m->error[member];
    invit_instance *p = NULL;
    inv_rng rng;
    inv_rng_init(&rng, (uint64_t)m->o->seed, (uint64_t)(m->from + item) | (1ull << 62));
    invit_status status = inv_mix_draw(&m->mix, &rng, &p, err);
    if (status == INVIT_OK)
        status = inv_lesson_teach(&m->lesson[member], m->teacher[member], p, m->o->effort, &rng, err);
    if (status == INVIT_OK)
        status = write_record(p, &m->lesson[member], &m->record[item], &m->bytes[item], err);
    invit_instance_destroy(p);
    m->status[member] = status;
}

static invit_status make_round(maker *m, inv_team *team, int count, inv_outfile *f, invit_error *err)
{
    inv_team_run(team, count, make_item, m);
    invit_status status = INVIT_OK;
    for (int i = 0; i < inv_team_size(team) && status == INVIT_OK; i++) {
        status = m->status[i];
        if (status != INVIT_OK && err) *err = m->error[i];
    }
    for (int i = 0; i < count; i++) {
        if (status == INVIT_OK) inv_outfile_write(f, m->record[i], m->bytes[i]);
        free(m->record[i]);
        m->record[i] = NULL;
    }
    return status != INVIT_OK ? status : inv_outfile_flush(f, err);
}

invit_status invit_train_label(const invit_train_options *o, int64_t count, const char *path,
                               const invit_control *control, invit_error *err)
{
    maker m = {.o = o};
    inv_team *team = NULL;
    inv_outfile *f = NULL;
    int threads = inv_threads((int)o->threads), made = 0;
    double began = inv_now();
    invit_status status;
    INV_TRY(inv_mix_parse(&m.mix, o, err));
    INV_TRY(inv_team_create(threads, &team, err));
    threads = inv_team_size(team);
    m.teacher = calloc((size_t)threads, sizeof *m.teacher);
    m.lesson = calloc((size_t)threads, sizeof *m.lesson);
    m.status = calloc((size_t)threads, sizeof *m.status);
    m.error = calloc((size_t)threads, sizeof *m.error);
    if (!m.teacher || !m.lesson || !m.status || !m.error) INV_TRY(inv_no_memory(err, (size_t)threads * 2048));
    for (; made < threads; made++) {
        INV_TRY(inv_teacher_create(&m.teacher[made], err));
        INV_TRY(inv_lesson_init(&m.lesson[made], m.mix.largest, err));
    }
    INV_TRY(inv_outfile_open(path, &f, err));
    inv_outfile_write(f, magic, sizeof magic);
    inv_outfile_write(f, &(int32_t){(int32_t)o->problem}, 4);
    for (m.from = 0; m.from < count; m.from += ROUND) {
        int64_t left = count - m.from;
        INV_TRY(make_round(&m, team, (int)(left < ROUND ? left : ROUND), f, err));
        if (control && control->progress)
            control->progress(control->user, &(invit_progress){.stage = "label",
                                                               .elapsed = inv_now() - began,
                                                               .fraction = (double)m.from / (double)count,
                                                               .best = NAN,
                                                               .count = m.from});
        if (control && control->cancel && *control->cancel)
            INV_TRY(inv_fail(err, INVIT_ERR_CANCELLED, "stopped; no label file was written"));
    }
    status = inv_outfile_close(f, err);
    f = NULL;
done:
    inv_outfile_abandon(f);
    inv_team_destroy(team);
    for (int i = 0; i < threads && m.lesson && m.teacher; i++) {
        inv_lesson_destroy(&m.lesson[i]);
        inv_teacher_destroy(m.teacher[i]);
    }
    free(m.teacher);
    free(m.lesson);
    free(m.status);
    free(m.error);
    return status;
}
