/* Validation: greedy and best-of-16 gaps on fixed instances of the four distributions in turn, against
 * lengths the expert found once. */
#include "lab/train/run/evaluation.h"

#include "base/json_memory.h"
#include "base/outfile.h"
#include "lab/train/data/demonstration.h"
#include "lab/train/data/length.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALIDATION_SEED 20240713u
#define COPIES          16

static int32_t large_size(const inv_trainer *t)
{
    return t->task.config.problem == INVIT_TSP ? 1000 : 500;
}

static invit_status validation_instance(const inv_trainer *t, int32_t i, invit_instance **out,
                                        invit_error *err)
{
    static const invit_distribution all[] = {INVIT_UNIFORM, INVIT_CLUSTERED, INVIT_EXPLOSION,
                                             INVIT_IMPLOSION};
    bool small = i < t->task.o->validate_small;
    int64_t turn = small ? i : i - t->task.o->validate_small;
    return invit_generate(t->task.config.problem, all[turn % 4], small ? 100 : large_size(t), VALIDATION_SEED,
                          (uint64_t)i, out, err);
}

/* Made once for a run, so the expert and its buffers need not stay. */
static invit_status label(const inv_trainer *t, int32_t i, double *length, invit_error *err)
{
    invit_instance *p = NULL;
    inv_expert *expert = NULL;
    inv_demonstration d = {0};
    invit_status status;
    inv_rng rng;
    inv_rng_init(&rng, VALIDATION_SEED, (uint64_t)i);
    bool cvrp = t->task.config.problem == INVIT_CVRP, small = i < t->task.o->validate_small;
    double effort = small ? 5 : 2;
    INV_TRY(validation_instance(t, i, &p, err));
    INV_TRY(inv_expert_create(&expert, err));
    INV_TRY(inv_demonstration_init(&d, p->n, err));
    INV_TRY(inv_demonstration_solve(&d, expert, p, cvrp ? 1 : effort, &rng, err));
    *length = inv_order_length(p, d.order, d.count);
done:
    inv_demonstration_destroy(&d);
    inv_expert_destroy(expert);
    invit_instance_destroy(p);
    return status;
}

static void label_item(void *context, int member, int item)
{
    inv_trainer *t = context;
    inv_worker *w = &t->worker[member];
    if (w->status != INVIT_OK || item % inv_comm_size(t->comm) != inv_comm_rank(t->comm)) return;
    if (inv_train_cancelled(t)) return;
    w->status = label(t, item, &t->expert_length[item], &w->error);
}

static bool read_lengths(const char *path, double *length, int32_t count)
{
    json_error_t where;
    json_t *root = inv_json_load_file(path, 0, &where);
    bool fine = json_is_array(root) && json_array_size(root) == (size_t)count;
    for (int32_t i = 0; fine && i < count; i++) {
        length[i] = json_number_value(json_array_get(root, (size_t)i));
        fine = length[i] > 0;
    }
    json_decref(root);
    return fine;
}

static invit_status write_lengths(const char *path, const double *length, int32_t count, invit_error *err)
{
    inv_outfile *f;
    INV_CHECK(inv_outfile_open(path, &f, err));
    for (int32_t i = 0; i < count; i++) inv_outfile_printf(f, "%s%.17g", i ? ", " : "[", length[i]);
    inv_outfile_puts(f, "]\n");
    return inv_outfile_close(f, err);
}

invit_status inv_validation_prepare(inv_trainer *t, const char *path, invit_error *err)
{
    int32_t count = (int32_t)(t->task.o->validate_small + t->task.o->validate_large);
    if (count == 0) return INVIT_OK;
    t->expert_length = calloc((size_t)count, sizeof *t->expert_length);
    if (!t->expert_length) return inv_no_memory(err, (size_t)count * sizeof *t->expert_length);
    int known = inv_comm_rank(t->comm) == 0 && read_lengths(path, t->expert_length, count);
    inv_comm_broadcast(t->comm, &known, sizeof known);
    if (known) {
        inv_comm_broadcast(t->comm, t->expert_length, (size_t)count * sizeof *t->expert_length);
        return INVIT_OK;
    }
    memset(t->expert_length, 0, (size_t)count * sizeof *t->expert_length);
    INV_CHECK(inv_trainer_run(t, count, label_item, t, err));
    if (inv_train_cancelled(t)) return inv_fail(err, INVIT_ERR_CANCELLED, "stopped before the first step");
    inv_comm_sum_doubles(t->comm, t->expert_length, (size_t)count);
    return inv_comm_rank(t->comm) == 0 ? write_lengths(path, t->expert_length, count, err) : INVIT_OK;
}

/* Mean gap of instances from..to-1 of the list, each rolled out `copies` times; *best is that of the best
 * copies. */
static invit_status gap(inv_trainer *t, int32_t from, int32_t to, int32_t copies, double *single,
                        double *best, invit_error *err)
{
    inv_evaluation *e = NULL;
    invit_status status;
    INV_TRY(inv_evaluation_create(to - from, &e, err));
    for (int32_t i = from; i < to; i++) INV_TRY(validation_instance(t, i, &e->instance[i - from], err));
    INV_TRY(inv_evaluation_run(t, e, INV_OF_JUDGED, copies, VALIDATION_SEED, err));
    double sum = 0, sum_best = 0;
    for (int32_t i = from; i < to; i++) {
        sum += e->single[i - from] / t->expert_length[i] - 1;
        sum_best += e->best[i - from] / t->expert_length[i] - 1;
    }
    if (single) *single = sum / (to - from);
    if (best) *best = sum_best / (to - from);
done:
    inv_evaluation_destroy(e);
    return status;
}

/* The best of 16 is taken on a sixteenth of the small instances and on one large one: it costs as much as the
 * rest. */
invit_status inv_validate(inv_trainer *t, invit_error *err)
{
    int32_t small = (int32_t)t->task.o->validate_small, large = (int32_t)t->task.o->validate_large;
    const struct invit_model *m = t->average ? t->average : t->model;
    inv_run_state before = t->s;
    memcpy(t->judged->param, m->param, m->params * sizeof *m->param);
    inv_prepared_refresh(t->prepared_judged, t->judged);
    t->s.small_gap = t->s.small_best = t->s.large_gap = t->s.large_best = NAN;
    if (small > 0) {
        INV_CHECK(gap(t, 0, small, 1, &t->s.small_gap, NULL, err));
        INV_CHECK(gap(t, 0, small < COPIES ? small : COPIES, COPIES, NULL, &t->s.small_best, err));
    }
    if (large > 0) {
        INV_CHECK(gap(t, small, small + large, 1, &t->s.large_gap, NULL, err));
        INV_CHECK(gap(t, small, small + 1, COPIES, NULL, &t->s.large_best, err));
    }
    if (inv_train_cancelled(t)) t->s = before; /* gaps of half the instances are none */
    return INVIT_OK;
}
