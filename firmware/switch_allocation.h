/* switch_allocation.h - switch allocation and traversal: each packet gets one output, and leaves by it.
 *
 * The entry points of the switch, the step and the calls for one event (switch.c), allocate by these functions alone:
 * allocate() for a new packet, grant() for the waiting packets of an output. */
#ifndef HX_SWITCH_ALLOCATION_H
#define HX_SWITCH_ALLOCATION_H

#include "switch_credit.h"

/* ---- selection ---- */

/* Returns the port of the set with the most credit, or NO_PORT if that is less than `cost`. Ties: lane p has rank p ^
 * tie, so any two ports, and all four, win equally often. */
ALWAYS_INLINE unsigned select_accelerator(struct hx_switch *sw, uint64_t lanes, uint64_t ports, unsigned cost)
{
    static const uint64_t spread[16] = {0x0000000000000000, 0x000000000000FFFF, 0x00000000FFFF0000, 0x00000000FFFFFFFF,
                                        0x0000FFFF00000000, 0x0000FFFF0000FFFF, 0x0000FFFFFFFF0000, 0x0000FFFFFFFFFFFF,
                                        0xFFFF000000000000, 0xFFFF00000000FFFF, 0xFFFF0000FFFF0000, 0xFFFF0000FFFFFFFF,
                                        0xFFFFFFFF00000000, 0xFFFFFFFF0000FFFF, 0xFFFFFFFFFFFF0000, 0xFFFFFFFFFFFFFFFF};
    static const uint64_t ranks[4] = {0x0003000200010000, 0x0002000300000001, 0x0001000000030002, 0x0000000100020003};
    unsigned tie = (unsigned)(hx_switch_tie(sw) >> 62);
    uint64_t ranked = (lanes | ranks[tie]) & spread[ports & 15];
    uint32_t pair = (uint32_t)(ranked >> 32);
    uint32_t low = hx_lane(ranked, 0) > hx_lane(ranked, 1) ? hx_lane(ranked, 0) : hx_lane(ranked, 1);
    uint32_t high = (pair & 0xFFFF) > pair >> 16 ? pair & 0xFFFF : pair >> 16;
    uint32_t best = low > high ? low : high;
    return best >> 2 >= cost ? (best ^ tie) & 3 : NO_PORT;
}

/* The same, but asks the platform for credit, of the ports of the set only. */
ALWAYS_INLINE unsigned select_sparse(struct hx_switch *sw, uint64_t ports, unsigned vc, unsigned cost)
{
    unsigned tie = (unsigned)(hx_switch_tie(sw) >> 62);
    if ((ports & (ports - 1)) == 0) { /* most packets have one port, or none */
        unsigned port = ports ? (unsigned)__builtin_ctzll(ports) : NO_PORT;
        return port != NO_PORT && port_credit(sw, port, vc) >= cost ? port : NO_PORT;
    }
    unsigned best = 0;
    for (; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        unsigned ranked = port_credit(sw, port, vc) << 2 | (port ^ tie);
        best = ranked > best ? ranked : best;
    }
    return best >> 2 >= cost ? (best ^ tie) & 3 : NO_PORT;
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
        uint32_t ranked = router_credit(sw, port, input, vc) << 16 | (uint32_t)(mixed >> 48);
        best = ranked > most ? port : best;
        most = ranked > most ? ranked : most;
    }
    return best;
}

/* ---- traversal ---- */

ALWAYS_INLINE void transmit(struct hx_switch *sw, unsigned port, const struct window_packet *a, bool is_accelerator)
{
    hal_transmit(sw->hal, port, vc_behind(&sw->route, a->input, a->vc, port, is_accelerator), a->input, a->vc, a->d);
}

/* ---- waiting packets ---- */

/* Reverts start_waiting(). */
static void stop_waiting(struct hx_switch *sw, const struct window_packet *a, uint64_t ports)
{
    uint64_t *candidates = hx_switch_candidates(sw, a->input, a->vc);
    uint64_t *requests = sw->requests + (size_t)a->vc * sw->outputs;
    let_go(&sw->input[a->input], a->vc, a->position);
    for (; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        candidates[port] &= ~slot_bit(a->position);
        requests[port] &= ~((uint64_t)(candidates[port] == 0) << a->input);
        sw->wanted[a->vc] &= ~((uint64_t)(requests[port] == 0) << port);
    }
    give_row(sw, a->input, a->vc);
}

/* Returns the oldest waiting packet of the input that has the turn among those that ask for a port on a VC. */
ALWAYS_INLINE struct window_packet turn_of(struct hx_switch *sw, unsigned port, unsigned vc, uint64_t asking)
{
    unsigned input = hx_next_bit(asking, sw->next_input[(size_t)vc * sw->outputs + port]);
    uint16_t position = oldest(hx_switch_candidates(sw, input, vc)[port], hx_lane(sw->input[input].tail, vc));
    return packet_at(sw, input, vc, position);
}

/* Grants a port to one waiting packet of a VC, round-robin over inputs. Returns its candidates; 0: none has credit.
 * b->refused begins with 0 for each port and VC. A VC behind the port without credit stays so in a burst, so its inputs
 * are asked once. */
ALWAYS_INLINE uint64_t grant(struct hx_switch *sw, unsigned port, unsigned vc, struct burst *b, route_function *route,
                             bool is_accelerator)
{
    for (uint64_t asking; (asking = sw->requests[(size_t)vc * sw->outputs + port] & ~b->refused);) {
        const struct window_packet a = turn_of(sw, port, vc, asking);
        const unsigned cost = hal_packet_credits(a.d);
        if (credit_of(sw, b, port, a.input, vc, is_accelerator) >= cost) {
            struct hx_heading to = waiting_heading(sw, a.input, vc, a.position, a.d);
            uint64_t ports = candidate_ports_on(sw, a.input, vc, to, b->open, route, is_accelerator);
            stop_waiting(sw, &a, ports);
            transmit(sw, port, &a, is_accelerator);
            spend(b, port, cost, is_accelerator);
            sw->next_input[(size_t)vc * sw->outputs + port] = (uint8_t)((a.input + 1) & 63);
            b->left |= (uint64_t)1 << a.input;
            b->moved++;
            return ports;
        }
        if (is_accelerator || !sw->route.changes_vc)
            return 0;
        b->refused |= same_vc_behind(&sw->route, port, a.input);
    }
    return 0;
}

/* ---- new packets ---- */

/* Lets a new packet wait for `ports`. */
ALWAYS_INLINE void stall(struct hx_switch *sw, const struct window_packet *a, struct hx_heading to, uint64_t ports,
                         enum hx_stall cause)
{
    start_waiting(sw, a->input, a->vc, a->position, to, ports);
    hal_stall(sw->hal, a->d, cause);
}

/* Returns NO_CREDIT if one of the ports could send: this packet, or older ones before it, lack credit there. */
ALWAYS_INLINE enum hx_stall cause_of_stall(struct hx_switch *sw, uint64_t ports)
{
    for (; ports; ports &= ports - 1) {
        if (!hal_output_is_busy(sw->hal, (unsigned)__builtin_ctzll(ports)))
            return HX_STALL_NO_CREDIT;
    }
    return HX_STALL_OUTPUT_BUSY;
}

/* Selects the output of a new packet and takes its credit. Returns NO_PORT if the packet waits or was dropped. */
ALWAYS_INLINE unsigned allocate(struct hx_switch *sw, const struct window_packet *a, struct burst *b,
                                route_function *route, bool is_accelerator)
{
    uint64_t ports;
    struct hx_heading to = heading_of(a->d);
    if (!admit(sw, a, &to, b->open, route, is_accelerator, &ports))
        return NO_PORT;
    unsigned cost = hal_packet_credits(a->d);
    uint64_t free = ports & ~(sw->wanted[a->vc] | busy_of(b, is_accelerator));
    if (!is_accelerator && sw->route.changes_vc)
        free |= wanted_on_other_vc(sw, a->input, a->vc, ports);
    unsigned port = NO_PORT;
    if (!is_accelerator)
        port = select_router(sw, free, a->input, a->vc, cost);
    else if (ports & LOCAL_BIT)
        port = free && credit_of(sw, b, HX_LOCAL, a->input, a->vc, is_accelerator) >= cost ? HX_LOCAL : NO_PORT;
    else
        port = all_ports(is_accelerator) ? select_accelerator(sw, b->lanes, free, cost)
                                         : select_sparse(sw, free, a->vc, cost);
    if (RARE(port == NO_PORT))
        stall(sw, a, to, ports, cause_of_stall(sw, ports));
    else
        spend(b, port, cost, is_accelerator);
    return port;
}

/* Forwards a new packet, or lets it wait. */
ALWAYS_INLINE void forward(struct hx_switch *sw, const struct window_packet *a, struct burst *b, route_function *route,
                           bool is_accelerator)
{
    unsigned port = allocate(sw, a, b, route, is_accelerator);
    if (port == NO_PORT)
        return;
    transmit(sw, port, a, is_accelerator);
    b->moved++;
}

#endif
