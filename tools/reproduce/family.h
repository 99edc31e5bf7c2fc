/* family.h - the topologies of the diameter-two study (Kathareios et al., SC15) and their cost: for a switch radix the
 * largest of each, by formula. */
#ifndef HXMESH_TOOLS_REPRODUCE_FAMILY_H
#define HXMESH_TOOLS_REPRODUCE_FAMILY_H

#include "topology/topology.h"

#include <stdbool.h>

enum { FAMILIES = 7, FAMILY_LEAST_RADIX = 8, FAMILY_MOST_RADIX = 64 };

/* One fabric; links and ports include the hosts' own links. */
struct family_member {
    char spec[HX_SPEC_BYTES];
    double hosts, routers, links, ports; /* ports: connected ones of routers */
};

struct family {
    const char *name;
    /* Computes the largest fabric of routers with at most `radix` ports. false: none. */
    bool (*largest)(unsigned radix, struct family_member *m);
    const char *const *specs; /* sizes for figure 4, ascending; NULL: the bisection is known */
};

extern const struct family families[FAMILIES];

#endif
