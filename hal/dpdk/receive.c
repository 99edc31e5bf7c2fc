/* receive.c - frames in: judged, their credit counted, their descriptors put into the slots (port.h). */
#include "header.h"
#include "hxmesh/error.h"
#include "wire.h"

#include <rte_prefetch.h>
#include <rte_random.h>

static void drop(struct dpdk_port *p, struct rte_mbuf *m, enum hx_drop reason)
{
    p->drops[reason]++;
    p->counts.rx_dropped++;
    rte_pktmbuf_free(m);
}

/* ---- credit ---- */

/* What is staged when a session begins was counted in the one before. */
static void take_credit(struct dpdk_port *p, const struct hx_credit_frame *f)
{
    uint32_t sessions = p->link.sessions;
    enum hx_credit_origin origin = hx_credit_link_take(&p->link, f, rte_rand());
    p->counts.rx_credits++;
    p->counts.reflected += origin == HX_CREDIT_OWN;
    p->counts.strangers += origin == HX_CREDIT_STRANGER;
    if (p->link.sessions != sessions)
        dpdk_port_drain(p);
}

/* ---- data frames ---- */

static void take_data(struct dpdk_port *p, struct rte_mbuf *m, const struct hx_desc *d, const uint8_t *frame)
{
    unsigned credit_vc = frame[HX_AT_CREDIT_VC];
    if (credit_vc != HX_NO_CREDIT)
        hx_credit_link_grant(&p->link, credit_vc, dpdk_get32(frame + HX_AT_CREDIT_LIMIT));
    if (!hx_credit_link_arrive(&p->link, d->vc, hx_blocks(d->length))) {
        drop(p, m, HX_DROP_OVERRUN);
        return;
    }
    *dpdk_slot(p, d->vc, hx_lane(p->arrived, d->vc)) = *d;
    p->arrived = hx_lane_add(p->arrived, d->vc, 1);
    p->counts.rx_packets++;
    p->counts.rx_bytes += (uint64_t)HX_HEADER_BYTES + d->length;
}

/* Bytes behind the payload are padding, and no business of the next switch. False: the frame is in several pieces of
 * which the first does not even hold the header. */
static bool trim(struct rte_mbuf *m, uint32_t bytes)
{
    if (m->nb_segs == 1) {
        m->pkt_len = bytes;
        m->data_len = (uint16_t)bytes;
        return true;
    }
    return m->data_len >= HX_HEADER_BYTES && rte_pktmbuf_trim(m, (uint16_t)(m->pkt_len - bytes)) == 0;
}

/* What is no common frame: an acknowledgement, a report, a credit frame, or nothing. False: the mbuf is gone. */
static bool judge(struct dpdk_port *p, struct rte_mbuf *m, struct hx_desc *d)
{
    const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
    struct hx_header h;
    struct hx_credit_frame f;
    int error = m->data_len >= HX_HEADER_BYTES ? hx_frame_decode(&h, frame, m->pkt_len) : HX_E_SHORT;
    if (error == HX_OK && h.plane == p->plane) {
        *d = (struct hx_desc){
            .length = h.length, .vc = h.vc, .hops = h.hops, .dst_gx = h.dst_gx, .dst_gy = h.dst_gy, .job = h.job};
        dpdk_set_mbuf(d, m);
        return true;
    }
    if (error == HX_E_ETHERTYPE && hx_credit_decode(&f, frame, m->data_len) == HX_OK && f.plane == p->plane) {
        take_credit(p, &f);
        rte_pktmbuf_free(m);
        return false;
    }
    drop(p, m, HX_DROP_MALFORMED);
    return false;
}

static void take_frame(struct dpdk_port *p, struct rte_mbuf *m)
{
    struct hx_desc d;
    if (!judge(p, m, &d))
        return;
    uint32_t bytes = (uint32_t)HX_HEADER_BYTES + d.length;
    if (m->pkt_len != bytes && !trim(m, bytes)) {
        drop(p, m, HX_DROP_MALFORMED);
        return;
    }
    take_data(p, m, &d, rte_pktmbuf_mtod(m, uint8_t *));
}

/* ---- runs of common frames ---- */

/* What a run has brought so far. */
struct run {
    uint64_t came[HX_VCS];         /* blocks; and the next position, times 2^32 */
    uint32_t limit[1 + HX_VCS];    /* the newest grant of a VC, as it stands in the frame; at 0 what grants none */
    struct hx_desc *slots[HX_VCS]; /* the port's */
    uint64_t bytes;                /* of payload */
};

/* Puts frames into the slots up to one that is not common. Whether they fit is looked at when the run is settled;
 * slots behind those that have arrived are free for a burst. Returns frames. */
static inline __attribute__((always_inline)) unsigned read_run(const struct dpdk_port *p, struct rte_mbuf **burst,
                                                               unsigned n, struct run *r)
{
    const struct dpdk_expected expected = dpdk_expect(p->plane);
    const uint32_t mask = p->mask;
    uint64_t bytes = 0;
    unsigned i = 0;
    for (; i < n; i++) {
        struct hx_desc d;
        const struct rte_mbuf *m = burst[i];
        const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
        uint32_t length = m->data_len;
        if (__builtin_expect(length != m->pkt_len || length < HX_HEADER_BYTES, 0) ||
            __builtin_expect(!dpdk_read_header(&d, frame, length, &expected, (uintptr_t)m), 0))
            break;
        unsigned vc = frame[HX_AT_VC];
        memcpy(&r->limit[dpdk_grant_place(frame)], frame + HX_AT_CREDIT_LIMIT, sizeof *r->limit);
        uint64_t came = r->came[vc];
        length -= HX_HEADER_BYTES;
        r->slots[vc][(uint32_t)(came >> 32) & mask] = d;
        r->came[vc] = came + ((uint64_t)1 << 32) + hx_blocks(length);
        bytes += length;
    }
    r->bytes = bytes;
    return i;
}

static bool run_fits(const struct dpdk_port *p, const struct run *r)
{
    bool fit = true;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        const struct hx_credit_receiver *rx = &p->link.rx[vc];
        fit &= (uint32_t)r->came[vc] <= rx->buffer - (rx->received - rx->freed);
    }
    return fit;
}

/* Takes the common frames at the front of a burst, all of them or none. Returns frames. A link that is not open grants
 * nothing and takes nothing. */
static unsigned take_run(struct dpdk_port *p, struct rte_mbuf **burst, unsigned n)
{
    struct run r;
    if (!p->link.open)
        return 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        r.limit[1 + vc] = dpdk_network32(p->link.tx[vc].limit);
        r.slots[vc] = p->slots[vc];
        r.came[vc] = (uint64_t)hx_lane(p->arrived, vc) << 32;
    }
    unsigned packets = read_run(p, burst, n, &r);
    if (packets == 0 || !run_fits(p, &r))
        return 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        p->link.rx[vc].received += (uint32_t)r.came[vc];
        p->arrived = hx_lane_set(p->arrived, vc, (uint16_t)(r.came[vc] >> 32));
        (void)hx_credit_grant(&p->link.tx[vc], dpdk_network32(r.limit[1 + vc]));
    }
    p->counts.rx_packets += packets;
    p->counts.rx_bytes += r.bytes + (uint64_t)packets * HX_HEADER_BYTES;
    return packets;
}

unsigned dpdk_receive(struct dpdk_port *p)
{
    struct rte_mbuf *burst[DPDK_BURST];
    unsigned n = rte_eth_rx_burst(p->device, 0, burst, DPDK_BURST);
    for (unsigned i = 0; i < n; i++)
        rte_prefetch0(rte_pktmbuf_mtod(burst[i], void *));
    for (unsigned i = 0; i < n;) {
        i += take_run(p, burst + i, n - i);
        if (i < n)
            take_frame(p, burst[i++]);
    }
    return n;
}
