/* astra_network.h - reads network files of ASTRA-sim's analytical back end as a fabric of mixed dimensions.
 *
 *     topology: [Ring, FullyConnected, Switch]    a dimension each, the nearest first
 *     npus_count: [2, 8, 4]                       NPUs along it
 *     bandwidth: [200.0, 100.0, 50.0]             of a link and direction, GB/s of 2^30 bytes, as ASTRA-sim counts
 *     latency: [50.0, 500.0, 2000.0]              of a link, ns
 *
 * Source: astra-sim/astra-network-analytical, common/network-parser and common/NetworkFunction.cpp. */
#ifndef HXMESH_SPEC_YAML_ASTRA_NETWORK_H
#define HXMESH_SPEC_YAML_ASTRA_NETWORK_H

#include "base/yaml/tree.h"
#include "topology/topology.h"

/* Whether a file is such a network. */
bool astra_network_is(const struct hx_yaml *y);

/* Writes the fabric's spec, rates in whole Gb/s and latencies in whole ns. Returns false and sets *problem if the file
 * is wrong, or if a rate would change by more than half a per cent. */
bool astra_network_spec(const struct hx_yaml *y, char spec[HX_SPEC_BYTES], struct hx_problem *problem);

#endif
