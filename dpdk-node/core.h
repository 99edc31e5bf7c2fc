/* core.h - the loop of one lcore: receive, step, hand over, flush. */
#ifndef DPDK_NODE_CORE_H
#define DPDK_NODE_CORE_H

#include "node.h"

/* Builds the routes of a core's switch for the links that are up now. */
void core_reroute(struct core *c);

/* Says how much this core holds: while the node drains, after each loop. */
void core_tell_waiting(struct core *c);

/* One loop. Returns frames that came and went. */
unsigned core_loop(struct core *c);

/* Loops until the phase is NODE_STOPPING, then sends a last credit frame by each port. For rte_eal_remote_launch. */
int core_run(void *core);

#endif
