/* timeline.h - what each rank's operations did, as a file: a picture (NAME.svg), or Chrome trace events for Perfetto
 * and chrome://tracing (any other name).
 *
 * Trace events: a process for each job, threads for each rank. Events of one thread do not overlap. If the operations
 * of a rank do not overlap, it has one thread; else each stream has one, messages and collectives as many as needed.
 * Arrows lead from a send to its receive, if the receive waited for it. Times are microseconds with three digits behind
 * the point: viewers count in nanoseconds. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "workload/schedule_plan.h"

#include <stdio.h>

/* Writes what the executors kept. Dies with HX_EXIT_ENVIRONMENT if the file cannot be written. */
void timeline_write(const struct schedule_plan *p, const char *path);

void timeline_events(const struct schedule_plan *p, FILE *out);
void timeline_picture(const struct schedule_plan *p, FILE *out);

/* Operations that ended, and those among them that were kept. */
struct timeline_counts {
    uint64_t ended, kept;
};
struct timeline_counts timeline_count(const struct schedule_plan *p);

#endif
