/* Ranks of a distributed run. Built without MPI, or not started by mpirun, there is one rank and every call
 * is a no-op. Only the main thread calls these. */
#ifndef INVIT_LAB_COMM_COMM_H
#define INVIT_LAB_COMM_COMM_H

#include "base/error.h"

typedef struct inv_comm inv_comm;

/* Joins the job that mpirun started, if any. */
invit_status inv_comm_create(inv_comm **out, invit_error *err);
void inv_comm_destroy(inv_comm *c);
int inv_comm_rank(const inv_comm *c);
int inv_comm_size(const inv_comm *c);

/* Element-wise sums over all ranks, in place. */
void inv_comm_sum_floats(inv_comm *c, float *x, size_t count);
void inv_comm_sum_doubles(inv_comm *c, double *x, size_t count);
/* What rank 0 has, to all. */
void inv_comm_broadcast(inv_comm *c, void *bytes, size_t count);
/* A block of bytes to rank 0 (or another), which asks for its size and then takes it at once, or in pieces of
 * INV_COMM_PIECE and what is left. */
#define INV_COMM_PIECE ((size_t)1 << 20)
void inv_comm_send(inv_comm *c, const void *bytes, size_t count);
void inv_comm_send_to(inv_comm *c, int to, const void *bytes, size_t count);
/* Has a block from that rank begun to arrive? */
bool inv_comm_arrived(inv_comm *c, int from);
size_t inv_comm_receive_size(inv_comm *c, int from);
void inv_comm_receive(inv_comm *c, int from, void *bytes, size_t count);
/* Ends all ranks at once, with this exit code. Does not return under mpirun. */
void inv_comm_abort(inv_comm *c, int code);
/* The worst status of all ranks, so that all stop together; the error becomes that of the lowest failing
 * rank. */
invit_status inv_comm_agree(inv_comm *c, invit_status status, invit_error *err);

#endif
