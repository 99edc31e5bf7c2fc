/* worst_case.h - the permutation on which minimal routing is worst: as many hosts as possible share one link.
 *
 * It works by attachment routers (hx_fabric_attachment_router), since the hosts of one are alike. All hosts of one send
 * to the hosts of one other, and each has one sender. If the topology has no worst_case of its own, a search finds it.
 * Of some random links it takes the one that nearby attachment routers can load most, by the best assignment of those
 * before it to those behind it; traffic splits evenly over minimal paths. It repeats this at links near the remaining
 * attachment routers until no load adds up. */
#ifndef HXMESH_TOPOLOGY_WORST_CASE_H
#define HXMESH_TOPOLOGY_WORST_CASE_H

#include "topology/topology.h"

/* Sets to[node] of each attachment router with hosts that take part to another one, and of all other nodes to
 * HX_NOWHERE; also if there is only one attachment router. part[host]: it takes part; NULL: all do. The topology's own
 * worst_case applies only to NULL. */
void hx_fabric_worst_case(const struct hx_fabric *f, const bool *part, uint64_t seed, uint32_t *to);

/* A worst_case of a topology: each router of hosts sends to the next one (SC15, section 4). */
void hx_fabric_next_place(const struct hx_fabric *f, uint64_t seed, uint32_t *to);

#endif
