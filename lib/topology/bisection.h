/* bisection.h - the links between the best halves of a fabric.
 *
 * The halves have equally many hosts, or differ by one host or by the hosts of one router. A host stays with its
 * attachment router. The best halves have the least rate between them; the links of these are counted. Without a
 * formula, a seeded search answers. It starts from halves by order, by dimension, by neighbourhood and at random. It
 * moves router
 * after router to the other half, the one with the highest gain first, and keeps the best halves (Fiduccia and
 * Mattheyses, "A Linear-Time Heuristic for Improving Network Partitions", DAC 1982). Its result is a cut, so the
 * bisection is at most that. */
#ifndef HXMESH_TOPOLOGY_BISECTION_H
#define HXMESH_TOPOLOGY_BISECTION_H

#include "topology/topology.h"

struct hx_halves {
    uint64_t links; /* between them, each direction, in one plane; 0: one host or router has no halves */
    double share;   /* their rate, relative to what half the hosts inject into a plane */
    bool exact;     /* by formula; false: other halves may have fewer links between them */
};
struct hx_halves hx_fabric_bisection(const struct hx_fabric *f);

/* Runs the search alone. Deterministic. Halves only the hosts in `member` (NULL: all), over all links. Sets half[node],
 * 0 or 1, of all nodes (NULL: not needed). */
struct hx_halves hx_bisection_search(const struct hx_fabric *f, const bool *member, uint8_t *half);

#endif
