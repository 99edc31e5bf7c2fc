/* figures.h - what hxmesh info reports about a fabric. */
#ifndef HXMESH_TOOLS_INFO_FIGURES_H
#define HXMESH_TOOLS_INFO_FIGURES_H

#include "spec/spec.h"
#include "tools/draw/columns.h"
#include "tools/injection.h"
#include "topology/bill.h"
#include "topology/bisection.h"
#include "topology/bounds.h"

#include <jansson.h>

struct figures {
    struct hx_spec spec;
    const struct hx_fabric *g;
    const struct hx_prices *prices;
    struct hx_bill bill;
    struct hx_halves bisection;
    struct hx_distances distances;
    struct injection injection; /* of the bought planes */
    unsigned radix;             /* ports of the largest switch */
    double alltoall_bound;
    double injection_gbps; /* of a host, over the bought planes */
    double alltoall_gbps;  /* of a host, over the bought planes, at the bound */
    double usd_per_host;
    double usd_per_global_link;   /* cost of all-to-all traffic at one link's rate */
    double usd_per_alltoall_gbps; /* for one host; 0: all-to-all is impossible */
};

/* Loads a spec string or file; dies if it is invalid. Keeps the prices. figures_free() afterwards. */
void figures_load(struct figures *f, const char *argument, const struct hx_overrides *overrides,
                  const struct hx_prices *prices);
void figures_free(struct figures *f);

/* If it is wished, sets the bought planes of each, and rates where planes do not do, so that all hosts inject equally.
 * Dies with HX_EXIT_USAGE if none do. Else only warns if hosts inject differently. */
void figures_equal(struct figures *all, unsigned count, const struct injection_wish *wish);

json_t *figures_json(const struct figures *f);
void figures_print(const struct figures *f);

/* Prints a table with a line for each fabric. Without chosen columns it has as many default ones as fit. */
void figures_compare(const struct figures *all, unsigned count, const struct columns *columns);
/* Dies with HX_EXIT_USAGE if a column does not exist. */
void figures_check_columns(const struct columns *columns);

#endif
