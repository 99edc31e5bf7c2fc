/* injection.h - what hosts of several fabrics can inject, and how it is made equal: fabrics are compared like for like.
 *
 *     struct injection of[] = {injection_of(mesh, 1, 400), injection_of(tree, 1, 400)};
 *     injection_differs(of, 2);             4 links against 1
 *     injection_equal(of, 2, 4, false);     the tree has 4 planes */
#ifndef HXMESH_TOOLS_INJECTION_H
#define HXMESH_TOOLS_INJECTION_H

#include "topology/fabric.h"

#include <stdbool.h>

struct injection {
    double links;    /* of a host in one plane; one that has a rate of its own counts by that */
    unsigned planes; /* 1 .. */
    double rate;     /* of what a link has else: 1 */
    bool has_rates;  /* some links have rates of their own, which no option changes */
};

/* Of so many planes, where a link has so many Gb/s. */
struct injection injection_of(const struct hx_fabric *g, unsigned planes, double gbps);

/* What a host can inject, in links. */
double injection_total(const struct injection *i);

/* The first that differs from all[0]; `count`: none does. */
unsigned injection_differs(const struct injection *all, unsigned count);

/* Sets planes, up to `most`, so that all are equal: to the greatest, or the next above it that all can have. Where
 * there is none, and rates may be changed, planes and rates. Returns whether they are equal. */
bool injection_equal(struct injection *all, unsigned count, unsigned most, bool rates);

#endif
