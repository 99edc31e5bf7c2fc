/* figures.h - what hxmesh info says of a fabric. */
#ifndef HXMESH_TOOLS_INFO_FIGURES_H
#define HXMESH_TOOLS_INFO_FIGURES_H

#include "host/spec.h"
#include "host/topology/bisection.h"
#include "host/topology/bounds.h"

#include <jansson.h>

struct figures {
    struct hx_spec spec;
    const struct hx_fabric *g;
    struct hx_bill bill;
    struct hx_halves bisection;
    struct hx_distances distances;
    unsigned radix; /* ports of the greatest switch */
    double alltoall_bound;
    double usd_per_host;
    double usd_per_global_link; /* what a link's rate of all-to-all traffic costs */
};

/* Of a spec string or file; dies if there is no such fabric. figures_free() afterwards. */
void figures_load(struct figures *f, const char *argument, const struct hx_overrides *overrides);
void figures_free(struct figures *f);

json_t *figures_json(const struct figures *f);
void figures_print(const struct figures *f);

/* A table of several, a line each. */
void figures_compare(const struct figures *all, unsigned count);

#endif
