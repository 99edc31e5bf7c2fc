/* reroute.h - reroutes around links and nodes that are down, in a live fabric.
 *
 * Each worker knows the state of all links, and computes on its own when it changes. Old and new routes may be mixed,
 * so workers need not agree on a time. A HammingMesh has routes around a set of dead links (include/hxmesh/around.h).
 * Other fabrics search routes in the order of routers of the intact fabric (topology/updown.h). */
#ifndef LIVE_REROUTE_H
#define LIVE_REROUTE_H

#include "node.h"

/* Follows what is down. Returns the planes to build new routes for, bit by plane, by reroute_build(). */
unsigned reroute_follow(struct worker *w);
void reroute_end(struct worker *w);

/* The dead links of a plane of a HammingMesh. */
const struct hx_dead_links *reroute_dead(const struct worker *w, unsigned plane);

/* Builds the routes of any node for the ports `up` into `memory` (hx_fabric_route_bytes()). *around: zero before its
 * first use; ended by the caller. */
void reroute_build(struct worker *w, unsigned plane, uint32_t id, uint64_t up, struct hx_route *route, void *memory,
                   struct around_node *around);

#endif
