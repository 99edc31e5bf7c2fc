/* receive.c - incoming frames: checks them, counts credit, puts descriptors into slots (port.h). */
#include "header.h"
#include "wire.h"

#include <rte_cycles.h>
#include <rte_prefetch.h>

static void drop(struct dpdk_port *p, struct rte_mbuf *m, enum hx_drop reason)
{
    p->drops[reason]++;
    p->counts.rx_dropped++;
    rte_pktmbuf_free(m);
}

/* ---- one frame ---- */

/* Counts a control frame that is not notices of this session. If a session begins, staged frames belong to the one
 * that ended: drops them. */
static void take_credit(struct dpdk_port *p, const uint8_t *frame, enum cable_verdict verdict)
{
    p->counts.rx_credits += frame[HX_AT_CONTROL_KIND] == HX_CREDIT;
    p->counts.reflected += verdict == CABLE_OWN;
    p->counts.strangers += verdict == CABLE_STRANGER;
    cable_hear(&p->cable, verdict, rte_rdtsc());
    if (cable_new_sessions(&p->cable))
        dpdk_port_drain(p);
}

/* A control frame is never segmented: all of it is in the first mbuf. */
static void take_notices(struct dpdk_port *p, const uint8_t *frame, uint32_t bytes)
{
    p->counts.rx_notices++;
    if (!p->notices)
        return;
    dpdk_notices_lock(p->notices);
    cable_notices_take(&p->notices->of, p->number, frame, bytes, rte_rdtsc());
    dpdk_notices_unlock(p->notices);
}

static void take_data(struct dpdk_port *p, struct rte_mbuf *m, struct hx_desc *d)
{
    if (dpdk_is_foreign(&p->job, d->job)) {
        hx_credit_leave(&p->cable.link.rx[d->vc], hx_blocks(d->length));
        drop(p, m, HX_DROP_FOREIGN_JOB);
        return;
    }
    dpdk_set_mbuf(d, m);
    arrivals_put(&p->arrivals, d);
    p->counts.rx_packets++;
    p->counts.rx_bytes += (uint64_t)HX_HEADER_BYTES + d->length;
}

/* Cuts the padding behind the payload. Returns false if the frame has several segments and cannot be cut. */
static bool trim(struct rte_mbuf *m, uint32_t bytes)
{
    if (m->nb_segs > 1)
        return m->pkt_len == bytes || rte_pktmbuf_trim(m, (uint16_t)(m->pkt_len - bytes)) == 0;
    m->pkt_len = bytes;
    m->data_len = (uint16_t)bytes;
    return true;
}

/* Takes any frame. The first of several segments must hold the header. */
static void take_frame(struct dpdk_port *p, struct rte_mbuf *m)
{
    const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *); /* linearizing does not move it */
    struct hx_header h;
    struct hx_desc d;
    if (p->cable.key && rte_pktmbuf_linearize(m) != 0) {
        drop(p, m, HX_DROP_MALFORMED);
        return;
    }
    uint32_t bytes = m->data_len < HX_HEADER_BYTES ? m->data_len : m->pkt_len;
    enum cable_verdict verdict = cable_validate(&p->cable, frame, bytes, &h);
    if (verdict == CABLE_DATA)
        verdict = trim(m, (uint32_t)HX_HEADER_BYTES + h.length) ? cable_arrive(&p->cable, &h, &d) : CABLE_MALFORMED;
    enum hx_drop reason = cable_drop(verdict);
    if (verdict == CABLE_DATA) {
        take_data(p, m, &d);
    } else if (reason != HX_DROP_COUNT) {
        drop(p, m, reason);
    } else {
        if (verdict == CABLE_NOTICES)
            take_notices(p, frame, bytes);
        else
            take_credit(p, frame, verdict);
        rte_pktmbuf_free(m);
    }
}

/* ---- runs of common frames ---- */

/* Frames of a run. */
struct run {
    uint64_t came[HX_VCS];         /* received blocks, and next position << 32 */
    uint32_t limit[1 + HX_VCS];    /* [1 + VC]: newest grant, in network byte order; [0]: of frames without grant */
    struct hx_desc *slots[HX_VCS]; /* of the port */
    uint64_t bytes;                /* of payload */
};

/* Puts frames into the slots, up to the first that is not common. take_run() checks afterwards whether they fit; the
 * slots behind the arrivals have room for a burst. Returns frames. */
static inline __attribute__((always_inline)) unsigned read_run(const struct dpdk_port *p, struct rte_mbuf **burst,
                                                               unsigned n, struct run *r)
{
    const struct dpdk_expected expected = dpdk_expect(p->cable.plane, p->cable.link.vcs, p->job);
    const uint32_t mask = p->arrivals.mask;
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
        const struct hx_credit_receiver *rx = &p->cable.link.rx[vc];
        fit &= (uint32_t)r->came[vc] <= rx->buffer - (rx->received - rx->freed);
    }
    return fit;
}

/* Takes all common frames at the front of a burst, or none. Returns frames. A link that has not heard its peer in this
 * session accepts none (credit.h); with a key no frame is common. */
static unsigned take_run(struct dpdk_port *p, struct rte_mbuf **burst, unsigned n)
{
    struct run r;
    if (!p->cable.link.heard || p->cable.key)
        return 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        r.limit[1 + vc] = dpdk_network32(p->cable.link.tx[vc].limit);
        r.slots[vc] = p->arrivals.slots[vc];
        r.came[vc] = (uint64_t)hx_lane(p->arrivals.arrived, vc) << 32;
    }
    unsigned packets = read_run(p, burst, n, &r);
    if (packets == 0 || !run_fits(p, &r))
        return 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        p->cable.link.rx[vc].received += (uint32_t)r.came[vc];
        p->arrivals.arrived = hx_lane_set(p->arrivals.arrived, vc, (uint16_t)(r.came[vc] >> 32));
        (void)hx_credit_grant(&p->cable.link.tx[vc], dpdk_network32(r.limit[1 + vc]));
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
