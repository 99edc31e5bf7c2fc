/* switch_parts.h - what the files of the switch (include/hxmesh/switch.h) have in common: the packets that wait in an
 * input's window, and the ways of a packet.
 *
 *     switch.c         the forwarding step
 *     switch_room.h    the room behind its outputs, and which of them a packet takes
 *     switch_setup.c   how it begins, and what it does when its routes change
 *
 * One body serves accelerators and routers, inlined twice, with the route function and `is_accelerator` as constants: a narrow
 * switch, an accelerator's, has at most four linked outputs. */
#ifndef HX_SWITCH_PARTS_H
#define HX_SWITCH_PARTS_H

#include "bits.h"
#include "hal_port.h"
#include "hxmesh/lanes.h"
#include "hxmesh/switch.h"

#define ALWAYS_INLINE   static inline __attribute__((always_inline))
#define RARE(condition) __builtin_expect(!!(condition), 0)

typedef uint64_t route_function(const struct hx_route *, unsigned input, unsigned gx, unsigned gy);

#define LOCAL_BIT ((uint64_t)1 << HX_LOCAL)

/* ---- windows ---- */

static uint64_t slot_bit(uint16_t position)
{
    return (uint64_t)1 << position % HX_WINDOW;
}

/* First position at or after `from` whose bit is set in a window; `slots` is not empty. */
static uint16_t oldest(uint64_t slots, uint16_t from)
{
    return (uint16_t)(from + (unsigned)__builtin_ctzll(hx_rotate_right(slots, from)));
}

/* A packet of an input's window waits from now on; the tail stays at the oldest. No branch here or in let_go(): whether
 * it is the only one nobody can foresee. */
ALWAYS_INLINE void hold(struct hx_input *in, unsigned vc, uint16_t position)
{
    unsigned shift = HX_LANE_BITS * vc;
    uint64_t lane = (uint64_t)UINT16_MAX << shift;
    uint64_t first = lane & ~in->held;
    in->waiting[vc] |= slot_bit(position);
    in->held |= lane;
    in->tail = (in->tail & ~first) | ((uint64_t)position << shift & first);
}

/* A packet that waited does so no more. */
ALWAYS_INLINE void let_go(struct hx_input *in, unsigned vc, uint16_t position)
{
    unsigned shift = HX_LANE_BITS * vc;
    uint64_t lane = (uint64_t)UINT16_MAX << shift;
    uint64_t waiting = in->waiting[vc] & ~slot_bit(position);
    uint64_t left = waiting ? waiting : slot_bit(position);
    in->waiting[vc] = waiting;
    in->held &= ~(waiting ? 0 : lane);
    in->tail = (in->tail & ~lane) | (uint64_t)oldest(left, hx_lane(in->tail, vc)) << shift;
}

/* Reads where a packet goes. Only once where another process may write there: volatile. */
ALWAYS_INLINE struct hx_heading heading_of(const struct hx_desc *d)
{
    if (HAL_SHARED)
        return (struct hx_heading){*(const volatile uint16_t *)&d->dst_addr_hi,
                                   *(const volatile uint16_t *)&d->dst_addr_lo};
    return (struct hx_heading){d->dst_addr_hi, d->dst_addr_lo};
}

ALWAYS_INLINE uint32_t *kept_heading(const struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position)
{
    return &sw->kept[((size_t)vc * sw->inputs + input) * HX_WINDOW + position % HX_WINDOW];
}

/* Where a packet that waits goes: as it was when its ways were found. */
ALWAYS_INLINE struct hx_heading waiting_heading(const struct hx_switch *sw, unsigned input, unsigned vc,
                                                uint16_t position, const struct hx_desc *d)
{
    if (!HAL_SHARED)
        return heading_of(d);
    uint32_t kept = *kept_heading(sw, input, vc, position);
    return (struct hx_heading){kept & UINT16_MAX, kept >> 16};
}

/* Notes by which ports a packet may leave. */
static void ask_for(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, uint64_t ports)
{
    uint64_t *candidates = hx_switch_candidates(sw, input, vc);
    uint64_t *requests = sw->requests + (size_t)vc * sw->outputs;
    sw->wanted[vc] |= ports;
    for (; ports; ports &= ports - 1) {
        unsigned port = (unsigned)__builtin_ctzll(ports);
        candidates[port] |= slot_bit(position);
        requests[port] |= (uint64_t)1 << input;
    }
}

ALWAYS_INLINE void start_waiting(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position,
                                 struct hx_heading to, uint64_t ports)
{
    hold(&sw->input[input], vc, position);
    if (HAL_SHARED)
        *kept_heading(sw, input, vc, position) = to.addr_lo << 16 | to.addr_hi;
    ask_for(sw, input, vc, position, ports);
}

/* Moves the tail of each VC of an input on which nothing waits up to what was seen, and tells the HAL. */
ALWAYS_INLINE void release(struct hx_switch *sw, unsigned input)
{
    struct hx_input *in = &sw->input[input];
    in->tail = (in->tail & in->held) | (in->seen & ~in->held);
    hal_release(sw->hal, input, in->tail, in->seen, in->waiting);
}

/* ---- route ---- */

ALWAYS_INLINE uint64_t returns_of(const struct hx_route *r, unsigned input)
{
    return r->returns ? r->returns[input] : 0;
}

/* Outputs of an accelerator that a packet on `vc` may take: there is no VC behind the last. */
static uint64_t open_to(const struct hx_switch *sw, unsigned vc)
{
    return vc + 1 < sw->route.vcs ? UINT64_MAX : ~(uint64_t)sw->route.raise;
}

/* Of the ports that a route offers, those for a packet that came on `vc`: hx_route_candidates(). `open`: of an accelerator,
 * open_to() that VC. It hands what has no way on to its endpoint, which reports it; a tree switch gives it back to the
 * boards. */
ALWAYS_INLINE uint64_t candidate_ports_of(const struct hx_switch *sw, unsigned input, unsigned vc, uint64_t ports,
                                          uint64_t open, bool is_accelerator)
{
    if (is_accelerator) {
        ports &= open;
        return RARE(ports == 0) ? LOCAL_BIT : ports;
    }
    if (RARE(ports == 0))
        ports = returns_of(&sw->route, input);
    if (!sw->route.changes_vc || vc + 1 < sw->route.vcs)
        return ports;
    return ports & ~hx_router_raising(&sw->route, input, ports);
}

/* Where a packet that came on `vc` may go. */
ALWAYS_INLINE uint64_t candidate_ports_on(const struct hx_switch *sw, unsigned input, unsigned vc, struct hx_heading to,
                                          uint64_t open, route_function *route, bool is_accelerator)
{
    return candidate_ports_of(sw, input, vc, route(&sw->route, input, to.addr_hi, to.addr_lo), open, is_accelerator);
}

#endif
