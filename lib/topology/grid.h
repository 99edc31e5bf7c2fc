/* grid.h - routers on a grid of one to five dimensions: what tori, meshes, HyperX and mixed fabrics share.
 *
 * Router number = c0 + side0 * (c1 + side1 * (c2 ...)). The routers along a dimension form a ring, a line or a full
 * mesh, or share a switch. These switches are numbered after the routers, dimension by dimension. Router r has the
 * hosts r * places .. r * places + places - 1.
 *
 * addr_hi is the position in the first `split` dimensions. addr_lo is the position in the others, times `places`, plus
 * the host's place on its router. The rest of a path in a dimension depends on that dimension's coordinate alone. So
 * the AND of both digits' sets is a path, and the tables of R routers need fewer than R entries.
 *
 * A packet finishes one stage of dimensions before it turns to the next, so no cycle closes over stages. Within a
 * stage, it takes dimensions in any order, but in rings and lines it goes down, to smaller coordinates, before it goes
 * up (negative first). Then the sum of coordinates falls and rises on one VC. The link that closes a ring moves a
 * packet to the next VC, so no cycle remains. Full dimensions that share a stage need a VC rule. */
#ifndef HXMESH_TOPOLOGY_GRID_H
#define HXMESH_TOPOLOGY_GRID_H

#include "topology/fabric.h"

enum { HX_GRID_DIMENSIONS = 5 };

enum hx_grid_kind { HX_GRID_RING, HX_GRID_LINE, HX_GRID_FULL, HX_GRID_SWITCH };

struct hx_grid_dimension {
    enum hx_grid_kind kind;
    unsigned side;
    unsigned board;   /* routers of one board along it, joined by traces; 1: no boards */
    uint8_t cable;    /* class of its links */
    unsigned gbps;    /* of its links, for the bound: as its class, or 1 for all */
    unsigned stage;   /* at least that of the previous dimension */
    unsigned stride;  /* of router numbers; hx_grid_start() sets this and the rest */
    uint32_t switch0; /* first of its switches */
};

struct hx_grid {
    unsigned dimensions;
    unsigned split;
    unsigned places;
    bool on_hosts;  /* hosts are the routers, on one or two dimensions of lines or rings: x by E and W, y by S and N */
    uint8_t trace;  /* class of links on a board */
    uint8_t beside; /* class of links to hosts */
    struct hx_grid_dimension dimension[HX_GRID_DIMENSIONS];
    uint32_t routers, boards;
};

/* Returns the routers of a grid; 0: more than HX_MAX_HOSTS. */
uint32_t hx_grid_count(const struct hx_grid *g);

/* Returns the split with the shortest tables. */
unsigned hx_grid_best_split(const struct hx_grid *g);

/* Returns the links of a router in a dimension. */
unsigned hx_grid_links(const struct hx_grid_dimension *d);

/* Returns the ports of a router, including those to hosts. */
unsigned hx_grid_radix(const struct hx_grid *g);

/* Calls hx_fabric_start() for a copy of the grid and sets groups (boards) and addresses. The caller adds classes
 * next. */
struct hx_grid *hx_grid_start(struct hx_fabric *f, const struct hx_grid *g);

/* Adds all links, marks the link that closes a ring, and names the routers. */
void hx_grid_add_links(struct hx_fabric *f);

/* Functions for struct hx_topology. */
uint64_t hx_grid_next_hops(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value);
uint64_t hx_grid_turn_mask(const struct hx_fabric *f, uint32_t node, unsigned input);
uint64_t hx_grid_distances(const struct hx_fabric *f, unsigned *longest);
unsigned hx_grid_distance(const struct hx_fabric *f, uint32_t from, uint32_t to);
double hx_grid_alltoall_bound(const struct hx_fabric *f);
uint64_t hx_grid_bisection(const struct hx_fabric *f);
unsigned hx_grid_dimensions(const struct hx_fabric *f, struct hx_fabric_dimension *dimension);

/* What every table of a topology on a grid has. */
/* clang-format off */
#define HX_GRID_FUNCTIONS \
    .next_hops = hx_grid_next_hops, .distance = hx_grid_distance, .distances = hx_grid_distances, \
    .alltoall_bound = hx_grid_alltoall_bound, .bisection = hx_grid_bisection, .dimensions = hx_grid_dimensions
/* clang-format on */

#endif
