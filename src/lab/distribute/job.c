#include "lab/distribute/job.h"

#include "base/clock.h"
#include "problem/metric.h"
#include "search/improve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- bytes --------------------------------------------------------------------------------------------- */

typedef struct buffer {
    char *bytes;
    size_t size, room; /* writing: written and allocated; reading: read and there */
    bool failed;       /* out of memory, or fewer bytes than expected             */
} buffer;

static void put(buffer *b, const void *from, size_t count)
{
    if (b->failed || count == 0) return;
    if (b->size + count > b->room) {
        size_t room = b->size + count + b->room / 2;
        char *bytes = realloc(b->bytes, room);
        if (!bytes) {
            b->failed = true;
            return;
        }
        b->bytes = bytes;
        b->room = room;
    }
    memcpy(b->bytes + b->size, from, count);
    b->size += count;
}

static void get(buffer *b, void *to, size_t count)
{
    if (b->failed || count > b->room - b->size) {
        b->failed = true;
        memset(to, 0, count);
        return;
    }
    memcpy(to, b->bytes + b->size, count);
    b->size += count;
}

/* An array that may be NULL. */
static void put_array(buffer *b, const void *from, size_t count)
{
    uint8_t there = from != NULL;
    put(b, &there, 1);
    if (there) put(b, from, count);
}

static void *get_array(buffer *b, size_t count)
{
    uint8_t there;
    get(b, &there, 1);
    if (!there || b->failed) return NULL;
    void *array = malloc(count ? count : 1);
    if (!array || count > b->room - b->size) {
        free(array);
        b->failed = true;
        return NULL;
    }
    get(b, array, count);
    return array;
}

/* ---- instances and solutions --------------------------------------------------------------------------- */

/* The arrays of the rules, and how many numbers each has for n nodes. */
#define RULE_ARRAYS(r, n)                                                                                    \
    {                                                                                                        \
        {&(r)->service, (n)}, {&(r)->earliest, (n)}, {&(r)->latest, (n)}, {&(r)->distance, (n) * (n)},       \
            {&(r)->duration, (n) * (n)},                                                                     \
        {                                                                                                    \
            &(r)->freeze, (n)                                                                                \
        }                                                                                                    \
    }

typedef struct rule_array {
    double **array;
    size_t count;
} rule_array;

static void put_instance(buffer *b, const invit_instance *p)
{
    size_t n = (size_t)p->n;
    invit_instance plain = *p; /* its pointers mean nothing over there */
    put(b, &plain, sizeof plain);
    put(b, p->xy, 2 * n * sizeof *p->xy);
    put_array(b, p->demand, n * sizeof *p->demand);
    put_array(b, p->rules, sizeof *p->rules);
    if (!p->rules) return;
    inv_rules rules = *p->rules;
    rule_array arrays[] = RULE_ARRAYS(&rules, n);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        put_array(b, *arrays[i].array, arrays[i].count * sizeof(double));
}

static invit_instance *get_instance(buffer *b)
{
    invit_instance head, *p = NULL;
    get(b, &head, sizeof head);
    if (b->failed || inv_instance_alloc(head.problem, head.n, &p, NULL) != INVIT_OK) {
        b->failed = true;
        return NULL;
    }
    size_t n = (size_t)p->n;
    p->metric = head.metric;
    p->capacity = head.capacity;
    p->scale = head.scale;
    p->first_id = head.first_id;
    get(b, p->xy, 2 * n * sizeof *p->xy);
    free(p->demand);
    p->demand = get_array(b, n * sizeof *p->demand);
    inv_rules *rules = get_array(b, sizeof *rules);
    p->rules = rules;
    if (!rules) return p;
    rule_array arrays[] = RULE_ARRAYS(rules, n);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i].array = NULL;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i].array = get_array(b, arrays[i].count * sizeof(double));
    return p;
}

static void put_solution(buffer *b, const invit_solution *s)
{
    int32_t routes = s ? s->routes : -1;
    put(b, &routes, sizeof routes);
    if (!s) return;
    put(b, s->start, ((size_t)routes + 1) * sizeof *s->start);
    put(b, s->nodes, (size_t)s->start[routes] * sizeof *s->nodes);
}

static invit_solution *get_solution(buffer *b)
{
    int32_t routes, nodes;
    get(b, &routes, sizeof routes);
    if (b->failed || routes < 0) return NULL;
    size_t ends = ((size_t)routes + 1) * sizeof nodes;
    if (ends > b->room - b->size) {
        b->failed = true;
        return NULL;
    }
    memcpy(&nodes, b->bytes + b->size + (size_t)routes * sizeof nodes, sizeof nodes);
    invit_solution *s = NULL;
    if (nodes < 0 || inv_solution_alloc(routes, nodes, &s, NULL) != INVIT_OK) {
        b->failed = true;
        return NULL;
    }
    get(b, s->start, ends);
    get(b, s->nodes, (size_t)nodes * sizeof *s->nodes);
    return s;
}

/* ---- sending and receiving ----------------------------------------------------------------------------- */

static invit_status lost(invit_error *err)
{
    return inv_fail(err, INVIT_ERR_INTERNAL, "a message from another rank was not complete");
}

static invit_status send_buffer(inv_comm *c, int to, buffer *b, int64_t *bytes, invit_error *err)
{
    if (!b->failed) inv_comm_send_to(c, to, b->bytes, b->size);
    if (bytes) *bytes += (int64_t)b->size;
    bool failed = b->failed;
    free(b->bytes);
    return failed ? inv_no_memory(err, b->size) : INVIT_OK;
}

static invit_status receive_buffer(inv_comm *c, int from, buffer *b, invit_error *err)
{
    *b = (buffer){.room = inv_comm_receive_size(c, from)};
    b->bytes = malloc(b->room ? b->room : 1);
    if (!b->bytes) return inv_no_memory(err, b->room);
    inv_comm_receive(c, from, b->bytes, b->room);
    return INVIT_OK;
}

void inv_job_clear(inv_job *job)
{
    if (!job->borrowed) invit_instance_destroy(job->p);
    invit_solution_destroy(job->start);
    free(job->fixed);
    *job = (inv_job){0};
}

invit_status inv_job_send(inv_comm *c, int to, const inv_job *job, int64_t *bytes, invit_error *err)
{
    buffer b = {0};
    put(&b, job, sizeof *job);
    if (job->p) {
        put_instance(&b, job->p);
        put_solution(&b, job->start);
        put_array(&b, job->fixed, (size_t)job->p->n * sizeof *job->fixed);
    }
    return send_buffer(c, to, &b, bytes, err);
}

invit_status inv_job_receive(inv_comm *c, int from, inv_job *job, invit_error *err)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    while (!inv_comm_arrived(c, from)) nanosleep(&nap, NULL);
    buffer b;
    INV_CHECK(receive_buffer(c, from, &b, err));
    get(&b, job, sizeof *job);
    job->p = NULL;
    job->borrowed = false;
    job->start = NULL;
    job->fixed = NULL;
    if (!b.failed && job->kind > INV_JOB_NOTHING) {
        job->p = get_instance(&b);
        if (job->p) job->start = get_solution(&b);
        if (job->p) job->fixed = get_array(&b, (size_t)job->p->n * sizeof *job->fixed);
    }
    free(b.bytes);
    if (!b.failed) return INVIT_OK;
    inv_job_clear(job);
    return lost(err);
}

invit_status inv_job_answer(inv_comm *c, const inv_job_result *result, invit_error *err)
{
    buffer b = {0};
    put(&b, result, sizeof *result);
    put_solution(&b, result->solution);
    return send_buffer(c, 0, &b, NULL, err);
}

invit_status inv_job_take(inv_comm *c, int from, inv_job_result *result, int64_t *bytes, invit_error *err)
{
    buffer b;
    INV_CHECK(receive_buffer(c, from, &b, err));
    get(&b, result, sizeof *result);
    result->solution = get_solution(&b);
    if (bytes) *bytes += (int64_t)b.room;
    free(b.bytes);
    return b.failed ? lost(err) : INVIT_OK;
}

/* Seconds: of a job that arrived when its time was over. */
#define SHORTEST 1e-3

/* ---- doing it ------------------------------------------------------------------------------------------ */

static invit_status improve(const inv_job *job, int threads, const invit_control *control,
                            inv_job_result *result)
{
    inv_improve_stats stats = {0};
    inv_improve_options o = {.deadline = inv_now() + job->seconds,
                             .iterations = job->iterations,
                             .threads = threads,
                             .seed = job->seed,
                             .fixed = job->fixed,
                             .refine = job->refine,
                             .control = control};
    INV_CHECK(inv_solution_copy(job->start, &result->solution, NULL));
    INV_CHECK((job->p->problem == INVIT_TSP ? inv_improve_tsp : inv_improve_cvrp)(job->p, &result->solution,
                                                                                  &o, &stats, NULL));
    result->length = stats.length;
    result->iterations = stats.iterations;
    return INVIT_OK;
}

static invit_status solve(const inv_job *job, int threads, const invit_model *model,
                          const invit_control *control, inv_job_result *result)
{
    inv_solved solved = {0};
    inv_solve_options o = inv_solve_defaults();
    o.construct = job->construct;
    o.start = job->start;
    o.seconds = fmax(job->seconds, SHORTEST); /* less than nothing would be the default limit, and 0 none */
    o.iterations = job->iterations;
    o.threads = threads;
    o.seed = job->seed;
    o.control = control;
    INV_CHECK(inv_solve(job->p, model, &o, &result->solution, &solved, NULL));
    result->length = solved.length;
    result->iterations = solved.iterations;
    result->construct = solved.construct;
    result->constructed = solved.constructed;
    return INVIT_OK;
}

void inv_job_do(const inv_job *job, int threads, const invit_model *model, const invit_control *control,
                inv_job_result *result)
{
    *result = (inv_job_result){0};
    if (job->kind == INV_JOB_NOTHING) return;
    result->status = job->kind == INV_JOB_IMPROVE ? improve(job, threads, control, result)
                                                  : solve(job, threads, model, control, result);
    if (result->status == INVIT_OK) return;
    invit_solution_destroy(result->solution);
    result->solution = NULL;
}
