/* fabric.h - the fabric a capture was made in: its ports by name, its cables, and the ways that packets may take
 * through it.
 *
 * Names come from topology/name.h. Cables and ways of a HammingMesh are worked out here from its sizes (line.h); those of
 * other fabrics are their graph's, and what is found by search over it (graph.h). */
#ifndef HXMESH_TOOLS_CAPTURE_FABRIC_H
#define HXMESH_TOOLS_CAPTURE_FABRIC_H

#include "spec/pcapng/fabric.h"
#include "tools/capture/graph.h"
#include "tools/capture/line.h"
#include "topology/name.h"

/* A node as a place on its row and a place on its column: an accelerator is on both; a row network's switch is a place
 * of the row behind the accelerators, on line y; a column network's likewise. In other fabrics: a host's address. */
struct hx_spot {
    uint32_t x, y;
};

struct hx_port_at {
    unsigned plane;
    uint32_t node; /* of the plane; HX_NOWHERE: the port is not one of the fabric's */
    unsigned port;
    struct hx_spot spot;
};

struct hx_cap_fabric {
    bool known;
    bool jobs_known; /* which job has which board */
    struct hx_spec spec;
    struct hx_capture_facts facts;
    const struct hx_fabric *g;
    struct hx_line row, column; /* HammingMesh */
    struct hx_cap_graph graph;  /* other fabrics */
};

/* Takes over the spec. */
void hx_cap_fabric_init(struct hx_cap_fabric *f, const struct hx_spec *spec, const struct hx_capture_facts *facts,
                        bool jobs_known);
void hx_cap_fabric_free(struct hx_cap_fabric *f);

/* false: no port of this fabric has the name. */
bool hx_cap_port(const struct hx_cap_fabric *f, const char *name, struct hx_port_at *at);
/* The other end of the cable; .node is HX_NOWHERE for LOCAL. */
struct hx_port_at hx_cap_far(const struct hx_cap_fabric *f, const struct hx_port_at *at);
/* How many ports of the node have a cable, LOCAL included. */
unsigned hx_cap_cabled(const struct hx_cap_fabric *f, const struct hx_port_at *at);

static inline bool hx_cap_is_accelerator(const struct hx_cap_fabric *f, const struct hx_port_at *at)
{
    return at->node < f->g->hosts;
}
/* Whether the port, of an accelerator, leads into a row or column network. */
bool hx_cap_leaves_board(const struct hx_cap_fabric *f, const struct hx_port_at *at);

/* Where a packet comes from and goes to: hosts. */
struct hx_journey {
    uint32_t source, destination;
    uint16_t via; /* as a frame says it (hxmesh/frame.h); 0: on no detour, or no more */
};

/* Whether the cable at that port, in the direction away from it, is on a way of the journey. */
bool hx_cap_leg(struct hx_cap_fabric *f, struct hx_journey journey, const struct hx_port_at *near, struct hx_leg *leg);
/* Whether a host is on a way, and what lies behind a packet there. */
bool hx_cap_leg_to(struct hx_cap_fabric *f, struct hx_journey journey, uint32_t host, struct hx_leg *leg);
/* The VC behind port `out` of who came by port `in` of the same node on `vc`. */
unsigned hx_cap_vc(const struct hx_cap_fabric *f, const struct hx_port_at *in, unsigned vc,
                   const struct hx_port_at *out);

/* HammingMesh: cables and crossings of the minimal ways between an accelerator and a node. */
struct hx_capture_path {
    unsigned cables, least_crossings, most_crossings;
};
struct hx_capture_path hx_cap_path(struct hx_cap_fabric *f, unsigned gx, unsigned gy, struct hx_spot to);

#endif
