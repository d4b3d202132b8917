/* Near-optimal references: read from a file of solutions, every one checked, and made where the file ends.
 *
 * NAME.sol.txt holds one solution line per instance, in the order of the set. Beside it, NAME.sol.json says
 * how the lines were made. A file without that companion is somebody else's (LKH-3, HGS, Gurobi, ...): it is
 * used but never added to. */
#include "base/hash.h"
#include "base/cancel.h"
#include "invit_lab.h"
#include "lab/eval/eval.h"

#include "base/clock.h"
#include "base/json_memory.h"
#include "base/json_text.h"
#include "base/lines.h"
#include "base/number.h"
#include "base/outfile.h"
#include "base/parallel.h"
#include "problem/metric.h"
#include "lab/eval/eval_work.h"
#include "search/improve.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct reference_file {
    char path[4096], provenance[4096];
    int32_t count;
    int lock; /* descriptor that holds the file's lock, or -1 */
} reference_file;

/* ---- reading and checking ----------------------------------------------------------------------- */

/* Times the length by nearest neighbours. References are shorter than these; the rest is margin. */
#define PLAUSIBLE 1.3

/* Nothing is stated: then what is far longer than a solution anyone makes at once is for another instance. */
static invit_status check_plausible(const reference_file *f, const invit_instance *p, int32_t i,
                                    double length, invit_error *err)
{
    invit_solution *nearest = NULL;
    INV_CHECK(inv_construct_nearest(p, 1, NULL, &nearest, err));
    double simple = inv_length(p, nearest);
    invit_solution_destroy(nearest);
    if (length <= PLAUSIBLE * simple) return INVIT_OK;
    return inv_fail(err, INVIT_ERR_INPUT,
                    "%s:%d: %.3g times as long as nearest neighbours on instance %d: a reference for another "
                    "instance",
                    f->path, i + 1, length / simple, i);
}

static invit_status check_reference(const reference_file *f, const invit_instance *p, int32_t i,
                                    const invit_solution *s, double stated, double *length, invit_error *err)
{
    invit_check_result check;
    INV_CHECK(invit_check(p, s, &check, err));
    if (!check.feasible)
        return inv_fail(err, INVIT_ERR_INPUT, "%s:%d: not a solution of instance %d: %s", f->path, i + 1, i,
                        check.message);
    if (!isnan(stated) && fabs(stated - check.length) > INV_STATED_TOLERANCE * check.length)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s:%d: states length %.9g, but on instance %d it is %.9g: a wrong length, or a "
                        "reference for another "
                        "instance",
                        f->path, i + 1, stated, i, check.length);
    if (isnan(stated)) INV_CHECK(check_plausible(f, p, i, check.length, err));
    *length = check.length;
    return INVIT_OK;
}

static invit_status read_references(reference_file *f, inv_set *set, invit_error *err)
{
    invit_solution_reader *reader = NULL;
    invit_status status;
    INV_TRY(invit_solution_reader_open(f->path, &reader, err));
    for (f->count = 0; f->count < set->count; f->count++) {
        invit_solution *s = NULL;
        invit_solution_info info;
        const invit_instance *p = set->instance[f->count];
        INV_TRY(invit_solution_reader_next(reader, p, &s, &info, err));
        if (!s) break;
        status = check_reference(f, p, f->count, s, info.length, &set->reference[f->count], err);
        invit_solution_destroy(s);
        if (status != INVIT_OK) goto done;
    }
done:
    invit_solution_reader_close(reader);
    return status;
}

/* A line that was cut off when a run was killed is taken away. */
static invit_status drop_partial_line(const reference_file *f, invit_error *err)
{
    FILE *file = fopen(f->path, "r");
    if (!file) return inv_fail(err, INVIT_ERR_IO, "%s: %s", f->path, strerror(errno));
    long end = 0, at = 0;
    char block[65536];
    size_t n;
    while ((n = fread(block, 1, sizeof block, file)) > 0) {
        for (size_t i = n; i > 0; i--)
            if (block[i - 1] == '\n') {
                end = at + (long)i;
                break;
            }
        at += (long)n;
    }
    bool bad = ferror(file) || (end < at && truncate(f->path, end) != 0);
    int why = errno;
    fclose(file);
    return bad ? inv_fail(err, INVIT_ERR_IO, "%s: %s", f->path, strerror(why)) : INVIT_OK;
}

/* ---- provenance --------------------------------------------------------------------------------- */

static json_t *describe_search(const invit_eval_options *o, const inv_set *set, int32_t from)
{
    const invit_instance *p = set->instance[0];
    char program[32];
    snprintf(program, sizeof program, "invit %s", invit_version());
    json_t *run =
        json_pack("{s:i, s:s, s:s, s:I}", "from_line", (int)from + 1, "program", program, "method",
                  p->problem == INVIT_TSP
                      ? "greedy edges, then a population of Lin-Kernighan tours crossed by edge assembly"
                      : "ruin and recreate from savings and from nearest neighbours, the shorter",
                  "search_seed", (json_int_t)o->data_seed);
    int lost = o->reference_seconds > 0
                   ? json_object_set_new(run, "seconds_per_instance", json_real(o->reference_seconds))
                   : json_object_set_new(run, "steps_per_instance",
                                         json_integer(inv_effort_iterations(p, o->reference_effort)));
    if (!lost) return run;
    json_decref(run);
    return NULL;
}

static bool same_search(json_t *a, json_t *b)
{
    static const char *const keys[] = {"program", "method", "search_seed", "seconds_per_instance",
                                       "steps_per_instance"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
        if ((x || y) && !json_equal(x, y)) return false;
    }
    return true;
}

/* Over coordinates and demands: generated or read from a file, the same instance gives the same
 * number. */
static uint64_t fingerprint(const invit_instance *p)
{
    uint64_t h = inv_hash_bytes(INV_HASH_START, p->xy, (size_t)p->n * 2 * sizeof *p->xy);
    for (int32_t i = 0; p->demand && i < p->n; i++) h = inv_hash_word(h, (uint64_t)p->demand[i]);
    return h;
}

/* A remark when references of the file were made with less than what is asked for now. */
static void compare_effort(const invit_eval_options *o, json_t *all, inv_set *set)
{
    json_t *now = describe_search(o, set, 0), *runs = json_object_get(all, "runs");
    size_t i;
    json_t *run;
    json_array_foreach(runs, i, run)
    {
        static const char *const keys[] = {"steps_per_instance", "seconds_per_instance"};
        for (int k = 0; k < 2; k++) {
            double had = json_number_value(json_object_get(run, keys[k])),
                   want = json_number_value(json_object_get(now, keys[k]));
            if (had > 0 && had < 0.999 * want &&
                json_integer_value(json_object_get(run, "from_line")) <= set->count)
                snprintf(set->remark, sizeof set->remark, "%s (%g %s instead of %g)", set->name, had,
                         k ? "seconds" : "steps", want);
        }
    }
    json_decref(now);
}

/* Refuses references that were made for other instances. */
static invit_status check_provenance(const reference_file *f, const char *instances, json_t **out,
                                     invit_error *err)
{
    json_error_t why;
    json_t *all = inv_json_load_file(f->provenance, 0, &why);
    if (!all) return inv_fail(err, INVIT_ERR_INPUT, "%s:%d: %s", f->provenance, why.line, why.text);
    const char *theirs = json_string_value(json_object_get(all, "instances"));
    if (!theirs || !json_is_array(json_object_get(all, "runs")) || strcmp(theirs, instances) != 0) {
        invit_status status =
            inv_fail(err, INVIT_ERR_INPUT, "%s: these references are for other instances (%s, expected %s)",
                     f->provenance, theirs ? theirs : "not named", instances);
        json_decref(all);
        return status;
    }
    *out = all;
    return INVIT_OK;
}

static invit_status write_provenance(const reference_file *f, json_t *all, invit_error *err)
{
    inv_outfile *file = NULL;
    char *text = inv_json_text(all, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    if (!text) return inv_no_memory(err, 0);
    invit_status status = inv_outfile_open(f->provenance, &file, err);
    if (status == INVIT_OK) {
        inv_outfile_puts(file, text);
        inv_outfile_puts(file, "\n");
        status = inv_outfile_close(file, err);
    }
    free(text);
    return status;
}

/* Says in the companion, before the first new line is written, how the lines from there on are made. */
static invit_status record_search(const invit_eval_options *o, const reference_file *f, const inv_set *set,
                                  const char *instances, invit_error *err)
{
    json_t *all = NULL, *run = describe_search(o, set, f->count);
    invit_status status = INVIT_OK;
    if (access(f->provenance, F_OK) == 0)
        INV_TRY(check_provenance(f, instances, &all, err));
    else
        all = json_pack("{s:s, s:s, s:[]}", "set", set->name, "instances", instances, "runs");
    if (!all || !run) {
        status = inv_no_memory(err, 0);
        goto done;
    }
    json_t *runs = json_object_get(all, "runs");
    size_t n = json_array_size(runs);
    if (n > 0 && same_search(json_array_get(runs, n - 1), run)) goto done;
    status = json_array_append(runs, run) == 0 ? write_provenance(f, all, err) : inv_no_memory(err, 0);
done:
    json_decref(all);
    json_decref(run);
    return status;
}

/* ---- making ------------------------------------------------------------------------------------- */

typedef struct making {
    const invit_eval_options *o;
    inv_set *set;
    const char *path;
    FILE *file; /* rank 0; NULL: keep them in memory only */
    inv_effort effort;
    pthread_mutex_t lock;
    char **line;             /* [count] finished lines that wait for the ones before them */
    int32_t written;         /* lines in the file                                         */
    int32_t at, rank, ranks; /* this round's items are at + rank, at + rank + ranks, ...  */
} making;

static char *solution_line(const invit_instance *p, const invit_solution *s, double length, double seconds)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) return NULL;
    bool cvrp = p->problem == INVIT_CVRP;
    if (cvrp) fputs("0", f);
    for (int32_t r = 0; r < s->routes; r++) {
        for (int32_t i = s->start[r]; i < s->start[r + 1]; i++)
            fprintf(f, cvrp || i > 0 ? ",%d" : "%d", s->nodes[i]);
        if (cvrp && s->start[r + 1] > s->start[r]) fputs(",0", f);
    }
    char number[INV_DOUBLE_CHARS];
    fprintf(f, " %.*s %.3f\n", (int)inv_format_double(number, length), number, seconds);
    if (!inv_memory_stream_close(f, &text)) {
        free(text);
        return NULL;
    }
    return text;
}

/* Under the lock: writes the lines whose turn it is, and makes sure they are on disk. */
static invit_status write_ready(making *m, invit_error *err)
{
    bool any = false;
    while (m->written < m->set->count && m->line[m->written]) {
        if (m->file) fputs(m->line[m->written], m->file);
        free(m->line[m->written]);
        m->line[m->written++] = NULL;
        any = true;
    }
    if (any && m->file && (fflush(m->file) != 0 || fsync(fileno(m->file)) != 0))
        return inv_fail(err, INVIT_ERR_IO, "%s: cannot write: %s", m->path, strerror(errno));
    return INVIT_OK;
}

static invit_status make_one(void *context, int32_t item, invit_error *err)
{
    making *m = context;
    int32_t i = m->at + m->rank + item * m->ranks;
    const invit_instance *p = m->set->instance[i];
    invit_solution *s = NULL;
    invit_check_result check;
    inv_effort effort = m->effort;
    double length, start = inv_now();
    char *line = NULL;
    invit_status status;
    effort.seed = m->effort.seed + (uint64_t)i;
    INV_TRY(inv_near_optimal(p, &effort, m->o->control, &s, &length, err));
    INV_TRY(invit_check(p, s, &check, err));
    if (!check.feasible || fabs(check.length - length) > 1e-9 * length) {
        status =
            inv_fail(err, INVIT_ERR_INTERNAL, "%s: the reference of instance %d did not pass the check: %s",
                     m->set->name, i, check.message);
        goto done;
    }
    line = solution_line(p, s, check.length, inv_now() - start);
    if (!line) {
        status = inv_no_memory(err, (size_t)p->n * 8);
        goto done;
    }
    pthread_mutex_lock(&m->lock);
    m->set->reference[i] = check.length;
    m->line[i] = line;
    if (m->rank == 0) status = write_ready(m, err);
    pthread_mutex_unlock(&m->lock);
done:
    invit_solution_destroy(s);
    return status;
}

/* The lines of the other ranks go to rank 0, as "INDEX LENGTH LINE". */
static invit_status gather_lines(making *m, inv_comm *comm, int32_t end, invit_error *err)
{
    if (m->rank > 0) {
        char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);
        if (!f) return inv_no_memory(err, 0);
        for (int32_t i = m->at + m->rank; i < end; i += m->ranks) {
            fprintf(f, "%d %.17g %s", i, m->set->reference[i], m->line[i]);
            free(m->line[i]);
            m->line[i] = NULL;
        }
        bool whole = inv_memory_stream_close(f, &text);
        if (whole)
            inv_comm_send(comm, text, size + 1);
        else
            inv_comm_send(comm, "", 1); /* rank 0 waits for it */
        free(text);
        return whole ? INVIT_OK : inv_no_memory(err, size);
    }
    for (int from = 1; from < m->ranks; from++) {
        size_t bytes = inv_comm_receive_size(comm, from);
        char *text = malloc(bytes), *s = text;
        if (!text) return inv_no_memory(err, bytes);
        inv_comm_receive(comm, from, text, bytes);
        while (*s) {
            int32_t i = (int32_t)strtol(s, &s, 10);
            m->set->reference[i] = strtod(s, &s);
            char *next = strchr(s, '\n') + 1;
            m->line[i] = strndup(s + 1, (size_t)(next - s - 1));
            if (!m->line[i]) {
                free(text);
                return inv_no_memory(err, bytes);
            }
            s = next;
        }
        free(text);
    }
    return write_ready(m, err);
}

static invit_status make_references(const invit_eval_options *o, inv_comm *comm, reference_file *f,
                                    inv_set *set, invit_error *err)
{
    invit_status status = INVIT_OK;
    int threads = inv_threads(o->threads);
    int32_t missing = set->count - f->count;
    char stage[96];
    making m = {.o = o,
                .set = set,
                .path = f->path,
                .written = f->count,
                .rank = inv_comm_rank(comm),
                .ranks = inv_comm_size(comm)};
    pthread_mutex_init(&m.lock, NULL);
    m.effort = (inv_effort){
        .seconds = o->reference_seconds, .scale = o->reference_effort, .threads = 1, .seed = o->data_seed};
    /* With a time limit a lone instance may use all cores; with a number of steps the result must not
     * depend on them. */
    if (o->reference_seconds > 0 && missing < threads) m.effort.threads = threads / missing;
    m.line = calloc((size_t)set->count, sizeof *m.line);
    if (!m.line)
        status = inv_no_memory(err, (size_t)set->count * sizeof *m.line);
    else if (m.rank == 0 && f->path[0] && !(m.file = fopen(f->path, "a")))
        status = inv_fail(err, INVIT_ERR_IO, "%s: %s", f->path, strerror(errno));
    INV_TRY(inv_comm_agree(comm, status, err));
    snprintf(stage, sizeof stage, "references %s", set->name);
    /* Alone: one round for all. With others: rounds, so that what they find is on disk before the end. */
    int32_t round = m.ranks > 1 ? 8 * threads * m.ranks : missing;
    inv_comm_broadcast(comm, &round, sizeof round); /* others may have other numbers of cores */
    for (m.at = f->count; m.at < set->count; m.at += round) {
        int32_t end = m.at + round < set->count ? m.at + round : set->count;
        int32_t mine = (end - m.at - m.rank + m.ranks - 1) / m.ranks;
        status = inv_for_each(threads, 0, mine, make_one, &m, o->control, stage, NULL, err);
        INV_TRY(inv_comm_agree(comm, status, err));
        status = m.ranks > 1 ? gather_lines(&m, comm, end, err) : INVIT_OK;
        INV_TRY(inv_comm_agree(comm, status, err));
    }
done:
    if (m.file && fclose(m.file) != 0 && status == INVIT_OK)
        status = inv_fail(err, INVIT_ERR_IO, "%s: cannot write: %s", f->path, strerror(errno));
    for (int32_t i = 0; m.line && i < set->count; i++) free(m.line[i]);
    free(m.line);
    pthread_mutex_destroy(&m.lock);
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

/* Only one process at a time reads and adds to the references of a set; another one waits for its turn. A
 * file that cannot be written to needs no lock. */
static invit_status lock_references(const invit_eval_options *o, reference_file *f, invit_error *err)
{
    f->lock = open(f->path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (f->lock < 0) return INVIT_OK;
    double from = inv_now();
    while (flock(f->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return INVIT_OK; /* a file system without locks */
        if (inv_cancelled(o->control))
            return inv_fail(err, INVIT_ERR_CANCELLED, "stopped while waiting for %s", f->path);
        if (o->control && o->control->progress) {
            invit_progress p = {.stage = "waiting",
                                .elapsed = inv_now() - from,
                                .best = NAN,
                                .message = "another run makes these references"};
            o->control->progress(o->control->user, &p);
        }
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return INVIT_OK;
}

/* Instances that are all solved already were measured against references that the results name: these need
 * not be made again where the file is not at hand. */
static bool take_from_results(inv_journal *results, inv_set *set, int32_t from)
{
    if (!results) return false;
    for (int32_t i = from; i < set->count; i++) {
        char name[INV_INSTANCE_NAME];
        inv_instance_name(i, name);
        const inv_outcome *x = inv_journal_find(results, set->name, name);
        if (!x || !(x->reference > 0)) return false;
        set->reference[i] = x->reference;
    }
    return true;
}

/* On rank 0: what the file holds, and whether it may grow. */
static invit_status open_references(const invit_eval_options *o, inv_journal *results, inv_journal *earlier,
                                    reference_file *f, inv_set *set, invit_error *err)
{
    struct stat st;
    char instances[64];
    snprintf(instances, sizeof instances, "first instance %016llx",
             (unsigned long long)fingerprint(set->instance[0]));
    snprintf(f->path, sizeof f->path, "%s/%s.sol.txt", o->dir, set->name);
    snprintf(f->provenance, sizeof f->provenance, "%s/%s.sol.json", o->dir, set->name);
    if (stat(o->dir, &st) != 0 && mkdir(o->dir, 0777) != 0 && errno != EEXIST)
        return inv_fail(err, INVIT_ERR_IO, "%s: %s", o->dir, strerror(errno));
    INV_CHECK(lock_references(o, f, err));
    bool there = stat(f->path, &st) == 0 && st.st_size > 0, documented = access(f->provenance, F_OK) == 0;
    if (documented) {
        json_t *all = NULL;
        INV_CHECK(check_provenance(f, instances, &all, err));
        compare_effort(o, all, set);
        json_decref(all);
    }
    if (there && documented) INV_CHECK(drop_partial_line(f, err));
    if (there) INV_CHECK(read_references(f, set, err));
    if (f->count < set->count &&
        (take_from_results(results, set, f->count) || take_from_results(earlier, set, f->count)))
        f->count = set->count;
    if (f->count == set->count) return INVIT_OK;
    if (there && !documented)
        return inv_fail(err, INVIT_ERR_INPUT,
                        "%s: %d references, expected %d (use --limit, or add the missing ones)", f->path,
                        f->count, set->count);
    return record_search(o, f, set, instances, err);
}

invit_status inv_references_read(const invit_eval_options *o, inv_journal **out, invit_error *err)
{
    char sets[64];
    INV_CHECK(inv_journal_read(o->references, out, err));
    const char *key = inv_journal_key(*out);
    size_t length =
        (size_t)snprintf(sets, sizeof sets, "msvdrp data-seed=%llu ", (unsigned long long)o->data_seed);
    if (strncmp(key, sets, length) == 0) return INVIT_OK;
    return inv_fail(err, INVIT_ERR_INPUT,
                    "%s: expected results of 'invit eval msvdrp' with --data-seed %llu, found those of '%s'",
                    o->references, (unsigned long long)o->data_seed, key);
}

invit_status inv_references(const invit_eval_options *o, inv_comm *comm, inv_journal *results,
                            inv_journal *earlier, inv_set *set, invit_error *err)
{
    reference_file f = {.count = 0, .lock = -1};
    invit_status status =
        o->dir && inv_comm_rank(comm) == 0 ? open_references(o, results, earlier, &f, set, err) : INVIT_OK;
    INV_TRY(inv_comm_agree(comm, status, err));
    inv_comm_broadcast(comm, &f.count, sizeof f.count);
    if (f.count < set->count) INV_TRY(make_references(o, comm, &f, set, err));
    inv_comm_broadcast(comm, set->reference, (size_t)set->count * sizeof *set->reference);
done:
    if (f.lock >= 0) close(f.lock);
    return status;
}
