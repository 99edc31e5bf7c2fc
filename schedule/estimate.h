/* estimate.h - executes a schedule on an ideal network: each message takes latency + bytes * time of a byte, and none
 * waits for another. Matched messages of a pair arrive in order. An acknowledgement takes another latency. */
#ifndef SCHEDULE_ESTIMATE_H
#define SCHEDULE_ESTIMATE_H

#include "schedule/executor.h"

struct estimate_network {
    uint64_t latency_ps;
    double byte_ps; /* of each byte; 0: bytes take no time */
};

/* plan->result and plan->entry receive what happened. Returns false if a message fits no operation, which is a
 * defect. */
bool schedule_estimate(const struct executor_plan *plan, const struct estimate_network *network);

#endif
