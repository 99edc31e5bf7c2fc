/* tap_note.c - why a switch sends a packet by this output, told at the moment it does (tap.h). */
#include "entity.h"
#include "tap.h"

/* Whether the packet stood in the window before this step. */
static bool has_waited(const struct hal_switch *h, const struct hx_switch *sw, unsigned input, unsigned vc)
{
    const struct virtual_rx *rx = &h->rx[input];
    for (uint16_t at = hx_lane(rx->tail, vc); at != hx_lane(sw->input[input].seen, vc); at++) {
        if (virtual_queue_at(&rx->queue[vc], at) == h->looked)
            return true;
    }
    return false;
}

/* Packets for which a port has room. */
static uint16_t room_of(struct hal_switch *h, const struct hx_switch *sw, const struct hx_tap_note *n, unsigned port)
{
    unsigned behind = hx_route_vc(&sw->route, n->input, n->input_vc, port);
    return (uint16_t)(hx_lane(hal_room(h, port), behind) / HX_PACKET_BLOCKS);
}

/* Among several: whether another one had as much room. */
static enum hx_tap_reason chosen_for(struct hal_switch *h, const struct hx_switch *sw, const struct hx_tap_note *n)
{
    uint16_t chosen = room_of(h, sw, n, n->output);
    for (uint64_t left = n->candidates & ~n->wanted & ~((uint64_t)1 << n->output); left; left &= left - 1) {
        if (room_of(h, sw, n, (unsigned)__builtin_ctzll(left)) >= chosen)
            return HX_TAP_TURN;
    }
    return HX_TAP_MOST_ROOM;
}

static enum hx_tap_reason reason_of(struct hal_switch *h, const struct hx_switch *sw, const struct hx_tap_note *n)
{
    if (!(n->candidates >> n->output & 1))
        return HX_TAP_NO_WAY;
    if (h->endpoint && n->output == HX_LOCAL)
        return HX_TAP_ARRIVED;
    if (has_waited(h, sw, n->input, n->input_vc))
        return HX_TAP_WAITED;
    return (n->candidates & (n->candidates - 1)) == 0 ? HX_TAP_ONLY : chosen_for(h, sw, n);
}

void virtual_tap_note(struct hx_tap_note *n, struct hal_switch *h, unsigned output, unsigned input, unsigned vc,
                      const struct hx_desc *d)
{
    const struct virtual_entity *e = h->entity;
    const struct hx_switch *sw = &e->node[e->router ? 0 : h->plane].sw;
    *n = (struct hx_tap_note){.candidates = hx_route_ways(&sw->route, input, vc, d->dst_d0, d->dst_d1),
                              .input = (uint8_t)input,
                              .input_vc = (uint8_t)vc,
                              .output = (uint8_t)output};
    n->wanted = n->candidates & sw->wanted[vc];
    unsigned rooms = 0;
    for (uint64_t left = n->candidates; left && rooms < HX_TAP_ROOMS; left &= left - 1)
        n->room[rooms++] = room_of(h, sw, n, (unsigned)__builtin_ctzll(left));
    n->reason = (uint8_t)reason_of(h, sw, n);
}
