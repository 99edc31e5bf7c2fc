/* trial.h - `hxmesh-dpdk --check`: each device is opened and started as the node does it, and nothing is sent. */
#ifndef DPDK_NODE_TRIAL_H
#define DPDK_NODE_TRIAL_H

#include "node.h"

/* Waits up to two seconds for carriers, then prints a line for each port. The node is open; no core runs. Returns the
 * exit code. */
int trial_run(struct node *n);

#endif
