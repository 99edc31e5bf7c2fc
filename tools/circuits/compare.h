/* compare.h - other networks beside circuits, for the same job. A server's interfaces have the rate d B together.
 *
 *     ideal          one switch without limits: d B. Its price is that of a fat tree
 *     fat-tree       three levels, full bisection, at the rate that costs as much as the circuits
 *     fat-tree-2:1   three levels, two ports down for each up at the leaves: d B
 *     expander       a random regular graph of fibres (other.h)
 *     ocs            circuits that follow the demand every 50 ms, in 10 ms; servers forward (reconfigure.h)
 *     sip-ml         circuits that follow the demand as soon as it changes, in 25 us; servers do not forward
 *     SPEC           any fabric with a host for each server; rates of its links are such that hosts inject d B */
#ifndef HXMESH_TOOLS_CIRCUITS_COMPARE_H
#define HXMESH_TOOLS_CIRCUITS_COMPARE_H

#include "tools/circuits/circuits_report.h"

#define CIRCUITS_COMPARE_HELP                                                                                          \
    "another network, beside the circuits: ideal, fat-tree (of equal cost), fat-tree-2:1, expander, ocs, sip-ml, or "  \
    "a SPEC with a host for each server; may be given again"

/* Whether there is such a network for a job of so many servers, with the interfaces, links and seed of a search.
 * Returns false and sets *problem. */
bool circuits_compare_check(const char *name, uint32_t servers, const struct circuits_search *s,
                            struct hx_problem *problem);

/* Adds a network to the report, with the best strategy there; with that of the circuits if none was searched for, and
 * on circuits that change. Returns false and sets *problem. */
bool circuits_compare(struct circuits_report *r, const char *name, struct hx_problem *problem);

#endif
