/* collective_report.h - what a run says of its collectives. */
#ifndef COLLECTIVE_REPORT_H
#define COLLECTIVE_REPORT_H

#include "fabric-emu/workload/collective_plan.h"

#include <jansson.h>

/* Accelerators that finished their part, and those that have one. */
struct collective_count {
    uint32_t done, members;
};

/* The best possible time over the time it took, in which an accelerator could inject so many bytes. Best is a vector at the rate
 * of all links of an accelerator, of an all-reduce at half of it: every byte has to leave an accelerator nearly twice. */
double collective_share(const struct collective_job *job, double injectable);

/* For a person, on stdout; and a new reference. Of jobs with several collectives there is no one kind, vector and share. */
void collective_report_print(const struct collective_plan *p, struct collective_count count, double injectable);
json_t *collective_report_json(const struct collective_plan *p, struct collective_count count, double injectable);

#endif
