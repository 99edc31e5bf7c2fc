/* family.h - the topologies of the diameter-two study (Kathareios et al., SC15) and what one pays with: for switches of
 * a radix the largest of each, by formula. */
#ifndef HXMESH_TOOLS_REPRODUCE_FAMILY_H
#define HXMESH_TOOLS_REPRODUCE_FAMILY_H

#include "topology/topology.h"

#include <stdbool.h>

enum { FAMILIES = 7, FAMILY_LEAST_RADIX = 8, FAMILY_MOST_RADIX = 64 };

/* One fabric; links and ports are counted with the hosts' own links. */
struct family_member {
    char spec[HX_SPEC_BYTES];
    double hosts, routers, links, ports; /* ports: of routers, that something hangs on */
};

struct family {
    const char *name;
    /* The largest whose routers have no more ports than `radix`; false: there is none. */
    bool (*largest)(unsigned radix, struct family_member *m);
    const char *const *specs; /* some sizes for figure 4, ascending; NULL: every cut through it is known */
};

extern const struct family families[FAMILIES];

#endif
