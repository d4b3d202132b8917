/* One decision's nested views: what the policy sees, before the invariant layer.
 *
 * `node[0..action-1]` is the action view (TSP: the nearest unvisited; CVRP: the nearest available customers), and
 * `node[action..action+rest-1]` are the further neighbours of the state views, nearest first. State view i is the
 * action view followed by the first min(rest, k_i - k_a) of the further ones, so all views are read from one list.
 */
#ifndef INVIT_VIEW_STATE_H
#define INVIT_VIEW_STATE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct inv_state {
    int32_t action;  /* neighbours in the action view, at most k_a                                 */
    int32_t rest;    /* further neighbours, at most k_max - k_a                                    */
    bool depot_open; /* CVRP: the depot is a candidate (not while standing on it)                   */
    float load;      /* CVRP: remaining load / capacity                                            */
    float last[2];   /* the node last visited, in the rollout's frame (unit square, augmented)      */
    float first[2];  /* TSP: the start node; CVRP: the depot                                       */
    int32_t *node;   /* [action + rest] node numbers                                               */
    float *xy;       /* [action + rest][2]                                                         */
    float *demand;   /* [action + rest] demand / capacity; NULL for TSP                            */
} inv_state;

/* How many candidates there are to choose from. */
static inline int32_t inv_choices(const inv_state *s)
{
    return s->action + (s->depot_open ? 1 : 0);
}

/* The node of the only move there is (0: the depot), or -1 when there is a choice. */
static inline int32_t inv_forced_move(const inv_state *s)
{
    if (inv_choices(s) != 1) return -1;
    return s->action == 1 ? s->node[0] : 0;
}

#endif
