/* all.h - the list of topologies, a line each; each file defines `const struct hx_topology hx_topology_NAME`. */
#ifndef HXMESH_TOPOLOGY_ALL_H
#define HXMESH_TOPOLOGY_ALL_H

#include "topology/topology.h"

#define HX_ALL_TOPOLOGIES(X)                                                                                           \
    X(hamming_mesh)                                                                                                    \
    X(fat_tree)                                                                                                        \
    X(mlfm)                                                                                                            \
    X(oft)                                                                                                             \
    X(bigraph)                                                                                                         \
    X(graph)                                                                                                           \
    X(torus)                                                                                                           \
    X(mesh)                                                                                                            \
    X(hyperx)                                                                                                          \
    X(dimensions)                                                                                                      \
    X(kautz)                                                                                                           \
    X(dragonfly)                                                                                                       \
    X(slim_fly)

#define HX_DECLARE_TOPOLOGY(name) extern const struct hx_topology hx_topology_##name;
HX_ALL_TOPOLOGIES(HX_DECLARE_TOPOLOGY)
#undef HX_DECLARE_TOPOLOGY

#endif
