/* grid.h - routers on a grid of one to five dimensions: what tori, meshes, HyperX and mixed fabrics have in common.
 *
 * Router number = c0 + side0 * (c1 + side1 * (c2 ...)). The routers along a dimension are joined as a ring, as a line,
 * all with all, or by a switch of their own; such switches stand behind the routers, dimension by dimension. Router r
 * has the hosts r * places .. r * places + places - 1.
 *
 * An address: d0 is the place in the first `split` dimensions, d1 the place in the others, times `places`, plus the
 * host's place on its router. What is left in a dimension depends on its own coordinate alone, so the AND of both
 * digits' sets is a way even though neither knows the router: tables of R routers need not have R entries.
 *
 * Dimensions are in stages: a packet is done with one stage before it turns to the next, so no cycle closes over
 * stages. In a stage it takes any dimension first, but in rings and lines what leads down, to smaller coordinates,
 * before what leads up (negative first): on one VC sums of coordinates fall and then rise, so that no cycle is left
 * where a ring's link from its end to its beginning raises the VC. Whoever lays full dimensions in one stage has to
 * have a VC rule for that. */
#ifndef HXMESH_TOPOLOGY_GRID_H
#define HXMESH_TOPOLOGY_GRID_H

#include "topology/fabric.h"

enum { HX_GRID_DIMENSIONS = 5 };

enum hx_grid_kind { HX_GRID_RING, HX_GRID_LINE, HX_GRID_FULL, HX_GRID_SWITCH };

struct hx_grid_dimension {
    enum hx_grid_kind kind;
    unsigned side;
    unsigned board;   /* routers of one board along it: their links are traces; 1: no boards */
    uint8_t cable;    /* class of its links */
    unsigned gbps;    /* of its links, for the bound: as the class has, or all 1 */
    unsigned stage;   /* not below that of the dimension before */
    unsigned stride;  /* of router numbers; this and what follows: hx_grid_start's */
    uint32_t switch0; /* first of its switches */
};

struct hx_grid {
    unsigned dimensions;
    unsigned split;
    unsigned places;
    bool on_hosts;  /* the hosts are the routers, one or two dimensions of lines or rings: x by E and W, y by S and N */
    uint8_t trace;  /* class of links on a board */
    uint8_t beside; /* class of links to hosts */
    struct hx_grid_dimension dimension[HX_GRID_DIMENSIONS];
    uint32_t routers, boards;
};

/* Routers of a grid of these sides, 0: more than hosts can be. */
uint32_t hx_grid_count(const struct hx_grid *g);

/* The split of which tables are the shortest. */
unsigned hx_grid_best_split(const struct hx_grid *g);

/* Links of a router in a dimension. */
unsigned hx_grid_links(const struct hx_grid_dimension *d);

/* Ports of a router, hosts' included. */
unsigned hx_grid_radix(const struct hx_grid *g);

/* hx_fabric_start() for the grid, of which f gets a copy, with groups (boards) and addresses. Classes come next. */
struct hx_grid *hx_grid_start(struct hx_fabric *f, const struct hx_grid *g);

/* Lays all links; a ring's link from its end to its beginning is marked. Names the routers. */
void hx_grid_add_links(struct hx_fabric *f);

/* For struct hx_topology. */
uint64_t hx_grid_next_hops(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value);
uint64_t hx_grid_turn_mask(const struct hx_fabric *f, uint32_t node, unsigned input);
uint64_t hx_grid_distances(const struct hx_fabric *f, unsigned *longest);
unsigned hx_grid_distance(const struct hx_fabric *f, uint32_t from, uint32_t to);
double hx_grid_alltoall_bound(const struct hx_fabric *f);
uint64_t hx_grid_bisection(const struct hx_fabric *f);

/* What every table of a topology on a grid has. */
/* clang-format off */
#define HX_GRID_FUNCTIONS \
    .next_hops = hx_grid_next_hops, .distance = hx_grid_distance, .distances = hx_grid_distances, \
    .alltoall_bound = hx_grid_alltoall_bound, .bisection = hx_grid_bisection
/* clang-format on */

#endif
