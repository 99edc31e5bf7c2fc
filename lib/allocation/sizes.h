/* sizes.h - a distribution of job sizes, from a file.
 *
 *     job_size,perc_jobs_lte          boards, and per cent of jobs with at most that size: both ascending, the last is
 *                                     100
 *     1,76.4286
 *     2,79.5725
 *
 * Further columns are ignored; so are empty lines, and lines that begin with '#'. */
#ifndef HXMESH_SCHED_SIZES_H
#define HXMESH_SCHED_SIZES_H

#include "base/error.h"

#include <stdint.h>

struct hx_job_sizes {
    unsigned count;
    uint32_t *boards; /* [count], ascending */
    double *share;    /* [count]: of jobs with at most that size; the last is 1 */
};

bool hx_job_sizes_read(struct hx_job_sizes *s, const char *path, struct hx_problem *problem);
/* Takes the distribution of the paper (alibaba.c). */
void hx_job_sizes_alibaba(struct hx_job_sizes *s);

/* Reads a file; NULL: the paper's distribution. Returns false on an error. */
bool hx_job_sizes_load(struct hx_job_sizes *s, const char *path, struct hx_problem *problem);
void hx_job_sizes_free(struct hx_job_sizes *s);

/* The size for a random 64-bit number. */
uint32_t hx_job_size(const struct hx_job_sizes *s, uint64_t number);

#endif
