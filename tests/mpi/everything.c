/* everything.c - an MPI program for command line tests: the use of MPI messages, with every byte checked.
 *
 *     everything [MOST]     sizes up to MOST bytes (64 MiB); rank 0 prints "MPI: all right, N ranks", or a rank prints an error */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;
static int ranks;

static void require(int holds, const char *what, long at)
{
    if (holds)
        return;
    fprintf(stderr, "MPI: rank %d: %s (%ld)\n", rank, what, at);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *memory(size_t bytes)
{
    void *data = calloc(1, bytes + 1);
    if (!data) {
        fprintf(stderr, "MPI: rank %d: no memory\n", rank);
        exit(1);
    }
    return data;
}

static uint8_t byte_of(int from, int to, size_t at)
{
    uint64_t x = ((uint64_t)from << 40 ^ (uint64_t)to << 32 ^ (at / 8 + 1)) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint8_t)((x ^ x >> 29) >> at % 8 * 8);
}

static void fill(uint8_t *data, size_t bytes, int from, int to)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = byte_of(from, to, i);
}

static void check(const uint8_t *data, size_t bytes, int from, int to, const char *what)
{
    for (size_t i = 0; i < bytes; i++)
        require(data[i] == byte_of(from, to, i), what, (long)i);
}

/* Each rank with its neighbours in a ring, all sizes. */
static void pass_on(size_t most)
{
    int right = (rank + 1) % ranks;
    int left = (rank + ranks - 1) % ranks;
    uint8_t *out = memory(most);
    uint8_t *in = memory(most);
    for (size_t bytes = 0; bytes <= most; bytes = bytes < 3 ? bytes + 1 : bytes * 3 - (bytes & 1)) {
        MPI_Status status;
        int count = 0;
        fill(out, bytes, rank, right);
        MPI_Sendrecv(out, (int)bytes, MPI_BYTE, right, 7, in, (int)most, MPI_BYTE, left, 7, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        require((size_t)count == bytes && status.MPI_SOURCE == left, "wrong length or source", (long)bytes);
        check(in, bytes, left, rank, "wrong byte in a ring");
    }
    fill(out, most, rank, right);
    MPI_Sendrecv(out, (int)most, MPI_BYTE, right, 8, in, (int)most, MPI_BYTE, left, 8, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(in, most, left, rank, "wrong byte of the longest message");
    free(out);
    free(in);
}

/* Messages that arrive before their receive, short and long, are found by tag and by probe, in any order. */
static void come_unexpected(void)
{
    enum { MESSAGES = 40, LONG = 100000 };
    static uint8_t out[MESSAGES][LONG];
    static uint8_t in[LONG];
    MPI_Request request[MESSAGES];
    int right = (rank + 1) % ranks;
    int left = (rank + ranks - 1) % ranks;
    for (int m = 0; m < MESSAGES; m++) {
        int bytes = m % 2 ? LONG : 100 + m;
        fill(out[m], (size_t)bytes, rank + m, right);
        MPI_Isend(out[m], bytes, MPI_BYTE, right, 100 + m, MPI_COMM_WORLD, &request[m]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int m = MESSAGES - 1; m >= 0; m--) {
        MPI_Status status;
        int bytes = 0;
        MPI_Probe(left, 100 + m, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        require(bytes == (m % 2 ? LONG : 100 + m), "a probe says another length", bytes);
        MPI_Recv(in, LONG, MPI_BYTE, left, 100 + m, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(in, (size_t)bytes, left + m, rank, "wrong byte of an unexpected message");
    }
    MPI_Waitall(MESSAGES, request, MPI_STATUSES_IGNORE);
}

/* From any rank, with any tag: each sender's messages are in order. */
static void take_from_anybody(void)
{
    enum { EACH = 50 };
    MPI_Request *request = memory(sizeof(MPI_Request) * EACH * (size_t)ranks);
    int *number = memory(sizeof *number * EACH * (size_t)ranks);
    int *next = memory((size_t)ranks * sizeof *next);
    int sent = 0;
    for (int i = 0; i < EACH; i++) {
        for (int to = 0; to < ranks; to++) {
            number[sent] = i;
            MPI_Isend(&number[sent], 1, MPI_INT, to, i, MPI_COMM_WORLD, &request[sent]);
            sent++;
        }
    }
    for (int i = 0; i < EACH * ranks; i++) {
        int value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        require(value == next[status.MPI_SOURCE]++ && status.MPI_TAG == value, "out of order from anybody", value);
    }
    MPI_Waitall(sent, request, MPI_STATUSES_IGNORE);
    free(request);
    free(number);
    free(next);
}

static void exchange_with_all(size_t bytes)
{
    uint8_t *out = memory(bytes * (size_t)ranks);
    uint8_t *in = memory(bytes * (size_t)ranks);
    for (int to = 0; to < ranks; to++)
        fill(out + bytes * (size_t)to, bytes, rank, to);
    MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < ranks; from++)
        check(in + bytes * (size_t)from, bytes, from, rank, "wrong byte in an all-to-all");
    free(out);
    free(in);
}

static void add_up(int count)
{
    int64_t *in = memory(sizeof *in * (size_t)count);
    int64_t *out = memory(sizeof *out * (size_t)count);
    for (int i = 0; i < count; i++)
        in[i] = (int64_t)(rank + 1) * (i + 1);
    MPI_Allreduce(in, out, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        require(out[i] == (int64_t)ranks * (ranks + 1) / 2 * (i + 1), "wrong sum", i);
    free(in);
    free(out);
}

/* A message longer than its buffer is an error, and does no harm. */
static void cut_off(void)
{
    uint8_t data[300] = {0};
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(data, 10, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &request);
    MPI_Send(data, 300, MPI_BYTE, rank, 1, MPI_COMM_WORLD);
    require(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS, "a message that is too long was taken", 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    size_t most = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : (size_t)1 << 26;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pass_on(most);
    come_unexpected();
    take_from_anybody();
    exchange_with_all(1);
    exchange_with_all(20000);
    exchange_with_all(300000);
    add_up(1);
    add_up(100000);
    cut_off();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("MPI: all right, %d ranks\n", ranks);
    return MPI_Finalize();
}
