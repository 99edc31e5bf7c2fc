/* arrivals.h - packets received by a cable: for each VC a ring of descriptors, by position modulo its size.
 *
 *        tail                                arrived
 *     ----[ window         | behind it      ]----         a switch sees at most 64 positions (HX_WINDOW)
 *
 * Packets overtake waiting ones, so they may leave while the tail cannot move. A ring has slots for a window and,
 * behind it, for one packet a block of buffer. */
#ifndef ARRIVALS_H
#define ARRIVALS_H

#include "hxmesh/geometry.h"
#include "hxmesh/lanes.h"
#include "hxmesh/switch.h"

/* Lanes: 16 bits a VC (hal.h). Invariant: tail <= arrived. */
struct arrivals {
    uint64_t tail, arrived;        /* lanes: positions released, positions filled */
    struct hx_desc *slots[HX_VCS]; /* [mask + 1] each, a power of two */
    uint32_t mask;
    uint8_t next_vc; /* next VC of an endpoint's round-robin */
};

static inline struct hx_desc *arrivals_slot(const struct arrivals *a, unsigned vc, uint16_t position)
{
    return &a->slots[vc][position & a->mask];
}

static inline void arrivals_put(struct arrivals *a, const struct hx_desc *d)
{
    *arrivals_slot(a, d->vc, hx_lane(a->arrived, d->vc)) = *d;
    a->arrived = hx_lane_add(a->arrived, d->vc, 1);
}

/* Returns lanes: end of the window, or of the arrived packets. */
static inline uint64_t arrivals_shown(const struct arrivals *a)
{
    uint64_t shown = a->arrived;
    uint64_t ahead = hx_lanes_sub(a->arrived, a->tail);
    uint64_t fits = hx_lanes_sub(HX_WINDOW * HX_LANE_ONES, ahead);
    if (__builtin_expect((fits & HX_LANE_TOPS) == 0, 1))
        return shown;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        if (hx_lane(ahead, vc) > HX_WINDOW)
            shown = hx_lane_set(shown, vc, (uint16_t)(hx_lane(a->tail, vc) + HX_WINDOW));
    }
    return shown;
}

/* Takes the oldest packet of a VC, round-robin over VCs, so that none starves. NULL: there is none. */
static inline const struct hx_desc *arrivals_take(struct arrivals *a)
{
    for (unsigned n = 0; n < HX_VCS; n++) {
        unsigned vc = a->next_vc;
        uint16_t position = hx_lane(a->tail, vc);
        a->next_vc = (uint8_t)(vc + 1 == HX_VCS ? 0 : vc + 1);
        if (position == hx_lane(a->arrived, vc))
            continue;
        a->tail = hx_lane_add(a->tail, vc, 1);
        return arrivals_slot(a, vc, position);
    }
    return NULL;
}

#endif
