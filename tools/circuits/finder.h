/* finder.h - circuits for a demand: TopologyFinder of TopoOpt (Wang et al., NSDI 2023, algorithm 1).
 *
 * With R and M the bytes of sums and of exchanges, sums get d_R = max(1, ceil(d R / (R + M))) of d interfaces, the
 * groups in the order of bytes ceil(d_R T_k / T) each until all are given. T are the bytes of groups that share a
 * member with group k. Duplex rings take two interfaces; an odd share is rounded up, or down where no two are left. Two
 * members need one interface a ring. Within a group, strides are those of permutations.h up to half of its members; if
 * there are fewer than rings, they come again. Then come maximum-weight matchings on the bytes of exchanges between two
 * servers; a pair counts half for each circuit that it has. Free interfaces join the servers that are farthest apart,
 * so what is not joined first. If some are still apart, circuits_connect() joins them. */
#ifndef HXMESH_TOOLS_CIRCUITS_FINDER_H
#define HXMESH_TOOLS_CIRCUITS_FINDER_H

#include "tools/circuits/circuits.h"

/* Only the rings of sums. *c has no circuits. */
void circuits_find_rings(struct circuits *c, const struct circuits_demand *d, bool prime);

/* prime: strides are primes alone. Free *c with circuits_free(). Returns false if the servers cannot be joined. */
bool circuits_find(struct circuits *c, const struct circuits_demand *d, unsigned degree, bool prime);

#endif
