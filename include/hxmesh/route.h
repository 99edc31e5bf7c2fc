/* route.h - the route functions: (switch, destination, input) to a set of (port, VC).
 *
 * An address has two digits, d0 and d1, which mean nothing to a switch. It has two tables, one by each digit, and what
 * a packet from each of its inputs may still take; the AND of the three is the set. Which fabric it is, is in the
 * tables.
 *
 * A router has up to 64 ports, entries of 64 bits, and a rule for the VC that a packet has behind an output: it begins
 * again at 0 if it came by one of `restarted[output]`, and is raised by one if it came by one of `vc_increment[output]`. The
 * tables of a HammingMesh's tree switches are made here; those of other fabrics by whoever knows the fabric.
 *
 * An accelerator has four links (E W N S) and LOCAL, entries of 8 bits, and raises the VC on some of its links. It is
 * the same thing, narrow, and much faster. In a HammingMesh (SC22 section IV-C: minimal adaptive, north-last on the
 * board, VC + 1 at each board crossing) d0 is gx and d1 gy, and the bits of an entry are the ports' (1 << HX_E ...):
 *
 *               E, W                        N                          S          LOCAL
 *     x_table   next steps of X             no on-board E/W step is    always 1   X is done
 *                                           needed on this board, or
 *                                           N leaves the board here
 *     y_table   always 1                    next step of Y             of Y       Y is done
 *
 * so  x_table[gx] & y_table[gy]  is the set: E/W where X wants them, N only where north-last allows it, LOCAL where
 * both are done. A crossing that would land on a barred board (failed, or another job's) is taken out of its table
 * at build time; an empty set means unreachable.
 *
 * A tree switch of a row (column) network goes by gx (gy) alone. What came down from a spine never goes up again. A
 * packet that has no way on there, for a link is down, goes back (`returns`) to a board, whose accelerators know what
 * to do with it: they look for another way, on which it is raised to the next VC, so that it cannot go round; where
 * there is none an endpoint reports it.
 *
 * Tables lie in memory handed over by the caller and are read-only between builds. */
#ifndef HXMESH_ROUTE_H
#define HXMESH_ROUTE_H

#include "hxmesh/geometry.h"

#include <stddef.h>

#include "hxmesh/begin.h"

/* Which boards a packet of this switch's job may not land on. bits: one per board, Y*x + X, least significant bit
 * of byte 0 first; NULL: none is barred. Owned by the caller. */
struct hx_blocked_boards {
    const uint8_t *bits;
};

struct hx_detour;

struct hx_route {
    const uint8_t *x_table;        /* accelerator: entry per d0 */
    const uint8_t *y_table;        /* accelerator: entry per d1 */
    const uint64_t *addr_hi_ports; /* router: entry per d0 */
    const uint64_t *addr_lo_ports; /* router: entry per d1, and where `detour` is set one more, for HX_NO_DIGIT */
    const uint64_t *from;          /* router, per input: what a packet from there may still take; links that are up */
    const uint64_t *returns; /* router, per input: where what has no way on goes, on its VC; NULL: it is dropped */
    const struct hx_detour *detour; /* router: how packets choose (detour.h); NULL: they all go straight */
    uint64_t choosing; /* router: inputs that packets come by that have not chosen yet; 0 without `detour` */
    const uint64_t *vc_increment, *restarted; /* router, per output: inputs, see above; used where changes_vc is set */
    uint8_t turn_mask[HX_ACCELERATOR_PORTS];  /* accelerator: what a packet from this input may still take */
    uint8_t raise;                            /* accelerator: ports where the VC is raised by one */
    uint8_t vcs;                              /* of the fabric: 1 .. HX_VCS */
    bool is_router;
    bool changes_vc;        /* router: some output has a `vc_increment` or `restarted` that is not 0 */
    uint16_t columns, rows; /* d0 and d1 of destinations are below these: the caller checks */
};

/* Bytes of table memory a node needs (8-byte aligned by the caller). */
size_t hx_route_bytes(const struct hx_geometry *g, uint32_t node);

/* Builds the tables of `node` into `memory` (hx_route_bytes, 8-byte aligned; must outlive *r). `up`: ports whose
 * links are up, bit by port. Call again with the same memory when boards or links fail or come back; not while
 * another thread routes by it. */
void hx_route_build(struct hx_route *r, const struct hx_geometry *g, uint32_t node, struct hx_blocked_boards blocked,
                    uint64_t up, void *memory);

/* Dimension order, for an accelerator's tables as they were just built: wherever X still has a way, only its ports are
 * left of the set, so a packet is done with X before it turns to Y. Where X has none (a barred board, a link that is
 * down), or the packet may be there as far as X tells, nothing changes. A subset of the minimal ways, so nothing can
 * deadlock that could not before.
 *
 * Why one would: in uniform traffic the free choice of hops draws crossings to the outer lines of a board and leaves
 * the inner ones idle. In order, a packet crosses rows on its source's line and columns on its destination's, which all
 * lines share alike. With one partner for each, as in a permutation, the free choice is better: it uses both ways. */
void hx_route_order_x_first(struct hx_route *r, void *memory);

/* The set of ports for a packet to (gx, gy) that came in by port `input` (HX_LOCAL: just injected). Empty: it is
 * unreachable from here. LOCAL stands alone in the set when the packet has arrived. */
static inline uint64_t hx_mesh_ports(const struct hx_route *r, unsigned input, unsigned gx, unsigned gy)
{
    return (uint64_t)(r->x_table[gx] & r->y_table[gy] & r->turn_mask[input]);
}

static inline uint64_t hx_router_ports(const struct hx_route *r, unsigned input, unsigned gx, unsigned gy)
{
    return r->addr_hi_ports[gx] & r->addr_lo_ports[gy < r->rows ? gy : r->rows] & r->from[input];
}

static inline uint64_t hx_route_ports(const struct hx_route *r, unsigned input, unsigned gx, unsigned gy)
{
    return r->is_router ? hx_router_ports(r, input, gx, gy) : hx_mesh_ports(r, input, gx, gy);
}

/* Of `ports`, those where a packet from `input` has its VC raised. */
static inline uint64_t hx_router_raising(const struct hx_route *r, unsigned input, uint64_t ports)
{
    uint64_t raising = 0;
    for (; r->changes_vc && ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        raising |= ((r->vc_increment[port] & ~r->restarted[port]) >> input & 1) << port;
    }
    return raising;
}

/* The VC that a packet which came by (input, vc) has behind `port`. */
static inline unsigned hx_router_vc(const struct hx_route *r, unsigned input, unsigned vc, unsigned port)
{
    if (!r->changes_vc)
        return vc;
    return (r->restarted[port] >> input & 1 ? 0 : vc) + (unsigned)(r->vc_increment[port] >> input & 1);
}

static inline unsigned hx_route_vc(const struct hx_route *r, unsigned input, unsigned vc, unsigned port)
{
    return r->is_router ? hx_router_vc(r, input, vc, port) : vc + ((unsigned)(r->raise >> port) & 1U);
}

/* hx_route_ports() for who came on `vc`. The last VC cannot be raised: a packet that would have to be came with a VC
 * that is not true (nothing on a wire protects it), and has no way on. */
static inline uint64_t hx_route_candidates(const struct hx_route *r, unsigned input, unsigned vc, unsigned gx,
                                           unsigned gy)
{
    uint64_t offered = hx_route_ports(r, input, gx, gy);
    if (vc + 1 < r->vcs)
        return offered;
    return offered & ~(r->is_router ? hx_router_raising(r, input, offered) : (uint64_t)r->raise);
}

#include "hxmesh/end.h"

#endif
