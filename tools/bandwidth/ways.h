/* ways.h - the ways to divide a budget: EqualBW, MessageBW, SmartBW (allocate.h), and searches by the time of an
 * iteration (work.h), which know latency, all kinds of parallelism, the bubble and what goes on beside computing. */
#ifndef HXMESH_TOOLS_BANDWIDTH_WAYS_H
#define HXMESH_TOOLS_BANDWIDTH_WAYS_H

#include "tools/bandwidth/work.h"

enum bandwidth_way {
    BANDWIDTH_EQUAL,
    BANDWIDTH_MESSAGE,
    BANDWIDTH_SMART,
    BANDWIDTH_SEARCH,  /* least time of an iteration */
    BANDWIDTH_THRIFTY, /* least time x cost */
    BANDWIDTH_WAYS
};
extern const char *const bandwidth_way_names[BANDWIDTH_WAYS];

/* What is divided, for what. */
struct bandwidth_question {
    struct bandwidth_network network;
    struct bandwidth_work work;
    double budget;  /* of an NPU, bytes a second */
    double latency; /* of a hop, seconds */
    const struct hx_prices *prices;
};

/* Fills rate[dimensions]. A search starts with the best of the three other ways, so it is never behind them. */
void bandwidth_divide(const struct bandwidth_question *q, enum bandwidth_way way, double *rate);

struct bandwidth_time bandwidth_answer(const struct bandwidth_question *q, const double *rate);

#endif
