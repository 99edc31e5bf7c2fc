/* failed_sets.h - what a fabric guarantees after any of some sets of links failed for good.
 *
 * For each set, routes lead around its dead links (tools/paths/broken.h). All packets that may be in flight are then
 * followed, as in a healthy fabric (tools/paths/explore.h). One plane is looked at: a set is of its links. */
#ifndef HXMESH_TOOLS_FAILED_SETS_H
#define HXMESH_TOOLS_FAILED_SETS_H

#include "tools/paths/explore.h"

enum { HX_MOST_FAILED = 64, HX_MOST_SETS = 1000000, HX_DEFAULT_SETS = 200 };

struct hx_failed_ask {
    uint64_t failed; /* links of a set */
    uint64_t most;   /* sets to look at: all, if there are no more */
    uint64_t seed;
};

/* A set of failed links. */
struct hx_failed_set {
    struct hx_end link[HX_MOST_FAILED];
    uint32_t count; /* 0: no such set */
};

/* Pairs with some fault, and the first of them. */
struct hx_failed_pairs {
    uint64_t count, sets; /* pairs, summed over sets; sets with such a pair */
    struct hx_pair first;
    struct hx_failed_set set; /* of the first */
};

struct hx_failed_sets {
    uint32_t links;  /* of a plane that may fail */
    uint32_t failed; /* of a set */
    uint64_t sets;
    bool all; /* every set there is; otherwise drawn ones: */
    uint64_t seed;
    uint64_t cyclic; /* sets with a cycle of dependencies; the first of them: */
    struct hx_failed_set cyclic_set;
    bool mixed_cyclic;              /* together have one: routes of all sets, and healthy ones; but for the escape VC */
    uint64_t pairs;                 /* ordered pairs that living links join, summed over sets */
    struct hx_failed_pairs without; /* of these: without a path */
    struct hx_failed_pairs trapped; /* of these: a choice of nodes never arrives */
    struct hx_failed_pairs apart;   /* pairs that living links do not join */
    struct hx_failed_pairs escapes; /* pairs that need the escape VC */
    uint64_t most_escapes;          /* of a set */
    unsigned longest;               /* path, cables: of the pair and set in `far` */
    struct hx_failed_pairs far;
    unsigned vcs; /* greatest VC + 1 */
    /* All-to-all, share of injection bandwidth (tools/paths/even_loads.h). Pairs without a path send nothing. */
    double healthy, worst, mean;
    struct hx_failed_set worst_set;
};

/* Whether all is well: no cycle, and each joined pair has a path that no choice leaves. */
bool hx_failed_sets_good(const struct hx_failed_sets *f);

/* Needs a spec after hx_spec_add_escape_vc (HammingMesh) or hx_spec_search_updown. Leaves it unchanged. At least one
 * link is left. */
struct hx_failed_sets hx_failed_sets_try(struct hx_spec *spec, const struct hx_failed_ask *ask,
                                         struct hx_progress *progress);

#endif
