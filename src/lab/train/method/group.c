#include "lab/train/method/group.h"

#include <stdlib.h>

invit_status inv_group_init(inv_group *g, int32_t room, const inv_config *config, invit_error *err)
{
    size_t n = (size_t)room;
    *g = (inv_group){.room = room, .config = config};
    g->walk = calloc(n, sizeof *g->walk);
    g->instance = calloc(n, sizeof *g->instance);
    g->index = calloc(n, sizeof *g->index);
    g->frame = calloc(n, sizeof *g->frame);
    if (!g->walk || !g->instance || !g->index || !g->frame) return inv_no_memory(err, n * sizeof *g->frame);
    return inv_roller_init(&g->roller, room, config, err);
}

void inv_group_clear(inv_group *g)
{
    for (int32_t i = 0; i < g->room; i++) {
        inv_index_destroy(g->index[i]);
        invit_instance_destroy(g->instance[i]);
        g->index[i] = NULL;
        g->instance[i] = NULL;
    }
}

void inv_group_destroy(inv_group *g)
{
    if (g->instance && g->index) inv_group_clear(g);
    for (int32_t i = 0; g->walk && i < g->room; i++) inv_walk_destroy(g->walk[i]);
    inv_roller_destroy(&g->roller);
    free(g->walk);
    free(g->instance);
    free(g->index);
    free(g->frame);
    *g = (inv_group){0};
}

invit_status inv_group_bind(inv_group *g, int32_t i, const invit_instance *p, const inv_index *x,
                            invit_error *err)
{
    if (g->walk[i]) return inv_walk_rebind(g->walk[i], p, x, err);
    return inv_roller_walk(g->config, p, x, &g->walk[i], err);
}

void inv_group_start(inv_group *g, int32_t i, inv_rng *rng)
{
    const invit_instance *p = g->instance[i];
    inv_frame_for_copy(p, 1 + (int)inv_rng_below(rng, 2), rng, &g->frame[i]);
    int32_t start = p->problem == INVIT_TSP ? (int32_t)inv_rng_below(rng, (uint32_t)p->n) : 0;
    inv_walk_start(g->walk[i], start, &g->frame[i]);
}
