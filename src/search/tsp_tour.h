/* A tour as an array, and k-opt moves on it. */
#ifndef INVIT_SEARCH_TSP_TOUR_H
#define INVIT_SEARCH_TSP_TOUR_H

#include <stdbool.h>
#include <stdint.h>

enum { INV_MAX_OPT = 8 };

typedef struct inv_tour {
    int32_t n;
    int32_t *order;   /* [n] node at each position */
    int32_t *pos;     /* [n] position of each node */
    int32_t *scratch; /* [n]                       */
} inv_tour;

static inline int32_t inv_tour_next(const inv_tour *t, int32_t v)
{
    int32_t p = t->pos[v] + 1;
    return t->order[p == t->n ? 0 : p];
}

static inline int32_t inv_tour_prev(const inv_tour *t, int32_t v)
{
    int32_t p = t->pos[v];
    return t->order[p == 0 ? t->n - 1 : p - 1];
}

/* A k-opt move takes out the edges (t[0],t[1]), (t[2],t[3]), ... and puts in others between the same ends. */
typedef struct inv_kopt {
    int k;
    int32_t t[2 * INV_MAX_OPT];
    int32_t cut[INV_MAX_OPT];   /* position of the edge's first node along the tour            */
    uint8_t rank[INV_MAX_OPT];  /* edges in the order of their positions                      */
    uint8_t first[INV_MAX_OPT]; /* which end of edge i comes first along the tour: 2i or 2i+1  */
} inv_kopt;

/* How the ends are joined anew. Sequential: t[1]-t[2], t[3]-t[4], ..., t[2k-1]-t[0]. Bridge (k = 4, edges
 * given in tour order): the double bridge, which no sequential move undoes easily. */
typedef enum inv_join { INV_SEQUENTIAL, INV_BRIDGE } inv_join;

/* The end that end i is joined to. */
int inv_kopt_joined(int i, int k, inv_join join);

/* Adds the tour edge a-b as the next one to take out. */
void inv_kopt_cut(inv_kopt *m, const inv_tour *tour, int32_t a, int32_t b);
/* Takes it back. */
void inv_kopt_uncut(inv_kopt *m);
/* What the sequential joins but the last leave: a path from t[2k-1], the open end, to t[0], and perhaps cycles.
 * role[c] is that of the nodes with c of the cuts before them. */
typedef enum inv_role { INV_FORWARD, INV_BACKWARD, INV_ELSEWHERE } inv_role;
typedef struct inv_path {
    uint8_t role[INV_MAX_OPT + 1]; /* how the path runs through the piece, or that a cycle does */
    int cycles;
} inv_path;
void inv_kopt_path(const inv_kopt *m, inv_path *path);

/* How many cuts are before position p: with that, the piece it is in. */
static inline int inv_kopt_before(const inv_kopt *m, int32_t p)
{
    int count = 0;
    for (int i = 0; i < m->k; i++) count += m->cut[i] < p;
    return count;
}
/* Whether joining the open end to c and taking out the edge from there to the node before it (`back`) or after
 * it leaves nothing but a path, which can be closed. `role` is that of c. */
static inline bool inv_path_goes_on(const inv_path *path, int role, bool back)
{
    /* The edge that goes is the one on the way from the open end to c; of a single cycle, either. */
    if (path->cycles == 0) return role == (back ? INV_FORWARD : INV_BACKWARD);
    return path->cycles == 1 && role == INV_ELSEWHERE;
}

/* Makes the move, rewriting all but the longest piece of the tour. False, and nothing done, when more than
 * `limit` nodes would have to be moved or the result is not one cycle. */
bool inv_kopt_apply(const inv_kopt *m, inv_join join, inv_tour *tour, int32_t limit);
/* Sets *back to the move that takes an applied one back; `tour` is the tour after it. */
void inv_kopt_inverse(const int32_t *t, int k, inv_join join, const inv_tour *tour, inv_kopt *back);

#endif
