/* tap_note.c - notes why a switch sends a packet by this output (tap.h). */
#include "hal/tap_note.h"
#include "sim_node.h"
#include "tap.h"

static inline bool tap_has_waited(const struct hal_switch *h, const struct hx_switch *sw, const struct hx_tap_note *n,
                                  const struct hx_desc *d)
{
    const struct virtual_rx *rx = &h->rx[n->input];
    for (uint16_t at = hx_lane(rx->tail, n->input_vc); at != hx_lane(sw->input[n->input].seen, n->input_vc); at++) {
        if (virtual_queue_at(&rx->queue[n->input_vc], at) == virtual_slot_of(d))
            return true;
    }
    return false;
}

static inline uint16_t tap_room(struct hal_switch *h, const struct hx_switch *sw, const struct hx_tap_note *n,
                                unsigned port)
{
    unsigned behind = hx_route_vc(&sw->route, n->input, n->input_vc, port);
    return (uint16_t)(hx_lane(hal_tx_credits(h, port), behind) / HX_PACKET_BLOCKS);
}

void virtual_tap_note(struct hx_tap_note *n, struct hal_switch *h, unsigned output, unsigned input, unsigned vc,
                      const struct hx_desc *d)
{
    const struct virtual_sim_node *e = h->sim_node;
    tap_note_fill(n, h, &e->node[e->router ? 0 : h->plane].sw, output, input, vc, d);
}
