/* Reading label files: "INVITLAB", problem, then records: n (int32), capacity (int32, CVRP), x and y of each node
 * (float), demand of each node (int32, CVRP), number of entries (int32) and the order (int32). Numbers in the
 * machine's own order. */
#include "lab/train/data/label_file.h"
#include "base/names.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct inv_label_file {
    char *path;
    invit_problem problem;
    const char *bytes;
    void *mapped; /* the same, or NULL: the caller's */
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

static int32_t int_at(const inv_label_file *f, size_t at)
{
    int32_t x;
    memcpy(&x, f->bytes + at, sizeof x);
    return x;
}

const char inv_label_magic[8] = "INVITLAB";

size_t inv_label_head(invit_problem problem, int32_t n)
{
    size_t cvrp = problem == INVIT_CVRP;
    return 4 + 4 * cvrp + (size_t)n * (8 + 4 * cvrp);
}

static bool points_are_finite(const inv_label_file *f, size_t at, int32_t n)
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
static bool order_is_sound(const inv_label_file *f, const record *r, bool *seen)
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

static bool demands_are_sound(const inv_label_file *f, const record *r)
{
    if (r->capacity < 1 || int_at(f, r->demand) != 0) return false;
    for (int32_t i = 1; i < r->n; i++) {
        int32_t demand = int_at(f, r->demand + 4 * (size_t)i);
        if (demand < 0 || demand > r->capacity) return false;
    }
    return true;
}

/* Where the parts of the record at `at` are; false if it does not fit into the file. */
static bool find_parts(const inv_label_file *f, size_t at, record *r)
{
    size_t cvrp = f->problem == INVIT_CVRP, left = f->size - at;
    r->n = left >= 4 ? int_at(f, at) : -1;
    if (r->n < 1 + (int32_t)cvrp) return false;
    size_t head = inv_label_head(f->problem, r->n);
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

static invit_status scan(inv_label_file *f, invit_error *err)
{
    size_t at = sizeof inv_label_magic + 4, room = 0;
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

static invit_status check_head(const inv_label_file *f, invit_error *err)
{
    if (f->size < sizeof inv_label_magic + 4 ||
        memcmp(f->bytes, inv_label_magic, sizeof inv_label_magic) != 0)
        return inv_fail(err, INVIT_ERR_INPUT, "%s is not a label file", f->path);
    int32_t problem = int_at(f, sizeof inv_label_magic);
    if (problem != (int32_t)f->problem)
        return inv_fail(err, INVIT_ERR_INPUT, "%s holds %s labels, this run is for %s", f->path,
                        inv_problem_name((invit_problem)problem),
                        inv_problem_name((invit_problem)f->problem));
    return INVIT_OK;
}

static invit_status map_file(inv_label_file *f, invit_error *err)
{
    struct stat st;
    int fd = open(f->path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0) {
        int why = errno;
        if (fd >= 0) close(fd);
        return inv_fail(err, INVIT_ERR_IO, "%s: %s", f->path, strerror(why));
    }
    size_t size = (size_t)st.st_size;
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED) return inv_fail(err, INVIT_ERR_INPUT, "%s is not a label file", f->path);
    f->bytes = f->mapped = bytes;
    f->size = size;
    return INVIT_OK;
}

static invit_status open_file(const char *path, const void *bytes, size_t size, invit_problem problem,
                              inv_label_file **out, invit_error *err)
{
    *out = NULL;
    inv_label_file *f = calloc(1, sizeof *f);
    if (!f || !(f->path = strdup(path))) {
        free(f);
        return inv_no_memory(err, sizeof *f);
    }
    f->problem = problem;
    f->bytes = bytes;
    f->size = size;
    invit_status status = bytes ? INVIT_OK : map_file(f, err);
    if (status == INVIT_OK) status = check_head(f, err);
    if (status == INVIT_OK) status = scan(f, err);
    if (status != INVIT_OK)
        inv_label_file_close(f);
    else
        *out = f;
    return status;
}

invit_status inv_label_file_open(const char *path, invit_problem problem, inv_label_file **out,
                                 invit_error *err)
{
    return open_file(path, NULL, 0, problem, out, err);
}

invit_status inv_label_file_parse(const void *bytes, size_t size, const char *name, invit_problem problem,
                                  inv_label_file **out, invit_error *err)
{
    return open_file(name, bytes, size, problem, out, err);
}

void inv_label_file_close(inv_label_file *f)
{
    if (!f) return;
    if (f->mapped) munmap(f->mapped, f->size);
    free(f->at);
    free(f->seen);
    free(f->path);
    free(f);
}

int64_t inv_label_file_count(const inv_label_file *f)
{
    return f->count;
}

int32_t inv_label_file_largest(const inv_label_file *f)
{
    return f->largest;
}

invit_status inv_label_file_get(const inv_label_file *f, int64_t i, invit_instance **out,
                                inv_demonstration *d, invit_error *err)
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
    d->own = 0;
    d->count = int_at(f, at);
    memcpy(d->order, f->bytes + at + 4, 4 * (size_t)d->count);
    *out = p;
    return INVIT_OK;
}
