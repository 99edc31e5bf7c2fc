/* figures.h - what hxmesh info says of a fabric. */
#ifndef HXMESH_TOOLS_INFO_FIGURES_H
#define HXMESH_TOOLS_INFO_FIGURES_H

#include "spec/spec.h"
#include "tools/draw/columns.h"
#include "topology/bisection.h"
#include "topology/bounds.h"

#include <jansson.h>

struct figures {
    struct hx_spec spec;
    const struct hx_fabric *g;
    struct hx_bill bill;
    struct hx_halves bisection;
    struct hx_distances distances;
    unsigned radix; /* ports of the greatest switch */
    double alltoall_bound;
    double injection_gbps; /* of a host, in the planes that are bought */
    double alltoall_gbps;  /* of a host, likewise, at the bound */
    double usd_per_host;
    double usd_per_global_link;   /* what a link's rate of all-to-all traffic costs */
    double usd_per_alltoall_gbps; /* of one host; 0: there is no such traffic */
};

/* Of a spec string or file; dies if there is no such fabric. figures_free() afterwards. */
void figures_load(struct figures *f, const char *argument, const struct hx_overrides *overrides);
void figures_free(struct figures *f);

/* Buys as many planes of each as make its hosts inject what the others' do. Dies with HX_EXIT_USAGE where no numbers of
 * planes do it. `equal` false: only warns where hosts do not inject alike. */
void figures_equal(struct figures *all, unsigned count, bool equal);

json_t *figures_json(const struct figures *f);
void figures_print(const struct figures *f);

/* A table of several, a line each. `columns` has none: as many of the usual ones as fit. */
void figures_compare(const struct figures *all, unsigned count, const struct columns *columns);
/* Dies with HX_EXIT_USAGE unless the table has all of these columns. */
void figures_check_columns(const struct columns *columns);

#endif
