/* telemetry.h - telemetry of a running node for dpdk-telemetry.py: /hxmesh/ports, /hxmesh/credits, /hxmesh/drops,
 * /hxmesh/stalls and /hxmesh/route,GX,GY.
 *
 * Values are read while cores run: each is correct, but they are not of one instant. */
#ifndef DPDK_NODE_TELEMETRY_H
#define DPDK_NODE_TELEMETRY_H

#include "node.h"

/* Registers the commands. The node must live until the process ends. Returns false if EAL runs without telemetry. */
bool telemetry_open(struct node *n);

#endif
