/* line.h - minimal paths along one dimension, by search, independent of the firmware's tables and formulas.
 *
 * A line is a row (or column) of accelerators through all boards, and its network. Its places: 0 .. n-1 are the
 * accelerators from west to east (north to south), then the network's leaves, then its spines. An accelerator has two
 * ports on its line, LOW (W or N) and HIGH (E or S). The two dimensions are independent (DESIGN section 3). So a path
 * through the fabric interleaves one along a row and one along a column; lengths and crossings add up.
 *
 * Each search is made when first needed, and kept. */
#ifndef HXMESH_TOOLS_CAPTURE_LINE_H
#define HXMESH_TOOLS_CAPTURE_LINE_H

#include "hxmesh/geometry.h"

enum { HX_LOW, HX_HIGH };

/* Distance from the starting accelerator to a place. Crossings: times that a board injects into the network, at most
 * one a line, even if a second one were shorter. */
struct hx_reach {
    uint16_t cables;
    uint8_t least_crossings, most_crossings; /* over all minimal paths */
};

struct hx_line {
    unsigned side;         /* accelerators of a board */
    unsigned accelerators; /* of the line */
    struct hx_network network;
    unsigned places;
    struct hx_reach **from; /* [accelerator] -> [place]; NULL: not searched yet */
};

struct hx_line_end {
    uint32_t place; /* HX_NOWHERE: not connected */
    unsigned port;
};

void hx_line_init(struct hx_line *l, unsigned side, unsigned boards, const struct hx_network *network);
void hx_line_free(struct hx_line *l);

/* The other end of the cable at a port of a place. */
struct hx_line_end hx_line_far(const struct hx_line *l, uint32_t place, unsigned port);
unsigned hx_line_ports(const struct hx_line *l, uint32_t place);
struct hx_reach hx_line_reach(struct hx_line *l, unsigned accelerator, uint32_t place);

#endif
