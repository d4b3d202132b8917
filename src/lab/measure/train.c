/* How fast training is, relative to the machine's peak measured in the same run. */
#include "lab/train/data/demonstration.h"
#include "lab/train/data/length.h"
#include "lab/train/run/trainer.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "nn/kernels.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Steps until the time is over; *rate is what `count` counts per second. */
static invit_status timed_steps(inv_trainer *t, double seconds, const double *count, double *rate,
                                invit_error *err)
{
    double before = *count, began = inv_now();
    int more;
    do {
        INV_CHECK(inv_step(t, err));
        more = inv_now() < began + seconds;
        inv_comm_broadcast(t->comm, &more, sizeof more);
    } while (more);
    *rate = (*count - before) / (inv_now() - began);
    return INVIT_OK;
}

/* The replay buffer holds every state that will be needed before the clock starts. */
static invit_status bench_imitate(invit_train_options *o, inv_comm *comm, double seconds,
                                  invit_train_speed *s, invit_error *err)
{
    inv_trainer *t = NULL;
    invit_status status;
    o->method = INVIT_IMITATE;
    o->batch = 512;
    o->effort = 0.05; /* the quality of labels does not matter here */
    o->share = 1;
    INV_TRY(inv_trainer_create(o, NULL, comm, &t, err));
    o->replay_buffer = (int64_t)(3000 * (seconds + 1)) + o->batch;
    INV_TRY(inv_step(t, err)); /* fills the buffer */
    o->replay_buffer = 1;
    double left = 0;
    for (int32_t l = 0; l < t->lanes; l++) left += t->lane[l].buffer.count;
    inv_comm_sum_doubles(comm, &left, 1);
    double peak = inv_measure_peak(inv_thread_pool_size(t->pool), 0.5);
    double before = t->s.tally.states;
    INV_TRY(timed_steps(t, seconds, &t->s.tally.states, &s->imitate_rate, err));
    s->peak_gflops = 0.5 * (peak + inv_measure_peak(inv_thread_pool_size(t->pool), 0.5));
    inv_comm_sum_doubles(comm, &s->peak_gflops, 1);
    double reduce = inv_now(); /* the sum over ranks alone */
    for (int i = 0; i < 10; i++) inv_comm_sum_floats(comm, t->lane[0].grad, t->model->params);
    s->reduce_seconds = (inv_now() - reduce) / 10;
    s->labels_were_ready = t->s.tally.states - before <= left;
done:
    inv_trainer_destroy(t);
    return status;
}

static invit_status bench_reinforce(invit_train_options *o, inv_comm *comm, double seconds,
                                    invit_train_speed *s, invit_error *err)
{
    inv_trainer *t = NULL;
    invit_status status;
    o->method = INVIT_REINFORCE;
    o->batch = 128;
    o->share = 1;
    o->augment = 16;
    o->lanes = 8;
    o->min_p = 0;
    strcpy(o->baseline, "greedy");
    INV_TRY(inv_trainer_create(o, NULL, comm, &t, err));
    double began = inv_now(), states = t->s.tally.states;
    INV_TRY(timed_steps(t, seconds, &t->s.tally.decisions, &s->reinforce_rate, err));
    s->reinforce_learned = (t->s.tally.states - states) / (inv_now() - began);
done:
    inv_trainer_destroy(t);
    return status;
}

enum { EXPERT_SIZE = 100, EXPERT_MOST = 4096 };
static const double more_effort = 20; /* what the expert's usual effort is measured against */

static invit_status solve_one(inv_expert *e, inv_demonstration *d, invit_problem problem, int i,
                              double effort, double *length, invit_error *err)
{
    invit_instance *p = NULL;
    inv_rng rng;
    inv_rng_init(&rng, 1, (uint64_t)i);
    INV_CHECK(invit_generate(problem, INVIT_UNIFORM, EXPERT_SIZE, 1, (uint64_t)i, &p, err));
    invit_status status = inv_demonstration_solve(d, e, p, effort, &rng, err);
    if (status == INVIT_OK) *length = inv_order_length(p, d->order, d->count);
    invit_instance_destroy(p);
    return status;
}

/* One thread by its own processor time; then, for as long again, the first instances with more effort. */
static invit_status bench_expert(invit_problem problem, double seconds, invit_train_speed *s,
                                 invit_error *err)
{
    double *length = malloc(EXPERT_MOST * sizeof *length);
    if (!length) return inv_no_memory(err, EXPERT_MOST * sizeof *length);
    inv_expert *e = NULL;
    inv_demonstration d = {0};
    invit_status status;
    int solved = 0, again = 0;
    double began = inv_cpu_now(), better, sum = 0;
    INV_TRY(inv_expert_create(&e, err));
    INV_TRY(inv_demonstration_init(&d, EXPERT_SIZE + 1, err));
    for (; solved < EXPERT_MOST && inv_cpu_now() < began + seconds; solved++)
        INV_TRY(solve_one(e, &d, problem, solved, 1, &length[solved], err));
    s->expert_rate = solved / (inv_cpu_now() - began);
    for (began = inv_cpu_now(); again < solved && inv_cpu_now() < began + seconds; again++) {
        INV_TRY(solve_one(e, &d, problem, again, more_effort, &better, err));
        sum += length[again] / better - 1;
    }
    s->expert_gap = sum / again;
done:
    inv_demonstration_destroy(&d);
    inv_expert_destroy(e);
    free(length);
    return status;
}

invit_status invit_train_measure(const invit_train_options *options, double seconds, invit_train_speed *speed,
                                 invit_error *err)
{
    invit_train_options o = *options;
    struct rusage usage;
    inv_comm *comm = NULL;
    invit_status status;
    *speed = (invit_train_speed){0};
    INV_TRY(inv_comm_create(&comm, err));
    speed->rank = inv_comm_rank(comm);
    INV_TRY(bench_imitate(&o, comm, seconds, speed, err));
    o = *options;
    INV_TRY(bench_reinforce(&o, comm, seconds, speed, err));
    INV_TRY(bench_expert(options->problem, seconds, speed, err));
    getrusage(RUSAGE_SELF, &usage);
    speed->peak_bytes = (double)usage.ru_maxrss * 1024;
done:
    inv_comm_destroy(comm);
    return status;
}
