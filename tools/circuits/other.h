/* other.h - circuits that are found in other ways, for comparison. */
#ifndef HXMESH_TOOLS_CIRCUITS_OTHER_H
#define HXMESH_TOOLS_CIRCUITS_OTHER_H

#include "tools/circuits/circuits.h"

/* A random regular graph (Jellyfish: Singla et al., NSDI 2012), joined, with as few double circuits as there can be. It
 * has no rings. */
void circuits_expander(struct circuits *c, uint32_t servers, unsigned degree, uint64_t seed);

/* Circuits for bytes between servers, bytes[servers * servers]: again and again the pair with the most, which then
 * counts `discount` times as much (1/2: OCS-reconfig of TopoOpt; 0: it has had its turn; SiP-ML: 1, minus what a
 * circuit carries in `served` bytes), until no two free interfaces are left. connect: circuits_connect() at the end. */
void circuits_greedy(struct circuits *c, const double *bytes, uint32_t servers, unsigned degree, double discount,
                     double served, bool connect);

#endif
