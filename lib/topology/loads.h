/* loads.h - the bound of all-to-all over the paths in a fabric's tables.
 *
 * Each pair may split its traffic over its paths in any shares. The bound is the least load of the fullest link over
 * all splits. The search approaches it from both sides: a split gives an upper bound, and any link lengths give a lower
 * one:
 *
 *     load of the fullest link >= sum over pairs of the shortest path's length / sum over links of rate * length
 *
 * Full links become longer, and longer links get less traffic. Both sides are multiplicative weights, and each expects
 * the other to repeat its last step (Rakhlin and Sridharan, "Optimization, Learning, and Games with Predictable
 * Sequences", NIPS 2013). The result is the lower bound of the load, so no traffic exceeds it. The search ends when a
 * split comes close to it, or at its work limit. If all links are alike, the first split suffices. */
#ifndef HXMESH_TOPOLOGY_LOADS_H
#define HXMESH_TOPOLOGY_LOADS_H

#include "topology/topology.h"

/* Returns the share of injection bandwidth at which all hosts can send evenly to all others. May exceed 1. */
double hx_alltoall_by_loads(const struct hx_fabric *f);

#endif
