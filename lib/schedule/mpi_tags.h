/* mpi_tags.h - communicators and their tags as the tags of a schedule.
 *
 * Each rank has its own numbers of communicators. The same communicator at two ranks has the same ranks, and both have
 * made as many with these ranks before it. */
#ifndef SCHEDULE_MPI_TAGS_H
#define SCHEDULE_MPI_TAGS_H

#include <stddef.h>
#include <stdint.h>

#define MPI_TAGS_MOST  INT32_MAX           /* greatest tag of MPI */
#define MPI_TAGS_PARTS (UINT32_C(1) << 31) /* stands for the tag of collectives that become messages */

struct mpi_tags;

struct mpi_tags *mpi_tags_new(void);
/* NULL is allowed. */
void mpi_tags_free(struct mpi_tags *t);

/* Returns the number of the communicator of this group that `rank` makes next. The first is 0. A rank's calls follow
 * each other. */
uint32_t mpi_tags_communicator(struct mpi_tags *t, uint32_t rank, uint32_t group);

/* Returns the schedule's tag for a tag in a communicator. A tag below 2^20 in one of the first 2,048 communicators
 * becomes COMMUNICATOR * 2^20 + TAG, the n-th other pair 2^31 + n. */
uint32_t mpi_tags_tag(struct mpi_tags *t, uint32_t communicator, uint32_t tag);

#endif
