/* core.h - the loop of one lcore: receive, step, hand over, flush. */
#ifndef DPDK_NODE_CORE_H
#define DPDK_NODE_CORE_H

#include "node.h"

/* Builds the routes of a core's switch for the links that are up. */
void core_reroute(struct core *c);

/* Publishes how many packets this core holds; called after each loop while the node drains. */
void core_publish_waiting(struct core *c);

/* Runs one loop. Returns frames received and sent. */
unsigned core_loop(struct core *c);

/* Loops until the phase is NODE_STOPPING, then sends a last credit frame by each port. For rte_eal_remote_launch(). */
int core_run(void *core);

#endif
