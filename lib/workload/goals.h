/* goals.h - the task of a run, for readers of its counters (topology/metrics.h). */
#ifndef GOALS_H
#define GOALS_H

#include "topology/metrics.h"
#include "workload/workload.h"

/* messages: to be acknowledged in the whole run; 0: unknown. */
void goals_publish(struct hx_metrics_head *h, const struct workload_plan *plan, uint64_t messages);

#endif
