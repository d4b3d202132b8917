/* The k-d tree of the nodes that can be visited, and the smallest demand below each of its vertices. */
#include "view/index.h"

#include <stdlib.h>

static void fill_least(inv_index *x)
{
    int32_t leaves = (int32_t)1 << x->tree.levels;
    for (int32_t leaf = 0; leaf < leaves; leaf++) {
        int32_t least = INT32_MAX;
        for (int32_t i = inv_leaf_begin(&x->tree, leaf); i < inv_leaf_begin(&x->tree, leaf + 1); i++)
            if (x->demand[i] < least) least = x->demand[i];
        x->least[leaves + leaf] = least;
    }
    for (int32_t v = leaves - 1; v > 0; v--) {
        int32_t a = x->least[2 * v], b = x->least[2 * v + 1];
        x->least[v] = a < b ? a : b;
    }
}

static invit_status index_demands(inv_index *x, const invit_instance *p, invit_error *err)
{
    size_t n = (size_t)(x->tree.n > 0 ? x->tree.n : 1), vertices = inv_kd_vertices(&x->tree);
    x->demand = malloc(n * sizeof *x->demand);
    x->least = malloc(vertices * sizeof *x->least);
    if (!x->demand || !x->least) return inv_no_memory(err, (n + vertices) * sizeof *x->demand);
    for (int32_t i = 0; i < x->tree.n; i++) x->demand[i] = p->demand[x->tree.node[i]];
    fill_least(x);
    return INVIT_OK;
}

invit_status inv_index_create(const invit_instance *p, inv_index **out, invit_error *err)
{
    return inv_index_create_within(p, NULL, out, err);
}

invit_status inv_index_create_within(const invit_instance *p, const inv_limits *limits, inv_index **out,
                                     invit_error *err)
{
    *out = NULL;
    invit_status status = INVIT_OK;
    int32_t first = p->problem == INVIT_CVRP ? 1 : 0;
    inv_index *x = calloc(1, sizeof *x);
    if (!x) INV_TRY(inv_no_memory(err, sizeof *x));
    const inv_kd_tree *t = &x->tree;
    x->nodes = p->n;
    INV_TRY(inv_kd_create(&x->tree, p, first, limits, err));
    x->position = malloc((size_t)p->n * sizeof *x->position);
    if (!x->position) INV_TRY(inv_no_memory(err, (size_t)p->n * sizeof *x->position));
    if (first) x->position[0] = -1;
    for (int32_t i = 0; i < t->n; i++) x->position[t->node[i]] = i;
    if (first) INV_TRY(index_demands(x, p, err));
    *out = x;
    x = NULL;
done:
    inv_index_destroy(x);
    return status;
}

size_t inv_index_bytes(const inv_index *x)
{
    size_t demands = (size_t)x->tree.n * sizeof *x->demand + inv_kd_vertices(&x->tree) * sizeof *x->least;
    return sizeof *x + inv_kd_bytes(&x->tree) + (size_t)x->nodes * sizeof *x->position +
           (x->least ? demands : 0);
}

void inv_index_destroy(inv_index *x)
{
    if (!x) return;
    inv_kd_destroy(&x->tree);
    free(x->position);
    free(x->demand);
    free(x->least);
    free(x);
}
