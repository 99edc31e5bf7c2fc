/* failures.h - what does not work of a fabric from the start: nodes, links, and groups that fail together.
 *
 *     fat-tree hosts=64 radix=16 fail=spine2+leaf3/9+a5,0+group1
 *
 * A spec of any fabric but a HammingMesh may end with such a list, names joined by +:
 *
 *     spine2, a5,0    a node with all its links, by its name without the plane (topology/name.h)
 *     leaf3/9         the link at a port of a switch, or a0,0/E of a host
 *     group1          all nodes of a group: a board, a leaf with its hosts
 *
 * It is so in every plane. What has failed is taken out of the graph, so that all see the same; ways round it are
 * searched (topology/updown.h), for which d0 is each router's own, and hosts that forward become routers with their
 * hosts beside them on a trace. A host without a link takes no part. */
#ifndef HXMESH_TOPOLOGY_FAILURES_H
#define HXMESH_TOPOLOGY_FAILURES_H

#include "topology/fabric.h"

/* Of a fabric that was built with .by_updown set. Fills .failed, .failed_links, .updown and .vcs. */
bool hx_failures_take(struct hx_fabric *f, const char *list, struct hx_problem *problem);

#endif
