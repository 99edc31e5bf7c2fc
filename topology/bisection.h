/* bisection.h - how many links join two halves of a fabric.
 *
 * Both halves have as many hosts, or one has a host, or the hosts of one router, more. A host goes with the router it
 * hangs on. Between the best halves there is the least rate; links are counted of these. Where there is no formula, a
 * seeded search answers: from halves by order, by neighbourhood and by lot, it moves router after router to the other
 * half, the one that leaves the least rate between them first, and keeps the best it came by (Fiduccia and Mattheyses,
 * "A Linear-Time Heuristic for Improving Network Partitions", DAC 1982). What it finds is a cut, so the bisection is
 * that or less. */
#ifndef HXMESH_TOPOLOGY_BISECTION_H
#define HXMESH_TOPOLOGY_BISECTION_H

#include "topology/topology.h"

struct hx_halves {
    uint64_t links; /* between them, each way, in one plane; 0: a single host or router cannot be halved */
    double share;   /* their rate, of what half the hosts inject into a plane */
    bool exact;     /* by formula; false: there may be halves with fewer links between them */
};
struct hx_halves hx_fabric_bisection(const struct hx_fabric *f);

/* The search alone. The same each time. */
struct hx_halves hx_bisection_search(const struct hx_fabric *f);

#endif
