/* route.h - the route functions: (switch, destination, input) to a set of (port, VC).
 *
 * Source: SC22 section IV-C: minimal adaptive, north-last on the board, VC + 1 at each board crossing.
 *
 * An accelerator's switch answers with two table look-ups, one by destination gx and one by destination gy, and
 * one AND. The bits of a table entry are the ports' (1 << HX_E ...):
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
 * A tree switch has one table, by destination gx (row network) or gy (column network), of 64-bit port sets.
 *
 * Tables lie in memory handed over by the caller and are read-only between builds. The VC a packet has behind a
 * port is its own VC plus hx_route_raises(port). A further fabric adds a route kind beside these two; the switch
 * does not change. */
#ifndef HXMESH_ROUTE_H
#define HXMESH_ROUTE_H

#include "hxmesh/geometry.h"

#include <stddef.h>

#include "hxmesh/begin.h"

/* Which boards a packet of this switch's job may not land on. bits: one per board, Y*x + X, least significant bit
 * of byte 0 first; NULL: none is barred. Owned by the caller. */
struct hx_barred {
    const uint8_t *bits;
};

struct hx_route {
    const uint8_t *x_table;                /* accelerator: a*x entries */
    const uint8_t *y_table;                /* accelerator: b*y entries */
    const uint64_t *tree_table;            /* tree switch: entry per coordinate of its axis */
    uint8_t allowed[HX_ACCELERATOR_PORTS]; /* accelerator: what a packet from this input may still take */
    uint8_t raise;          /* accelerator: ports that lead off the board, where the VC is raised by one */
    uint8_t kind;           /* enum hx_node_kind */
    uint16_t columns, rows; /* destinations are below these: the caller checks */
    uint64_t up;            /* ports whose link is up */
};

/* Bytes of table memory a node needs (8-byte aligned by the caller). */
size_t hx_route_bytes(const struct hx_geometry *g, uint32_t node);

/* Builds the tables of `node` into `memory` (hx_route_bytes, 8-byte aligned; must outlive *r). `up`: ports whose
 * links are up, bit by port. Call again with the same memory when boards or links fail or come back; not while
 * another thread routes by it. */
void hx_route_build(struct hx_route *r, const struct hx_geometry *g, uint32_t node, struct hx_barred barred,
                    uint64_t up, void *memory);

/* Dimension order, for an accelerator's tables as they were just built: wherever X still has a way, only its ports are left
 * of the set, so a packet is done with X before it turns to Y. Where X has none (a barred board, a link that is down), Y
 * goes first as before. A subset of the minimal ways, so nothing can deadlock that could not before.
 *
 * Why one would: in uniform traffic the free choice of hops draws crossings to the outer lines of a board and leaves the
 * inner ones idle. In order, a packet crosses rows on its source's line and columns on its destination's, which all
 * lines share alike. With one partner for each, as in a permutation, the free choice is better: it uses both ways. */
void hx_route_order_x_first(struct hx_route *r, void *memory);

/* The set of ports for a packet to (gx, gy) that came in by port `input` (HX_LOCAL: just injected). Empty: it is
 * unreachable from here. LOCAL stands alone in the set when the packet has arrived. */
static inline uint64_t hx_mesh_ports(const struct hx_route *r, unsigned input, unsigned gx, unsigned gy)
{
    return (uint64_t)(r->x_table[gx] & r->y_table[gy] & r->allowed[input]);
}

static inline uint64_t hx_tree_ports(const struct hx_route *r, unsigned input, unsigned gx, unsigned gy)
{
    return r->tree_table[r->kind == HX_ROW_SWITCH ? gx : gy] & r->up & ~((uint64_t)1 << input);
}

static inline uint64_t hx_route_ports(const struct hx_route *r, unsigned input, unsigned gx, unsigned gy)
{
    return r->kind == HX_ACCELERATOR ? hx_mesh_ports(r, input, gx, gy) : hx_tree_ports(r, input, gx, gy);
}

/* By how much the VC grows on leaving by `port`: 1 where a board injects into a row or column network, else 0. */
static inline unsigned hx_route_raises(const struct hx_route *r, unsigned port)
{
    return r->kind == HX_ACCELERATOR ? (unsigned)(r->raise >> port) & 1U : 0;
}

#include "hxmesh/end.h"

#endif
