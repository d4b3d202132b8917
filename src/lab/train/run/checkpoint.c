/* Checkpoints: one file with everything a run needs to go on bit for bit.
 *
 * header | run state | parameters | average | baseline | first and second moments | per lane: generator, buffer |
 * checksum
 *
 * Numbers are in the machine's own order (the header tells little from big endian). With several ranks, rank
 * 0 collects the lanes and writes; when it reads, it hands the whole file round, so that another number of
 * ranks may go on.
 */
#include "lab/train/run/trainer.h"

#include "base/names.h"
#include "base/file.h"
#include "base/outfile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct header {
    char magic[8];
    uint32_t endian, state_bytes;
    uint64_t params;
    int32_t method, lanes, average, baseline;
    int32_t problem, dim, ff, heads, action_layers, state_layers, decoder_layers, action_k, state_views,
        state_k[INV_MAX_VIEWS], invariant, canonical_frame, unused;
} header;

static header make_header(const inv_trainer *t)
{
    const inv_config *c = &t->task.config;
    header h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, "INVITRN2", 8);
    h.endian = 0x01020304;
    h.state_bytes = (uint32_t)sizeof(inv_run_state);
    h.params = t->model->params;
    h.method = (int32_t)t->task.o->method;
    h.lanes = (int32_t)t->task.o->lanes;
    h.average = t->average != NULL;
    h.baseline = t->baseline != NULL;
    h.problem = (int32_t)c->problem;
    h.dim = c->dim;
    h.ff = c->ff;
    h.heads = c->heads;
    h.action_layers = c->action_layers;
    h.state_layers = c->state_layers;
    h.decoder_layers = c->decoder_layers;
    h.action_k = c->action_k;
    h.state_views = c->state_views;
    for (int32_t i = 0; i < c->state_views; i++) h.state_k[i] = c->state_k[i];
    h.invariant = c->invariant;
    h.canonical_frame = c->canonical_frame;
    return h;
}

/* A checksum of a stream, however it is cut into calls. */
typedef struct checksum {
    uint64_t sum;
    size_t held; /* bytes that do not make a word yet */
    char word[8];
} checksum;

static void mix_word(checksum *c, const char *word)
{
    uint64_t x;
    memcpy(&x, word, sizeof x);
    c->sum = (c->sum ^ x) * INV_GOLDEN_RATIO;
    c->sum ^= c->sum >> 29;
}

static void checksum_add(checksum *c, const void *bytes, size_t count)
{
    const char *p = bytes;
    while (count > 0 && (c->held > 0 || count < sizeof c->word)) {
        c->word[c->held++] = *p++;
        count--;
        if (c->held < sizeof c->word) continue;
        mix_word(c, c->word);
        c->held = 0;
    }
    for (; count >= sizeof c->word; count -= sizeof c->word, p += sizeof c->word) mix_word(c, p);
    while (count-- > 0) c->word[c->held++] = *p++;
}

static uint64_t checksum_end(checksum *c)
{
    memset(c->word + c->held, 0, sizeof c->word - c->held);
    mix_word(c, c->word);
    return c->sum ^ c->held;
}

static size_t lane_bytes(const inv_lane *lane)
{
    return sizeof lane->rng + sizeof(uint64_t) + inv_buffer_bytes(&lane->buffer);
}

static char *write_lane(const inv_lane *lane, char *at)
{
    uint64_t buffer = inv_buffer_bytes(&lane->buffer);
    memcpy(at, &lane->rng, sizeof lane->rng);
    memcpy(at + sizeof lane->rng, &buffer, sizeof buffer);
    inv_buffer_write(&lane->buffer, at + sizeof lane->rng + sizeof buffer);
    return at + lane_bytes(lane);
}

/* This rank's lanes as one block, with room for a piece of another rank's. */
static invit_status pack_lanes(const inv_trainer *t, char **block, size_t *size, invit_error *err)
{
    *size = 0;
    for (int32_t i = 0; i < t->lanes; i++) *size += lane_bytes(&t->lane[i]);
    size_t room = *size > INV_COMM_PIECE ? *size : INV_COMM_PIECE;
    *block = malloc(room);
    if (!*block) return inv_no_memory(err, room);
    char *at = *block;
    for (int32_t i = 0; i < t->lanes; i++) at = write_lane(&t->lane[i], at);
    return INVIT_OK;
}

typedef struct sink {
    inv_outfile *file;
    checksum sum;
} sink;

static void put(sink *s, const void *bytes, size_t count)
{
    inv_outfile_write(s->file, bytes, count);
    checksum_add(&s->sum, bytes, count);
}

static void put_arrays(sink *s, const inv_trainer *t)
{
    header h = make_header(t);
    size_t n = t->model->params * sizeof(float);
    put(s, &h, sizeof h);
    put(s, &t->s, sizeof t->s);
    put(s, t->model->param, n);
    if (t->average) put(s, t->average->param, n);
    if (t->baseline) put(s, t->baseline->param, n);
    put(s, t->moment1, n);
    put(s, t->moment2, n);
}

invit_status inv_checkpoint_write(inv_trainer *t, const char *path, invit_error *err)
{
    char *block = NULL;
    size_t size = 0;
    sink s = {0};
    invit_status status = inv_comm_agree(t->comm, pack_lanes(t, &block, &size, err), err);
    if (status != INVIT_OK) goto done;
    /* Room for the largest block of all, before anyone sends: a rank that waits cannot be told of a failure.
     */
    double room = (double)size;
    inv_comm_sum_doubles(t->comm, &room, 1);
    if (inv_comm_rank(t->comm) == 0 && room > (double)size) {
        char *more = realloc(block, (size_t)room);
        if (more)
            block = more;
        else
            status = inv_no_memory(err, (size_t)room);
    }
    status = inv_comm_agree(t->comm, status, err);
    if (status != INVIT_OK) goto done;
    if (inv_comm_rank(t->comm) != 0) {
        inv_comm_send(t->comm, block, size);
    } else {
        status = inv_outfile_open(path, &s.file, err);
        if (s.file) put_arrays(&s, t);
        if (s.file) put(&s, block, size);
        for (int r = 1; r < inv_comm_size(t->comm); r++)
            for (size_t left = inv_comm_receive_size(t->comm, r); left > 0;) {
                size_t count = left < INV_COMM_PIECE ? left : INV_COMM_PIECE;
                inv_comm_receive(t->comm, r, block, count);
                if (s.file) put(&s, block, count); /* else keep receiving: the sender waits */
                left -= count;
            }
        if (s.file) {
            uint64_t sum = checksum_end(&s.sum);
            inv_outfile_write(s.file, &sum, sizeof sum);
            status = inv_outfile_close(s.file, err);
        }
    }
    status = inv_comm_agree(t->comm, status, err);
done:
    free(block);
    return status;
}

typedef struct source {
    const char *at, *end;
} source;

static bool take(source *s, void *to, size_t count)
{
    if ((size_t)(s->end - s->at) < count) return false;
    memcpy(to, s->at, count);
    s->at += count;
    return true;
}

/* Says in which way a checkpoint belongs to another run. */
static invit_status check_header(const inv_trainer *t, const header *h, const char *path, invit_error *err)
{
    header mine = make_header(t);
    bool old = memcmp(h->magic, "INVITRUN", 8) == 0; /* up to version 0.1 */
    if (!old && memcmp(h->magic, mine.magic, sizeof h->magic) != 0)
        return inv_fail(err, INVIT_ERR_INPUT, "%s is not a checkpoint", path);
    if (old || h->endian != mine.endian || h->state_bytes != mine.state_bytes)
        return inv_fail(err, INVIT_ERR_UNSUPPORTED,
                        "%s was written by another version or on another kind of machine", path);
    if (h->problem != mine.problem)
        return inv_fail(err, INVIT_ERR_INPUT, "%s is of a %s run, this one is for %s", path,
                        inv_problem_name((invit_problem)h->problem),
                        inv_problem_name((invit_problem)mine.problem));
    if (h->state_views != mine.state_views || h->action_k != mine.action_k ||
        memcmp(h->state_k, mine.state_k, sizeof mine.state_k) != 0)
        return inv_fail(err, INVIT_ERR_INPUT, "%s has %d state view(s), k %d %d .., this run %d, k %d %d ..",
                        path, h->state_views, h->action_k, h->state_k[0], mine.state_views, mine.action_k,
                        mine.state_k[0]);
    if (memcmp(h, &mine, sizeof mine) != 0)
        return inv_fail(
            err, INVIT_ERR_INPUT,
            "%s does not fit this run's configuration (widths, layers, method, lanes or average differ)",
            path);
    return INVIT_OK;
}

static invit_status read_buffer(inv_buffer *b, const char *at, size_t size, const char *path,
                                invit_error *err)
{
    invit_error why;
    invit_status status = inv_buffer_read(b, at, size, &why);
    return status == INVIT_OK ? INVIT_OK : inv_fail(err, status, "%s: %s", path, why.message);
}

static invit_status read_lanes(inv_trainer *t, source *s, const char *path, invit_error *err)
{
    for (int32_t i = 0; i < (int32_t)t->task.o->lanes; i++) {
        inv_rng rng;
        uint64_t buffer;
        if (!take(s, &rng, sizeof rng) || !take(s, &buffer, sizeof buffer) ||
            (uint64_t)(s->end - s->at) < buffer)
            return inv_fail(err, INVIT_ERR_INPUT, "%s ends within lane %d", path, i);
        if (!(rng.s[0] | rng.s[1] | rng.s[2] | rng.s[3])) /* it would give zeros only, for ever */
            return inv_fail(err, INVIT_ERR_INPUT, "%s: lane %d has no state of its random numbers", path, i);
        if (i >= t->first_lane && i < t->first_lane + t->lanes) {
            inv_lane *lane = &t->lane[i - t->first_lane];
            lane->rng = rng;
            if (t->task.o->method == INVIT_IMITATE)
                INV_CHECK(read_buffer(&lane->buffer, s->at, (size_t)buffer, path, err));
        }
        s->at += buffer;
    }
    return s->at == s->end ? INVIT_OK
                           : inv_fail(err, INVIT_ERR_INPUT, "%s is longer than it should be", path);
}

static bool in_range(double x, double low, double high)
{
    return x >= low && x <= high; /* false for what is not a number */
}

static bool gap_or_none(double x)
{
    return isnan(x) || in_range(x, -1, 1e6);
}

/* What the run's numbers are used for: files' lengths, schedules, counts. */
static bool state_is_sound(const inv_run_state *s)
{
    const double most = 1e15, *tally = (const double *)&s->tally;
    const int64_t count[] = {s->step,  s->states, s->bad,       s->dropped,     s->updates,
                             s->epoch, s->swaps,  s->log_bytes, s->tally_steps, s->tally_updates};
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
        if (!in_range((double)count[i], 0, most)) return false;
    for (size_t i = 0; i < sizeof s->tally / sizeof *tally; i++)
        if (!isfinite(tally[i])) return false;
    return in_range(s->seconds, 0, most) && in_range(s->progress, 0, 1) && in_range(s->steps_left, 0, most) &&
           in_range(s->validated, -1, 2) && !isnan(s->best) && gap_or_none(s->small_gap) &&
           gap_or_none(s->large_gap) && !isinf(s->loss) && !isinf(s->accuracy) &&
           gap_or_none(s->small_best) && gap_or_none(s->large_best) && in_range(s->tally_norm, 0, most) &&
           in_range(s->tally_seconds, -most, most);
}

static bool take_floats(source *s, float *to, size_t count)
{
    if (!take(s, to, count * sizeof *to)) return false;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(to[i])) return false;
    return true;
}

size_t inv_checkpoint_head(const inv_trainer *t, char *bytes, size_t room)
{
    header h = make_header(t);
    if (bytes) memcpy(bytes, &h, room < sizeof h ? room : sizeof h);
    return sizeof h;
}

uint64_t inv_checkpoint_sum(const char *bytes, size_t size)
{
    checksum c = {0};
    checksum_add(&c, bytes, size);
    return checksum_end(&c);
}

invit_status inv_checkpoint_parse(inv_trainer *t, const char *bytes, size_t size, const char *path,
                                  invit_error *err)
{
    uint64_t sum;
    header h;
    if (size < sizeof h + sizeof sum)
        return inv_fail(err, INVIT_ERR_INPUT, "%s is too short for a checkpoint", path);
    source s = {bytes, bytes + size - sizeof sum};
    memcpy(&sum, s.end, sizeof sum);
    take(&s, &h, sizeof h);
    INV_CHECK(check_header(t, &h, path, err));
    size_t n = t->model->params * sizeof(float);
    if ((size_t)(s.end - s.at) < sizeof t->s + n * (size_t)(3 + h.average + h.baseline))
        return inv_fail(err, INVIT_ERR_INPUT, "%s is cut short", path);
    if (inv_checkpoint_sum(bytes, size - sizeof sum) != sum)
        return inv_fail(err, INVIT_ERR_INPUT, "%s is damaged: its checksum does not fit", path);
    inv_run_state state;
    take(&s, &state, sizeof state);
    if (!state_is_sound(&state))
        return inv_fail(err, INVIT_ERR_INPUT, "%s: a count, time or gap of the run is out of range", path);
    float *block[] = {t->model->param, t->average ? t->average->param : NULL,
                      t->baseline ? t->baseline->param : NULL, t->moment1, t->moment2};
    for (size_t i = 0; i < sizeof block / sizeof block[0]; i++)
        if (block[i] && !take_floats(&s, block[i], t->model->params))
            return inv_fail(err, INVIT_ERR_INPUT, "%s holds a weight that is not finite", path);
    INV_CHECK(read_lanes(t, &s, path, err));
    t->s = state;
    inv_prepared_refresh(t->train, t->model);
    inv_prepared_refresh(t->roll, t->model);
    if (t->baseline) inv_prepared_refresh(t->prepared_baseline, t->baseline);
    return INVIT_OK;
}

invit_status inv_checkpoint_read(inv_trainer *t, const char *path, invit_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    invit_status status = INVIT_OK;
    if (inv_comm_rank(t->comm) == 0) status = inv_read_file(path, SIZE_MAX - 1, &bytes, &size, err);
    status = inv_comm_agree(t->comm, status, err);
    if (status != INVIT_OK) goto done;
    inv_comm_broadcast(t->comm, &size, sizeof size);
    if (!bytes) bytes = malloc(size + 1);
    status = inv_comm_agree(t->comm, bytes ? INVIT_OK : inv_no_memory(err, size), err);
    if (status != INVIT_OK) goto done;
    inv_comm_broadcast(t->comm, bytes, size);
    status = inv_comm_agree(t->comm, inv_checkpoint_parse(t, bytes, size, path, err), err);
done:
    free(bytes);
    return status;
}
