/* One CSV line per evaluated instance, synced as it is written. */
#include "lab/eval/eval_journal.h"

#include "base/formula.h"
#include "base/lines.h"
#include "base/outfile.h"
#include "lab/eval/tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char header[] = "set,instance,nodes,length,reference,gap,seconds,decisions,error";
static const char mark[] = "# invit eval: ";

struct inv_journal {
    char *path, *key;
    FILE *file; /* NULL: memory only, or read only */
    inv_outcome *item;
    int32_t count, room, next; /* next: where the last search ended */
};

double inv_gap_percent(double length, double reference)
{
    return reference > 0 ? 100 * (length - reference) / reference : NAN;
}

void inv_journal_close(inv_journal *j)
{
    if (!j) return;
    if (j->file) fclose(j->file);
    free(j->path);
    free(j->key);
    free(j->item);
    free(j);
}

const char *inv_journal_key(const inv_journal *j)
{
    return j->key;
}

int32_t inv_journal_count(const inv_journal *j)
{
    return j->count;
}

const inv_outcome *inv_journal_item(const inv_journal *j, int32_t i)
{
    return &j->item[i];
}

const inv_outcome *inv_journal_find(inv_journal *j, const char *set, const char *name)
{
    for (int32_t k = 0; k < j->count; k++) {
        int32_t i = (j->next + k) % j->count;
        if (strcmp(j->item[i].name, name) != 0 || strcmp(j->item[i].set, set) != 0) continue;
        j->next = i + 1;
        return &j->item[i];
    }
    return NULL;
}

static invit_status remember(inv_journal *j, const inv_outcome *o, invit_error *err)
{
    if (j->count == j->room) {
        int32_t room = j->room ? 2 * j->room : 64;
        inv_outcome *bigger = realloc(j->item, (size_t)room * sizeof *bigger);
        if (!bigger) return inv_no_memory(err, (size_t)room * sizeof *bigger);
        j->item = bigger;
        j->room = room;
    }
    j->item[j->count++] = *o;
    return INVIT_OK;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* The next field of a CSV line into `field`, or false when there is none. Fields may be quoted. */
static bool next_field(const char **at, char *field, size_t size)
{
    const char *s = *at;
    size_t n = 0;
    if (!s) return false;
    bool quoted = *s == '"';
    if (quoted) s++;
    for (; *s && (quoted || *s != ','); s++) {
        if (quoted && *s == '"') {
            if (s[1] != '"') {
                s++;
                break;
            }
            s++;
        }
        if (n + 1 < size) field[n++] = *s;
    }
    field[n] = 0;
    if (*field == '\'' && inv_is_quoted_formula(field)) memmove(field, field + 1, n); /* see inv_csv_field */
    *at = *s == ',' ? s + 1 : NULL;
    return true;
}

static bool read_number(const char *text, double *out)
{
    char *end;
    *out = NAN;
    if (!*text) return true;
    *out = strtod(text, &end);
    return !*end && isfinite(*out);
}

static bool parse_line(const char *line, inv_outcome *o)
{
    char field[9][256];
    const char *at = line;
    memset(o, 0, sizeof *o);
    for (int i = 0; i < 9; i++)
        if (!next_field(&at, field[i], sizeof field[i])) return false;
    double nodes, decisions;
    if (at || !read_number(field[2], &nodes) || !read_number(field[3], &o->length) ||
        !read_number(field[4], &o->reference) || !read_number(field[5], &o->gap) ||
        !read_number(field[6], &o->seconds) || !read_number(field[7], &decisions))
        return false;
    if (!(nodes >= 1 && nodes < INT32_MAX) || !(decisions >= 0 && decisions < 9e15)) return false;
    if (!(o->length > 0) && !field[8][0]) return false;
    if (strlen(field[0]) >= sizeof o->set || strlen(field[1]) >= sizeof o->name) return false;
    strcpy(o->set, field[0]);
    strcpy(o->name, field[1]);
    strcpy(o->error, field[8]);
    o->nodes = (int32_t)nodes;
    o->decisions = (int64_t)decisions;
    return true;
}

/* Reads what there is and returns in *complete the length of the file's complete lines. */
static invit_status read_lines(inv_journal *j, FILE *f, long *complete, invit_error *err)
{
    invit_status status = INVIT_OK;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int64_t number = 0;
    *complete = 0;
    while ((n = inv_getline(&line, &room, f)) > 0 && line[n - 1] == '\n') {
        number++;
        line[n - 1] = 0;
        inv_outcome o;
        if (number == 1) {
            if (strncmp(line, mark, sizeof mark - 1) != 0) {
                status =
                    inv_fail(err, INVIT_ERR_INPUT,
                             "%s:1: not a results file of invit eval (expected \"%s...\")", j->path, mark);
                goto done;
            }
            j->key = strdup(line + sizeof mark - 1);
            if (!j->key) {
                status = inv_no_memory(err, (size_t)n);
                goto done;
            }
        } else if (number == 2) {
            if (strcmp(line, header) != 0) {
                status = inv_fail(err, INVIT_ERR_INPUT, "%s:2: expected the columns %s", j->path, header);
                goto done;
            }
        } else if (parse_line(line, &o)) {
            INV_TRY(remember(j, &o, err));
        } else {
            status = inv_fail(err, INVIT_ERR_INPUT, "%s:%lld: expected the columns %s", j->path,
                              (long long)number, header);
            goto done;
        }
        *complete += n;
    }
    if (n < 0) status = inv_lines_ended(f, j->path, number + 1, err);
done:
    free(line);
    return status;
}

static invit_status new_journal(const char *path, inv_journal **out, invit_error *err)
{
    inv_journal *j = calloc(1, sizeof *j);
    if (j && path) j->path = strdup(path);
    if (!j || (path && !j->path)) {
        inv_journal_close(j);
        return inv_no_memory(err, sizeof *j);
    }
    *out = j;
    return INVIT_OK;
}

invit_status inv_journal_read(const char *path, inv_journal **out, invit_error *err)
{
    inv_journal *j = NULL;
    invit_status status = INVIT_OK;
    long complete;
    FILE *f = fopen(path, "r");
    if (!f) return inv_fail(err, INVIT_ERR_IO, "%s: %s", path, strerror(errno));
    INV_TRY(new_journal(path, &j, err));
    INV_TRY(read_lines(j, f, &complete, err));
    if (!j->key) status = inv_fail(err, INVIT_ERR_INPUT, "%s: empty, expected results of invit eval", path);
done:
    fclose(f);
    if (status == INVIT_OK)
        *out = j;
    else
        inv_journal_close(j);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void put_number(FILE *f, double x, const char *format)
{
    fputc(',', f);
    if (isfinite(x)) fprintf(f, format, x);
}

static invit_status sync_file(inv_journal *j, invit_error *err)
{
    bool bad = ferror(j->file) || fflush(j->file) != 0;
    if (!bad && fsync(fileno(j->file)) != 0 && errno != EINVAL && errno != EROFS)
        bad = true; /* a pipe has no disk */
    return bad ? inv_fail(err, INVIT_ERR_IO, "%s: cannot write: %s", j->path, strerror(errno)) : INVIT_OK;
}

static void put_outcome(FILE *f, const inv_outcome *o)
{
    char error[sizeof o->error];
    memcpy(error, o->error, sizeof error); /* on one line: names of files may hold line ends */
    for (char *at = error; *at; at++)
        if (*at == '\n') *at = ' ';
    inv_csv_field(f, o->set);
    fputc(',', f);
    inv_csv_field(f, o->name);
    fprintf(f, ",%d", o->nodes);
    put_number(f, o->length, "%.12g");
    put_number(f, o->reference, "%.12g");
    put_number(f, o->gap, "%.6f");
    put_number(f, o->seconds, "%.6f");
    fprintf(f, ",%lld,", (long long)o->decisions);
    inv_csv_field(f, error);
    fputc('\n', f);
}

invit_status inv_journal_add(inv_journal *j, const inv_outcome *o, invit_error *err)
{
    INV_CHECK(remember(j, o, err));
    if (!j->file) return INVIT_OK;
    put_outcome(j->file, o);
    return sync_file(j, err);
}

/* ---- going on ----------------------------------------------------------------------------------- */

/* 1: names the TSP model, 2: the CVRP model, 0: something else. */
static int names_model(const char *word)
{
    if (strncmp(word, "tsp-model=", 10) == 0) return 1;
    return strncmp(word, "cvrp-model=", 11) == 0 ? 2 : 0;
}

/* The words of both keys into `merged`. A model that only one of them names fits: a run over one problem may
 * go on with the other. False when they differ otherwise; then *theirs and *ours are left at the first such
 * words. */
static bool merge_keys(const char **theirs, const char **ours, char *merged)
{
    *merged = 0;
    while (**theirs || **ours) {
        size_t m = strcspn(*theirs, " "), n = strcspn(*ours, " ");
        int a = names_model(*theirs), b = names_model(*ours);
        bool same = m == n && strncmp(*theirs, *ours, m) == 0, mine = b && (!a || b < a),
             other = a && (!b || a < b);
        if (!same && !mine && !other) return false;
        if (*merged) strcat(merged, " ");
        if (mine)
            strncat(merged, *ours, n);
        else
            strncat(merged, *theirs, m);
        if (same || other) *theirs += m + ((*theirs)[m] == ' ');
        if (same || mine) *ours += n + ((*ours)[n] == ' ');
    }
    return true;
}

/* Puts the whole journal into a new file, which then takes the old one's name. */
static invit_status rewrite(const inv_journal *j, invit_error *err)
{
    char *text = NULL;
    size_t size = 0;
    inv_outfile *file = NULL;
    FILE *f = open_memstream(&text, &size);
    if (!f) return inv_no_memory(err, 0);
    fprintf(f, "%s%s\n%s\n", mark, j->key, header);
    for (int32_t i = 0; i < j->count; i++) put_outcome(f, &j->item[i]);
    invit_status status =
        inv_memory_stream_close(f, &text) ? inv_outfile_open(j->path, &file, err) : inv_no_memory(err, size);
    if (status == INVIT_OK) {
        inv_outfile_write(file, text, size);
        status = inv_outfile_close(file, err);
    }
    free(text);
    return status;
}

/* Takes over what the file holds, if it is there. */
static invit_status take_over(inv_journal *j, const char *key, long *complete, invit_error *err)
{
    FILE *f = fopen(j->path, "r");
    if (!f)
        return errno == ENOENT ? INVIT_OK : inv_fail(err, INVIT_ERR_IO, "%s: %s", j->path, strerror(errno));
    invit_status status = read_lines(j, f, complete, err);
    fclose(f);
    if (status != INVIT_OK || !j->key) return status;
    int32_t kept = 0; /* what failed is tried again */
    for (int32_t i = 0; i < j->count; i++)
        if (!j->item[i].error[0]) j->item[kept++] = j->item[i];
    j->count = kept;
    char *merged = malloc(strlen(j->key) + strlen(key) + 2);
    if (!merged) return inv_no_memory(err, strlen(key));
    const char *theirs = j->key, *ours = key;
    if (!merge_keys(&theirs, &ours, merged)) {
        status =
            inv_fail(err, INVIT_ERR_INPUT,
                     "%s holds results of another run: %.*s there, %.*s here; remove it or name another file",
                     j->path, (int)strcspn(theirs, " "), theirs, (int)strcspn(ours, " "), ours);
        free(merged);
        return status;
    }
    bool more = strcmp(merged, j->key) != 0;
    free(j->key);
    j->key = merged;
    if (!more) return INVIT_OK;
    INV_CHECK(rewrite(j, err));
    struct stat st;
    if (stat(j->path, &st) != 0) return inv_fail(err, INVIT_ERR_IO, "%s: %s", j->path, strerror(errno));
    *complete = (long)st.st_size;
    return INVIT_OK;
}

/* Results are dear: a file that holds something is not overwritten. */
static invit_status refuse_existing(const char *path, invit_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) return INVIT_OK;
    return inv_fail(err, INVIT_ERR_INPUT,
                    "%s exists: go on with it (--resume), remove it or name another file", path);
}

invit_status inv_journal_open(const char *path, const char *key, bool resume, inv_journal **out,
                              invit_error *err)
{
    inv_journal *j = NULL;
    invit_status status = INVIT_OK;
    long complete = 0;
    INV_TRY(new_journal(path, &j, err));
    if (path) INV_TRY(resume ? take_over(j, key, &complete, err) : refuse_existing(path, err));
    if (!j->key && !(j->key = strdup(key))) {
        status = inv_no_memory(err, strlen(key));
        goto done;
    }
    bool fresh =
        complete < (long)(sizeof mark + strlen(j->key) + sizeof header); /* not even two whole lines */
    if (!path) goto done;
    j->file = fopen(path, fresh ? "w" : "r+");
    if (!j->file ||
        (!fresh && (ftruncate(fileno(j->file), complete) != 0 || fseek(j->file, 0, SEEK_END) != 0))) {
        status = inv_fail(err, INVIT_ERR_IO, "%s: %s", path, strerror(errno));
        goto done;
    }
    if (fresh) fprintf(j->file, "%s%s\n%s\n", mark, j->key, header);
    status = sync_file(j, err);
done:
    if (status == INVIT_OK)
        *out = j;
    else
        inv_journal_close(j);
    return status;
}
