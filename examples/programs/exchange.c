/* exchange.c - an MPI program that checks all it receives: all-to-all of several sizes, an all-reduce, a ring.
 *
 *     mpicc -O2 -o exchange exchange.c
 *     hxmesh up "2x2 Hx2Mesh" && hxmesh exec --mpi 16 -- ./exchange && hxmesh down
 *
 * Exits with 0 if every byte is right. With --wrong rank 1 sends one wrong byte, to show that it is found. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int sizes[] = {1, 100, 10000, 100000}; /* bytes from each rank to each */

/* Byte `at` of what rank `from` sends to rank `to`. */
static uint8_t byte_of(int from, int to, int at)
{
    return (uint8_t)((uint32_t)from * 131U + (uint32_t)to * 31U + (uint32_t)at * 7U + ((uint32_t)at >> 8));
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 4);
    return memory;
}

static long all_to_all(int rank, int ranks, int bytes, int wrong)
{
    size_t all = (size_t)ranks * (size_t)bytes;
    uint8_t *out = allocate(all);
    uint8_t *in = allocate(all);
    long bad = 0;
    for (size_t i = 0; i < all; i++)
        out[i] = byte_of(rank, (int)(i / (size_t)bytes), (int)(i % (size_t)bytes));
    out[0] ^= (uint8_t)(wrong && rank == 1);
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (size_t i = 0; i < all; i++)
        bad += in[i] != byte_of((int)(i / (size_t)bytes), rank, (int)(i % (size_t)bytes));
    free(out);
    free(in);
    return bad;
}

static long sums(int rank, int ranks)
{
    enum { COUNT = 100000 };
    int64_t *own = allocate(COUNT * sizeof *own);
    int64_t *sum = allocate(COUNT * sizeof *sum);
    long bad = 0;
    for (int i = 0; i < COUNT; i++)
        own[i] = (int64_t)rank * COUNT + i;
    MPI_Allreduce(own, sum, COUNT, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        bad += sum[i] != (int64_t)ranks * (ranks - 1) / 2 * COUNT + (int64_t)ranks * i;
    free(own);
    free(sum);
    return bad;
}

/* Each rank adds its number to a sum that it passes to the next rank. */
static long ring(int rank, int ranks)
{
    int64_t sum = 0;
    if (rank > 0)
        MPI_Recv(&sum, 1, MPI_INT64_T, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += rank;
    MPI_Send(&sum, 1, MPI_INT64_T, (rank + 1) % ranks, 5, MPI_COMM_WORLD);
    if (rank > 0)
        return 0;
    MPI_Recv(&sum, 1, MPI_INT64_T, ranks - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return sum != (int64_t)ranks * (ranks - 1) / 2;
}

/* The number of different processor names among the ranks. */
static int count_hosts(int ranks)
{
    char own[MPI_MAX_PROCESSOR_NAME] = "";
    char *all = allocate((size_t)ranks * sizeof own);
    int length;
    int hosts = 0;
    MPI_Get_processor_name(own, &length);
    MPI_Allgather(own, sizeof own, MPI_CHAR, all, sizeof own, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        int known = 0;
        for (int j = 0; j < i; j++)
            known |= strcmp(all + (size_t)i * sizeof own, all + (size_t)j * sizeof own) == 0;
        hosts += !known;
    }
    free(all);
    return hosts;
}

int main(int argc, char **argv)
{
    int rank;
    int ranks;
    long all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int wrong = argc > 1 && strcmp(argv[1], "--wrong") == 0;
    long bad = sums(rank, ranks) + ring(rank, ranks);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        bad += all_to_all(rank, ranks, sizes[i], wrong);
    int hosts = count_hosts(ranks);
    MPI_Allreduce(&bad, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("%d ranks on %d hosts: all right\n", ranks, hosts);
    else if (rank == 0)
        printf("%d ranks on %d hosts: %ld wrong\n", ranks, hosts, all);
    MPI_Finalize();
    return all != 0;
}
