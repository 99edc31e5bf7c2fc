/* route.h - the route functions: (switch, destination, input) to a set of (port, VC).
 *
 * A switch has one table by addr_hi, one by addr_lo, and a turn mask for each input. The AND of the three is the set of
 * candidates. Only the tables depend on the fabric.
 *
 * A router has up to 64 ports and entries of 64 bits. The VC behind an output restarts at 0 for packets from an input
 * in `restarted[output]`, and is one higher for those in `vc_increment[output]`. This file builds the tables of a
 * HammingMesh's tree switches; topologies build all others.
 *
 * An accelerator has four links (E W N S) and LOCAL, entries of 8 bits, and increments the VC on some of its links;
 * this is much faster. In a HammingMesh (SC22 section IV-C: minimal adaptive, north-last on the board, VC + 1 at each
 * board crossing) addr_hi is gx and addr_lo gy, and the bits of an entry are the ports' (1 << HX_E ...):
 *
 *               E, W                        N                          S          LOCAL
 *     x_table   next steps of X             no on-board E/W step is    always 1   X is done
 *                                           needed on this board, or
 *                                           N leaves the board here
 *     y_table   always 1                    next step of Y             of Y       Y is done
 *
 * So  x_table[gx] & y_table[gy]  has E/W where X needs them, N only where north-last permits it, LOCAL where both are
 * done. The tables leave out crossings that would land on a blocked board (failed, or of another job). An empty set
 * means unreachable.
 *
 * A tree switch of a row (column) network routes by gx (gy) alone. Packets from a spine never go up again. A packet
 * without a route, because a link is down, goes back (`returns`) to a board. Its accelerator finds another path, with a
 * VC increment that prevents loops; without one, an endpoint reports the packet.
 *
 * The caller owns the memory of tables, which are read-only between builds. */
#ifndef HXMESH_ROUTE_H
#define HXMESH_ROUTE_H

#include "hxmesh/geometry.h"

#include <stddef.h>

#include "hxmesh/begin.h"

/* Boards where packets of this switch's job may not land. bits: one per board, Y*x + X, least significant bit of byte 0
 * first; NULL: none is blocked. Owned by the caller. */
struct hx_blocked_boards {
    const uint8_t *bits;
};

struct hx_detour;
struct hx_around;

struct hx_route {
    const uint8_t *x_table;        /* accelerator: ports by addr_hi */
    const uint8_t *y_table;        /* accelerator: ports by addr_lo */
    const uint64_t *addr_hi_ports; /* router: ports by addr_hi */
    const uint64_t *addr_lo_ports; /* router: ports by addr_lo; with `detour` one more entry, for HX_NO_ADDRESS */
    const uint64_t *from;          /* router, per input: turn mask, limited to links that are up */
    const uint64_t *returns; /* router, per input: ports for a packet without a route, on its VC; NULL: it is dropped */
    const struct hx_detour *detour; /* router: choice of detours (detour.h); NULL: minimal paths only */
    uint64_t choosing;              /* router: inputs from hosts, where packets choose a detour; 0 without `detour` */
    const uint64_t *vc_increment, *restarted; /* router, per output: inputs; used if changes_vc */
    uint8_t turn_mask[HX_ACCELERATOR_PORTS];  /* accelerator, per input: candidate outputs */
    uint8_t incrementing;                     /* accelerator: outputs that increment the VC */
    uint8_t vcs;                              /* of the fabric: 1 .. HX_VCS */
    uint8_t last_vc; /* packets on it are not incremented: the last one, or the one before HX_ESCAPE_VC */
    bool is_router;
    bool changes_vc;          /* router: some `vc_increment` or `restarted` is not 0 */
    uint16_t columns, rows;   /* bounds of addr_hi and addr_lo; the caller checks them */
    struct hx_around *around; /* routes around dead links (around.h); NULL: there are none */
};

/* Returns the bytes of a node's tables, 8-byte aligned. */
size_t hx_route_bytes(const struct hx_geometry *g, uint32_t node);

/* Builds the tables of `node` into `memory` (hx_route_bytes, 8-byte aligned; outlives *r). `up`: ports with a working
 * link, bit by port. Call it again with the same memory when boards or links fail or recover, while no other thread
 * uses the tables. */
void hx_route_build(struct hx_route *r, const struct hx_geometry *g, uint32_t node, struct hx_blocked_boards blocked,
                    uint64_t up, void *memory);

/* Restricts an accelerator's newly built tables to dimension order: where X has a port, only X's ports stay, so a
 * packet finishes X first. Where X has none (done, blocked board, link down), the set stays. The result is a subset of
 * the minimal ports, so it stays deadlock-free.
 *
 * In uniform traffic, adaptive routing draws crossings to the outer lines of a board and idles the inner ones. In
 * dimension order, a packet crosses rows on its source's line and columns on its destination's, which balances lines.
 * For permutations adaptive routing is better, because it uses both paths. */
void hx_route_order_x_first(struct hx_route *r, void *memory);

/* Returns the candidate ports of a packet from `input` (HX_LOCAL: injected) to (gx, gy). Empty: unreachable. LOCAL
 * stands alone when the packet has arrived. */
static inline uint64_t hx_mesh_ports(const struct hx_route *r, unsigned input, unsigned gx, unsigned gy)
{
    return (uint64_t)(r->x_table[gx] & r->y_table[gy] & r->turn_mask[input]);
}

static inline uint64_t hx_router_ports(const struct hx_route *r, unsigned input, unsigned addr_hi, unsigned addr_lo)
{
    return r->addr_hi_ports[addr_hi] & r->addr_lo_ports[addr_lo < r->rows ? addr_lo : r->rows] & r->from[input];
}

static inline uint64_t hx_route_ports(const struct hx_route *r, unsigned input, unsigned gx, unsigned gy)
{
    return r->is_router ? hx_router_ports(r, input, gx, gy) : hx_mesh_ports(r, input, gx, gy);
}

/* Returns the VC behind an accelerator's port of a packet on `vc`. */
static inline unsigned hx_mesh_vc(const struct hx_route *r, unsigned vc, unsigned port)
{
    return vc + (r->incrementing >> port & (unsigned)(vc < HX_VCS - 1));
}

/* Returns those of `ports` that increment the VC of a packet from `input`. */
static inline uint64_t hx_router_incrementing(const struct hx_route *r, unsigned input, uint64_t ports)
{
    uint64_t incrementing = 0;
    for (; r->changes_vc && ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        incrementing |= ((r->vc_increment[port] & ~r->restarted[port]) >> input & 1) << port;
    }
    return incrementing;
}

/* Returns the VC behind `port` of a packet from (input, vc). */
static inline unsigned hx_router_vc(const struct hx_route *r, unsigned input, unsigned vc, unsigned port)
{
    if (!r->changes_vc)
        return vc;
    return (r->restarted[port] >> input & 1 ? 0 : vc) + (unsigned)(r->vc_increment[port] >> input & 1);
}

static inline unsigned hx_route_vc(const struct hx_route *r, unsigned input, unsigned vc, unsigned port)
{
    return r->is_router ? hx_router_vc(r, input, vc, port) : hx_mesh_vc(r, vc, port);
}

/* See around.h. */
uint64_t hx_around_ports(struct hx_around *a, const struct hx_route *r, unsigned input, unsigned vc, unsigned gx,
                         unsigned gy);

/* Returns hx_route_ports() for a packet on `vc`, or its ports around dead links. The last VC cannot be incremented: a
 * packet that would need that has a corrupt VC (no checksum covers it) and gets no port. */
static inline uint64_t hx_route_candidates(const struct hx_route *r, unsigned input, unsigned vc, unsigned gx,
                                           unsigned gy)
{
    uint64_t offered = vc <= r->last_vc ? hx_route_ports(r, input, gx, gy) : 0;
    if (offered == 0 && r->around)
        return hx_around_ports(r->around, r, input, vc, gx, gy);
    if (vc < r->last_vc)
        return offered;
    return offered & ~(r->is_router ? hx_router_incrementing(r, input, offered) : (uint64_t)r->incrementing);
}

#include "hxmesh/end.h"

#endif
