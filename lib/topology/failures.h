/* failures.h - failures from the start: nodes, links, and groups that fail together.
 *
 *     fat-tree hosts=64 radix=16 fail=spine2+leaf3/9+a5,0+group1
 *
 * A spec of any fabric except a HammingMesh may end with such a list, names joined by +:
 *
 *     spine2, a5,0    a node with all its links, by its name without the plane (topology/name.h); a host that forwards
 *                     with the router beside it
 *     leaf3/9         the link at a port of a switch, or a0,0/E of a host
 *     group1          all nodes of a group: a board, a leaf with its hosts
 *
 * Failures apply to every plane. The graph lacks the failed parts, so all users see the same. The up/down search finds
 * the routes (topology/updown.h). For it each router has its own addr_hi, and hosts that forward become routers with
 * their hosts beside them on a trace. A host without a link takes no part. */
#ifndef HXMESH_TOPOLOGY_FAILURES_H
#define HXMESH_TOPOLOGY_FAILURES_H

#include "topology/fabric.h"

/* Applies a list of failures to a fabric that was built with .by_updown set. Fills .failed, .failed_links, .updown and
 * .vcs. Returns false and sets *problem if a name is unknown or too few hosts are left. */
bool hx_failures_take(struct hx_fabric *f, const char *list, struct hx_problem *problem);

/* Removes all links of a node. */
void hx_failures_cut_off(struct hx_fabric *f, uint32_t node);

#endif
