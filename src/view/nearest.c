/* What a walk has left, and the nearest of it. */
#include "view/index.h"

#include <stdlib.h>
#include <string.h>

invit_status inv_marks_rebind(inv_marks *m, const inv_index *x, invit_error *err)
{
    size_t need = inv_kd_vertices(&x->tree);
    if (need > m->room || (x->least && !m->least)) {
        inv_marks_destroy(m);
        m->alive = malloc(need / 2);
        m->down = malloc(need * sizeof *m->down);
        if (x->least) m->least = malloc(need * sizeof *m->least);
        if (!m->alive || !m->down || (x->least && !m->least)) {
            inv_marks_destroy(m);
            return inv_no_memory(err, need * 9);
        }
        m->room = need;
    }
    m->index = x;
    return INVIT_OK;
}

invit_status inv_marks_init(inv_marks *m, const inv_index *x, invit_error *err)
{
    *m = (inv_marks){0};
    return inv_marks_rebind(m, x, err);
}

void inv_marks_destroy(inv_marks *m)
{
    free(m->alive);
    free(m->down);
    free(m->least);
    *m = (inv_marks){0};
}

void inv_marks_reset(inv_marks *m)
{
    const inv_index *x = m->index;
    int32_t leaves = (int32_t)1 << x->tree.levels;
    for (int32_t leaf = 0; leaf < leaves; leaf++) {
        int32_t count = inv_leaf_begin(&x->tree, leaf + 1) - inv_leaf_begin(&x->tree, leaf);
        m->alive[leaf] = (uint8_t)((1u << count) - 1);
    }
    m->down[0] = 0;
    for (int32_t v = 1; v < 2 * leaves; v++) m->down[v] = v;
    if (x->tree.n == 0) m->down[1] = 0;
    if (x->least) memcpy(m->least, x->least, inv_kd_vertices(&x->tree) * sizeof *m->least);
}

void inv_marks_copy(inv_marks *to, const inv_marks *from)
{
    size_t vertices = inv_kd_vertices(&from->index->tree);
    memcpy(to->alive, from->alive, vertices / 2);
    memcpy(to->down, from->down, vertices * sizeof *to->down);
    if (from->index->least) memcpy(to->least, from->least, vertices * sizeof *to->least);
}

bool inv_marks_has(const inv_marks *m, int32_t position)
{
    const inv_kd_tree *t = &m->index->tree;
    int32_t leaf = inv_leaf_of(t, position);
    return m->alive[leaf] >> (position - inv_leaf_begin(t, leaf)) & 1;
}

void inv_marks_remove(inv_marks *m, int32_t position)
{
    const inv_index *x = m->index;
    int32_t leaf = inv_leaf_of(&x->tree, position), begin = inv_leaf_begin(&x->tree, leaf);
    m->alive[leaf] = (uint8_t)(m->alive[leaf] & ~(1u << (position - begin)));
    int32_t bottom = ((int32_t)1 << x->tree.levels) + leaf;
    if (m->alive[leaf] == 0) {
        m->down[bottom] = 0;
        for (int32_t v = bottom / 2; v > 0; v /= 2) {
            int32_t a = m->down[2 * v], b = m->down[2 * v + 1], down = v;
            if (!a || !b) down = a ? a : b;
            if (down == m->down[v]) break;
            m->down[v] = down;
        }
    }
    if (!x->least) return;
    int32_t least = INT32_MAX;
    for (unsigned bits = m->alive[leaf]; bits; bits &= bits - 1) {
        int32_t d = x->demand[begin + __builtin_ctz(bits)];
        if (d < least) least = d;
    }
    for (int32_t v = bottom; v > 0 && m->least[v] != least;) {
        m->least[v] = least;
        v /= 2;
        if (v > 0) least = m->least[2 * v] < m->least[2 * v + 1] ? m->least[2 * v] : m->least[2 * v + 1];
    }
}

/* a after b in the order nearest first, ties by node. */
static inline bool farther(const inv_near *a, const inv_near *b)
{
    return a->d > b->d || (a->d == b->d && a->node > b->node);
}

/* `near` is a heap with the farthest on top: puts `item` at i or below. */
static void sift_down(inv_near *near, int32_t count, int32_t i, inv_near item)
{
    for (int32_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && farther(&near[child + 1], &near[child])) child++;
        if (!farther(&near[child], &item)) break;
        near[i] = near[child];
    }
    near[i] = item;
}

static void sift_up(inv_near *near, int32_t i, inv_near item)
{
    for (int32_t parent; i > 0; i = parent) {
        parent = (i - 1) / 2;
        if (!farther(&item, &near[parent])) break;
        near[i] = near[parent];
    }
    near[i] = item;
}

int32_t inv_marks_nearest(const inv_marks *m, const double at[2], int32_t k, int32_t limit, inv_near *near)
{
    const inv_kd_tree *t = &m->index->tree;
    const int32_t *demand = m->index->demand, *least = m->index->least ? m->least : NULL;
    int32_t leaves = (int32_t)1 << t->levels, count = 0, depth = 0;
    struct {
        double d;
        int32_t v;
    } stack[64]; /* a far child per level, and the tree has at most 31 levels */

    if (k <= 0 || m->down[1] == 0 || (least && least[1] > limit)) return 0;
    stack[depth].d = 0;
    stack[depth++].v = m->down[1];
    while (depth > 0) {
        depth--;
        int32_t v = stack[depth].v;
        /* Equal distances stay in: among them the smaller node number wins. */
        if (count == k && stack[depth].d > near[0].d) continue;
        if (v >= leaves) {
            int32_t begin = inv_leaf_begin(t, v - leaves);
            for (unsigned bits = m->alive[v - leaves]; bits; bits &= bits - 1) {
                int32_t i = begin + __builtin_ctz(bits);
                if (least && demand[i] > limit) continue;
                double dx = t->xy[i][0] - at[0], dy = t->xy[i][1] - at[1];
                inv_near item = {.d = dx * dx + dy * dy, .node = t->node[i], .position = i};
                if (count < k)
                    sift_up(near, count, item), count++;
                else if (farther(&near[0], &item))
                    sift_down(near, count, 0, item);
            }
            continue;
        }
        int32_t a = m->down[2 * v], b = m->down[2 * v + 1];
        double da = inv_box_distance(&t->box[a], at), db = inv_box_distance(&t->box[b], at);
        if (da > db) {
            int32_t v2 = a;
            a = b;
            b = v2;
            double d2 = da;
            da = db;
            db = d2;
        }
        if (!least || least[b] <= limit) stack[depth].d = db, stack[depth++].v = b;
        if (!least || least[a] <= limit) stack[depth].d = da, stack[depth++].v = a;
    }
    for (int32_t left = count - 1; left > 0; left--) {
        inv_near last = near[left];
        near[left] = near[0];
        sift_down(near, left, 0, last);
    }
    return count;
}
