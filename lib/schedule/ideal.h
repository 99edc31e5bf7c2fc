/* ideal.h - a schedule on a network without latency, where bytes take no time: what is left depends on computing alone.
 *
 * There every member's part of an all-reduce, reduce-scatter, all-gather or all-to-all ends when the last member has
 * begun, by any algorithm: a barrier of few messages stands for it. */
#ifndef SCHEDULE_IDEAL_H
#define SCHEDULE_IDEAL_H

#include "schedule/executor.h"

struct schedule_ideal {
    double seconds;           /* end of the last operation; 0: some never end */
    double computing_seconds; /* mean of the ranks */
};

/* Executes the plan's schedule with its costs and groups. Leaves its results and entries as they are. */
struct schedule_ideal schedule_ideal(const struct executor_plan *plan);

#endif
