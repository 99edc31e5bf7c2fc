/* noted.c - the forwarding step for switches that a capture asks for routing decisions.
 *
 * The reason for an output is known only when the packet leaves. To spare all other runs a test per packet, this file
 * compiles the firmware's switch again, with a transmit that writes a note first (hal/tap_ring.h). */
#define hx_accelerator_step  shm_noted_accelerator_step
#define hx_router_step       shm_noted_router_step
#define hx_switch_wait       shm_noted_wait
#define hx_accelerator_pass  shm_noted_accelerator_pass
#define hx_router_pass       shm_noted_router_pass
#define hx_accelerator_grant shm_noted_accelerator_grant
#define hx_router_grant      shm_noted_router_grant

#include "hal/tap_note.h"
#include "hal_port.h"
#include "tap.h"

static void noted_transmit(struct hal_switch *h, unsigned output, unsigned output_vc, unsigned input, unsigned vc,
                           const struct hx_desc *d);

#define hal_transmit noted_transmit
#include "firmware/switch.c" // NOLINT(bugprone-suspicious-include)
#undef hal_transmit

static inline bool tap_has_waited(const struct hal_switch *h, const struct hx_switch *sw, const struct hx_tap_note *n,
                                  const struct hx_desc *d)
{
    unsigned vc = n->input_vc;
    const struct shm_rx *rx = &h->rx[n->input];
    uint16_t at = hx_lane(rx->tail, vc);
    uint16_t seen = hx_lane(sw->input[n->input].seen, vc);
    for (unsigned left = h->size; at != seen && left; at++, left--) {
        bool gone = rx->gone[vc] >> at % HX_WINDOW & 1U;
        if (!gone && rx->link->slots[vc * h->size + (at & (h->size - 1))].buffer == d->buffer)
            return true;
    }
    return false;
}

static inline uint16_t tap_room(struct hal_switch *h, const struct hx_switch *sw, const struct hx_tap_note *n,
                                unsigned port)
{
    return hx_lane(hal_tx_credits(h, port), hx_route_vc(&sw->route, n->input, n->input_vc, port));
}

static void noted_transmit(struct hal_switch *h, unsigned output, unsigned output_vc, unsigned input, unsigned vc,
                           const struct hx_desc *d)
{
    unsigned slot = hx_lane(h->tx[output].head, output_vc) & (h->size - 1);
    struct hx_tap_note *n = &h->tap->note[((size_t)output * HX_VCS + output_vc) * h->size + slot];
    tap_note_fill(n, h, h->tap->sw, output, input, vc, d);
    hal_transmit(h, output, output_vc, input, vc, d);
}
