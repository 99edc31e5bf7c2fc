/* mpi_rank.h - turns the calls of a rank, in their order, into operations.
 *
 * An operation begins when the last blocking call before it has ended, and the last one that does not block has begun;
 * and when all requests that the rank has waited for have ended. */
#ifndef SCHEDULE_MPI_RANK_H
#define SCHEDULE_MPI_RANK_H

#include "schedule/build.h"

enum { MPI_MOST_REQUESTS = 1 << 20 /* of a rank at a time */ };

/* A request that has begun: operations [first, first + count). */
struct mpi_request {
    uint32_t first, count;
    uint32_t communicator; /* of a receive: index at this rank */
    bool is_begun, is_receive;
};

struct mpi_rank {
    struct schedule_builder *b;
    uint32_t rank;
    uint64_t computing; /* ns of computing without an operation */
    /* The operation that the next one follows, by its start or its end. */
    bool has_last, last_start;
    uint32_t last;
    uint32_t *ended; /* [ended_count] operations that the next one waits for */
    size_t ended_count, ended_room;
    struct mpi_request *request; /* [requests], by number */
    size_t requests;
};

void mpi_rank_free(struct mpi_rank *r);

/* Adds the computing so far as operations. They precede all that the rank waits for next. */
void mpi_rank_compute(struct mpi_rank *r);
/* Orders the operation that was added last behind the earlier ones. The next one waits for its end if it blocks. */
void mpi_rank_order(struct mpi_rank *r, uint32_t number, bool blocks);
/* The next operation waits for the end of these. */
void mpi_rank_wait(struct mpi_rank *r, uint32_t first, uint32_t count);

/* Returns the request of a number below MPI_MOST_REQUESTS. Valid until the next call. */
struct mpi_request *mpi_rank_request(struct mpi_rank *r, uint32_t number);
/* Turns a receive into a compute operation of 0 ps. */
void mpi_rank_leave_out(struct mpi_rank *r, const struct mpi_request *request);
/* Leaves out all receives that have not ended; returns their number. */
uint32_t mpi_rank_end(struct mpi_rank *r);

#endif
