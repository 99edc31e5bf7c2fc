/* loads.h - what all-to-all comes to over the ways that a fabric's tables allow.
 *
 * Every pair's traffic is split over its ways in any shares. The best split has the least load on its fullest link, and
 * that is the bound. It is searched from both sides. A split that is found is a load that suffices. Lengths of links
 * are a load that no split is below: each pair goes its shortest way at least, so
 *
 *     load of the fullest link >= sum over pairs of the shortest way's length / sum over links of rate * length
 *
 * Splits and lengths answer each other: what is full becomes longer, and what is longer gets less. Both are
 * multiplicative weights, each expecting that the other does as it did last (Rakhlin and Sridharan, "Optimization,
 * Learning, and Games with Predictable Sequences", NIPS 2013). What is said is the length's side: it cannot be
 * exceeded. The search ends where a split comes close to it, or at the end of its work. In fabrics whose links are all
 * alike the first split does. */
#ifndef HXMESH_TOPOLOGY_LOADS_H
#define HXMESH_TOPOLOGY_LOADS_H

#include "topology/topology.h"

/* Share of their injection bandwidth that all hosts can send to all others alike at most. May be above 1. */
double hx_alltoall_by_loads(const struct hx_fabric *f);

#endif
