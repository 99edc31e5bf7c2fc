/* noted.c - the forwarding step once more, for switches whose capture asks why packets go where they go.
 *
 * Why a packet took an output is known only at that moment. A test at every packet would cost all runs something, so
 * this file builds the firmware's switch a second time, with a transmit that writes a note first (hal/tap_ring.h). */
#define hx_accelerator_step  shm_noted_accelerator_step
#define hx_router_step       shm_noted_router_step
#define hx_accelerator_pass  shm_noted_accelerator_pass
#define hx_router_pass       shm_noted_router_pass
#define hx_accelerator_grant shm_noted_accelerator_grant
#define hx_router_grant      shm_noted_router_grant

#include "hal_port.h"
#include "tap.h"

static void noted_transmit(struct hal_switch *h, unsigned output, unsigned input, unsigned vc, const struct hx_desc *d);

#define hal_transmit noted_transmit
#include "../../firmware/switch.c" // NOLINT(bugprone-suspicious-include)
#undef hal_transmit

/* Whether the packet stood in the window before this step. */
static bool has_waited(const struct hal_switch *h, unsigned input, unsigned vc, uint32_t buffer)
{
    const struct shm_rx *rx = &h->rx[input];
    const struct hx_input *in = &h->tap->sw->input[input];
    uint16_t at = hx_lane(rx->tail, vc);
    uint16_t seen = hx_lane(in->seen, vc);
    for (unsigned n = 0; at != seen && n < h->size; at++, n++) {
        bool gone = rx->gone[vc] >> at % HX_WINDOW & 1U;
        if (!gone && rx->link->slots[vc * h->size + (at & (h->size - 1))].buffer == buffer)
            return true;
    }
    return false;
}

/* Room behind a port for what came by (input, vc). */
static uint16_t room_for(struct hal_switch *h, unsigned input, unsigned vc, unsigned port)
{
    return hx_lane(hal_room(h, port), hx_route_vc(&h->tap->sw->route, input, vc, port));
}

static enum hx_tap_reason reason_of(struct hal_switch *h, const struct hx_tap_note *n)
{
    uint64_t free = n->candidates & ~n->wanted;
    unsigned chosen = room_for(h, n->input, n->input_vc, n->output);
    enum hx_tap_reason reason = HX_TAP_MOST_ROOM;
    for (uint64_t left = free & ~((uint64_t)1 << n->output); left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        if (room_for(h, n->input, n->input_vc, port) >= chosen)
            reason = HX_TAP_TURN;
    }
    return reason;
}

static void write_note(struct hal_switch *h, unsigned output, unsigned input, unsigned vc, const struct hx_desc *d)
{
    const struct hx_switch *sw = h->tap->sw;
    unsigned slot = hx_lane(h->tx[output].head, d->vc) & (h->size - 1);
    struct hx_tap_note *n = &h->tap->note[((size_t)output * HX_VCS + d->vc) * h->size + slot];
    *n = (struct hx_tap_note){.candidates = hx_route_ways(&sw->route, input, vc, d->dst_d0, d->dst_d1),
                              .input = (uint8_t)input,
                              .input_vc = (uint8_t)vc,
                              .output = (uint8_t)output};
    n->wanted = n->candidates & sw->wanted[vc];
    unsigned rooms = 0;
    for (uint64_t left = n->candidates; left && rooms < HX_TAP_ROOMS; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        n->room[rooms++] = room_for(h, input, vc, port);
    }
    if (!(n->candidates >> output & 1))
        n->reason = HX_TAP_NO_WAY;
    else if (!sw->route.is_router && output == HX_LOCAL)
        n->reason = HX_TAP_ARRIVED;
    else if (has_waited(h, input, vc, d->buffer))
        n->reason = HX_TAP_WAITED;
    else if ((n->candidates & (n->candidates - 1)) == 0)
        n->reason = HX_TAP_ONLY;
    else
        n->reason = (uint8_t)reason_of(h, n);
}

static void noted_transmit(struct hal_switch *h, unsigned output, unsigned input, unsigned vc, const struct hx_desc *d)
{
    write_note(h, output, input, vc, d);
    hal_transmit(h, output, input, vc, d);
}
