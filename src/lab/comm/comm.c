#include "lab/comm/comm.h"

#include <stdlib.h>

struct inv_comm {
    int rank, size;
    bool ours; /* this object began MPI and has to end it */
};

int inv_comm_rank(const inv_comm *c)
{
    return c->rank;
}

int inv_comm_size(const inv_comm *c)
{
    return c->size;
}

void inv_comm_send(inv_comm *c, const void *bytes, size_t count)
{
    inv_comm_send_to(c, 0, bytes, count);
}

#ifdef INVIT_MPI

#include <mpi.h>
#include <string.h>

#define PIECE ((size_t)1 << 28) /* counts are ints in MPI */

/* What mpirun and its relatives leave in the environment; without it MPI is not even started. */
static bool started_by_mpirun(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

invit_status inv_comm_create(inv_comm **out, invit_error *err)
{
    inv_comm *c = calloc(1, sizeof *c);
    if (!c) return inv_no_memory(err, sizeof *c);
    c->size = 1;
    *out = c;
    if (!started_by_mpirun()) return INVIT_OK;
    int begun = 0, level = 0;
    MPI_Initialized(&begun);
    if (!begun && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
        free(c);
        *out = NULL;
        return inv_fail(err, INVIT_ERR_INTERNAL, "MPI could not be started");
    }
    c->ours = !begun;
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->size);
    return INVIT_OK;
}

void inv_comm_destroy(inv_comm *c)
{
    if (!c) return;
    if (c->ours) MPI_Finalize();
    free(c);
}

void inv_comm_sum_floats(inv_comm *c, float *x, size_t count)
{
    for (size_t at = 0; c->size > 1 && at < count; at += PIECE)
        MPI_Allreduce(MPI_IN_PLACE, x + at, (int)(count - at < PIECE ? count - at : PIECE), MPI_FLOAT,
                      MPI_SUM, MPI_COMM_WORLD);
}

void inv_comm_sum_doubles(inv_comm *c, double *x, size_t count)
{
    for (size_t at = 0; c->size > 1 && at < count; at += PIECE)
        MPI_Allreduce(MPI_IN_PLACE, x + at, (int)(count - at < PIECE ? count - at : PIECE), MPI_DOUBLE,
                      MPI_SUM, MPI_COMM_WORLD);
}

void inv_comm_broadcast(inv_comm *c, void *bytes, size_t count)
{
    for (size_t at = 0; c->size > 1 && at < count; at += PIECE)
        MPI_Bcast((char *)bytes + at, (int)(count - at < PIECE ? count - at : PIECE), MPI_BYTE, 0,
                  MPI_COMM_WORLD);
}

void inv_comm_send_to(inv_comm *c, int to, const void *bytes, size_t count)
{
    (void)c;
    unsigned long long size = count;
    MPI_Send(&size, 1, MPI_UNSIGNED_LONG_LONG, to, 0, MPI_COMM_WORLD);
    for (size_t at = 0; at < count; at += INV_COMM_PIECE)
        MPI_Send((const char *)bytes + at, (int)(count - at < INV_COMM_PIECE ? count - at : INV_COMM_PIECE),
                 MPI_BYTE, to, 1, MPI_COMM_WORLD);
}

bool inv_comm_arrived(inv_comm *c, int from)
{
    (void)c;
    int there = 0;
    MPI_Iprobe(from, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    return there;
}

void inv_comm_abort(inv_comm *c, int code)
{
    if (c->size > 1) MPI_Abort(MPI_COMM_WORLD, code);
}

size_t inv_comm_receive_size(inv_comm *c, int from)
{
    (void)c;
    unsigned long long size = 0;
    MPI_Recv(&size, 1, MPI_UNSIGNED_LONG_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return (size_t)size;
}

void inv_comm_receive(inv_comm *c, int from, void *bytes, size_t count)
{
    (void)c;
    for (size_t at = 0; at < count; at += INV_COMM_PIECE) {
        size_t piece = count - at < INV_COMM_PIECE ? count - at : INV_COMM_PIECE;
        MPI_Recv((char *)bytes + at, (int)piece, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

invit_status inv_comm_agree(inv_comm *c, invit_status status, invit_error *err)
{
    if (c->size == 1) return status;
    int mine = status == INVIT_OK ? c->size : c->rank, first;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == c->size) return INVIT_OK;
    invit_error e = {0};
    if (first == c->rank && err) e = *err;
    e.code = first == c->rank ? status : e.code;
    MPI_Bcast(&e, (int)sizeof e, MPI_BYTE, first, MPI_COMM_WORLD);
    if (err) *err = e;
    return e.code;
}

#else

invit_status inv_comm_create(inv_comm **out, invit_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out) return inv_no_memory(err, sizeof **out);
    (*out)->size = 1;
    return INVIT_OK;
}

void inv_comm_destroy(inv_comm *c)
{
    free(c);
}

void inv_comm_sum_floats(inv_comm *c, float *x, size_t count)
{
    (void)c, (void)x, (void)count;
}

void inv_comm_sum_doubles(inv_comm *c, double *x, size_t count)
{
    (void)c, (void)x, (void)count;
}

void inv_comm_broadcast(inv_comm *c, void *bytes, size_t count)
{
    (void)c, (void)bytes, (void)count;
}

void inv_comm_send_to(inv_comm *c, int to, const void *bytes, size_t count)
{
    (void)c, (void)to, (void)bytes, (void)count;
}

bool inv_comm_arrived(inv_comm *c, int from)
{
    (void)c, (void)from;
    return false;
}

void inv_comm_abort(inv_comm *c, int code)
{
    (void)c, (void)code;
}

size_t inv_comm_receive_size(inv_comm *c, int from)
{
    (void)c, (void)from;
    return 0;
}

void inv_comm_receive(inv_comm *c, int from, void *bytes, size_t count)
{
    (void)c, (void)from, (void)bytes, (void)count;
}

invit_status inv_comm_agree(inv_comm *c, invit_status status, invit_error *err)
{
    (void)c, (void)err;
    return status;
}

#endif
