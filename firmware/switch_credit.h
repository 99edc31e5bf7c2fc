/* switch_credit.h - VC allocation, and credit of a switch's outputs during a step.
 *
 * An accelerator has at most four linked outputs, so their credit on one VC is one word of four lanes, which stays in a
 * register while a VC is served (all_ports()). A router asks its platform for each output. With HAL_SPARSE an
 * accelerator does so too, as it is called for one packet, which needs few outputs. */
#ifndef HX_SWITCH_CREDIT_H
#define HX_SWITCH_CREDIT_H

#include "switch_route.h"

enum { NO_PORT = 255 };

/* State of a step. */
struct burst {
    uint64_t pending_vcs;        /* lanes: not 0 for VCs with new packets */
    uint64_t pending;            /* inputs with new packets, bit by input; unless all_ports() */
    uint64_t pending_on[HX_VCS]; /* inputs with new packets, per VC */
    uint64_t grantable;          /* outputs that waiting packets want and that may have credit, bit by output */
    uint64_t left;               /* inputs from which waiting packets left, bit by input */
    uint64_t busy;               /* outputs that sent their packet of this step, bit by output (busy_of()) */
    uint64_t credits[HX_ACCELERATOR_PORTS]; /* all_ports(): hal_tx_credits() */
    uint64_t open;                          /* open_to() this VC */
    uint64_t lanes;                         /* all_ports(): credit of this VC times four, lane by port */
    unsigned local;                         /* all_ports(): credit of this VC at LOCAL */
    uint64_t refused;                       /* inputs that lack credit at the output being granted, bit by input */
    unsigned moved;                         /* number of packets that left */
};

/* Returns true if a step examines all inputs, and the credit of all outputs before it selects any. That is faster if
 * most of a few ports are in use; otherwise the step follows the bits of pending ports. */
ALWAYS_INLINE bool all_ports(bool is_accelerator)
{
    return is_accelerator && !HAL_SPARSE;
}

/* ---- VC allocation ---- */

/* Returns the VC on which a packet goes on behind a port. */
ALWAYS_INLINE unsigned vc_behind(const struct hx_route *r, unsigned input, unsigned vc, unsigned port,
                                 bool is_accelerator)
{
    return is_accelerator ? hx_mesh_vc(r, vc, port) : hx_router_vc(r, input, vc, port);
}

/* Returns the inputs with the same VC behind `port`, for packets of one VC, as `input`. */
static uint64_t same_vc_behind(const struct hx_route *r, unsigned port, unsigned input)
{
    uint64_t vc_increment = r->vc_increment[port] >> input & 1 ? r->vc_increment[port] : ~r->vc_increment[port];
    return vc_increment & (r->restarted[port] >> input & 1 ? r->restarted[port] : ~r->restarted[port]);
}

/* Returns those of `ports` that only packets for another VC than this packet's wait for. One VC must not block another,
 * or they could deadlock. */
static uint64_t wanted_on_other_vc(const struct hx_switch *sw, unsigned input, unsigned vc, uint64_t ports)
{
    uint64_t otherwise = 0;
    for (ports &= sw->wanted[vc]; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        bool same = sw->requests[(size_t)vc * sw->outputs + port] & same_vc_behind(&sw->route, port, input);
        otherwise |= (uint64_t)!same << port;
    }
    return otherwise;
}

/* ---- credit ---- */

/* Returns the credit of an accelerator's four linked outputs for packets of `vc` (one VC higher behind an edge), times
 * four: the two low bits are for the tie rank. For the last VC the lanes of edges are meaningless; its packets do not
 * use them. */
ALWAYS_INLINE uint64_t accelerator_credits(struct hx_switch *sw, const uint64_t credits[4], unsigned vc)
{
    uint64_t lanes = 0;
    for (unsigned port = 0; port < 4; port++)
        lanes |= (uint64_t)hx_lane(credits[port], hx_mesh_vc(&sw->route, vc, port)) << (16 * port);
    return lanes << 2;
}

ALWAYS_INLINE void load_credits(struct hx_switch *sw, struct burst *b, bool is_accelerator)
{
    for (unsigned port = 0; all_ports(is_accelerator) && port < HX_ACCELERATOR_PORTS; port++)
        b->credits[port] = hal_tx_credits(sw->hal, port);
}

/* Prepares to serve a VC. */
ALWAYS_INLINE void begin_vc(struct hx_switch *sw, unsigned vc, struct burst *b, bool is_accelerator)
{
    b->open = open_to(sw, vc);
    if (all_ports(is_accelerator)) {
        b->lanes = accelerator_credits(sw, b->credits, vc);
        b->local = hx_lane(b->credits[HX_LOCAL], vc);
    }
}

ALWAYS_INLINE unsigned router_credit(struct hx_switch *sw, unsigned port, unsigned input, unsigned vc)
{
    uint64_t credits = hal_tx_credits(sw->hal, port);
    return credits ? hx_lane(credits, hx_router_vc(&sw->route, input, vc, port)) : 0;
}

/* Returns the credit of an accelerator's output, from the platform. */
ALWAYS_INLINE unsigned port_credit(struct hx_switch *sw, unsigned port, unsigned vc)
{
    return hx_lane(hal_tx_credits(sw->hal, port), port == HX_LOCAL ? vc : hx_mesh_vc(&sw->route, vc, port));
}

ALWAYS_INLINE unsigned credit_of(struct hx_switch *sw, const struct burst *b, unsigned port, unsigned input,
                                 unsigned vc, bool is_accelerator)
{
    if (!is_accelerator)
        return router_credit(sw, port, input, vc);
    if (!all_ports(is_accelerator))
        return port_credit(sw, port, vc);
    return port == HX_LOCAL ? b->local : (unsigned)hx_lane(b->lanes, port) >> 2;
}

/* Returns an accelerator's outputs that can take no more packets in this step, where one is all that they take. */
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

#endif
