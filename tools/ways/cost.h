/* cost.h - what a fabric's network is made of and what it costs, as appendix C of the paper counts it.
 *
 * Always for four planes, as the paper's accelerators have, whatever a spec emulates. Where all lines of a board row
 * (b lines of 2x board edges) fit one switch together, one switch serves them; otherwise each line has its own single
 * crossbar or two-level tree. Likewise for columns (a lines of 2y). Board edges reach row switches by copper (DAC),
 * column switches by active optical cable (AoC); switches reach each other by AoC. Board traces cost nothing. */
#ifndef HXMESH_TOOLS_COST_H
#define HXMESH_TOOLS_COST_H

#include "hxmesh/geometry.h"

enum { HX_COST_PLANES = 4, HX_SWITCH_USD = 14280, HX_DAC_USD = 272, HX_AOC_USD = 603 };

struct hx_cost {
    uint64_t switches;
    uint64_t dac, aoc; /* cables */
    uint64_t usd;
};

struct hx_cost hx_cost_of(const struct hx_geometry *g);

#endif
