/* record.c - the clock, the lines and the file of a rank; MPI_Init and MPI_Finalize (trace.h). */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    ROOM = 4 << 20,     /* bytes of lines in memory */
    LONGEST_WORD = 256, /* bytes that one call appends, at most */
    CLOSE = 1000        /* ns between polls that are one line */
};

static struct {
    char path[4096];
    char *text;
    size_t bytes;
    int fd;              /* -1: not recording */
    pthread_t thread;    /* the one that is recorded */
    atomic_ulong others; /* calls of other threads */
    uint64_t start, pauses;
    uint64_t poll_begin, poll_end; /* of polls without a line yet; poll_end 0: none */
} trace = {.fd = -1};

static uint64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t trace_now(void)
{
    return clock_now() - trace.start - trace.pauses;
}

bool trace_on(void)
{
    if (trace.fd < 0)
        return false;
    if (pthread_equal(trace.thread, pthread_self()))
        return true;
    atomic_fetch_add(&trace.others, 1);
    return false;
}

/* ---- the file ---- */

/* The program goes on without a trace. */
static void give_up(void)
{
    fprintf(stderr, "mpi-trace: error: %s: cannot be written: %s\n", trace.path, strerror(errno));
    if (trace.fd >= 0)
        close(trace.fd);
    trace.fd = -1;
}

/* Writes the lines in memory, and stops the clock for the while. */
static void flush(void)
{
    uint64_t begin = clock_now();
    size_t done = 0;
    while (trace.fd >= 0 && done < trace.bytes) {
        ssize_t written = write(trace.fd, trace.text + done, trace.bytes - done);
        if (written >= 0)
            done += (size_t)written;
        else if (errno != EINTR)
            give_up();
    }
    trace.bytes = 0;
    trace.pauses += clock_now() - begin;
}

static void open_file(void)
{
    const char *name = getenv("HXMESH_MPI_TRACE");
    int rank;
    int ranks;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(trace.path, sizeof trace.path, "%s.%d.mpi", name && name[0] ? name : "mpi-trace", rank);
    trace.text = malloc(ROOM);
    trace.fd = trace.text ? open(trace.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (trace.fd < 0) {
        give_up();
        return;
    }
    trace.bytes = (size_t)snprintf(trace.text, ROOM, "hxmesh-mpi 1 rank %d of %d\n", rank, ranks);
    trace.thread = pthread_self();
    trace_open_communicators();
    trace.start = clock_now();
}

/* ---- lines ---- */

void trace_text(const char *text)
{
    size_t bytes = strlen(text);
    if (bytes > LONGEST_WORD)
        bytes = LONGEST_WORD;
    if (trace.bytes + bytes > ROOM)
        flush();
    memcpy(trace.text + trace.bytes, text, bytes);
    trace.bytes += bytes;
}

void trace_number(int64_t number)
{
    char digits[24];
    char *at = digits + sizeof digits - 1;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    *at = '\0';
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        *--at = '-';
    trace_text(at);
}

void trace_end_line(void)
{
    trace_text("\n");
}

static void put_line(uint64_t begin, uint64_t end, const char *call)
{
    trace_number((int64_t)begin);
    trace_text(" ");
    trace_number((int64_t)end);
    trace_text(" ");
    trace_text(call);
}

static void put_polls(void)
{
    if (trace.poll_end) {
        put_line(trace.poll_begin, trace.poll_end, "poll\n");
        trace.poll_end = 0;
    }
}

bool trace_line_until(uint64_t begin, uint64_t end, const char *call)
{
    if (!trace_on())
        return false;
    put_polls();
    put_line(begin, end, call);
    return true;
}

bool trace_line(uint64_t begin, const char *call)
{
    return trace_line_until(begin, trace_now(), call);
}

void trace_poll(uint64_t begin)
{
    if (!trace_on())
        return;
    uint64_t end = trace_now();
    if (trace.poll_end == 0 || begin > trace.poll_end + CLOSE) {
        put_polls();
        trace.poll_begin = begin;
    }
    trace.poll_end = end;
}

void trace_unknown(uint64_t begin, const char *call)
{
    if (!trace_line(begin, "unknown "))
        return;
    trace_text(call);
    trace_end_line();
}

/* ---- the first call and the last ---- */

int MPI_Init(int *argc, char ***argv)
{
    int error = PMPI_Init(argc, argv);
    if (error == MPI_SUCCESS)
        open_file();
    return error;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int error = PMPI_Init_thread(argc, argv, required, provided);
    if (error == MPI_SUCCESS)
        open_file();
    return error;
}

int MPI_Finalize(void)
{
    uint64_t begin = trace_now();
    if (trace.fd >= 0)
        trace.thread = pthread_self();
    if (atomic_load(&trace.others) && trace_line(begin, "unknown other-threads ")) {
        trace_number((int64_t)atomic_load(&trace.others));
        trace_end_line();
    }
    if (trace_line(begin, "MPI_Finalize\n")) {
        flush();
        if (trace.fd >= 0)
            close(trace.fd);
        trace.fd = -1;
    }
    return PMPI_Finalize();
}
