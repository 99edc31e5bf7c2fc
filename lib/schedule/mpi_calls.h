/* mpi_calls.h - reads the calls of an MPI trace into operations (mpi.c has the grammar). */
#ifndef SCHEDULE_MPI_CALLS_H
#define SCHEDULE_MPI_CALLS_H

#include "schedule/mpi_line.h"
#include "schedule/mpi_rank.h"
#include "schedule/mpi_tags.h"

enum { MPI_MOST_UNKNOWN = 16 };

/* A communicator at a rank. */
struct mpi_communicator {
    uint32_t number; /* mpi_tags.h */
    uint32_t group, size;
    uint32_t *rank; /* [size]; NULL: MPI_COMM_WORLD */
};

/* Calls of a name that are not carried out. */
struct mpi_unknown {
    char name[40];
    uint64_t count;
};

/* All files. */
struct mpi_reading {
    struct schedule_builder *b;
    struct mpi_tags *tags;
    struct hx_problem *problem;
    uint32_t ranks;
    uint32_t world; /* group */
    struct mpi_unknown unknown[MPI_MOST_UNKNOWN];
};

/* A file. */
struct mpi_trace {
    struct mpi_reading *all;
    struct mpi_line line;
    struct mpi_rank rank;
    struct mpi_communicator *communicator; /* [communicators] */
    size_t communicators, room;
    uint64_t time; /* ns: the end of the last call */
    bool is_complete;
};

/* Reads a line. Returns false and sets the problem. */
bool mpi_read_call(struct mpi_trace *t);
/* Reads the end of the file: receives that have not ended are left out. Fails if MPI_Finalize is missing. */
bool mpi_read_end(struct mpi_trace *t);

/* Adds MPI_COMM_WORLD, the rank's first communicator. */
void mpi_add_world(struct mpi_trace *t);

#endif
