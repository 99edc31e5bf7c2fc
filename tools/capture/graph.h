/* graph.h - paths through a fabric that is no HammingMesh, by search over its cables, independent of the routing
 * tables.
 *
 * A path is minimal. In a Dragonfly it is any with at most one global cable, and at most one local cable on either side
 * of it. A packet's VC follows from the fabric's rule (topology/fabric.h) and the cables behind it.
 *
 * Hosts attached to a router are only at the ends of paths. Each search is made when first needed, and kept. */
#ifndef HXMESH_TOOLS_CAPTURE_GRAPH_H
#define HXMESH_TOOLS_CAPTURE_GRAPH_H

#include "topology/fabric.h"

/* Cables and VC of a packet so far, on a cable (which counts) or at delivery: bounds over all its possible paths. */
struct hx_leg {
    unsigned least_cables, most_cables, least_vc, most_vc;
};

struct hx_cap_graph {
    const struct hx_fabric *f;
    bool one_global;                  /* a Dragonfly */
    struct hx_cap_graph_reach **from; /* [node] -> [node]; NULL: not searched yet */
};

void hx_cap_graph_init(struct hx_cap_graph *g, const struct hx_fabric *f);
void hx_cap_graph_free(struct hx_cap_graph *g);

/* Whether the cable at (node, port), leading away from the node, is on a path between two different hosts. Fills
 * *leg. */
bool hx_cap_graph_leg(struct hx_cap_graph *g, uint32_t source, uint32_t destination, struct hx_end cable,
                      struct hx_leg *leg);
/* The leg of a whole path between two different hosts. */
struct hx_leg hx_cap_graph_whole(struct hx_cap_graph *g, uint32_t source, uint32_t destination);
/* The same for paths with detours (hxmesh/detour.h); `via` as in the frame. After the detour the leg
 * is only bounds, because the frame does not say where it ended. */
bool hx_cap_detour_leg(struct hx_cap_graph *g, uint32_t source, uint32_t destination, unsigned via, struct hx_end cable,
                       struct hx_leg *leg);
struct hx_leg hx_cap_detour_whole(struct hx_cap_graph *g, uint32_t source, uint32_t destination);
/* Whether a detour to `via` ends at the router. */
bool hx_cap_detour_ends(const struct hx_cap_graph *g, uint32_t router, unsigned via);
/* The VC behind port `output` of a packet that came by port `input` on `vc`. */
unsigned hx_cap_graph_vc(const struct hx_cap_graph *g, uint32_t node, unsigned input, unsigned vc, unsigned output);

#endif
