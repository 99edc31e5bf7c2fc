/* node_counts.h - the counts of a node's port by name, for reports, telemetry and metrics. */
#ifndef DPDK_NODE_NODE_COUNTS_H
#define DPDK_NODE_NODE_COUNTS_H

#include "node.h"

/* Calls `visit` with each count of a port, those of its device included. */
void node_counts_of_port(const struct node *n, unsigned port, void (*visit)(void *of, const char *name, uint64_t value),
                         void *of);

/* Frames that the devices lost (device_counts.h). */
uint64_t node_lost_by_devices(const struct node *n);

#endif
