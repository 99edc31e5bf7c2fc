/* agree_mpi.c - ranks of MPI agree whether they can start (agree_mpi.h). */
#include "agree_mpi.h"
#include "base/split_mix.h"
#include "base/version.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A program, on a machine. All versions exchange this first. */
struct identity {
    char version[32];
    char host[64];
    uint64_t sum; /* of the program file */
};

static uint64_t sum_of_program(void)
{
    uint64_t sum = 0;
    FILE *in = fopen("/proc/self/exe", "rbe");
    uint8_t part[4096];
    for (size_t got; in && (got = fread(part, 1, sizeof part, in)) > 0;)
        sum = split_mix_bytes(sum, part, got);
    if (in)
        (void)fclose(in);
    return sum;
}

static struct identity own_identity(void)
{
    struct identity own = {.version = HXMESH_VERSION, .sum = sum_of_program()};
    (void)gethostname(own.host, sizeof own.host - 1);
    return own;
}

/* Compares this rank's program with that of rank 0. */
static bool runs_the_same(struct hx_problem *problem)
{
    const struct identity own = own_identity();
    struct identity first = own;
    (void)MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (strncmp(own.version, first.version, sizeof own.version) == 0 && own.sum == first.sum)
        return true;
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, "hxmesh-virtual-mpi",
                   "is %s (%08x) here and %.31s (%08x) on %.63s: all machines are to have the same program",
                   own.version, (unsigned)own.sum, first.version, (unsigned)first.sum, first.host);
}

/* What the others do not know goes with its place: where it is. */
static void print(const struct hx_problem *p, int rank)
{
    const struct identity own = own_identity();
    const char *where = p->where[0] ? p->where : NULL;
    if (rank)
        hx_complain(where, "%s (rank %d, on %s)", p->what, rank, own.host);
    else
        hx_complain(where, "%s", p->what);
}

int agree_to_start(const struct hx_problem *own)
{
    struct hx_problem differs;
    int rank;
    int ranks;
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!runs_the_same(&differs) && !own)
        own = &differs;
    int first = own ? rank : ranks;
    (void)MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == ranks)
        return HX_EXIT_DONE;
    int code = own ? own->exit_code : HX_EXIT_FAILED;
    (void)MPI_Bcast(&code, 1, MPI_INT, first, MPI_COMM_WORLD);
    if (own && rank == first)
        print(own, rank);
    return code;
}

int agree_that_none_starts(const struct hx_problem *own)
{
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return HX_EXIT_ENVIRONMENT;
    int code = agree_to_start(own);
    (void)MPI_Finalize();
    return code;
}
