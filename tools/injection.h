/* injection.h - injection bandwidth of hosts of several fabrics, and how to make it equal for a fair comparison.
 *
 *     struct injection of[] = {injection_of(mesh, 1, 400), injection_of(tree, 1, 400)};
 *     injection_differs(of, 2);             4 links against 1
 *     injection_equal(of, 2, 4, false);     the tree has 4 planes */
#ifndef HXMESH_TOOLS_INJECTION_H
#define HXMESH_TOOLS_INJECTION_H

#include "base/arguments.h"
#include "spec/spec.h"

#include <stdbool.h>

struct injection {
    double links;    /* of a host in one plane, in links of the default rate */
    unsigned planes; /* 1 .. */
    double rate;     /* multiple of the default link rate */
    bool has_rates;  /* some links have their own rates, which no option changes */
};

/* The injection of a host with `planes` planes and default links of `gbps` Gb/s. */
struct injection injection_of(const struct hx_fabric *g, unsigned planes, double gbps);

/* Injection bandwidth of a host, in links. */
double injection_total(const struct injection *i);

/* The first that differs from all[0]; `count`: none. */
unsigned injection_differs(const struct injection *all, unsigned count);

/* Makes all equal, with at most `most` planes: to the greatest, or to the next total above it that all can reach. If
 * there is none and `rates` is set, changes planes and rates. Returns whether they are equal. */
bool injection_equal(struct injection *all, unsigned count, unsigned most, bool rates);

/* A fabric of several that are run. */
struct injected {
    const char *name;
    struct injection injection;
    struct hx_timing timing; /* before rates are made equal */
};

/* With `planes` planes (0: its own) and the timings `over` over its own. */
struct injected injected_of(const char *name, const struct hx_spec *spec, uint64_t planes,
                            const struct hx_timing *over);
/* If `equal`, sets planes and rates so that all inject equally; dies with HX_EXIT_USAGE if none do. Else warns if they
 * do not. simulated: all runs are under the virtual clock, which alone has rates. */
void injected_settle(struct injected *all, unsigned count, bool equal, bool simulated);
/* Adds the options of a run that set its planes and rates. */
void injected_add(const struct injected *f, struct hx_arguments *a);

#endif
