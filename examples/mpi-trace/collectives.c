/* collectives.c - collectives, blocking and not (trace.h).
 *
 * Bytes are those of the vector in schedule/schedule.h: of all ranks' parts for those that gather, scatter or exchange
 * equal parts. Collectives of unequal parts list what a rank sends to each ("s") and receives from each ("r"). */
#include "trace.h"

/* Ranks of a communicator; 0: of an intercommunicator. Its calls are recorded by name only. */
static int size_of(MPI_Comm comm)
{
    int size = 0;
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (!is_inter)
        PMPI_Comm_size(comm, &size);
    return size;
}

static bool is_root(int root, MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

static void put(int64_t number)
{
    trace_text(" ");
    trace_number(number);
}

/* Begins the line of a collective. request: NULL, of a blocking one. Returns false if there is none to record. */
static bool begin_line(uint64_t begin, const char *call, MPI_Comm comm, const MPI_Request *request)
{
    if (!trace_on())
        return false;
    int number = trace_communicator(begin, comm);
    int request_number =
        request ? trace_add_request(request, &(struct trace_request){.is_null = number == TRACE_INTER}) : 0;
    if (number == TRACE_INTER) {
        trace_unknown(begin, call);
        return false;
    }
    if (!trace_line(begin, call))
        return false;
    if (request)
        put(request_number);
    put(number);
    return true;
}

enum { ROOTLESS = -1, SIZELESS = -1 };

static void collected(uint64_t begin, const char *call, MPI_Comm comm, int root, int64_t bytes,
                      const MPI_Request *request)
{
    if (!begin_line(begin, call, comm, request))
        return;
    if (root != ROOTLESS)
        put(root);
    if (bytes != SIZELESS)
        put(bytes);
    trace_end_line();
}

/* Defines a collective and its nonblocking form. Parameters and arguments are those before the communicator. */
#define LIST(...) __VA_ARGS__
#define COLLECTIVE(name, iname, ended, parameters, arguments)                                                          \
    int MPI_##name(LIST parameters, MPI_Comm comm)                                                                     \
    {                                                                                                                  \
        const char *call = "MPI_" #name;                                                                               \
        const MPI_Request *request = NULL;                                                                             \
        uint64_t begin = trace_now();                                                                                  \
        int error = PMPI_##name(LIST arguments, comm);                                                                 \
        if (error == MPI_SUCCESS)                                                                                      \
            (ended);                                                                                                   \
        return error;                                                                                                  \
    }                                                                                                                  \
    int MPI_##iname(LIST parameters, MPI_Comm comm, MPI_Request *request)                                              \
    {                                                                                                                  \
        const char *call = "MPI_" #iname;                                                                              \
        uint64_t begin = trace_now();                                                                                  \
        int error = PMPI_##iname(LIST arguments, comm, request);                                                       \
        if (error == MPI_SUCCESS)                                                                                      \
            (ended);                                                                                                   \
        return error;                                                                                                  \
    }

int MPI_Barrier(MPI_Comm comm)
{
    uint64_t begin = trace_now();
    int error = PMPI_Barrier(comm);
    if (error == MPI_SUCCESS)
        collected(begin, "MPI_Barrier", comm, ROOTLESS, SIZELESS, NULL);
    return error;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    uint64_t begin = trace_now();
    int error = PMPI_Ibarrier(comm, request);
    if (error == MPI_SUCCESS)
        collected(begin, "MPI_Ibarrier", comm, ROOTLESS, SIZELESS, request);
    return error;
}

/* ---- equal parts ---- */

COLLECTIVE(Bcast, Ibcast, collected(begin, call, comm, root, trace_bytes(count, type), request),
           (void *data, int count, MPI_Datatype type, int root), (data, count, type, root))
COLLECTIVE(Reduce, Ireduce, collected(begin, call, comm, root, trace_bytes(count, type), request),
           (const void *own, void *sum, int count, MPI_Datatype type, MPI_Op op, int root),
           (own, sum, count, type, op, root))
COLLECTIVE(Allreduce, Iallreduce, collected(begin, call, comm, ROOTLESS, trace_bytes(count, type), request),
           (const void *own, void *sum, int count, MPI_Datatype type, MPI_Op op), (own, sum, count, type, op))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
           collected(begin, call, comm, ROOTLESS, size_of(comm) * trace_bytes(count, type), request),
           (const void *own, void *sum, int count, MPI_Datatype type, MPI_Op op), (own, sum, count, type, op))

/* Counts and types of what each rank gives and gets. Those of a rank that gives or gets nothing have no meaning. */
#define GIVE          const void *out, int out_count, MPI_Datatype out_type
#define GIVE_AND_GET  GIVE, void *in, int in_count, MPI_Datatype in_type
#define GIVEN_AND_GOT out, out_count, out_type, in, in_count, in_type

COLLECTIVE(Allgather, Iallgather,
           collected(begin, call, comm, ROOTLESS, size_of(comm) * trace_bytes(in_count, in_type), request),
           (GIVE_AND_GET), (GIVEN_AND_GOT))
COLLECTIVE(Alltoall, Ialltoall,
           collected(begin, call, comm, ROOTLESS, size_of(comm) * trace_bytes(in_count, in_type), request),
           (GIVE_AND_GET), (GIVEN_AND_GOT))
COLLECTIVE(Gather, Igather,
           collected(begin, call, comm, root,
                     size_of(comm) *
                         (is_root(root, comm) ? trace_bytes(in_count, in_type) : trace_bytes(out_count, out_type)),
                     request),
           (GIVE_AND_GET, int root), (GIVEN_AND_GOT, root))
COLLECTIVE(Scatter, Iscatter,
           collected(begin, call, comm, root,
                     size_of(comm) *
                         (is_root(root, comm) ? trace_bytes(out_count, out_type) : trace_bytes(in_count, in_type)),
                     request),
           (GIVE_AND_GET, int root), (GIVEN_AND_GOT, root))

/* ---- unequal parts that every rank knows ---- */

static int64_t sum_of(MPI_Comm comm, const int counts[], MPI_Datatype type)
{
    int64_t sum = 0;
    for (int i = 0; i < size_of(comm); i++)
        sum += counts[i];
    return trace_bytes(sum, type);
}

COLLECTIVE(Allgatherv, Iallgatherv, collected(begin, call, comm, ROOTLESS, sum_of(comm, in_counts, in_type), request),
           (const void *out, int out_count, MPI_Datatype out_type, void *in, const int in_counts[], const int places[],
            MPI_Datatype in_type),
           (out, out_count, out_type, in, in_counts, places, in_type))
COLLECTIVE(Reduce_scatter, Ireduce_scatter, collected(begin, call, comm, ROOTLESS, sum_of(comm, counts, type), request),
           (const void *own, void *sum, const int counts[], MPI_Datatype type, MPI_Op op), (own, sum, counts, type, op))

/* ---- unequal parts ---- */

static void put_part(const char *letter, int rank, int64_t bytes)
{
    if (bytes == 0)
        return;
    trace_text(letter);
    trace_number(rank);
    trace_text(":");
    trace_number(bytes);
}

/* types: one for each rank; NULL: all of `type`. */
static void put_parts(const char *letter, MPI_Comm comm, const int counts[], const MPI_Datatype types[],
                      MPI_Datatype type)
{
    int size = size_of(comm);
    for (int i = 0; i < size; i++)
        put_part(letter, i, trace_bytes(counts[i], types ? types[i] : type));
}

static void exchanged(uint64_t begin, const char *call, MPI_Comm comm, bool in_place, const int out_counts[],
                      const MPI_Datatype out_types[], MPI_Datatype out_type, const int in_counts[],
                      const MPI_Datatype in_types[], MPI_Datatype in_type, const MPI_Request *request)
{
    if (!begin_line(begin, call, comm, request))
        return;
    if (in_place)
        put_parts(" s", comm, in_counts, in_types, in_type);
    else
        put_parts(" s", comm, out_counts, out_types, out_type);
    put_parts(" r", comm, in_counts, in_types, in_type);
    trace_end_line();
}

COLLECTIVE(Alltoallv, Ialltoallv,
           exchanged(begin, call, comm, out == MPI_IN_PLACE, out_counts, NULL, out_type, in_counts, NULL, in_type,
                     request),
           (const void *out, const int out_counts[], const int out_places[], MPI_Datatype out_type, void *in,
            const int in_counts[], const int in_places[], MPI_Datatype in_type),
           (out, out_counts, out_places, out_type, in, in_counts, in_places, in_type))
COLLECTIVE(Alltoallw, Ialltoallw,
           exchanged(begin, call, comm, out == MPI_IN_PLACE, out_counts, out_types, MPI_BYTE, in_counts, in_types,
                     MPI_BYTE, request),
           (const void *out, const int out_counts[], const int out_places[], const MPI_Datatype out_types[], void *in,
            const int in_counts[], const int in_places[], const MPI_Datatype in_types[]),
           (out, out_counts, out_places, out_types, in, in_counts, in_places, in_types))

/* The root has the counts of all ranks; every other one its own. */
static void spread(uint64_t begin, const char *call, MPI_Comm comm, int root, const char *of_root, const int counts[],
                   MPI_Datatype root_type, const char *of_others, int64_t own, const MPI_Request *request)
{
    if (!begin_line(begin, call, comm, request))
        return;
    if (is_root(root, comm))
        put_parts(of_root, comm, counts, NULL, root_type);
    else
        put_part(of_others, root, own);
    trace_end_line();
}

COLLECTIVE(Gatherv, Igatherv,
           spread(begin, call, comm, root, " r", in_counts, in_type, " s",
                  is_root(root, comm) ? 0 : trace_bytes(out_count, out_type), request),
           (const void *out, int out_count, MPI_Datatype out_type, void *in, const int in_counts[], const int places[],
            MPI_Datatype in_type, int root),
           (out, out_count, out_type, in, in_counts, places, in_type, root))
COLLECTIVE(Scatterv, Iscatterv,
           spread(begin, call, comm, root, " s", out_counts, out_type, " r",
                  is_root(root, comm) ? 0 : trace_bytes(in_count, in_type), request),
           (const void *out, const int out_counts[], const int places[], MPI_Datatype out_type, void *in, int in_count,
            MPI_Datatype in_type, int root),
           (out, out_counts, places, out_type, in, in_count, in_type, root))
