/* bounds.h - what a fabric's graph promises: distances, loads of its links, what it is made of and what that costs. */
#ifndef HXMESH_TOPOLOGY_BOUNDS_H
#define HXMESH_TOPOLOGY_BOUNDS_H

#include "topology/topology.h"

#include <limits.h>

/* Links of a minimal way between two hosts, their own included; 0 to itself, HX_CUT_OFF where there is none. */
#define HX_CUT_OFF UINT_MAX
unsigned hx_fabric_distance(const struct hx_fabric *f, uint32_t from, uint32_t to);

/* Over all pairs of hosts. */
struct hx_distances {
    unsigned diameter;
    unsigned router_diameter; /* without the hosts' own links, where they hang on routers */
    double average;           /* over pairs of different hosts */
};
struct hx_distances hx_fabric_distances(const struct hx_fabric *f);

/* Share of their injection bandwidth at which all hosts can send to all others alike at most, 0 .. 1, however they
 * split their traffic over minimal ways: the topology's own figure, or else by search (topology/loads.h). */
double hx_fabric_alltoall_bound(const struct hx_fabric *f);

/* Of what is bought: all planes. Traces cost nothing (SC22 appendix C). */
struct hx_bill {
    uint64_t switches;
    uint64_t cables[HX_LINK_KINDS];
    uint64_t usd;
};
struct hx_bill hx_fabric_bill(const struct hx_fabric *f);

#endif
