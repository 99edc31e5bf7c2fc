/* unknown.c - calls that communicate and that are recorded by name only (trace.h): scans, neighbourhoods, windows,
 * processes. */
#include "trace.h"

#define LIST(...) __VA_ARGS__
#define UNKNOWN(name, parameters, arguments)                                                                           \
    int MPI_##name(LIST parameters)                                                                                    \
    {                                                                                                                  \
        uint64_t begin = trace_now();                                                                                  \
        int error = PMPI_##name(LIST arguments);                                                                       \
        trace_unknown(begin, "MPI_" #name);                                                                            \
        return error;                                                                                                  \
    }
/* A collective and its nonblocking form. */
#define UNKNOWN_PAIR(name, iname, parameters, arguments)                                                               \
    UNKNOWN(name, (LIST parameters, MPI_Comm comm), (LIST arguments, comm))                                            \
    UNKNOWN(iname, (LIST parameters, MPI_Comm comm, MPI_Request * request), (LIST arguments, comm, request))

UNKNOWN_PAIR(Scan, Iscan, (const void *own, void *sum, int count, MPI_Datatype type, MPI_Op op),
             (own, sum, count, type, op))
UNKNOWN_PAIR(Exscan, Iexscan, (const void *own, void *sum, int count, MPI_Datatype type, MPI_Op op),
             (own, sum, count, type, op))

UNKNOWN_PAIR(Neighbor_allgather, Ineighbor_allgather,
             (const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count, MPI_Datatype in_type),
             (out, out_count, out_type, in, in_count, in_type))
UNKNOWN_PAIR(Neighbor_alltoall, Ineighbor_alltoall,
             (const void *out, int out_count, MPI_Datatype out_type, void *in, int in_count, MPI_Datatype in_type),
             (out, out_count, out_type, in, in_count, in_type))
UNKNOWN_PAIR(Neighbor_allgatherv, Ineighbor_allgatherv,
             (const void *out, int out_count, MPI_Datatype out_type, void *in, const int in_counts[],
              const int places[], MPI_Datatype in_type),
             (out, out_count, out_type, in, in_counts, places, in_type))
UNKNOWN_PAIR(Neighbor_alltoallv, Ineighbor_alltoallv,
             (const void *out, const int out_counts[], const int out_places[], MPI_Datatype out_type, void *in,
              const int in_counts[], const int in_places[], MPI_Datatype in_type),
             (out, out_counts, out_places, out_type, in, in_counts, in_places, in_type))
UNKNOWN_PAIR(Neighbor_alltoallw, Ineighbor_alltoallw,
             (const void *out, const int out_counts[], const MPI_Aint out_places[], const MPI_Datatype out_types[],
              void *in, const int in_counts[], const MPI_Aint in_places[], const MPI_Datatype in_types[]),
             (out, out_counts, out_places, out_types, in, in_counts, in_places, in_types))

#define FAR         int rank, MPI_Aint place, int far_count, MPI_Datatype far_type
#define PART        const void *data, int count, MPI_Datatype type, FAR
#define PART_IN     void *data, int count, MPI_Datatype type, FAR
#define PART_PASSED data, count, type, rank, place, far_count, far_type

UNKNOWN(Put, (PART, MPI_Win window), (PART_PASSED, window))
UNKNOWN(Rput, (PART, MPI_Win window, MPI_Request *request), (PART_PASSED, window, request))
UNKNOWN(Get, (PART_IN, MPI_Win window), (PART_PASSED, window))
UNKNOWN(Rget, (PART_IN, MPI_Win window, MPI_Request *request), (PART_PASSED, window, request))
UNKNOWN(Accumulate, (PART, MPI_Op op, MPI_Win window), (PART_PASSED, op, window))
UNKNOWN(Raccumulate, (PART, MPI_Op op, MPI_Win window, MPI_Request *request), (PART_PASSED, op, window, request))
UNKNOWN(Get_accumulate, (const void *own, int own_count, MPI_Datatype own_type, PART_IN, MPI_Op op, MPI_Win window),
        (own, own_count, own_type, PART_PASSED, op, window))
UNKNOWN(Rget_accumulate,
        (const void *own, int own_count, MPI_Datatype own_type, PART_IN, MPI_Op op, MPI_Win window,
         MPI_Request *request),
        (own, own_count, own_type, PART_PASSED, op, window, request))
UNKNOWN(Fetch_and_op,
        (const void *own, void *result, MPI_Datatype type, int rank, MPI_Aint place, MPI_Op op, MPI_Win window),
        (own, result, type, rank, place, op, window))
UNKNOWN(Compare_and_swap,
        (const void *own, const void *compared, void *result, MPI_Datatype type, int rank, MPI_Aint place,
         MPI_Win window),
        (own, compared, result, type, rank, place, window))
UNKNOWN(Win_fence, (int assertion, MPI_Win window), (assertion, window))
UNKNOWN(Win_start, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window))
UNKNOWN(Win_complete, (MPI_Win window), (window))
UNKNOWN(Win_post, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window))
UNKNOWN(Win_wait, (MPI_Win window), (window))
UNKNOWN(Win_lock, (int kind, int rank, int assertion, MPI_Win window), (kind, rank, assertion, window))
UNKNOWN(Win_unlock, (int rank, MPI_Win window), (rank, window))
UNKNOWN(Win_lock_all, (int assertion, MPI_Win window), (assertion, window))
UNKNOWN(Win_unlock_all, (MPI_Win window), (window))
UNKNOWN(Win_flush, (int rank, MPI_Win window), (rank, window))
UNKNOWN(Win_flush_all, (MPI_Win window), (window))

UNKNOWN(Comm_spawn,
        (const char *command, char *words[], int ranks, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *inter,
         int errors[]),
        (command, words, ranks, info, root, comm, inter, errors))
UNKNOWN(Comm_connect, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *inter),
        (port, info, root, comm, inter))
UNKNOWN(Comm_accept, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *inter),
        (port, info, root, comm, inter))
