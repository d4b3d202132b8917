/* A tour cut into pieces, by space or along the tour, which threads improve at the same time.
 *
 * A piece is a cell of a k-d partition of the nodes, or a stretch of the tour. Its nodes in the order of the tour form a cycle; where two
 * of them follow each other on the cycle but not on the tour, a fixed edge stands for the path outside the
 * piece. Whatever keeps the fixed edges and gives one cycle is a shorter tour when the paths are put back.
 *
 * When several pieces change at once, each rearranges the outside paths of the others, and the edges of all
 * together may form several cycles instead of one. There are few of them, they are long, and joining two costs
 * next to nothing where they run side by side. So pieces need not wait for one another, and the result does not
 * depend on which thread had which piece. */
#ifndef INVIT_SEARCH_TSP_PIECES_H
#define INVIT_SEARCH_TSP_PIECES_H

#include "base/rng.h"
#include "search/neighbours.h"
#include "search/tsp_lin_kernighan.h"

enum { INV_PIECE_LEAST = 8 }; /* nodes that a piece needs to be worked on */

typedef struct inv_pieces {
    const invit_instance *p;
    const inv_neighbours *nb;
    const int32_t
        *fixed; /* [n] the other end of an edge of the tour that has to stay, or -1; NULL: none      */
    int threads;
    int32_t (*link)[2]; /* [n] the tour: the two neighbours of each node, in no order                   */
    int32_t *member;    /* [n] nodes piece by piece, in the order of the tour                            */
    int32_t *slot;      /* [n] where a node is in member; -1: left out by its piece                      */
    uint8_t *look;      /* [n] nodes whose surroundings have changed or were not seen as a whole         */
    int32_t count;      /* pieces                                                                        */
    int32_t *begin;     /* [count + 1] where each piece begins in member                                 */
    int32_t *kept;      /* [count] nodes of it that are not left out                                     */
    double *length;     /* [count] the length of its edges that may change                               */
} inv_pieces;

invit_status inv_pieces_create(const invit_instance *p, const inv_neighbours *nb, int threads, int32_t least,
                               inv_pieces *out, invit_error *err);
void inv_pieces_destroy(inv_pieces *q);

/* Cuts the tour anew into pieces of about `size` (>= `least` of creation) nodes, at places that `seed` decides.
 * O(n log(n / size)), all threads. */
void inv_pieces_cut(inv_pieces *q, const int32_t *order, int32_t size, uint64_t seed);
/* Cuts it into stretches of about `size` nodes instead, at places that `seed` decides. O(n), all threads. */
void inv_pieces_cut_along(inv_pieces *q, const int32_t *order, int32_t size, uint64_t seed);
/* Puts the nodes into `count` cells of about the same number, in member and begin; there need not be a tour.
 * n / count must be >= `least`. */
void inv_pieces_cells(inv_pieces *q, int32_t count, uint64_t seed);
/* Cuts the tour into `count` pieces by such cells. */
void inv_pieces_cut_into(inv_pieces *q, const int32_t *order, int32_t count, uint64_t seed);
/* The fixed edges of piece i, whose nodes are counted from 0 along its cycle: mate[j], the node at the other
 * end, or -1; and outside[j], where the tour goes on there. */
void inv_pieces_tie(const inv_pieces *q, int32_t i, int32_t *mate, int32_t *outside);
/* Sets the links from a cycle of `count` nodes, in the order in which they are visited now. */
void inv_pieces_put(inv_pieces *q, const int32_t *node, const int32_t *mate, const int32_t *outside,
                    const int32_t *order, int32_t count);

/* One thread's work on one piece. */
typedef struct inv_piece {
    inv_lk lk;
    int32_t *node;    /* [lk.n] what the search's nodes are called outside     */
    int32_t *outside; /* [lk.n] for nodes with a mate: the next one outside    */
    int32_t room;
} inv_piece;

void inv_piece_destroy(inv_piece *w);
/* Hands piece i to the search; nodes to look at are queued. A piece of fewer than INV_PIECE_LEAST nodes gives
 * lk.n = 0. */
invit_status inv_piece_load(inv_pieces *q, int32_t i, inv_piece *w, invit_error *err);
/* Puts its tour back into the links. */
void inv_piece_unload(inv_pieces *q, inv_piece *w);

/* Joins the cycles that the links form into one and leaves its nodes in order; *cycles says how many there
 * were. */
invit_status inv_pieces_join(inv_pieces *q, int32_t *order, int32_t *cycles, invit_error *err);
/* Sets the links from a tour. */
void inv_pieces_link(inv_pieces *q, const int32_t *order);

#endif
