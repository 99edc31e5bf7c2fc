/* injection.h - injection bandwidth of hosts of several fabrics, and how to make it equal for a fair comparison: the
 * one place where a program decides what equal injection is.
 *
 *     struct injection of[] = {injection_of(mesh, 1, 400), injection_of(tree, 1, 400)};
 *     injection_differs(of, 2);             1600 Gb/s against 400
 *     injection_equal(of, 2, 4, 0);         the tree has 4 planes */
#ifndef HXMESH_TOOLS_INJECTION_H
#define HXMESH_TOOLS_INJECTION_H

#include "base/arguments.h"
#include "spec/spec.h"
#include "topology/bill.h"

#include <stdbool.h>

struct injection {
    double links;    /* of a host in one plane, in default links */
    double gbps;     /* of a default link, before rates are made equal */
    unsigned planes; /* 1 .. */
    double rate;     /* multiple of `gbps` that default links have */
    bool has_rates;  /* some links have their own rates, which no option changes */
};

/* The injection of a host with `planes` planes and default links of `gbps` Gb/s. */
struct injection injection_of(const struct hx_fabric *g, unsigned planes, double gbps);

/* Injection bandwidth of a host, Gb/s. */
double injection_total(const struct injection *i);
/* Rate of a default link, Gb/s. */
double injection_link(const struct injection *i);

/* The first that differs from all[0]; `count`: none. */
unsigned injection_differs(const struct injection *all, unsigned count);

/* Makes all inject `gbps` Gb/s, with at most `most` planes. 0: as much as the greatest, or the next more that all reach
 * by whole planes, with no fewer planes than they have. One that does not reach it by whole planes has as many as fit
 * into it, at least one, and another rate of its default links. Returns false if that would need a rate of links that
 * have their own. */
bool injection_equal(struct injection *all, unsigned count, unsigned most, double gbps);

/* Dollars of the planes, with links of the rate. Prices by rate are those of that rate. A list without them is for
 * links of the rate before: what a multiple of it costs is that multiple. */
double injection_usd(const struct injection *i, struct hx_fabric *g, const struct hx_prices *prices);

/* ---- options ---- */

#define INJECTION_MOST 1e6 /* Gb/s */

/* What a user wants to be equal. */
struct injection_wish {
    bool equal;
    double gbps; /* of a host; 0: as much as the greatest */
};

/* clang-format off */
#define INJECTION_OPTIONS(w) \
    {HX_FLAG("equal-injection", &(w)->equal, \
             "of several fabrics: set planes, and rates of links where planes do not do, so that all hosts inject " \
             "alike")}, \
    {HX_REAL("injection", &(w)->gbps, 1, INJECTION_MOST, "with --equal-injection: what each host injects, Gb/s"), \
     .argument = "GBPS", .otherwise = "as much as the greatest of the fabrics, or the next more by whole planes"}
/* clang-format on */

/* ---- fabrics of several that are run ---- */

struct injected {
    const char *name;
    struct injection injection;
    struct hx_timing timing; /* of the run: with the rates that make it equal */
};

/* With `planes` planes (0: its own) and the timings `over` over its own. */
struct injected injected_of(const char *name, const struct hx_spec *spec, uint64_t planes,
                            const struct hx_timing *over);
/* If it is wished, sets planes and rates so that all inject equally; dies with HX_EXIT_USAGE if none do. Else warns if
 * they do not. simulated: all runs are under the virtual clock, which alone has rates. */
void injected_settle(struct injected *all, unsigned count, const struct injection_wish *wish, bool simulated);
/* Adds the options of a run that set its planes and rates. */
void injected_add(const struct injected *f, struct hx_arguments *a);

#endif
