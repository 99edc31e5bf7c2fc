/* ring_order.h - groups of hosts that are a ring. */
#ifndef WORKLOAD_RING_ORDER_H
#define WORKLOAD_RING_ORDER_H

#include "topology/fabric.h"

/* Orders the hosts of a group along the ring that they are: each has cables to two others of the group, or they differ
 * in one dimension of the fabric, a ring or a line. host: ascending. Returns false and leaves the order if they are
 * none. */
bool ring_order(const struct hx_fabric *g, uint32_t *host, uint32_t hosts);

/* Whether a cable joins two hosts, or the routers that they are at. */
bool ring_order_are_joined(const struct hx_fabric *g, uint32_t a, uint32_t b);

#endif
