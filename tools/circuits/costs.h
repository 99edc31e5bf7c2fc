/* costs.h - what a server costs with its share of a network (topology/prices.h). */
#ifndef HXMESH_TOOLS_CIRCUITS_COSTS_H
#define HXMESH_TOOLS_CIRCUITS_COSTS_H

#include "topology/prices.h"

enum { CIRCUITS_TREE_LEVELS = 3, CIRCUITS_TREE_SPEC = 96 };

/* Table 2 of TopoOpt. The same as examples/prices/topoopt.yaml. */
extern const struct hx_prices circuits_prices;

/* Writes the spec of a fat tree of three levels for so many hosts: full bisection, or half of the links above the
 * leaves. Switches have the least radix with which that goes. */
void circuits_tree_spec(char text[CIRCUITS_TREE_SPEC], uint32_t hosts, bool tapered);

#endif
