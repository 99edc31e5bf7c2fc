/* tap_note.h - fills the note of a packet that leaves a switch (hal/tap_ring.h), for all platforms that write notes. */
#ifndef HAL_TAP_NOTE_H
#define HAL_TAP_NOTE_H

#include "hal/tap_ring.h"
#include "hxmesh/switch.h"

/* The platform defines it: returns the credit behind a port, in packets, for a packet that arrived as in the note. */
static inline uint16_t tap_room(struct hal_switch *h, const struct hx_switch *sw, const struct hx_tap_note *n,
                                unsigned port);
/* The platform defines it: returns whether the packet waited in the window before this step. */
static inline bool tap_has_waited(const struct hal_switch *h, const struct hx_switch *sw, const struct hx_tap_note *n,
                                  const struct hx_desc *d);

/* Returns TURN if another candidate has as much credit, else MOST_ROOM. */
static inline enum hx_tap_reason tap_choice(struct hal_switch *h, const struct hx_switch *sw,
                                            const struct hx_tap_note *n)
{
    uint16_t chosen = tap_room(h, sw, n, n->output);
    for (uint64_t left = n->candidates & ~n->wanted & ~((uint64_t)1 << n->output); left; left &= left - 1) {
        if (tap_room(h, sw, n, (unsigned)__builtin_ctzll(left)) >= chosen)
            return HX_TAP_TURN;
    }
    return HX_TAP_MOST_ROOM;
}

static inline enum hx_tap_reason tap_reason(struct hal_switch *h, const struct hx_switch *sw,
                                            const struct hx_tap_note *n, const struct hx_desc *d)
{
    if (!(n->candidates >> n->output & 1))
        return HX_TAP_UNREACHABLE;
    if (!sw->route.is_router && n->output == HX_LOCAL)
        return HX_TAP_ARRIVED;
    if (tap_has_waited(h, sw, n, d))
        return HX_TAP_WAITED;
    return (n->candidates & (n->candidates - 1)) == 0 ? HX_TAP_ONLY : tap_choice(h, sw, n);
}

/* For the packet *d, which arrived by (input, vc) and leaves by `output`. */
static inline void tap_note_fill(struct hx_tap_note *n, struct hal_switch *h, const struct hx_switch *sw,
                                 unsigned output, unsigned input, unsigned vc, const struct hx_desc *d)
{
    *n = (struct hx_tap_note){.candidates = hx_route_candidates(&sw->route, input, vc, d->dst_addr_hi, d->dst_addr_lo),
                              .input = (uint8_t)input,
                              .input_vc = (uint8_t)vc,
                              .output = (uint8_t)output};
    n->wanted = n->candidates & sw->wanted[vc];
    unsigned rooms = 0;
    for (uint64_t left = n->candidates; left && rooms < HX_TAP_ROOMS; left &= left - 1)
        n->room[rooms++] = tap_room(h, sw, n, (unsigned)__builtin_ctzll(left));
    n->reason = (uint8_t)tap_reason(h, sw, n, d);
}

#endif
