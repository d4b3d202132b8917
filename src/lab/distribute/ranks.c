/* The ranks that mpirun started: rank 0 solves with the help of the others. */
#include "lab/distribute/spread.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "invit_lab.h"
#include "problem/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Pieces are worth their borders from so many nodes, or customers, per rank on; below, ranks are islands. */
enum { TOUR_PIECE = 5000, TOUR_LEAST = 20000, ROUTES_PIECE = 1500 };
enum { ALONE = 12 }; /* nodes up to which rank 0 needs no help */
/* Rounds of islands, and of a solve that counts its steps instead of looking at the clock. */
enum { ISLAND_ROUNDS = 4 };
/* How long after a cancellation a rank may take to answer, and how much longer than planned in a round: ranks of busy
 * machines are slow, not lost. Of one that died mpirun knows at once. */
static const double CANCEL_GRACE = 0.4, LATE_SHARE = 0.5, LATE_SECONDS = 30;
/* Islands that are farther behind the best than this part of the length go on from the best. */
static const double BEHIND = 1e-3;

struct invit_ranks {
    inv_comm *comm;
    bool lost;
    int64_t bytes;
    int32_t rounds;
};

/* ---- rounds -------------------------------------------------------------------------------------------- */

bool inv_spread_over(const inv_spread *s)
{
    if (s->lost || inv_cancelled(s->o.control)) return true;
    if (s->o.target > 0 && s->best && s->length <= s->o.target) return true;
    return inv_now() >= s->deadline;
}

double inv_spread_until(const inv_spread *s, int round, int rounds)
{
    double now = inv_now();
    return isfinite(s->deadline) ? now + (s->deadline - now) / (rounds - round) : INFINITY;
}

int64_t inv_spread_steps(const inv_spread *s, int round, int rounds)
{
    if (s->o.iterations < 0) return -1;
    int64_t all = s->o.iterations;
    return (all * (round + 1) / rounds - all * round / rounds) / s->ranks;
}

uint64_t inv_spread_seed(const inv_spread *s, int round, int rank)
{
    return inv_nth_seed(s->o.seed, (uint64_t)(round * s->ranks + rank));
}

/* Until a rank has answered; false when it is lost, that is has not by `late` or after a cancellation. */
static bool wait_for(inv_spread *s, int rank, double late)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    double cancelled_at = INFINITY;
    while (!inv_comm_arrived(s->comm, rank)) {
        double now = inv_now();
        if (cancelled_at == INFINITY && inv_cancelled(s->o.control)) cancelled_at = now;
        if (now > late || now > cancelled_at + CANCEL_GRACE) return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

void inv_spread_clear(inv_job_result *results, int ranks)
{
    for (int i = 0; i < ranks; i++) {
        invit_solution_destroy(results[i].solution);
        results[i] = (inv_job_result){0};
    }
}

static invit_status send_jobs(inv_spread *s, inv_make_job make, void *context, double *until,
                              invit_error *err)
{
    for (int rank = 1; rank < s->ranks; rank++) {
        inv_job job = {0};
        invit_status status = make(context, rank, &job, err);
        if (status == INVIT_OK) status = inv_job_send(s->comm, rank, &job, &s->bytes, err);
        if (inv_now() + job.seconds > *until) *until = inv_now() + job.seconds;
        inv_job_clear(&job);
        INV_CHECK(status);
    }
    return INVIT_OK;
}

invit_status inv_spread_round(inv_spread *s, inv_make_job make,
                              invit_status (*meanwhile)(void *context, invit_error *err), void *context,
                              inv_job_result *results, invit_error *err)
{
    inv_job job = {0};
    double begun = inv_now(), until = begun;
    invit_status status = send_jobs(s, make, context, &until, err);
    if (status != INVIT_OK) { /* some have a job, some have none */
        s->lost = true;
        return status;
    }
    double late = until + LATE_SECONDS + LATE_SHARE * (until - begun);
    if (meanwhile) status = meanwhile(context, err);
    if (status == INVIT_OK) status = make(context, 0, &job, err);
    s->own_first = NAN;
    if (status == INVIT_OK) inv_job_do(&job, s->o.threads, s->model, &s->control, &results[0]);
    inv_job_clear(&job);
    /* Answers are taken even when something failed here, so that the ranks stay in step. */
    for (int rank = 1; rank < s->ranks; rank++) {
        if (s->lost || !wait_for(s, rank, late)) {
            s->lost = true;
            continue;
        }
        invit_status taken = inv_job_take(s->comm, rank, &results[rank], &s->bytes, err);
        if (taken == INVIT_OK) continue;
        s->lost = true;
        status = taken;
    }
    INV_CHECK(status);
    s->rounds++;
    for (int rank = 0; rank < s->ranks; rank++) {
        s->iterations += results[rank].iterations;
        if (results[rank].status != INVIT_OK && results[rank].status != INVIT_ERR_CANCELLED)
            return inv_fail(err, results[rank].status, "rank %d of %d could not do its part of the work",
                            rank, s->ranks);
    }
    return INVIT_OK;
}

/* ---- islands ------------------------------------------------------------------------------------------- */

typedef struct islands {
    inv_spread *s;
    invit_solution **own; /* [ranks] where each goes on; NULL: it constructs */
    double until;
    int64_t steps;
    int round;
} islands;

static invit_status make_island(void *context, int rank, inv_job *job, invit_error *err)
{
    const islands *g = context;
    const inv_spread *s = g->s;
    *job = (inv_job){.kind = INV_JOB_SOLVE,
                     .seconds = g->until - inv_now(),
                     .iterations = g->steps,
                     .seed = inv_spread_seed(s, g->round, rank),
                     .construct = s->o.construct,
                     .p = (invit_instance *)s->p,
                     .borrowed = true};
    if (rank > 0 && job->construct == INVIT_CONSTRUCT_INVIT) /* only rank 0 has the model */
        job->construct = s->p->problem == INVIT_TSP ? INVIT_CONSTRUCT_GREEDY : INVIT_CONSTRUCT_SAVINGS;
    return g->own[rank] ? inv_solution_copy(g->own[rank], &job->start, err) : INVIT_OK;
}

invit_status inv_spread_islands(inv_spread *s, invit_error *err)
{
    invit_status status = INVIT_OK;
    islands g = {.s = s, .own = calloc((size_t)s->ranks, sizeof *g.own)};
    inv_job_result *results = calloc((size_t)s->ranks, sizeof *results);
    if (!g.own || !results) INV_TRY(inv_no_memory(err, (size_t)s->ranks * sizeof *results));
    for (int i = 0; s->best && i < s->ranks; i++) INV_TRY(inv_solution_copy(s->best, &g.own[i], err));
    for (g.round = 0; g.round < ISLAND_ROUNDS && (g.round == 0 || !inv_spread_over(s)); g.round++) {
        g.until = inv_spread_until(s, g.round, ISLAND_ROUNDS);
        g.steps = inv_spread_steps(s, g.round, ISLAND_ROUNDS);
        INV_TRY(inv_spread_round(s, make_island, NULL, &g, results, err));
        for (int i = 0; i < s->ranks; i++) {
            if (!results[i].solution || (s->best && results[i].length >= s->length)) continue;
            invit_solution_destroy(s->best);
            s->best = NULL;
            INV_TRY(inv_solution_copy(results[i].solution, &s->best, err));
            s->length = results[i].length;
            if (g.round > 0 || s->o.start) continue;
            s->construct = results[i].construct;
            s->constructed = results[i].constructed;
        }
        for (int i = 0; s->best && i < s->ranks; i++) {
            bool behind = !results[i].solution || results[i].length > s->length * (1 + BEHIND);
            invit_solution_destroy(g.own[i]);
            g.own[i] = NULL;
            INV_TRY(inv_solution_copy(behind ? s->best : results[i].solution, &g.own[i], err));
        }
        inv_spread_clear(results, s->ranks);
    }
done:
    for (int i = 0; g.own && i < s->ranks; i++) invit_solution_destroy(g.own[i]);
    if (results) inv_spread_clear(results, s->ranks);
    free(g.own);
    free(results);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static void pass_on_progress(void *user, const invit_progress *p)
{
    inv_spread *s = user;
    invit_progress progress = *p;
    progress.elapsed = inv_now() - s->began;
    progress.count = s->iterations + p->count * s->ranks;
    if (isnan(s->own_first)) s->own_first = p->best;
    /* what is gained here is gained elsewhere too, but only this much is certain */
    progress.best = s->best ? s->length - (s->own_first - p->best) : NAN;
    if (isnan(progress.best) && s->best) progress.best = s->length;
    double whole = s->deadline - s->began;
    progress.fraction = isfinite(whole) && whole > 0 ? fmin(1, progress.elapsed / whole) : -1;
    s->o.control->progress(s->o.control->user, &progress);
}

/* Measures, checks, and tells in the solution how it was made. */
static invit_status hand_over(inv_spread *s, invit_solution **out, invit_error *err)
{
    inv_solve_options o = inv_solve_defaults();
    inv_solved solved;
    o.start = s->best;
    o.iterations = 0;
    o.threads = s->o.threads;
    INV_CHECK(inv_solve(s->p, NULL, &o, out, &solved, err));
    solved.construct = (invit_construct)s->construct;
    solved.constructed = s->constructed;
    solved.iterations = s->iterations;
    solved.seconds_construct = s->seconds_construct;
    solved.seconds_total = inv_now() - s->began;
    solved.seconds_improve = solved.seconds_total - s->seconds_construct;
    (*out)->solved = solved;
    return INVIT_OK;
}

static bool in_pieces(const inv_spread *s)
{
    int64_t n = s->p->n, ranks = s->ranks;
    if (!inv_is_plain(s->p) || s->o.improve != INV_IMPROVE_SEARCH) return false;
    return s->p->problem == INVIT_TSP ? n >= TOUR_LEAST && n >= TOUR_PIECE * ranks
                                      : n >= ROUTES_PIECE * ranks;
}

/* What rank 0 holds of an instance that is worked on in pieces, measured at the peak, besides its own piece. Islands
 * look for themselves. */
enum { TOUR_BYTES_PER_NODE = 75, TOUR_PIECE_BYTES_PER_NODE = 110, ROUTES_BYTES_PER_NODE = 260 };

static invit_status check_memory(const inv_spread *s, invit_error *err)
{
    char what[64];
    int64_t n = s->p->n, bytes = ROUTES_BYTES_PER_NODE * n;
    if (s->p->problem == INVIT_TSP)
        bytes = TOUR_BYTES_PER_NODE * n + TOUR_PIECE_BYTES_PER_NODE * n / s->ranks;
    snprintf(what, sizeof what, "solving %d nodes with %d ranks", (int)n, s->ranks);
    return inv_memory_expect(bytes, what, err);
}

static invit_status spread(inv_spread *s, invit_error *err)
{
    if (in_pieces(s)) INV_CHECK(check_memory(s, err));
    if (s->o.control) s->control = *s->o.control;
    if (s->control.progress) s->control.progress = pass_on_progress, s->control.user = s;
    if (s->o.start) {
        INV_CHECK(inv_solution_copy(s->o.start, &s->best, err));
        s->length = s->constructed = inv_length(s->p, s->best);
        s->construct = INVIT_CONSTRUCT_START;
    }
    if (!in_pieces(s)) return inv_spread_islands(s, err);
    return s->p->problem == INVIT_TSP ? inv_spread_tour(s, err) : inv_spread_routes(s, err);
}

invit_status invit_ranks_solve(invit_ranks *ranks, const invit_instance *instance, const invit_model *model,
                               const invit_options *options, invit_solution **solution, invit_error *err)
{
    inv_solve_options o = options ? options->o : inv_solve_defaults();
    if (o.seconds < 0) o.seconds = o.iterations >= 0 ? INFINITY : inv_default_seconds(instance->n);
    /* Alone: one rank, construction only, or what only a rank that has everything can do. */
    if (inv_comm_size(ranks->comm) == 1 || ranks->lost || o.seconds == 0 || o.iterations == 0 || o.step ||
        instance->n <= ALONE)
        return invit_solve(instance, model, options, solution, err);
    *solution = NULL;
    INV_CHECK(invit_instance_validate(instance, err));
    o.threads = inv_threads(o.threads);
    inv_spread s = {.comm = ranks->comm,
                    .ranks = inv_comm_size(ranks->comm),
                    .p = instance,
                    .model = model,
                    .o = o,
                    .began = inv_now(),
                    .construct = o.construct};
    s.deadline = s.began + fmax(1e-3, o.seconds - o.elapsed);
    invit_status status = spread(&s, err);
    ranks->lost |= s.lost;
    ranks->bytes += s.bytes;
    ranks->rounds += s.rounds;
    if (status == INVIT_OK && !s.best) {
        /* Stopped before anyone had one: what a stop gives a single process, in what is left of the time. */
        o.elapsed += inv_now() - s.began;
        status = inv_solve(instance, model, &o, solution, NULL, err);
    } else if (status == INVIT_OK) {
        status = hand_over(&s, solution, err);
    }
    invit_solution_destroy(s.best);
    return status;
}

invit_status invit_ranks_serve(invit_ranks *ranks, int threads, const invit_control *control,
                               invit_error *err)
{
    for (;;) {
        inv_job job;
        inv_job_result result;
        ranks->lost = true; /* for rank 0, unless it gets its answer */
        INV_CHECK(inv_job_receive(ranks->comm, 0, &job, err));
        if (job.kind == INV_JOB_END) break;
        inv_job_do(&job, inv_threads(threads), NULL, control, &result);
        invit_status status = inv_job_answer(ranks->comm, &result, err);
        invit_solution_destroy(result.solution);
        inv_job_clear(&job);
        INV_CHECK(status);
    }
    ranks->lost = false;
    return INVIT_OK;
}

invit_status invit_ranks_join(invit_ranks **out, invit_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out) return inv_no_memory(err, sizeof **out);
    invit_status status = inv_comm_create(&(*out)->comm, err);
    if (status == INVIT_OK) return INVIT_OK;
    free(*out);
    *out = NULL;
    return status;
}

int invit_ranks_rank(const invit_ranks *ranks)
{
    return inv_comm_rank(ranks->comm);
}

int invit_ranks_size(const invit_ranks *ranks)
{
    return inv_comm_size(ranks->comm);
}

int64_t invit_ranks_bytes(const invit_ranks *ranks, int32_t *rounds)
{
    if (rounds) *rounds = ranks->rounds;
    return ranks->bytes;
}

void invit_ranks_leave(invit_ranks *ranks, int code)
{
    if (!ranks) return;
    if (ranks->lost) /* It, and those that wait for it, do not end by themselves. */
        inv_comm_abort(ranks->comm, code ? code : 1);
    const inv_job end = {.kind = INV_JOB_END};
    for (int rank = 1; inv_comm_rank(ranks->comm) == 0 && rank < inv_comm_size(ranks->comm); rank++)
        inv_job_send(ranks->comm, rank, &end, NULL, NULL);
    inv_comm_destroy(ranks->comm);
    free(ranks);
}
