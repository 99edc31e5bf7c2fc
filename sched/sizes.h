/* sizes.h - how large jobs are: a distribution from which job mixes are drawn, as a file has it.
 *
 *     job_size,perc_jobs_lte          boards, and per cent of all jobs that are no larger: both ascending, the last is 100
 *     1,76.4286
 *     2,79.5725
 *
 * Further columns, and lines that are empty or begin with '#', do not count. */
#ifndef HXMESH_SCHED_SIZES_H
#define HXMESH_SCHED_SIZES_H

#include "base/error.h"

#include <stdint.h>

struct hx_job_sizes {
    unsigned count;
    uint32_t *boards; /* [count], ascending */
    double *share;    /* [count]: of the jobs that are no larger; ends with 1 */
};

bool hx_job_sizes_read(struct hx_job_sizes *s, const char *path, struct hx_problem *problem);
/* Those of the paper (alibaba.c). */
void hx_job_sizes_alibaba(struct hx_job_sizes *s);

/* Reads a file, or where there is none (NULL) takes those of the paper. */
bool hx_job_sizes_load(struct hx_job_sizes *s, const char *path, struct hx_problem *problem);
void hx_job_sizes_free(struct hx_job_sizes *s);

/* The size that a random number of 64 bits stands for. */
uint32_t hx_job_size(const struct hx_job_sizes *s, uint64_t number);

#endif
