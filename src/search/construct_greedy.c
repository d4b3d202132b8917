#include "search/construct.h"
#include "search/curve.h"
#include "search/improve.h"

#include "base/parallel.h"
#include "problem/metric.h"

#include <stdatomic.h>
#include <stdlib.h>

/* SLOW: a round that joins fewer than one fragment in this many is the last of its kind. LONGEST: steps from
 * wish to wish before a link is taken that is not the shortest. LOOK_AT_CLOCK: nodes. */
enum {
    SLOW = 16,
    LONGEST = 100,
    LOOK_AT_CLOCK = 4096,
    BLOCK = 1 << 16,
    NEIGHBOURS = 7,
    NEIGHBOURS_OF_ENDS = 6
};

typedef struct link {
    double length;
    int32_t a, b;
} link;

/* Fragments: paths that will become the tour. */
typedef struct fragments {
    int32_t (*next)[2]; /* [n] up to two neighbours on the path, -1 where there is none */
    int32_t *other;     /* [n] for the end of a fragment: its other end                  */
    int32_t count;      /* fragments left                                                */
} fragments;

static int by_length(const void *x, const void *y)
{
    const link *a = x, *b = y;
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

static void join(fragments *f, int32_t a, int32_t b)
{
    if (a == b || f->next[a][1] >= 0 || f->next[b][1] >= 0 || f->other[a] == b) return;
    f->next[a][f->next[a][0] >= 0] = b;
    f->next[b][f->next[b][0] >= 0] = a;
    int32_t end_a = f->other[a], end_b = f->other[b];
    f->other[end_a] = end_b;
    f->other[end_b] = end_a;
    f->count--;
}

static invit_status given_up(invit_error *err)
{
    return inv_fail(err, INVIT_ERR_CANCELLED, "stopped while joining the shortest edges");
}

/* Joins fragments by the links of the lists, each made up to a fifth longer or shorter by chance, shortest
 * first. */
static invit_status join_by_chance(const invit_instance *p, const inv_neighbours *nb, inv_rng *rng,
                                   const inv_limits *limits, fragments *f, invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t count = 0, room = (size_t)nb->n * (size_t)nb->k;
    link *links = malloc(room * sizeof *links);
    if (!links) return inv_no_memory(err, room * sizeof *links);
    for (int32_t a = 0; a < nb->n; a++) {
        if (a % LOOK_AT_CLOCK == 0 && inv_limits_reached(limits)) INV_TRY(given_up(err));
        const int32_t *list = inv_neighbours_of(nb, a);
        for (int j = 0; j < nb->k && list[j] >= 0; j++) {
            int32_t b = list[j];
            /* Most links are on both lists; keep one of the two. */
            bool mutual = false;
            const int32_t *back = inv_neighbours_of(nb, b);
            for (int l = 0; l < nb->k && !mutual; l++) mutual = back[l] == a;
            if ((mutual && a > b) || f->other[a] == b) continue;
            links[count++] = (link){(0.8 + 0.4 * inv_rng_double(rng)) * inv_distance(p, a, b), a, b};
        }
    }
    qsort(links, count, sizeof *links, by_length);
    if (inv_limits_reached(limits)) INV_TRY(given_up(err));
    for (size_t i = 0; i < count; i++) join(f, links[i].a, links[i].b);
done:
    free(links);
    return status;
}

/* What is being joined, and how: node[i] is what list entry i stands for; NULL: i itself. */
typedef struct wishes {
    const invit_instance *p;
    const inv_neighbours *nb;
    const int32_t *node;
    uint8_t *seen; /* [nb->n] entries of the list that can never be joined any more */
    fragments *f;
    int32_t from, to; /* other entries, and fragments that end there, are not touched */
} wishes;

static inline int32_t named(const wishes *w, int32_t i)
{
    return w->node ? w->node[i] : i;
}

static inline bool is_own(const wishes *w, int32_t i)
{
    return i >= w->from && i < w->to;
}

/* Does the fragment that has one end among the entries have this one there too? Blocks are of nodes without names. */
static inline bool is_own_end(const wishes *w, int32_t v)
{
    return w->node || is_own(w, v);
}

/* The nearest node on the list that i can still be joined to, or -1; also one outside of [from, to), of which nothing
 * is known. What cannot be joined once never can be: a node inside a fragment stays there, and so does the other end of
 * i's own. */
static int32_t wish(wishes *w, int32_t i)
{
    const int32_t *list = inv_neighbours_of(w->nb, i);
    int32_t a = named(w, i);
    for (; w->seen[i] < w->nb->k && list[w->seen[i]] >= 0; w->seen[i]++) {
        int32_t entry = list[w->seen[i]], b = named(w, entry);
        if (!is_own(w, entry) || (w->f->next[b][1] < 0 && w->f->other[a] != b)) return entry;
    }
    return -1;
}

/* Joins i, or nodes near it first, until it is inside a fragment, has no wish left, or depends on nodes outside. */
static void join_at(wishes *w, int32_t i)
{
    const fragments *f = w->f;
    while (f->next[named(w, i)][1] < 0) {
        int32_t a = i, b = wish(w, a);
        for (int step = 0; b >= 0 && is_own(w, b) && step < LONGEST; step++) {
            int32_t c = wish(w, b);
            /* Where b does not list a, b's wish may be farther, or there may be none. */
            if (c < 0 || c == a ||
                inv_distance(w->p, named(w, b), named(w, c)) > inv_distance(w->p, named(w, a), named(w, b)))
                break;
            a = b;
            b = c;
        }
        if (b < 0 || !is_own(w, b)) return;
        if (!is_own_end(w, f->other[named(w, a)]) || !is_own_end(w, f->other[named(w, b)])) return;
        join(w->f, named(w, a), named(w, b));
    }
}

/* Blocks of nodes that follow each other, which are near each other: threads join what is inside of one. */
typedef struct block_job {
    const wishes *all;
    const inv_limits *limits;
    atomic_int next, joined;
    atomic_bool stopped;
} block_job;

static void join_in_blocks(void *context, int member)
{
    block_job *job = context;
    (void)member;
    for (int64_t from; (from = (int64_t)atomic_fetch_add(&job->next, 1) * BLOCK) < job->all->to;) {
        fragments f = *job->all->f;
        wishes w = *job->all;
        w.f = &f;
        w.from = (int32_t)from;
        w.to = w.to - w.from < BLOCK ? w.to : w.from + BLOCK;
        for (int32_t i = w.from; i < w.to; i++) {
            if (i % LOOK_AT_CLOCK == 0 && inv_limits_reached(job->limits)) job->stopped = true;
            if (job->stopped) return;
            join_at(&w, i);
        }
        atomic_fetch_add(&job->joined, job->all->f->count - f.count);
    }
}

/* Joins fragments by the links of the lists, shortest first, without sorting them: a link that is the shortest
 * one left at both of its ends comes before all others there. From any node the wishes lead to such a link,
 * shorter from step to step. Links inside of blocks come first, so that the result is the same for any number of
 * threads. */
static invit_status join_by_lists(const invit_instance *p, const inv_neighbours *nb, const int32_t *node,
                                  const inv_limits *limits, fragments *f, invit_error *err)
{
    invit_status status = INVIT_OK;
    wishes w = {.p = p, .nb = nb, .node = node, .to = nb->n, .seen = calloc((size_t)nb->n, 1), .f = f};
    if (!w.seen) return inv_no_memory(err, (size_t)nb->n);
    if (!node && nb->n >= 2 * BLOCK) {
        block_job job = {.all = &w, .limits = limits};
        inv_parallel(limits ? limits->threads : 1, join_in_blocks, &job);
        if (job.stopped) INV_TRY(given_up(err));
        f->count -= job.joined;
    }
    for (int32_t i = 0; i < nb->n; i++) {
        if (i % LOOK_AT_CLOCK == 0 && inv_limits_reached(limits)) INV_TRY(given_up(err));
        join_at(&w, i);
    }
done:
    free(w.seen);
    return status;
}

static inv_neighbour_options neighbour_options(int32_t k, const inv_limits *limits)
{
    if (!limits) return (inv_neighbour_options){.k = k, .threads = 1, .deadline = INFINITY};
    return (inv_neighbour_options){.k = k,
                                   .threads = limits->threads > 1 ? limits->threads : 1,
                                   .deadline = limits->deadline,
                                   .cancel = limits->cancel};
}

/* One more round: neighbour lists among the ends of the fragments alone. */
static invit_status join_ends(const invit_instance *p, const inv_limits *limits, fragments *f,
                              invit_error *err)
{
    invit_status status = INVIT_OK;
    inv_neighbours nb = {0};
    inv_rules rules = {.symmetric = true};
    invit_instance ends = {.problem = INVIT_TSP, .metric = p->metric};
    int32_t *node = malloc((size_t)p->n * sizeof *node);
    bool matrix = p->rules && p->rules->distance;
    ends.xy = malloc(4 * (size_t)f->count * sizeof *ends.xy);
    if (matrix) {
        size_t most = 2 * (size_t)f->count < (size_t)p->n ? 2 * (size_t)f->count : (size_t)p->n;
        rules.distance = malloc(most * most * sizeof *rules.distance);
        ends.rules = &rules;
    }
    if (!node || !ends.xy || (matrix && !rules.distance)) {
        status = inv_no_memory(err, 4 * (size_t)f->count * sizeof *ends.xy);
        goto done;
    }
    for (int32_t i = 0; i < p->n; i++) {
        if (f->next[i][1] >= 0) continue;
        if (!matrix) {
            ends.xy[2 * (size_t)ends.n] = p->xy[2 * (size_t)i];
            ends.xy[2 * (size_t)ends.n + 1] = p->xy[2 * (size_t)i + 1];
        }
        node[ends.n++] = i;
    }
    for (int32_t i = 0; matrix && i < ends.n; i++)
        for (int32_t j = 0; j < ends.n; j++)
            rules.distance[(size_t)i * (size_t)ends.n + (size_t)j] = inv_distance(p, node[i], node[j]);
    inv_neighbour_options o =
        neighbour_options(ends.n <= NEIGHBOURS_OF_ENDS ? ends.n : NEIGHBOURS_OF_ENDS, limits);
    INV_TRY(inv_neighbours_create(&ends, &o, &nb, err));
    INV_TRY(join_by_lists(p, &nb, node, limits, f, err));
done:
    inv_neighbours_destroy(&nb);
    free(ends.xy);
    free(rules.distance);
    free(node);
    return status;
}

/* The rest in one go, along the curve through one end of each fragment: for points that neighbour lists hardly join,
 * which would take a round for every few of them. */
static invit_status chain_fragments(const invit_instance *p, fragments *f, invit_error *err)
{
    invit_status status = INVIT_OK;
    int32_t *order = malloc((size_t)p->n * sizeof *order), tail = -1;
    if (!order) return inv_no_memory(err, (size_t)p->n * sizeof *order);
    if (p->rules && p->rules->distance)
        for (int32_t i = 0; i < p->n; i++) order[i] = i;
    else
        INV_TRY(inv_curve_order(p->xy, p->n, 1, order, err));
    for (int32_t i = 0; i < p->n; i++) {
        int32_t v = order[i];
        if (f->next[v][1] >= 0 || (tail >= 0 && (v == tail || v == f->other[tail])))
            continue; /* inside a fragment, or an end of the chain itself */
        int32_t end = f->other[v];
        if (tail >= 0) join(f, tail, v);
        tail = end;
    }
done:
    free(order);
    return status;
}

static invit_status greedy_order(const invit_instance *p, const inv_neighbours *nb, const int32_t fix[2],
                                 const int32_t *fixed, inv_rng *rng, const inv_limits *limits, int32_t *order,
                                 invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t n = (size_t)p->n;
    fragments f = {.count = p->n};
    f.next = malloc(n * sizeof *f.next);
    f.other = malloc(n * sizeof *f.other);
    if (!f.next || !f.other) {
        status = inv_no_memory(err, n * sizeof *f.next);
        goto done;
    }
    for (int32_t i = 0; i < p->n; i++) {
        f.next[i][0] = f.next[i][1] = -1;
        f.other[i] = i;
    }
    for (int32_t i = 0; fixed && i < p->n; i++)
        if (fixed[i] > i) join(&f, i, fixed[i]);
    if (fix[0] >= 0) join(&f, fix[0], fix[1]);
    if (rng)
        INV_TRY(join_by_chance(p, nb, rng, limits, &f, err));
    else
        INV_TRY(join_by_lists(p, nb, NULL, limits, &f, err));
    while (f.count > 1) {
        int32_t before = f.count;
        INV_TRY(join_ends(p, limits, &f, err));
        if (f.count > before - before / SLOW) INV_TRY(chain_fragments(p, &f, err));
    }

    int32_t v = 0, from = -1;
    while (v < p->n - 1 && f.next[v][1] >= 0) v++;
    for (int32_t i = 0; i < p->n; i++) {
        order[i] = v;
        int32_t to = f.next[v][0] == from ? f.next[v][1] : f.next[v][0];
        from = v;
        v = to;
    }
done:
    free(f.next);
    free(f.other);
    return status;
}

invit_status inv_greedy_order(const invit_instance *p, const inv_neighbours *nb, int32_t fix_a, int32_t fix_b,
                              inv_rng *rng, const inv_limits *limits, int32_t *order, invit_error *err)
{
    return greedy_order(p, nb, (int32_t[2]){fix_a, fix_b}, NULL, rng, limits, order, err);
}

invit_status inv_greedy_order_around(const invit_instance *p, const inv_neighbours *nb, const int32_t *fixed,
                                     inv_rng *rng, const inv_limits *limits, int32_t *order, invit_error *err)
{
    return greedy_order(p, nb, (int32_t[2]){-1, -1}, fixed, rng, limits, order, err);
}

/* Nodes are numbered along a Hilbert curve for the work, so that neighbours are near in memory. */
invit_status inv_construct_greedy(const invit_instance *p, const inv_limits *limits, invit_solution **out,
                                  invit_error *err)
{
    invit_status status = INVIT_OK;
    size_t n = (size_t)p->n;
    bool matrix = p->rules && p->rules->distance;
    inv_neighbours nb = {0};
    invit_instance numbered = {.problem = INVIT_TSP, .metric = p->metric, .n = p->n};
    inv_neighbour_options o = neighbour_options(NEIGHBOURS, limits);
    int32_t *name = NULL;
    *out = NULL;
    INV_TRY(inv_solution_alloc(1, p->n, out, err));
    (*out)->start[0] = 0;
    (*out)->start[1] = p->n;
    if (!matrix) {
        name = malloc(n * sizeof *name);
        numbered.xy = malloc(2 * n * sizeof *numbered.xy);
        if (!name || !numbered.xy) INV_TRY(inv_no_memory(err, 2 * n * sizeof *numbered.xy));
        INV_TRY(inv_curve_points(p->xy, p->n, o.threads, name, numbered.xy, err));
    }
    const invit_instance *q = matrix ? p : &numbered;
    INV_TRY(inv_neighbours_create(q, &o, &nb, err));
    INV_TRY(inv_greedy_order(q, &nb, -1, -1, NULL, limits, (*out)->nodes, err));
    for (size_t i = 0; i < n && name; i++) (*out)->nodes[i] = name[(*out)->nodes[i]];
done:
    inv_neighbours_destroy(&nb);
    free(name);
    free(numbered.xy);
    if (status != INVIT_OK) {
        invit_solution_destroy(*out);
        *out = NULL;
    }
    return status;
}
