/* transitions.h - whether tables of before and of after a link fails, or returns, may stand side by side in a running
 * fabric.
 *
 * A switch changes its tables when it is told, and its neighbours may have done so already or not yet. A packet then
 * meets a mixture: at each switch the old ways or the new ones. If the dependencies of both together close no circle,
 * no order of updates can make one.
 *
 * A HammingMesh: the tables with a link down are those with it up less what went over it, which is compared entry by
 * entry for each port of each node; so both together are the old ones. Other fabrics: each link between routers fails,
 * ways are searched as running fabrics do (topology/updown.h), and old and new ones together are explored as those
 * of a fabric are. */
#ifndef HXMESH_TOOLS_TRANSITIONS_H
#define HXMESH_TOOLS_TRANSITIONS_H

#include "base/progress.h"
#include "spec/spec.h"

struct hx_transitions {
    uint64_t links;  /* that were taken down, one at a time */
    uint64_t cyclic; /* of these, such that a circle may close; the first of them: */
    uint32_t node;
    unsigned port;
    /* ordered pairs without a way while such a link is down, all links together; 0 of a HammingMesh: not counted */
    uint64_t unreachable;
};

/* The spec's ways are searched already (hx_spec_search_updown), unless it is a HammingMesh; they are the same again
 * afterwards. */
struct hx_transitions hx_transitions_try(struct hx_spec *spec, struct hx_progress *progress);

#endif
