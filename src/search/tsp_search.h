/* What the TSP searches share: the problem, when to stop, and how progress is told. */
#ifndef INVIT_SEARCH_TSP_SEARCH_H
#define INVIT_SEARCH_TSP_SEARCH_H

#include "search/improve.h"
#include "search/neighbours.h"
#include "search/show.h"
#include "search/tsp_lin_kernighan.h"

typedef struct inv_tsp_search {
    const invit_instance *p;
    const inv_neighbours *nb;
    const inv_improve_options *o;
    double begun;             /* inv_now() when improvement began           */
    invit_solution *solution; /* the caller's; the best tour shown so far   */
    const int32_t *name;      /* [n] what the caller calls node i of p: here they are numbered along a
                                       Hilbert curve, so that neighbours are near in memory */
    const int32_t *fixed;     /* [n] the other end of an edge that has to stay, or -1; NULL: none */
    int32_t *order;           /* [n] the best tour so far, nodes of p       */
    double length;            /* its length                                 */
    int64_t kicks;            /* made so far                                */
    int32_t whole_most;       /* larger tours have populations in pieces only */
    inv_shown shown;
    double told;                /* when the caller was last told ...       */
    _Atomic double told_length; /* ... about this length; any thread reads */
} inv_tsp_search;

/* True when the deadline has come or the caller wants to stop. Any thread. */
bool inv_tsp_over(const inv_tsp_search *s);
/* Tells the caller about progress, at most ten times a second. From the thread that called inv_improve_tsp.
 */
void inv_tsp_tell(inv_tsp_search *s, double length, int64_t kicks);

/* Copies the best tour to the caller's solution and hands it to whoever draws it, at most ten times a second.
 * From that thread too. */
void inv_tsp_show(inv_tsp_search *s);

/* Chained Lin-Kernighan on s->order, all threads at once on pieces of the tour. */
invit_status inv_tsp_chain(inv_tsp_search *s, invit_error *err);
/* The most nodes of a tour that has a population as a whole, by the time, or the kicks, that are left per node: the
 * fewer, the sooner small pieces, which stay in the cache and keep all threads busy, are better. */
int32_t inv_tsp_whole_most(const inv_tsp_search *s);
/* The nodes of a piece of a larger one that has a population of its own; 0: there is no time for that. */
int32_t inv_tsp_population_piece(const inv_tsp_search *s);
/* A population of such tours, crossed by edge assembly: far better where there is time for it. *done is false
 * when there is not, and only a little has been spent to find out, or when there is some left after it. */
invit_status inv_tsp_evolve(inv_tsp_search *s, bool *done, invit_error *err);

#endif
