/* hal_port.h - the DPDK platform (include/hxmesh/hal.h). port.h describes ports, share.h cores.
 *
 * A credit unit is a block of 256 B. A struct hal_switch is one core's view of its node: all ports, of which it polls
 * some. A core that polls all ports has no shares. */
#ifndef HAL_PORT_H
#define HAL_PORT_H

#include "hal/simd/crc32c.h"
#include "hal/user.h"
#include "hxmesh/around.h"
#include "hxmesh/lanes.h"
#include "port.h"
#include "share.h"
#include "wire.h"

#include <stdbool.h>

/* ---- switch ---- */

struct hal_switch {
    struct dpdk_port *port; /* [ports], of the node */
    unsigned ports;
    uint64_t mine;                  /* ports this core polls, bit by port */
    uint64_t news;                  /* polled ports that may have new packets */
    uint64_t up;                    /* outputs with a link */
    struct dpdk_share *const *send; /* [ports]: shares of ports that other cores poll */
    uint64_t *drops;                /* [HX_DROP_COUNT], of this core */
    uint64_t *stalls;               /* [HX_STALL_COUNT], of this core */
};

/* A step moves bursts; each VC of a link has its own buffer. */
enum { HAL_SPARSE = 0, HAL_VCS_APART = 1, HAL_SHARED = 0 };

static inline uint64_t hal_rx_pending(const struct hal_switch *h)
{
    return h->news;
}

static inline uint64_t hal_tx_ready(const struct hal_switch *h)
{
    return h->up;
}

static inline uint64_t hal_consumed(const struct hal_switch *h, unsigned input)
{
    return h->port[input].arrivals.tail;
}

static inline uint64_t hal_arrived(struct hal_switch *h, unsigned input)
{
    const struct arrivals *a = &h->port[input].arrivals;
    uint64_t shown = arrivals_shown(a);
    if (shown == a->arrived)
        h->news &= ~((uint64_t)1 << input);
    return shown;
}

static inline const struct hx_desc *hal_arrival(struct hal_switch *h, unsigned input, unsigned vc, uint16_t position)
{
    return arrivals_slot(&h->port[input].arrivals, vc, position);
}

static inline uint64_t hal_tx_credits(struct hal_switch *h, unsigned output)
{
    if (!(h->up >> output & 1))
        return 0;
    return h->mine >> output & 1 ? dpdk_credit_room(&h->port[output]) : dpdk_share_room(h->send[output]);
}

static inline unsigned hal_packet_credits(const struct hx_desc *d)
{
    return hx_blocks(d->length);
}

/* Of another core's port nothing is known. */
static inline unsigned hal_output_occupancy(struct hal_switch *h, unsigned output)
{
    return h->mine >> output & 1 ? cable_occupancy(&h->port[output].cable) : 0;
}

/* The same at all ports. */
static inline unsigned hal_vc_buffer(const struct hal_switch *h)
{
    return h->port[0].peer_blocks;
}

static inline bool hal_destination(struct hal_switch *h, const struct hx_desc *d, uint16_t *addr_hi, uint16_t *addr_lo)
{
    (void)h;
    hx_frame_destination(rte_pktmbuf_mtod(dpdk_mbuf(d), const uint8_t *), addr_hi, addr_lo);
    return true;
}

static inline void hal_redirect(struct hal_switch *h, unsigned input, unsigned vc, uint16_t position, uint16_t addr_hi,
                                uint16_t addr_lo)
{
    struct hx_desc *d = arrivals_slot(&h->port[input].arrivals, vc, position);
    d->dst_addr_hi = addr_hi;
    d->dst_addr_lo = addr_lo;
    hx_frame_set_via(rte_pktmbuf_mtod(dpdk_mbuf(d), uint8_t *), hx_desc_via(d)); /* detours alone change it */
}

/* Returns credit for the input at once: the mbuf is the buffer, and it belongs to the output from here on. */
static inline void hal_transmit(struct hal_switch *h, unsigned output, unsigned output_vc, unsigned input, unsigned vc,
                                const struct hx_desc *d)
{
    const struct hx_desc out = hx_desc_onward(d, output_vc);
    h->port[input].cable.link.rx[vc].freed += hx_blocks(d->length); /* as hx_credit_leave() */
    if (__builtin_expect(h->mine >> output & 1, 1)) {
        dpdk_stage(&h->port[output], &out);
    } else {
        dpdk_share_send(h->send[output], &out);
    }
}

static inline bool hal_output_is_busy(struct hal_switch *h, unsigned output)
{
    (void)h;
    (void)output;
    return false; /* frames wait in the device's queue */
}

static inline void hal_stall(struct hal_switch *h, const struct hx_desc *d, enum hx_stall cause)
{
    (void)d;
    h->stalls[cause]++;
}

static inline void hal_drop(struct hal_switch *h, unsigned input, unsigned vc, const struct hx_desc *d,
                            enum hx_drop reason)
{
    hx_credit_leave(&h->port[input].cable.link.rx[vc], hx_blocks(d->length));
    h->drops[reason]++;
    rte_pktmbuf_free(dpdk_mbuf(d));
}

static inline void hal_release(struct hal_switch *h, unsigned input, uint64_t tail, uint64_t seen,
                               const uint64_t waiting[HX_VCS])
{
    (void)seen;
    (void)waiting;
    if (h->mine >> input & 1) /* a change of routes releases every input of a switch, also those of other cores */
        h->port[input].arrivals.tail = tail;
}

/* dpdk_flush() sends the frames after all ports of the core. */
static inline void hal_commit(struct hal_switch *h)
{
    (void)h;
}

/* ---- endpoint: one port per plane, to the switch's LOCAL ---- */

enum { DPDK_ENDPOINT_BUFFERS = 256, DPDK_ENDPOINT_RESERVE = 32 /* for acknowledgements and arrivals */ };

struct hal_endpoint {
    struct dpdk_port *port[HX_MAX_PLANES]; /* NULL: another process has that plane */
    const struct hx_route *around;         /* of its switch, which has the escape VC; NULL: packets begin on VC 0 */
    struct rte_mempool *pool;
    struct rte_mbuf *mbuf[DPDK_ENDPOINT_BUFFERS]; /* by buffer number */
    uint32_t free[DPDK_ENDPOINT_BUFFERS];
    uint32_t free_count;
    uint64_t now; /* ns */
    uint64_t *drops;
    uint8_t max_vc; /* highest VC of a delivered packet */
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
    if (!h->port[plane])
        return 0;
    const uint64_t blocks = dpdk_credit_room(h->port[plane]);
    const unsigned room = hx_lane(blocks, 0);
    const unsigned escape = h->around ? hx_lane(blocks, HX_ESCAPE_VC) : room;
    return (escape < room ? escape : room) / HX_PACKET_BLOCKS;
}

static inline uint32_t dpdk_buffer_new(struct hal_endpoint *h, struct rte_mbuf *m)
{
    uint32_t buffer = h->free[--h->free_count];
    h->mbuf[buffer] = m;
    return buffer;
}

static inline bool hal_buffer_get(struct hal_endpoint *h, uint32_t *buffer, bool urgent)
{
    if (h->free_count <= (urgent ? (uint32_t)DPDK_BURST : (uint32_t)DPDK_BURST + DPDK_ENDPOINT_RESERVE))
        return false;
    struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);
    if (!m)
        return false;
    *buffer = dpdk_buffer_new(h, m);
    return true;
}

static inline void hal_buffer_put(struct hal_endpoint *h, uint32_t buffer)
{
    rte_pktmbuf_free(h->mbuf[buffer]);
    h->free[h->free_count++] = buffer;
}

static inline uint8_t *hal_frame(struct hal_endpoint *h, uint32_t buffer)
{
    return rte_pktmbuf_mtod(h->mbuf[buffer], uint8_t *);
}

static inline void hal_inject(struct hal_endpoint *h, unsigned plane, const struct hx_desc *d)
{
    struct rte_mbuf *m = h->mbuf[d->buffer];
    h->free[h->free_count++] = d->buffer;
    m->data_len = (uint16_t)(HX_HEADER_BYTES + d->length);
    m->pkt_len = m->data_len;
    struct hx_desc out = *d;
    if (h->around)
        out.vc = (uint8_t)hx_route_injects_on(h->around, d->dst_addr_hi, d->dst_addr_lo);
    dpdk_set_mbuf(&out, m);
    dpdk_stage(h->port[plane], &out);
}

static inline unsigned hal_ejected(struct hal_endpoint *h, unsigned plane, struct hx_desc *burst, unsigned most)
{
    struct dpdk_port *p = h->port[plane];
    const struct hx_desc *came;
    unsigned taken = 0;
    while (p && taken < most && h->free_count > 0 && (came = arrivals_take(&p->arrivals))) {
        struct hx_desc *d = &burst[taken];
        *d = *came;
        hx_credit_leave(&p->cable.link.rx[d->vc], hx_blocks(d->length));
        struct rte_mbuf *m = dpdk_mbuf(d);
        if (rte_pktmbuf_linearize(m) != 0) { /* mbufs of another pool that do not fit into one */
            h->drops[HX_DROP_MALFORMED]++;
            rte_pktmbuf_free(m);
            continue;
        }
        d->buffer = dpdk_buffer_new(h, m);
        taken++;
        h->max_vc = d->vc > h->max_vc ? d->vc : h->max_vc;
    }
    return taken;
}

static inline uint64_t hal_now(struct hal_endpoint *h)
{
    return h->now;
}

#include "hal/endpoint_calls.h" /* needs struct hal_endpoint */

/* dpdk_flush() sends the frames. */
static inline void hal_endpoint_commit(struct hal_endpoint *h)
{
    (void)h;
}

#endif
