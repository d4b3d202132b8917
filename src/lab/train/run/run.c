/* A run: the loop over steps, and the directory that holds its configuration, log, checkpoint and best
 * weights. */
#include "lab/train/run/trainer.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/json_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BAD_STEPS 3 /* dropped in a row before the run gives up                     */
/* Validations after the one at the start, unless --validations says: with --steps; with --minutes one every so many. */
#define VALIDATIONS        10
#define VALIDATION_MINUTES 6
#define LEAST_VALIDATIONS  2
#define MOST_VALIDATIONS   100
#define FIRST_CHECKPOINT   0.25 /* seconds, so that the schedule soon is planned from a measured rate */
#define ENDED              2.0  /* s.validated when the bound was reached and what is left validated */

typedef struct run {
    inv_trainer *t;
    bool writer; /* rank 0 keeps the files */
    char config[1100], log[1100], checkpoint[1100], best[1100], last[1100], lengths[1100], lock[1100];
    char command[1024]; /* that began the run, when this session resumes it */
    int log_fd, lock_fd;
    int64_t validations;
    double saved;          /* s.seconds at the last checkpoint of this session */
    double logged;         /* inv_now() at the last line of the log            */
    double reported;       /* inv_now() at the last progress report            */
    double session_start;  /* s.seconds when the session began                 */
    int64_t session_steps; /* s.step when the session began                    */
    double filled;         /* s.seconds after the session's first step         */
} run;

/* ---- files --------------------------------------------------------------------------------------------- */

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static invit_status make_directory(const char *path, invit_error *err)
{
    char part[1024];
    snprintf(part, sizeof part, "%s", path);
    for (char *s = part + 1; *s; s++) {
        if (*s != '/') continue;
        *s = 0;
        mkdir(part, 0777); /* parents; the last one below tells */
        *s = '/';
    }
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
        return inv_fail(err, INVIT_ERR_IO, "%s: cannot make the run's directory: %s", path, strerror(errno));
    return INVIT_OK;
}

static void name_files(run *r, const char *directory)
{
    const char *names[] = {"config",           "log.jsonl",       "checkpoint", "best.safetensors",
                           "last.safetensors", "validation.json", "lock"};
    char *paths[] = {r->config, r->log, r->checkpoint, r->best, r->last, r->lengths, r->lock};
    for (int i = 0; i < 7; i++) snprintf(paths[i], sizeof r->config, "%s/%s", directory, names[i]);
}

static invit_status lock_directory(run *r, invit_error *err)
{
    r->lock_fd = open(r->lock, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (r->lock_fd < 0) return inv_fail(err, INVIT_ERR_IO, "%s: %s", r->lock, strerror(errno));
    for (int tries = 0; flock(r->lock_fd, LOCK_EX | LOCK_NB) != 0;
         tries++) { /* one that was killed may linger */
        if (tries == 50)
            return inv_fail(err, INVIT_ERR_ARGUMENT, "%s: another process is training in this directory",
                            r->lock);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return INVIT_OK;
}

static invit_status open_log(run *r, int64_t keep, invit_error *err)
{
    struct stat st;
    if (stat(r->log, &st) == 0 && st.st_size < keep)
        keep = (int64_t)st.st_size; /* never longer than it was */
    r->log_fd = open(r->log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0666);
    /* lines after the checkpoint will be written again */
    if (r->log_fd < 0 || ftruncate(r->log_fd, keep) != 0)
        return inv_fail(err, INVIT_ERR_IO, "%s: %s", r->log, strerror(errno));
    return INVIT_OK;
}

static invit_status log_line(run *r, const char *line, invit_error *err)
{
    size_t length = strlen(line);
    r->t->s.log_bytes += (int64_t)length;
    if (!r->writer) return INVIT_OK;
    ssize_t wrote = write(r->log_fd, line, length);
    if (wrote != (ssize_t)length)
        return inv_fail(err, INVIT_ERR_IO, "%s: %s; the last checkpoint is intact", r->log,
                        wrote < 0 ? strerror(errno) : "disk full");
    return INVIT_OK;
}

/* ---- the log ------------------------------------------------------------------------------------------- */

/* One object per line. */
typedef struct entry {
    inv_json json;
    size_t length;
    char text[1024];
} entry;

static void append(void *to, const char *bytes, size_t count)
{
    entry *e = to;
    if (count >= sizeof e->text - e->length) return;
    memcpy(e->text + e->length, bytes, count);
    e->length += count;
}

static void entry_begin(entry *e)
{
    e->length = 0;
    e->json = (inv_json){.sink = append, .to = e, .gap = "", .end = "\n"};
    inv_json_open(&e->json, NULL, '{');
}

/* Numbers that are not finite are left out. */
static void field(entry *e, const char *name, double value, const char *format)
{
    char number[64];
    if (!isfinite(value)) return;
    snprintf(number, sizeof number, format, value);
    inv_json_literal(&e->json, name, number);
}

static const char *entry_end(entry *e)
{
    inv_json_close(&e->json);
    e->text[e->length] = 0;
    return e->text;
}

/* Over what the tally holds. Imitation: a state's mean cross-entropy and accuracy; REINFORCE: a step's mean loss. */
static void mean_loss(const inv_run_state *s, bool reinforce, double *loss, double *accuracy)
{
    const inv_tally *a = &s->tally;
    double labelled = a->states - a->q_states;
    *loss = reinforce ? a->loss / (double)s->tally_steps : a->loss / labelled;
    *accuracy = reinforce ? NAN : a->right / labelled;
}

static invit_status log_progress(run *r, invit_error *err)
{
    inv_run_state *s = &r->t->s;
    const inv_tally *a = &s->tally;
    double now = inv_now(), seconds = now - r->logged + s->tally_seconds;
    bool reinforce = r->t->task.o->method == INVIT_REINFORCE;
    entry e;
    entry_begin(&e);
    mean_loss(s, reinforce, &s->loss, &s->accuracy);
    field(&e, "step", (double)s->step, "%.0f");
    field(&e, "seconds", s->seconds, "%.1f");
    field(&e, "states", (double)s->states, "%.0f");
    field(&e, "rate", a->states / seconds, "%.0f");
    if (reinforce) {
        field(&e, "loss", s->loss, "%.5f");
        field(&e, "length", a->length / a->rollouts, "%.5f");
        field(&e, "baseline", a->baseline / a->rollouts, "%.5f");
        field(&e, "epoch", (double)s->epoch, "%.0f");
        field(&e, "swaps", (double)s->swaps, "%.0f");
        field(&e, "spread", sqrt(a->spread / a->rollouts), "%.5f");
        if (a->credits > 0) field(&e, "credit", sqrt(a->credit / a->credits), "%.5f");
        if (a->again > 0) field(&e, "clipped", a->clipped / a->again, "%.3f");
    } else {
        field(&e, "loss", s->loss, "%.4f");
        field(&e, "accuracy", s->accuracy, "%.4f");
        field(&e, "skipped", a->skipped / a->seen, "%.4f");
        if (a->q_states > 0) field(&e, "q_states", a->q_states / a->states, "%.3f");
        if (a->q_states > 0) field(&e, "q_regret", a->q_regret / a->q_states, "%.4f");
    }
    field(&e, "lr", r->t->lr, "%.3e");
    field(&e, "norm", s->tally_norm / (double)s->tally_updates, "%.3f");
    if (s->dropped > 0) field(&e, "dropped", (double)s->dropped, "%.0f");
    s->tally = (inv_tally){0};
    s->tally_norm = s->tally_seconds = 0;
    s->tally_steps = s->tally_updates = 0;
    r->logged = now;
    return log_line(r, entry_end(&e), err);
}

static invit_status log_validation(run *r, double cost, invit_error *err)
{
    const inv_run_state *s = &r->t->s;
    entry e;
    entry_begin(&e);
    field(&e, "step", (double)s->step, "%.0f");
    field(&e, "seconds", s->seconds, "%.1f");
    bool tsp = r->t->task.o->problem == INVIT_TSP;
    field(&e, "gap_100", s->small_gap, "%.5f");
    field(&e, "gap_100_best16", s->small_best, "%.5f");
    field(&e, tsp ? "gap_1000" : "gap_500", s->large_gap, "%.5f");
    field(&e, tsp ? "gap_1000_best16" : "gap_500_best16", s->large_best, "%.5f");
    field(&e, "cost", cost, "%.1f");
    return log_line(r, entry_end(&e), err);
}

/* What the published curves show: the best of an instance's copies after each epoch. */
static invit_status log_epoch(run *r, const inv_epoch *mean, invit_error *err)
{
    const inv_run_state *s = &r->t->s;
    entry e;
    entry_begin(&e);
    field(&e, "step", (double)s->step, "%.0f");
    field(&e, "seconds", s->seconds, "%.1f");
    field(&e, "epoch", (double)s->epoch, "%.0f");
    field(&e, "swaps", (double)s->swaps, "%.0f");
    field(&e, "epoch_model", mean->model, "%.5f");
    field(&e, "epoch_baseline", mean->baseline, "%.5f");
    return log_line(r, entry_end(&e), err);
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

/* Seconds that are left, by the bound and the rate of this session. */
static double time_left(const run *r)
{
    const inv_run_state *s = &r->t->s;
    const invit_train_options *o = r->t->task.o;
    if (o->steps == 0) return fmax(0, 60 * o->minutes - s->seconds);
    double done = (double)(s->step - r->session_steps);
    return done > 0 ? (double)(o->steps - s->step) * (s->seconds - r->session_start) / done : NAN;
}

static void report(run *r, bool now)
{
    inv_trainer *t = r->t;
    const invit_control *c = t->control;
    if (!r->writer || !c || !c->progress) return;
    double time = inv_now();
    if (!now && time < r->reported + 0.5) return;
    r->reported = time;
    const inv_run_state *s = &t->s;
    const invit_train_options *o = t->task.o;
    char text[256];
    double n = fmax(1, s->tally.states - s->tally.q_states), rollouts = fmax(1, s->tally.rollouts);
    double rate = s->tally.states / fmax(1e-3, time - r->logged + s->tally_seconds);
    /* the stage, the time and the percentage before it take 25 columns of the 80 */
    int at =
        snprintf(text, sizeof text, "%.0f min, step %lld", fmax(0, time_left(r) / 60), (long long)s->step);
    if (s->tally_steps > 0 && o->method == INVIT_IMITATE)
        at += snprintf(text + at, sizeof text - (size_t)at, ", loss %.2f", s->tally.loss / n);
    if (s->tally_steps > 0 && o->method == INVIT_REINFORCE)
        at += snprintf(text + at, sizeof text - (size_t)at, ", length %.3g", s->tally.length / rollouts);
    if (!isnan(s->small_gap))
        at += snprintf(text + at, sizeof text - (size_t)at, ", gap %.1f %%", 100 * s->small_gap);
    if (s->tally_steps > 0) snprintf(text + at, sizeof text - (size_t)at, ", %.0f/s", rate);
    double fraction = o->steps > 0 ? (double)s->step / (double)o->steps : s->seconds / (60 * o->minutes);
    c->progress(c->user, &(invit_progress){.stage = "train",
                                           .elapsed = s->seconds,
                                           .fraction = fmin(1, fraction),
                                           .best = NAN,
                                           .count = s->step,
                                           .message = text});
}

/* With where they come from in the metadata, for `invit info`. */
static invit_status save_weights(const run *r, struct invit_model *m, const char *path, invit_error *err)
{
    const invit_train_options *o = r->t->task.o;
    char steps[32];
    snprintf(steps, sizeof steps, "%lld", (long long)r->t->s.step);
    json_t *about =
        json_pack("{s:s, s:s, s:s, s:s, s:s}", "program", "invit", "version", invit_version(), "run", o->run,
                  "steps", steps, "command", r->command[0] ? r->command : o->command);
    char *text = about ? inv_json_text(about, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    json_decref(about);
    if (!text) return inv_no_memory(err, sizeof o->command);
    free(m->metadata);
    m->metadata = text;
    return invit_model_save(m, path, err);
}

/* Keeps the weights that validation looked at, when they are the best so far. A validation that is cancelled
 * has not been; the run that is resumed makes it. */
static invit_status validate(run *r, double progress, invit_error *err)
{
    inv_trainer *t = r->t;
    inv_run_state *s = &t->s;
    double began = inv_now();
    bool any = t->task.o->validate_small + t->task.o->validate_large > 0;
    if (any) INV_CHECK(inv_validate(t, err));
    double cost = inv_now() - began;
    s->tally_seconds -= cost; /* the log's rate is that of training alone */
    if (any && inv_train_cancelled(t)) return INVIT_OK;
    s->validated = progress;
    if (!any) return INVIT_OK;
    double score = 0;
    if (!isnan(s->small_gap)) score += s->small_gap;
    if (!isnan(s->large_gap)) score += s->large_gap;
    INV_CHECK(log_validation(r, cost, err));
    if (!(score < s->best)) return INVIT_OK;
    s->best = score;
    return r->writer ? save_weights(r, t->judged, r->best, err) : INVIT_OK;
}

static invit_status save(run *r, invit_error *err)
{
    inv_trainer *t = r->t;
    inv_run_state *s = &t->s;
    /* Plan anew from the rate so far, without the first step, which fills the buffers; the plan is part of the
     * checkpoint. */
    int64_t steps = s->step - r->session_steps - 1;
    if (t->task.o->steps == 0 && steps > 0) {
        double rate = (double)steps / fmax(1e-3, s->seconds - r->filled);
        s->steps_left = fmax(1, floor(rate * (60 * t->task.o->minutes - s->seconds)));
    }
    double waited = inv_now() - r->logged; /* the log's clock stops with the session */
    s->tally_seconds += waited;
    r->logged = inv_now();
    r->saved = s->seconds;
    return inv_checkpoint_write(t, r->checkpoint, err);
}

typedef struct decision {
    double seconds;
    int stop, save, finished;
} decision;

/* Rank 0's clock decides for all. */
static decision decide(run *r)
{
    inv_trainer *t = r->t;
    decision d = {.seconds = inv_now() - t->session};
    /* soon at first, then ever less often */
    double wait = fmin(t->task.o->checkpoint, fmax(FIRST_CHECKPOINT, r->saved - r->session_start));
    d.stop = inv_cancelled(t->control);
    d.save = d.seconds >= r->saved + wait;
    d.finished = t->task.o->steps > 0 ? t->s.step >= t->task.o->steps : d.seconds >= 60 * t->task.o->minutes;
    inv_comm_broadcast(t->comm, &d, sizeof d);
    return d;
}

static bool validation_due(const run *r)
{
    const inv_run_state *s = &r->t->s;
    return floor(s->progress * (double)r->validations) > floor(s->validated * (double)r->validations);
}

static invit_status end_epoch(run *r, invit_error *err)
{
    inv_epoch mean;
    INV_CHECK(inv_end_epoch(r->t, &mean, err));
    return isnan(mean.model) ? INVIT_OK : log_epoch(r, &mean, err);
}

static invit_status train(run *r, bool *finished, invit_error *err)
{
    inv_trainer *t = r->t;
    inv_run_state *s = &t->s;
    decision d = decide(r);
    if (validation_due(r) && !d.finished && !d.stop) { /* one that was cancelled */
        INV_CHECK(validate(r, s->progress, err));
        d.stop = inv_train_cancelled(t);
    }
    while (!d.finished && !d.stop) {
        int64_t dropped = s->dropped;
        INV_CHECK(inv_step(t, err));
        if (s->dropped > dropped) {
            entry e;
            entry_begin(&e);
            field(&e, "step", (double)s->step, "%.0f");
            inv_json_string(&e.json, "event", "dropped: loss or gradient not finite");
            INV_CHECK(log_line(r, entry_end(&e), err));
        }
        if (s->bad >= BAD_STEPS)
            return inv_fail(err, INVIT_ERR_INTERNAL,
                            "loss or gradient was not finite %d times in a row (step %lld); the last good "
                            "checkpoint is %s",
                            BAD_STEPS, (long long)s->step, r->checkpoint);
        d = decide(r);
        s->seconds = d.seconds;
        if (s->step == r->session_steps + 1) r->filled = s->seconds;
        if (t->task.o->method == INVIT_REINFORCE && s->step % t->task.o->epoch == 0)
            INV_CHECK(end_epoch(r, err));
        if (s->step % t->task.o->log_every == 0 && s->tally_steps > 0) INV_CHECK(log_progress(r, err));
        if (validation_due(r) && !d.finished) {
            INV_CHECK(validate(r, s->progress, err));
            d.save = true;
            d.stop |= inv_train_cancelled(t);
        }
        if (d.save && s->bad == 0) INV_CHECK(save(r, err));
        report(r, false);
    }
    *finished = d.finished;
    return INVIT_OK;
}

static invit_status finish(run *r, bool *finished, invit_error *err)
{
    inv_trainer *t = r->t;
    if (*finished && t->s.validated < ENDED) { /* once: a finished run that is resumed has nothing to do */
        if (t->s.tally_steps > 0) INV_CHECK(log_progress(r, err));
        INV_CHECK(validate(r, ENDED, err));
        *finished = t->s.validated >= ENDED;
    }
    report(r, true);
    struct invit_model *m = t->average ? t->average : t->model;
    if (*finished && r->writer) {
        INV_CHECK(save_weights(r, m, r->last, err));
        if (t->task.o->validate_small + t->task.o->validate_large == 0)
            INV_CHECK(save_weights(r, m, r->best, err));
    }
    return save(r, err);
}

/* ---- beginning ----------------------------------------------------------------------------------------- */

/* A run to resume must be there, a new one must not. */
static invit_status look_for_run(run *r, const invit_train_options *o, bool resume, invit_error *err)
{
    if (!o->run[0]) return inv_fail(err, INVIT_ERR_ARGUMENT, "a run needs a directory: --run DIR");
    name_files(r, o->run);
    if (!r->writer) return INVIT_OK;
    if (resume && !exists(r->config))
        return inv_fail(err, INVIT_ERR_INPUT, "%s: there is no run to resume", o->run);
    if (!resume && exists(r->config))
        return inv_fail(err, INVIT_ERR_ARGUMENT,
                        "%s already holds a run; resume it, or name another directory", o->run);
    return INVIT_OK;
}

static invit_status open_directory(run *r, const invit_train_options *o, bool resume, invit_error *err)
{
    if (!r->writer) return INVIT_OK;
    if (!resume) INV_CHECK(make_directory(o->run, err));
    INV_CHECK(lock_directory(r, err));
    return look_for_run(r, o, resume, err); /* someone else may have begun one before the lock */
}

/* The command in the configuration's comments that began the run. */
static void read_command(run *r)
{
    static const char mark[] = "# invit train";
    char line[sizeof r->command + 2];
    FILE *f = fopen(r->config, "r");
    while (f && !r->command[0] && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, mark, sizeof mark - 1) == 0)
            snprintf(r->command, sizeof r->command, "%.*s", (int)sizeof r->command - 1, line + 2);
    }
    if (f) fclose(f);
}

/* The configuration, with a bound that a resumed run is given anew, and the log. */
static invit_status begin_files(run *r, bool resume, invit_error *err)
{
    const invit_train_options *o = r->t->task.o;
    invit_train_options saved;
    if (!r->writer) return INVIT_OK;
    if (resume) {
        read_command(r);
        INV_CHECK(invit_train_load(o->run, &saved, err));
        if (saved.minutes != o->minutes || saved.steps != o->steps)
            INV_CHECK(inv_options_append_bound(o, r->config, err));
    } else {
        INV_CHECK(inv_options_write(o, r->config, err));
    }
    return open_log(r, r->t->s.log_bytes, err);
}

/* A run that had come to its end and has more to do got a longer schedule, which it rejoins where it would be
 * by now. Others keep their place. */
static void rejoin_schedule(inv_trainer *t)
{
    inv_run_state *s = &t->s;
    const invit_train_options *o = t->task.o;
    double left = o->steps > 0 ? (double)(o->steps - s->step) : 60 * o->minutes - s->seconds;
    if (o->steps > 0) s->progress = fmin(1, (double)s->step / (double)o->steps);
    if (left <= 0 || (s->validated < ENDED && s->progress < 1)) return;
    if (o->steps == 0) {
        s->progress = s->seconds / (60 * o->minutes);
        s->steps_left = fmax(1, (double)s->step / fmax(1e-3, s->seconds) * left);
    }
    s->validated = s->progress;
}

static int64_t count_validations(const invit_train_options *o)
{
    if (o->validations > 0) return o->validations;
    if (o->steps > 0) return VALIDATIONS;
    return (int64_t)fmin(MOST_VALIDATIONS, fmax(LEAST_VALIDATIONS, round(o->minutes / VALIDATION_MINUTES)));
}

static invit_status begin(run *r, bool resume, invit_error *err)
{
    inv_trainer *t = r->t;
    const invit_train_options *o = t->task.o;
    int found = r->writer && resume && exists(r->checkpoint);
    inv_comm_broadcast(t->comm, &found, sizeof found);
    t->s.steps_left = 1e6 * o->minutes; /* far too many, so that nothing moves until a rate is known */
    if (found) INV_CHECK(inv_checkpoint_read(t, r->checkpoint, err));
    if (found) rejoin_schedule(t);
    INV_CHECK(inv_comm_agree(t->comm, begin_files(r, resume, err), err));
    r->validations = count_validations(o);
    INV_CHECK(inv_validation_prepare(t, r->lengths, err));
    t->session = inv_now() - t->s.seconds;
    r->saved = r->session_start = t->s.seconds;
    r->session_steps = t->s.step;
    r->logged = inv_now();
    return INVIT_OK;
}

invit_status invit_train(const invit_train_options *options, bool resume, const invit_control *control,
                         invit_train_result *result, invit_error *err)
{
    run r = {.log_fd = -1, .lock_fd = -1};
    inv_comm *comm = NULL;
    bool finished = false;
    invit_status status;
    INV_TRY(inv_comm_create(&comm, err));
    r.writer = inv_comm_rank(comm) == 0;
    INV_TRY(inv_comm_agree(comm, look_for_run(&r, options, resume, err), err));
    /* the trainer first: options that it refuses leave no directory behind */
    INV_TRY(inv_comm_agree(comm, inv_trainer_create(options, control, comm, &r.t, err), err));
    INV_TRY(inv_comm_agree(comm, open_directory(&r, options, resume, err), err));
    INV_TRY(begin(&r, resume, err));
    INV_TRY(train(&r, &finished, err));
    INV_TRY(finish(&r, &finished, err));
    if (result) {
        inv_run_state *s = &r.t->s;
        if (s->tally_steps > 0) mean_loss(s, options->method == INVIT_REINFORCE, &s->loss, &s->accuracy);
        *result = (invit_train_result){.steps = s->step,
                                       .states = s->states,
                                       .seconds = s->seconds,
                                       .small_gap = s->small_gap,
                                       .large_gap = s->large_gap,
                                       .loss = s->loss,
                                       .accuracy = s->accuracy,
                                       .finished = finished,
                                       .rank = inv_comm_rank(comm)};
    }
done:
    if (r.log_fd >= 0) close(r.log_fd);
    if (r.lock_fd >= 0) close(r.lock_fd);
    inv_trainer_destroy(r.t);
    inv_comm_destroy(comm);
    return status;
}

invit_status invit_train_load(const char *directory, invit_train_options *options, invit_error *err)
{
    char path[1100];
    if (strlen(directory) >= sizeof options->run)
        return inv_fail(err, INVIT_ERR_ARGUMENT, "the name of the run's directory is too long");
    snprintf(path, sizeof path, "%s/config", directory);
    invit_train_defaults(INVIT_TSP, INVIT_IMITATE, options);
    INV_CHECK(invit_train_read_config(options, path, err));
    snprintf(options->run, sizeof options->run, "%s", directory); /* it may have been moved */
    return INVIT_OK;
}
