/* Coordinates of a large file, a block of lines at a time: the threads count the lines of the block's parts, which says
 * where the numbers of each part go, and then read them. A block with anything out of the ordinary is left to the
 * reader that goes from word to word and knows what to say about it. */
#define _GNU_SOURCE
#include "base/number.h"
#include "base/parallel.h"
#include "problem/read.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { BLOCK = 4 << 20, LEAST = 1 << 20, PARTS_A_THREAD = 4, MOST_PARTS = 64 };

typedef struct part {
    const char *from, *to; /* whole lines */
    int64_t lines, first;  /* how many, and how many of the block come before */
} part;

typedef struct block_job {
    part part[MOST_PARTS];
    int parts;
    int64_t id; /* of the block's first line; -1: lines have none */
    double *xy; /* [lines][2] */
    atomic_int next;
    atomic_bool odd; /* there is something else than such lines in it */
} block_job;

static void count_lines(void *context, int member)
{
    block_job *job = context;
    (void)member;
    for (int i; (i = atomic_fetch_add(&job->next, 1)) < job->parts;) {
        part *w = &job->part[i];
        int64_t lines = 0;
        for (const char *c = w->from; c < w->to; c++) lines += *c == '\n';
        w->lines = lines;
    }
}

static const char *skip_blanks(const char *c)
{
    while (inv_is_blank(*c)) c++;
    return c;
}

/* The coordinate at c, and what follows it; NULL when it is none. */
static const char *read_coordinate(const char *c, char also, double *value)
{
    const char *after = inv_parse_double(c, value);
    if (!after || !(inv_is_blank(*after) || *after == '\n' || *after == also)) return NULL;
    return fabs(*value) <= INV_FARTHEST ? after : NULL;
}

/* "id x y", or "x y" or "x,y": the beginning of the next line; NULL when it is anything else. */
static const char *read_line(const char *c, int64_t id, double *xy)
{
    char comma = id < 0 ? ',' : ' ';
    int64_t found;
    c = skip_blanks(c);
    if (id >= 0) {
        c = inv_parse_int(c, &found);
        if (!c || found != id || !inv_is_blank(*c)) return NULL;
        c = skip_blanks(c);
    }
    c = read_coordinate(c, comma, &xy[0]);
    if (!c) return NULL;
    c = skip_blanks(c);
    if (id < 0 && *c == ',') c = skip_blanks(c + 1);
    c = read_coordinate(c, ' ', &xy[1]);
    if (!c) return NULL;
    c = skip_blanks(c);
    return *c == '\n' ? c + 1 : NULL;
}

static void read_parts(void *context, int member)
{
    block_job *job = context;
    (void)member;
    for (int i; (i = atomic_fetch_add(&job->next, 1)) < job->parts;) {
        const part *w = &job->part[i];
        const char *c = w->from;
        for (int64_t line = w->first; c && c < w->to && !job->odd; line++)
            c = read_line(c, job->id < 0 ? -1 : job->id + line, job->xy + 2 * line);
        if (!c) job->odd = true;
    }
}

/* Cuts [from, to), which ends with a line, into parts that do. */
static void cut_block(block_job *job, const char *from, const char *to, int parts)
{
    size_t each = (size_t)(to - from) / (size_t)parts + 1;
    job->parts = 0;
    while (from < to) {
        const char *end = (size_t)(to - from) <= each ? to : from + each;
        end = (const char *)memchr(end - 1, '\n', (size_t)(to - end) + 1) + 1;
        job->part[job->parts++] = (part){.from = from, .to = end};
        from = end;
    }
}

/* The lines up to `end`; *read says how many, 0 when they are not what they should be or more than `most`. */
static invit_status read_block(inv_points *p, const inv_text *t, const char *end, int64_t id, int64_t most,
                               int64_t *read, invit_error *err)
{
    block_job job = {.id = id};
    int64_t lines = 0;
    int parts = PARTS_A_THREAD * t->threads;
    *read = 0;
    cut_block(&job, t->at, end, parts < MOST_PARTS ? parts : MOST_PARTS);
    inv_parallel(t->threads, count_lines, &job);
    for (int i = 0; i < job.parts; i++) {
        job.part[i].first = lines;
        lines += job.part[i].lines;
    }
    if (lines > most) return INVIT_OK;
    while (p->n + lines > p->room) INV_CHECK(inv_points_grow(p, err));
    job.xy = p->xy + 2 * p->n;
    atomic_store(&job.next, 0);
    inv_parallel(t->threads, read_parts, &job);
    if (!job.odd) *read = lines;
    return INVIT_OK;
}

invit_status inv_points_read_blocks(inv_points *p, inv_text *t, int64_t id, int64_t most, invit_error *err)
{
    int64_t left = inv_text_left(t), read;
    if (t->threads < 2 || (left >= 0 && left < LEAST)) return INVIT_OK;
    INV_CHECK(inv_text_widen(t, BLOCK, err));
    do {
        inv_text_refill(t, BLOCK);
        const char *end = memrchr(t->at, '\n', (size_t)(t->end - t->at));
        if (!end) return INVIT_OK;
        end++;
        INV_CHECK(read_block(p, t, end, id, most, &read, err));
        if (read == 0) return INVIT_OK;
        p->n += read;
        t->line += read;
        t->at = end;
        most -= read;
        if (id >= 0) id += read;
    } while (!inv_text_at_end(t));
    return INVIT_OK;
}
