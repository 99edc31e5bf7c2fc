/* bounds.h - properties of a fabric's graph: distances and link loads. */
#ifndef HXMESH_TOPOLOGY_BOUNDS_H
#define HXMESH_TOPOLOGY_BOUNDS_H

#include "topology/topology.h"

#include <limits.h>

/* Returns the links of a minimal path between two hosts, with both host links; 0 to itself, HX_CUT_OFF: no path. */
#define HX_CUT_OFF UINT_MAX
unsigned hx_fabric_distance(const struct hx_fabric *f, uint32_t from, uint32_t to);

/* Distances over all pairs of hosts. */
struct hx_distances {
    unsigned diameter;
    unsigned router_diameter; /* without host links, if hosts are attached to routers */
    double average;           /* over pairs of different hosts */
};
struct hx_distances hx_fabric_distances(const struct hx_fabric *f);

/* Returns the share of injection bandwidth, 0 .. 1, that all-to-all cannot exceed on minimal paths, however traffic
 * splits: the topology's own figure, or by search (topology/loads.h). */
double hx_fabric_alltoall_bound(const struct hx_fabric *f);

#endif
