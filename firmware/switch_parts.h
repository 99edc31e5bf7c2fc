/* switch_parts.h - what the files of the switch (include/hxmesh/switch.h) share: windows of waiting packets.
 *
 * Stages of a packet in the switch, by the names of Dally and Towles, "Principles and Practices of Interconnection
 * Networks", section 16.1:
 *
 *     route computation    switch_route.h        candidate ports
 *     VC allocation        switch_credit.h       the VC behind each port; computed, as packets do not compete for VCs
 *     switch allocation    switch_allocation.h   one output a packet: new packets, waiting packets
 *     switch traversal     switch_allocation.h   transmit()
 *     credit               switch_credit.h       credit of outputs; release() below gives credit back
 *
 * switch.c calls them for a burst (the step) or for one event (pass, wait, grant). switch_setup.c initialises a switch,
 * and changes routes.
 *
 * One body serves accelerators and routers. It is inlined twice, with the route function and `is_accelerator` as
 * constants: an accelerator has at most four linked outputs. */
#ifndef HX_SWITCH_PARTS_H
#define HX_SWITCH_PARTS_H

#include "bits.h"
#include "hal_port.h"
#include "hxmesh/lanes.h"
#include "hxmesh/switch.h"

#define ALWAYS_INLINE   static inline __attribute__((always_inline))
#define RARE(condition) __builtin_expect(!!(condition), 0)

#define LOCAL_BIT ((uint64_t)1 << HX_LOCAL)

/* ---- windows ---- */

static uint64_t slot_bit(uint16_t position)
{
    return (uint64_t)1 << position % HX_WINDOW;
}

/* Returns the first position at or after `from` that is set. `slots` is not 0. */
static uint16_t oldest(uint64_t slots, uint16_t from)
{
    return (uint16_t)(from + (unsigned)__builtin_ctzll(hx_rotate_right(slots, from)));
}

/* Adds a waiting packet to a window; the tail stays at the oldest. Branch-free, as is let_go(): whether it is the only
 * one is unpredictable. */
ALWAYS_INLINE void hold(struct hx_input *in, unsigned vc, uint16_t position)
{
    unsigned shift = HX_LANE_BITS * vc;
    uint64_t lane = (uint64_t)UINT16_MAX << shift;
    uint64_t first = lane & ~in->held;
    in->waiting[vc] |= slot_bit(position);
    in->held |= lane;
    in->tail = (in->tail & ~first) | ((uint64_t)position << shift & first);
}

/* Removes a waiting packet from a window. */
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

/* Reads a packet's next address. Volatile, so that it is read once where another process may write. */
ALWAYS_INLINE struct hx_heading heading_of(const struct hx_desc *d)
{
    if (HAL_SHARED)
        return (struct hx_heading){*(const volatile uint16_t *)&d->dst_addr_hi,
                                   *(const volatile uint16_t *)&d->dst_addr_lo};
    return (struct hx_heading){d->dst_addr_hi, d->dst_addr_lo};
}

/* Returns where a waiting packet's next address is kept, with HAL_SHARED: addr_lo << 16 | addr_hi. */
ALWAYS_INLINE uint32_t *kept_heading(const struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position)
{
    uint32_t *kept = sw->candidate_row + (size_t)sw->route.vcs * sw->inputs;
    return &kept[((size_t)vc * sw->inputs + input) * HX_WINDOW + position % HX_WINDOW];
}

/* Returns the next address of a waiting packet, as it was when its candidates were computed. */
ALWAYS_INLINE struct hx_heading waiting_heading(const struct hx_switch *sw, unsigned input, unsigned vc,
                                                uint16_t position, const struct hx_desc *d)
{
    if (!HAL_SHARED)
        return heading_of(d);
    uint32_t kept = *kept_heading(sw, input, vc, position);
    return (struct hx_heading){kept & UINT16_MAX, kept >> 16};
}

/* ---- rows of candidates ---- */

ALWAYS_INLINE uint32_t *row_of(const struct hx_switch *sw, unsigned input, unsigned vc)
{
    return &sw->candidate_row[(size_t)vc * sw->inputs + input];
}

/* Gives an (input, VC) a row for its first waiting packet. */
ALWAYS_INLINE void take_row(struct hx_switch *sw, unsigned input, unsigned vc)
{
    struct hx_rows *rows = sw->candidate_rows;
    uint32_t *row = row_of(sw, input, vc);
    if (*row)
        return;
    if (!rows->spare) {
        *row = ++rows->used;
        return;
    }
    *row = rows->spare;
    uint64_t *first = hx_switch_candidates(sw, input, vc);
    rows->spare = (uint32_t)*first;
    *first = 0;
}

/* Gives the row back if no packet waits; it is zero then. */
ALWAYS_INLINE void give_row(struct hx_switch *sw, unsigned input, unsigned vc)
{
    struct hx_rows *rows = sw->candidate_rows;
    if (sw->input[input].waiting[vc] || !rows->used)
        return;
    uint32_t *row = row_of(sw, input, vc);
    *hx_switch_candidates(sw, input, vc) = rows->spare;
    rows->spare = *row;
    *row = 0;
}

/* Adds a waiting packet to the requests of its ports. */
static void ask_for(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position, uint64_t ports)
{
    take_row(sw, input, vc);
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

/* Advances the tail of each VC without waiting packets to `seen`, and tells the HAL. */
ALWAYS_INLINE void release(struct hx_switch *sw, unsigned input)
{
    struct hx_input *in = &sw->input[input];
    in->tail = (in->tail & in->held) | (in->seen & ~in->held);
    hal_release(sw->hal, input, in->tail, in->seen, in->waiting);
}

/* A packet in the window of its (input, VC). */
struct window_packet {
    unsigned input, vc;
    uint16_t position;
    const struct hx_desc *d;
    uint64_t offered; /* of a new packet: ports that its route offers; 0: not computed yet */
};

ALWAYS_INLINE struct window_packet packet_at(struct hx_switch *sw, unsigned input, unsigned vc, uint16_t position)
{
    return (struct window_packet){
        .input = input, .vc = vc, .position = position, .d = hal_arrival(sw->hal, input, vc, position)};
}

#endif
