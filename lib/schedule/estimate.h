/* estimate.h - executes a schedule on a simple network. Matched messages of a pair arrive in order.
 *
 * Data that flows. Executors (executor.h) name messages; each goes to one of two networks, and its arrival and its
 * acknowledgement come back:
 *
 *     carrier     another module carries messages over links, and says when they arrive (workload/part_network.h). A
 *                 pair has at most 4 messages in flight, and a host as many as its endpoint takes
 *     ideal       a message takes latency + bytes * time of a byte, or what a function says. A rank sends its messages
 *                 one after the other, each for its bytes at the rate of a host; a receiver takes them in the order in
 *                 which they come, at the same rate (LogGOPS). An acknowledgement takes another latency
 *
 * Bounds that hold in both: the bytes out of a rank, and those into it, over the rate of a host. */
#ifndef SCHEDULE_ESTIMATE_H
#define SCHEDULE_ESTIMATE_H

#include "schedule/executor.h"

/* A message that a carrier takes. */
struct estimate_message {
    uint32_t from, to; /* ranks */
    uint64_t bytes;
    uint32_t number; /* that its arrival and its acknowledgement have */
};

enum estimate_news { ESTIMATE_NOTHING, ESTIMATE_ARRIVED, ESTIMATE_ACKNOWLEDGED };

struct estimate_carrier {
    void (*send)(void *of, uint64_t now, const struct estimate_message *m);
    uint64_t (*next)(const void *of);                       /* ps of its next event; UINT64_MAX: none */
    enum estimate_news (*step)(void *of, uint32_t *number); /* carries it out; number: of the message */
    uint32_t (*most)(const void *of, uint32_t rank);        /* messages in flight from a rank, 1 and up */
    unsigned window;                                        /* messages in flight of a pair: 1 .. EXECUTOR_WINDOW */
    void *of;
};

struct estimate_network {
    uint64_t latency_ps;
    double byte_ps; /* of each byte; 0: bytes take no time */
    /* ps of a message between two ranks, in place of both; NULL: these */
    uint64_t (*message_ps)(void *of, uint32_t from, uint32_t to, uint64_t bytes);
    double host_byte_ps;                    /* of each byte out of a rank, and into it; 0: any number at once */
    void *of;                               /* first argument of message_ps() */
    const struct estimate_carrier *carrier; /* in place of all; NULL: the ideal network */
};

/* plan->result and plan->entry receive what happened. Returns false if a message fits no operation, which is a
 * defect. */
bool schedule_estimate(const struct executor_plan *plan, const struct estimate_network *network);

#endif
