/* The rollouts of a solve. Each thread holds a few slots; a slot is one rollout on its way (with beam search: its
 * beam). A step looks at all walks of a thread, asks the policy about them in one batch, and moves them (policy/roller.h,
 * as training and measuring do). What is here is what only solving needs: slots that are filled again, beams, and
 * ending in time.
 */
#include "solve/rollout.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "problem/metric.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* MAX_STATES bounds the slots of wide beams, ASK what the policy is asked about between two looks at the clock. */
enum { MAX_BATCH = 32, MAX_STATES = 1024, ASK = 256 };
#define PROGRESS_EVERY  0.1  /* seconds                                                          */
#define DEPOT_DECISIONS 1.2  /* CVRP: decisions per customer, those for the depot included       */
#define TRUSTED_FROM    0.05 /* of the time: before, the pace is too poor a guess to give up by  */

typedef struct slot {
    int32_t rollout; /* its number, -1 when idle                     */
    inv_rng rng;
    int32_t width;   /* the beam's; narrowed when time is short      */
    int32_t beams;   /* walks under way: 1, or up to the width       */
    inv_walk **walk; /* [2 * width], the first `beams` are in use     */
    double *score;   /* [width] log-probability of each walk          */
} slot;

/* One way a beam may go on. */
typedef struct choice {
    double score;
    int32_t beam, node;
    bool finished; /* nothing to choose: the walk is complete */
} choice;

typedef struct engine {
    const invit_instance *p;
    const inv_index *x;
    const inv_config *config;
    const inv_prepared *weights;
    const inv_rollout_options *o;
    int32_t width, batch; /* beam width, slots per thread */
    int32_t *start;       /* [rollouts] start nodes     */
    double began;
    atomic_int next;
    atomic_llong decisions;
    atomic_bool stop;
    pthread_mutex_t lock; /* guards what follows, and the caller's callbacks */
    invit_solution *best;
    double *length; /* [rollouts], NaN when not completed */
    double best_length;
    int32_t best_rollout, completed;
    double view_seconds, last_progress;
    invit_status status;
    invit_error err;
} engine;

typedef struct worker {
    engine *t;
    inv_policy *policy;
    inv_roller roller; /* with room for all walks of all slots */
    slot *slots;
    choice *choices;    /* [width * candidates]      */
    float *probability; /* [candidates] for a watcher */
    int64_t steps, states, timed_states;
    double view_seconds, timed_seconds, pace; /* pace: seconds per state */
} worker;

/* ---- slots --------------------------------------------------------------------------------------------- */

static void slot_destroy(slot *s, int32_t width)
{
    for (int32_t i = 0; s->walk && i < 2 * width; i++) inv_walk_destroy(s->walk[i]);
    free(s->walk);
    free(s->score);
}

static inv_walk *new_walk(const engine *t, invit_status *status, invit_error *err)
{
    inv_walk *w = NULL;
    *status = inv_roller_walk(t->config, t->p, t->x, &w, err);
    return w;
}

static invit_status slot_begin(slot *s, engine *t, int32_t rollout, invit_error *err)
{
    invit_status status = INVIT_OK;
    if (!s->walk) {
        s->walk = calloc((size_t)t->width * 2, sizeof *s->walk);
        s->score = calloc((size_t)t->width, sizeof *s->score);
        if (!s->walk || !s->score) return inv_no_memory(err, (size_t)t->width * 24);
    }
    if (!s->walk[0]) s->walk[0] = new_walk(t, &status, err);
    if (status != INVIT_OK) return status;
    inv_rng_init(&s->rng, t->o->seed, (uint64_t)rollout);
    inv_frame frame;
    inv_frame_for_copy(t->p, rollout, &s->rng, &frame);
    inv_walk_start(s->walk[0], t->start[rollout], &frame);
    s->rollout = rollout;
    s->width = t->width;
    s->beams = 1;
    s->score[0] = 0;
    return INVIT_OK;
}

static bool slot_done(const slot *s)
{
    for (int32_t i = 0; i < s->beams; i++)
        if (!inv_walk_done(s->walk[i])) return false;
    return true;
}

/* States the slot still has to ask about, or the most it can be for a beam. */
static double slot_left(const slot *s, const engine *t)
{
    double returns = t->p->problem == INVIT_CVRP ? DEPOT_DECISIONS : 1;
    return returns * (double)inv_walk_left(s->walk[0]) * s->width;
}

/* Measures the finished walks on the original coordinates and keeps the shortest; ties go to the lower
 * rollout. */
static invit_status slot_finish(slot *s, engine *t, invit_error *err)
{
    invit_status status = INVIT_OK;
    invit_solution *solution = NULL, *shortest = NULL;
    double length = INFINITY;
    for (int32_t i = 0; i < s->beams; i++) {
        INV_TRY(inv_walk_solution(s->walk[i], &solution, err));
        double l = inv_length(t->p, solution);
        if (!shortest || l < length) {
            invit_solution *swap = shortest;
            shortest = solution;
            solution = swap;
            length = l;
        }
        invit_solution_destroy(solution);
        solution = NULL;
    }
    pthread_mutex_lock(&t->lock);
    t->completed++;
    t->length[s->rollout] = length;
    if (!t->best || length < t->best_length || (length == t->best_length && s->rollout < t->best_rollout)) {
        invit_solution *swap = t->best;
        t->best = shortest;
        shortest = swap;
        t->best_length = length;
        t->best_rollout = s->rollout;
    }
    pthread_mutex_unlock(&t->lock);
    s->rollout = -1;
done:
    invit_solution_destroy(shortest);
    invit_solution_destroy(solution);
    return status;
}

/* ---- one step ------------------------------------------------------------------------------------------ */

static int by_score(const void *a, const void *b)
{
    const choice *p = a, *q = b;
    if (p->score != q->score) return p->score > q->score ? -1 : 1;
    if (p->beam != q->beam) return p->beam - q->beam;
    return p->node - q->node;
}

/* Beam search: of all ways to go on, the `width` most probable. Costs a copy of each walk, O(n). The slot's walks that
 * wait for a decision are those of the roller from `at` on. */
static invit_status advance_beam(worker *m, slot *s, int32_t at, invit_error *err)
{
    engine *t = m->t;
    const inv_roller *r = &m->roller;
    int32_t count = 0, beams = s->beams, width = t->width;
    for (int32_t i = 0; i < beams; i++) {
        if (inv_walk_done(s->walk[i])) {
            m->choices[count++] = (choice){.score = s->score[i], .beam = i, .finished = true};
            continue;
        }
        for (int32_t j = 0; j < r->candidates; j++) {
            float l = inv_roller_logp(r, at)[j];
            if (isnan(l)) return inv_not_a_number(err);
            if (l == -INFINITY) continue;
            int32_t node = inv_roller_node(r, at, j);
            m->choices[count++] = (choice){.score = s->score[i] + (double)l, .beam = i, .node = node};
        }
        at++;
    }
    qsort(m->choices, (size_t)count, sizeof *m->choices, by_score);
    if (count > s->width) count = s->width;

    inv_walk **children = s->walk + width;
    invit_status status = INVIT_OK;
    for (int32_t c = 0; c < count; c++) {
        if (!children[c]) children[c] = new_walk(t, &status, err);
        if (status != INVIT_OK) return status;
        inv_walk_copy(children[c], s->walk[m->choices[c].beam]);
    }
    for (int32_t c = 0; c < count; c++) {
        inv_walk *parent = s->walk[c];
        s->walk[c] = children[c];
        children[c] = parent;
        s->score[c] = m->choices[c].score;
        if (!m->choices[c].finished) inv_walk_visit(s->walk[c], m->choices[c].node);
    }
    s->beams = count;
    return INVIT_OK;
}

/* What a watcher sees of a decision. */
static void tell(worker *m, const slot *s, int32_t at, int32_t chosen)
{
    engine *t = m->t;
    const inv_state *state = &m->roller.state[at];
    const float *logp = inv_roller_logp(&m->roller, at);
    float *probability = m->probability;
    int32_t shown = state->action, count;
    for (int32_t j = 0; j < shown; j++) probability[j] = expf(logp[j]);
    if (t->p->problem == INVIT_CVRP)
        probability[shown] = state->depot_open ? expf(logp[m->roller.candidates - 1]) : 0;
    const int32_t *order = inv_walk_order(s->walk[0], &count);
    invit_step step = {.step = count - (t->p->problem == INVIT_TSP),
                       .order = order,
                       .visited = count,
                       .last = inv_walk_last(s->walk[0]),
                       .first = t->p->problem == INVIT_TSP ? order[0] : 0,
                       .neighbour = state->node,
                       .action = state->action,
                       .further = state->rest,
                       .probability = probability,
                       .chosen = chosen};
    pthread_mutex_lock(&t->lock);
    t->o->step(t->o->step_user, &step);
    pthread_mutex_unlock(&t->lock);
}

/* The slot's only walk is the roller's number `at`. */
static invit_status advance_walk(worker *m, slot *s, int32_t at, invit_error *err)
{
    engine *t = m->t;
    inv_roller *r = &m->roller;
    const float *logp = inv_roller_logp(r, at);
    int32_t j = t->o->decode == INV_DECODE_SAMPLE && s->rollout >= t->o->greedy
                    ? inv_sample(logp, r->candidates, t->o->temperature, &s->rng)
                    : inv_likeliest(logp, r->candidates);
    if (!(logp[j] > -INFINITY)) return inv_not_a_number(err);
    if (t->o->step && s->rollout == 0) tell(m, s, at, inv_roller_node(r, at, j));
    s->score[0] += (double)logp[j];
    inv_roller_move(r, at, j);
    return INVIT_OK;
}

/* Looks at every walk of the slots under way; a watcher is told of forced moves too. */
static void look(worker *m)
{
    engine *t = m->t;
    inv_roller_begin(&m->roller);
    for (int32_t i = 0; i < t->batch; i++) {
        slot *s = &m->slots[i];
        bool watched = t->o->step && s->rollout == 0, waits = false;
        for (int32_t b = 0; s->rollout >= 0 && b < s->beams; b++, waits = false)
            while (!waits && !inv_walk_done(s->walk[b]))
                waits = inv_roller_look(&m->roller, s->walk[b], i, watched);
    }
}

/* Moves every walk that was looked at. Walks finished meanwhile have no state. */
static invit_status advance(worker *m, invit_error *err)
{
    engine *t = m->t;
    int32_t at = 0;
    for (int32_t i = 0; i < t->batch; i++) {
        slot *s = &m->slots[i];
        if (s->rollout < 0) continue;
        int32_t open = 0;
        for (int32_t b = 0; b < s->beams; b++) open += !inv_walk_done(s->walk[b]);
        if (open > 0) {
            if (t->width > 1)
                INV_CHECK(advance_beam(m, s, at, err));
            else
                INV_CHECK(advance_walk(m, s, at, err));
            at += open;
        }
        if (slot_done(s)) INV_CHECK(slot_finish(s, t, err));
    }
    return INVIT_OK;
}

/* ---- keeping time -------------------------------------------------------------------------------------- */

/* Narrows a beam to what ends in `seconds`, and to a single walk where nothing would. The walks that are kept are the
 * most probable ones. */
static void narrow(slot *s, const engine *t, double seconds, double pace)
{
    double fits = s->width * seconds / (slot_left(s, t) * pace);
    s->width = fits > 1 ? (int32_t)fits : 1;
    if (s->beams > s->width) s->beams = s->width;
}

/* Gives up the last rollouts as long as those under way would not end in time at the pace measured so far.
 * The pace is a guess, and a poor one at first: so nothing is given up in the first twentieth of the time, a
 * thread's only rollout not in the first half unless it is hopeless, and one that is nearly through may take
 * half as long again. */
static void keep_deadline(worker *m)
{
    engine *t = m->t;
    double now = inv_now(), budget = t->o->deadline - t->began, spent = now - t->began;
    /* A beam widens manyfold at each of its first steps: it cannot wait for a good guess. */
    int enough = t->width > 1 ? 2 : 4;
    if (t->o->deadline == INFINITY || m->steps < enough || spent < TRUSTED_FROM * budget) return;
    for (;;) {
        double left = 0, whole = 0;
        int32_t busy = 0;
        slot *last = NULL;
        for (int32_t i = 0; i < t->batch; i++) {
            slot *s = &m->slots[i];
            if (s->rollout < 0) continue;
            busy++;
            left += slot_left(s, t);
            whole += (double)t->p->n * t->width;
            if (!last || s->rollout > last->rollout) last = s;
        }
        if (!last) return;
        double ends = spent + left * m->pace,
               allowed = budget * (1 + t->o->grace * fmax(0, 1 - left / whole));
        if (busy == 1 && last->width > 1) { /* rather a narrower beam than none */
            if (ends > allowed) narrow(last, t, allowed - spent, m->pace);
            return;
        }
        if (busy == 1) allowed *= 1 + 3 * fmax(0, 1 - 2 * spent / budget);
        if (ends <= allowed) return;
        last->rollout = -1;
    }
}

static bool too_late_to_begin(const worker *m)
{
    const engine *t = m->t;
    if (t->o->deadline == INFINITY || m->steps == 0) return false;
    return inv_now() + (double)t->p->n * t->width * m->pace > t->o->deadline;
}

static bool cancelled(const engine *t)
{
    const invit_control *c = t->o->control;
    return atomic_load(&t->stop) || inv_cancelled(c);
}

static void show_progress(engine *t)
{
    const invit_control *c = t->o->control;
    if (!c || !c->progress || pthread_mutex_trylock(&t->lock) != 0) return;
    double now = inv_now();
    if (now - t->last_progress > PROGRESS_EVERY) {
        t->last_progress = now;
        int64_t decisions = atomic_load(&t->decisions);
        double whole = (double)t->p->n * t->o->rollouts * t->width;
        invit_progress progress = {.stage = "construct",
                                   .elapsed = now - t->began,
                                   .fraction = fmin(1, (double)decisions / whole),
                                   .best = t->best ? t->best_length : NAN,
                                   .count = decisions};
        c->progress(c->user, &progress);
    }
    pthread_mutex_unlock(&t->lock);
}

/* The time is over, and what a rollout may take beyond it too. */
static bool overdue(const engine *t)
{
    const inv_rollout_options *o = t->o;
    return o->deadline < INFINITY && inv_now() > o->deadline + o->grace * (o->deadline - t->began);
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

/* Fills idle slots with the rollouts not begun yet. Returns whether any slot is under way. */
static invit_status refill(worker *m, bool *busy, invit_error *err)
{
    engine *t = m->t;
    *busy = false;
    for (int32_t i = 0; i < t->batch; i++) {
        slot *s = &m->slots[i];
        while (s->rollout < 0 && atomic_load(&t->next) < t->o->rollouts && !too_late_to_begin(m)) {
            int32_t rollout = atomic_fetch_add(&t->next, 1);
            if (rollout >= t->o->rollouts) break;
            INV_CHECK(slot_begin(s, t, rollout, err));
            if (slot_done(s)) INV_CHECK(slot_finish(s, t, err)); /* one node, no customers */
        }
        *busy = *busy || s->rollout >= 0;
    }
    return INVIT_OK;
}

/* Asks the policy. *answered is false when it was cancelled, or the time was over, in between. */
static invit_status ask(worker *m, bool *answered, invit_error *err)
{
    int32_t count = m->roller.asked;
    *answered = false;
    for (int32_t at = 0; at < count; at += ASK) {
        if (at > 0 && (cancelled(m->t) || overdue(m->t))) return INVIT_OK;
        int32_t some = count - at < ASK ? count - at : ASK;
        INV_CHECK(inv_roller_ask(&m->roller, m->policy, at, some, err));
    }
    *answered = true;
    return INVIT_OK;
}

static invit_status roll(worker *m, invit_error *err)
{
    engine *t = m->t;
    bool busy, answered;
    INV_CHECK(refill(m, &busy, err));
    while (busy && !cancelled(t)) {
        double began = inv_now();
        look(m);
        double looked = inv_now();
        int32_t count = m->roller.asked;
        INV_CHECK(ask(m, &answered, err));
        if (!answered) break;
        INV_CHECK(advance(m, err));

        m->steps++;
        m->view_seconds += looked - began;
        if (m->steps > 1 || count == 0) {
            m->timed_states += count;
            m->timed_seconds += inv_now() - began;
        }
        m->pace = m->timed_states > 0 ? m->timed_seconds / (double)m->timed_states : inv_now() - began;
        atomic_fetch_add(&t->decisions, count);
        show_progress(t);
        keep_deadline(m);
        INV_CHECK(refill(m, &busy, err));
    }
    return INVIT_OK;
}

static invit_status worker_init(worker *m, engine *t, invit_error *err)
{
    int32_t walks = t->batch * t->width;
    m->t = t;
    INV_CHECK(inv_roller_init(&m->roller, walks, t->config, err));
    size_t candidates = (size_t)m->roller.candidates, choices = (size_t)t->width * (candidates + 1);
    m->slots = calloc((size_t)t->batch, sizeof *m->slots);
    m->choices = malloc(choices * sizeof *m->choices);
    m->probability = malloc(candidates * sizeof *m->probability);
    if (!m->slots || !m->choices || !m->probability) return inv_no_memory(err, choices * sizeof *m->choices);
    for (int32_t i = 0; i < t->batch; i++) m->slots[i].rollout = -1;
    return inv_policy_create(t->weights, walks < ASK ? walks : ASK, false, &m->policy, err);
}

static void worker_destroy(worker *m)
{
    for (int32_t i = 0; m->slots && i < m->t->batch; i++) slot_destroy(&m->slots[i], m->t->width);
    inv_policy_destroy(m->policy);
    inv_roller_destroy(&m->roller);
    free(m->slots);
    free(m->choices);
    free(m->probability);
}

static void run_worker(void *context, int index)
{
    (void)index;
    engine *t = context;
    worker m = {0};
    invit_error err = {0};
    invit_status status = worker_init(&m, t, &err);
    if (status == INVIT_OK) status = roll(&m, &err);
    pthread_mutex_lock(&t->lock);
    t->view_seconds += m.view_seconds;
    if (status != INVIT_OK && t->status == INVIT_OK) {
        t->status = status;
        t->err = err;
        atomic_store(&t->stop, true);
    }
    pthread_mutex_unlock(&t->lock);
    worker_destroy(&m);
}

/* The node that is farthest from its nearest neighbour: dear to leave behind and come back for. Single
 * rollouts of 100 nodes that start there are 0.2 points better (1,000 instances); among more nodes it matters
 * less and less. */
static int32_t loneliest(const invit_instance *p)
{
    int32_t found = 0;
    double most = -1;
    for (int32_t i = 0; i < p->n; i++) {
        double least = INFINITY;
        for (int32_t j = 0; j < p->n && least > most; j++)
            if (j != i) least = fmin(least, inv_edge(p, i, j));
        if (least > most) most = least, found = i;
    }
    return found;
}

/* Every rollout its own start node; when all have been, all may be again. */
static invit_status choose_starts(engine *t, invit_error *err)
{
    enum { FEW = 2000 };
    inv_rng rng;
    inv_rng_init(&rng, t->o->seed, UINT64_MAX);
    if (t->p->problem != INVIT_TSP) return INVIT_OK; /* all from the depot, node 0 */
    bool *taken = calloc((size_t)t->p->n, sizeof *taken), lonely = t->p->n <= FEW;
    if (!taken) return inv_no_memory(err, (size_t)t->p->n * sizeof *taken);
    for (int32_t i = 0; i < t->o->rollouts; i++) {
        int32_t node = -1;
        if (i > 0 && i % t->p->n == 0) memset(taken, 0, (size_t)t->p->n * sizeof *taken);
        if (i == 0 && lonely) node = loneliest(t->p);
        while (node < 0 || taken[node]) node = (int32_t)inv_rng_below(&rng, (uint32_t)t->p->n);
        taken[node] = true;
        t->start[i] = node;
    }
    free(taken);
    return INVIT_OK;
}

invit_status inv_rollout(const invit_instance *p, const inv_index *x, const inv_config *config,
                         const inv_prepared *weights, const inv_rollout_options *o, invit_solution **out,
                         inv_rollout_stats *stats, invit_error *err)
{
    *out = NULL;
    engine t = {.p = p, .x = x, .config = config, .weights = weights, .o = o, .began = inv_now()};
    t.width = o->decode == INV_DECODE_BEAM ? o->beam : 1;
    int32_t threads = o->threads < o->rollouts ? o->threads : o->rollouts;
    t.batch = o->batch > 0 ? o->batch : (o->rollouts + threads - 1) / threads;
    if (t.batch > MAX_BATCH) t.batch = MAX_BATCH;
    if (t.batch > MAX_STATES / t.width) t.batch = t.width < MAX_STATES ? MAX_STATES / t.width : 1;
    atomic_init(&t.next, 0);
    atomic_init(&t.decisions, 0);
    atomic_init(&t.stop, false);
    invit_status status = INVIT_OK;
    t.start = calloc((size_t)o->rollouts, sizeof *t.start);
    t.length = malloc((size_t)o->rollouts * sizeof *t.length);
    if (!t.start || !t.length) INV_TRY(inv_no_memory(err, (size_t)o->rollouts * 12));
    for (int32_t i = 0; i < o->rollouts; i++) t.length[i] = NAN;
    INV_TRY(choose_starts(&t, err));
    pthread_mutex_init(&t.lock, NULL);
    inv_parallel(threads, run_worker, &t);
    pthread_mutex_destroy(&t.lock);
    status = t.status;
    if (status != INVIT_OK) {
        if (err) *err = t.err;
        invit_solution_destroy(t.best);
        goto done;
    }
    *out = t.best;
    *stats = (inv_rollout_stats){.rollouts = t.completed,
                                 .decisions = atomic_load(&t.decisions),
                                 .view_seconds = t.view_seconds,
                                 .length = t.best_length};
    for (int32_t i = 0; i < o->rollouts; i++)
        if (!isnan(t.length[i])) stats->mean_length += t.length[i] / t.completed;
done:
    free(t.start);
    free(t.length);
    return status;
}
