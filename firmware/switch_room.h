/* switch_room.h - credit of a switch's outputs during a step, and selection among them.
 *
 * An accelerator has at most four linked outputs, so their credit on one VC is one word of four lanes, which stays in a
 * register while a VC is served (all_ports()). A router asks its platform for each output. With HAL_SPARSE an
 * accelerator does so too, as its steps find one or two packets and need few outputs. */
#ifndef HX_SWITCH_ROOM_H
#define HX_SWITCH_ROOM_H

#include "switch_parts.h"

enum { NO_PORT = 255 };

/* State of a step. */
struct burst {
    uint64_t pending_vcs;                /* lanes: not 0 for VCs with new packets */
    uint64_t pending;                    /* inputs with new packets, bit by input; unless all_ports() */
    uint64_t pending_on[HX_VCS];         /* inputs with new packets, per VC */
    uint64_t grantable;                  /* outputs that waiting packets want and that may have credit, bit by output */
    uint64_t left;                       /* inputs from which waiting packets left, bit by input */
    uint64_t busy;                       /* outputs that sent their packet of this step, bit by output (busy_of()) */
    uint64_t room[HX_ACCELERATOR_PORTS]; /* all_ports(): hal_tx_credits() */
    uint64_t open;                       /* accelerator: open_to() this VC */
    uint64_t lanes;                      /* all_ports(): credit of this VC times four, lane by port */
    unsigned local;                      /* all_ports(): credit of this VC at LOCAL */
    unsigned moved;                      /* number of packets that left */
};

/* Returns true if a step examines all inputs, and the credit of all outputs before it selects any. That is faster if
 * most of a few ports are in use; otherwise the step follows the bits of pending ports. */
ALWAYS_INLINE bool all_ports(bool is_accelerator)
{
    return is_accelerator && !HAL_SPARSE;
}

/* ---- credit ---- */

/* Returns the credit of an accelerator's four linked outputs for packets of `vc` (one VC higher behind an edge), times
 * four: the two low bits are for the tie rank. For the last VC the lanes of edges are meaningless; its packets do not
 * use them. */
ALWAYS_INLINE uint64_t accelerator_room(struct hx_switch *sw, const uint64_t room[4], unsigned vc)
{
    uint64_t lanes = 0;
    for (unsigned port = 0; port < 4; port++)
        lanes |= (uint64_t)hx_lane(room[port], hx_mesh_vc(&sw->route, vc, port)) << (16 * port);
    return lanes << 2;
}

ALWAYS_INLINE void load_rooms(struct hx_switch *sw, struct burst *b, bool is_accelerator)
{
    for (unsigned port = 0; all_ports(is_accelerator) && port < HX_ACCELERATOR_PORTS; port++)
        b->room[port] = hal_tx_credits(sw->hal, port);
}

/* Prepares to serve a VC. */
ALWAYS_INLINE void begin_vc(struct hx_switch *sw, unsigned vc, struct burst *b, bool is_accelerator)
{
    b->open = open_to(sw, vc);
    if (all_ports(is_accelerator)) {
        b->lanes = accelerator_room(sw, b->room, vc);
        b->local = hx_lane(b->room[HX_LOCAL], vc);
    }
}

ALWAYS_INLINE unsigned router_room(struct hx_switch *sw, unsigned port, unsigned input, unsigned vc)
{
    uint64_t room = hal_tx_credits(sw->hal, port);
    return room ? hx_lane(room, hx_router_vc(&sw->route, input, vc, port)) : 0;
}

/* Returns the credit of an accelerator's output, from the platform. */
ALWAYS_INLINE unsigned room_of_port(struct hx_switch *sw, unsigned port, unsigned vc)
{
    return hx_lane(hal_tx_credits(sw->hal, port), port == HX_LOCAL ? vc : hx_mesh_vc(&sw->route, vc, port));
}

ALWAYS_INLINE unsigned room_of(struct hx_switch *sw, const struct burst *b, unsigned port, unsigned input, unsigned vc,
                               bool is_accelerator)
{
    if (!is_accelerator)
        return router_room(sw, port, input, vc);
    if (!all_ports(is_accelerator))
        return room_of_port(sw, port, vc);
    return port == HX_LOCAL ? b->local : (unsigned)hx_lane(b->lanes, port) >> 2;
}

/* Returns an accelerator's outputs that can take no more packets in this step, where VCs share credit. */
ALWAYS_INLINE uint64_t busy_of(const struct burst *b, bool is_accelerator)
{
    return is_accelerator && !HAL_VCS_APART ? b->busy : 0;
}

ALWAYS_INLINE void spend(struct burst *b, unsigned port, unsigned cost, bool is_accelerator)
{
    if (is_accelerator && !HAL_VCS_APART)
        b->busy |= (uint64_t)1 << port;
    if (!all_ports(is_accelerator))
        return; /* hal_tx_credits() accounts for it */
    if (port == HX_LOCAL)
        b->local -= cost;
    else
        b->lanes -= (uint64_t)cost << 2 << (16 * port);
}

/* ---- selection ---- */

/* Returns the port of the set with the most credit, or NO_PORT if that is less than `cost`. Ties: lane p has rank p ^
 * turn, so any two ports, and all four, win equally often. */
ALWAYS_INLINE unsigned select_accelerator(struct hx_switch *sw, uint64_t lanes, uint64_t ports, unsigned cost)
{
    static const uint64_t spread[16] = {0x0000000000000000, 0x000000000000FFFF, 0x00000000FFFF0000, 0x00000000FFFFFFFF,
                                        0x0000FFFF00000000, 0x0000FFFF0000FFFF, 0x0000FFFFFFFF0000, 0x0000FFFFFFFFFFFF,
                                        0xFFFF000000000000, 0xFFFF00000000FFFF, 0xFFFF0000FFFF0000, 0xFFFF0000FFFFFFFF,
                                        0xFFFFFFFF00000000, 0xFFFFFFFF0000FFFF, 0xFFFFFFFFFFFF0000, 0xFFFFFFFFFFFFFFFF};
    static const uint64_t ranks[4] = {0x0003000200010000, 0x0002000300000001, 0x0001000000030002, 0x0000000100020003};
    unsigned turn = (unsigned)(hx_switch_tie(sw) >> 62);
    uint64_t ranked = (lanes | ranks[turn]) & spread[ports & 15];
    uint32_t pair = (uint32_t)(ranked >> 32);
    uint32_t low = hx_lane(ranked, 0) > hx_lane(ranked, 1) ? hx_lane(ranked, 0) : hx_lane(ranked, 1);
    uint32_t high = (pair & 0xFFFF) > pair >> 16 ? pair & 0xFFFF : pair >> 16;
    uint32_t best = low > high ? low : high;
    return best >> 2 >= cost ? (best ^ turn) & 3 : NO_PORT;
}

/* The same, but asks the platform for credit, of the ports of the set only. */
ALWAYS_INLINE unsigned select_sparse(struct hx_switch *sw, uint64_t ports, unsigned vc, unsigned cost)
{
    unsigned turn = (unsigned)(hx_switch_tie(sw) >> 62);
    if ((ports & (ports - 1)) == 0) { /* most packets have one port, or none */
        unsigned port = ports ? (unsigned)__builtin_ctzll(ports) : NO_PORT;
        return port != NO_PORT && room_of_port(sw, port, vc) >= cost ? port : NO_PORT;
    }
    unsigned best = 0;
    for (; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        unsigned ranked = room_of_port(sw, port, vc) << 2 | (port ^ turn);
        best = ranked > best ? ranked : best;
    }
    return best >> 2 >= cost ? (best ^ turn) & 3 : NO_PORT;
}

/* The same for any set of ports: each gets a new random 16-bit rank for each choice. */
ALWAYS_INLINE unsigned select_router(struct hx_switch *sw, uint64_t ports, unsigned input, unsigned vc, unsigned cost)
{
    uint64_t tie = hx_switch_tie(sw);
    uint32_t most = (cost << 16) - 1;
    unsigned best = NO_PORT;
    for (; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        uint64_t mixed = (tie ^ port * UINT64_C(0xD6E8FEB86659FD93)) * UINT64_C(0xFF51AFD7ED558CCD);
        uint32_t ranked = router_room(sw, port, input, vc) << 16 | (uint32_t)(mixed >> 48);
        best = ranked > most ? port : best;
        most = ranked > most ? ranked : most;
    }
    return best;
}

#endif
