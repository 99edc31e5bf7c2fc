/* fabric.h - the fabric of a capture: its ports by name, its cables, and the paths that packets may take.
 *
 * Names come from topology/name.h. Cables and paths of a HammingMesh are computed here from its sizes (line.h). Cables
 * of other fabrics come from their graph, and paths from a search over it (graph.h). */
#ifndef HXMESH_TOOLS_CAPTURE_FABRIC_H
#define HXMESH_TOOLS_CAPTURE_FABRIC_H

#include "hxmesh/frame.h"
#include "spec/pcapng/fabric.h"
#include "tools/capture/graph.h"
#include "tools/capture/line.h"
#include "topology/name.h"

/* A node's position on its row (x) and on its column (y). An accelerator is on both lines. A switch of row network y
 * has an x behind the accelerators, a switch of column network x has a y behind them. In other fabrics: the address. */
struct hx_spot {
    uint32_t x, y;
};

struct hx_port_at {
    unsigned plane;
    uint32_t node; /* in the plane; HX_NOWHERE: not a port of the fabric */
    unsigned port;
    struct hx_spot spot;
};

struct hx_cap_fabric {
    bool known;
    bool jobs_known; /* the capture tells the job of each board */
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

/* Finds the port of that name. false: the fabric has none. */
bool hx_cap_port(const struct hx_cap_fabric *f, const char *name, struct hx_port_at *at);
/* The other end of the cable; .node is HX_NOWHERE for LOCAL. */
struct hx_port_at hx_cap_far(const struct hx_cap_fabric *f, const struct hx_port_at *at);
/* Number of ports of the node with a cable, LOCAL included. */
unsigned hx_cap_cabled(const struct hx_cap_fabric *f, const struct hx_port_at *at);

static inline bool hx_cap_is_accelerator(const struct hx_cap_fabric *f, const struct hx_port_at *at)
{
    return at->node < f->g->hosts;
}
/* Whether the port of an accelerator leads into a row or column network. */
bool hx_cap_leaves_board(const struct hx_cap_fabric *f, const struct hx_port_at *at);

/* A packet in words, "packet 0 of message 1 from a0,0 to a3,2". Hosts have the names that their ports have, also where
 * the addresses in frames differ from these. */
enum { HX_PACKET_TEXT = 96 };
const char *hx_cap_packet_text(char text[HX_PACKET_TEXT], const struct hx_cap_fabric *f, const struct hx_header *h);
/* What names call the host with an address; the address itself if the fabric is not known. */
struct hx_coordinate hx_cap_host(const struct hx_cap_fabric *f, unsigned addr_hi, unsigned addr_lo);

/* Source and destination hosts of a packet. */
struct hx_journey {
    uint32_t source, destination;
    uint16_t via; /* as in the frame (hxmesh/frame.h); 0: no detour, or it has ended */
};

/* Whether the cable at port `near`, leading away from it, is on a path of the journey. Fills *leg. */
bool hx_cap_leg(struct hx_cap_fabric *f, struct hx_journey journey, const struct hx_port_at *near, struct hx_leg *leg);
/* Whether `host` is on a path of the journey. Fills *leg with what lies behind a packet there. */
bool hx_cap_leg_to(struct hx_cap_fabric *f, struct hx_journey journey, uint32_t host, struct hx_leg *leg);
/* The VC behind port `out` of a packet that came by port `in` of the same node on `vc`. */
unsigned hx_cap_vc(const struct hx_cap_fabric *f, const struct hx_port_at *in, unsigned vc,
                   const struct hx_port_at *out);

/* HammingMesh: cables and crossings of the minimal paths between an accelerator and a node. */
struct hx_capture_path {
    unsigned cables, least_crossings, most_crossings;
};
struct hx_capture_path hx_cap_path(struct hx_cap_fabric *f, unsigned gx, unsigned gy, struct hx_spot to);

#endif
