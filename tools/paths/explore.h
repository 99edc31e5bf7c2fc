/* explore.h - follows every packet that may be in flight in a plane, by the firmware's route functions only, and
 * collects what a fabric must guarantee. */
#ifndef HXMESH_TOOLS_EXPLORE_H
#define HXMESH_TOOLS_EXPLORE_H

#include "base/progress.h"
#include "tools/paths/dependency.h"
#include "tools/paths/even_loads.h"

struct hx_pair {
    struct hx_coordinate from, to;
};

struct hx_findings {
    uint64_t pairs;       /* ordered pairs of working accelerators of one job */
    uint64_t unreachable; /* of these, pairs without any path; the first of them: */
    struct hx_pair cut;
    uint64_t isolated;  /* ordered pairs of working accelerators of different jobs: intentionally not routed */
    uint64_t dead_ends; /* (channel, destination) that a packet may reach and cannot leave */
    unsigned vcs;       /* greatest VC + 1 */
    unsigned diameter;  /* longest path of a packet between reachable pairs, cables */
    struct hx_pair far; /* the first pair with it */
    bool minimal;       /* every path has the minimal length, and none loops; not with dead links */
    uint64_t channels, dependencies;
    uint64_t trapped; /* pairs with a path, of which some choice ends elsewhere or never; the first of them: */
    struct hx_pair trap;
    /* With dead links: */
    uint64_t apart; /* ordered pairs that living links do not join, beside `pairs`; the first of them: */
    struct hx_pair split;
    uint64_t escapes; /* pairs that need the escape VC */
};

/* What else to collect; NULL: nothing. */
struct hx_explore_also {
    struct hx_even_loads *loads; /* adds all-to-all between the hosts of each job, of pairs that no choice traps */
    /* Adds what nodes of a HammingMesh answer to any packet on the VCs of board crossings, also where no packet comes
     * by routes of these nodes alone. */
    struct hx_channels *answers;
};

/* Explores all destinations of all jobs of the plane's spec; sets c->used and c->successors. */
struct hx_findings hx_explore(struct hx_plane *p, struct hx_channels *c, struct hx_progress *progress);
struct hx_findings hx_explore_also(struct hx_plane *p, struct hx_channels *c, const struct hx_explore_also *also,
                                   struct hx_progress *progress);

#endif
