/* schedule_report.h - schedules in the report of a run. */
#ifndef SCHEDULE_REPORT_H
#define SCHEDULE_REPORT_H

#include "workload/schedule_plan.h"

#include <jansson.h>

/* Says on stderr which operations wait for ever. ended: the workload was given up, since a worker died or a message
 * failed. Returns whether all operations ended. */
bool schedule_report_complain(const struct schedule_plan *p, bool ended);

/* When the last operation of all jobs ended. */
double schedule_report_seconds(const struct schedule_plan *p);

/* Prints for a person, on stdout; returns a new JSON reference: an array with an entry for each job with a schedule. */
void schedule_report_print(const struct schedule_plan *p);
json_t *schedule_report_json(const struct schedule_plan *p);

#endif
