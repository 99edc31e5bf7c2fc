/* hal_port.h - the example platform's side of the contract (include/hxmesh/hal.h), explained in loopback.h.
 *
 * Freestanding: needs only what the firmware has. A credit unit is a block of 256 B. */
#ifndef HAL_PORT_H
#define HAL_PORT_H

#include "hal/polled.h"
#include "hal/user.h"
#include "hxmesh/crc32c.h"
#include "hxmesh/lanes.h"
#include "loopback.h"

/* ---- for a switch ---- */

struct hal_switch {
    struct loopback_node node;
};

/* A step moves bursts. On a link each VC has its own buffer. */
enum { HAL_SPARSE = 0, HAL_VCS_APART = 1, HAL_SHARED = 0 };

static inline uint64_t hal_consumed(const struct hal_switch *h, unsigned input)
{
    return h->node.port[input].arrivals.tail;
}

static inline uint64_t hal_arrived(struct hal_switch *h, unsigned input)
{
    return arrivals_shown(&h->node.port[input].arrivals);
}

static inline const struct hx_desc *hal_arrival(struct hal_switch *h, unsigned input, unsigned vc, uint16_t position)
{
    return arrivals_slot(&h->node.port[input].arrivals, vc, position);
}

static inline uint64_t hal_tx_credits(struct hal_switch *h, unsigned output)
{
    uint64_t room = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        uint32_t blocks = hx_credit_room(&h->node.port[output].cable.link.tx[vc]);
        room = hx_lane_set(room, vc, (uint16_t)(blocks < HX_MAX_ROOM ? blocks : HX_MAX_ROOM));
    }
    return room;
}

static inline unsigned hal_packet_credits(const struct hx_desc *d)
{
    return hx_blocks(d->length);
}

static inline unsigned hal_output_occupancy(struct hal_switch *h, unsigned output)
{
    return cable_occupancy(&h->node.port[output].cable);
}

static inline unsigned hal_vc_buffer(const struct hal_switch *h)
{
    return h->node.blocks;
}

static inline bool hal_destination(struct hal_switch *h, const struct hx_desc *d, uint16_t *addr_hi, uint16_t *addr_lo)
{
    hx_frame_destination(h->node.frames[d->buffer], addr_hi, addr_lo);
    return true;
}

static inline void hal_redirect(struct hal_switch *h, unsigned input, unsigned vc, uint16_t position, uint16_t addr_hi,
                                uint16_t addr_lo)
{
    struct hx_desc *d = arrivals_slot(&h->node.port[input].arrivals, vc, position);
    d->dst_addr_hi = addr_hi;
    d->dst_addr_lo = addr_lo;
}

static inline void hal_transmit(struct hal_switch *h, unsigned output, unsigned output_vc, unsigned input, unsigned vc,
                                const struct hx_desc *d)
{
    (void)input;
    (void)vc;
    const struct hx_desc out = hx_desc_onward(d, output_vc);
    loopback_transmit(&h->node, output, &out);
}

static inline void hal_stall(struct hal_switch *h, const struct hx_desc *d, enum hx_stall cause)
{
    (void)d;
    h->node.stalls[cause]++;
}

static inline void hal_drop(struct hal_switch *h, unsigned input, unsigned vc, const struct hx_desc *d,
                            enum hx_drop reason)
{
    (void)input;
    (void)vc;
    h->node.drops[reason]++;
    loopback_buffer_put(&h->node, d->buffer);
}

/* Returns credit for each packet that left, in any order; positions become free when the tail passes. */
static inline void loopback_release(struct loopback_port *p, unsigned vc, uint16_t tail, uint16_t seen,
                                    uint64_t waiting)
{
    uint64_t held_or_gone = waiting | p->gone[vc];
    for (uint16_t at = hx_lane(p->arrivals.tail, vc); at != seen; at++) {
        uint64_t bit = (uint64_t)1 << at % HX_WINDOW;
        if (!(held_or_gone & bit))
            hx_credit_leave(&p->cable.link.rx[vc], hx_blocks(arrivals_slot(&p->arrivals, vc, at)->length));
    }
    p->gone[vc] = 0;
    for (uint16_t at = tail; at != seen; at++)
        p->gone[vc] |= ~waiting & (uint64_t)1 << at % HX_WINDOW;
}

static inline void hal_release(struct hal_switch *h, unsigned input, uint64_t tail, uint64_t seen,
                               const uint64_t waiting[HX_VCS])
{
    struct loopback_port *p = &h->node.port[input];
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        loopback_release(p, vc, hx_lane(tail, vc), hx_lane(seen, vc), waiting[vc]);
    p->arrivals.tail = tail;
}

static inline void hal_commit(struct hal_switch *h)
{
    loopback_commit(&h->node);
}

/* ---- for an endpoint: port n of its node is plane n ---- */

struct hal_endpoint {
    struct loopback_node node;
    const struct hx_route *around; /* of its switch, which has the escape VC; NULL: packets begin on VC 0 */
    struct hal_user user;
};

/* Each packet has its own descriptor. */
static inline unsigned hal_train(const struct hal_endpoint *h)
{
    (void)h;
    return 1;
}

static inline unsigned hal_inject_room(struct hal_endpoint *h, unsigned plane)
{
    const struct hx_credit_sender *tx = h->node.port[plane].cable.link.tx;
    const uint32_t room = hx_credit_room(&tx[0]);
    const uint32_t escape = h->around ? hx_credit_room(&tx[HX_ESCAPE_VC]) : room;
    return (escape < room ? escape : room) / HX_PACKET_BLOCKS;
}

static inline bool hal_buffer_get(struct hal_endpoint *h, uint32_t *buffer, bool urgent)
{
    struct loopback_node *n = &h->node;
    if (n->sends_count <= (urgent ? 0U : 1U))
        return false;
    *buffer = n->free_sends[--n->sends_count];
    return true;
}

static inline void hal_buffer_put(struct hal_endpoint *h, uint32_t buffer)
{
    loopback_buffer_put(&h->node, buffer);
}

static inline uint8_t *hal_frame(struct hal_endpoint *h, uint32_t buffer)
{
    return h->node.frames[buffer];
}

static inline void hal_inject(struct hal_endpoint *h, unsigned plane, const struct hx_desc *d)
{
    struct hx_desc out = *d;
    if (h->around)
        out.vc = (uint8_t)hx_route_injects_on(h->around, d->dst_addr_hi, d->dst_addr_lo);
    loopback_transmit(&h->node, plane, &out);
}

static inline unsigned hal_ejected(struct hal_endpoint *h, unsigned plane, struct hx_desc *burst, unsigned most)
{
    struct loopback_port *p = &h->node.port[plane];
    const struct hx_desc *d;
    unsigned taken = 0;
    for (; taken < most && (d = arrivals_take(&p->arrivals)); taken++) {
        burst[taken] = *d;
        hx_credit_leave(&p->cable.link.rx[d->vc], hx_blocks(d->length));
    }
    return taken;
}

static inline uint64_t hal_now(struct hal_endpoint *h)
{
    return h->node.now;
}

static inline uint32_t hal_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    return hx_crc32c(crc, data, bytes);
}

static inline const struct hal_user *hal_user(const struct hal_endpoint *h)
{
    return &h->user;
}

static inline void hal_endpoint_drop(struct hal_endpoint *h, enum hx_drop reason)
{
    h->node.drops[reason]++;
}

static inline void hal_endpoint_commit(struct hal_endpoint *h)
{
    loopback_commit(&h->node);
}

#endif
