/* collective_report.h - what a run says of its collectives. */
#ifndef COLLECTIVE_REPORT_H
#define COLLECTIVE_REPORT_H

#include "workload/collective_plan.h"

#include <jansson.h>

/* Accelerators that finished their part, and those that have one. */
struct collective_count {
    uint32_t done, members;
};

/* The vector over what an accelerator could inject in the time it took, of an all-reduce twice the vector: as the
 * HammingMesh paper (SC22) has it. Passes 1 where there are few accelerators. */
double collective_vector_share(const struct collective_job *job, double injectable);
/* The best possible time over the time it took. Best is what all links of an accelerator take to send what has to leave
 * each on average: of p, (p - 1)/p of the vector, of an all-reduce twice that, of a broadcast the whole at most. At
 * most 1. */
double collective_share(const struct collective_job *job, double injectable);

/* For a person, on stdout; and a new reference. Of jobs with several collectives there is no one kind, vector and
 * share. */
void collective_report_print(const struct collective_plan *p, struct collective_count count, double injectable);
json_t *collective_report_json(const struct collective_plan *p, struct collective_count count, double injectable);

#endif
