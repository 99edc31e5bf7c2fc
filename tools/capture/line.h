/* line.h - minimal ways along one dimension, found by search, apart from the firmware's tables and formulas.
 *
 * A line is a row (or column) of accelerators through all boards and its network. Its places: 0 .. n-1 the accelerators
 * from west to east (north to south), then the network's leaves, then its spines. An accelerator has two ports on its
 * line, LOW (W or N) and HIGH (E or S). The two dimensions are independent (DESIGN section 3), so a way through the
 * fabric is one along a row and one along a column in any interleaving, and lengths and crossings add up.
 *
 * Searches are made once per starting accelerator, when first asked for, and kept. */
#ifndef HXMESH_TOOLS_CAPTURE_LINE_H
#define HXMESH_TOOLS_CAPTURE_LINE_H

#include "hxmesh/geometry.h"

enum { HX_LOW, HX_HIGH };

/* How to get from the starting accelerator to a place: cables, and how often a board injects into the network: at most
 * once on a line, whatever a second crossing might save. */
struct hx_reach {
    uint16_t cables;
    uint8_t least_crossings, most_crossings; /* over all minimal ways */
};

struct hx_line {
    unsigned side;         /* accelerators of a board */
    unsigned accelerators; /* of the line */
    struct hx_network network;
    unsigned places;
    struct hx_reach **from; /* [accelerator] -> [place]; NULL: not searched yet */
};

struct hx_line_end {
    uint32_t place; /* HX_NOWHERE: nothing is connected */
    unsigned port;
};

void hx_line_init(struct hx_line *l, unsigned side, unsigned boards, const struct hx_network *network);
void hx_line_free(struct hx_line *l);

/* The other end of the cable at a port of a place. */
struct hx_line_end hx_line_far(const struct hx_line *l, uint32_t place, unsigned port);
unsigned hx_line_ports(const struct hx_line *l, uint32_t place);
struct hx_reach hx_line_reach(struct hx_line *l, unsigned accelerator, uint32_t place);

#endif
