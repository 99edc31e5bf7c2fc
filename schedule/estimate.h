/* estimate.h - executes a schedule on an ideal network: each message takes latency + bytes * time of a byte, or what a
 * function says, and none waits for another. Matched messages of a pair arrive in order. An acknowledgement takes
 * another latency. */
#ifndef SCHEDULE_ESTIMATE_H
#define SCHEDULE_ESTIMATE_H

#include "schedule/executor.h"

struct estimate_network {
    uint64_t latency_ps;
    double byte_ps; /* of each byte; 0: bytes take no time */
    /* ps of a message between two ranks, in place of both; NULL: these */
    uint64_t (*message_ps)(void *of, uint32_t from, uint32_t to, uint64_t bytes);
    void *of; /* first argument of message_ps() */
};

/* plan->result and plan->entry receive what happened. Returns false if a message fits no operation, which is a
 * defect. */
bool schedule_estimate(const struct executor_plan *plan, const struct estimate_network *network);

#endif
