/* graph.h - ways through a fabric that is no HammingMesh, found by search over its cables, apart from the tables of
 * routes.
 *
 * A way is a shortest one; in a Dragonfly it is any that has at most one global cable, and at most one local one on
 * either side of it. Which VC a packet has follows from the fabric's rule (topology/fabric.h) and the cables
 * behind it.
 *
 * Hosts that hang on a router are at the ends of ways only. Searches are made once per place where ways begin, when
 * first asked for, and kept. */
#ifndef HXMESH_TOOLS_CAPTURE_GRAPH_H
#define HXMESH_TOOLS_CAPTURE_GRAPH_H

#include "topology/fabric.h"

/* What lies behind a packet on a cable, that one included, or where it is delivered: over all ways that it may have
 * come. */
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

/* Whether the cable at (node, port) is on a way, in that direction, between two different hosts. */
bool hx_cap_graph_leg(struct hx_cap_graph *g, uint32_t source, uint32_t destination, struct hx_end cable,
                      struct hx_leg *leg);
/* The whole way between two different hosts. */
struct hx_leg hx_cap_graph_whole(struct hx_cap_graph *g, uint32_t source, uint32_t destination);
/* The same where packets make detours (hxmesh/detour.h): `via` as the frame says it. What lies behind who has turned to
 * its destination is known within bounds only, for nobody knows any more where it was. */
bool hx_cap_detour_leg(struct hx_cap_graph *g, uint32_t source, uint32_t destination, unsigned via, struct hx_end cable,
                       struct hx_leg *leg);
struct hx_leg hx_cap_detour_whole(struct hx_cap_graph *g, uint32_t source, uint32_t destination);
/* Whether a router is where a detour to `via` ends. */
bool hx_cap_detour_ends(const struct hx_cap_graph *g, uint32_t router, unsigned via);
/* The VC behind `output` of who came to the node by `input` on `vc`. */
unsigned hx_cap_graph_vc(const struct hx_cap_graph *g, uint32_t node, unsigned input, unsigned vc, unsigned output);

#endif
