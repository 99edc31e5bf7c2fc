/* trace.h - records the MPI calls of a program, for `hxmesh schedule`. schedule/mpi.c has the format.
 *
 *     make
 *     mpirun -n 4 -x LD_PRELOAD=$PWD/libmpi-trace.so ./program
 *     hxmesh schedule mpi-trace.0.mpi
 *
 * Each rank writes NAME.RANK.mpi. The variable HXMESH_MPI_TRACE is NAME. The library defines MPI's functions, and calls
 * the real ones by MPI's profiling interface (PMPI). It keeps lines in memory, and writes them when it is full and in
 * MPI_Finalize. The clock stops meanwhile.
 *
 * It records C and C++ programs, and languages that call MPI by its C functions. It records the thread that initialized
 * MPI, and counts the calls of others. */
#ifndef MPI_TRACE_H
#define MPI_TRACE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- lines (record.c) ---- */

/* Nanoseconds since MPI_Init returned. */
uint64_t trace_now(void);
/* Whether this call is to be recorded. */
bool trace_on(void);

/* Begins a line: `begin`, the present time, and the call's name. Returns false if it is not to be recorded. */
bool trace_line(uint64_t begin, const char *call);
bool trace_line_until(uint64_t begin, uint64_t end, const char *call);
/* Appends a number, or a text without a space before it, to the line. */
void trace_number(int64_t number);
void trace_text(const char *text);
void trace_end_line(void);

/* A call that took time but ended nothing: an unsuccessful test, a probe. Calls in close succession are one line. */
void trace_poll(uint64_t begin);
/* A call that communicates and that the reader cannot carry out. */
void trace_unknown(uint64_t begin, const char *call);

/* ---- communicators (communicators.c) ---- */

enum { TRACE_INTER = -1 };

void trace_open_communicators(void);
/* Returns the communicator's number at this rank, 0 for MPI_COMM_WORLD, or TRACE_INTER. The first call records the
 * communicator's ranks. */
int trace_communicator(uint64_t begin, MPI_Comm comm);

/* ---- requests (requests.c) ---- */

/* What a request does. A persistent one has its call, to record each start. */
struct trace_request {
    bool is_receive;
    bool is_null;     /* of MPI_PROC_NULL: not recorded */
    const char *call; /* of a persistent request; NULL: any other */
    int comm, peer, tag;
    int64_t bytes;
};

/* Adds a request that an MPI call returned. Returns its number, which is free again after its end. */
int trace_add_request(const MPI_Request *request, const struct trace_request *what);

/* Appends " COMM", then " PEER TAG", of a message; "*" for wildcards. */
void trace_message(int comm, int peer, int tag);
/* Appends "FROM,TAG,BYTES", or "cancelled", of a receive that ended. */
void trace_received(MPI_Status *status);

/* ---- sizes ---- */

static inline int64_t trace_bytes(int64_t count, MPI_Datatype type)
{
    int bytes = 0;
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_size(type, &bytes);
    return count * bytes;
}

#endif
