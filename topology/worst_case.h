/* worst_case.h - who sends to whom where minimal routing is at its worst: as many as can be share one link.
 *
 * It goes by seats (hx_fabric_attachment_router), the hosts of one being alike: those of a seat send to those of one other, and each
 * seat is sent to by one. A topology may know its worst case by itself (struct hx_topology, worst_case); else it is
 * searched:
 *
 *     of some links drawn by lot, the one that seats near its ends can load most, by the best assignment of those before it to
 *     those behind it, traffic being shared evenly by minimal ways; then likewise for the seats that are left, at links near
 *     them, until nothing more comes together. */
#ifndef HXMESH_TOPOLOGY_WORST_CASE_H
#define HXMESH_TOPOLOGY_WORST_CASE_H

#include "topology/topology.h"

/* part[host]: it takes part; NULL: all do, and only then the topology is asked. to[node]: of a seat with hosts that
 * take part, the seat that they send to, never itself; of all other nodes, and where there is but one seat,
 * HX_NOWHERE. */
void hx_fabric_worst_case(const struct hx_fabric *f, const bool *part, uint64_t seed, uint32_t *to);

#endif
