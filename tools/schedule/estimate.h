/* estimate.h - `hxmesh schedule --estimate`: when each operation begins and ends on an ideal network. */
#ifndef TOOLS_SCHEDULE_ESTIMATE_H
#define TOOLS_SCHEDULE_ESTIMATE_H

#include "schedule/estimate.h"

#include <jansson.h>

struct estimate_options {
    bool asked;
    struct executor_costs costs;
    uint64_t latency_ns, overhead_ns;
    double gbps;            /* 0: bytes take no time */
    const char *operations; /* CSV of all operations; NULL: none */
};

/* Carries the schedule out and prints the result, or returns it in *json if that is not NULL. Returns false if
 * operations wait for ever: they are named on stderr. Dies with one line if it cannot be carried out. */
bool estimate_schedule(const struct schedule *s, const char *path, const struct estimate_options *o, json_t **json);

#endif
