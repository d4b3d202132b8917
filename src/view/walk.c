/* Walks: one solution under construction, seen through its nested views. */
#include "view/walk.h"

#include "problem/metric.h"
#include "view/index.h"

#include <stdlib.h>
#include <string.h>

struct inv_walk {
    const invit_instance *p;
    const inv_index *index;
    int32_t k_action, k_max; /* as asked for; k_max < 0: everything that remains */
    inv_frame frame;
    inv_marks marks;
    int32_t first, last, left, load;
    bool limited;        /* routes have limits besides the load:               */
    double length, time; /* of the route so far; time with service             */
    int32_t stops;
    int32_t *order; /* TSP: [n]; CVRP: [2n], 0 for the depot */
    int32_t count;
    size_t order_room, view_room;
    inv_near *near; /* [view_room] the nearest remaining    */
    inv_near *able; /* [k_action] the nearest available      */
    int32_t *node;  /* the arrays handed out in a state       */
    float *xy, *demand;
};

static int32_t view_size(const inv_walk *w, const inv_index *x)
{
    int32_t k = w->k_max < 0 ? x->tree.n : w->k_max;
    if (k < w->k_action) k = w->k_action;
    return k < x->tree.n ? k : x->tree.n;
}

invit_status inv_walk_rebind(inv_walk *w, const invit_instance *p, const inv_index *x, invit_error *err)
{
    size_t order = (size_t)p->n * (p->problem == INVIT_CVRP ? 2 : 1), views = (size_t)view_size(w, x) + 1;
    INV_CHECK(inv_marks_rebind(&w->marks, x, err));
    if (order > w->order_room) {
        int32_t *grown = realloc(w->order, order * sizeof *grown);
        if (!grown) return inv_no_memory(err, order * sizeof *grown);
        w->order = grown;
        w->order_room = order;
    }
    if (views > w->view_room) {
        free(w->near), free(w->node), free(w->xy), free(w->demand);
        w->view_room = 0;
        w->near = malloc(views * sizeof *w->near);
        w->node = malloc(views * sizeof *w->node);
        w->xy = malloc(2 * views * sizeof *w->xy);
        w->demand = malloc(views * sizeof *w->demand);
        if (!w->near || !w->node || !w->xy || !w->demand) return inv_no_memory(err, views * 32);
        w->view_room = views;
    }
    w->p = p;
    w->index = x;
    const inv_rules *r = p->problem == INVIT_CVRP ? p->rules : NULL;
    w->limited = r && (r->max_stops || isfinite(r->max_length) || isfinite(r->max_duration));
    return INVIT_OK;
}

invit_status inv_walk_create(const invit_instance *p, const inv_index *x, int32_t k_action, int32_t k_max,
                             inv_walk **out, invit_error *err)
{
    *out = NULL;
    invit_status status = INVIT_OK;
    inv_walk *w = calloc(1, sizeof *w);
    if (!w) INV_TRY(inv_no_memory(err, sizeof *w));
    w->k_action = k_action;
    w->k_max = k_max;
    w->able = malloc(((size_t)k_action + 1) * sizeof *w->able);
    if (!w->able) INV_TRY(inv_no_memory(err, (size_t)k_action * sizeof *w->able));
    INV_TRY(inv_walk_rebind(w, p, x, err));
    *out = w;
    w = NULL;
done:
    inv_walk_destroy(w);
    return status;
}

void inv_walk_destroy(inv_walk *w)
{
    if (!w) return;
    inv_marks_destroy(&w->marks);
    free(w->order);
    free(w->near);
    free(w->able);
    free(w->node);
    free(w->xy);
    free(w->demand);
    free(w);
}

void inv_walk_start(inv_walk *w, int32_t start, const inv_frame *f)
{
    w->frame = *f;
    inv_marks_reset(&w->marks);
    w->left = w->index->tree.n;
    w->count = 0;
    w->first = w->last = 0;
    w->load = (int32_t)w->p->capacity;
    w->length = w->time = w->stops = 0;
    if (w->p->problem == INVIT_TSP) {
        w->first = start;
        inv_walk_visit(w, start);
    }
}

void inv_walk_start_path(inv_walk *w, int32_t start, int32_t end, const inv_frame *f)
{
    inv_walk_start(w, start, f);
    inv_walk_visit(w, end);
    w->count = 1;
    w->last = start;
    w->first = end;
}

void inv_walk_copy(inv_walk *to, const inv_walk *from)
{
    inv_marks_copy(&to->marks, &from->marks);
    to->frame = from->frame;
    to->first = from->first;
    to->last = from->last;
    to->left = from->left;
    to->load = from->load;
    to->length = from->length;
    to->time = from->time;
    to->stops = from->stops;
    to->count = from->count;
    memcpy(to->order, from->order, (size_t)from->count * sizeof *to->order);
}

bool inv_walk_done(const inv_walk *w)
{
    return w->left == 0;
}

int32_t inv_walk_last(const inv_walk *w)
{
    return w->last;
}

int32_t inv_walk_left(const inv_walk *w)
{
    return w->left;
}

int32_t inv_walk_load(const inv_walk *w)
{
    return w->load;
}

static double service(const invit_instance *p, int32_t node)
{
    return p->rules->service ? p->rules->service[node] : 0;
}

/* Would a route that goes on to this customer, and then home, keep its limits? */
static bool within_limits(const inv_walk *w, int32_t node)
{
    const invit_instance *p = w->p;
    const inv_rules *r = p->rules;
    if (r->max_stops && w->stops >= r->max_stops) return false;
    if (isfinite(r->max_length)) {
        double length = w->length + inv_distance(p, w->last, node) + (r->open ? 0 : inv_distance(p, node, 0));
        if (length > r->max_length + 1e-13 * r->max_length) return false;
    }
    if (!isfinite(r->max_duration)) return true;
    double time = w->time + inv_duration(p, w->last, node) + service(p, node) +
                  (r->open ? 0 : inv_duration(p, node, 0));
    return time <= r->max_duration + 1e-13 * r->max_duration;
}

static void count_limits(inv_walk *w, int32_t node)
{
    if (node == 0) {
        w->length = w->time = w->stops = 0;
        return;
    }
    w->length += inv_distance(w->p, w->last, node);
    w->time += inv_duration(w->p, w->last, node) + service(w->p, node);
    w->stops++;
}

void inv_walk_visit(inv_walk *w, int32_t node)
{
    if (w->limited) count_limits(w, node);
    w->order[w->count++] = node;
    w->last = node;
    if (w->p->problem == INVIT_CVRP) {
        if (node == 0) {
            w->load = (int32_t)w->p->capacity;
            return;
        }
        w->load -= w->p->demand[node];
    }
    inv_marks_remove(&w->marks, w->index->position[node]);
    w->left--;
}

static void plane_xy(const inv_walk *w, int32_t node, double xy[2])
{
    xy[0] = w->p->xy[2 * (size_t)node] * w->index->tree.scale[0];
    xy[1] = w->p->xy[2 * (size_t)node + 1] * w->index->tree.scale[1];
}

static inline void to_frame(const inv_frame *f, const double *xy, float *out)
{
    out[0] = (float)(f->m[0] * xy[0] + f->m[1] * xy[1] + f->t[0]);
    out[1] = (float)(f->m[2] * xy[0] + f->m[3] * xy[1] + f->t[1]);
}

static int by_distance(const void *a, const void *b)
{
    const inv_near *p = a, *q = b;
    if (p->d != q->d) return p->d < q->d ? -1 : 1;
    return (p->node > q->node) - (p->node < q->node);
}

/* When all that remains is in view there is nothing to search: take it and sort. */
static int32_t all_remaining(inv_walk *w, const double at[2])
{
    const inv_kd_tree *t = &w->index->tree;
    int32_t count = 0, leaves = (int32_t)1 << t->levels;
    for (int32_t leaf = 0; leaf < leaves; leaf++)
        for (unsigned bits = w->marks.alive[leaf]; bits; bits &= bits - 1) {
            int32_t i = inv_leaf_begin(t, leaf) + __builtin_ctz(bits);
            double dx = t->xy[i][0] - at[0], dy = t->xy[i][1] - at[1];
            w->near[count++] = (inv_near){.d = dx * dx + dy * dy, .node = t->node[i], .position = i};
        }
    qsort(w->near, (size_t)count, sizeof *w->near, by_distance);
    return count;
}

static void put(inv_walk *w, int32_t slot, const inv_near *near)
{
    w->node[slot] = near->node;
    to_frame(&w->frame, w->index->tree.xy[near->position], w->xy + 2 * (size_t)slot);
    if (w->index->demand)
        w->demand[slot] = (float)((double)w->index->demand[near->position] / (double)w->p->capacity);
}

/* The k_a nearest customers that fit. Mostly they are among the `count` nearest already found. Where none of those
 * keeps the route's limits, further ones are not looked for: the route ends. */
static int32_t nearest_available(inv_walk *w, const double at[2], int32_t count)
{
    int32_t able = 0;
    for (int32_t i = 0; i < count && able < w->k_action; i++)
        if (w->index->demand[w->near[i].position] <= w->load &&
            (!w->limited || within_limits(w, w->near[i].node)))
            w->able[able++] = w->near[i];
    if (able >= w->k_action || count >= w->left || (w->limited && able > 0)) return able;
    int32_t found = inv_marks_nearest(&w->marks, at, w->k_action, w->load, w->able);
    if (!w->limited) return found;
    for (int32_t i = 0; i < found; i++)
        if (within_limits(w, w->able[i].node)) w->able[able++] = w->able[i];
    return able;
}

void inv_walk_view(inv_walk *w, inv_state *s)
{
    double at[2], first[2];
    plane_xy(w, w->last, at);
    plane_xy(w, w->first, first);
    to_frame(&w->frame, at, s->last);
    to_frame(&w->frame, first, s->first);
    s->node = w->node;
    s->xy = w->xy;

    int32_t k = view_size(w, w->index);
    int32_t count =
        w->k_max < 0 ? all_remaining(w, at) : inv_marks_nearest(&w->marks, at, k, INT32_MAX, w->near);
    if (w->p->problem == INVIT_TSP) {
        s->action = count < w->k_action ? count : w->k_action;
        s->rest = count - s->action;
        s->depot_open = false;
        s->load = 0;
        s->demand = NULL;
        for (int32_t i = 0; i < count; i++) put(w, i, &w->near[i]);
        return;
    }
    s->action = nearest_available(w, at, count);
    s->rest = 0;
    s->depot_open = w->last != 0;
    s->load = (float)((double)w->load / (double)w->p->capacity);
    s->demand = w->demand;
    for (int32_t i = 0; i < s->action; i++) put(w, i, &w->able[i]);
    /* The further neighbours: the nearest unserved that are not in the action view. Both lists are in the
     * same order, and w->near holds k_max, so it has enough of them. */
    int32_t room = w->k_max < 0 ? w->index->tree.n : w->k_max - w->k_action;
    for (int32_t i = 0, taken = 0; i < count && s->rest < room; i++) {
        if (taken < s->action && w->near[i].node == w->able[taken].node)
            taken++;
        else
            put(w, s->action + s->rest++, &w->near[i]);
    }
}

size_t inv_walk_bytes(const inv_walk *w)
{
    size_t marks = w->marks.room / 2 + w->marks.room * sizeof(int32_t) * (w->index->least ? 2 : 1);
    size_t views = w->view_room * (sizeof *w->near + sizeof *w->node + 3 * sizeof(float));
    return sizeof *w + marks + w->order_room * sizeof *w->order + views;
}

const int32_t *inv_walk_order(const inv_walk *w, int32_t *count)
{
    *count = w->count;
    return w->order;
}

invit_status inv_walk_solution(const inv_walk *w, invit_solution **out, invit_error *err)
{
    if (w->p->problem == INVIT_TSP) {
        INV_CHECK(inv_solution_alloc(1, w->p->n, out, err));
        memcpy((*out)->nodes, w->order, (size_t)w->count * sizeof *w->order);
        if (w->count < w->p->n) (*out)->nodes[w->count] = w->first; /* a path: its end was fixed */
        (*out)->start[1] = w->p->n;
        return INVIT_OK;
    }
    /* A depot closes a route; the last route closes with the walk. Empty routes are left out. */
    int32_t routes = 0;
    for (int32_t i = 0; i < w->count; i++) routes += w->order[i] != 0 && (i == 0 || w->order[i - 1] == 0);
    INV_CHECK(inv_solution_alloc(routes, w->count, out, err));
    int32_t r = 0, filled = 0;
    for (int32_t i = 0; i < w->count; i++) {
        if (w->order[i] == 0) continue;
        if (i == 0 || w->order[i - 1] == 0) (*out)->start[r++] = filled;
        (*out)->nodes[filled++] = w->order[i];
    }
    (*out)->start[routes] = filled;
    return INVIT_OK;
}
