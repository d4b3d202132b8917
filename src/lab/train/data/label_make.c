/* Making label files: invit train label. */
#include "base/cancel.h"
#include "base/clock.h"
#include "base/outfile.h"
#include "base/parallel.h"
#include "base/thread_pool.h"
#include "lab/train/data/label_file.h"
#include "lab/train/data/mix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUND 256 /* instances between writes */

typedef struct maker {
    const invit_train_options *o;
    inv_mix mix;
    int64_t from; /* number of the round's first instance */
    inv_expert **expert;
    inv_demonstration *demonstration; /* one per thread */
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

static invit_status write_record(const invit_instance *p, const inv_demonstration *d, char **record,
                                 size_t *size, invit_error *err)
{
    size_t head = inv_label_head(p->problem, p->n);
    *size = head + 4 + 4 * (size_t)d->count;
    char *at = *record = malloc(*size);
    if (!at) return inv_no_memory(err, *size);
    at = put(at, &p->n, 4);
    int32_t capacity = (int32_t)p->capacity;
    if (p->demand) at = put(at, &capacity, 4);
    for (size_t k = 0; k < 2 * (size_t)p->n; k++) at = put(at, &(float){(float)p->xy[k]}, 4);
    if (p->demand) at = put(at, p->demand, 4 * (size_t)p->n);
    at = put(at, &d->count, 4);
    put(at, d->order, 4 * (size_t)d->count);
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
        status =
            inv_demonstration_solve(&m->demonstration[member], m->expert[member], p, m->o->effort, &rng, err);
    if (status == INVIT_OK)
        status = write_record(p, &m->demonstration[member], &m->record[item], &m->bytes[item], err);
    invit_instance_destroy(p);
    m->status[member] = status;
}

static invit_status make_round(maker *m, inv_thread_pool *pool, int count, inv_outfile *f, invit_error *err)
{
    inv_thread_pool_run(pool, count, make_item, m);
    invit_status status = INVIT_OK;
    for (int i = 0; i < inv_thread_pool_size(pool) && status == INVIT_OK; i++) {
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
    inv_thread_pool *pool = NULL;
    inv_outfile *f = NULL;
    int threads = inv_threads((int)o->threads), made = 0;
    double began = inv_now();
    invit_status status;
    INV_TRY(inv_mix_parse(&m.mix, o, err));
    INV_TRY(inv_thread_pool_create(threads, &pool, err));
    threads = inv_thread_pool_size(pool);
    m.expert = calloc((size_t)threads, sizeof *m.expert);
    m.demonstration = calloc((size_t)threads, sizeof *m.demonstration);
    m.status = calloc((size_t)threads, sizeof *m.status);
    m.error = calloc((size_t)threads, sizeof *m.error);
    if (!m.expert || !m.demonstration || !m.status || !m.error)
        INV_TRY(inv_no_memory(err, (size_t)threads * 2048));
    for (; made < threads; made++) {
        INV_TRY(inv_expert_create(&m.expert[made], err));
        INV_TRY(inv_demonstration_init(&m.demonstration[made], m.mix.largest, err));
    }
    INV_TRY(inv_outfile_open(path, &f, err));
    inv_outfile_write(f, inv_label_magic, sizeof inv_label_magic);
    inv_outfile_write(f, &(int32_t){(int32_t)o->problem}, 4);
    for (m.from = 0; m.from < count; m.from += ROUND) {
        int64_t left = count - m.from;
        INV_TRY(make_round(&m, pool, (int)(left < ROUND ? left : ROUND), f, err));
        if (control && control->progress)
            control->progress(control->user, &(invit_progress){.stage = "label",
                                                               .elapsed = inv_now() - began,
                                                               .fraction = (double)m.from / (double)count,
                                                               .best = NAN,
                                                               .count = m.from});
        if (inv_cancelled(control))
            INV_TRY(inv_fail(err, INVIT_ERR_CANCELLED, "stopped; no label file was written"));
    }
    status = inv_outfile_close(f, err);
    f = NULL;
done:
    inv_outfile_abandon(f);
    inv_thread_pool_destroy(pool);
    for (int i = 0; i < threads && m.demonstration && m.expert; i++) {
        inv_demonstration_destroy(&m.demonstration[i]);
        inv_expert_destroy(m.expert[i]);
    }
    free(m.expert);
    free(m.demonstration);
    free(m.status);
    free(m.error);
    return status;
}
