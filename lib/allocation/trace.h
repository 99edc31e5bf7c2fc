/* trace.h - jobs that arrive over time, from a file or random.
 *
 *     arrival,job,duration         in any order; arrival ascends
 *     0,4x4,2h
 *     90s,6,30m
 *
 * A job is a number of boards or COLUMNSxROWS of them; times are written as in options (base/value.h). Empty lines, and
 * lines that begin with '#', are ignored. */
#ifndef HXMESH_SCHED_TRACE_H
#define HXMESH_SCHED_TRACE_H

#include "allocation/job_queue.h"
#include "allocation/sizes.h"

struct hx_job_trace {
    struct hx_schedule_job *job;
    uint32_t jobs;
};

bool hx_job_trace_read(struct hx_job_trace *t, const char *path, struct hx_problem *problem);

/* Draws jobs of these sizes, with exponentially distributed times: mean `between` seconds from one arrival to the next,
 * mean `duration` seconds. */
void hx_job_trace_draw(struct hx_job_trace *t, const struct hx_job_sizes *sizes, uint32_t jobs, double between,
                       double duration, uint64_t seed);

void hx_job_trace_free(struct hx_job_trace *t);

#endif
