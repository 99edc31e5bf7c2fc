/* transitions.h - checks that tables before and after a link fails or returns may be mixed in a running fabric.
 *
 * A switch changes its tables when it is notified, and its neighbours may do so earlier or later. So a packet may meet
 * old routes at one switch and new ones at another. If the dependencies of both together have no cycle, no order of
 * updates can cause deadlock.
 *
 * HammingMesh: the tables with a link down must be a subset of those with it up. This is compared entry by entry for
 * each port of each node. Then both together are the old ones, which have no cycle. Other fabrics: for each link
 * between routers, the up-down search of a running fabric (topology/updown.h) is made without it. Old and new paths
 * together are then explored as a fabric's are. */
#ifndef HXMESH_TOOLS_TRANSITIONS_H
#define HXMESH_TOOLS_TRANSITIONS_H

#include "base/progress.h"
#include "spec/faults/faults.h"
#include "spec/spec.h"

struct hx_transitions {
    uint64_t links;  /* number tried, one down at a time */
    uint64_t cyclic; /* of these, links with a possible cycle; the first of them: */
    uint32_t node;
    unsigned port;
    /* ordered pairs without a path while the link is down, summed over all links; HammingMesh: 0, not counted */
    uint64_t unreachable;
};

/* Needs a spec after hx_spec_search_updown, unless it is a HammingMesh. Leaves the spec unchanged. */
struct hx_transitions hx_transitions_try(struct hx_spec *spec, struct hx_progress *progress);

/* States of the links under a plan of circuits (spec/circuits/circuits.h), each with the state before it. */
struct hx_plan_states {
    uint64_t states;
    uint64_t cyclic;      /* of these, states with a possible cycle or dead end, alone or together with that before */
    uint64_t at_ns;       /* of the first of them */
    uint64_t unreachable; /* ordered pairs without a path, summed over all states */
};

/* Needs a spec after hx_circuits_order. Leaves it unchanged. */
struct hx_plan_states hx_plan_try(struct hx_spec *spec, const struct hx_faults *faults);

#endif
