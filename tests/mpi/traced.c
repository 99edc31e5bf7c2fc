/* traced.c - an MPI program for tests of recorded calls (examples/mpi-trace): every kind of call that is recorded.
 *
 *     traced     rank 0 prints "N messages, N bytes": what all ranks have sent, without collectives of equal parts
 *
 * Collectives of unequal parts count as the messages of their parts. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 100000, FAR_TAG = 2000000000 };

/* clang-tidy knows neither tests of requests nor persistent ones. NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
static int rank, ranks, right, left;
static long long messages, bytes_sent;
static char out[LARGE], in[LARGE];

static int counted(int bytes)
{
    messages++;
    bytes_sent += bytes;
    return bytes;
}

static void require(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "traced: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Computes for a while, so that the schedule has something between calls. */
static void compute(void)
{
    double end = MPI_Wtime() + 1e-3;
    while (MPI_Wtime() < end)
        ;
}

static void ring(void)
{
    if (rank > 0)
        MPI_Recv(in, LARGE, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, counted(1000), MPI_BYTE, right, 5, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(in, LARGE, MPI_BYTE, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ping_pong(void)
{
    for (int bytes = 0; bytes <= LARGE && rank < 2; bytes = 10 * bytes + 1) {
        compute();
        if (rank == 0)
            MPI_Ssend(out, counted(bytes), MPI_BYTE, 1, bytes, MPI_COMM_WORLD);
        MPI_Recv(in, LARGE, MPI_BYTE, 1 - rank, bytes, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(out, counted(bytes), MPI_BYTE, 0, bytes, MPI_COMM_WORLD);
    }
}

/* Requests, in each order of their ends. */
static void requests(void)
{
    MPI_Request request[4];
    MPI_Status status;
    int index;
    int flag = 0;
    MPI_Irecv(in, 1000, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(in + 1000, 1000, MPI_BYTE, left, MPI_ANY_TAG, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(out, counted(700), MPI_BYTE, right, 1, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(out, counted(7), MPI_BYTE, right, FAR_TAG, MPI_COMM_WORLD, &request[3]);
    compute();
    MPI_Waitany(2, request, &index, &status);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    MPI_Irecv(in, LARGE, MPI_BYTE, left, 2, MPI_COMM_WORLD, &request[0]);
    MPI_Issend(out, counted(LARGE), MPI_BYTE, right, 2, MPI_COMM_WORLD, &request[1]);
    while (!flag)
        MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Irecv(in, LARGE, MPI_BYTE, left, 3, MPI_COMM_WORLD, &request[0]); /* never sent */
    MPI_Cancel(&request[0]);
    MPI_Wait(&request[0], &status);
    MPI_Test_cancelled(&status, &flag);
    require(flag, "a receive was not cancelled");
}

static void persistent(void)
{
    MPI_Request request[2];
    MPI_Recv_init(in, 64, MPI_BYTE, left, 4, MPI_COMM_WORLD, &request[0]);
    MPI_Send_init(out, 64, MPI_BYTE, right, 4, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < 3; i++) {
        (void)counted(64);
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

/* Equal tags in communicators of the same ranks, of other ranks, and in another order. */
static void communicators(void)
{
    MPI_Comm same;
    MPI_Comm turned;
    MPI_Request request[3];
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &turned);
    int place;
    int size;
    MPI_Comm_rank(turned, &place);
    MPI_Comm_size(turned, &size);
    MPI_Isend(out, counted(10), MPI_BYTE, right, 9, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, counted(20), MPI_BYTE, right, 9, same, &request[1]);
    MPI_Isend(out, counted(30), MPI_BYTE, (place + 1) % size, 9, turned, &request[2]);
    MPI_Recv(in, 30, MPI_BYTE, MPI_ANY_SOURCE, 9, turned, MPI_STATUS_IGNORE);
    MPI_Recv(in, 20, MPI_BYTE, left, 9, same, MPI_STATUS_IGNORE);
    MPI_Recv(in, 10, MPI_BYTE, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    MPI_Allreduce(out, in, 5, MPI_INT, MPI_SUM, turned);
    MPI_Comm_free(&turned);
    MPI_Comm_free(&same);
    MPI_Comm_dup(MPI_COMM_SELF, &same);
    MPI_Barrier(same);
    MPI_Comm_free(&same);
}

/* A line of ranks: those at its ends have one neighbour. */
static void neighbours(void)
{
    int to = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    MPI_Request request[2];
    MPI_Sendrecv(out, to == MPI_PROC_NULL ? 8 : counted(8), MPI_BYTE, to, 6, in, 8, MPI_BYTE, from, 6, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(in, counted(80), MPI_BYTE, right, 6, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 8, MPI_BYTE, from, 7, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, to == MPI_PROC_NULL ? 8 : counted(8), MPI_BYTE, to, 7, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void probes(void)
{
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int bytes;
    int flag = 0;
    MPI_Send(out, counted(77), MPI_BYTE, right, 8, MPI_COMM_WORLD);
    while (!flag)
        MPI_Iprobe(left, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Probe(left, 8, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    require(bytes == 77, "wrong bytes of a probe");
    MPI_Recv(in, bytes, MPI_BYTE, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, counted(78), MPI_BYTE, right, 8, MPI_COMM_WORLD);
    MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 78, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    MPI_Send(out, counted(79), MPI_BYTE, right, 8, MPI_COMM_WORLD);
    MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(in, 79, MPI_BYTE, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Rank i sends (i + 1) * 10 bytes to each rank in the first, and to rank 1 in the second; nothing of rank 3 to 0. */
static void parts(void)
{
    int *gives = calloc((size_t)ranks * 4, sizeof *gives);
    if (!gives)
        exit(1);
    int *gets = gives + ranks;
    int *give_places = gets + ranks;
    int *get_places = give_places + ranks;
    for (int i = 0; i < ranks; i++) {
        gives[i] = rank == 3 && i == 0 ? 0 : 10 * (rank + 1);
        gets[i] = i == 3 && rank == 0 ? 0 : 10 * (i + 1);
        give_places[i] = i * 1000;
        get_places[i] = i * 1000;
        if (i != rank && gives[i])
            (void)counted(gives[i]);
    }
    MPI_Alltoallv(out, gives, give_places, MPI_BYTE, in, gets, get_places, MPI_BYTE, MPI_COMM_WORLD);
    gets[3] = 40;
    if (rank != 1)
        (void)counted(10 * (rank + 1));
    MPI_Gatherv(out, 10 * (rank + 1), MPI_BYTE, in, gets, get_places, MPI_BYTE, 1, MPI_COMM_WORLD);
    free(gives);
}

static void collectives(void)
{
    MPI_Request request[2];
    int flag = 0;
    compute();
    MPI_Allreduce(out, in, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(out, 100, MPI_DOUBLE, 2, MPI_COMM_WORLD);
    MPI_Gather(out, 10, MPI_BYTE, in, 10, MPI_BYTE, 1, MPI_COMM_WORLD);
    MPI_Gather(rank == 1 ? MPI_IN_PLACE : out, 10, MPI_BYTE, in, 10, MPI_BYTE, 1, MPI_COMM_WORLD);
    MPI_Scatter(out, 10, MPI_BYTE, in, 10, MPI_BYTE, 1, MPI_COMM_WORLD);
    MPI_Allgather(out, 10, MPI_BYTE, in, 10, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(out, in, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(out, in, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &request[1]);
    compute();
    while (!flag)
        MPI_Testall(2, request, &flag, MPI_STATUSES_IGNORE);
    MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    require(ranks >= 4, "four ranks are wanted");
    ring();
    ping_pong();
    requests();
    persistent();
    communicators();
    neighbours();
    probes();
    parts();
    collectives();
    long long own[2] = {messages, bytes_sent};
    long long all[2];
    MPI_Reduce(own, all, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%lld messages, %lld bytes\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */
