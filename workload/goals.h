/* goals.h - what a run is to do, for those who watch its counters (topology/metrics.h). */
#ifndef GOALS_H
#define GOALS_H

#include "topology/metrics.h"
#include "workload/traffic.h"

/* messages: to be acknowledged in all; 0: not known. */
void goals_publish(struct hx_metrics_head *h, const struct traffic *traffic, uint64_t messages);

#endif
