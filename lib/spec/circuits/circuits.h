/* circuits.h - a plan of circuits: links that open and close at given times, as an optical switch joins ports.
 *
 *     # comments and empty lines are allowed anywhere
 *     dark 10us                     from the release of a circuit until a new one carries packets; 0 by default: ports
 *                                   look ahead
 *     interfaces 4                  no place has more of these circuits at any time
 *     at 0: s0-s1, s2-s3            ALL circuits from that time on; times ascend from 0
 *     at 50ms: s0-s2, s1-s3
 *
 * A circuit is a link of the fabric, named by its two ends: by the names of a graph's file, or of places
 * (topology/name.h). It is there in every plane. Two places may have several circuits: each mention is another link
 * between them. Links that no line names are always there. A released circuit is closed at the time of its line
 * (HX_FAULT_CLOSED), and a new one opens `dark` later.
 *
 * All hosts stay joined at any time, also while circuits are dark. */
#ifndef HXMESH_SPEC_CIRCUITS_H
#define HXMESH_SPEC_CIRCUITS_H

#include "spec/faults/faults.h"

/* Reads a plan and adds a `closed` line for each time in which a circuit is not there. Not for a HammingMesh. Returns
 * false on an error; *problem has the line of the plan. */
bool hx_circuits_read(struct hx_faults *faults, const char *path, const struct hx_fabric *f,
                      struct hx_problem *problem);

/* Gives a fabric with searched routes an order of routers in which each pair of hosts keeps a path while links are
 * closed as the schedule says (hx_updown_plan). Does nothing if it closes none. Returns false if there is no such
 * order; *problem names the time and the pair. */
bool hx_circuits_order(struct hx_fabric *f, const struct hx_faults *faults, struct hx_problem *problem);

/* Calls `visit` for the state of links at the start, and at each time at which planned closings change it, in order;
 * for each plane, if a closing is of one plane. closed: [nodes] ports, marked at one end. Without closings: no call. */
void hx_circuits_each_state(const struct hx_fabric *f, const struct hx_faults *faults,
                            void (*visit)(void *of, uint64_t at_ns, const uint64_t *closed), void *of);

#endif
