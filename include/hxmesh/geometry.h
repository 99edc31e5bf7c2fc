/* geometry.h - where everything in a HammingMesh is: boards, accelerators, lines, networks, cables.
 *
 * Source: Hoefler et al., "HammingMesh", SC22, section III and appendix C.
 *
 * Global coordinates: gx = X*a + column grows eastward, gy = Y*b + row grows southward, (0,0) is north-west; rank = gy
 * * (a*x) + gx.
 *
 * One plane is a graph of nodes. A node is an accelerator's switch or a tree switch:
 *
 *     0 .. N-1                accelerators by rank                    N = a*x*b*y
 *     N ..                    row networks, line 0 .. b*y-1,          row.switches nodes a line
 *     .. nodes-1              column networks, line 0 .. a*x-1,       column.switches nodes a line
 *
 * The nodes of a network are its leaves, then its spines. A network of one leaf and no spine is the single crossbar.
 * Ports of an accelerator: E W N S and LOCAL. Ports of a leaf: `down` ports to the boards, then `up` ports to the
 * spines. Network port 2*B is the W (N) edge of board B on that line, 2*B+1 its E (S) edge.
 *
 * Pure functions; thread-safe. */
#ifndef HXMESH_GEOMETRY_H
#define HXMESH_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum hx_port { HX_E = 0, HX_W = 1, HX_N = 2, HX_S = 3, HX_LOCAL = 4, HX_ACCELERATOR_PORTS = 5 };

enum {
    HX_MAX_BOARD_SIDE = 64,        /* a, b: 1 .. 64 accelerators */
    HX_MAX_FABRIC_SIDE = 1024,     /* x, y: 1 .. 1024 boards */
    HX_MAX_LINE = 4096,            /* a*x and b*y: 1 .. 4096 accelerators */
    HX_MAX_ACCELERATORS = 1048576, /* of a whole fabric */
    HX_MAX_PLANES = 4,             /* 1 .. 4 */
    HX_MAX_RADIX = 64,             /* ports of a tree switch: 2 .. 64 */
    HX_DEFAULT_RADIX = 64,         /* table III, appendix C */
    HX_MAX_TAPER = 63,             /* down ports per up port at a leaf: 1 (full bandwidth) .. 63 */
    HX_VCS = 4,                    /* of a link, at most: a fabric has 1 .. 4 */
    HX_MESH_VCS = 3                /* of a HammingMesh, section IV-C: at most two board crossings */
};

#define HX_NOWHERE UINT32_MAX /* no node: end of a port without a cable */

/* In addr_lo: names the router of the hosts with that addr_hi (frame.h). No host has it. */
#define HX_NO_ADDRESS UINT16_MAX

/* The network of one line. Invariant: leaves*down >= ports; spines == 0 exactly when leaves == 1. */
struct hx_network {
    uint16_t ports;    /* board edges on the line: 2 * boards */
    uint16_t leaves;   /* 1 .. 64 */
    uint16_t spines;   /* 0 .. 64 */
    uint16_t down;     /* ports of a leaf towards boards */
    uint16_t up;       /* ports of a leaf towards spines; 0 on a single crossbar */
    uint16_t switches; /* leaves + spines */
};

struct hx_geometry {
    uint16_t a, b;    /* columns and rows of accelerators on a board */
    uint16_t x, y;    /* columns and rows of boards */
    uint8_t planes;   /* independent copies of the network */
    uint8_t radix;    /* ports of a tree switch */
    uint8_t taper;    /* down ports per up port at a leaf */
    uint16_t columns; /* a*x */
    uint16_t rows;    /* b*y */
    uint32_t accelerators;
    uint32_t row_base;    /* first node of the row networks */
    uint32_t column_base; /* first node of the column networks */
    uint32_t nodes;       /* of one plane */
    struct hx_network row, column;
};

/* One end of a cable or board trace. */
struct hx_end {
    uint32_t node; /* of the plane; HX_NOWHERE: not connected */
    uint16_t port;
};

/* Where a node is. line, index: tree switch (index counts leaves, then spines); gx, gy: accelerator. */
enum hx_node_kind { HX_ACCELERATOR, HX_ROW_SWITCH, HX_COLUMN_SWITCH };
struct hx_place {
    enum hx_node_kind kind;
    uint16_t gx, gy;
    uint16_t line, index;
};

/* Fills *g from its first seven fields. HX_E_RANGE: a field, or the number of accelerators, or a line's length is
 * outside its range. HX_E_CAPACITY: a two-level tree of this radix and taper has too few ports for a line. */
int hx_geometry_init(struct hx_geometry *g, unsigned a, unsigned b, unsigned x, unsigned y, unsigned planes,
                     unsigned radix, unsigned taper);

struct hx_place hx_place_of(const struct hx_geometry *g, uint32_t node);
uint32_t hx_accelerator(const struct hx_geometry *g, unsigned gx, unsigned gy);
uint32_t hx_tree_switch(const struct hx_geometry *g, enum hx_node_kind kind, unsigned line, unsigned index);

/* Returns the number of ports of a node, LOCAL included. */
unsigned hx_node_ports(const struct hx_geometry *g, uint32_t node);

/* Returns the other end of the cable at (node, port); .node is HX_NOWHERE for LOCAL and for unconnected ports. */
struct hx_end hx_far_end(const struct hx_geometry *g, uint32_t node, unsigned port);

/* Returns true if port E/W/N/S of the accelerator is on the edge of its board, and so leads to a network. */
bool hx_is_edge(const struct hx_geometry *g, unsigned gx, unsigned gy, unsigned port);

/* Returns the cables from each leaf of a network to a spine: uplink u of every leaf goes to spine u % spines. */
unsigned hx_cables_to_spine(const struct hx_network *n, unsigned spine);

/* Returns the cables between two ports of one network: 2 through one switch, 4 over a spine. */
unsigned hx_network_cables(const struct hx_network *n, unsigned port, unsigned other);

/* Returns the length of a minimal path between two accelerators, in cables (board traces included); 0 to itself. */
unsigned hx_distance(const struct hx_geometry *g, unsigned gx, unsigned gy, unsigned to_gx, unsigned to_gy);

#include "hxmesh/end.h"

#endif
