/* agree_mpi.h - ranks of MPI agree, before time runs, whether they can start: an error is printed once, by the first
 * rank that has one. */
#ifndef AGREE_MPI_H
#define AGREE_MPI_H

#include "base/error.h"

/* Call it in each rank, after MPI_Init. own: what keeps this rank from its start; NULL: nothing. Ranks that run another
 * program than rank 0 cannot start either. Returns 0 if all can start, else the exit code of all. */
int agree_to_start(const struct hx_problem *own);

/* The same for a process that has not joined MPI. It leaves MPI again. */
int agree_that_none_starts(const struct hx_problem *own);

#endif
