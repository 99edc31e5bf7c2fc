/* telemetry.h - what dpdk-telemetry.py can ask a running node: /hxmesh/ports, /hxmesh/credits, /hxmesh/drops and
 * /hxmesh/route,GX,GY. Answers are read while cores run: each number is true, all together are not of one moment. */
#ifndef DPDK_NODE_TELEMETRY_H
#define DPDK_NODE_TELEMETRY_H

#include "node.h"

/* The node lives until the process ends. False: EAL runs without telemetry. */
bool telemetry_open(const struct node *n);

#endif
