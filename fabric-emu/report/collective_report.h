/* collective_report.h - collectives in the report of a run. */
#ifndef COLLECTIVE_REPORT_H
#define COLLECTIVE_REPORT_H

#include "workload/collective_jobs.h"

#include <jansson.h>

/* Accelerators that finished their part, and accelerators that have one. */
struct collective_count {
    uint32_t done, members;
};

/* Bus bandwidth over algorithm bandwidth, by the definitions of nccl-tests (its doc/PERFORMANCE.md): the vectors that a
 * link of the busiest rank carries at least. A vector is the whole array, as the size in nccl-tests. Barrier: 0. */
double collective_bus_factor(enum hx_collective_kind kind, double ranks);

/* Bandwidths, Gb/s: vector over time, and that times the factor; with shares, the mean of vectors and of what members
 * send to others. The time is above 0. */
double collective_algorithm_gbps(const struct collective_job *job, double seconds);
double collective_bus_gbps(const struct collective_job *job, double seconds);

/* Vector (twice for an all-reduce) over what an accelerator can inject in the measured time, as in the HammingMesh
 * paper (SC22). Exceeds 1 with few accelerators. */
double collective_vector_share(const struct collective_job *job, double injectable);
/* The best possible time over the measured time, at most 1: bus bandwidth over the injection bandwidth; with shares,
 * what one member sends or receives at most over what it can. */
double collective_share(const struct collective_job *job, double injectable);

/* What the report needs beside the plan. */
struct collective_result {
    struct collective_count count;
    double injectable;     /* by an accelerator in the measured time, bytes */
    const double *seconds; /* [jobs of the plan]: from its start to its last packet */
};

/* Prints for a person, on stdout; returns a new JSON reference. Jobs with different collectives have no common kind,
 * vector, time and share. */
void collective_report_print(const struct collective_plan *p, const struct collective_result *r);
json_t *collective_report_json(const struct collective_plan *p, const struct collective_result *r);

#endif
