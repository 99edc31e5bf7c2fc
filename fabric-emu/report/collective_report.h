/* collective_report.h - collectives in the report of a run. */
#ifndef COLLECTIVE_REPORT_H
#define COLLECTIVE_REPORT_H

#include "workload/collective_plan.h"

#include <jansson.h>

/* Accelerators that finished their part, and accelerators that have one. */
struct collective_count {
    uint32_t done, members;
};

/* Vector (twice for an all-reduce) over what an accelerator can inject in the measured time, as in the HammingMesh
 * paper (SC22). Exceeds 1 with few accelerators. */
double collective_vector_share(const struct collective_job *job, double injectable);
/* The best possible time over the measured time, at most 1. Best: all links of an accelerator send the average share,
 * (p - 1)/p of the vector for p accelerators. An all-reduce sends twice that, a broadcast at most the vector. */
double collective_share(const struct collective_job *job, double injectable);

/* Prints for a person, on stdout; returns a new JSON reference. Jobs with different collectives have no common kind,
 * vector and share. */
void collective_report_print(const struct collective_plan *p, struct collective_count count, double injectable);
json_t *collective_report_json(const struct collective_plan *p, struct collective_count count, double injectable);

#endif
