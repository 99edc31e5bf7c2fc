/* explore.h - follows every packet that may be in flight in a plane, by the firmware's route functions only, and
 * collects what a fabric must guarantee. */
#ifndef HXMESH_TOOLS_EXPLORE_H
#define HXMESH_TOOLS_EXPLORE_H

#include "base/progress.h"
#include "tools/paths/dependency.h"

struct hx_findings {
    uint64_t pairs;       /* ordered pairs of working accelerators of one job */
    uint64_t unreachable; /* of these, pairs without any path; the first of them: */
    struct hx_coordinate cut_from, cut_to;
    uint64_t isolated;  /* ordered pairs of working accelerators of different jobs: intentionally not routed */
    uint64_t dead_ends; /* (channel, destination) that a packet may reach and cannot leave */
    unsigned vcs;       /* greatest VC + 1 */
    unsigned diameter;  /* longest path of a packet between reachable pairs, cables */
    bool minimal;       /* every path has the minimal length, and none loops */
    uint64_t channels, dependencies;
};

/* Explores all destinations of all jobs of the plane's spec; sets c->used and c->successors. */
struct hx_findings hx_explore(struct hx_plane *p, struct hx_channels *c, struct hx_progress *progress);

#endif
